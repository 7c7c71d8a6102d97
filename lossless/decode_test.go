package lossless

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

// decodeCases are texts, pointers to decode into, and what is there then.
var decodeCases = []struct {
	text string
	into any
	want any
}{
	{`true`, new(bool), true},
	{`-7`, new(int8), int8(-7)},
	{`3.0`, new(int), 3},
	{`1e2`, new(uint8), uint8(100)},
	{`-0`, new(uint), uint(0)},
	{`18446744073709551615`, new(uint64), uint64(18446744073709551615)},
	{`9007199254740992`, new(float64), 9007199254740992.0},
	{`0.1`, new(float64), 0.1},
	{`0.1`, new(float32), float32(0.1)},
	{`16777216`, new(float32), float32(16777216)},
	{`1e-400`, new(float64), 0.0},
	{`"a\u0000é😀"`, new(string), "a\x00é😀"},
	{`"x"`, new(level), level("x")},
	{`1.50e2`, new(json.Number), json.Number("1.50e2")},
	{`1e20`, new(big.Int), *new(big.Int).Mul(big.NewInt(1e10), big.NewInt(1e10))},
	{`5.0`, new(*big.Int), big.NewInt(5)},
	{`"aGn/"`, new([]byte), []byte("hi\xff")},
	{`[104,105]`, new([]byte), []byte("hi")},
	{`null`, new([]byte), []byte(nil)},
	{`null`, pointerTo([]int{1}), []int(nil)},
	{`null`, pointerTo(map[string]int{"a": 1}), map[string]int(nil)},
	{`null`, pointerTo(pointerTo(5)), (*int)(nil)},
	{`null`, pointerTo[any](5), nil},
	{`5`, new(**int), pointerTo(pointerTo(5))},
	{`[]`, new([]int), []int{}},
	{`[1,2,3,4,5,6,7]`, pointerTo([]int{9}), []int{1, 2, 3, 4, 5, 6, 7}},
	{`[[1],[],null]`, new([][]int), [][]int{{1}, {}, nil}},
	{`[1,2]`, new([2]int), [2]int{1, 2}},
	{`[]`, new([0]int), [0]int{}},
	{`{"b":2,"a":1}`, pointerTo(map[string]int{"z": 9}), map[string]int{"a": 1, "b": 2}},
	{`{"-5":1,"7":2}`, new(map[int]int), map[int]int{-5: 1, 7: 2}},
	{`{"7":2}`, new(map[uint8]int), map[uint8]int{7: 2}},
	{`{"q7":2}`, new(map[quiet]int), map[quiet]int{7: 2}},
	{`{"x":{"X":1},"y":{"Y":2}}`, new(map[level]*point), map[level]*point{"x": {X: 1}, "y": {Y: 2}}},
	{`{"X":1,"Y":2,"Z":3,"x":4}`, new(point), point{1, 2}},
	{`{"Y":2}`, &point{1, 1}, point{1, 2}},
	{`{"name":"n","X":1}`, &wrapped{deeper: &deeper{}}, wrapped{point: point{X: 1}, deeper: &deeper{}, Name: "n"}},
	{`{"name":"n","Z":1,"Name":2}`, &wrapped{deeper: &deeper{}}, wrapped{deeper: &deeper{1, 2}, Name: "n"}},
	{`{"renamed":1,"Left":"x","-":2,"Empty":"x","empty":"e","quoted":"12","pointer":null,"a\"b<>":{"1":"x"},"opt":null}`, new(tagged),
		tagged{Renamed: 1, Dash: 2, Empty: "e", Quoted: 12, Odd: map[int]string{1: "x"}, Opt: Null}},
	{`[1,"x",null,true,{"a":[],"b":{}},[[-0.0]]]`, new(any),
		[]any{json.Number("1"), "x", nil, true, map[string]any{"a": []any{}, "b": map[string]any{}}, []any{[]any{json.Number("-0.0")}}}},
	{`"x"`, new(any), "x"},
	{`{}`, new(any), map[string]any{}},
	{`{"X":5}`, pointerTo[any](&point{1, 2}), &point{5, 2}},
	{`"x"`, new(loud), loud{"x"}},
	{`null`, &loud{"x"}, loud{"x"}},
	{`["x",null]`, new([]*loud), []*loud{{"x"}, nil}},
	{`"q5"`, new(quiet), quiet(5)},
	{`"::1"`, new(netip.Addr), netip.MustParseAddr("::1")},
	{`"1970-01-01T00:00:00Z"`, new(time.Time), time.Unix(0, 0).UTC()},
	{`{"a":["\ud800"]}`, new(json.RawMessage), json.RawMessage(`{"a":["\ud800"]}`)},
	{`{"a":["\ud800"]}`, new(map[string]Value), map[string]Value{"a": {[]byte(`["\ud800"]`)}}},
	{`{"Next":{"Next":{}}}`, new(linked), linked{&linked{&linked{}}}},
}

