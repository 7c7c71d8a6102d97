//go:build unix

package child

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Process is one child. Rail, Stdout and Stderr are the host's ends of its
// descriptors 3, 1 and 2. They don't block: reads and writes wait in the runtime's
// poller, and SyscallConn gives them without waiting.
type Process struct {
	Rail, Stdout, Stderr *os.File

	life      life
	directory string // of the host, where there is one
}

// life is how a process came to be, and how it ends.
type life interface {
	// ended is closed when the program's process has ended.
	ended() <-chan struct{}
	// end ends everything that is left, waits for it and tells how it went.
	end() Exit
	// tops are the processes that all others of the child descend from.
	tops() []top
}

// top is a process that others descend from. It is counted with them unless it is
// ours.
type top struct {
	pid  int
	ours bool
}

// Ended is closed when the program's process has ended, or when the one that
// watches it died without a word. Processes that the program started may still live.
func (p *Process) Ended() <-chan struct{} { return p.life.ended() }

// Wait ends everything that is left of the child and returns how it ended. Rail,
// Stdout and Stderr stay open for what was written before; Close closes them.
func (p *Process) Wait() Exit { return p.life.end() }

// Close closes the host's ends of the descriptors.
func (p *Process) Close() error {
	return errors.Join(p.Rail.Close(), p.Stdout.Close(), p.Stderr.Close())
}

// programReport is what the keeper tells of the program's process.
type programReport struct {
	known  bool
	status syscall.WaitStatus
	used   Usage
}

// Usage is what a child has used.
type Usage struct {
	// CPU is user and system time, that of the interpreter's start included.
	CPU time.Duration
	// PeakMemory is the largest resident set of one process, in bytes.
	PeakMemory int64
}

// Exit is how a child ended, and what it used.
type Exit struct {
	Usage
	// Code is the exit status of the program's process, or −1 if it was ended by
	// a signal or by the host.
	Code int
	// Signal is the signal that ended the program's process, or 0.
	Signal syscall.Signal
	// Refusal is why a nursery could not fork the child, or empty.
	Refusal string
}

// OverCPU tells whether the kernel ended the program for its CPU limit.
func (e Exit) OverCPU() bool { return e.Signal == unix.SIGXCPU }

// SignalName returns the name of the signal that ended the program, as SIGSEGV.
func (e Exit) SignalName() string {
	if name := unix.SignalName(e.Signal); name != "" {
		return name
	}
	return fmt.Sprintf("%d", int(e.Signal))
}

func exitOf(program programReport, state *os.ProcessState, err error) Exit {
	exit := Exit{Code: -1, Usage: program.used}
	if err != nil {
		return exit
	}
	status := program.status
	if !program.known {
		// The keeper itself failed, or was killed with the rest.
		status = state.Sys().(syscall.WaitStatus)
	}
	exit.set(status)
	return exit
}

func (e *Exit) set(status syscall.WaitStatus) {
	switch {
	case status.Exited():
		e.Code = status.ExitStatus()
	case status.Signaled():
		e.Signal = status.Signal()
	}
}
