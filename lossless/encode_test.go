package lossless

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Types that the tables of encoding and decoding share.
type (
	point   struct{ X, Y int }
	wrapped struct {
		point
		*deeper
		Name string `json:"name"`
	}
	deeper struct{ Z, Name int }
	tagged struct {
		Renamed int    `json:"renamed"`
		Left    string `json:"-"`
		//lint:ignore SA5008 the odd tags are what is tested
		Dash    int       `json:"-,"`
		Empty   string    `json:"empty,omitempty"`
		List    []int     `json:",omitempty"`
		Zero    time.Time `json:"zero,omitzero"`
		Quoted  int64     `json:"quoted,string"`
		Pointer *int      `json:"pointer"`
		//lint:ignore SA5008 the odd tags are what is tested
		Odd      map[int]string `json:"a\"b<>"`
		Opt      Value          `json:"opt"`
		unlisted int
	}
	// loud has its methods on the pointer.
	loud struct{ text string }
	// quiet is a number that is a text in JSON.
	quiet  int
	linked struct{ Next *linked }
	level  string
)

func (l *loud) MarshalJSON() ([]byte, error) { return json.Marshal(strings.ToUpper(l.text)) }

func (l *loud) UnmarshalJSON(text []byte) error {
	if string(text) == `"bad"` {
		return errors.New("it is bad")
	}
	return json.Unmarshal(text, &l.text)
}

func (q quiet) MarshalText() ([]byte, error) { return []byte("q" + strconv.Itoa(int(q))), nil }

func (q *quiet) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(strings.TrimPrefix(string(text), "q"))
	*q = quiet(n)
	return err
}

type faulty struct{ text string }

func (b faulty) MarshalJSON() ([]byte, error) {
	if b.text == "" {
		return nil, errors.New("no text")
	}
	return []byte(b.text), nil
}

func pointerTo[T any](v T) *T { return &v }

