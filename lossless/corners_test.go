package lossless

import (
	"encoding"
	"errors"
	"math/big"
	"strings"
	"testing"
)

// Types whose methods decide what is left out, or fail.
type (
	zeroByValue   struct{ N int }
	zeroByPointer struct{ N int }
	zeroer        interface{ IsZero() bool }
	mute          struct{}
	nilKey        struct{ name string }
)

func (z zeroByValue) IsZero() bool             { return z.N == 7 }
func (z *zeroByPointer) IsZero() bool          { return z.N == 7 }
func (mute) MarshalText() ([]byte, error)      { return nil, errors.New("it says nothing") }
func (n *nilKey) MarshalText() ([]byte, error) { return []byte(n.name), nil }

var (
	_ encoding.TextMarshaler = mute{}
	_ encoding.TextMarshaler = (*nilKey)(nil)
)

type omitting struct {
	A zeroByValue    `json:",omitzero"`
	B zeroByPointer  `json:",omitzero"`
	C *zeroByValue   `json:",omitzero"`
	D zeroer         `json:",omitzero"`
	E zeroer         `json:",omitzero"`
	F [2]int         `json:",omitzero"`
	G [0]int         `json:",omitempty"`
	H *int           `json:",omitempty"`
	I any            `json:",omitempty"`
	J struct{}       `json:",omitempty"`
	K bool           `json:",omitempty"`
	L map[string]int `json:",omitempty"`
	M Value          `json:",omitzero"`
}

func TestOmitted(t *testing.T) {
	for text, in := range map[string]omitting{
		`{"A":{"N":0},"B":{"N":0},"J":{}}`: {},
		`{"J":{}}`:                         {A: zeroByValue{7}, B: zeroByPointer{7}, C: &zeroByValue{7}, D: zeroByValue{7}, E: (*zeroByPointer)(nil)},
		`{"A":{"N":1},"B":{"N":2},"C":{"N":3},"D":{"N":4},"E":{"N":5},"F":[0,1],"H":0,"I":0,"J":{},"K":true,"L":{"a":1},"M":null}`: {
			zeroByValue{1}, zeroByPointer{2}, &zeroByValue{3}, zeroByValue{4}, &zeroByPointer{5}, [2]int{0, 1}, [0]int{}, new(int), 0, struct{}{}, true, map[string]int{"a": 1}, Null},
	} {
		if v, err := Of(in); v.String() != text || err != nil {
			t.Errorf("Of(%+v) = %s, %v; want %s", in, v, err, text)
		}
	}
}

func TestMethodsThatFail(t *testing.T) {
	for _, c := range []struct {
		in      any
		pointer string
		words   string
	}{
		{[]mute{{}}, "/0", "it says nothing"},
		{map[mute]int{{}: 1}, "", "it says nothing"},
		{map[*nilKey]int{nil: 1}, "", "nil map key"},
		{struct {
			A struct{ B chan int }
		}{}, "/A/B", "no JSON form"},
		{map[string]any{"x": map[string]chan int{"y": nil}}, "/x/y", "no JSON form"},
		{struct {
			S string `json:",string"`
		}{"\xff"}, "/S", "UTF-8"},
	} {
		v, err := Of(c.in)
		var e *Error
		if !errors.As(err, &e) || e.Pointer != c.pointer || !strings.Contains(err.Error(), c.words) {
			t.Errorf("Of(%#v) = %s, %v; want an error at %q with %q", c.in, v, err, c.pointer, c.words)
		}
	}
	if v, err := Of(map[*nilKey]int{{"k"}: 1}); v.String() != `{"k":1}` || err != nil {
		t.Errorf("a key with a text = %s, %v", v, err)
	}
}

func TestQuotedFields(t *testing.T) {
	type quoted struct {
		P *int    `json:",string"`
		B bool    `json:",string"`
		S string  `json:",string"`
		F float64 `json:",string"`
		//lint:ignore SA5008 the option means nothing for a slice
		L []int `json:",string"`
	}
	var q quoted
	q.P = new(int)
	if err := parse(t, `{"P":null,"B":"true","S":"\"x\"","F":"1.5","L":[1]}`).Decode(&q); err != nil || q.P != nil || !q.B || q.S != "x" || q.F != 1.5 || len(q.L) != 1 {
		t.Errorf("decoded %+v, %v", q, err)
	}
	if err := parse(t, `{"P":"5"}`).Decode(&q); err != nil || *q.P != 5 {
		t.Errorf("decoded %+v, %v", q, err)
	}
	if v, err := Of(q); v.String() != `{"P":"5","B":"true","S":"\"x\"","F":"1.5","L":[1]}` || err != nil {
		t.Errorf("Of = %s, %v", v, err)
	}
	for _, text := range []string{`{"P":"x"}`, `{"P":"null "}`, `{"B":"1"}`, `{"F":""}`, `{"F":"1 2"}`} {
		if err := parse(t, text).Decode(new(quoted)); err == nil && text != `{"P":"null "}` {
			t.Errorf("Decode of %s has no error", text)
		}
	}
}

