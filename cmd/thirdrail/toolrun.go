package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/group"
	"github.com/thirdrail-dev/thirdrail/internal/units"
)

const (
	// maxErrorBytes is how much of the end of a command's standard error is kept.
	maxErrorBytes = 4 << 10
	// outputDelay is how long the output of a command that has ended may stay
	// open, which a process that left its group can cause.
	outputDelay = time.Second
)

// run starts the command, gives it input and a newline, and returns what it
// prints. When ctx ends, and when the command itself has ended, its process group
// is killed.
func (t *tool) run(ctx context.Context, input []byte) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stdout := head{limit: t.most, full: cancel}
	stderr := tail{limit: maxErrorBytes}
	command := exec.CommandContext(ctx, t.path)
	command.Args = t.words
	command.Stdin = io.MultiReader(bytes.NewReader(input), strings.NewReader("\n"))
	command.Stdout, command.Stderr = &stdout, &stderr
	command.SysProcAttr = group.Own()
	command.WaitDelay = outputDelay
	processes := group.Group{Command: command}
	command.Cancel = processes.Kill
	if err := command.Start(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("the command of %s can't be started: %w", t.name, err)
	}
	err := processes.Wait()
	switch {
	case stdout.over:
		return nil, fmt.Errorf("the command of %s printed more than %s", t.name, units.FormatSize(t.most))
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay):
		return nil, fmt.Errorf("the command of %s left a process behind that keeps its output open", t.name)
	case err != nil:
		return nil, t.exitError(command.ProcessState, stderr.lastLine(), err)
	}
	return stdout.kept, nil
}

// exitError says how a command failed: in its own words, or by its status.
func (t *tool) exitError(state *os.ProcessState, lastLine string, err error) error {
	switch {
	case state == nil || state.Success():
		return fmt.Errorf("the command of %s failed: %w", t.name, err)
	case lastLine != "":
		return errors.New(lastLine)
	case state.Exited():
		return fmt.Errorf("the command of %s exited with status %d", t.name, state.ExitCode())
	default:
		return fmt.Errorf("the command of %s was ended by %v", t.name, state)
	}
}

// A head keeps the first bytes written to it. Beyond its limit it calls full and
// refuses more.
type head struct {
	limit int64
	full  func()

	kept []byte
	over bool
}

func (h *head) Write(p []byte) (int, error) {
	if int64(len(h.kept)+len(p)) > h.limit {
		h.over = true
		h.full()
		return 0, errors.New("too much output")
	}
	h.kept = append(h.kept, p...)
	return len(p), nil
}

// A tail keeps the last bytes written to it.
type tail struct {
	limit int
	kept  []byte
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	written := len(p)
	p = p[max(0, len(p)-t.limit):]
	t.kept = append(t.kept, p...)
	if extra := len(t.kept) - t.limit; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
	}
	return written, nil
}

// lastLine returns the last line that isn't blank, or what is kept of it.
func (t *tail) lastLine() string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "\uFFFD"))
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
