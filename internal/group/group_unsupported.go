//go:build !unix

package group

import (
	"os/exec"
	"syscall"
)

// A Group is a started command, alone: what it started is left to the system.
type Group struct {
	// Command is the leader, whose SysProcAttr is Own().
	Command *exec.Cmd
}

// Own returns nothing.
func Own() *syscall.SysProcAttr { return nil }

// Kill kills the command.
func (g *Group) Kill() error { return g.Command.Process.Kill() }

// Terminate kills the command too: nothing can be asked of it here.
func (g *Group) Terminate() error { return g.Kill() }

// Wait waits for the command to end, as its own Wait does.
func (g *Group) Wait() error { return g.Command.Wait() }
