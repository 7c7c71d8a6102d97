package lossless

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// genTree makes what Decode gives for an any: numbers as json.Number.
func genTree(depth int) *rapid.Generator[any] {
	scalar := rapid.OneOf(
		rapid.Just[any](nil),
		rapid.Custom(func(t *rapid.T) any { return rapid.Bool().Draw(t, "bool") }),
		rapid.Custom(func(t *rapid.T) any { return rapid.String().Draw(t, "string") }),
		rapid.Custom(func(t *rapid.T) any {
			return json.Number(rapid.StringMatching(`-?(0|[1-9][0-9]{0,40})(\.[0-9]{1,10}|\.[0-9]e[-+]?[0-9]{1,2})?`).Draw(t, "number"))
		}),
	)
	if depth == 0 {
		return scalar
	}
	return rapid.OneOf(scalar,
		rapid.Custom(func(t *rapid.T) any {
			return rapid.SliceOfN(genTree(depth-1), 0, 5).Draw(t, "array")
		}),
		rapid.Custom(func(t *rapid.T) any {
			return rapid.MapOfN(rapid.String(), genTree(depth-1), 0, 5).Draw(t, "object")
		}),
	)
}

func TestTreesReturn(t *testing.T) {
	gen := genTree(4)
	rapid.Check(t, func(t *rapid.T) {
		tree := gen.Draw(t, "tree")
		v, err := Of(tree)
		if err != nil {
			t.Fatal(err)
		}
		checkReference(t, v.Bytes(), Exact)
		var back any
		if err := v.Decode(&back); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(tree, back) {
			t.Fatalf("%#v came back from %s as %#v", tree, v, back)
		}
	})
}

// everything has a field of each sort.
type everything struct {
	B    bool
	I    int64
	U    uint64
	F    float64
	F32  float32
	S    string
	Raw  []byte
	N    json.Number `json:",omitempty"`
	Big  *big.Int
	P    *string
	L    []everything
	M    map[string]float64
	Keys map[int8]string
	A    [2]uint16
	Any  any
	V    Value
	deeper
	In struct {
		X int    `json:"x,omitempty"`
		S string `json:",string"`
	} `json:"in"`
}

func genEverything(depth int) *rapid.Generator[everything] {
	float := rapid.Custom(func(t *rapid.T) float64 {
		f := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return math.Copysign(0, f)
		}
		return f
	})
	return rapid.Custom(func(t *rapid.T) everything {
		e := everything{
			B:    rapid.Bool().Draw(t, "B"),
			I:    rapid.Int64().Draw(t, "I"),
			U:    rapid.Uint64().Draw(t, "U"),
			F:    float.Draw(t, "F"),
			F32:  rapid.Float32().Draw(t, "F32"),
			S:    rapid.String().Draw(t, "S"),
			Raw:  rapid.SliceOf(rapid.Byte()).Draw(t, "Raw"),
			N:    json.Number(strconv.FormatFloat(float.Draw(t, "N"), 'g', -1, 64)),
			M:    rapid.MapOf(rapid.String(), float).Draw(t, "M"),
			Keys: rapid.MapOf(rapid.Int8(), rapid.String()).Draw(t, "Keys"),
			A:    [2]uint16{rapid.Uint16().Draw(t, "A0"), 5},
			Any:  genTree(2).Draw(t, "Any"),
		}
		if rapid.Bool().Draw(t, "pointers") {
			e.Big = new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 1, 30).Draw(t, "Big"))
			e.P = pointerTo(rapid.String().Draw(t, "P"))
			e.V = Value{[]byte(`{"a":["\ud800",1.50]}`)}
		}
		e.Z, e.In.X, e.In.S = 7, rapid.IntRange(0, 2).Draw(t, "X"), rapid.String().Draw(t, "inS")
		if depth > 0 {
			e.L = rapid.SliceOfN(genEverything(depth-1), 0, 2).Draw(t, "L")
		}
		return e
	})
}

