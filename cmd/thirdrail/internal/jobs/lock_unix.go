//go:build unix

package jobs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes a file for this process, as long as it is open. Where files can't be
// locked, nothing is.
func lock(file *os.File) error {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return err
	}
	return nil
}
