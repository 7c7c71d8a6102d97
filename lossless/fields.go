package lossless

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// structInfo is how a struct type maps to an object: what its json tags say.
type structInfo struct {
	fields []field
	// byName finds a field by its name as a canonical string, quotes included.
	byName map[string]int
}

// field is one field of a struct, or of a struct embedded in it.
type field struct {
	name      string
	quoted    string // the name as a canonical string
	index     []int
	typ       reflect.Type
	omitEmpty bool
	omitZero  bool
	isZero    func(reflect.Value) bool
	asString  bool
	form      *form
	// mayBeAbsent tells that the field can hold a Value, which can be absent.
	mayBeAbsent bool

	tagged bool
}

// structs caches structInfo by type. What a type's tags say never changes.
var structs sync.Map // reflect.Type → *structInfo

func structOf(t reflect.Type) *structInfo {
	if known, ok := structs.Load(t); ok {
		return known.(*structInfo)
	}
	info, _ := structs.LoadOrStore(t, newStructInfo(t))
	return info.(*structInfo)
}

// newStructInfo collects the fields of t by Go's own rules for promotion, as
// encoding/json does: of the fields of one name the least deep counts; among
// those the one with a tag; if that still leaves more than one, none counts.
func newStructInfo(t reflect.Type) *structInfo {
	candidates := map[string][]field{}
	type level struct {
		typ   reflect.Type
		index []int
	}
	next := []level{{typ: t}}
	seen := map[reflect.Type]bool{}
	for len(next) > 0 {
		current := next
		next = nil
		// Types are marked after their level, so that a type that is embedded
		// twice in one level is in conflict with itself, as in Go.
		for _, l := range current {
			if seen[l.typ] {
				continue
			}
			for i := range l.typ.NumField() {
				sf := l.typ.Field(i)
				index := append(slices.Clone(l.index), i)
				f, embedded, ok := fieldOf(sf, index)
				switch {
				case !ok:
				case embedded != nil:
					next = append(next, level{embedded, index})
				default:
					candidates[f.name] = append(candidates[f.name], f)
				}
			}
		}
		for _, l := range current {
			seen[l.typ] = true
		}
	}
	info := &structInfo{byName: map[string]int{}}
	for _, rivals := range candidates {
		if f, ok := dominant(rivals); ok {
			info.fields = append(info.fields, f)
		}
	}
	slices.SortFunc(info.fields, func(a, b field) int { return slices.Compare(a.index, b.index) })
	for i, f := range info.fields {
		info.byName[f.quoted] = i
	}
	return info
}

// fieldOf reads a struct field and its tag. embedded is the struct whose fields
// it promotes, nil for a field of its own; ok is false for one to leave out.
func fieldOf(sf reflect.StructField, index []int) (f field, embedded reflect.Type, ok bool) {
	tag := sf.Tag.Get("json")
	if tag == "-" {
		return f, nil, false
	}
	name, options, _ := strings.Cut(tag, ",")
	if !utf8.ValidString(name) {
		name = ""
	}
	if sf.Anonymous {
		inner := sf.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if !sf.IsExported() && inner.Kind() != reflect.Struct {
			return f, nil, false
		}
		if name == "" && inner.Kind() == reflect.Struct && !formOf(inner).special() {
			return f, inner, true
		}
	}
	if !sf.IsExported() {
		return f, nil, false
	}
	f = field{name: name, index: index, typ: sf.Type, tagged: name != "", form: formOf(sf.Type)}
	f.mayBeAbsent = sf.Type == valueType || sf.Type.Kind() == reflect.Interface
	if name == "" {
		f.name = sf.Name
	}
	f.quoted = string(appendString(nil, f.name))
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			f.omitEmpty = true
		case "omitzero":
			f.omitZero = true
			f.isZero = zeroTest(sf.Type)
		case "string":
			f.asString = quotable(sf.Type)
		}
	}
	return f, nil, true
}

// dominant picks the field that counts among those of one name.
func dominant(rivals []field) (field, bool) {
	best, count := -1, 0
	for i, f := range rivals {
		if best >= 0 {
			b := rivals[best]
			if len(f.index) > len(b.index) || len(f.index) == len(b.index) && b.tagged && !f.tagged {
				continue
			}
			if len(f.index) == len(b.index) && f.tagged == b.tagged {
				count++
				continue
			}
		}
		best, count = i, 1
	}
	return rivals[best], count == 1
}

// quotable tells whether the option string means something for the type.
func quotable(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	}
	return false
}

// zeroTest returns the type's own IsZero, or nil to use reflect's.
func zeroTest(t reflect.Type) func(reflect.Value) bool {
	type isZeroer interface{ IsZero() bool }
	own := reflect.TypeFor[isZeroer]()
	switch {
	case t.Implements(own):
		return func(v reflect.Value) bool {
			held := v
			if v.Kind() == reflect.Interface {
				held = v.Elem() // which is no value at all for nil
			}
			if !held.IsValid() || held.Kind() == reflect.Pointer && held.IsNil() {
				return true
			}
			return v.Interface().(isZeroer).IsZero()
		}
	case reflect.PointerTo(t).Implements(own):
		return func(v reflect.Value) bool {
			return addressable(v).Addr().Interface().(isZeroer).IsZero()
		}
	}
	return nil
}

// addressable returns v, or a copy of it that has an address.
func addressable(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v
	}
	held := reflect.New(v.Type()).Elem()
	held.Set(v)
	return held
}

// omit tells whether the field is left out for what it holds.
func (f *field) omit(v reflect.Value) bool {
	if f.omitEmpty {
		switch v.Kind() {
		case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
			if v.Len() == 0 {
				return true
			}
		case reflect.Struct:
		default:
			if v.IsZero() {
				return true
			}
		}
	}
	if f.omitZero {
		if f.isZero != nil {
			return f.isZero(v)
		}
		return v.IsZero()
	}
	return false
}
