package confine

import (
	"slices"

	"golang.org/x/sys/unix"
)

// lastCall is the newest system call that was looked at when the rules were
// written. A newer one is answered as an older kernel would.
const lastCall = unix.SYS_RSEQ_SLICE_YIELD

// These say more than the plain numbers, which package unix doesn't have.
const (
	prSetVirtualMemoryName = 0x53564d41 // PR_SET_VMA, with which libc names what it maps
	anyPersonality         = 0xffffffff // asks for the personality and changes nothing
	socketTypeMask         = 0xf        // SOCK_TYPE_MASK: without SOCK_NONBLOCK and SOCK_CLOEXEC
	consoleIoctl           = 0x541c     // TIOCLINUX
	setOwnerIoctl          = 0x8901     // FIOSETOWN
	setGroupIoctl          = 0x8902     // SIOCSPGRP
)

// namespaceFlags are those of clone(2) that make a namespace, and CLONE_PTRACE.
const namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWTIME | unix.CLONE_PTRACE

// rules returns what a program may not call. What isn't named is allowed: Python
// and the libraries that people import use more calls than any list foresees,
// and those left over reach nothing but the process itself and its files.
func rules(o openings) []rule {
	list := slices.Concat(alwaysRefused(), ownProcessOnly(o), processRules(o))
	if !o.network {
		list = append(list, networkRules()...)
	}
	if !o.attributes {
		list = append(list, rule{
			calls: append([]uint32{
				unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
				unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
				unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
			}, oldModes...),
			refusal: unix.EPERM,
			why:     "the mode, times and attributes of files: Landlock leaves them open, and here the files of this user are in reach",
		})
	}
	return list
}

// alwaysRefused are the calls that no program has a use for, whatever is opened.
func alwaysRefused() []rule {
	return []rule{
		{
			calls: []uint32{
				unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
				unix.SYS_FSPICK, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_MOUNT_SETATTR, unix.SYS_STATMOUNT,
				unix.SYS_LISTMOUNT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_NFSSERVCTL,
			},
			refusal: unix.EPERM, why: "mounts change what every path means",
		},
		{
			calls: []uint32{
				unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD,
				unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE, unix.SYS_GET_ROBUST_LIST,
				unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
			},
			refusal: unix.EPERM, why: "they read and change other processes",
		},
		{
			calls:   []uint32{unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_LISTNS},
			refusal: unix.EPERM, why: "a namespace of one's own gives back every capability, and with them most of the kernel's attack surface",
		},
		{
			calls:   []uint32{unix.SYS_CLONE3},
			refusal: unix.ENOSYS, why: "its flags lie in memory, where no filter sees them; libc falls back to clone",
		},
		{
			calls:   []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER},
			refusal: unix.ENOSYS, why: "a ring runs other system calls, past this filter",
		},
		{
			calls:   []uint32{unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD},
			refusal: unix.EPERM, why: "the usual tools of kernel exploits; perf also sees other processes",
		},
		{
			calls:   []uint32{unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL},
			refusal: unix.ENOSYS, why: "the keyrings of the host's user and session",
		},
		{
			calls:   append([]uint32{unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD}, oldModules...),
			refusal: unix.EPERM, why: "kernel code",
		},
		{
			calls: []uint32{
				unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_VHANGUP, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
				unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
			},
			refusal: unix.EPERM, why: "they act on the whole machine",
		},
		{
			calls:   append(append([]uint32{unix.SYS_LOOKUP_DCOOKIE}, hardware...), oddities...),
			refusal: unix.ENOSYS, why: "old or for hardware, and a source of kernel faults",
		},
		{
			calls: []uint32{
				unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SHMDT, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMCTL,
				unix.SYS_SEMTIMEDOP, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
				unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK, unix.SYS_MQ_TIMEDSEND, unix.SYS_MQ_TIMEDRECEIVE, unix.SYS_MQ_NOTIFY, unix.SYS_MQ_GETSETATTR,
			},
			refusal: unix.ENOSYS, why: "objects that outlive the process, are seen by others, and count as nobody's memory",
		},
		{
			calls:   []uint32{unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET},
			refusal: unix.ENOSYS, why: "memory outside every limit, and programs without a file",
		},
		{
			calls:   []uint32{unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT},
			refusal: unix.EPERM, why: "a handle opens a file without its path",
		},
		{
			calls:   append([]uint32{unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK, unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_ADD_WATCH}, oldWatches...),
			refusal: unix.ENOSYS, why: "Landlock doesn't cover them: they tell what others do with their files",
		},
		{
			calls: []uint32{
				unix.SYS_SECCOMP, unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF,
				unix.SYS_LSM_SET_SELF_ATTR,
			},
			refusal: unix.EPERM, why: "a filter of the program's own can hand its system calls to another process",
		},
		{
			calls: []uint32{
				unix.SYS_CAPSET, unix.SYS_SETUID, unix.SYS_SETGID, unix.SYS_SETREUID, unix.SYS_SETREGID, unix.SYS_SETRESUID,
				unix.SYS_SETRESGID, unix.SYS_SETGROUPS, unix.SYS_SETFSUID, unix.SYS_SETFSGID,
			},
			refusal: unix.EPERM, why: "another user or other rights",
		},
		{
			calls:   []uint32{unix.SYS_PERSONALITY},
			refusal: unix.EPERM, unless: []test{{argument: 0, in: []uint32{0, anyPersonality}}},
			why: "switches off address randomisation and other protection",
		},
		{
			calls: []uint32{unix.SYS_PRCTL}, refusal: unix.EPERM,
			unless: []test{{argument: 0, in: []uint32{
				unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_GET_PDEATHSIG, unix.PR_GET_DUMPABLE, unix.PR_GET_SECCOMP,
				unix.PR_GET_NO_NEW_PRIVS, unix.PR_CAPBSET_READ, unix.PR_GET_TIMERSLACK, unix.PR_GET_TID_ADDRESS, prSetVirtualMemoryName,
			}}},
			why: "it can undo what was set before the program, such as dumpable and the signal at the parent's death",
		},
		{
			calls: []uint32{unix.SYS_FCNTL}, refusal: unix.EPERM,
			unless: []test{{argument: 1, not: true, in: []uint32{unix.F_SETPIPE_SZ, unix.F_SETOWN, unix.F_SETOWN_EX, unix.F_SETSIG, unix.F_NOTIFY}}},
			why:    "larger pipes hold memory outside every limit; an owner of a descriptor is sent signals",
		},
		{
			calls: []uint32{unix.SYS_IOCTL}, refusal: unix.EPERM,
			unless: []test{{argument: 1, not: true, in: []uint32{unix.TIOCSTI, consoleIoctl, setOwnerIoctl, setGroupIoctl}}},
			why:    "they type into a terminal, or send signals as F_SETOWN does",
		},
	}
}

