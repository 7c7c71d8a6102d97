package wire

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// fields is one object of a line: its declared members, and the first thing found
// wrong with them. After that, reading yields zero values, so that a frame's
// decoder is one expression and nothing is copied in vain.
type fields struct {
	path  string // where the object stands: the frame's type, or as in done.error
	list  [20]lossless.Member
	n     int
	fault *lossless.Error // the first refused number anywhere in the object
	err   error
}

// frameTypes are the types of both directions.
var frameTypes = []string{"log", "call", "reply", "done", "boot", "boot-ack", "run"}

// open walks a line once and reads the frame's type into path, which stays empty
// if there is none that is known.
func (f *fields) open(line []byte, n lossless.Numbers, declared []string) {
	f.walk(line, n, declared)
	const longest = 16 // in canonical form, with quotes
	m := f.expect("type", '"', "a string")
	if m == nil || m.Size > longest {
		return
	}
	for _, known := range frameTypes {
		if string(m.Text[1:len(m.Text)-1]) == known {
			f.path = known
			return
		}
	}
	if name := unquote(m.Text); slices.Contains(frameTypes, name) {
		f.path = name
	}
}

// walk validates text, one whole object, and keeps its declared members.
func (f *fields) walk(text []byte, n lossless.Numbers, declared []string) {
	err := lossless.Members(text, n, func(m lossless.Member) error {
		if f.fault == nil {
			f.fault = m.Fault
		}
		if f.n < len(f.list) && slices.Contains(declared, m.Name) {
			f.list[f.n] = m
			f.n++
		}
		return nil
	})
	if err != nil {
		f.err = &FrameError{Field: f.path, Err: err}
	}
}

// result returns what was decoded, unless something was wrong.
func (f *fields) result(frame Frame) (Frame, error) {
	if f.err != nil {
		return nil, f.err
	}
	return frame, nil
}

func (f *fields) unknownType(want string) (Frame, error) {
	if f.err == nil {
		f.err = &FrameError{Field: "type", Err: ErrFrameType, Got: quotePrefix(f.get("type").Text), Want: want}
	}
	return nil, f.err
}

// adopt takes over what was wrong with an object inside this one.
func (f *fields) adopt(inner *fields) {
	if f.err == nil {
		f.err = inner.err
	}
}

// get returns the member called name, or a zero one, which is not to be changed.
func (f *fields) get(name string) *lossless.Member {
	for i := range f.list[:f.n] {
		if f.list[i].Name == name {
			return &f.list[i]
		}
	}
	return &noMember
}

var noMember lossless.Member

func (f *fields) has(name string) bool { return f.get(name).Text != nil }

// where returns a member's full name, as in done.error.kind.
func (f *fields) where(name string) string {
	if f.path == "" {
		return name
	}
	return f.path + "." + name
}

// fail records what is wrong with the member called name, if it is the first.
func (f *fields) fail(name string, reason error, want string) {
	if f.err != nil {
		return
	}
	e := &FrameError{Field: f.where(name), Err: reason, Want: want}
	if m := f.get(name); m.Text != nil {
		e.Got = quotePrefix(m.Text)
	}
	f.err = e
}

// expect returns the member called name if all is well so far and its text begins
// as that of the wanted type does. Otherwise it returns nil.
func (f *fields) expect(name string, first byte, want string) *lossless.Member {
	if f.err != nil {
		return nil
	}
	m := f.get(name)
	switch {
	case m.Text == nil:
		f.fail(name, ErrMissing, want)
	case first != anything && m.Text[0] != first:
		f.fail(name, ErrMemberType, want)
	default:
		return m
	}
	return nil
}

// anything is expect's first byte for a value of any type.
const anything = 0

// text reads a required string.
func (f *fields) text(name string) string {
	if m := f.expect(name, '"', "a string"); m != nil {
		return unquote(m.Text)
	}
	return ""
}

// optionalText reads an optional string, which is empty when absent.
func (f *fields) optionalText(name string) string {
	if !f.has(name) {
		return ""
	}
	return f.text(name)
}

