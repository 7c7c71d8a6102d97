package lossless

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"
)

// addTexts seeds a fuzz target with the case tables and the short cases of
// JSONTestSuite.
func addTexts(f *testing.F) {
	for _, c := range textCases {
		f.Add([]byte(c.text))
	}
	for _, c := range placeCases {
		f.Add([]byte(c.text))
	}
	for _, c := range membersCases {
		f.Add([]byte(c.text))
	}
	for _, c := range brokenMembers {
		f.Add([]byte(c.text))
	}
	for _, c := range suiteCases(f) {
		if c.Repeat < 2 {
			f.Add(c.text())
		}
	}
}

// tooDeep keeps texts from the reference, which recurses.
func tooDeep(text []byte) bool {
	return bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > 5000
}

// FuzzCheck holds the scanner against the reference under both profiles.
func FuzzCheck(f *testing.F) {
	addTexts(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		if tooDeep(text) {
			return
		}
		checkReference(t, text, Exact)
		checkReference(t, text, Double)
	})
}

// FuzzMembers holds Members against Check and Parse.
func FuzzMembers(f *testing.F) {
	addTexts(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		checkMembers(t, text, Exact)
		checkMembers(t, text, Double)
	})
}

// FuzzStandard holds Parse and Decode against encoding/json where they agree.
func FuzzStandard(f *testing.F) {
	addTexts(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		if tooDeep(text) {
			return
		}
		checkStandard(t, text)
	})
}

// FuzzDecode decodes into types of every sort: it may fail, but what it decodes
// must have the same text again.
func FuzzDecode(f *testing.F) {
	addTexts(f)
	for _, c := range decodeCases {
		f.Add([]byte(c.text))
	}
	for _, c := range decodeErrors {
		f.Add([]byte(c.text))
	}
	f.Add([]byte(`{"B":true,"I":-5,"U":7,"F":1.5,"F32":0.5,"S":"x","Raw":"aGk=","N":1e5,"Big":123,"P":"p","L":[{"I":1}],"M":{"a":1.0},"Keys":{"-1":"x"},"A":[1,2],"Any":[{}],"V":[1],"Z":1,"Name":2,"in":{"x":1,"S":"\"x\""}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Parse(text, Options{})
		if err != nil {
			return
		}
		for _, into := range []any{new(everything), new(tagged), new(wrapped), new(linked), new(map[quiet]*point), new([]json8), new(any), new(Value)} {
			if v.Decode(into) != nil {
				continue
			}
			first, err := Of(into)
			if err != nil {
				t.Fatalf("%s decodes into %T, but that has no text: %v", v, into, err)
			}
			again := reflect.New(reflect.TypeOf(into).Elem()).Interface()
			if err := first.Decode(again); err != nil {
				if _, ok := into.(*tagged); ok {
					continue // a zero json.Number or time may have no way back
				}
				t.Fatalf("%s, from %s by way of %T: %v", first, v, into, err)
			}
			if second, err := Of(again); err != nil || !second.Equal(first) {
				t.Fatalf("%s became %s by way of %T, %v", first, second, into, err)
			}
		}
	})
}

type json8 struct {
	N int8    `json:"n"`
	F float32 `json:"f,omitempty"`
}

// FuzzStringSize holds the size of a string against the string that is built.
func FuzzStringSize(f *testing.F) {
	for _, c := range sizeCases {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, s string) { checkStringSize(t, s) })
}

// FuzzPointer looks a place up by any pointer and by that of every error.
func FuzzPointer(f *testing.F) {
	for _, c := range atCases {
		f.Add(sample, c.pointer)
	}
	f.Fuzz(func(t *testing.T, text, pointer string) {
		v, err := Parse([]byte(text), Options{})
		if err != nil {
			return
		}
		got, err := v.At(pointer)
		if err == nil != got.Exists() {
			t.Fatalf("At(%q) = %s, %v", pointer, got, err)
		}
		if err == nil && !strings.Contains(v.String(), got.String()) {
			t.Fatalf("At(%q) of %s = %s", pointer, v, got)
		}
	})
}

// FuzzFloat holds how floats are spelled against how they are read.
func FuzzFloat(f *testing.F) {
	for _, x := range []float64{0, math.Copysign(0, -1), 1, 3.5, 1e15, 1e16, 1e-4, 1e-5, 5e-324, math.MaxFloat64, 1e23, 1 << 53} {
		f.Add(x)
	}
	f.Fuzz(func(t *testing.T, x float64) {
		v, err := Of(x)
		if math.IsNaN(x) || math.IsInf(x, 0) {
			if err == nil {
				t.Fatalf("Of(%v) = %s", x, v)
			}
			return
		}
		if back, err := v.Float64(); err != nil || math.Float64bits(back) != math.Float64bits(x) {
			t.Fatalf("%v is spelled %s, which is %v, %v", x, v, back, err)
		}
		if !strings.ContainsAny(v.String(), ".e") {
			t.Fatalf("%v is spelled %s, an integer", x, v)
		}
		checkReference(t, v.Bytes(), Double)
	})
}
