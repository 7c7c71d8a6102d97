//go:build !unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// A processGroup is a started command: no run gets as far as to need more here.
type processGroup struct{ command *exec.Cmd }

func ownGroup() *syscall.SysProcAttr { return nil }

func (*processGroup) kill() error { return os.ErrProcessDone }

func (g *processGroup) wait() error { return g.command.Wait() }
