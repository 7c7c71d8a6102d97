package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/thirdrail-dev/thirdrail/internal/units"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// standardInput is the name that stands for standard input.
const standardInput = "-"

// maxInputBytes bounds a program and its data. A child takes lines of 64 MiB, and
// a run frame has both in one.
const maxInputBytes = 32 << 20

// readInput returns what is in the file name, or on stdin. What names the input
// in errors.
func readInput(what, name string, stdin io.Reader) ([]byte, error) {
	source := stdin
	if name != standardInput {
		file, err := os.Open(name)
		if err != nil {
			return nil, unreadable(what, name, err)
		}
		defer file.Close()
		source = file
	}
	text, err := io.ReadAll(io.LimitReader(source, maxInputBytes+1))
	if err != nil {
		return nil, unreadable(what, name, err)
	}
	if len(text) > maxInputBytes {
		return nil, fmt.Errorf("the %s in %q has more than %s; give it less, or let the program fetch it through a --tool",
			what, name, units.FormatSize(maxInputBytes))
	}
	return text, nil
}

func unreadable(what, name string, err error) error {
	return fmt.Errorf("the %s in %q can't be read: %w; give the path of a readable file, or - for standard input",
		what, name, withoutPath(err))
}

// withoutPath returns what is behind an error that names a path, for messages that
// name it already.
func withoutPath(err error) error {
	var reason *fs.PathError
	if errors.As(err, &reason) {
		return reason.Err
	}
	return err
}

// byteOrderMark is what some editors put in front of UTF-8. Python drops it from
// files, and so does this command.
const byteOrderMark = "\uFEFF"

// readProgram returns a program's source.
func readProgram(name string, stdin io.Reader) (string, error) {
	text, err := readInput("program", name, stdin)
	return strings.TrimPrefix(string(text), byteOrderMark), err
}

// readData returns the JSON that becomes the program's global data.
func readData(name string, stdin io.Reader, numbers lossless.Numbers) (lossless.Value, error) {
	text, err := readInput("data", name, stdin)
	if err != nil {
		return lossless.Value{}, err
	}
	data, err := lossless.Parse(text, lossless.Options{Numbers: numbers})
	if err != nil {
		return lossless.Value{}, fmt.Errorf("the data in %q is not JSON that crosses without loss: %w", name, err)
	}
	return data, nil
}
