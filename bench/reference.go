package bench

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
)

//go:embed reference.py
var referenceProgram string

// A reference is an interpreter that does what it is told, and how often: fork,
// compile, exit and wait, which no fresh process can be faster than, or one of the
// ways to read and to write JSON.
type reference struct {
	command *exec.Cmd
	say     io.WriteCloser
	hear    *bufio.Reader
	stderr  strings.Builder
}

// forkLoop is a variant: one round of the loop, of so many that are measured.
func (s *session) forkLoop(name string, rounds int, by clock) variant {
	return s.inReference(name, "fork", rounds, by)
}

// A clock is what the reference counts by. Both sides of a ratio count by the same.
type clock string

const (
	wallClock      clock = "wall"
	processorClock clock = "processor"
)

// clock returns what the groups count by that Options.ProcessorTime is for.
func (s *session) clock() clock {
	if s.options.ProcessorTime {
		return processorClock
	}
	return wallClock
}

// inReference is a variant: doing something once, of so many times.
func (s *session) inReference(name, what string, times int, by clock) variant {
	return variant{name, func(ctx context.Context) (float64, error) {
		if s.reference == nil {
			started, err := s.startReference()
			if err != nil {
				return 0, err
			}
			s.reference = started
		}
		defer context.AfterFunc(ctx, func() { _ = s.reference.command.Process.Kill() })()
		seconds, err := s.reference.ask(what, times, by)
		return seconds / float64(times), err
	}}
}

func (s *session) startReference() (*reference, error) {
	r := &reference{command: exec.Command(s.python.Path, "-I", "-X", "utf8", "-c", referenceProgram)}
	r.command.Stderr = &r.stderr
	say, err := r.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	hear, err := r.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := r.command.Start(); err != nil {
		return nil, fmt.Errorf("starting the reference: %w", err)
	}
	r.say, r.hear = say, bufio.NewReader(hear)
	document := mixedDocument()
	_, err = fmt.Fprintf(r.say, "%d\n%s%d\n%s", len(s.python.Code), s.python.Code, len(document), document)
	if err == nil {
		_, err = r.ask("fork", 1, wallClock)
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// ask has it do something so many times and returns how long that took, in seconds.
func (r *reference) ask(what string, times int, by clock) (float64, error) {
	if _, err := fmt.Fprintf(r.say, "%s %d %s\n", what, times, by); err != nil {
		return 0, fmt.Errorf("the reference has ended: %w", err)
	}
	line, err := r.hear.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("the reference has ended: %w", err)
	}
	return strconv.ParseFloat(strings.TrimSpace(line), 64)
}

func (r *reference) close() error {
	_ = r.say.Close()
	if err := r.command.Wait(); err != nil {
		return fmt.Errorf("the reference: %w: %s", err, strings.TrimSpace(r.stderr.String()))
	}
	return nil
}

func (s *session) closeReference() error {
	if s.reference == nil {
		return nil
	}
	err := s.reference.close()
	s.reference = nil
	return err
}

// bareStart is a variant: a start of the same interpreter for a line of Python.
func (s *session) bareStart(name, program string) variant {
	return variant{name, s.timed(func(ctx context.Context) error {
		output, err := exec.CommandContext(ctx, s.python.Path, "-I", "-c", program).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s -I -c %q: %w: %s", s.python.Path, program, err, output)
		}
		return nil
	})}
}
