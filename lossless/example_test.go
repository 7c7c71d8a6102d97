package lossless_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// A value with a budget: what fits crosses, what doesn't is told with its size.
func ExampleCheck() {
	text := []byte(`{ "rows": [ {"n": 1}, {"n": 2.50} ] }`)

	size, err := lossless.Check(text, lossless.Options{MaxBytes: 64})
	fmt.Println(size, err)

	size, err = lossless.Check(text, lossless.Options{MaxBytes: 16})
	fmt.Println(size, errors.Is(err, lossless.ErrOverBudget), err)
	// Output:
	// 29 <nil>
	// 29 true lossless: over the size limit: the value has 29 bytes of JSON, and the limit is 16
}

// The Double profile refuses what a consumer with IEEE doubles would round.
func ExampleCheck_double() {
	text := []byte(`{"ids":[9007199254740992,9007199254740993]}`)

	_, err := lossless.Check(text, lossless.Options{Numbers: lossless.Double})
	fmt.Println(errors.Is(err, lossless.ErrInexact))

	var place *lossless.Error
	if errors.As(err, &place) {
		fmt.Println(place.Pointer, place.Offset)
	}
	// Output:
	// true
	// /ids/1 25
}

// Parse gives the canonical form, and navigation over it without decoding.
func ExampleParse() {
	v, err := lossless.Parse([]byte(`{ "user": {"name": "Zo\u00eb", "tags": ["a", "b"]} }`), lossless.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(v)

	name, err := v.Get("user").Get("name").Text()
	fmt.Println(name, err)

	second, err := v.At("/user/tags/1")
	fmt.Println(second, err)
	// Output:
	// {"user":{"name":"Zoë","tags":["a","b"]}}
	// Zoë <nil>
	// "b" <nil>
}

// Integers of any size keep their digits, and a float stays a float.
func ExampleOf() {
	v, err := lossless.Of(map[string]any{
		"big":   uint64(18446744073709551615),
		"float": 3.0,
		"html":  "<b>",
	})
	fmt.Println(v, err)

	_, err = lossless.Of([]string{"fine", "not \xff UTF-8"})
	fmt.Println(err)
	// Output:
	// {"big":18446744073709551615,"float":3.0,"html":"<b>"} <nil>
	// lossless: invalid UTF-8: the string is "not \xff UTF-8" (Go type string) at "/1"
}

// Decode follows json tags, and tells what doesn't fit instead of changing it.
func ExampleValue_Decode() {
	type row struct {
		ID    int     `json:"id"`
		Price float64 `json:"price"`
	}
	v, _ := lossless.Parse([]byte(`[{"id":1e2,"price":9.5},{"id":3.5,"price":1}]`), lossless.Options{})

	var first row
	fmt.Println(v.Index(0).Decode(&first), first)

	var rows []row
	fmt.Println(v.Decode(&rows))
	// Output:
	// <nil> {100 9.5}
	// lossless: number does not fit: the number is 3.5 and it has a fraction (Go type int) at "/1/id", offset 30
}

// A string that a Go string can't hold is refused as text, and there as UTF-16.
func ExampleValue_UTF16() {
	v, _ := lossless.Parse([]byte(`"a\ud800"`), lossless.Options{})

	_, err := v.Text()
	fmt.Println(errors.Is(err, lossless.ErrSurrogate))

	units, err := v.UTF16()
	fmt.Printf("%x %v\n", units, err)
	// Output:
	// true
	// [61 d800] <nil>
}

// Members takes a message apart without decoding what it carries.
func ExampleMembers() {
	line := []byte(`{"type":"done","value":{"n": 1e400},"extra":[]}`)

	var kind string
	var value lossless.Member
	err := lossless.Members(line, lossless.Exact, func(m lossless.Member) error {
		switch m.Name {
		case "type":
			kind, _ = m.Value().Text()
		case "value":
			value = m
		}
		return nil
	})
	fmt.Println(kind, err)
	fmt.Println(value.Size, value.Fault)
	// Output:
	// done <nil>
	// 11 lossless: number beyond the double range: the largest double is 1.7976931348623157e308 at "/n", offset 6
}

// The cost of a string is known without building it.
func ExampleStringSize() {
	fmt.Println(lossless.StringSize("tab\tand é", 100))
	fmt.Println(lossless.StringSize("far too long for four bytes", 4))
	// Output:
	// 13 true
	// 20 false
}

// A Value can be part of what encoding/json encodes and decodes.
func ExampleValue_MarshalJSON() {
	type envelope struct {
		ID    int            `json:"id"`
		Value lossless.Value `json:"value"`
	}
	var e envelope
	err := json.Unmarshal([]byte(`{"id":1,"value":{"n": 12345678901234567890}}`), &e)
	fmt.Println(e.Value, err)

	out, err := json.Marshal(e)
	fmt.Println(string(out), err)
	// Output:
	// {"n":12345678901234567890} <nil>
	// {"id":1,"value":{"n":12345678901234567890}} <nil>
}
