package child

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
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
	code        *os.File

	requests chan request
	closing  chan struct{}
	once     sync.Once
	done     chan struct{}
}

type request struct {
	attr  *os.ProcAttr
	args  []string
	reply chan<- started
}

type started struct {
	process *os.Process
	err     error
}

// NewStarter prepares the start of children. It finds out, by trying, how a
// child can be isolated on this machine.
func NewStarter(ctx context.Context, i *interpreter.Interpreter) (*Starter, error) {
	code, err := codeFile(i.Code)
	if err != nil {
		return nil, fmt.Errorf("child: keeping the child's code: %w", err)
	}
	s := &Starter{
		interpreter: i,
		code:        code,
		requests:    make(chan request),
		closing:     make(chan struct{}),
		done:        make(chan struct{}),
	}
	go s.serve()
	s.isolation = s.probeIsolation(ctx)
	return s, nil
}

// Isolation tells how the children of this starter are kept together.
func (s *Starter) Isolation() Isolation { return s.isolation }

// Close ends the starter. All its children must have been waited for.
func (s *Starter) Close() error {
	s.once.Do(func() { close(s.closing) })
	<-s.done
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
			process, err := os.StartProcess(s.interpreter.Path, r.args, r.attr)
			r.reply <- started{process, err}
		}
	}
}

func (s *Starter) startProcess(args []string, attr *os.ProcAttr) (*os.Process, error) {
	reply := make(chan started, 1)
	select {
	case <-s.closing:
		return nil, ErrClosed
	case s.requests <- request{attr, args, reply}:
	}
	result := <-reply
	return result.process, result.err
}

// arguments returns the command line of a child: the code is on descriptor
// codeFD, the status goes to descriptor statusFD.
func (s *Starter) arguments(codeFD, statusFD int, keeper string) []string {
	return append(Arguments(s.interpreter.Path), strconv.Itoa(codeFD), strconv.Itoa(statusFD), keeper)
}

// Arguments returns the beginning of a child's command line: isolated, in UTF-8
// whatever the locale, and our bootstrap as its code.
func Arguments(path string) []string {
	return []string{path, "-I", "-X", "utf8", "-c", python.Bootstrap()}
}
