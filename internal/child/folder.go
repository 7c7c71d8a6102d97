package child

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Folder holds the workspaces of one host. It is locked while the host lives, so
// that the next host can remove what a killed one left.
type Folder struct {
	path string
	lock *os.File
}

// folderPrefix begins the names of these folders among the temporary files.
// lockName is the locked file in one: a folder that is being made has none yet,
// and a name that no sweep looks for.
const (
	folderPrefix = "thirdrail-run-"
	newPrefix    = "thirdrail-new-"
	lockName     = "lock"
)

// OpenFolder makes a folder for this host in the system's folder for temporary
// files, and removes those of hosts that are gone. Others may enter it, and see
// nothing of what is in it.
func OpenFolder() (*Folder, error) {
	made, err := os.MkdirTemp("", newPrefix)
	if err != nil {
		return nil, fmt.Errorf("child: making the folder of workspaces: %w", err)
	}
	f := &Folder{path: filepath.Join(filepath.Dir(made), folderPrefix+strings.TrimPrefix(filepath.Base(made), newPrefix))}
	if f.lock, err = lockFile(filepath.Join(made, lockName)); err != nil {
		_ = removeTree(made)
		return nil, fmt.Errorf("child: locking the folder of workspaces: %w", err)
	}
	if err := errors.Join(os.Chmod(made, 0o711), os.Rename(made, f.path)); err != nil {
		_ = removeTree(made)
		_ = f.lock.Close()
		return nil, fmt.Errorf("child: making the folder of workspaces: %w", err)
	}
	f.sweep()
	return f, nil
}

// Path returns the folder's path.
func (f *Folder) Path() string { return f.path }

// Close removes the folder, with what is still in it.
func (f *Folder) Close() error {
	err := removeTree(f.path)
	if err := errors.Join(err, f.lock.Close()); err != nil {
		return fmt.Errorf("child: removing the folder of workspaces: %w", err)
	}
	return nil
}

// sweep removes the folders of hosts that were killed. What can't be removed, such
// as another user's, stays.
func (f *Folder) sweep() {
	paths, _ := filepath.Glob(filepath.Join(filepath.Dir(f.path), folderPrefix+"*"))
	for _, path := range paths {
		if path == f.path {
			continue
		}
		// A link of that name may lead anywhere.
		if info, err := os.Lstat(path); err != nil || !info.IsDir() {
			continue
		}
		lock, err := lockFile(filepath.Join(path, lockName))
		if err != nil {
			continue // its host lives
		}
		_ = removeTree(path)
		_ = lock.Close()
	}
}
