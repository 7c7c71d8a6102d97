package interpreter

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The reasons why an interpreter can't be used, for errors.Is.
var (
	// ErrNotFound: there is no such name on PATH.
	ErrNotFound = errors.New("not found on PATH")
	// ErrNotExecutable: the path is missing, a directory or another special
	// file, or may not be executed.
	ErrNotExecutable = errors.New("not an executable regular file")
	// ErrStart: the system refuses to start it, as it does with a script whose
	// own interpreter is missing.
	ErrStart = errors.New("can't be started")
	// ErrExit: it ended with an error before it answered.
	ErrExit = errors.New("failed when started")
	// ErrHang: it gave no answer in time and was killed.
	ErrHang = errors.New("gave no answer")
	// ErrSilent: it ended without an error and printed nothing.
	ErrSilent = errors.New("printed nothing")
	// ErrNotPython: what it printed is no answer of a Python.
	ErrNotPython = errors.New("not a Python interpreter")
	// ErrNotCPython: it is another implementation of Python.
	ErrNotCPython = errors.New("not CPython")
	// ErrTooOld: it is older than 3.9.
	ErrTooOld = errors.New("too old")
	// ErrIncomplete: it lacks modules that the child needs.
	ErrIncomplete = errors.New("lacks modules of the standard library")
)

// What to do next, as the end of a message.
const (
	setAnother  = "set Config.Python or --python to the path of CPython 3.9 or newer, or leave it out for python3 of PATH"
	setNewer    = "set Config.Python or --python to a newer one"
	nameTheReal = "set Config.Python or --python to the path of the interpreter itself"
)

// An Error tells why an interpreter can't be used.
type Error struct {
	// Path is the interpreter at fault: the absolute path where it is known,
	// else what was asked for.
	Path string
	// Reason is one of the Err variables of this package.
	Reason error
	// Detail says what was found and what to do, and may hold a short quoted
	// piece of the interpreter's output. It is one line.
	Detail string
	cause  error // what made the detail, when that was an error; may be nil
}

// Error returns one line that names the interpreter, the reason and what to do.
func (e *Error) Error() string {
	return "python interpreter " + display(e.Path) + ": " + e.Reason.Error() + ": " + e.Detail
}

// Unwrap returns the reason and, where an error was behind it, that error.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Reason}
	}
	return []error{e.Reason, e.cause}
}

// fail returns the Error of path. The detail may wrap an error with %w.
func fail(path string, reason error, format string, args ...any) *Error {
	detail := fmt.Errorf(format, args...)
	return &Error{Path: path, Reason: reason, Detail: detail.Error(), cause: errors.Unwrap(detail)}
}

// display returns a path as a message shows it: as it is when that is plain,
// else quoted.
func display(path string) string {
	quoted := strconv.Quote(path)
	if len(quoted) == len(path)+2 && path != "" && !strings.Contains(path, " ") {
		return path
	}
	return quoted
}

// excerptBytes is how much of an interpreter's output a message shows.
const excerptBytes = 160

// excerpt returns the start of output, quoted, in one line.
func excerpt(output []byte) string {
	text := strings.TrimSpace(string(output[:min(len(output), excerptBytes)]))
	quoted := strconv.Quote(text)
	if len(output) > excerptBytes {
		quoted += "…"
	}
	return quoted
}

// lastLine returns the last line of output that isn't blank, quoted: an error
// comes last. It returns "" when there is none.
func lastLine(output []byte) string {
	text := strings.TrimSpace(string(output))
	if text == "" {
		return ""
	}
	return excerpt([]byte(text[strings.LastIndexByte(text, '\n')+1:]))
}
