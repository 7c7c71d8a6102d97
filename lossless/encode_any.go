package lossless

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// branch is an open []any or map[string]any: what is in it, and how far the
// walk has come.
type branch struct {
	array  []any
	object map[string]any
	names  []string // of object, in order; nil for an array
	next   int
	count  int // members written
}

// any appends a value of dynamic type. Trees of []any and map[string]any are
// walked with a stack of branches, so they may have any depth; whatever else
// is in them is left to value.
func (e *encoder) any(v any, depth int) error {
	var branches []branch
	for {
		switch held := v.(type) {
		case nil:
			e.null()
		case bool:
			e.dst = strconv.AppendBool(e.dst, held)
		case string:
			if err := e.string(held, reflect.TypeFor[string]()); err != nil {
				return err
			}
		case int:
			e.dst = strconv.AppendInt(e.dst, int64(held), 10)
		case int64:
			e.dst = strconv.AppendInt(e.dst, held, 10)
		case float64:
			if err := e.float(held, reflect.TypeFor[float64]()); err != nil {
				return err
			}
		case []any:
			if held == nil {
				e.null()
				break
			}
			if len(held) > 0 {
				if err := e.enter(reflect.ValueOf(held), depth+len(branches)); err != nil {
					return err
				}
			}
			e.dst = append(e.dst, '[')
			branches = append(branches, branch{array: held})
		case map[string]any:
			if held == nil {
				e.null()
				break
			}
			if err := e.enter(reflect.ValueOf(held), depth+len(branches)); err != nil {
				return err
			}
			e.dst = append(e.dst, '{')
			branches = append(branches, branch{object: held, names: slices.Sorted(maps.Keys(held))})
		default:
			if err := e.value(reflect.ValueOf(v), depth+1); err != nil {
				return err
			}
		}
		more, err := false, error(nil)
		for len(branches) > 0 && !more {
			b := &branches[len(branches)-1]
			if v, more, err = e.advance(b); err != nil {
				return err
			}
			if !more {
				branches = branches[:len(branches)-1]
				e.closeBranch(b, depth+len(branches))
			}
		}
		if !more {
			return nil
		}
	}
}

// advance writes what comes before the next value of a branch and returns it.
func (e *encoder) advance(b *branch) (v any, more bool, err error) {
	if b.object == nil {
		if b.next == len(b.array) {
			return nil, false, nil
		}
		if b.next > 0 {
			e.dst = append(e.dst, ',')
		}
		b.next++
		return b.array[b.next-1], true, nil
	}
	for b.next < len(b.names) {
		name := b.names[b.next]
		b.next++
		v = b.object[name]
		if held, ok := v.(Value); ok && !held.Exists() {
			continue
		}
		if b.count > 0 {
			e.dst = append(e.dst, ',')
		}
		b.count++
		if err := e.string(name, reflect.TypeFor[string]()); err != nil {
			return nil, false, err
		}
		e.dst = append(e.dst, ':')
		return v, true, nil
	}
	return nil, false, nil
}

func (e *encoder) closeBranch(b *branch, depth int) {
	if b.object != nil {
		e.dst = append(e.dst, '}')
		e.leave(reflect.ValueOf(b.object), depth)
		return
	}
	e.dst = append(e.dst, ']')
	if len(b.array) > 0 {
		e.leave(reflect.ValueOf(b.array), depth)
	}
}
