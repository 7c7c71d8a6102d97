package lossless

import (
	"iter"
	"strconv"
	"strings"
	"unsafe"
)

// valueEnd returns the offset after the value that starts at i of canonical
// text. Only brackets and strings matter there, and only how many are open.
func valueEnd(text []byte, i int) int {
	depth := 0
	for {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
		case '[', '{':
			depth++
			i++
			continue
		case ']', '}':
			depth--
			i++
		case ',', ':':
			i++
			continue
		default:
			for i < len(text) && text[i] != ',' && text[i] != ']' && text[i] != '}' {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
}

// Len returns the number of elements of an array or of members of an object, 0
// for anything else. It walks the value.
func (v Value) Len() int {
	n := 0
	switch v.Kind() {
	case KindArray:
		for range v.Elements() {
			n++
		}
	case KindObject:
		for range v.members() {
			n++
		}
	}
	return n
}

// Elements ranges over the elements of an array with their indexes. Over
// anything else it ranges not at all.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		if v.Kind() != KindArray {
			return
		}
		index := 0
		for i := 1; v.text[i] != ']'; index++ {
			end := valueEnd(v.text, i)
			if !yield(index, v.part(i, end)) {
				return
			}
			if i = end; v.text[i] == ',' {
				i++
			}
		}
	}
}

// Members ranges over the members of an object in their order. A lone surrogate
// in a name is three bytes, as WTF-8 has it. Over anything else than an object
// it ranges not at all.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		for name, member := range v.members() {
			decoded, _ := appendDecoded(nil, name[1:len(name)-1])
			if !yield(string(decoded), member) {
				return
			}
		}
	}
}

// members ranges over the members of an object, with the text of their names.
func (v Value) members() iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		if v.Kind() != KindObject {
			return
		}
		for i := 1; v.text[i] != '}'; {
			colon := stringEnd(v.text, i)
			end := valueEnd(v.text, colon+1)
			if !yield(v.text[i:colon], v.part(colon+1, end)) {
				return
			}
			if i = end; v.text[i] == ',' {
				i++
			}
		}
	}
}

// part returns the value from start to end of the text.
func (v Value) part(start, end int) Value { return Value{v.text[start:end:end]} }

// Get returns the member of that name, absent if there is none or v is no
// object. It walks the members before it.
func (v Value) Get(name string) Value {
	var buf [64]byte
	want := appendString(buf[:0], name)
	for text, member := range v.members() {
		if string(text) == string(want) {
			return member
		}
	}
	return Value{}
}

// Index returns the element at index i, absent if there is none or v is no
// array. It walks the elements before it.
func (v Value) Index(i int) Value {
	for index, element := range v.Elements() {
		if index == i {
			return element
		}
	}
	return Value{}
}

// At returns the value that a JSON Pointer (RFC 6901) names: "" is v, and
// "/rows/2/when" the member when of the third element of the member rows. The
// error is ErrNotFound and tells the first step that leads nowhere.
func (v Value) At(pointer string) (Value, error) {
	if !v.Exists() {
		return Value{}, absent()
	}
	if pointer != "" && pointer[0] != '/' {
		return Value{}, &Error{Pointer: cutPointer(pointer), Err: ErrNotFound, detail: "a pointer is empty or starts with /"}
	}
	at := 0
	for at < len(pointer) {
		end := len(pointer)
		if n := strings.IndexByte(pointer[at+1:], '/'); n >= 0 {
			end = at + 1 + n
		}
		next, detail := v.step(pointer[at+1 : end])
		if !next.Exists() {
			return Value{}, &Error{Pointer: cutPointer(pointer[:end]), Err: ErrNotFound, detail: detail}
		}
		v, at = next, end
	}
	return v, nil
}

// step follows one reference token.
func (v Value) step(token string) (next Value, detail string) {
	switch v.Kind() {
	case KindObject:
		name := strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		return v.Get(name), "the object has no such member"
	case KindArray:
		i, err := strconv.Atoi(token)
		if err != nil || i < 0 || strconv.Itoa(i) != token {
			return Value{}, "an array's elements are named 0, 1, 2 and so on"
		}
		return v.Index(i), "the array is not that long"
	}
	return Value{}, "a " + v.Kind().String() + " has nothing in it"
}

func cutPointer(p string) string { return prefixOf(p, maxPointer) }

// appendString appends s, which is WTF-8, as a canonical JSON string. A byte
// that is neither UTF-8 nor a surrogate's becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	text := unsafe.Slice(unsafe.StringData(s), len(s))
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		start := i
		i = asciiRun(text, i)
		dst = append(dst, text[start:i]...)
		if i == len(text) {
			break
		}
		c := text[i]
		if c < 0x80 {
			dst = appendUnit(dst, rune(c))
			i++
		} else if n := runeLen(text, i); n > 0 {
			dst = append(dst, text[i:i+n]...)
			i += n
		} else if unit := surrogateAt(text, i); unit != 0 {
			if low := surrogateAt(text, i+3); unit < 0xDC00 && low >= 0xDC00 {
				dst = appendWTF8(dst, joinSurrogates(unit, low))
				i += 6
			} else {
				dst = appendUnit(dst, unit)
				i += 3
			}
		} else {
			dst = append(dst, "\uFFFD"...)
			i++
		}
	}
	return append(dst, '"')
}
