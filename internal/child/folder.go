package child

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Folder holds the workspaces of one host. It is locked while the host lives, so
// that the next host can remove what a killed one left.
type Folder struct {
	path string
	lock *os.File
}

// errLocked says that another process has the lock.
var errLocked = errors.New("another process has locked it")

// folderPrefix begins the names of these folders among the temporary files, and
// newPrefix while they are made. lockName is the locked file in one. It is the last
// to be removed, so a folder without it is empty.
const (
	folderPrefix = "thirdrail-run-"
	newPrefix    = "thirdrail-new-"
	lockName     = "lock"
)

// halfMade is how old a folder without its final name must be to be taken for that
// of a host that was killed while it made it.
const halfMade = time.Hour

// OpenFolder makes a folder for this host in the system's folder for temporary
// files, and removes those of hosts that are gone. Others may enter it, and see
// nothing of what is in it.
func OpenFolder() (*Folder, error) {
	made, err := os.MkdirTemp("", newPrefix)
	if err != nil {
		return nil, fmt.Errorf("child: making the folder of workspaces: %w", err)
	}
	f, err := claim(made)
	if err != nil {
		_ = removeTree(made)
		return nil, fmt.Errorf("child: making the folder of workspaces: %w", err)
	}
	f.sweep()
	return f, nil
}

// claim locks a new folder and gives it its name.
func claim(made string) (*Folder, error) {
	lock, err := lockFile(filepath.Join(made, lockName), os.O_CREATE)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(filepath.Dir(made), folderPrefix+strings.TrimPrefix(filepath.Base(made), newPrefix))
	if err := errors.Join(os.Chmod(made, 0o711), os.Rename(made, path)); err != nil {
		_ = lock.Close()
		return nil, err
	}
	return &Folder{path, lock}, nil
}

// Path returns the folder's path.
func (f *Folder) Path() string { return f.path }

// Close removes the folder, with what is still in it.
func (f *Folder) Close() error {
	err := removeTreeKeeping(f.path, lockName)
	if err := errors.Join(err, f.lock.Close()); err != nil {
		return fmt.Errorf("child: removing the folder of workspaces: %w", err)
	}
	return nil
}

// sweep removes the folders of this user's hosts that were killed, also in the
// middle of making one. What can't be removed stays.
func (f *Folder) sweep() {
	for _, prefix := range []string{folderPrefix, newPrefix} {
		paths, _ := filepath.Glob(filepath.Join(filepath.Dir(f.path), prefix+"*"))
		for _, path := range paths {
			if path != f.path {
				sweepFolder(path, prefix == newPrefix)
			}
		}
	}
}

// sweepFolder removes a folder if it is this user's and its host is gone. Where
// temporary files lie, anybody can make a folder or a link of that name, and change
// one for the other at any moment: another's is never entered, whatever our rights.
func sweepFolder(path string, isNew bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || !ownedByUser(info) {
		return
	}
	if isNew && time.Since(info.ModTime()) < halfMade {
		return
	}
	lock, err := lockFile(filepath.Join(path, lockName), 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Its host has just made it, or is about to have removed it, or was killed
		// then. It is empty, so nothing is lost.
		_ = os.Remove(path)
	case err == nil:
		_ = removeFolder(path, info, lockName)
		_ = lock.Close()
	}
}
