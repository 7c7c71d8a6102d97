package lossless

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"
)

// Decode stores the value in what into points to. It follows the conventions of
// encoding/json (tags, embedded structs, pointers made as needed, Unmarshaler
// and TextUnmarshaler, base64 for []byte), but nothing is ever changed in
// silence:
//
//   - Names match exactly, capitals included. Members that a struct doesn't have
//     are left alone.
//   - A number must fit exactly. 3.0 and 3e0 are integers; 3.5 is none, and an
//     integer that no double holds is no float64. A number with a fraction or an
//     exponent becomes the nearest float.
//   - A string with a lone surrogate doesn't fit a Go string or map key.
//   - null fits pointers, maps, slices and interfaces only.
//   - An array must have as many elements as a Go array.
//   - Two members that would become one map key are refused.
//
// Maps and slices are made anew. Into an any go map[string]any, []any, string,
// bool, json.Number and nil; these and Value may have any depth, other types
// 10,000 levels. A Value or json.Unmarshaler gets a part of v's text, not a copy.
//
// An error is an *Error with the pointer of the place and the Go type. What was
// decoded before it stays.
func (v Value) Decode(into any) error {
	if !v.Exists() {
		return absent()
	}
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return &Error{Err: ErrType, Type: reflect.TypeOf(into), detail: "Decode needs a pointer that is not nil"}
	}
	d := decoder(v)
	_, err := d.value(0, target.Elem(), 0)
	return err
}

// decoder reads canonical text, so it checks no grammar.
type decoder struct {
	text []byte
}

// fail makes an error for the value at i.
func (d *decoder) fail(i int, t reflect.Type, err error, detail string) error {
	return errorOf(i, pointerAt(d.text, i), t, err, detail)
}

// mismatch is fail for a value of a kind that doesn't fit.
func (d *decoder) mismatch(i int, t reflect.Type) error {
	return d.fail(i, t, ErrType, "a JSON "+Value{d.text[i:]}.Kind().String()+" doesn't fit")
}

// value decodes the value at i into target and returns the offset after it.
func (d *decoder) value(i int, target reflect.Value, depth int) (end int, err error) {
	if depth > maxTypedDepth {
		return i, d.fail(i, target.Type(), ErrDepth, "")
	}
	// Pointers are followed, and made where they are nil.
	for target.Kind() == reflect.Pointer {
		if d.text[i] == 'n' {
			target.SetZero()
			return i + len("null"), nil
		}
		if target.IsNil() {
			if !target.CanSet() {
				return i, d.fail(i, target.Type(), ErrType, "it is a nil pointer that can't be set")
			}
			target.Set(reflect.New(target.Type().Elem()))
		}
		if depth++; depth > maxTypedDepth {
			return i, d.fail(i, target.Type(), ErrDepth, "")
		}
		target = target.Elem()
	}
	t := target.Type()
	if f := formOf(t); f.decode != decodeByKind && target.CanAddr() {
		end = valueEnd(d.text, i)
		return end, d.ownForm(i, end, target, f)
	}
	switch target.Kind() {
	case reflect.Interface:
		return d.interfaceValue(i, target, depth)
	case reflect.Map:
		return d.mapping(i, target, depth)
	case reflect.Slice:
		return d.slice(i, target, depth)
	case reflect.Array:
		return d.array(i, target, depth)
	case reflect.Struct:
		return d.structure(i, target, depth)
	}
	end = valueEnd(d.text, i)
	return end, d.scalar(i, end, target, t)
}

// ownForm decodes the value from i to end into a type that says itself how.
func (d *decoder) ownForm(i, end int, target reflect.Value, f *form) error {
	t := target.Type()
	text := d.text[i:end:end]
	switch f.decode {
	case decodeValue:
		*target.Addr().Interface().(*Value) = Value{text}
	case decodeBigInt:
		if !isNumber(text[0]) {
			return d.mismatch(i, t)
		}
		n, detail := bigIntOf(text)
		if detail != "" {
			return d.fail(i, t, ErrValueRange, detail)
		}
		target.Addr().Interface().(*big.Int).Set(n)
	case decodeJSON:
		if err := target.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(text); err != nil {
			return d.fail(i, t, err, "")
		}
	case decodeText:
		if text[0] != '"' {
			return d.mismatch(i, t)
		}
		s, err := d.string(i, end, t)
		if err != nil {
			return err
		}
		if err := target.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(s)); err != nil {
			return d.fail(i, t, err, "")
		}
	}
	return nil
}

func isNumber(c byte) bool { return c == '-' || c-'0' < 10 }

