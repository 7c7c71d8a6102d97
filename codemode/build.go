package codemode

import (
	"strconv"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// member is one member of an object that is put together.
type member struct {
	name  string
	value lossless.Value
}

// object returns an object of members in their order. A name that isn't UTF-8 has
// U+FFFD for what isn't.
func object(members []member) lossless.Value {
	text := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, str(m.name).Bytes()...)
		text = append(text, ':')
		text = append(text, m.value.Bytes()...)
	}
	return built(append(text, '}'))
}

func array(values []lossless.Value) lossless.Value {
	text := []byte{'['}
	for i, v := range values {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, v.Bytes()...)
	}
	return built(append(text, ']'))
}

func number(n int) lossless.Value { return built(strconv.AppendInt(nil, int64(n), 10)) }

// str returns a text as a JSON string.
func str(text string) lossless.Value {
	v, err := lossless.Of(text)
	if err != nil {
		v, _ = lossless.Of(string([]rune(text)))
	}
	return v
}

// built returns text that was put together from values, and so is one.
func built(text []byte) lossless.Value {
	v, err := lossless.Parse(text, lossless.Options{})
	if err != nil {
		return lossless.Null // a name twice: only what a program forged can come to that
	}
	return v
}
