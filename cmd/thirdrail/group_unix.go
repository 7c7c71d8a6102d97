//go:build unix

package main

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// A processGroup is a started command with the processes that it starts, as long
// as they don't leave its group.
type processGroup struct {
	command *exec.Cmd

	mu   sync.Mutex
	over bool // the group's number may belong to others
}

// ownGroup makes a command the leader of a new process group, which also keeps a
// terminal's Ctrl-C from it: the run's end is what ends it.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// kill kills the group, unless it is over.
func (g *processGroup) kill() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		return os.ErrProcessDone
	}
	return syscall.Kill(-g.command.Process.Pid, syscall.SIGKILL)
}

// end kills what is left of the group, for good.
func (g *processGroup) end() {
	_ = g.kill()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
}
