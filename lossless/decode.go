package lossless

import "encoding/json"

// Decode: first form; see below.
func (v Value) Decode(into any) error {
	if !v.Exists() {
		return absent()
	}
	return json.Unmarshal(v.text, into)
}
