package child

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// removeTree removes a folder with all that is in it. It holds a handful of
// descriptors open whatever the depth, where os.RemoveAll holds one for each level
// and a program can make a hundred thousand of them: folders within folders are
// first moved to one pile at the top.
func removeTree(path string) error {
	if os.Remove(filepath.Join(path, "tmp")) == nil && os.Remove(path) == nil {
		return nil // most runs leave nothing
	}
	return removeTreeKeeping(path, "")
}

// removeTreeKeeping removes a folder with all that is in it, and the file last that
// is named so.
func removeTreeKeeping(path, last string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return os.Remove(path) // the program put something else in its place
	}
	return removeFolder(path, info, last)
}

// removeFolder removes the folder that info tells of, if path still leads to it.
func removeFolder(path string, info fs.FileInfo, last string) error {
	if info.Mode().Perm()&0o700 != 0o700 {
		if err := os.Chmod(path, 0o700); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	// It may have been changed for a link since.
	if opened, err := root.Stat("."); err != nil || !os.SameFile(info, opened) {
		return errors.Join(err, fmt.Errorf("%s became another folder while it was removed", path))
	}
	r := remover{root: root, last: last}
	if err := r.removeAll(); err != nil {
		return err
	}
	if last != "" {
		if err := root.Remove(last); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// remover empties a folder.
type remover struct {
	root *os.Root
	last string // a file at the top that stays; "" is none
	pile string // the folder that all others are moved to
	next int    // the name of the next one there
	done int    // those before are removed
}

func (r *remover) removeAll() error {
	for i := 0; r.pile == ""; i++ {
		name := "pile-" + strconv.Itoa(i)
		switch err := r.root.Mkdir(name, 0o700); {
		case err == nil:
			r.pile = name
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
	if err := r.empty("."); err != nil {
		return err
	}
	for ; r.done < r.next; r.done++ {
		folder := filepath.Join(r.pile, strconv.Itoa(r.done))
		if err := r.empty(folder); err != nil {
			return err
		}
		if err := r.root.Remove(folder); err != nil {
			return err
		}
	}
	return r.root.Remove(r.pile)
}

// empty removes the files of a folder and moves its folders to the pile.
func (r *remover) empty(folder string) error {
	for {
		names, err := r.someOf(folder)
		if err != nil || len(names) == 0 {
			return err
		}
		for _, entry := range names {
			if err := r.take(filepath.Join(folder, entry.Name()), entry.IsDir()); err != nil {
				return err
			}
		}
	}
}

// batch is how many entries of a folder are read at once.
const batch = 1000

// someOf returns some entries of a folder, without the pile. None means that there
// are no more.
func (r *remover) someOf(folder string) ([]fs.DirEntry, error) {
	f, err := r.root.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for {
		entries, err := f.ReadDir(batch)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if folder == "." {
			entries = without(without(entries, r.pile), r.last)
		}
		if len(entries) > 0 || err != nil {
			return entries, nil
		}
	}
}

func without(entries []fs.DirEntry, name string) []fs.DirEntry {
	for i, entry := range entries {
		if entry.Name() == name {
			return append(entries[:i], entries[i+1:]...)
		}
	}
	return entries
}

// take removes a file, or moves a folder to the pile. To move a folder, its owner
// needs the right to write to it.
func (r *remover) take(path string, isFolder bool) error {
	if !isFolder {
		return r.root.Remove(path)
	}
	if err := r.root.Chmod(path, 0o700); err != nil {
		return err
	}
	if err := r.root.Rename(path, filepath.Join(r.pile, strconv.Itoa(r.next))); err != nil {
		return fmt.Errorf("moving a folder out of another: %w", err)
	}
	r.next++
	return nil
}
