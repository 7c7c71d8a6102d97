package lossless

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The reasons for which this package refuses text or a value. Each is the Err
// of an *Error, so errors.Is tells them apart.
var (
	// ErrSyntax: the text is not JSON as RFC 8259 defines it.
	ErrSyntax = errors.New("not JSON")
	// ErrUTF8: the text, or a Go string, is not valid UTF-8.
	ErrUTF8 = errors.New("invalid UTF-8")
	// ErrDuplicateName: two members of one object have the same name once
	// their escapes are decoded.
	ErrDuplicateName = errors.New("duplicate object name")
	// ErrNumberRange: a number with a fraction or an exponent is beyond the
	// double range, such as 1e400, or a Go float is NaN or infinite.
	ErrNumberRange = errors.New("number beyond the double range")
	// ErrInexact: the profile is Double and a double can't hold the integer.
	ErrInexact = errors.New("integer that a double can't hold exactly")
	// ErrNegativeZero: the profile is Double and the number is a negative zero.
	ErrNegativeZero = errors.New("negative zero")
	// ErrOverBudget: the canonical form is longer than Options.MaxBytes.
	ErrOverBudget = errors.New("over the size limit")
	// ErrAbsent: the Value is absent, so it holds nothing to read.
	ErrAbsent = errors.New("no value")
	// ErrNotFound: a JSON Pointer names a place that the Value doesn't have.
	ErrNotFound = errors.New("no such place")
	// ErrType: a JSON value doesn't fit the kind of Go type it is decoded
	// into, or a Go type has no JSON form.
	ErrType = errors.New("wrong type")
	// ErrValueRange: a number doesn't fit the Go type exactly: too large, or
	// with a fraction where the type holds integers.
	ErrValueRange = errors.New("number does not fit")
	// ErrSurrogate: a string holds a lone surrogate, which a Go string can't.
	ErrSurrogate = errors.New("lone surrogate")
	// ErrDepth: a typed Go value is nested deeper than this package follows.
	ErrDepth = errors.New("nested too deep")
	// ErrCycle: a Go value contains itself.
	ErrCycle = errors.New("value contains itself")
)

// Error says what is wrong, and where. Its text is for people and may change;
// programs should use errors.Is with the sentinels, and the fields.
type Error struct {
	// Offset counts the bytes before the fault: in the text that was given,
	// in the canonical text of a Value that is decoded, or 0 where a Go value
	// is encoded.
	Offset int64
	// Pointer is the JSON Pointer (RFC 6901) of the value at fault, or of the
	// member whose name is; "" is the whole text. A pointer beyond 1,024 bytes
	// is cut there and ends in "...".
	Pointer string
	// Type is the Go type that was decoded into or encoded, nil otherwise.
	Type reflect.Type
	// Err is one of the sentinels of this package, or the error of a type's own
	// UnmarshalJSON, MarshalJSON or other method.
	Err error

	detail string
}

// Error tells the cause, the place and what would be right. It quotes at most
// a short prefix of the text.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("lossless: ")
	if e.Err != nil {
		b.WriteString(e.Err.Error())
	}
	if e.detail != "" {
		b.WriteString(": ")
		b.WriteString(e.detail)
	}
	if e.Type != nil {
		b.WriteString(" (Go type ")
		b.WriteString(prefix(e.Type.String()))
		b.WriteString(")")
	}
	if e.Pointer != "" {
		b.WriteString(" at ")
		b.WriteString(strconv.Quote(prefix(e.Pointer)))
	}
	if e.Offset > 0 {
		b.WriteString(", offset ")
		b.WriteString(strconv.FormatInt(e.Offset, 10))
	}
	return b.String()
}

// Unwrap returns Err, so that errors.Is finds the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// errorOf makes an error whose cause may be an *Error itself, of a text within.
// Its place is that of the whole, its cause and words are those within.
func errorOf(offset int, pointer string, t reflect.Type, err error, detail string) *Error {
	if inner, ok := err.(*Error); ok {
		err = inner.Err
		if inner.detail != "" && detail != "" {
			detail = inner.detail + "; " + detail
		} else {
			detail += inner.detail
		}
	}
	return &Error{Offset: int64(offset), Pointer: pointer, Type: t, Err: err, detail: detail}
}

// quotedBytes is how much of a hostile text a message may show.
const quotedBytes = 80

// prefix cuts s to what a message may show of it.
func prefix(s string) string { return prefixOf(s, quotedBytes) }

// prefixOf cuts s to a number of bytes, on a character boundary.
func prefixOf(s string, size int) string {
	if len(s) <= size {
		return s
	}
	for size > 0 && !utf8.RuneStart(s[size]) {
		size--
	}
	return s[:size] + "..."
}

// cause is what the scanner found wrong, as a number, so that finding it costs
// no allocation. causes gives its sentinel and words.
type cause uint8

const (
	fine cause = iota
	ended
	notValue
	notLiteral
	notName
	notColon
	notMemberEnd
	notElementEnd
	notObject
	trailing
	leadingZero
	notDigit
	badEscape
	rawControl
	badUTF8
	duplicate
	beyondRange
	inexact
	negativeZero
)

var causes = [...]struct {
	err    error
	detail string
}{
	ended:         {ErrSyntax, "the text ends before the value does"},
	notValue:      {ErrSyntax, "a value should start here"},
	notLiteral:    {ErrSyntax, "the literals are true, false and null"},
	notName:       {ErrSyntax, "a member name in double quotes should be here"},
	notColon:      {ErrSyntax, "a colon should follow the member name"},
	notMemberEnd:  {ErrSyntax, "a comma or } should follow the member"},
	notElementEnd: {ErrSyntax, "a comma or ] should follow the element"},
	notObject:     {ErrSyntax, "an object should be here"},
	trailing:      {ErrSyntax, "only white space may follow the value"},
	leadingZero:   {ErrSyntax, "a number may not start with a zero before another digit"},
	notDigit:      {ErrSyntax, "a digit should be here"},
	badEscape:     {ErrSyntax, `an escape is one of \" \\ \/ \b \f \n \r \t or \u and four hexadecimal digits`},
	rawControl:    {ErrSyntax, "a control character in a string must be escaped"},
	badUTF8:       {ErrUTF8, "the text must be UTF-8"},
	duplicate:     {ErrDuplicateName, "each name in an object must differ from the others"},
	beyondRange:   {ErrNumberRange, "the largest double is 1.7976931348623157e308"},
	inexact:       {ErrInexact, "send it as a string, or use the Exact number profile"},
	negativeZero:  {ErrNegativeZero, "send 0, or use the Exact number profile"},
}

// errorAt makes the error of a fault in text. Only here, where something is
// wrong already, is the place worked out, by a second walk up to it.
func errorAt(text []byte, at int, c cause) *Error {
	place := at
	if c == duplicate {
		place = stringEnd(text, at) // past the name, so that the pointer has it
	}
	return &Error{
		Offset:  int64(at),
		Pointer: pointerAt(text, place),
		Err:     causes[c].err,
		detail:  causes[c].detail,
	}
}
