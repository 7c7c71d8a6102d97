//go:build linux

package child

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// abandoned are folders among the temporary files, and whether the next host
// removes them. Each is made at path, with precious as a file that must stay.
var abandoned = []struct {
	name   string
	folder string
	make   func(t *testing.T, path, precious string)
	stays  bool
}{
	{"a killed host's", folderPrefix + "1", func(t *testing.T, path, _ string) { killedHost(t, path) }, false},
	{"one killed while it made it", newPrefix + "1", func(t *testing.T, path, _ string) { killedHost(t, path); age(t, path) }, false},
	{"one killed before it locked it", newPrefix + "2", func(t *testing.T, path, _ string) { must(t, os.Mkdir(path, 0o700)); age(t, path) }, false},
	{"one that is being made", newPrefix + "3", func(t *testing.T, path, _ string) { killedHost(t, path) }, true},
	{"one killed at the end of Close", folderPrefix + "2", func(t *testing.T, path, _ string) { must(t, os.Mkdir(path, 0o711)) }, false},
	{"closed to its owner", folderPrefix + "3", func(t *testing.T, path, _ string) {
		killedHost(t, path)
		must(t, os.Chmod(filepath.Join(path, "run-1"), 0))
	}, false},
	{"with a link in it", folderPrefix + "4", func(t *testing.T, path, precious string) {
		killedHost(t, path)
		must(t, os.Symlink(filepath.Dir(precious), filepath.Join(path, "run-1", "away")))
		must(t, os.Symlink(filepath.Dir(precious), filepath.Join(path, "away")))
	}, false},
	{"a living host's", folderPrefix + "5", func(t *testing.T, path, _ string) {
		killedHost(t, path)
		lock, err := lockFile(filepath.Join(path, lockName), 0)
		must(t, err)
		t.Cleanup(func() { _ = lock.Close() })
	}, true},
	{"a link to a folder", folderPrefix + "x", func(t *testing.T, path, precious string) {
		must(t, os.Symlink(filepath.Dir(precious), path))
	}, true},
	{"a link to a killed host's folder elsewhere", folderPrefix + "y", func(t *testing.T, path, precious string) {
		must(t, os.WriteFile(filepath.Join(filepath.Dir(precious), lockName), nil, 0o600))
		must(t, os.Symlink(filepath.Dir(precious), path))
	}, true},
	{"a folder whose lock is a link", folderPrefix + "z", func(t *testing.T, path, precious string) {
		must(t, os.Mkdir(path, 0o700))
		must(t, os.Symlink(precious, filepath.Join(path, lockName)))
	}, true},
	{"a file", folderPrefix + "f", func(t *testing.T, path, _ string) { must(t, os.WriteFile(path, nil, 0o600)) }, true},
	{"a folder that isn't ours and has no lock", folderPrefix + "o", func(t *testing.T, path, _ string) { must(t, os.MkdirAll(path+"/something", 0o700)) }, true},
	{"another name", "thirdrail-other", func(t *testing.T, path, _ string) { must(t, os.Mkdir(path, 0o700)) }, true},
}

// killedHost makes what a host that was killed in a run leaves.
func killedHost(t *testing.T, path string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(path, "run-1", "tmp"), 0o700))
	must(t, os.WriteFile(filepath.Join(path, "run-1", "out.csv"), []byte("x"), 0o400))
	must(t, os.WriteFile(filepath.Join(path, "canary"), nil, 0o600))
	must(t, os.WriteFile(filepath.Join(path, lockName), nil, 0o600))
}

// age makes a folder look as if it was made long ago.
func age(t *testing.T, path string) {
	t.Helper()
	then := time.Now().Add(-2 * halfMade)
	must(t, os.Chtimes(path, then, then))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSweep(t *testing.T) {
	for _, c := range abandoned {
		t.Run(c.name, func(t *testing.T) {
			temporary := t.TempDir()
			t.Setenv("TMPDIR", temporary)
			precious := filepath.Join(t.TempDir(), "precious")
			must(t, os.WriteFile(precious, []byte("x"), 0o400))
			path := filepath.Join(temporary, c.folder)
			c.make(t, path, precious)
			before := tree(t, path)
			newFolder(t)
			_, err := os.Lstat(path)
			if stays := err == nil; stays != c.stays {
				t.Errorf("it stays: %t, want %t (%v)", stays, c.stays, err)
			}
			if after := tree(t, path); c.stays && !slices.Equal(after, before) {
				t.Errorf("now it has %q, before %q", after, before)
			}
			if text, err := os.ReadFile(precious); err != nil || string(text) != "x" {
				t.Errorf("what a link leads to: %q, %v", text, err)
			}
		})
	}
}

// tree returns the paths of a folder, also where a link leads.
func tree(t *testing.T, path string) []string {
	t.Helper()
	var found []string
	_ = filepath.WalkDir(path+"/", func(path string, _ os.DirEntry, _ error) error {
		found = append(found, path)
		return nil
	})
	return found
}

// TestSweepLeavesOtherUsers has folders of another user, which root could remove.
func TestSweepLeavesOtherUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to make a folder of another user")
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for _, name := range []string{folderPrefix + "theirs", newPrefix + "theirs"} {
		killedHost(t, filepath.Join(temporary, name))
		must(t, os.Chown(filepath.Join(temporary, name), 65534, 65534))
		must(t, os.Mkdir(filepath.Join(temporary, name+"-empty"), 0o700))
		must(t, os.Chown(filepath.Join(temporary, name+"-empty"), 65534, 65534))
	}
	before := tree(t, temporary)
	newFolder(t)
	for _, path := range before {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%v", err)
		}
	}
}

