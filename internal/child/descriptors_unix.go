//go:build unix

package child

import (
	"os"
	"syscall"
)

// socketPair returns a pair of Unix sockets of a kind. Only the host's end is
// non-blocking: the child's belongs to the program, which may expect a plain file.
func socketPair(kind int) (ends, error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, kind, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return ends{}, os.NewSyscallError("socketpair", err)
	}
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		_ = syscall.Close(fds[0])
		_ = syscall.Close(fds[1])
		return ends{}, os.NewSyscallError("setnonblock", err)
	}
	return ends{os.NewFile(uintptr(fds[0]), "rail"), os.NewFile(uintptr(fds[1]), "rail")}, nil
}