// string decodes the string from i to end.
func (d *decoder) string(i, end int, t reflect.Type) (string, error) {
	text, lone := textOf(d.text[i:end])
	if lone {
		return "", d.fail(i, t, ErrSurrogate, "a Go string can't hold it")
	}
	return text, nil
}

// scalar decodes a value into a bool, number or string.
func (d *decoder) scalar(i, end int, target reflect.Value, t reflect.Type) error {
	token := d.text[i:end]
	number := isNumber(token[0])
	detail := ""
	switch kind := target.Kind(); {
	case kind == reflect.Bool && (token[0] == 't' || token[0] == 'f'):
		target.SetBool(token[0] == 't')
	case t == numberType && number:
		target.SetString(string(token))
	case t == numberType:
		return d.mismatch(i, t)
	case kind == reflect.String && token[0] == '"':
		text, err := d.string(i, end, t)
		if err != nil {
			return err
		}
		target.SetString(text)
	case kind >= reflect.Int && kind <= reflect.Int64 && number:
		n, why := int64Of(token)
		if detail = why; why == "" {
			if target.OverflowInt(n) {
				detail = tooLarge
			}
			target.SetInt(n)
		}
	case kind >= reflect.Uint && kind <= reflect.Uintptr && number:
		n, why := uint64Of(token)
		if detail = why; why == "" {
			if target.OverflowUint(n) {
				detail = tooLarge
			}
			target.SetUint(n)
		}
	case (kind == reflect.Float32 || kind == reflect.Float64) && number:
		f, why := floatOf(token, t.Bits())
		detail = why
		target.SetFloat(f)
	default:
		return d.mismatch(i, t)
	}
	if detail != "" {
		target.SetZero()
		return d.fail(i, t, ErrValueRange, "the number is "+prefix(string(token[:min(len(token), 2*quotedBytes)]))+" and "+detail)
	}
	return nil
}

// interfaceValue decodes into an interface: into what it points to, if it holds
// a pointer, or as the Go types that any gets.
func (d *decoder) interfaceValue(i int, target reflect.Value, depth int) (end int, err error) {
	if d.text[i] == 'n' {
		target.SetZero()
		return i + len("null"), nil
	}
	if held := target.Elem(); held.Kind() == reflect.Pointer && !held.IsNil() {
		return d.value(i, held, depth+1)
	}
	if target.NumMethod() > 0 {
		return i, d.fail(i, target.Type(), ErrType, "an interface with methods must hold a pointer")
	}
	v, end, err := d.any(i)
	if err != nil {
		return end, err
	}
	target.Set(reflect.ValueOf(v))
	return end, nil
}

// slice decodes an array into a slice made anew, or a string of base64.
func (d *decoder) slice(i int, target reflect.Value, depth int) (end int, err error) {
	t := target.Type()
	switch {
	case d.text[i] == 'n':
		target.SetZero()
		return i + len("null"), nil
	case d.text[i] == '"' && isBytes(t):
		end = valueEnd(d.text, i)
		text, err := d.string(i, end, t)
		if err != nil {
			return end, err
		}
		content, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil || strings.ContainsAny(text, "\r\n") {
			return end, d.fail(i, t, ErrType, "the string is not base64")
		}
		target.SetBytes(content)
		return end, nil
	case d.text[i] != '[':
		return i, d.mismatch(i, t)
	}
	made := reflect.New(t).Elem()
	made.Set(reflect.MakeSlice(t, 0, 0))
	for i++; d.text[i] != ']'; {
		n := made.Len()
		if n == made.Cap() {
			made.Grow(max(n/2, 4))
		}
		made.SetLen(n + 1)
		if i, err = d.value(i, made.Index(n), depth+1); err != nil {
			return i, err
		}
		if d.text[i] == ',' {
			i++
		}
	}
	target.Set(made)
	return i + 1, nil
}

// array decodes an array into a Go array of as many elements.
func (d *decoder) array(i int, target reflect.Value, depth int) (end int, err error) {
	t := target.Type()
	if d.text[i] != '[' {
		return i, d.mismatch(i, t)
	}
	start := i
	n := 0
	for i++; d.text[i] != ']'; n++ {
		if n == t.Len() {
			n++
			break
		}
		if i, err = d.value(i, target.Index(n), depth+1); err != nil {
			return i, err
		}
		if d.text[i] == ',' {
			i++
		}
	}
	if n != t.Len() {
		return start, d.fail(start, t, ErrType, fmt.Sprintf("the array must have %d elements", t.Len()))
	}
	return i + 1, nil
}