func TestStructsReturn(t *testing.T) {
	gen := genEverything(1)
	rapid.Check(t, func(t *rapid.T) {
		in := gen.Draw(t, "in")
		v, err := Of(in)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Parse(append([]byte(" "), v.Bytes()...), Options{})
		if err != nil || !p.Equal(v) {
			t.Fatalf("Parse of %s = %s, %v", v, p, err)
		}
		var back everything
		if err := p.Decode(&back); err != nil {
			t.Fatalf("%v, of %s", err, v)
		}
		again, err := Of(back)
		if err != nil || !again.Equal(v) {
			t.Fatalf("%s came back as %s, %v", v, again, err)
		}
		// Besides nil slices and big.Int's spare words, it is what it was.
		if back.I != in.I || back.U != in.U || math.Float64bits(back.F) != math.Float64bits(in.F) || back.F32 != in.F32 || back.S != in.S || !reflect.DeepEqual(back.Any, in.Any) {
			t.Fatalf("%+v came back as %+v", in, back)
		}
	})
}

// checkStandard holds a text that Check lets pass against encoding/json, which
// must take it for the same.
func checkStandard(t failer, text []byte) {
	t.Helper()
	v, err := Parse(text, Options{})
	valid := json.Valid(text)
	switch {
	case err == nil && !valid && maxNesting(text) < 10000:
		t.Fatalf("encoding/json takes %q for invalid", text)
	case err != nil && valid && utf8.Valid(text):
		// What it takes and this doesn't: repeated names and the number rule.
		if want, refErr := referenceCanonical(text, Exact); refErr == nil {
			t.Fatalf("Parse(%q): %v; the reference says %q", text, err, want)
		}
		return
	case err != nil || !valid:
		return
	}
	var own, standard any
	ownErr := v.Decode(&own)
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if err := decoder.Decode(&standard); err != nil {
		t.Fatalf("encoding/json: %v", err)
	}
	if ownErr != nil {
		if !strings.Contains(v.String(), `\ud`) {
			t.Fatalf("Decode of %q: %v", text, ownErr)
		}
		return // encoding/json has put U+FFFD there
	}
	if !reflect.DeepEqual(own, standard) {
		t.Fatalf("%q decodes to %#v; encoding/json says %#v", text, own, standard)
	}
	for _, part := range parts(v) {
		if part.Kind() != KindNumber {
			continue
		}
		f, err := part.Float64()
		var want float64
		if json.Unmarshal(part.Bytes(), &want) == nil && err == nil && math.Float64bits(f) != math.Float64bits(want) && len(part.Bytes()) < 1000 {
			t.Fatalf("Float64 of %s = %v; encoding/json says %v", part, f, want)
		}
		i, err := part.Int64()
		var wantInt int64
		if json.Unmarshal(part.Bytes(), &wantInt) == nil && (err != nil || i != wantInt) {
			t.Fatalf("Int64 of %s = %v, %v; encoding/json says %v", part, i, err, wantInt)
		}
	}
}

// parts returns v and, of an array or object, what is in it.
func parts(v Value) []Value {
	all := []Value{v}
	for _, element := range v.Elements() {
		all = append(all, element)
	}
	for _, member := range v.Members() {
		all = append(all, member)
	}
	return all
}

func maxNesting(text []byte) int {
	depth, most := 0, 0
	for _, c := range text {
		switch c {
		case '[', '{':
			depth++
			most = max(most, depth)
		case ']', '}':
			depth--
		}
	}
	return most
}

func TestAgainstStandard(t *testing.T) {
	for _, c := range textCases {
		checkStandard(t, []byte(c.text))
	}
	for _, c := range suiteCases(t) {
		checkStandard(t, c.text())
	}
	gen := genJSON(3)
	rapid.Check(t, func(t *rapid.T) {
		checkStandard(t, []byte(gen.Draw(t, "text")))
	})
}
