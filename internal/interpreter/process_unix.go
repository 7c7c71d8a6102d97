//go:build linux || darwin

package interpreter

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// killGroup kills every process of the group that pid leads, and pid itself, which
// may have left it. It may be called only until the leader is reaped: then its
// number can belong to another.
func killGroup(pid int) {
	// The one error is that nothing is left to kill.
	_ = unix.Kill(-pid, unix.SIGKILL)
	_ = unix.Kill(pid, unix.SIGKILL)
}

// awaitExit returns when the process has ended, and leaves it to be reaped.
func awaitExit(pid int) {
	const byPID = 1 // P_PID of waitid(2)
	var info [16]uint64
	for {
		_, _, errno := unix.Syscall6(unix.SYS_WAITID, byPID, uintptr(pid),
			uintptr(unsafe.Pointer(&info)), unix.WEXITED|unix.WNOWAIT, 0, 0)
		if errno != unix.EINTR {
			return
		}
	}
}
