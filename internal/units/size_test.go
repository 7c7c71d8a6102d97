package units

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"pgregory.net/rapid"
)

// sizes lists texts with their meaning; those with words are errors. They are
// also the seeds of the fuzzer.
var sizes = []struct {
	text   string
	want   int64
	reason error
	words  string
}{
	{"0", 0, nil, ""},
	{"1", 1, nil, ""},
	{"6B", 6, nil, ""},
	{"007", 7, nil, ""},
	{"1KiB", 1 << 10, nil, ""},
	{"64MiB", 64 << 20, nil, ""},
	{"64 MiB", 64 << 20, nil, ""},
	{"1GiB", 1 << 30, nil, ""},
	{"2TiB", 2 << 40, nil, ""},
	{"3PiB", 3 << 50, nil, ""},
	{"7EiB", 7 << 60, nil, ""},
	{"1 byte", 1, nil, ""},
	{"1500 bytes", 1500, nil, ""},
	{"9223372036854775807", math.MaxInt64, nil, ""},
	{"9007199254740991KiB", 9007199254740991 << 10, nil, ""},

	{"", 0, ErrSyntax, `"" is not a size: write a size like 64MiB`},
	{"abc", 0, ErrSyntax, `"abc" is not a size`},
	{"MiB", 0, ErrSyntax, `"MiB" is not a size`},
	{"64 ", 0, ErrSyntax, `"64 " is not a size`},
	{" 64", 0, ErrSyntax, `" 64" is not a size`},
	{"64  MiB", 0, ErrSyntax, `"64  MiB" is not a size`},
	{"64MiBs", 0, ErrSyntax, `"64MiBs" is not a size`},
	{"64XiB", 0, ErrSyntax, `"64XiB" is not a size`},
	{"+64", 0, ErrSyntax, `"+64" is not a size`},
	{"0x40", 0, ErrSyntax, `"0x40" is not a size`},
	{"1_000", 0, ErrSyntax, `"1_000" is not a size`},
	{"1e6", 0, ErrSyntax, `"1e6" is not a size`},
	{"1e", 0, ErrSyntax, "write 1EiB for 1152921504606846976 bytes, or 1000000000000000000"},
	{"٣MiB", 0, ErrSyntax, "is not a size"},
	{"6b", 0, ErrSyntax, `"6b" is not a size`},
	{"-", 0, ErrSyntax, `"-" is not a size`},
	{"-5", 0, ErrRange, `"-5" is negative`},
	{"-64MiB", 0, ErrRange, `"-64MiB" is negative`},
	{"1.5GiB", 0, ErrSyntax, `"1.5GiB" is not a whole number`},
	{"1,5GiB", 0, ErrSyntax, `"1,5GiB" is not a whole number`},
	{"64mib", 0, ErrSyntax, `"64mib" is not a size: write 64MiB`},
	{"64MIB", 0, ErrSyntax, `"64MIB" is not a size: write 64MiB`},
	{"256MB", 0, ErrSyntax, `"256MB" could mean two sizes: write 256MiB for 268435456 bytes, or 256000000`},
	{"256M", 0, ErrSyntax, "write 256MiB for 268435456 bytes, or 256000000"},
	{"1k", 0, ErrSyntax, "write 1KiB for 1024 bytes, or 1000"},
	{"1 kB", 0, ErrSyntax, "write 1KiB for 1024 bytes, or 1000"},
	{"2Gi", 0, ErrSyntax, "write 2GiB for 2147483648 bytes, or 2000000000"},
	{"9EB", 0, ErrSyntax, "is not a size"},
	{"99999999999999999999MB", 0, ErrSyntax, "is not a size"},
	{"9223372036854775808", 0, ErrRange, "is too large: the most is 8EiB less one byte, 9223372036854775807"},
	{"99999999999999999999999", 0, ErrRange, "is too large"},
	{"9007199254740992KiB", 0, ErrRange, "is too large"},
	{"8EiB", 0, ErrRange, "is too large"},
	{strings.Repeat("9", 1000), 0, ErrRange, strings.Repeat("9", maxEcho) + `"… is too large`},
	{"5\x00\n", 0, ErrSyntax, `"5\x00\n" is not a size`},
}

func TestParseSize(t *testing.T) {
	for _, test := range sizes {
		got, err := ParseSize(test.text)
		checkValue(t, test.text, got, err, test.want, test.reason, test.words)
	}
}

