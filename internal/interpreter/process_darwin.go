package interpreter

import (
	"os/exec"
	"syscall"
)

// ownGroup makes command the leader of a process group of its own, so that
// killGroup reaches whatever it starts.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}
