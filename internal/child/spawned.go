//go:build unix

package child

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
)

// spawned is the life of a child that is an interpreter of its own, with a keeper.
type spawned struct {
	isolation Isolation
	wrapped   bool
	directory string
	keeper    *os.Process
	status    *os.File

	over    chan struct{} // closed when the program's process has ended
	program programReport // set before over is closed

	waitOnce sync.Once
	exit     Exit
}

// Start starts a child in the folder directory with the environment given. Its
// program waits for a boot frame on Rail. The caller must call Wait once.
func (s *Starter) Start(directory string, environment []string) (*Process, error) {
	return s.StartIn(directory, environment, NoGroup)
}

// StartIn is Start with a control group, by descriptor: the child's first process is
// born in it, and so no process of the child was ever outside.
func (s *Starter) StartIn(directory string, environment []string, group int) (*Process, error) {
	p, _, err := s.spawn(syscall.SOCK_STREAM, directory, environment, group)
	return p, err
}

// spawn starts an interpreter whose descriptor 3 is a socket of a kind.
func (s *Starter) spawn(kind int, directory string, environment []string, group int, arguments ...string) (*Process, *spawned, error) {
	var files descriptors
	defer files.closeChildEnds()
	if err := files.open(kind, true); err != nil {
		_ = files.closeHostEnds()
		return nil, nil, fmt.Errorf("child: making descriptors: %w", err)
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
	path, line := s.command(0, 4, arguments)
	keeper, err := s.startProcess(path, line, attr)
	if err != nil {
		_ = files.closeHostEnds()
		return nil, nil, fmt.Errorf("child: starting %s: %w", s.interpreter.Path, err)
	}
	life := &spawned{
		isolation: s.isolation,
		wrapped:   len(s.wrapper) > 0,
		directory: directory,
		keeper:    keeper,
		status:    files.status.host,
		over:      make(chan struct{}),
	}
	go life.awaitStatus()
	return &Process{files.rail.host, files.stdout.host, files.stderr.host, life, directory}, life, nil
}

func (p *spawned) tops() []top { return []top{{p.keeper.Pid, true}} }

func (p *spawned) ended() <-chan struct{} { return p.over }

// awaitStatus reads the keeper's one report. It ends with the keeper, whose
// descriptor is the pipe's only other end.
func (p *spawned) awaitStatus() {
	defer close(p.over)
	var report struct{ Status, Microseconds, PeakMemory int64 }
	if binary.Read(p.status, binary.NativeEndian, &report) == nil {
		p.program = programReport{
			known:  true,
			status: syscall.WaitStatus(report.Status),
			used:   Usage{time.Duration(report.Microseconds) * time.Microsecond, report.PeakMemory},
		}
	}
}

func (p *spawned) end() Exit {
	p.waitOnce.Do(func() {
		// What is killed together with its namespace is waited for by nobody, and
		// what it used is lost. So that is looked up before.
		var used Usage
		select {
		case <-p.over:
		default:
			used = p.usage()
		}
		p.killRest()
		state, err := p.keeper.Wait()
		<-p.over
		p.exit = exitOf(p.program, state, err)
		p.exit.CPU = max(p.exit.CPU, used.CPU)
		p.exit.PeakMemory = max(p.exit.PeakMemory, used.PeakMemory)
		_ = p.status.Close()
	})
	return p.exit
}
