//go:build !unix

package child

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
)

// This file lets packages that use this one compile where children can't be
// started. NewStarter says so, and nothing else is ever reached.

// ErrWouldBlock is what a Stream's Read returns when nothing has arrived.
var ErrWouldBlock = errors.New("child: nothing to read yet")

var errUnsupported = errors.New("child: this operating system is not supported")

// A Starter starts children where the system can.
type Starter struct{}

// NewStarter returns an error.
func NewStarter(context.Context, *interpreter.Interpreter, Options) (*Starter, error) {
	return nil, errUnsupported
}

// Namespaces returns the zero value.
func (*Starter) Namespaces() Namespaces { return Namespaces{} }

// Isolation returns the zero value.
func (*Starter) Isolation() Isolation { return ProcessGroup }

// TryGroup returns an error.
func (*Starter) TryGroup(context.Context, int) error { return errUnsupported }

// Close does nothing.
func (*Starter) Close() error { return nil }

// Start returns an error.
func (*Starter) Start(string, []string) (*Process, error) { return nil, errUnsupported }

// StartIn returns an error.
func (*Starter) StartIn(string, []string, int) (*Process, error) { return nil, errUnsupported }

// A Process is one child.
type Process struct{ Rail, Stdout, Stderr *os.File }

// Ended returns nil.
func (*Process) Ended() <-chan struct{} { return nil }

// Wait returns the zero value.
func (*Process) Wait() Exit { return Exit{} }

// Close does nothing.
func (*Process) Close() error { return nil }

// CPU returns 0.
func (*Process) CPU() time.Duration { return 0 }

// Threads returns 0.
func (*Process) Threads() int { return 0 }

// Memory returns 0.
func (*Process) Memory(int64) int64 { return 0 }

// Unlinked returns 0.
func (*Process) Unlinked() int64 { return 0 }

// Exit is how a child ended.
type Exit struct {
	Code       int
	Signal     syscall.Signal
	CPU        time.Duration
	PeakMemory int64
	Refusal    string
}

// OverCPU returns false.
func (Exit) OverCPU() bool { return false }

// SignalName returns the signal's name.
func (e Exit) SignalName() string { return e.Signal.String() }

// A Stream reads one of a Process's descriptors.
type Stream struct{}

// NewStream returns an error.
func NewStream(*os.File) (*Stream, error) { return nil, errUnsupported }

// Wait returns an error.
func (*Stream) Wait(func() bool) error { return errUnsupported }

// Read returns an error.
func (*Stream) Read([]byte) (int, error) { return 0, errUnsupported }

// Arrived returns an error.
func (*Stream) Arrived() (int, error) { return 0, errUnsupported }
