package confine

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Look finds out what this machine has.
func Look() Machine {
	m := Machine{Landlock: landlockVersion(), Calls: canFilterCalls()}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.Kernel = "Linux " + unix.ByteSliceToString(name.Release[:])
	}
	if os.Geteuid() == 0 {
		m.Users = firstUser(os.Getpid())
	}
	return m
}

// canFilterCalls asks the kernel whether a filter can refuse calls with an error.
func canFilterCalls() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	const getActionAvail = 2 // SECCOMP_GET_ACTION_AVAIL
	_, _, err := unix.Syscall(unix.SYS_SECCOMP, getActionAvail, 0, uintptr(unsafe.Pointer(&action)))
	return err == 0
}

// firstUser returns where a host's own numbers of users begin: high, where no
// system gives out numbers, and another place for each host. It is 0 where the
// numbers can't be had, as in a user namespace that maps only some.
func firstUser(host int) int {
	const highest = 1 << 30
	first := highest + host%(1<<14)*usersPerHost
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return 0
	}
	var inside, outside, size uint64
	if _, err := fmt.Sscan(string(text), &inside, &outside, &size); err != nil || inside > highest || inside+size < uint64(first+usersPerHost) {
		return 0
	}
	return first
}
