package jobs

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/thirdrail-dev/thirdrail/cmd/thirdrail/internal/report"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// InvalidJob is the kind of error of a line that is no job, or whose job can't be
// run. It stands beside the kinds of a run's failure.
const InvalidJob = "invalid-job"

// A Result is what goes out for a job.
type Result struct {
	// ID is that of the job, null for a line that has none of its own.
	ID lossless.Value `json:"id"`
	// Line is the number of a line that is no job, zero for all others.
	Line int64 `json:"line,omitzero"`
	report.Report
}

// Invalid returns the result of a job that can't be run, and why.
func Invalid(job Job, fault error) Result {
	result := Result{ID: job.ID, Line: job.Line}
	if !job.ID.Exists() {
		result.ID = lossless.Null
	}
	result.Logs = []string{}
	result.Error = &report.Error{Kind: InvalidJob, Message: fmt.Sprintf("line %d: %v", job.Line, fault)}
	return result
}

// Encode returns the result as a line, with its newline.
func (r Result) Encode() ([]byte, error) {
	object, err := lossless.Of(r)
	if err != nil {
		return nil, err
	}
	return append(object.Bytes(), '\n'), nil
}

// written is what is read of a line of results.
type written struct {
	id     lossless.Value
	line   int64
	failed bool
}

// resultForm says what a line of results looks like.
const resultForm = `a result is an object with "id", "logs", "stats", and perhaps "line", "value" and "error"`

// parseResult reads a line that Encode wrote, perhaps in another spelling. Any other
// line is an error.
func parseResult(text []byte) (w written, err error) {
	has := map[string]lossless.Kind{}
	var fault error // the first
	err = lossless.Members(text, lossless.Exact, func(m lossless.Member) error {
		has[m.Name] = kindOf(m)
		switch m.Name {
		case "id":
			w.id = m.Value()
		case "line":
			line, err := m.Value().Int64()
			w.line, fault = line, cmp.Or(fault, err)
		case "error":
			w.failed = true
		case "value", "logs", "stats":
		default:
			fault = cmp.Or(fault, fmt.Errorf("it has a member %.80q", m.Name))
		}
		return nil
	})
	switch {
	case err != nil:
		return w, errors.New(reason(err) + "; " + resultForm)
	case fault != nil:
		return w, fmt.Errorf("%w; %s", fault, resultForm)
	}
	byLine := has["id"] == lossless.KindNull && w.line > 0
	if has["id"] != lossless.KindString && has["id"] != lossless.KindNumber && !byLine ||
		has["logs"] != lossless.KindArray || has["stats"] != lossless.KindObject {
		return w, errors.New(resultForm)
	}
	return w, nil
}

// half tells whether text can be the beginning of a line that Encode would write.
func half(text string) bool {
	const begin = `{"id":`
	if len(text) <= len(begin) {
		return text == begin[:len(text)]
	}
	if text[:len(begin)] != begin {
		return false
	}
	rest, ended := behindID(text[len(begin):])
	if ended {
		return true
	}
	for _, member := range []string{`,"line":`, `,"value":`, `,"logs":`} {
		if n := min(len(member), len(rest)); rest[:n] == member[:n] {
			return true
		}
	}
	return false
}

// behindID returns what follows an id, or that the text ends within it.
func behindID(text string) (rest string, ended bool) {
	if text[0] != '"' {
		rest = strings.TrimLeft(text, "-+.eE0123456789")
		if text[0] == 'n' {
			n := min(len(text), len("null"))
			rest = strings.TrimPrefix(text, "null"[:n])
		}
		return rest, rest == ""
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[i+1:], i+1 == len(text)
		}
	}
	return "", true
}
