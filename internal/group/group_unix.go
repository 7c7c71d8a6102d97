//go:build unix

package group

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// A Group is a started command with the processes that it starts, as long
// as they don't leave its group.
type Group struct {
	// Command is the leader, whose SysProcAttr is Own().
	Command *exec.Cmd

	mu   sync.Mutex
	over bool // the group's number may belong to others
}

// Own makes a command the leader of a new process group, which also keeps a
// terminal's Ctrl-C from it: the run's end is what ends it.
func Own() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Kill kills the group, unless it is over.
func (g *Group) Kill() error { return g.signal(syscall.SIGKILL) }

// Terminate asks the group to end, unless it is over.
func (g *Group) Terminate() error { return g.signal(syscall.SIGTERM) }

func (g *Group) signal(signal syscall.Signal) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return os.ErrProcessDone
	}
	return syscall.Kill(-g.Command.Process.Pid, signal)
}

// end kills what is left of the group, for good.
func (g *Group) end() {
	_ = g.Kill()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
}
