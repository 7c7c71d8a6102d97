package interpreter

import (
	"os/exec"
	"syscall"
)

// ownGroup makes command the leader of a process group of its own, so that
// killGroup reaches whatever it starts. The kernel kills it when the thread that
// started it ends, as it does when the host is killed.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
