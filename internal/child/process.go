//go:build unix

package child

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Process is one child. Rail, Stdout and Stderr are the host's ends of its
// descriptors 3, 1 and 2. They don't block: reads and writes wait in the runtime's
// poller, and SyscallConn gives them without waiting.
type Process struct {
	Rail, Stdout, Stderr *os.File

	isolation Isolation
	wrapped   bool
	directory string
	keeper    *os.Process
	status    *os.File

	ended   chan struct{} // closed when the program's process has ended
	program programReport // set before ended is closed

	waitOnce sync.Once
	exit     Exit
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
}

// Start starts a child in the folder directory with the environment given. Its
// program waits for a boot frame on Rail. The caller must call Wait once.
func (s *Starter) Start(directory string, environment []string) (*Process, error) {
	return s.StartIn(directory, environment, NoGroup)
}

// StartIn is Start with a control group, by descriptor: the child's first process is
// born in it, and so no process of the child was ever outside.
func (s *Starter) StartIn(directory string, environment []string, group int) (*Process, error) {
	var files descriptors
	defer files.closeChildEnds()
	if err := files.open(); err != nil {
		files.closeHostEnds()
		return nil, fmt.Errorf("child: making descriptors: %w", err)
	}
	attr := &os.ProcAttr{
		Dir: directory,
		Env: environment,
		Files: []*os.File{
			s.code, files.stdout.child, files.stderr.child, files.rail.child, files.status.child,
		},
		Sys: s.isolation.attributes(s.namespaces),
	}
	if s.keeper != nil {
		attr.Files = append(attr.Files, s.keeper)
	}
	if group != NoGroup {
		joinGroup(attr.Sys, group)
	}
	path, arguments := s.command(0, 4)
	keeper, err := s.startProcess(path, arguments, attr)
	if err != nil {
		files.closeHostEnds()
		return nil, fmt.Errorf("child: starting %s: %w", s.interpreter.Path, err)
	}
	p := &Process{
		Rail:      files.rail.host,
		Stdout:    files.stdout.host,
		Stderr:    files.stderr.host,
		isolation: s.isolation,
		wrapped:   len(s.wrapper) > 0,
		directory: directory,
		keeper:    keeper,
		status:    files.status.host,
		ended:     make(chan struct{}),
	}
	go p.awaitStatus()
	return p, nil
}

// Ended is closed when the program's process has ended, or when the keeper died
// without a word. Processes that the program started may still live.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// awaitStatus reads the keeper's one report. It ends with the keeper, whose
// descriptor is the pipe's only other end.
func (p *Process) awaitStatus() {
	defer close(p.ended)
	var report struct{ Status, Microseconds, PeakMemory int64 }
	if binary.Read(p.status, binary.NativeEndian, &report) == nil {
		p.program = programReport{
			known:  true,
			status: syscall.WaitStatus(report.Status),
			used:   Usage{time.Duration(report.Microseconds) * time.Microsecond, report.PeakMemory},
		}
	}
}

// Wait ends everything that is left of the child and returns how it ended. Rail,
// Stdout and Stderr stay open for what was written before; Close closes them.
func (p *Process) Wait() Exit {
	p.waitOnce.Do(func() {
		// What is killed together with its namespace is waited for by nobody, and
		// what it used is lost. So that is looked up before.
		var used Usage
		select {
		case <-p.ended:
		default:
			used = p.usage()
		}
		p.killRest()
		state, err := p.keeper.Wait()
		<-p.ended
		p.exit = exitOf(p.program, state, err)
		p.exit.CPU = max(p.exit.CPU, used.CPU)
		p.exit.PeakMemory = max(p.exit.PeakMemory, used.PeakMemory)
		_ = p.status.Close()
	})
	return p.exit
}

// Close closes the host's ends of the descriptors.
func (p *Process) Close() error {
	return errors.Join(p.Rail.Close(), p.Stdout.Close(), p.Stderr.Close())
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
	switch {
	case status.Exited():
		exit.Code = status.ExitStatus()
	case status.Signaled():
		exit.Signal = status.Signal()
	}
	return exit
}
