package lossless

import (
	"bytes"
	"encoding/json"
)

// Of returns a Go value as a Value.
func Of(v any) (Value, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return Value{}, err
	}
	return Parse(bytes.TrimRight(b.Bytes(), "\n"), Options{})
}
