package lossless

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"sync"
	"unsafe"
)

// Of returns a Go value as a Value, canonical under Exact. It follows the
// conventions of encoding/json: json tags, embedded structs, Marshaler and
// TextMarshaler, []byte as base64, map keys in order, nil as null. It differs
// where those lose something:
//
//   - Floats are spelled as Python spells them, so a float stays a float: 3.0 is
//     3.0 and not 3. A float32 crosses as the double it equals.
//   - A string that isn't UTF-8 is refused, not repaired.
//   - Nothing is escaped that needn't be.
//   - An absent Value leaves out the member that it would be; it is refused as
//     an element. Of of an absent Value is absent.
//   - Methods on a pointer also count for a value without an address.
//   - An empty json.Number is refused.
//
// Cycles are refused. Trees of []any and map[string]any may be nested to any
// depth, other types to 10,000 levels.
func Of(v any) (Value, error) {
	if held, ok := v.(Value); ok {
		return held, nil
	}
	e := encoders.Get().(*encoder)
	err := e.any(v, 0)
	made := Value{e.dst}
	if cap(e.dst) <= keptText {
		made = made.Clone()
		e.dst, e.open = e.dst[:0], nil
		encoders.Put(e)
	}
	if err != nil {
		return Value{}, err
	}
	return made, nil
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

// keptText is the longest buffer that is kept for the next call of Of. What is
// longer becomes the Value itself.
const keptText = 1 << 20

// maxTypedDepth bounds the recursion over Go types. It is far beyond what data
// has, and far below what the stack holds.
const maxTypedDepth = 10000

// encoder appends the canonical text of Go values.
type encoder struct {
	dst []byte
	// open holds every 64th of the containers that are being encoded one in the
	// other. A cycle comes upon one of them again, at the latest one round later.
	open map[container]struct{}
}

// container identifies a slice, map or pointer.
type container struct {
	at  uintptr
	len int
	typ reflect.Type
}

// openDepths is the distance of the depths at which containers are remembered.
const openDepths = 64

// enter refuses a container that is known to be open already.
func (e *encoder) enter(v reflect.Value, depth int) error {
	if depth < openDepths {
		return nil
	}
	c := containerOf(v)
	if _, open := e.open[c]; open {
		return e.fail(v.Type(), ErrCycle, "")
	}
	if depth%openDepths == 0 {
		if e.open == nil {
			e.open = map[container]struct{}{}
		}
		e.open[c] = struct{}{}
	}
	return nil
}

func (e *encoder) leave(v reflect.Value, depth int) {
	if depth >= openDepths && depth%openDepths == 0 {
		delete(e.open, containerOf(v))
	}
}

func containerOf(v reflect.Value) container {
	c := container{at: v.Pointer(), typ: v.Type()}
	if v.Kind() == reflect.Slice {
		c.len = v.Len()
	}
	return c
}

// fail makes an error at the place that the text so far leads to.
func (e *encoder) fail(t reflect.Type, err error, detail string) error {
	return errorOf(0, pointerAt(e.dst, len(e.dst)), t, err, detail)
}

// value appends what v holds, by its type.
func (e *encoder) value(v reflect.Value, depth int) error {
	return e.formed(v, formOf(v.Type()), depth)
}

// formed is value for a type whose form is known.
func (e *encoder) formed(v reflect.Value, f *form, depth int) error {
	t := v.Type()
	if depth > maxTypedDepth {
		return e.fail(t, ErrDepth, "")
	}
	if f.encode != encodeByKind && !(v.Kind() == reflect.Pointer && v.IsNil()) {
		return e.ownForm(v, t, f)
	}
	switch v.Kind() {
	case reflect.Bool:
		e.dst = strconv.AppendBool(e.dst, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.dst = strconv.AppendInt(e.dst, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		e.dst = strconv.AppendUint(e.dst, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		return e.float(v.Float(), t)
	case reflect.String:
		return e.string(v.String(), t)
	case reflect.Interface:
		if v.IsNil() {
			e.null()
			return nil
		}
		return e.any(v.Elem().Interface(), depth)
	case reflect.Pointer:
		if v.IsNil() {
			e.null()
			return nil
		}
		if err := e.enter(v, depth); err != nil {
			return err
		}
		err := e.value(v.Elem(), depth+1)
		e.leave(v, depth)
		return err
	case reflect.Struct:
		return e.structure(v, depth)
	case reflect.Map:
		return e.mapping(v, depth)
	case reflect.Slice:
		return e.slice(v, depth)
	case reflect.Array:
		return e.elements(v, depth)
	default:
		return e.fail(t, ErrType, "it has no JSON form")
	}
	return nil
}

func (e *encoder) null() { e.dst = append(e.dst, "null"...) }

// ownForm appends a value whose type says itself how.
func (e *encoder) ownForm(v reflect.Value, t reflect.Type, f *form) error {
	if f.pointer {
		v = addressable(v).Addr()
	}
	switch f.encode {
	case encodeValue:
		held := valueIn(v)
		if !held.Exists() {
			return e.fail(t, ErrAbsent, "an absent value can't stand here; use Null")
		}
		e.dst = append(e.dst, held.text...)
	case encodeBigInt:
		e.dst = addressable(v).Addr().Interface().(*big.Int).Append(e.dst, 10)
	case encodeNumber:
		return e.number(v.String(), t)
	case encodeJSON:
		return e.marshaler(v, t)
	case encodeText:
		return e.textMarshaler(v, t)
	}
	return nil
}

// valueIn returns the Value that v holds.
func valueIn(v reflect.Value) Value { return v.Interface().(Value) }

func (e *encoder) marshaler(v reflect.Value, t reflect.Type) error {
	text, err := v.Interface().(json.Marshaler).MarshalJSON()
	if err != nil {
		return e.fail(t, err, "")
	}
	dst, err := AppendCanonical(e.dst, text, Options{})
	if err != nil {
		return e.fail(t, err, "MarshalJSON returned this")
	}
	e.dst = dst
	return nil
}

func (e *encoder) textMarshaler(v reflect.Value, t reflect.Type) error {
	text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
	if err != nil {
		return e.fail(t, err, "")
	}
	return e.string(string(text), t)
}

// string appends a Go string.
func (e *encoder) string(s string, t reflect.Type) error {
	text := unsafe.Slice(unsafe.StringData(s), len(s))
	if asciiRun(text, 0) == len(text) {
		e.dst = append(append(append(e.dst, '"'), s...), '"')
		return nil
	}
	if !validUTF8(text) {
		return e.fail(t, ErrUTF8, "the string is "+strconv.Quote(prefix(s)))
	}
	e.dst = appendString(e.dst, s)
	return nil
}

// number appends a json.Number.
func (e *encoder) number(s string, t reflect.Type) error {
	n, err := Parse([]byte(s), Options{})
	if err != nil {
		return e.fail(t, err, "the number is "+strconv.Quote(prefix(s)))
	}
	if n.Kind() != KindNumber || len(n.text) != len(s) {
		return e.fail(t, ErrSyntax, "the number is "+strconv.Quote(prefix(s)))
	}
	e.dst = append(e.dst, s...)
	return nil
}

// float appends a float as Python's repr spells it: the shortest digits, with an
// exponent from 1e16 on and below 1e-4, and else always with a point.
func (e *encoder) float(f float64, t reflect.Type) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return e.fail(t, ErrNumberRange, fmt.Sprintf("%v is no JSON number", f))
	}
	e.dst = appendFloat(e.dst, f)
	return nil
}

func appendFloat(dst []byte, f float64) []byte {
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if bytes.IndexByte(dst[start:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}

// slice appends a slice: nil as null, bytes as base64.
func (e *encoder) slice(v reflect.Value, depth int) error {
	if v.IsNil() {
		e.null()
		return nil
	}
	if isBytes(v.Type()) {
		e.dst = append(e.dst, '"')
		e.dst = base64.StdEncoding.AppendEncode(e.dst, v.Bytes())
		e.dst = append(e.dst, '"')
		return nil
	}
	if v.Len() == 0 {
		e.dst = append(e.dst, "[]"...)
		return nil
	}
	if err := e.enter(v, depth); err != nil {
		return err
	}
	err := e.elements(v, depth)
	e.leave(v, depth)
	return err
}

// isBytes tells whether a slice type is base64 in JSON: its elements are bytes
// that have no form of their own.
func isBytes(t reflect.Type) bool {
	elem := t.Elem()
	if elem.Kind() != reflect.Uint8 {
		return false
	}
	p := reflect.PointerTo(elem)
	return !p.Implements(marshalerType) && !p.Implements(textMarshalerType) &&
		!p.Implements(unmarshalerType) && !p.Implements(textUnmarshalerType)
}

func (e *encoder) elements(v reflect.Value, depth int) error {
	e.dst = append(e.dst, '[')
	f := formOf(v.Type().Elem())
	for i := range v.Len() {
		if i > 0 {
			e.dst = append(e.dst, ',')
		}
		if err := e.formed(v.Index(i), f, depth+1); err != nil {
			return err
		}
	}
	e.dst = append(e.dst, ']')
	return nil
}
