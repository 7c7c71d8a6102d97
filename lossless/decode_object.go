package lossless

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
)

// structure decodes an object into the fields of a struct.
func (d *decoder) structure(i int, target reflect.Value, depth int) (end int, err error) {
	t := target.Type()
	if d.text[i] != '{' {
		return i, d.mismatch(i, t)
	}
	info := structOf(t)
	for i++; d.text[i] != '}'; {
		colon := stringEnd(d.text, i)
		if n, ok := info.byName[string(d.text[i:colon])]; ok {
			i, err = d.field(colon+1, target, &info.fields[n], depth)
		} else {
			i = valueEnd(d.text, colon+1)
		}
		if err != nil {
			return i, err
		}
		if d.text[i] == ',' {
			i++
		}
	}
	return i + 1, nil
}

// field decodes the value at i into a field of target, making the embedded
// structs on the way.
func (d *decoder) field(i int, target reflect.Value, f *field, depth int) (end int, err error) {
	for n, index := range f.index {
		if n > 0 && target.Kind() == reflect.Pointer {
			if target.IsNil() {
				if !target.CanSet() {
					return i, d.fail(i, target.Type(), ErrType, "it is embedded, unexported and nil")
				}
				target.Set(reflect.New(target.Type().Elem()))
			}
			target = target.Elem()
		}
		target = target.Field(index)
	}
	if f.asString {
		return d.quoted(i, target, f.typ, depth)
	}
	return d.value(i, target, depth+1)
}

// quoted decodes a string whose content is the JSON text of a scalar, which the
// tag option string asks for.
func (d *decoder) quoted(i int, target reflect.Value, t reflect.Type, depth int) (end int, err error) {
	end = valueEnd(d.text, i)
	if d.text[i] == 'n' && target.Kind() == reflect.Pointer {
		target.SetZero()
		return end, nil
	}
	if d.text[i] != '"' {
		return end, d.mismatch(i, t)
	}
	text, err := d.string(i, end, t)
	if err != nil {
		return end, err
	}
	inner, err := Parse([]byte(text), Options{})
	if err != nil {
		return end, d.fail(i, t, err, "the string must hold the value as JSON")
	}
	in := decoder(inner)
	if _, err := in.value(0, target, depth+1); err != nil {
		return end, d.fail(i, t, err, "")
	}
	return end, nil
}

// mapping decodes an object into a map made anew.
func (d *decoder) mapping(i int, target reflect.Value, depth int) (end int, err error) {
	t := target.Type()
	switch d.text[i] {
	case 'n':
		target.SetZero()
		return i + len("null"), nil
	case '{':
	default:
		return i, d.mismatch(i, t)
	}
	made := reflect.MakeMap(t)
	key := reflect.New(t.Key()).Elem()
	for i++; d.text[i] != '}'; {
		colon := stringEnd(d.text, i)
		key.SetZero()
		if err := d.key(i, colon, key); err != nil {
			return i, err
		}
		if made.MapIndex(key).IsValid() {
			return i, d.fail(colon, t, ErrDuplicateName, "another member has the same map key")
		}
		// An element is made anew each time: it may hold pointers and slices.
		elem := reflect.New(t.Elem()).Elem()
		if i, err = d.value(colon+1, elem, depth+1); err != nil {
			return i, err
		}
		made.SetMapIndex(key, elem)
		if d.text[i] == ',' {
			i++
		}
	}
	target.Set(made)
	return i + 1, nil
}

// key decodes the name from i to end into a map key.
func (d *decoder) key(i, end int, key reflect.Value) error {
	t := key.Type()
	name, err := d.string(i, end, t)
	if err != nil {
		return err
	}
	if key.Kind() != reflect.String || t == numberType {
		if u, ok := key.Addr().Interface().(encoding.TextUnmarshaler); ok {
			if err := u.UnmarshalText([]byte(name)); err != nil {
				return d.fail(end, t, err, "")
			}
			return nil
		}
	}
	switch kind := key.Kind(); {
	case kind == reflect.String:
		key.SetString(name)
		return nil
	case kind >= reflect.Int && kind <= reflect.Int64:
		n, err := strconv.ParseInt(name, 10, t.Bits())
		if err != nil || strconv.FormatInt(n, 10) != name {
			return d.fail(end, t, ErrType, "the name must be an integer that fits, spelled plainly")
		}
		key.SetInt(n)
		return nil
	case kind >= reflect.Uint && kind <= reflect.Uintptr:
		n, err := strconv.ParseUint(name, 10, t.Bits())
		if err != nil || strconv.FormatUint(n, 10) != name {
			return d.fail(end, t, ErrType, "the name must be an integer that fits, spelled plainly")
		}
		key.SetUint(n)
		return nil
	}
	return d.fail(end, t, ErrType, "a map key is a string, an integer or a TextUnmarshaler")
}

// nest is an open array or object on the way of any.
type nest struct {
	array  []any
	object map[string]any
	name   string
}

// any decodes the value at i into the Go types that an any gets. It keeps a
// stack of its own, so the value may have any depth.
func (d *decoder) any(i int) (v any, end int, err error) {
	var nests []nest
	for {
		switch c := d.text[i]; {
		case c == '[':
			nests = append(nests, nest{array: []any{}})
			i++
		case c == '{':
			nests = append(nests, nest{object: map[string]any{}})
			i++
		default:
			if v, i, err = d.anyScalar(i); err != nil {
				return nil, i, err
			}
			if i = put(nests, v, d.text, i); len(nests) == 0 {
				return v, i, nil
			}
		}
		// Close what ends here; what closes is an element of what is around it.
		for d.text[i] == ']' || d.text[i] == '}' {
			last := nests[len(nests)-1]
			nests = nests[:len(nests)-1]
			if v = last.object; last.object == nil {
				v = last.array
			}
			if i = put(nests, v, d.text, i+1); len(nests) == 0 {
				return v, i, nil
			}
		}
		if last := &nests[len(nests)-1]; last.object != nil {
			colon := stringEnd(d.text, i)
			if last.name, err = d.string(i, colon, stringType); err != nil {
				return nil, i, err
			}
			i = colon + 1
		}
	}
}

var stringType = reflect.TypeFor[string]()

// put adds a value that ended at i to the innermost open container and returns
// the offset after the comma, if there is one.
func put(nests []nest, v any, text []byte, i int) int {
	if len(nests) == 0 {
		return i
	}
	last := &nests[len(nests)-1]
	if last.object != nil {
		last.object[last.name] = v
	} else {
		last.array = append(last.array, v)
	}
	if text[i] == ',' {
		i++
	}
	return i
}

func (d *decoder) anyScalar(i int) (v any, end int, err error) {
	end = valueEnd(d.text, i)
	switch d.text[i] {
	case 'n':
		return nil, end, nil
	case 't', 'f':
		return d.text[i] == 't', end, nil
	case '"':
		v, err = d.string(i, end, stringType)
		return v, end, err
	}
	return json.Number(d.text[i:end]), end, nil
}