// encodeCases are Go values and their text.
var encodeCases = []struct {
	in   any
	text string
}{
	{nil, `null`},
	{true, `true`},
	{int8(-5), `-5`},
	{uint64(math.MaxUint64), `18446744073709551615`},
	{int64(math.MinInt64), `-9223372036854775808`},
	{int64(1<<53 + 1), `9007199254740993`},
	{uintptr(7), `7`},
	{time.Duration(1500), `1500`},
	// Floats as Python spells them.
	{3.0, `3.0`},
	{math.Copysign(0, -1), `-0.0`},
	{0.0, `0.0`},
	{123456789.0, `123456789.0`},
	{1e15, `1000000000000000.0`},
	{1e16, `1e+16`},
	{1.5e16, `1.5e+16`},
	{1e300, `1e+300`},
	{0.0001, `0.0001`},
	{0.00001, `1e-05`},
	{1e-7, `1e-07`},
	{5e-324, `5e-324`},
	{math.MaxFloat64, `1.7976931348623157e+308`},
	{0.1, `0.1`},
	{float32(0.5), `0.5`},
	{float32(0.1), `0.10000000149011612`},
	{json.Number("1.50e2"), `1.50e2`},
	{big.NewInt(-12), `-12`},
	{*new(big.Int).Lsh(big.NewInt(1), 100), `1267650600228229401496703205376`},
	// Strings without needless escapes.
	{"<a href='x'>&\u2028\u2029\x7f", "\"<a href='x'>&\u2028\u2029\x7f\""},
	{"\"\\\b\f\n\r\t\x00\x1f", `"\"\\\b\f\n\r\t\u0000\u001f"`},
	{"é😀", `"é😀"`},
	{level("x"), `"x"`},
	// Containers.
	{[]int(nil), `null`},
	{[]int{}, `[]`},
	{[]int{1, 2}, `[1,2]`},
	{[2]bool{true}, `[true,false]`},
	{[]byte("hi\xff"), `"aGn/"`},
	{[]byte{}, `""`},
	{[]byte(nil), `null`},
	{[3]byte{1, 2}, `[1,2,0]`},
	{[]any{1, "x", nil, []any{}, map[string]any{}, []any(nil), map[string]any(nil), 2.0, int64(3), true}, `[1,"x",null,[],{},null,null,2.0,3,true]`},
	{map[string]any{"b": 1, "a": []any{map[string]any{"c": "d"}}, "": nil}, `{"":null,"a":[{"c":"d"}],"b":1}`},
	{map[string]int{"b": 1, "a": 2}, `{"a":2,"b":1}`},
	{map[int]bool{10: true, 9: false}, `{"10":true,"9":false}`},
	{map[uint8]int{3: 1}, `{"3":1}`},
	{map[quiet]int{3: 1}, `{"q3":1}`},
	{map[string]int(nil), `null`},
	{(*point)(nil), `null`},
	{&point{1, 2}, `{"X":1,"Y":2}`},
	{wrapped{point{1, 2}, &deeper{3, 4}, "n"}, `{"X":1,"Y":2,"Z":3,"Name":4,"name":"n"}`},
	{wrapped{}, `{"X":0,"Y":0,"name":""}`},
	{tagged{Renamed: 1, Left: "x", Quoted: 5, Odd: map[int]string{1: "x"}, unlisted: 1}, `{"renamed":1,"-":0,"quoted":"5","pointer":null,"a\"b<>":{"1":"x"}}`},
	{tagged{Empty: "e", List: []int{1}, Zero: time.Unix(0, 0).UTC(), Pointer: pointerTo(3), Opt: Null},
		`{"renamed":0,"-":0,"empty":"e","List":[1],"zero":"1970-01-01T00:00:00Z","quoted":"0","pointer":3,"a\"b<>":null,"opt":null}`},
	{struct {
		F float64 `json:",string"`
		S string  `json:",string"`
		P *int    `json:",string"`
	}{F: 1, S: "x\n"}, `{"F":"1.0","S":"\"x\\n\"","P":null}`},
	{struct{ A, B any }{A: point{1, 2}, B: &[]any{nil}}, `{"A":{"X":1,"Y":2},"B":[null]}`},
	// Values and methods, on the pointer too.
	{Value{[]byte(`{"a":[1.0]}`)}, `{"a":[1.0]}`},
	{map[string]any{"v": True, "absent": Value{}}, `{"v":true}`},
	{map[string]Value{"v": True, "absent": {}}, `{"v":true}`},
	{[]Value{True, Null}, `[true,null]`},
	{loud{"x"}, `"X"`},
	{&loud{"x"}, `"X"`},
	{[]loud{{"x"}}, `["X"]`},
	{map[string]loud{"a": {"x"}}, `{"a":"X"}`},
	{struct{ L *loud }{}, `{"L":null}`},
	{quiet(5), `"q5"`},
	{netip.MustParseAddr("::1"), `"::1"`},
	{json.RawMessage(` { "a" : "\u003c" , "n" : 1.50 } `), `{"a":"<","n":1.50}`},
	{json.RawMessage(nil), `null`},
	{faulty{`[1, 2]`}, `[1,2]`},
	{errors.New("x"), `{}`},
}

func TestOf(t *testing.T) {
	for _, c := range encodeCases {
		v, err := Of(c.in)
		if v.String() != c.text || err != nil {
			t.Errorf("Of(%#v) = %s, %v; want %s", c.in, v, err, c.text)
			continue
		}
		// Value.text is what Parse makes of it: canonical.
		if p, err := Parse(v.Bytes(), Options{}); err != nil || !p.Equal(v) {
			t.Errorf("Of(%#v) = %s is not canonical: %s, %v", c.in, v, p, err)
		}
	}
	if v, err := Of(Value{}); v.Exists() || err != nil {
		t.Errorf("Of an absent value = %s, %v", v, err)
	}
}