// TestPoolsLetGo holds that a hostile text doesn't leave its memory in the pool.
func TestPoolsLetGo(t *testing.T) {
	many := newNames()
	many.open()
	text := []byte(objectNames(10000))
	for i := 0; i+8 <= len(text); i += 8 {
		many.insert(text, text[i:i+8], i)
	}
	if many.reset() {
		t.Errorf("names of %d entries are kept", cap(many.list))
	}
	tables := newNames()
	for range 30 {
		tables.open()
		for i := range 100 {
			tables.insert(text, text[8*i:8*i+8], 8*i)
		}
	}
	if !tables.reset() {
		t.Fatal("names of 3,000 entries are not kept")
	}
	kept := 0
	for _, table := range tables.freeTables {
		kept += 4 * len(table)
	}
	if kept > 1<<16 || len(tables.outer) != 0 || len(tables.outerTables) != 0 || len(tables.list) != 0 {
		t.Errorf("%d bytes of tables and %d names are kept", kept, len(tables.list))
	}
	deep := scanner{text: []byte(strings.Repeat("[", 3<<20))}
	deep.value(0)
	space := deep.space
	deep.release()
	if deep.space != nil || cap(space.kinds) <= 1<<14 {
		t.Errorf("three million levels left %d words", cap(space.kinds))
	}
}

// objectNames is names of eight bytes, one after the other.
func objectNames(count int) string {
	var b strings.Builder
	for i := range count {
		b.WriteString("n")
		for shift := 24; shift >= 0; shift -= 4 {
			b.WriteByte(hexDigits[i>>shift&15])
		}
	}
	return b.String()
}

func TestErrorText(t *testing.T) {
	e := &Error{Err: ErrType, Pointer: "/" + strings.Repeat("é", 100), Offset: 5}
	if got := e.Error(); !strings.Contains(got, "wrong type") || !strings.Contains(got, "...") || !strings.HasSuffix(got, "offset 5") || strings.ContainsRune(got, '\ufffd') {
		t.Errorf("the message is %q", got)
	}
	if got := (&Error{}).Error(); got != "lossless: " {
		t.Errorf("the message of an empty error is %q", got)
	}
	// Each cause has its sentinel and words.
	for c := ended; c <= negativeZero; c++ {
		if causes[c].err == nil || causes[c].detail == "" {
			t.Errorf("cause %d has no words", c)
		}
	}
}

// TestLiterals cuts and damages each literal at each byte.
func TestLiterals(t *testing.T) {
	for _, word := range []string{"true", "false", "null"} {
		for i := 1; i < len(word); i++ {
			_, err := Check([]byte("["+word[:i]), Options{})
			var e *Error
			if !errors.As(err, &e) || e.Offset != int64(i+1) || !strings.Contains(err.Error(), "ends") {
				t.Errorf("%q: %v", word[:i], err)
			}
			_, err = Check([]byte("["+word[:i]+"X"+word[i+1:]+"]"), Options{})
			if !errors.As(err, &e) || e.Offset != int64(i+1) || !strings.Contains(err.Error(), "literals") {
				t.Errorf("%q damaged at %d: %v", word, i, err)
			}
		}
	}
}

// TestLongExponents reads numbers whose exponents are longer than strconv heeds.
func TestLongExponents(t *testing.T) {
	zeros := strings.Repeat("0", 20000)
	for text, want := range map[string]float64{
		"1" + zeros + "e-20000":                 1,
		"-1" + zeros + "e-20000":                -1,
		"0." + zeros + "15e20001":               1.5,
		"1." + zeros + "1e00000000000":          1,
		"9007199254740993" + zeros + "e-20000":  9007199254740992,
		"9007199254740993" + zeros + "1e-20001": 9007199254740994, // past the middle by the last digit
		"0e123456":                              0,
		"1e-123456":                             0,
	} {
		v := parse(t, text)
		if f, err := v.Float64(); f != want || err != nil {
			t.Errorf("Float64 of %.30s... = %v, %v; want %v", text, f, err, want)
		}
	}
	var f float32
	if err := parse(t, "1"+zeros+"e-19962").Decode(&f); err != nil || f != 1e38 {
		t.Errorf("decoded %v, %v", f, err)
	}
}

// TestParseBig reads integers of as many digits as make each number of chunks.
func TestParseBig(t *testing.T) {
	digits := []byte(strings.Repeat("1234567890", 6*bigChunk/10+1))
	for _, n := range []int{1, 2, bigChunk - 1, bigChunk, bigChunk + 1, 2 * bigChunk, 2*bigChunk + 1, 3*bigChunk - 1, 3 * bigChunk, 4*bigChunk + 7, 5*bigChunk + 1, 6 * bigChunk} {
		want, _ := new(big.Int).SetString(string(digits[:n]), 10)
		if got := parseBig(digits[:n]); got.Cmp(want) != 0 {
			t.Errorf("%d digits are read wrongly", n)
		}
		v := parse(t, "-"+string(digits[:n]))
		if got, err := v.BigInt(); err != nil || got.CmpAbs(want) != 0 || got.Sign() >= 0 {
			t.Errorf("%d digits with a sign: %v", n, err)
		}
	}
	// math/big alone takes half a minute for this one.
	long := parse(t, "7"+strings.Repeat("0", 4<<20))
	i, err := long.BigInt()
	if err != nil || i.TrailingZeroBits() != 4<<20 {
		t.Errorf("4 million digits: %d bits, %v", i.BitLen(), err)
	}
}
