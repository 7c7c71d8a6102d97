package lossless

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

// differences are the places where this package and encoding/json part on
// purpose: what each does, shown by doing it. "refused" stands for an error.
// The list in doc.go is of these rows.
var differences = []struct {
	what           string
	standard, here func() string
	standardIs     string
	hereIs         string
}{
	{
		what:       "A repeated name: the last member wins; here it is an error.",
		standard:   func() string { return viaStandard[map[string]int](`{"a":1,"a":2}`) },
		here:       func() string { return via[map[string]int](`{"a":1,"a":2}`) },
		standardIs: `{"a":2}`, hereIs: refusal,
	},
	{
		what:       "Bytes that aren't UTF-8: each becomes U+FFFD; here they are an error.",
		standard:   func() string { return viaStandard[string]("\"\xff\"") },
		here:       func() string { return via[string]("\"\xff\"") },
		standardIs: `"\ufffd"`, hereIs: refusal,
	},
	{
		what:       "A lone surrogate: it becomes U+FFFD; here it is kept in text, and an error in a Go string.",
		standard:   func() string { return viaStandard[string](`"\ud800"`) },
		here:       func() string { return via[string](`"\ud800"`) },
		standardIs: `"\ufffd"`, hereIs: refusal,
	},
	{
		what:       "A lone surrogate kept as text.",
		standard:   func() string { return viaStandard[any](`["\ud800"]`) },
		here:       func() string { return via[Value](`["\uD800"]`) },
		standardIs: `["\ufffd"]`, hereIs: `["\ud800"]`,
	},
	{
		what:       "Depth: more than 10,000 levels are an error; here any depth passes.",
		standard:   func() string { return viaStandard[json.RawMessage](deepText)[:len(refusal)] },
		here:       func() string { return via[Value](deepText)[:len(refusal)] },
		standardIs: refusal, hereIs: deepText[:len(refusal)],
	},
	{
		what:       "Case: a name fits a field of another case; here it must be the same.",
		standard:   func() string { return viaStandard[point](`{"x":1,"y":2}`) },
		here:       func() string { return via[point](`{"x":1,"y":2}`) },
		standardIs: `{"X":1,"Y":2}`, hereIs: `{"X":0,"Y":0}`,
	},
	{
		what:       "HTML: <, >, &, U+2028 and U+2029 are escaped; here nothing is that needn't be.",
		standard:   func() string { return standardText("<&>\u2028") },
		here:       func() string { return ownText("<&>\u2028") },
		standardIs: `"\u003c\u0026\u003e\u2028"`, hereIs: "\"<&>\u2028\"",
	},
	{
		what:       "An integer that a float64 can't hold: it is rounded; here it is an error.",
		standard:   func() string { return viaStandard[float64](`9007199254740993`) },
		here:       func() string { return via[float64](`9007199254740993`) },
		standardIs: `9007199254740992`, hereIs: refusal,
	},
	{
		what:       "A float64 that is integral: its point is lost; here it stays a float.",
		standard:   func() string { return standardText(3.0) },
		here:       func() string { return ownText(3.0) },
		standardIs: `3`, hereIs: `3.0`,
	},
	{
		what:       "An int written with a fraction or exponent: refused; here 3.0 is 3.",
		standard:   func() string { return viaStandard[int](`3.0`) },
		here:       func() string { return via[int](`3.0`) },
		standardIs: refusal, hereIs: `3`,
	},
	{
		what:       "A number beyond the double range as text: it passes; here it is an error.",
		standard:   func() string { return viaStandard[json.Number](`1e400`) },
		here:       func() string { return via[json.Number](`1e400`) },
		standardIs: `1e400`, hereIs: refusal,
	},
	{
		what:       "null into an int: nothing happens; here it is an error.",
		standard:   func() string { return viaStandard[int](`null`) },
		here:       func() string { return via[int](`null`) },
		standardIs: `0`, hereIs: refusal,
	},
	{
		what:       "An array longer than the Go array: the rest is dropped; here it is an error.",
		standard:   func() string { return viaStandard[[2]int](`[1,2,3]`) },
		here:       func() string { return via[[2]int](`[1,2,3]`) },
		standardIs: `[1,2]`, hereIs: refusal,
	},
	{
		what:       "A Go string that isn't UTF-8: repaired; here it is an error.",
		standard:   func() string { return standardText("a\xff") },
		here:       func() string { return ownText("a\xff") },
		standardIs: `"a\ufffd"`, hereIs: refusal,
	},
	{
		what:       "A method on the pointer of a value without an address: not called; here it is.",
		standard:   func() string { return standardText(map[string]loud{"a": {"x"}}) },
		here:       func() string { return ownText(map[string]loud{"a": {"x"}}) },
		standardIs: `{"a":{}}`, hereIs: `{"a":"X"}`,
	},
	{
		what:       "A float32: its own shortest digits, another double; here the double that it is.",
		standard:   func() string { return standardText(float32(0.1)) },
		here:       func() string { return ownText(float32(0.1)) },
		standardIs: `0.1`, hereIs: `0.10000000149011612`,
	},
	{
		what:       "A number for any: a float64; here json.Number, with all digits.",
		standard:   func() string { return viaStandard[any](`[12345678901234567890]`) },
		here:       func() string { return via[any](`[12345678901234567890]`) },
		standardIs: `[12345678901234567000]`, hereIs: `[12345678901234567890]`,
	},
}

const refusal = "refused"

var deepText = strings.Repeat("[", 20000) + strings.Repeat("]", 20000)

// viaStandard decodes by encoding/json and shows the result as ASCII.
func viaStandard[T any](text string) string {
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return refusal
	}
	return standardText(v)
}

func standardText(v any) string {
	out, err := json.Marshal(v)
	if err != nil {
		return refusal
	}
	return strings.ReplaceAll(string(out), "\ufffd", `\ufffd`)
}

// via decodes by this package and shows the result by its own text.
func via[T any](text string) string {
	v, err := Parse([]byte(text), Options{})
	if err != nil {
		return refusal
	}
	var into T
	if err := v.Decode(&into); err != nil {
		return refusal
	}
	return ownText(into)
}

func ownText(v any) string {
	out, err := Of(v)
	if err != nil {
		return refusal
	}
	return out.String()
}

func TestDifferences(t *testing.T) {
	for _, d := range differences {
		if got := d.standard(); got != d.standardIs {
			t.Errorf("%s encoding/json: %s; want %s", d.what, got, d.standardIs)
		}
		if got := d.here(); got != d.hereIs {
			t.Errorf("%s here: %s; want %s", d.what, got, d.hereIs)
		}
	}
	// Both refuse what has no JSON.
	for _, v := range []any{math.NaN(), math.Inf(1), make(chan int)} {
		if standardText(v) != refusal || ownText(v) != refusal {
			t.Errorf("%v is not refused by both", v)
		}
	}
}

func TestCanonicalOfStandard(t *testing.T) {
	// Whatever encoding/json writes, with escapes and indentation, has one
	// canonical form.
	in := map[string]any{"<>": []any{"\u2028\n", 1.5, map[string]any{"é": nil}}}
	plain, _ := json.Marshal(in)
	var indented bytes.Buffer
	json.Indent(&indented, plain, " ", "    ")
	want, err := Of(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{plain, indented.Bytes()} {
		if v, err := Parse(text, Options{}); err != nil || !v.Equal(want) {
			t.Errorf("Parse of %s = %s, %v; want %s", text, v, err, want)
		}
	}
}
