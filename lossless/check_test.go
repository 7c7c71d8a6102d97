package lossless

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestTextCases(t *testing.T) {
	for _, c := range textCases {
		for _, n := range []Numbers{Exact, Double} {
			want, wantErr := c.exact, c.exactErr
			if n == Double {
				want, wantErr = c.double, c.doubleErr
			}
			o := Options{Numbers: n}
			v, err := Parse([]byte(c.text), o)
			if !errors.Is(err, wantErr) || (err == nil) != (wantErr == nil) || v.String() != want {
				t.Errorf("Parse(%q, %v) = %q, %v; want %q, %v", c.text, n, v, err, want, wantErr)
			}
			appended, err := AppendCanonical([]byte("head "), []byte(c.text), o)
			if (err == nil) != (wantErr == nil) || string(appended) != "head "+want {
				t.Errorf("AppendCanonical(%q, %v) = %q, %v; want %q", c.text, n, appended, err, want)
			}
			size, err := Check([]byte(c.text), o)
			if wantErr == nil && (size != int64(len(want)) || err != nil) {
				t.Errorf("Check(%q, %v) = %d, %v; want %d", c.text, n, size, err, len(want))
			}
			checkReference(t, []byte(c.text), n)
		}
	}
}

// failer is what tests, fuzz targets and rapid have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkReference holds what the scanner says of a text against the reference,
// and what the other functions say against the scanner.
func checkReference(t failer, text []byte, n Numbers) {
	t.Helper()
	o := Options{Numbers: n}
	given := bytes.Clone(text)
	want, wantErr := referenceCanonical(text, n)
	size, err := Check(text, o)
	broken := errors.Is(err, ErrSyntax) || errors.Is(err, ErrUTF8)
	switch {
	case broken != errors.Is(wantErr, ErrSyntax):
		t.Fatalf("Check(%q, %v): %v; the reference says %v", text, n, err, wantErr)
	case broken:
		checkPlace(t, text, err)
		return
	case !errors.Is(err, wantErr) || (err == nil) != (wantErr == nil):
		t.Fatalf("Check(%q, %v): %v; the reference says %v", text, n, err, wantErr)
	case size != int64(len(want)):
		t.Fatalf("Check(%q, %v) = %d; the reference has %d bytes: %q", text, n, size, len(want), want)
	}
	// Over budget wins over what else is wrong, and only past the budget.
	if _, err := Check(text, Options{Numbers: n, MaxBytes: size}); errors.Is(err, ErrOverBudget) {
		t.Fatalf("Check(%q) with its own size as the budget: %v", text, err)
	}
	if size > 1 {
		if got, err := Check(text, Options{Numbers: n, MaxBytes: size - 1}); !errors.Is(err, ErrOverBudget) || got != size {
			t.Fatalf("Check(%q) with a budget of one less than %d = %d, %v", text, size, got, err)
		}
	}
	if err != nil {
		checkPlace(t, text, err)
		return
	}
	v, err := Parse(text, o)
	if err != nil || !bytes.Equal(v.Bytes(), want) {
		t.Fatalf("Parse(%q, %v) = %q, %v; the reference says %q", text, n, v, err, want)
	}
	// The canonical form is its own canonical form, and is not copied.
	again, err := Parse(v.Bytes(), o)
	if err != nil || !again.Equal(v) || &again.Bytes()[0] != &v.Bytes()[0] {
		t.Fatalf("Parse of the canonical %q = %q, %v", v, again, err)
	}
	if n == Double {
		if size, err := v.Check(Options{}); err != nil || size != int64(len(want)) {
			t.Fatalf("%q is canonical under Double, but Exact says %d, %v", v, size, err)
		}
	}
	if !bytes.Equal(text, given) {
		t.Fatalf("the text %q was changed to %q", given, text)
	}
}

// checkPlace demands that an error has a place in the text.
func checkPlace(t failer, text []byte, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Offset < 0 || e.Offset > int64(len(text)) || len(e.Pointer) > maxPointer+3 || len(e.Error()) > 500 {
		t.Fatalf("%q: the error has no proper place: %#v", text, err)
	}
}

