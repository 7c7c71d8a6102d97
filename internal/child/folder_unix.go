//go:build unix

package child

import (
	"errors"
	"os"
	"syscall"
)

// lockFile opens and locks a file; with os.O_CREATE as flag it makes one if there is
// none. The lock ends with the file, or with the process. The error is errLocked
// where another process has it.
func lockFile(path string, flag int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|flag|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errLocked
		}
		return nil, err
	}
	return file, nil
}

// ownedByUser tells whether a file is that of the user that this process acts as.
func ownedByUser(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