// ownProcessOnly keeps calls that take the number of a process to the caller's
// own. Where a program may have several processes, a PID namespace or Landlock
// keeps signals inside.
func ownProcessOnly(o openings) []rule {
	const why = "another process's signals, limits and place in the scheduler"
	self := []uint32{0, ownProcess}
	list := []rule{
		{calls: []uint32{unix.SYS_PRLIMIT64}, refusal: unix.EPERM, unless: []test{{argument: 0, in: self}}, why: why},
		{
			calls: []uint32{
				unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR,
			},
			refusal: unix.EPERM, unless: []test{{argument: 0, in: self}}, why: why,
		},
		{
			calls:   []uint32{unix.SYS_SETPRIORITY},
			refusal: unix.EPERM, unless: []test{{argument: 0, in: []uint32{unix.PRIO_PROCESS}}, {argument: 1, in: self}}, why: why,
		},
		{
			calls:   []uint32{unix.SYS_IOPRIO_SET},
			refusal: unix.EPERM, unless: []test{{argument: 0, in: []uint32{1}}, {argument: 1, in: self}}, why: why, // IOPRIO_WHO_PROCESS
		},
	}
	if o.processes {
		return list[1:] // prlimit of one's own child; others can't be seen
	}
	return append(list,
		rule{
			calls:   []uint32{unix.SYS_KILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO},
			refusal: unix.EPERM, unless: []test{{argument: 0, in: []uint32{ownProcess}}}, why: why,
		},
		rule{calls: []uint32{unix.SYS_TKILL}, refusal: unix.EPERM, why: why},
	)
}

// processRules keep a program to one process with as many threads as it likes.
func processRules(o openings) []rule {
	if o.processes {
		return []rule{{
			calls: []uint32{unix.SYS_CLONE}, refusal: unix.EPERM,
			unless: []test{{argument: 0, mask: namespaceFlags, in: []uint32{0}}},
			why:    "namespaces by another way",
		}}
	}
	return []rule{
		{
			calls: []uint32{unix.SYS_CLONE}, refusal: unix.EPERM,
			unless: []test{{argument: 0, mask: unix.CLONE_THREAD | namespaceFlags, in: []uint32{unix.CLONE_THREAD}}},
			why:    "a second process; threads are allowed",
		},
		{
			calls:   append([]uint32{unix.SYS_EXECVE, unix.SYS_EXECVEAT}, oldFork...),
			refusal: unix.EPERM, why: "a second process, or another program",
		},
	}
}

// networkRules leave a program the pairs of connected sockets that asyncio needs.
func networkRules() []rule {
	const why = "the network, and the sockets of other processes"
	return []rule{
		{
			calls: []uint32{
				unix.SYS_SOCKET, unix.SYS_BIND, unix.SYS_CONNECT, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
			},
			refusal: unix.EPERM, why: why,
		},
		{
			calls: []uint32{unix.SYS_SOCKETPAIR}, refusal: unix.EPERM,
			// A datagram socket can be told a receiver with every message.
			unless: []test{{argument: 0, in: []uint32{unix.AF_UNIX}}, {argument: 1, mask: socketTypeMask, in: []uint32{unix.SOCK_STREAM}}},
			why:    why,
		},
		{
			calls: []uint32{unix.SYS_SETSOCKOPT}, refusal: unix.EPERM,
			unless: []test{{argument: 2, not: true, in: []uint32{
				unix.SO_SNDBUF, unix.SO_RCVBUF, unix.SO_SNDBUFFORCE, unix.SO_RCVBUFFORCE, unix.SO_ATTACH_FILTER, unix.SO_ATTACH_BPF,
			}}},
			why: "what waits in a socket is memory outside every limit",
		},
	}
}
