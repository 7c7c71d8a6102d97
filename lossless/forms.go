package lossless

import (
	"encoding"
	"encoding/json"
	"math/big"
	"reflect"
	"sync"
)

var (
	valueType           = reflect.TypeFor[Value]()
	bigIntType          = reflect.TypeFor[big.Int]()
	numberType          = reflect.TypeFor[json.Number]()
	marshalerType       = reflect.TypeFor[json.Marshaler]()
	unmarshalerType     = reflect.TypeFor[json.Unmarshaler]()
	textMarshalerType   = reflect.TypeFor[encoding.TextMarshaler]()
	textUnmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// form is what a Go type says of its own JSON form, beyond its kind.
type form struct {
	// encode and decode tell who makes the text and who reads it.
	encode encodeForm
	decode decodeForm
	// pointer tells that the methods for encode are those of a pointer.
	pointer bool
}

type encodeForm uint8

const (
	encodeByKind encodeForm = iota
	encodeValue             // Value
	encodeBigInt            // big.Int
	encodeNumber            // json.Number
	encodeJSON              // a json.Marshaler
	encodeText              // an encoding.TextMarshaler
)

type decodeForm uint8

const (
	decodeByKind decodeForm = iota
	decodeValue
	decodeBigInt
	decodeJSON // by way of a pointer, a json.Unmarshaler
	decodeText // by way of a pointer, an encoding.TextUnmarshaler
)

var byKind = new(form)

// forms caches form by type. What methods a type has never changes.
var forms sync.Map // reflect.Type → *form

func formOf(t reflect.Type) *form {
	// Go's own types have no methods.
	if k := t.Kind(); t.PkgPath() == "" && k != reflect.Struct && k != reflect.Pointer {
		return byKind
	}
	if known, ok := forms.Load(t); ok {
		return known.(*form)
	}
	made, _ := forms.LoadOrStore(t, newForm(t))
	return made.(*form)
}

func newForm(t reflect.Type) *form {
	switch t {
	case valueType:
		return &form{encode: encodeValue, decode: decodeValue}
	case bigIntType:
		return &form{encode: encodeBigInt, decode: decodeBigInt}
	case numberType:
		return &form{encode: encodeNumber}
	}
	f := new(form)
	p := reflect.PointerTo(t)
	switch {
	case p.Implements(unmarshalerType):
		f.decode = decodeJSON
	case p.Implements(textUnmarshalerType):
		f.decode = decodeText
	}
	if t.Kind() == reflect.Interface {
		return f // what it holds has a form
	}
	if t.Kind() == reflect.Pointer {
		if t.Elem() == valueType || t.Elem() == bigIntType {
			return f // what it points to has
		}
		p = t
	}
	switch {
	case t.Implements(marshalerType):
		f.encode = encodeJSON
	case p.Implements(marshalerType):
		f.encode, f.pointer = encodeJSON, true
	case t.Implements(textMarshalerType):
		f.encode = encodeText
	case p.Implements(textMarshalerType):
		f.encode, f.pointer = encodeText, true
	}
	return f
}

// special tells that the type is one of those that this package knows by name.
func (f *form) special() bool {
	return f.encode == encodeValue || f.encode == encodeBigInt || f.encode == encodeNumber
}
