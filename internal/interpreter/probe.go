package interpreter

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/thirdrail-dev/thirdrail/python"
)

var (
	//go:embed gate.py
	gateSource string
	//go:embed probe.py
	probeSource string
)

// probe starts the interpreter at path once and returns what it says of itself.
// The path of the result is what it says too.
func (f finder) probe(ctx context.Context, path string, environment []string) (*Interpreter, error) {
	nonce := rand.Text()
	output, err := f.start(ctx, path, environment, "-I", "-B", "-c", gateSource, nonce)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(output.stderr.kept, []byte("nknown option: -I")) {
		// Isolated mode came with Python 3.4. Ask again in the words of an older
		// one, to tell its version.
		output, err = f.start(ctx, path, environment, "-E", "-s", "-B", "-c", gateSource, nonce)
		if err != nil {
			return nil, err
		}
	}
	answer, ok := parseAnswer(output.stdout.kept, nonce)
	if !ok {
		return nil, output.fault(path)
	}
	return answer.interpreter(path)
}

// An output is what a process printed and how it ended.
type output struct {
	stdout head
	stderr tail
	end    error // nil, an *exec.ExitError, errHang or errFlood
	limits finder
}

var (
	errHang  = errors.New("hangs")
	errFlood = errors.New("prints too much")
)

// start runs path to its end, or kills it and all of its group when it takes too
// long, prints too much, or ctx ends. It returns an error when there is no output
// to judge: path can't be started, or ctx ended.
func (f finder) start(ctx context.Context, path string, environment []string, args ...string) (*output, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("find python interpreter %s: %w", display(path), err)
	}
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(f.timeout, func() { cancel(errHang) })
	defer timer.Stop()

	out := &output{limits: f, stdout: head{limit: f.maxBytes, full: func() { cancel(errFlood) }}}
	command := exec.Command(path, args...)
	command.Env = environment
	command.Stdin = strings.NewReader(question())
	command.Stdout, command.Stderr = &out.stdout, &out.stderr
	// A process that left the group may hold the pipes open for ever.
	command.WaitDelay = 200 * time.Millisecond
	ownGroup(command)
	runtime.LockOSThread() // the process ends with the thread that starts it
	defer runtime.UnlockOSThread()
	if err := command.Start(); err != nil {
		return nil, startError(path, err)
	}

	// The number of the group is ours until the leader is reaped by Wait, so
	// every kill comes before that.
	pid := command.Process.Pid
	killed := make(chan struct{})
	stop := context.AfterFunc(limited, func() {
		defer close(killed)
		killGroup(pid)
	})
	awaitExit(pid)
	if !stop() {
		<-killed
	}
	killGroup(pid)
	out.end = command.Wait()
	if errors.Is(out.end, exec.ErrWaitDelay) {
		out.end = nil
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("find python interpreter %s: %w", display(path), err)
	}
	if cause := context.Cause(limited); cause != nil {
		out.end = cause
	}
	return out, nil
}

// startError returns the error of a path that the system didn't start.
func startError(path string, err error) *Error {
	var system *os.PathError
	if errors.As(err, &system) {
		err = system.Err
	}
	if errors.Is(err, os.ErrNotExist) {
		return fail(path, ErrStart, "%w: the interpreter that its first line names, or its loader, is missing; %s", err, setAnother)
	}
	return fail(path, ErrStart, "%w; %s", err, setAnother)
}

// question returns what gate.py reads: texts, each ended by a NUL.
func question() string {
	var text strings.Builder
	write := func(s string) {
		text.WriteString(s)
		text.WriteByte(0)
	}
	write(probeSource)
	for _, module := range python.Modules() {
		write(module.Name)
		write(module.File)
		write(module.Source)
	}
	return text.String()
}

// fault tells what is wrong with the interpreter at path, which has printed o
// and no answer.
func (o *output) fault(path string) *Error {
	said := lastLine(o.stderr.kept)
	if said == "" && len(o.stdout.kept) > 0 {
		said = excerpt(o.stdout.kept)
	}
	if said != "" {
		said = ", saying " + said
	}
	switch {
	case errors.Is(o.end, errHang):
		return fail(path, ErrHang, "killed after %v%s; %s", o.limits.timeout, said, setAnother)
	case errors.Is(o.end, errFlood):
		return fail(path, ErrNotPython, "killed after it printed %d bytes%s; %s", o.limits.maxBytes, said, setAnother)
	case o.end != nil:
		return fail(path, ErrExit, "%w%s; %s", o.end, said, setAnother)
	case said == "":
		return fail(path, ErrSilent, "it ended at once without an error; %s", setAnother)
	default:
		return fail(path, ErrNotPython, "it did not answer when asked for its version%s; %s", said, setAnother)
	}
}

// cleanEnvironment returns what a probe may see of the host's environment.
func cleanEnvironment() []string {
	environment := []string{"LANG=C.UTF-8"}
	for _, name := range []string{"PATH", "HOME"} {
		if value, ok := os.LookupEnv(name); ok {
			environment = append(environment, name+"="+value)
		}
	}
	return environment
}

// shimEnvironment returns cleanEnvironment and what the shims of the common
// version managers go by. Without it `PYENV_VERSION=3.12.1 thirdrail …` would
// silently take another version than the shell does.
func shimEnvironment() []string {
	environment := cleanEnvironment()
	for _, entry := range os.Environ() {
		for _, prefix := range []string{"PYENV_", "ASDF_", "MISE_"} {
			if strings.HasPrefix(entry, prefix) {
				environment = append(environment, entry)
			}
		}
	}
	return environment
}