func TestOverBudgetWins(t *testing.T) {
	long := `"` + strings.Repeat("x", 100) + `"`
	for _, text := range []string{
		`[1e400,` + long + `]`, `[` + long + `,1e400]`,
		`[{"a":1,"a":2},` + long + `]`, `[` + long + `,{"a":1,"a":2}]`,
		`[-0,9007199254740993,` + long + `]`, `[` + long + `,-0]`,
	} {
		size, err := Check([]byte(text), Options{Numbers: Double, MaxBytes: 64})
		if !errors.Is(err, ErrOverBudget) || size != int64(len(text)) {
			t.Errorf("Check(%q) = %d, %v; want %d and ErrOverBudget", text, size, err, len(text))
		}
		if v, err := Parse([]byte(text), Options{Numbers: Double, MaxBytes: 64}); v.Exists() || !errors.Is(err, ErrOverBudget) {
			t.Errorf("Parse(%q) = %q, %v; want ErrOverBudget", text, v, err)
		}
		if _, err := Check([]byte(text), Options{Numbers: Double}); err == nil || errors.Is(err, ErrOverBudget) {
			t.Errorf("Check(%q) without a budget: %v; want the fault", text, err)
		}
		// A text that isn't JSON is that, whatever its size.
		if _, err := Check([]byte(text+"x"), Options{Numbers: Double, MaxBytes: 64}); !errors.Is(err, ErrSyntax) {
			t.Errorf("Check(%qx): %v; want ErrSyntax", text, err)
		}
	}
}

// placeCases are texts, and where and how their error is told.
var placeCases = []struct {
	text    string
	offset  int64
	pointer string
	err     error
	words   string // in the message
}{
	{`{"rows":[{"when":1},{"when":2},{"when":tomorrow}]}`, 40, "/rows/2/when", ErrSyntax, "literal"},
	{`[1,[2,[3,1e400]]]`, 9, "/1/1/1", ErrNumberRange, "1.7976931348623157e308"},
	{`{"a":{"b":1,"c":2,"b":3}}`, 18, "/a/b", ErrDuplicateName, "differ"},
	{`{"a/b~c":{"x":tru}}`, 17, "/a~1b~0c/x", ErrSyntax, "literal"},
	{`{"\u00e9\n":01}`, 13, "/é\n", ErrSyntax, "zero"},
	{`{"a":1,"b" 2}`, 11, "/b", ErrSyntax, "colon"},
	{`{"a":1 2}`, 7, "/a", ErrSyntax, "comma"},
	{`[1 2]`, 3, "/0", ErrSyntax, "comma"},
	{`{"a":[1,2`, 9, "/a/1", ErrSyntax, "ends"},
	{`{"a":"x` + "\x01" + `"}`, 7, "/a", ErrSyntax, "control"},
	{`{"a":"\q"}`, 7, "/a", ErrSyntax, "escape"},
	{"{\"a\":\"x\xff\"}", 7, "/a", ErrUTF8, "UTF-8"},
	{`{"a":1}}`, 7, "", ErrSyntax, "white space"},
	{`{"a":1,5}`, 7, "", ErrSyntax, "name"},
	{`{"a":1,"b`, 9, "", ErrSyntax, "ends"},
	{`[[],[],[{}],x]`, 12, "/3", ErrSyntax, "value"},
	{`{"a":1.x}`, 7, "/a", ErrSyntax, "digit"},
	{strings.Repeat(`{"name":[`, 400) + "x", 3600, strings.Repeat("/name/0", 147)[:1024] + "...", ErrSyntax, "value"},
}

func TestErrorPlaces(t *testing.T) {
	for _, c := range placeCases {
		_, err := Check([]byte(c.text), Options{})
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("Check(%.60q): %v; want an *Error", c.text, err)
			continue
		}
		if e.Offset != c.offset || e.Pointer != c.pointer || !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("Check(%.60q): %v (offset %d, pointer %.60q); want %d, %.60q, %v with %q",
				c.text, err, e.Offset, e.Pointer, c.offset, c.pointer, c.err, c.words)
		}
	}
}

func TestMessagesStayShort(t *testing.T) {
	name := strings.Repeat("n", 1<<20)
	for _, text := range []string{`{"` + name + `":x}`, `{"` + name + `":1,"` + name + `":2}`, `"` + name, name} {
		_, err := Check([]byte(text), Options{})
		if err == nil || len(err.Error()) > 400 {
			t.Errorf("the message of a text of %d bytes has %d", len(text), len(err.Error()))
		}
	}
}