// ofErrors are Go values that have no exact text.
var ofErrors = []struct {
	in      any
	err     error
	pointer string
	words   string
}{
	{math.NaN(), ErrNumberRange, "", "NaN"},
	{map[string]any{"a": []any{1.0, math.Inf(1)}}, ErrNumberRange, "/a/1", "float64"},
	{[]float32{1, float32(math.Inf(-1))}, ErrNumberRange, "/1", "float32"},
	{"\xff", ErrUTF8, "", `\xff`},
	{"\xed\xa0\x80", ErrUTF8, "", ""},
	{struct {
		A []string `json:"a/b"`
	}{[]string{"x", strings.Repeat("x", 1000) + "\xff"}}, ErrUTF8, "/a~1b/1", ""},
	{map[string]any{"\xff": 1}, ErrUTF8, "", "string"},
	{map[string]int{"\xff": 1}, ErrUTF8, "", ""},
	{json.Number(""), ErrSyntax, "", "json.Number"},
	{json.Number("1e999"), ErrNumberRange, "", "1e999"},
	{json.Number(" 1"), ErrSyntax, "", ""},
	{json.Number("null"), ErrSyntax, "", ""},
	{make(chan int), ErrType, "", "chan int"},
	{[]any{func() {}}, ErrType, "/0", "func()"},
	{map[string]any{"c": 1i}, ErrType, "/c", "complex128"},
	{map[float64]int{1: 1}, ErrType, "", "map key"},
	{map[point]int{{}: 1}, ErrType, "", "map key"},
	{map[any]int{1: 1}, ErrType, "", "map key"},
	{[]Value{{}}, ErrAbsent, "/0", "absent"},
	{[]any{Value{}}, ErrAbsent, "/0", "absent"},
	{faulty{""}, nil, "", "no text"},
	{[]any{faulty{`{"a":1,"a":2}`}}, ErrDuplicateName, "/0", "MarshalJSON"},
	{faulty{`nope`}, ErrSyntax, "", "faulty"},
	{json.RawMessage(`{`), ErrSyntax, "", "RawMessage"},
	{map[badKey]int{1: 1, 2: 2}, ErrDuplicateName, "/same", "same"},
}

type badKey int

func (badKey) MarshalText() ([]byte, error) { return []byte("same"), nil }

func TestOfRefuses(t *testing.T) {
	for _, c := range ofErrors {
		v, err := Of(c.in)
		var e *Error
		if v.Exists() || !errors.As(err, &e) || c.err != nil && !errors.Is(err, c.err) || e.Pointer != c.pointer || !strings.Contains(err.Error(), c.words) || len(err.Error()) > 500 {
			t.Errorf("Of(%.80s) = %s, %v; want %v at %q with %q", fmt.Sprintf("%#v", c.in), v, err, c.err, c.pointer, c.words)
		}
	}
}

func TestOfCycles(t *testing.T) {
	list := []any{nil}
	list[0] = list
	object := map[string]any{}
	object["a"] = []any{object}
	ring := &linked{}
	ring.Next = ring
	typed := map[string]*map[string]any{"a": {}}
	(*typed["a"])["b"] = typed
	for _, in := range []any{list, object, ring, typed} {
		if _, err := Of(in); !errors.Is(err, ErrCycle) && !errors.Is(err, ErrDepth) {
			t.Errorf("Of a cycle of %T: %v", in, err)
		}
	}
	// What is shared is no cycle, however deep.
	shared := []any{map[string]any{"x": []any{1}}}
	var nested any = []any{shared, shared}
	for range 200 {
		nested = []any{nested}
	}
	if _, err := Of(nested); err != nil {
		t.Errorf("Of of shared values: %v", err)
	}
}

func TestOfDeep(t *testing.T) {
	const depth = 1000000
	var nested any = "x"
	for i := range depth {
		if i%2 == 0 {
			nested = []any{nested}
		} else {
			nested = map[string]any{"a": nested}
		}
	}
	v, err := Of(nested)
	if err != nil || len(v.Bytes()) != depth/2*2+depth/2*6+3 {
		t.Fatalf("%d bytes, %v", len(v.Bytes()), err)
	}
	// A type that recurses has a limit instead of a crash.
	chain := &linked{}
	for range 100000 {
		chain = &linked{chain}
	}
	if _, err := Of(chain); !errors.Is(err, ErrDepth) {
		t.Errorf("Of of a chain of 100,000: %v", err)
	}
}
