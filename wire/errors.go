package wire

import (
	"errors"
	"strconv"
	"unicode/utf8"
)

// Why a line is not a frame. A [*FrameError] wraps one of these, or the
// *lossless.Error that says what is wrong with the line as JSON.
var (
	// ErrFrameType is a type that the direction does not have.
	ErrFrameType = errors.New("unknown frame type")
	// ErrMissing is a required member that is not there.
	ErrMissing = errors.New("required member is missing")
	// ErrMemberType is a member of another type than declared.
	ErrMemberType = errors.New("wrong type of member")
	// ErrMemberValue is a member of the right type with a value that is not allowed.
	ErrMemberValue = errors.New("value not allowed")
)

// FrameError says why a line is not a frame.
type FrameError struct {
	Field string // the frame or member at fault, as in done.error.kind; empty for the line as a whole
	Want  string // what would be right, if that is known
	Got   string // a short prefix of what was there, quoted; empty if that says nothing
	Err   error  // the reason
}

// Error names the frame, the member, the reason and what would be right.
func (e *FrameError) Error() string {
	text := "wire: "
	if e.Field != "" {
		text += e.Field + ": "
	} else {
		text += "not a frame: "
	}
	text += e.Err.Error()
	if e.Got != "" {
		text += " " + e.Got
	}
	if e.Want != "" {
		text += ", want " + e.Want
	}
	return text
}

// Unwrap returns the reason.
func (e *FrameError) Unwrap() error { return e.Err }

// longestQuote is how much of a hostile line an error may repeat.
const longestQuote = 24

// quotePrefix returns the beginning of text in printable ASCII, quoted.
func quotePrefix(text []byte) string {
	if len(text) <= longestQuote {
		return strconv.QuoteToASCII(string(text))
	}
	end := longestQuote
	for end > longestQuote-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return strconv.QuoteToASCII(string(text[:end])) + "..."
}
