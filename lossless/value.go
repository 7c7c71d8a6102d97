package lossless

import (
	"bytes"
	"errors"
)

// Kind says what a Value is.
type Kind int

// The kinds of a Value. Absent, the zero value, is that of the zero Value.
const (
	KindAbsent Kind = iota
	KindNull
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

// String returns the kind's name in lower case.
func (k Kind) String() string {
	switch k {
	case KindNull:
		return "null"
	case KindBool:
		return "bool"
	case KindNumber:
		return "number"
	case KindString:
		return "string"
	case KindArray:
		return "array"
	case KindObject:
		return "object"
	}
	return "absent"
}

// Value is one JSON value, kept as its canonical text. Its methods read that
// text where it stands and change nothing, so a Value may be shared. The zero
// Value is absent: no value at all, which is not null.
type Value struct {
	text []byte
}

// Values of fixed text.
var (
	Null  = Value{[]byte("null")}
	True  = Value{[]byte("true")}
	False = Value{[]byte("false")}
)

// Exists tells whether there is a value. Null exists.
func (v Value) Exists() bool { return len(v.text) > 0 }

// Kind says what the value is.
func (v Value) Kind() Kind {
	if len(v.text) == 0 {
		return KindAbsent
	}
	switch v.text[0] {
	case 'n':
		return KindNull
	case 't', 'f':
		return KindBool
	case '"':
		return KindString
	case '[':
		return KindArray
	case '{':
		return KindObject
	}
	return KindNumber
}

// Bytes returns the JSON text, nil for an absent value. It must not be changed.
func (v Value) Bytes() []byte { return v.text }

// String returns the JSON text, "" for an absent value.
func (v Value) String() string { return string(v.text) }

// Clone returns a copy that shares no memory with v, nor with a buffer that v
// was parsed from.
func (v Value) Clone() Value {
	return Value{bytes.Clone(v.text)}
}

// Equal tells whether both have the same canonical text. Members in another
// order, and numbers of another spelling, make a difference.
func (v Value) Equal(other Value) bool { return bytes.Equal(v.text, other.text) }

// Check applies another profile or a budget to the value, as the function Check
// does to text. An absent value has size 0 and is ErrAbsent.
func (v Value) Check(o Options) (size int64, err error) {
	if !v.Exists() {
		return 0, absent()
	}
	return Check(v.text, o)
}

// Canonical returns the value in the canonical form of the options, after
// checking it. It is v itself where nothing changes.
func (v Value) Canonical(o Options) (Value, error) {
	if !v.Exists() {
		return Value{}, absent()
	}
	return Parse(v.text, o)
}

// MarshalJSON returns the JSON text, so that a Value can be part of what
// encoding/json encodes. An absent value is null there.
func (v Value) MarshalJSON() ([]byte, error) {
	if !v.Exists() {
		return []byte("null"), nil
	}
	return v.text, nil
}

// UnmarshalJSON sets v to a copy of text in canonical form, under Exact.
func (v *Value) UnmarshalJSON(text []byte) error {
	if v == nil {
		return errors.New("lossless: UnmarshalJSON of a nil *Value")
	}
	parsed, err := Parse(bytes.Clone(text), Options{})
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}

func absent() *Error { return &Error{Err: ErrAbsent} }