// oneOf reads a required string that is one of allowed.
func (f *fields) oneOf(name string, allowed []string) string {
	m := f.expect(name, '"', "a string")
	if m == nil {
		return ""
	}
	text := unquote(m.Text)
	if !slices.Contains(allowed, text) {
		f.fail(name, ErrMemberValue, "one of "+strings.Join(allowed, ", "))
		return ""
	}
	return text
}

func (f *fields) optionalOneOf(name string, allowed []string) string {
	if !f.has(name) {
		return ""
	}
	return f.oneOf(name, allowed)
}

// isTrue tells whether the member is the literal true. Any other value counts as
// an absent member.
func (f *fields) isTrue(name string) bool { return string(f.get(name).Text) == "true" }

// integer reads a required integer from 0 to MaxInteger that is spelled in digits
// alone: with no sign, fraction or exponent.
func (f *fields) integer(name string) int64 {
	const want = "an integer from 0 to 2^53-1, digits only"
	m := f.expect(name, anything, want)
	if m == nil {
		return 0
	}
	for _, c := range m.Text {
		if c < '0' || c > '9' {
			f.fail(name, ErrMemberType, want)
			return 0
		}
	}
	n, err := strconv.ParseUint(string(m.Text[:min(len(m.Text), 20)]), 10, 64)
	if err != nil || n > MaxInteger {
		f.fail(name, ErrMemberValue, want)
		return 0
	}
	return int64(n)
}

// value reads a required value of any type, with no number that is refused.
func (f *fields) value(name string) lossless.Value {
	m := f.expect(name, anything, "any JSON value")
	if m == nil {
		return lossless.Value{}
	}
	return f.lossless(name, m)
}

func (f *fields) optionalValue(name string) lossless.Value {
	if !f.has(name) {
		return lossless.Value{}
	}
	return f.value(name)
}

// optionalObject reads an optional JSON object of any content.
func (f *fields) optionalObject(name string) lossless.Value {
	if !f.has(name) {
		return lossless.Value{}
	}
	m := f.expect(name, '{', "an object")
	if m == nil {
		return lossless.Value{}
	}
	return f.lossless(name, m)
}

// lossless returns a member's value, copied, unless it has a refused number.
func (f *fields) lossless(name string, m *lossless.Member) lossless.Value {
	if m.Fault != nil {
		f.refuse(f.where(name), m.Fault)
		return lossless.Value{}
	}
	return kept(m)
}

// refuse records a refused number, if there is one, in what stands at path.
func (f *fields) refuse(path string, fault *lossless.Error) {
	if f.err == nil && fault != nil {
		f.err = &FrameError{Field: path, Err: fault}
	}
}

// object reads a required object into inner, whose members are those declared.
func (f *fields) object(name string, inner *fields, declared []string) {
	inner.path = f.where(name)
	m := f.expect(name, '{', "an object")
	if m == nil {
		inner.err = f.err
		return
	}
	inner.walk(m.Text, lossless.Exact, declared)
}

// elements reads a required array of objects. It ends at the first that is wrong.
func (f *fields) elements(name string, declared []string) iter.Seq[*fields] {
	return func(yield func(*fields) bool) {
		for i, element := range f.array(name) {
			inner := &fields{path: fmt.Sprintf("%s[%d]", f.where(name), i)}
			inner.walk(element, lossless.Exact, declared)
			more := yield(inner)
			f.adopt(inner)
			if !more || f.err != nil {
				return
			}
		}
	}
}

// texts reads a required array of strings.
func (f *fields) texts(name string) []string {
	list := []string{}
	for _, element := range f.array(name) {
		if element[0] != '"' {
			f.fail(name, ErrMemberType, "an array of strings")
			return nil
		}
		list = append(list, unquote(element))
	}
	return list
}

// array reads a required array and yields the text of its elements.
func (f *fields) array(name string) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		m := f.expect(name, '[', "an array")
		if m == nil {
			return
		}
		if m.Fault != nil {
			f.refuse(f.where(name), m.Fault)
			return
		}
		for i, element := range m.Value().Elements() {
			if !yield(i, element.Bytes()) {
				return
			}
		}
	}
}

// kept returns a member's canonical value in memory of its own, copied once.
func kept(m *lossless.Member) lossless.Value {
	if m.Canonical {
		return m.Value().Clone()
	}
	return m.Value()
}
