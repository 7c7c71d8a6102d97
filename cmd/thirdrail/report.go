package main

import (
	"fmt"
	"io"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/cmd/thirdrail/internal/report"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// A printer prints how a run ended.
type printer struct {
	stdout, stderr io.Writer
	json           bool // all in one object on stdout
}

// write prints a result, and returns a failure if the program failed or the
// result couldn't be printed.
func (p printer) write(result *thirdrail.Result) error {
	text, err := p.text(result)
	if err == nil && len(text) > 0 {
		err = p.writeLine(text)
	}
	if err != nil {
		return failure{fmt.Errorf("the result can't be written to standard output: %w", err)}
	}
	switch {
	case result.Failure == nil:
		return nil
	case p.json:
		return failure{}
	}
	_, _ = fmt.Fprintf(p.stderr, "thirdrail: %s: %s\n", result.Failure.Kind, result.Failure.Message)
	return failure{}
}

func (p printer) writeLine(text []byte) error {
	if _, err := p.stdout.Write(text); err != nil {
		return err
	}
	_, err := io.WriteString(p.stdout, "\n")
	return err
}

// text returns what belongs on stdout, without its newline.
func (p printer) text(result *thirdrail.Result) ([]byte, error) {
	if !p.json {
		return result.Value.Bytes(), nil
	}
	object, err := lossless.Of(report.Of(result))
	return object.Bytes(), err
}