func TestDecode(t *testing.T) {
	for _, c := range decodeCases {
		v := parse(t, c.text)
		err := v.Decode(c.into)
		got := reflect.ValueOf(c.into).Elem().Interface()
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("Decode of %s into %T = %#v, %v; want %#v", c.text, c.into, got, err, c.want)
		}
		if v.String() != c.text {
			t.Errorf("Decode changed %s to %s", c.text, v)
		}
	}
}

// decodeErrors are texts that don't fit what they are decoded into.
var decodeErrors = []struct {
	text    string
	into    any
	err     error
	pointer string
	words   string
}{
	{`9007199254740993`, new(float64), ErrValueRange, "", "9007199254740993"},
	{`[16777217]`, new([]float32), ErrValueRange, "/0", "float32"},
	{`1e39`, new(float32), ErrValueRange, "", "too large"},
	{`{"n":3.5}`, new(map[string]int), ErrValueRange, "/n", "fraction"},
	{`300`, new(int8), ErrValueRange, "", "too large"},
	{`256`, new(uint8), ErrValueRange, "", "too large"},
	{`-1`, new(uint), ErrValueRange, "", "negative"},
	{`1e30`, new(int64), ErrValueRange, "", "too large"},
	{`0.5`, new(big.Int), ErrValueRange, "", "fraction"},
	{`{"a":["\ud800"]}`, new(map[string][]string), ErrSurrogate, "/a/0", "string"},
	{`{"a":["\ud800"]}`, new(any), ErrSurrogate, "/a/0", "Go string"},
	{`{"\ud800":1}`, new(map[string]int), ErrSurrogate, "", ""},
	{`{"\ud800":1}`, new(any), ErrSurrogate, "", ""},
	{`"\ud800"`, new(quiet), ErrSurrogate, "", ""},
	{`null`, new(int), ErrType, "", "null"},
	{`null`, new(string), ErrType, "", "null"},
	{`[null]`, new([]point), ErrType, "/0", "null"},
	{`null`, new(quiet), ErrType, "", "null"},
	{`null`, new(big.Int), ErrType, "", "null"},
	{`"5"`, new(int), ErrType, "", "string doesn't fit"},
	{`"5"`, new(json.Number), ErrType, "", "string doesn't fit"},
	{`5`, new(string), ErrType, "", "number doesn't fit"},
	{`1`, new(bool), ErrType, "", "number doesn't fit"},
	{`true`, new(float64), ErrType, "", "bool doesn't fit"},
	{`{"X":[]}`, new(point), ErrType, "/X", "array doesn't fit (Go type int)"},
	{`[]`, new(point), ErrType, "", "lossless.point"},
	{`{}`, new([]int), ErrType, "", "object"},
	{`[]`, new(map[string]int), ErrType, "", "array"},
	{`1`, new([1]int), ErrType, "", "number"},
	{`[1]`, new([2]int), ErrType, "", "2 elements"},
	{`[[1,2,3]]`, new([][2]int), ErrType, "/0", "2 elements"},
	{`"a*b"`, new([]byte), ErrType, "", "base64"},
	{`"aGk="`, new([]int), ErrType, "", "string"},
	{`"aG\nk="`, new([]byte), ErrType, "", "base64"},
	{`"aGl="`, new([]byte), ErrType, "", "base64"},
	{`{"a":1}`, new(map[int]int), ErrType, "/a", "plainly"},
	{`{"01":1}`, new(map[int]int), ErrType, "/01", "plainly"},
	{`{"-1":1}`, new(map[uint]int), ErrType, "/-1", "plainly"},
	{`{"300":1}`, new(map[int8]int), ErrType, "/300", "plainly"},
	{`{"q1":1,"1":2}`, new(map[quiet]int), ErrDuplicateName, "/1", "map key"},
	{`{"x":1}`, new(map[quiet]int), nil, "/x", "invalid syntax"},
	{`{"x":1}`, new(map[float64]int), ErrType, "/x", "map key"},
	{`["bad"]`, new([]loud), nil, "/0", "it is bad"},
	{`"x"`, new(quiet), nil, "", "invalid syntax"},
	{`{"quoted":5}`, new(tagged), ErrType, "/quoted", "number"},
	{`{"quoted":"x"}`, new(tagged), ErrSyntax, "/quoted", "as JSON"},
	{`{"quoted":"5.5"}`, new(tagged), ErrValueRange, "/quoted", "fraction"},
	{`{"quoted":"\ud800"}`, new(tagged), ErrSurrogate, "/quoted", ""},
	{`{"Z":1}`, new(wrapped), ErrType, "/Z", "embedded"},
	{`1`, new(fmt.Stringer), ErrType, "", "interface"},
	{`1`, new(chan int), ErrType, "", "chan int"},
	{`1`, new(func()), ErrType, "", "func()"},
	{`1`, point{}, ErrType, "", "pointer"},
	{`1`, nil, ErrType, "", "pointer"},
	{`1`, (*int)(nil), ErrType, "", "pointer"},
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range decodeErrors {
		err := parse(t, c.text).Decode(c.into)
		var e *Error
		if !errors.As(err, &e) || c.err != nil && !errors.Is(err, c.err) || e.Pointer != c.pointer || !strings.Contains(err.Error(), c.words) {
			t.Errorf("Decode of %s into %T: %v; want %v at %q with %q", c.text, c.into, err, c.err, c.pointer, c.words)
		}
	}
	if err := (Value{}).Decode(new(any)); !errors.Is(err, ErrAbsent) {
		t.Errorf("Decode of an absent value: %v", err)
	}
	long := parse(t, strings.Repeat("9", 1<<20))
	if err := long.Decode(new(int)); err == nil || len(err.Error()) > 400 {
		t.Errorf("the message of a number of 1 MiB has %d bytes", len(err.Error()))
	}
}

