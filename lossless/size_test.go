package lossless

import (
	"math"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// sizeCases are Go strings and the size of their JSON strings.
var sizeCases = []struct {
	text string
	size int
}{
	{"", 2}, {"x", 3}, {"é", 4}, {"éx", 5}, {"日", 5}, {"😀", 6},
	{"\x00", 8}, {"\x1f", 8}, {"\x0b", 8}, {"\x7f", 3},
	{"\b", 4}, {"\t", 4}, {"\n", 4}, {"\f", 4}, {"\r", 4}, {`"`, 4}, {`\`, 4}, {"/", 3}, {"<>&\u2028", 8},
	{"\xed\xa0\x80", 8},                          // U+D800
	{"\xed\xbf\xbf", 8},                          // U+DFFF
	{"\xed\xa0\xbd\xed\xb8\x80", 6},              // a pair, as CESU-8 has it
	{"\xed\xb8\x80\xed\xa0\xbd", 14},             // the wrong way round
	{"\xed\xa0\xbd\xed\xa0\xbd\xed\xb8\x80", 12}, // one alone, then a pair
	{"\xff", 5}, {"\x80\x80", 8}, {"\xc3", 5}, {"a\xe6\x97", 9}, {"\xed\xa0", 8}, {"\xf4\x90\x80\x80", 14},
	{strings.Repeat("a", 32766), 32768},
	{"\x00" + strings.Repeat("\xed\xa0\xbd\xed\xb8\x80", 10), 48}, // over its own length, then under
	{strings.Repeat("\x00", 200), 1202},
}

func TestStringSize(t *testing.T) {
	for _, c := range sizeCases {
		if size, ok := StringSize(c.text, math.MaxInt); size != c.size || !ok {
			t.Errorf("StringSize(%.20q) = %d, %v; want %d", c.text, size, ok, c.size)
		}
		checkStringSize(t, c.text)
	}
	if size, ok := StringSize("", 1); ok || size < 2 {
		t.Errorf("StringSize of an empty string in one byte = %d, %v", size, ok)
	}
	if _, ok := StringSize("x", -5); ok {
		t.Error("a string fits a negative budget")
	}
}

// checkStringSize holds the size against the string that is built.
func checkStringSize(t failer, s string) {
	t.Helper()
	built := appendString(nil, s)
	size, ok := StringSize(s, len(built))
	if size != len(built) || !ok {
		t.Fatalf("StringSize(%q) = %d, %v; but it is %q", s, size, ok, built)
	}
	for _, max := range []int{len(built) - 1, len(built) / 2, 1, 0} {
		if size, ok := StringSize(s, max); ok || size <= max || size > len(built) {
			t.Fatalf("StringSize(%q, %d) = %d, %v; the size is %d", s, max, size, ok, len(built))
		}
	}
	if v, err := Parse(built, Options{}); err != nil || &v.Bytes()[0] != &built[0] {
		t.Fatalf("%q from %q is not canonical: %q, %v", built, s, v, err)
	}
}

func TestStringSizeOfAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"\xed\xa0\xbd", "\xed\xb8\x80", "\x00", "\"", "\xff", "\xe6\x97", "plain ascii"}))
		s := strings.Join(rapid.SliceOf(unit).Draw(t, "units"), "")
		checkStringSize(t, s)
		// Code units are what the string has in UTF-16, each bad byte one U+FFFD.
		units, err := Value{appendString(nil, s)}.UTF16()
		if err != nil {
			t.Fatal(err)
		}
		if utf8.ValidString(s) && string(utf16.Decode(units)) != s {
			t.Fatalf("UTF16 of %q = %x", s, units)
		}
	})
}

func TestStringSizeStops(t *testing.T) {
	// A string that is too long by its length alone is not walked: the size
	// told is the least that so many bytes can have, not what they have.
	long := strings.Repeat("\x00", 64<<20)
	if size, ok := StringSize(long, 1024); ok || size != len(long)-len(long)/3+2 {
		t.Errorf("64 MiB in 1 KiB: %d, %v", size, ok)
	}
	// One whose length could fit is left once it doesn't.
	if size, ok := StringSize(strings.Repeat("\x00", 1000), 1024); ok || size > 1024+6 {
		t.Errorf("1,000 controls in 1 KiB: %d, %v", size, ok)
	}
	if got := testing.AllocsPerRun(10, func() { StringSize("é\n text", 100) }); got != 0 {
		t.Errorf("StringSize allocates %v times", got)
	}
}
