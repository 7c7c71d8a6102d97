package confine

import (
	"golang.org/x/sys/unix"
)

// What may be done with a folder and all below it.
const (
	readAccess  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeAccess = readAccess | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REFER
	executeAccess = unix.LANDLOCK_ACCESS_FS_EXECUTE
	// fileAccess is what a rule for a file, rather than a folder, can have.
	fileAccess = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// filesByVersion is what the kernel controls of files since each version of its
// interface, from 1 on. What a later version adds isn't asked for: its meaning
// isn't known here.
var filesByVersion = []uint64{
	1<<13 - 1, // version 1: execute to make_sym
	1<<14 - 1, // refer
	1<<15 - 1, // truncate
	1<<15 - 1,
	1<<16 - 1, // ioctl_dev
}

// handled returns what a kernel with this version controls, nothing of it allowed
// unless a rule says so.
func handled(version int, network bool) Landlock {
	if version < 1 {
		return Landlock{}
	}
	l := Landlock{Files: filesByVersion[min(version, len(filesByVersion))-1]}
	if version >= 4 && !network {
		l.Network = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if version >= 6 {
		l.Scopes = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return l
}

// allow adds a rule. The kernel refuses rights that it doesn't control, and those
// of a folder for a file.
func (l *Landlock) allow(path string, access uint64, folder bool) {
	access &= l.Files
	if !folder {
		access &= fileAccess
	}
	l.Paths = append(l.Paths, PathRule{path, access})
}

// landlockVersion returns the version of the kernel's Landlock interface, or 0
// where there is none.
func landlockVersion() int {
	version, _, err := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err != 0 {
		return 0
	}
	return int(version)
}
