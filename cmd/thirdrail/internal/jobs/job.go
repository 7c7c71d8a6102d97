// Package jobs reads programs to run as JSON lines, runs several at once, and writes
// their results as JSON lines, in memory that doesn't grow with the stream but for
// the ids that it remembers.
package jobs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/internal/units"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// A Job is one line of a batch.
type Job struct {
	// Line is the number of its line, from 1.
	Line int64
	// Bytes is how much of the input it stands for: the blank lines before it too.
	Bytes int64
	// ID is a string or a number, or absent where the line has none.
	ID lossless.Value
	// Program is Python source.
	Program string
	// Limits are its own limits, zero where it has none.
	Limits thirdrail.Limits
	// Data is absent where the job has none.
	Data lossless.Value
	// Fault is why the line is no job; nil if it is one.
	Fault error
	// Done tells that there is a result of it already.
	Done bool

	object  bool // the line is a JSON object
	program bool // it has a program, which may be empty
}

// form is the end of messages about a line.
const form = `write {"id": 1, "program": "return 1"}, and perhaps "limits" and "data"`

// byteOrderMark is what some editors put in front of UTF-8.
const byteOrderMark = "\uFEFF"

// Parse reads a line. What is wrong with it is the Fault of the job.
func Parse(text []byte, numbers lossless.Numbers) Job {
	var job Job
	var fault error
	err := lossless.Members(text, numbers, func(m lossless.Member) error {
		if err := job.set(m, numbers); err != nil && fault == nil {
			fault = err
		}
		return nil
	})
	switch {
	case err != nil: // what was read of it may not be meant
		return Job{Fault: fmt.Errorf("the line is not a JSON object that crosses without loss: %s; %s", reason(err), form)}
	case fault == nil && !job.ID.Exists():
		fault = errors.New(`it has no "id"; ` + form)
	case fault == nil && !job.program:
		fault = errors.New(`it has no "program"; ` + form)
	}
	job.object, job.Fault = true, fault
	return job
}

// set takes one member of a line.
func (j *Job) set(m lossless.Member, numbers lossless.Numbers) (err error) {
	switch m.Name {
	case "id":
		// An id is a name: it has its own digits whatever the profile of values.
		id, err := lossless.Parse(m.Text, lossless.Options{})
		if err != nil {
			return fmt.Errorf(`its "id": %s`, reason(err))
		}
		if kind := id.Kind(); kind != lossless.KindString && kind != lossless.KindNumber {
			return fmt.Errorf(`its "id" is %s; write a string or a number`, article(kind))
		}
		j.ID = id
	case "program":
		j.program = true
		j.Program, err = m.Value().Text()
		switch {
		case errors.Is(err, lossless.ErrSurrogate):
			return errors.New(`its "program" has a lone surrogate, which Python source can't have`)
		case err != nil:
			return fmt.Errorf(`its "program" is %s; write the source as a string`, article(kindOf(m)))
		}
		j.Program = strings.TrimPrefix(j.Program, byteOrderMark)
	case "limits":
		j.Limits, err = parseLimits(m)
	case "data":
		if m.Fault != nil {
			return fmt.Errorf(`its "data": %s`, reason(m.Fault))
		}
		if m.Size > MaxLineBytes { // digits written out
			return fmt.Errorf(`its "data" takes %s in the profile of numbers, over %s`, units.FormatSize(m.Size), units.FormatSize(MaxLineBytes))
		}
		j.Data = m.Value()
	default:
		return fmt.Errorf("it has a member %.80q, which no job has; %s", m.Name, form)
	}
	return err
}

// kindOf returns the kind of a member's value, also of one with a Fault.
func kindOf(m lossless.Member) lossless.Kind {
	switch m.Text[0] {
	case '{':
		return lossless.KindObject
	case '[':
		return lossless.KindArray
	}
	if m.Fault != nil {
		return lossless.KindNumber
	}
	return m.Value().Kind()
}

// article returns a kind with what stands before it.
func article(kind lossless.Kind) string {
	switch kind {
	case lossless.KindNull:
		return "null"
	case lossless.KindArray, lossless.KindObject:
		return "an " + kind.String()
	}
	return "a " + kind.String()
}

// reason returns what the scanner says, without the name of its package.
func reason(err error) string { return strings.TrimPrefix(err.Error(), "lossless: ") }
