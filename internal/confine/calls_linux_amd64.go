package confine

import "golang.org/x/sys/unix"

// architecture is how seccomp_data names this machine.
const architecture = unix.AUDIT_ARCH_X86_64

// Calls that only some machines have. The old names of calls do the same as the
// newer ones, which every machine has.
var (
	oldFork    = []uint32{unix.SYS_FORK, unix.SYS_VFORK}
	oldModes   = []uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
	oldModules = []uint32{unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE}
	oldWatches = []uint32{unix.SYS_INOTIFY_INIT}
	hardware   = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT}
	oddities   = []uint32{unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS__SYSCTL}
)