// checkValue fails unless got is what is wanted, or err is for the reason wanted
// and says the words in one short line.
func checkValue[V comparable](t *testing.T, text string, got V, err error, want V, reason error, words string) {
	t.Helper()
	if got != want || !errors.Is(err, reason) || (err == nil) != (reason == nil) {
		t.Errorf("%.50q: %v, %v, want %v, %v", text, got, err, want, reason)
		return
	}
	if err == nil {
		return
	}
	if message := err.Error(); !strings.Contains(message, words) || strings.Contains(message, "\n") || len(message) > 200 {
		t.Errorf("%.50q: %q is not a short line with %q", text, message, words)
	}
}

func TestFormatSize(t *testing.T) {
	for bytes, want := range map[int64]string{
		0:              "0 bytes",
		1:              "1 byte",
		2:              "2 bytes",
		1023:           "1023 bytes",
		1024:           "1 KiB",
		1500:           "1500 bytes",
		1536:           "1536 bytes",
		3 << 9 << 10:   "1536 KiB",
		64 << 20:       "64 MiB",
		64<<20 + 1:     "67108865 bytes",
		1 << 30:        "1 GiB",
		1 << 40:        "1 TiB",
		1 << 50:        "1 PiB",
		7 << 60:        "7 EiB",
		math.MaxInt64:  "9223372036854775807 bytes",
		-1:             "-1 bytes",
		-(64 << 20):    "-64 MiB",
		math.MinInt64:  "-8 EiB",
		1<<53 - 1:      "9007199254740991 bytes",
		10_000_000_000: "9765625 KiB",
	} {
		if got := FormatSize(bytes); got != want {
			t.Errorf("FormatSize(%d) = %q, want %q", bytes, got, want)
		}
	}
}

func TestSizeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.Int64Range(0, math.MaxInt64).Draw(t, "bytes")
		bytes = bytes >> rapid.IntRange(0, 62).Draw(t, "down")
		if up := rapid.IntRange(0, 62).Draw(t, "up"); bytes<<up>>up == bytes && bytes<<up >= 0 {
			bytes <<= up
		}
		if got, err := ParseSize(FormatSize(bytes)); err != nil || got != bytes {
			t.Fatalf("%q reads as %d, %v, want %d", FormatSize(bytes), got, err, bytes)
		}
		size := Size(bytes)
		if got, err := ParseSize(size.String()); err != nil || got != bytes {
			t.Fatalf("%q reads as %d, %v, want %d", size.String(), got, err, bytes)
		}
	})
}

func FuzzParseSize(f *testing.F) {
	for _, test := range sizes {
		f.Add(test.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bytes, err := ParseSize(text)
		if err != nil {
			if bytes != 0 || strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
				t.Errorf("%q: %d, %q", text, bytes, err)
			}
			return
		}
		if bytes < 0 {
			t.Errorf("%q reads as %d", text, bytes)
		}
		if again, err := ParseSize(FormatSize(bytes)); err != nil || again != bytes {
			t.Errorf("%q reads as %d, and %q as %d, %v", text, bytes, FormatSize(bytes), again, err)
		}
	})
}

func TestSizeFlag(t *testing.T) {
	memory, given := int64(0), int64(64<<20)
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.Var((*Size)(&memory), "memory", "the most memory")
	flags.Var((*Size)(&given), "given", "with a default")
	usage := flags.FlagUsages()
	if !strings.Contains(usage, "--memory size") || !strings.Contains(usage, "(default 64MiB)") || strings.Contains(usage, "default 0") {
		t.Errorf("usage:\n%s", usage)
	}
	if err := flags.Parse([]string{"--memory=1GiB", "--given", "1536KiB"}); err != nil {
		t.Fatal(err)
	}
	if memory != 1<<30 || given != 1536<<10 {
		t.Errorf("memory %d, given %d", memory, given)
	}
	for _, text := range []string{"0", "0MiB", "-1", "abc", "", "8EiB"} {
		err := flags.Parse([]string{"--memory=" + text})
		if err == nil || !strings.Contains(err.Error(), "--memory") {
			t.Errorf("--memory=%s: error %v", text, err)
		}
		if memory != 1<<30 {
			t.Fatalf("--memory=%s changed the value to %d", text, memory)
		}
	}
	if err := flags.Parse([]string{"--memory=0"}); !strings.Contains(err.Error(), "leave it out for the default") {
		t.Errorf("error %v does not say what zero means", err)
	}
}
