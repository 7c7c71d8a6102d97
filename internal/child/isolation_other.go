//go:build unix && !linux

package child

import (
	"context"
	"os"
	"syscall"
	"time"
)

func (i Isolation) attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func (s *Starter) probeIsolation(context.Context) Isolation { return ProcessGroup }

// killRest ends the keeper and the processes of its session's first group.
func (i Isolation) killRest(keeper *os.Process) {
	_ = syscall.Kill(-keeper.Pid, syscall.SIGKILL)
	_ = keeper.Kill()
}

// CPU returns 0: without /proc the time of another process can't be told. The
// kernel's own limit, which the child sets, still holds.
func (p *Process) CPU() time.Duration { return 0 }

// peakBytes returns the largest resident set. The BSDs count it in bytes.
func peakBytes(usage *syscall.Rusage) int64 { return int64(usage.Maxrss) }