func TestDecodeDeep(t *testing.T) {
	const depth = 1000000
	v := parse(t, strings.Repeat(`[{"a":`, depth/2)+`1`+strings.Repeat(`}]`, depth/2))
	var tree any
	if err := v.Decode(&tree); err != nil {
		t.Fatal(err)
	}
	again, err := Of(tree)
	if err != nil || !again.Equal(v) {
		t.Fatalf("Of of the decoded tree has %d bytes, %v; want %d", len(again.Bytes()), err, len(v.Bytes()))
	}
	var kept []Value
	if err := v.Decode(&kept); err != nil || len(kept) != 1 {
		t.Fatal(err)
	}
	chain := parse(t, strings.Repeat(`{"Next":`, depth)+`null`+strings.Repeat(`}`, depth))
	if err := chain.Decode(new(linked)); !errors.Is(err, ErrDepth) {
		t.Errorf("a chain of a million: %v", err)
	}
	type self *self
	if err := parse(t, `1`).Decode(new(self)); !errors.Is(err, ErrDepth) {
		t.Errorf("a pointer to itself: %v", err)
	}
}

// TestEmbedding holds which fields count against encoding/json.
func TestEmbedding(t *testing.T) {
	type A struct{ X, Y, Same int }
	type B struct {
		X    int `json:"X"`
		Same int
	}
	type C struct {
		A
		*B
		Y string
	}
	type inner struct{ Seen int }
	type D struct {
		inner
		C     `json:"named"`
		level //lint:ignore U1000 what isn't exported is left out
		Own   int
		own   int //lint:ignore U1000 what isn't exported is left out
	}
	type E struct {
		*E
		Z int
	}
	for _, in := range []any{C{A{1, 2, 3}, &B{4, 5}, "y"}, C{}, D{inner: inner{1}, Own: 2}, E{Z: 1}, &E{&E{nil, 2}, 1}} {
		got, err := Of(in)
		want, wantErr := json.Marshal(in)
		if err != nil || wantErr != nil || got.String() != string(want) {
			t.Errorf("Of(%+v) = %s, %v; encoding/json says %s, %v", in, got, err, want, wantErr)
		}
		back := reflect.New(reflect.TypeOf(in))
		if err := got.Decode(back.Interface()); err != nil {
			t.Errorf("Decode of %s: %v", got, err)
		}
		ref := reflect.New(reflect.TypeOf(in))
		if err := json.Unmarshal(want, ref.Interface()); err != nil || !reflect.DeepEqual(ref.Interface(), back.Interface()) {
			t.Errorf("Decode of %s = %+v; encoding/json says %+v", got, back.Interface(), ref.Interface())
		}
	}
}
