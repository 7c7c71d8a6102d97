package lossless

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// parse makes a Value of text that must be right.
func parse(t testing.TB, text string) Value {
	t.Helper()
	v, err := Parse([]byte(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var sample = `{"rows":[{"n":1,"when":null},{"n":2.5},[],{}],"a/b":{"~":true,"":"empty"},"text":"é\n","x":false}`

func TestKinds(t *testing.T) {
	for text, kind := range map[string]Kind{
		"null": KindNull, "true": KindBool, "false": KindBool, "0": KindNumber, "-1": KindNumber, `""`: KindString, "[]": KindArray, "{}": KindObject,
	} {
		v := parse(t, text)
		if v.Kind() != kind || !v.Exists() || v.String() != text {
			t.Errorf("%s is %v, exists: %v", v, v.Kind(), v.Exists())
		}
	}
	var absent Value
	if absent.Exists() || absent.Kind() != KindAbsent || absent.Bytes() != nil || absent.String() != "" {
		t.Errorf("the zero Value is %v %q", absent.Kind(), absent)
	}
	names := ""
	for k := KindAbsent; k <= KindObject; k++ {
		names += k.String() + " "
	}
	if names != "absent null bool number string array object " {
		t.Errorf("the kinds are called %s", names)
	}
	for _, v := range []Value{Null, True, False} {
		if got := parse(t, v.String()); !got.Equal(v) {
			t.Errorf("%s is not what it is called", v)
		}
	}
}

// atCases are pointers into sample, and the text there or the words of the error.
var atCases = []struct{ pointer, text, words string }{
	{"", sample, ""},
	{"/rows/0", `{"n":1,"when":null}`, ""},
	{"/rows/0/when", `null`, ""},
	{"/rows/1/n", `2.5`, ""},
	{"/rows/2", `[]`, ""},
	{"/rows/3", `{}`, ""},
	{"/a~1b/~0", `true`, ""},
	{"/a~1b/", `"empty"`, ""},
	{"/text", `"é\n"`, ""},
	{"/x", `false`, ""},
	{"/rows/4", "", "not that long"},
	{"/rows/2/0", "", "not that long"},
	{"/rows/-", "", "named 0, 1, 2"},
	{"/rows/01", "", "named 0, 1, 2"},
	{"/rows/-1", "", "named 0, 1, 2"},
	{"/rows/x/y", "", "/rows/x"},
	{"/missing", "", "no such member"},
	{"/text/0", "", "string has nothing in it"},
	{"rows", "", "starts with /"},
	{"/Rows", "", "no such member"},
}

func TestAt(t *testing.T) {
	v := parse(t, sample)
	for _, c := range atCases {
		got, err := v.At(c.pointer)
		if got.String() != c.text || (err != nil) != (c.words != "") {
			t.Errorf("At(%q) = %q, %v; want %q", c.pointer, got, err, c.text)
		}
		if err != nil && (!errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), c.words)) {
			t.Errorf("At(%q): %v; want ErrNotFound with %q", c.pointer, err, c.words)
		}
	}
	if _, err := (Value{}).At(""); !errors.Is(err, ErrAbsent) {
		t.Errorf("At of an absent value: %v", err)
	}
}

func TestNavigation(t *testing.T) {
	v := parse(t, sample)
	var walked []string
	for name, member := range v.Members() {
		walked = append(walked, fmt.Sprintf("%s=%d", name, member.Len()))
	}
	if got := strings.Join(walked, " "); got != "rows=4 a/b=2 text=0 x=0" {
		t.Errorf("the members are %s", got)
	}
	walked = nil
	for i, element := range v.Get("rows").Elements() {
		walked = append(walked, fmt.Sprintf("%d=%s", i, element.Kind()))
		if i == 2 {
			break
		}
	}
	if got := strings.Join(walked, " "); got != "0=object 1=object 2=array" {
		t.Errorf("the elements are %s", got)
	}
	for _, absent := range []Value{v.Get("row"), v.Get("n"), v.Index(0), v.Get("rows").Index(4), v.Get("rows").Index(-1), v.Get("rows").Get("n"), v.Get("text").Get("x"), Value{}.Get("a"), Value{}.Index(0)} {
		if absent.Exists() {
			t.Errorf("%s is where nothing is", absent)
		}
	}
	if (Value{}).Len() != 0 || Null.Len() != 0 {
		t.Error("what holds nothing has a length")
	}
	for range Null.Members() {
		t.Error("null has a member")
	}
	// Names that need an escape, and lone surrogates, are found by what they are.
	odd := parse(t, `{"\"\\\n\u0001":1,"\ud800":2,"`+strings.Repeat("long", 50)+`":3}`)
	for name, want := range map[string]string{"\"\\\n\x01": "1", "\xed\xa0\x80": "2", strings.Repeat("long", 50): "3", "\xff": ""} {
		if got := odd.Get(name); got.String() != want {
			t.Errorf("Get(%.10q) = %s; want %s", name, got, want)
		}
	}
}

// numberCases are numbers and what each way of reading them gives; an empty
// string is an error.
var numberCases = []struct{ text, int64, uint64, big, float64 string }{
	{"0", "0", "0", "0", "0"},
	{"-0", "0", "0", "0", "-0"},
	{"-0.0", "0", "0", "0", "-0"},
	{"3", "3", "3", "3", "3"},
	{"3.0", "3", "3", "3", "3"},
	{"3.000e0", "3", "3", "3", "3"},
	{"1e2", "100", "100", "100", "100"},
	{"120e-1", "12", "12", "12", "12"},
	{"0.003e3", "3", "3", "3", "3"},
	{"-3", "-3", "", "-3", "-3"},
	{"3.5", "", "", "", "3.5"},
	{"0.5", "", "", "", "0.5"},
	{"1e-1", "", "", "", "0.1"},
	{"1e-400", "", "", "", "0"},
	{"0e999999999", "0", "0", "0", "0"},
	{"9007199254740993", "9007199254740993", "9007199254740993", "9007199254740993", ""},
	{"9007199254740993.0", "9007199254740993", "9007199254740993", "9007199254740993", "9.007199254740992e+15"},
	{"9223372036854775807", "9223372036854775807", "9223372036854775807", "9223372036854775807", ""},
	{"9223372036854775808", "", "9223372036854775808", "9223372036854775808", "9.223372036854775808e+18"},
	{"-9223372036854775808", "-9223372036854775808", "", "-9223372036854775808", "-9.223372036854775808e+18"},
	{"-9223372036854775809", "", "", "-9223372036854775809", ""},
	{"18446744073709551615", "", "18446744073709551615", "18446744073709551615", ""},
	{"18446744073709551616", "", "", "18446744073709551616", "1.8446744073709551616e+19"},
	{"1e19", "", "10000000000000000000", "10000000000000000000", "1e+19"},
	{"1e20", "", "", "100000000000000000000", "1e+20"},
	{"2.50e22", "", "", "25000000000000000000000", "2.5e+22"},
	{"1e308", "", "", "1" + strings.Repeat("0", 308), "1e+308"},
	{strings.Repeat("9", 400), "", "", strings.Repeat("9", 400), ""},
}

func TestNumberReading(t *testing.T) {
	show := func(v any, err error) string {
		if err != nil {
			if !errors.Is(err, ErrValueRange) {
				t.Errorf("%v; want ErrValueRange", err)
			}
			return ""
		}
		if f, ok := v.(float64); ok {
			if f == 0 && math.Signbit(f) {
				return "-0"
			}
			v, _ = Value{appendFloat(nil, f)}.Number()
			return strings.TrimSuffix(fmt.Sprint(v), ".0")
		}
		return fmt.Sprint(v)
	}
	for _, c := range numberCases {
		v := parse(t, c.text)
		i, err := v.Int64()
		if got := show(i, err); got != c.int64 {
			t.Errorf("Int64 of %s = %s; want %q", c.text, got, c.int64)
		}
		u, err := v.Uint64()
		if got := show(u, err); got != c.uint64 {
			t.Errorf("Uint64 of %s = %s; want %q", c.text, got, c.uint64)
		}
		b, err := v.BigInt()
		if got := show(b, err); got != c.big {
			t.Errorf("BigInt of %s = %s; want %q", c.text, got, c.big)
		}
		f, err := v.Float64()
		if got, want := show(f, err), c.float64; got != want {
			exact, _ := json.Number(want).Float64()
			if want == "" || err != nil || exact != f {
				t.Errorf("Float64 of %s = %s; want %q", c.text, got, want)
			}
		}
		if n, err := v.Number(); n.String() != c.text || err != nil {
			t.Errorf("Number of %s = %s, %v", c.text, n, err)
		}
	}
}

func TestReadingOfOthers(t *testing.T) {
	v := parse(t, `["text","\ud800x","😀\u0000",true,null]`)
	if s, err := v.Index(0).Text(); s != "text" || err != nil {
		t.Errorf("Text = %q, %v", s, err)
	}
	if s, err := v.Index(1).Text(); s != "" || !errors.Is(err, ErrSurrogate) {
		t.Errorf("Text of a lone surrogate = %q, %v", s, err)
	}
	if u, err := v.Index(1).UTF16(); fmt.Sprintf("%x", u) != "[d800 78]" || err != nil {
		t.Errorf("UTF16 = %x, %v", u, err)
	}
	if u, err := v.Index(2).UTF16(); fmt.Sprintf("%x", u) != "[d83d de00 0]" || err != nil {
		t.Errorf("UTF16 = %x, %v", u, err)
	}
	if b, err := v.Index(3).Bool(); !b || err != nil {
		t.Errorf("Bool = %v, %v", b, err)
	}
	for _, wrong := range []Value{v.Index(4), v, {}} {
		want := ErrType
		if !wrong.Exists() {
			want = ErrAbsent
		}
		_, boolErr := wrong.Bool()
		_, intErr := wrong.Int64()
		_, uintErr := wrong.Uint64()
		_, bigErr := wrong.BigInt()
		_, floatErr := wrong.Float64()
		_, numberErr := wrong.Number()
		_, textErr := wrong.Text()
		_, unitsErr := wrong.UTF16()
		for i, err := range []error{boolErr, intErr, uintErr, bigErr, floatErr, numberErr, textErr, unitsErr} {
			if !errors.Is(err, want) {
				t.Errorf("reading %q in way %d: %v; want %v", wrong, i, err, want)
			}
		}
	}
}

func TestValueAsJSON(t *testing.T) {
	type holder struct {
		V Value `json:"v"`
		W Value `json:"w"`
	}
	var h holder
	buffer := []byte(`{"v": {"n": 1.0} }`)
	if err := json.Unmarshal(buffer, &h); err != nil {
		t.Fatal(err)
	}
	clear(buffer)
	if h.V.String() != `{"n":1.0}` || h.W.Exists() {
		t.Errorf("unmarshalled %s and %s", h.V, h.W)
	}
	if out, err := json.Marshal(h); string(out) != `{"v":{"n":1.0},"w":null}` || err != nil {
		t.Errorf("Marshal = %s, %v", out, err)
	}
	for _, text := range []string{`{"v":{"a":1,"a":2}}`, `{"v":1e400}`} {
		if err := json.Unmarshal([]byte(text), &h); err == nil {
			t.Errorf("Unmarshal of %s has no error", text)
		}
	}
	if err := (*Value)(nil).UnmarshalJSON([]byte("1")); err == nil {
		t.Error("a nil *Value was set")
	}
}

func TestCloneAndCheck(t *testing.T) {
	buffer := []byte(`[2.0,"x"]`)
	v, err := Parse(buffer, Options{})
	if err != nil {
		t.Fatal(err)
	}
	kept := v.Clone()
	buffer[1] = '7'
	if v.String() != `[7.0,"x"]` || kept.String() != `[2.0,"x"]` {
		t.Errorf("after a change of the buffer: %s and the clone %s", v, kept)
	}
	if size, err := kept.Check(Options{Numbers: Double}); size != 7 || err != nil {
		t.Errorf("Check under Double = %d, %v", size, err)
	}
	if d, err := kept.Canonical(Options{Numbers: Double}); d.String() != `[2,"x"]` || err != nil {
		t.Errorf("Canonical under Double = %s, %v", d, err)
	}
	if _, err := kept.Canonical(Options{MaxBytes: 8}); !errors.Is(err, ErrOverBudget) || !strings.Contains(err.Error(), "9 bytes") || !strings.Contains(err.Error(), "limit is 8") {
		t.Errorf("Canonical over a budget: %v", err)
	}
	if _, err := (Value{}).Check(Options{}); !errors.Is(err, ErrAbsent) {
		t.Errorf("Check of an absent value: %v", err)
	}
	if _, err := (Value{}).Canonical(Options{}); !errors.Is(err, ErrAbsent) {
		t.Errorf("Canonical of an absent value: %v", err)
	}
	if (Value{}).Clone().Exists() {
		t.Error("the clone of an absent value exists")
	}
	if !kept.Equal(kept.Clone()) || kept.Equal(Value{}) {
		t.Error("Equal is wrong")
	}
}