// TestRemoveAfterChange has another folder or a link at a path when its turn comes.
func TestRemoveAfterChange(t *testing.T) {
	for name, change := range map[string]func(path, outside string) error{
		"a link":         func(path, outside string) error { return os.Symlink(outside, path) },
		"another folder": func(path, outside string) error { return os.Rename(outside, path) },
	} {
		t.Run(name, func(t *testing.T) {
			path, outside := filepath.Join(t.TempDir(), "run-1"), filepath.Join(t.TempDir(), "outside")
			must(t, os.Mkdir(path, 0o700))
			must(t, os.Mkdir(outside, 0o700))
			must(t, os.WriteFile(filepath.Join(outside, "precious"), nil, 0o600))
			info, err := os.Lstat(path)
			must(t, err)
			must(t, os.Rename(path, path+".moved"))
			must(t, change(path, outside))
			if err := removeFolder(path, info, ""); err == nil || !strings.Contains(err.Error(), "became another folder") {
				t.Errorf("got %v, want an error that it became another folder", err)
			}
			if _, err := os.Stat(filepath.Join(path, "precious")); err != nil {
				t.Errorf("what took its place: %v", err)
			}
		})
	}
}

// TestFoldersBesideEachOther opens and closes folders by several at once, each of
// which sweeps what it takes for left behind. None loses its folder or stumbles.
func TestFoldersBesideEachOther(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				f, err := OpenFolder()
				if err != nil {
					t.Error(err)
					return
				}
				w, err := f.NewWorkspace()
				if err != nil {
					t.Errorf("a living host's folder was swept: %v", err)
				} else if err := os.WriteFile(filepath.Join(w.Path, "x"), nil, 0o600); err != nil {
					t.Errorf("a living host's folder was swept: %v", err)
				}
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestRemoveDuringLinkRace removes a folder in which another process changes a
// folder for a link to a place outside, again and again.
func TestRemoveDuringLinkRace(t *testing.T) {
	outside := t.TempDir()
	for _, name := range []string{"a", "b/c", "0", "1"} {
		must(t, os.MkdirAll(filepath.Join(outside, filepath.Dir(name)), 0o700))
		must(t, os.WriteFile(filepath.Join(outside, name), []byte("x"), 0o600))
	}
	before := tree(t, outside)
	var stop atomic.Bool
	var swapped int
	path := filepath.Join(t.TempDir(), "run")
	var racer sync.WaitGroup
	racer.Go(func() {
		target, spare := filepath.Join(path, "victim"), filepath.Join(path, "spare")
		for !stop.Load() {
			_ = os.Mkdir(path, 0o700)
			_ = os.MkdirAll(filepath.Join(target, "b"), 0o700)
			if os.Symlink(outside, spare) == nil && os.Rename(target, target+"-2") == nil && os.Rename(spare, target) == nil {
				swapped++
			}
		}
	})
	for range 400 {
		_ = removeTree(path) // it may well fail while another adds to it
	}
	stop.Store(true)
	racer.Wait()
	if err := removeTree(path); err != nil {
		t.Errorf("in the end: %v", err)
	}
	if after := tree(t, outside); !slices.Equal(after, before) {
		t.Errorf("outside there is %q, before %q", after, before)
	}
	if info, err := os.Stat(outside); err != nil || info.Mode().Perm()&0o700 != 0o700 {
		t.Errorf("outside: %v, %v", info, err)
	}
	if swapped == 0 {
		t.Error("no swap succeeded: this test sees nothing")
	}
}

// TestRemoveManyAndDeep removes what takes most: two hundred thousand files, and
// folders five thousand levels deep.
func TestRemoveManyAndDeep(t *testing.T) {
	w, err := newFolder(t).NewWorkspace()
	must(t, err)
	files := 200_000
	if testing.Short() {
		files = 20_000
	}
	for i := range files {
		fd, err := syscall.Open(w.Path+"/f"+strconv.Itoa(i), syscall.O_CREAT|syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
		must(t, err)
		must(t, syscall.Close(fd))
	}
	root, err := os.OpenRoot(w.Path)
	must(t, err)
	for range 5000 {
		must(t, root.Mkdir("deep", 0o700))
		next, err := root.OpenRoot("deep")
		must(t, err)
		must(t, root.Close())
		root = next
	}
	must(t, root.Close())
	if err := w.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(w.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}
