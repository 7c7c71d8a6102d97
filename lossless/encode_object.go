package lossless

import (
	"encoding"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// structure appends a struct as an object of its fields.
func (e *encoder) structure(v reflect.Value, depth int) error {
	e.dst = append(e.dst, '{')
	first := true
	info := structOf(v.Type())
	for i := range info.fields {
		f := &info.fields[i]
		held, ok := fieldIn(v, f.index)
		if !ok || f.omit(held) || f.mayBeAbsent && isAbsent(held) {
			continue
		}
		if !first {
			e.dst = append(e.dst, ',')
		}
		first = false
		e.dst = append(append(e.dst, f.quoted...), ':')
		if err := e.field(f, held, depth); err != nil {
			return err
		}
	}
	e.dst = append(e.dst, '}')
	return nil
}

func (e *encoder) field(f *field, held reflect.Value, depth int) error {
	if !f.asString || held.Kind() == reflect.Pointer && held.IsNil() {
		return e.formed(held, f.form, depth+1)
	}
	inner := encoder{}
	if err := inner.value(held, depth+1); err != nil {
		return e.fail(held.Type(), err, "")
	}
	return e.string(string(inner.dst), held.Type())
}

// fieldIn follows the index of a field; ok is false if an embedded pointer on
// the way is nil.
func fieldIn(v reflect.Value, index []int) (held reflect.Value, ok bool) {
	for n, i := range index {
		if n > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}, false
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, true
}

// isAbsent tells whether v is a Value that is absent.
func isAbsent(v reflect.Value) bool {
	if v.Kind() == reflect.Interface && !v.IsNil() {
		v = v.Elem()
	}
	return v.Type() == valueType && !valueIn(v).Exists()
}

// entry is one entry of a map with its key as a string.
type entry struct {
	name  string
	value reflect.Value
}

// mapping appends a map, ordered by the names that its keys give.
func (e *encoder) mapping(v reflect.Value, depth int) error {
	if v.IsNil() {
		e.null()
		return nil
	}
	if err := e.enter(v, depth); err != nil {
		return err
	}
	elem := v.Type().Elem()
	mayBeAbsent, elemForm := elem == valueType || elem.Kind() == reflect.Interface, formOf(elem)
	entries := make([]entry, 0, v.Len())
	for iter := v.MapRange(); iter.Next(); {
		if mayBeAbsent && isAbsent(iter.Value()) {
			continue
		}
		name, err := e.keyName(iter.Key())
		if err != nil {
			return err
		}
		entries = append(entries, entry{name, iter.Value()})
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	e.dst = append(e.dst, '{')
	for i, entry := range entries {
		if i > 0 {
			if entry.name == entries[i-1].name {
				return e.fail(v.Type(), ErrDuplicateName, strconv.Quote(prefix(entry.name)))
			}
			e.dst = append(e.dst, ',')
		}
		if err := e.string(entry.name, v.Type()); err != nil {
			return err
		}
		e.dst = append(e.dst, ':')
		if err := e.formed(entry.value, elemForm, depth+1); err != nil {
			return err
		}
	}
	e.dst = append(e.dst, '}')
	e.leave(v, depth)
	return nil
}

// keyName returns the name that a map key gives to its member.
func (e *encoder) keyName(key reflect.Value) (string, error) {
	t := key.Type()
	if key.Kind() != reflect.String {
		if m, ok := key.Interface().(encoding.TextMarshaler); ok {
			if key.Kind() == reflect.Pointer && key.IsNil() {
				return "", e.fail(t, ErrType, "a nil map key has no name")
			}
			text, err := m.MarshalText()
			if err != nil {
				return "", e.fail(t, err, "")
			}
			return string(text), nil
		}
	}
	switch key.Kind() {
	case reflect.String:
		return key.String(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(key.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(key.Uint(), 10), nil
	}
	return "", e.fail(t, ErrType, "a map key is a string, an integer or a TextMarshaler")
}
