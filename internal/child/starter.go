//go:build unix

package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
	"github.com/thirdrail-dev/thirdrail/python"
)

// ErrClosed is what Start returns after Close.
var ErrClosed = errors.New("child: the starter is closed")

// A Starter starts children of one interpreter. All of them are started from one
// operating system thread, because the kernel ends a child when the thread that
// started it ends (PR_SET_PDEATHSIG), and Go ends threads as it likes.
type Starter struct {
	interpreter *interpreter.Interpreter
	isolation   Isolation
	namespaces  Namespaces
	wrapper     []string
	code        *os.File
	keeper      *os.File // nil where start.py is the keeper

	requests chan request
	closing  chan struct{}
	once     sync.Once
	done     chan struct{}
}

type request struct {
	path  string
	attr  *os.ProcAttr
	args  []string
	reply chan<- started
}

type started struct {
	process *os.Process
	err     error
}

// NewStarter prepares the start of children. It finds out, by trying, how a
// child can be isolated on this machine, and takes the first that works. It is an
// error when none does.
func NewStarter(ctx context.Context, i *interpreter.Interpreter, options Options) (*Starter, error) {
	code, err := codeFile(i.Code)
	if err != nil {
		return nil, fmt.Errorf("child: keeping the child's code: %w", err)
	}
	s := &Starter{
		interpreter: i,
		namespaces:  options.Namespaces,
		wrapper:     options.Wrapper,
		code:        code,
		requests:    make(chan request),
		closing:     make(chan struct{}),
		done:        make(chan struct{}),
	}
	go s.serve()
	among := options.Among
	if len(among) == 0 {
		among = isolations
	}
	if err := s.chooseIsolation(ctx, among); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	// What is in a wrapper's file system isn't known: there start.py is the keeper.
	if s.isolation.ownNamespace() && len(s.wrapper) == 0 {
		s.keeper = s.openKeeper(ctx)
	}
	return s, nil
}

// chooseIsolation starts the interpreter in each kind of isolation and takes the
// first that works.
func (s *Starter) chooseIsolation(ctx context.Context, among []Isolation) error {
	var err error
	for _, i := range among {
		if err = s.tryIsolation(ctx, i, NoGroup); err == nil {
			s.isolation = i
			return nil
		}
	}
	return err
}

// tryIsolation returns nil if a process can be started in i and can fork there,
// and is the first of its namespace if it shall have one. A wrapper may be the first
// instead. It must leave the descriptors as they are.
func (s *Starter) tryIsolation(ctx context.Context, i Isolation, group int) error {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return fmt.Errorf("child: %w", err)
	}
	defer null.Close()
	said, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("child: %w", err)
	}
	defer said.Close()
	attr := &os.ProcAttr{Env: []string{}, Files: []*os.File{null, null, write, write, write}, Sys: i.attributes(s.namespaces)}
	if group != NoGroup {
		joinGroup(attr.Sys, group)
	}
	path, arguments := s.wrapped(s.interpreter.Path, []string{s.interpreter.Path, "-I", "-S", "-c", tryProgram, s.kind(i)})
	process, err := s.startProcess(path, arguments, attr)
	_ = write.Close()
	if err != nil {
		return fmt.Errorf("child: starting %s: %w", path, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = process.Kill() })
	defer stop()
	text, _ := io.ReadAll(io.LimitReader(said, 4<<10))
	state, err := process.Wait()
	switch {
	case err != nil:
		return fmt.Errorf("child: waiting for %s: %w", path, err)
	case !state.Success() || len(s.wrapper) > 0 && lastLine(text) != "done":
		return fmt.Errorf("child: %s can't start a process of its own: %v, %q", s.interpreter.Path, state, lastLine(text))
	}
	return nil
}

// TryGroup tells whether children can be started in a control group.
func (s *Starter) TryGroup(ctx context.Context, group int) error {
	return s.tryIsolation(ctx, s.isolation, group)
}

// tryProgram looks whether it has the descriptors that a child needs and can fork.
const tryProgram = `import posix, sys
for fd in 3, 4:
    try: same = posix.fstat(fd).st_ino == posix.fstat(2).st_ino
    except OSError: same = False
    if not same: sys.exit("descriptors 0 to 4 must stay open as they are, and %d did not" % fd)
p = posix.fork()
if p == 0: posix._exit(0)
posix.write(2, b"done\n")
alone = posix.getpid() == 1 or sys.argv[1] != "namespace"
posix._exit(0 if alone and posix.waitpid(p, 0)[1] == 0 else 1)`

// kind is the bootstrap's name for what start.py has to be. In a wrapper it isn't
// the first process of the namespace: the wrapper is, or a process of its own.
func (s *Starter) kind(i Isolation) string {
	if len(s.wrapper) > 0 && i.ownNamespace() {
		return "wrapped"
	}
	return i.keeper()
}

// wrapped returns what to execute so that the wrapper starts a command line.
func (s *Starter) wrapped(path string, arguments []string) (string, []string) {
	if len(s.wrapper) == 0 {
		return path, arguments
	}
	return s.wrapper[0], append(slices.Clone(s.wrapper), arguments...)
}

func lastLine(text []byte) string {
	text = bytes.TrimSpace(text)
	return string(text[bytes.LastIndexByte(text, '\n')+1:])
}

// Namespaces tells which namespaces the children of this starter have beside that
// of their processes. There are none without that.
func (s *Starter) Namespaces() Namespaces {
	if !s.isolation.ownNamespace() {
		return Namespaces{}
	}
	return s.namespaces
}

// Isolation tells how the children of this starter are kept together.
func (s *Starter) Isolation() Isolation { return s.isolation }

// Close ends the starter. All its children must have been waited for.
func (s *Starter) Close() error {
	s.once.Do(func() { close(s.closing) })
	<-s.done
	if s.keeper != nil {
		_ = s.keeper.Close()
	}
	return s.code.Close()
}

// serve starts processes until Close. The thread is never given back, so it ends
// with this goroutine.
func (s *Starter) serve() {
	defer close(s.done)
	runtime.LockOSThread()
	for {
		select {
		case <-s.closing:
			return
		case r := <-s.requests:
			process, err := os.StartProcess(r.path, r.args, r.attr)
			r.reply <- started{process, err}
		}
	}
}

func (s *Starter) startProcess(path string, args []string, attr *os.ProcAttr) (*os.Process, error) {
	reply := make(chan started, 1)
	select {
	case <-s.closing:
		return nil, ErrClosed
	case s.requests <- request{path, attr, args, reply}:
	}
	result := <-reply
	return result.process, result.err
}

// command returns what to execute for a child, and its command line: the code is on
// descriptor codeFD, the status goes to descriptor statusFD, and more is for start.py.
func (s *Starter) command(codeFD, statusFD int, more []string) (path string, arguments []string) {
	arguments = append(Arguments(s.interpreter.Path), strconv.Itoa(codeFD))
	if s.keeper == nil {
		arguments = append(arguments, strconv.Itoa(statusFD), s.kind(s.isolation))
		return s.wrapped(s.interpreter.Path, append(arguments, more...))
	}
	arguments = append(append(arguments, "-1", "none"), more...)
	return keeperPath(statusFD), keeperArguments(statusFD, arguments)
}

// Arguments returns the beginning of a child's command line: isolated, in UTF-8
// whatever the locale, and our bootstrap as its code.
func Arguments(path string) []string {
	return []string{path, "-I", "-X", "utf8", "-c", python.Bootstrap()}
}
