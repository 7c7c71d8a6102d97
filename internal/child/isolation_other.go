//go:build unix && !linux

package child

import (
	"syscall"
	"time"
)

func (i Isolation) attributes(Namespaces) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true}
}

// joinGroup does nothing: there are no control groups.
func joinGroup(*syscall.SysProcAttr, int) {}

// isolations are what this system has.
var isolations = []Isolation{ProcessGroup}

// killRest ends the keeper and the processes of its session's first group.
func (p *spawned) killRest() {
	_ = syscall.Kill(-p.keeper.Pid, syscall.SIGKILL)
	_ = p.keeper.Kill()
}

// CPU returns 0: without /proc the time of another process can't be told. The
// kernel's own limit, which the child sets, still holds.
func (p *Process) CPU() time.Duration { return 0 }

func (p *spawned) usage() Usage { return Usage{} }

// Threads returns 0: it can't be told.
func (p *Process) Threads() int { return 0 }

// Memory returns 0.
func (p *Process) Memory(int64) int64 { return 0 }

// Unlinked returns 0.
func (p *Process) Unlinked() int64 { return 0 }
