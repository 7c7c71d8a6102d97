package cgroup

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

func (g *Group) path(name string) string { return filepath.Join(g.folder.Name(), name) }

// open opens a file of the group itself, whatever has come to have its path since.
func (g *Group) open(name string, mode int) (*os.File, error) {
	fd, err := unix.Openat(g.FD(), name, mode|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: g.path(name), Err: err}
	}
	return os.NewFile(uintptr(fd), g.path(name)), nil
}

func (g *Group) read(name string) ([]byte, error) {
	file, err := g.open(name, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, 64<<10))
}

func (g *Group) write(name, text string) error {
	file, err := g.open(name, unix.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

func write(group, name, text string) error {
	file, err := os.OpenFile(filepath.Join(group, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

// readWords returns the words of a group's file. One that can't be read has none.
func readWords(group, name string) []string {
	text, _ := os.ReadFile(filepath.Join(group, name))
	var words []string
	for word := range bytes.FieldsSeq(text) {
		words = append(words, string(word))
	}
	return words
}

// field returns the number in the line of text that begins with name.
func field(text []byte, name string) (int64, bool) {
	for line := range bytes.Lines(text) {
		key, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		if string(key) == name {
			n, err := strconv.ParseInt(string(value), 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// removeTree ends what is in a group and below, and removes all of them. A group
// that somebody else has removed is no error.
func removeTree(path string) error {
	_ = write(path, "cgroup.kill", "1")
	var err error
	for end := time.Now().Add(emptyLimit); time.Now().Before(end); time.Sleep(time.Millisecond) {
		entries, _ := os.ReadDir(path)
		for _, entry := range entries {
			if entry.IsDir() {
				_ = os.Remove(filepath.Join(path, entry.Name()))
			}
		}
		// What was killed takes a moment to be gone.
		if err = os.Remove(path); !errors.Is(err, unix.EBUSY) {
			break
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