func TestNoAllocation(t *testing.T) {
	flat := []byte(`[1,-2.5e3,"text","\u00e9\n",true,[null,[[[]]]],"` + strings.Repeat("é", 1000) + `"]`)
	records := []byte(`[` + strings.Repeat(`{"id":1,"name":"x","tags":["a"],"in":{"a\u0062":1}},`, 100) + `null]`)
	texts := [][]byte{flat, records}
	if poolsForget {
		texts = texts[:1] // without objects there is nothing to pool
	}
	for _, text := range texts {
		for _, n := range []Numbers{Exact, Double} {
			o := Options{Numbers: n, MaxBytes: 1 << 20}
			if _, err := Check(text, o); err != nil {
				t.Fatal(err)
			}
			if got := testing.AllocsPerRun(100, func() { Check(text, o) }); got > 0 {
				t.Errorf("Check of %.20q allocates %v times under %v", text, got, n)
			}
		}
	}
	canonical := []byte(`[{},[1,2,3]]`)
	if got := testing.AllocsPerRun(100, func() { Parse(canonical, Options{}) }); got > 0 {
		t.Errorf("Parse of canonical text allocates %v times", got)
	}
}

func TestMillionLevels(t *testing.T) {
	const depth = 1000000
	texts := map[string][]byte{
		"arrays":  []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth)),
		"objects": []byte(strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)),
		"both":    []byte(strings.Repeat(`[{"a":`, depth/2) + "1" + strings.Repeat("}]", depth/2)),
	}
	for name, text := range texts {
		v, err := Parse(text, Options{Numbers: Double})
		if err != nil || len(v.Bytes()) != len(text) {
			t.Fatalf("%s: %d bytes, %v", name, len(v.Bytes()), err)
		}
		// One bracket of the wrong kind in the middle is seen.
		broken := bytes.Clone(text)
		broken[len(text)-depth/4] ^= ']' ^ '}'
		if _, err := Check(broken, Options{}); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s with a wrong bracket: %v", name, err)
		}
		if _, err := Check(text[:len(text)-1], Options{}); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s without its last bracket: %v", name, err)
		}
	}
	kept := newSpace()
	for range 1000 {
		kept.names.open()
	}
	if !kept.names.reset() || len(kept.names.outer) != 0 {
		t.Error("a space of a thousand levels isn't kept for reuse")
	}
}

// genJSON makes a JSON text with white space and escapes in all the places they
// may be, and now and then a fault.
func genJSON(depth int) *rapid.Generator[string] {
	white := rapid.SampledFrom([]string{"", "", "", "", " ", "\n\t", "         "})
	unit := rapid.SampledFrom([]string{"a", "b", "name", "é", "日", "😀", `\n`, `\"`, `\\`, `\/`, `\u0061`, `\u00E9`, `\u001f`,
		`\ud83d`, `\ude00`, `\uD83D\uDE00`, "\x7f", "long enough to be a word"})
	text := rapid.Custom(func(t *rapid.T) string {
		return `"` + strings.Join(rapid.SliceOfN(unit, 0, 4).Draw(t, "units"), "") + `"`
	})
	number := rapid.Custom(func(t *rapid.T) string {
		return rapid.OneOf(
			rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?`),
			rapid.SampledFrom([]string{"9007199254740993", "9007199254740992", "-0", "-0.0", "1e400", "1e23", "5.0", "1e-7", "12.50"}),
		).Draw(t, "number")
	})
	return rapid.Custom(func(t *rapid.T) string {
		w := func() string { return white.Draw(t, "white") }
		kind := rapid.IntRange(0, 5).Draw(t, "kind")
		if depth == 0 && kind > 3 {
			kind -= 4
		}
		switch kind {
		case 0:
			return w() + rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "literal") + w()
		case 1:
			return w() + number.Draw(t, "n") + w()
		case 2, 3:
			return w() + text.Draw(t, "s") + w()
		}
		var parts []string
		for range rapid.IntRange(0, 5).Draw(t, "count") {
			part := genJSON(depth-1).Draw(t, "part")
			if kind == 5 {
				part = w() + text.Draw(t, "name") + w() + ":" + part
			}
			parts = append(parts, part)
		}
		if kind == 4 {
			return w() + "[" + w() + strings.Join(parts, ",") + "]" + w()
		}
		return w() + "{" + w() + strings.Join(parts, ",") + "}" + w()
	})
}

func TestAgainstReference(t *testing.T) {
	gen := genJSON(4)
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(gen.Draw(t, "text"))
		// Half of the texts are damaged in one byte.
		if rapid.Bool().Draw(t, "damage") {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			text[at] = rapid.SampledFrom([]byte("\"\\{}[],:0-.e \x00\x1f\x80\xc3\xff")).Draw(t, "byte")
		}
		checkReference(t, text, Exact)
		checkReference(t, text, Double)
	})
}
