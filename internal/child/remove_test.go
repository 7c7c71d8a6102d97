//go:build linux

package child

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// workspaces are what a program may leave in its folder, made with Python's means:
// the folder is its working directory.
var workspaces = map[string]string{
	"nothing":             ``,
	"a file":              `open("out.csv", "w").write("x")`,
	"a temporary file":    `open("tmp/x", "w").write("x")`,
	"without tmp":         `os.rmdir("tmp")`,
	"tmp is a file":       "os.rmdir('tmp')\nopen('tmp', 'w').close()",
	"names like ours":     "for n in range(3): os.makedirs('pile-%d/%d/0' % (n, n))",
	"closed folders":      "os.makedirs('a/b/c')\nopen('a/b/c/f', 'w').close()\nos.chmod('a/b/c', 0)\nos.chmod('a/b', 0)\nos.chmod('a', 0)",
	"itself closed":       "os.makedirs('a/b')\nos.chmod('.', 0)",
	"read-only":           "os.makedirs('a/b')\nopen('a/b/f', 'w').close()\nos.chmod('a/b/f', 0)\nos.chmod('a/b', 0o500)\nos.chmod('a', 0o500)\nos.chmod('.', 0o500)",
	"special files":       "import socket\nos.mkfifo('p')\ns = socket.socket(socket.AF_UNIX)\ns.bind('s')\nos.symlink('/none', 'l')\nos.symlink('.', 'loop')\nos.link('tmp/../p', 'p2')",
	"odd names":           `for n in (b"\xff\n", b" ", b"-rf", b"*", b"a" * 255): open(n, "w").close()`,
	"many files":          "for n in range(1500): open('f%d' % n, 'w').close()\nfor n in range(1100): os.mkdir('d%d' % n)",
	"deeper than paths":   "for n in range(300):\n    os.mkdir('d' * 200)\n    os.chdir('d' * 200)\nopen('f', 'w').close()",
	"deep and closed":     "for n in range(300):\n    os.mkdir('d')\n    os.chmod('.', 0o500) if n else None\n    os.chdir('d')",
	"a link to a folder":  "os.symlink(outside, 'away')\nos.makedirs('a')\nos.symlink(outside, 'a/away')",
	"a link in its place": "os.rename(os.getcwd(), os.getcwd() + '.moved')\nos.symlink(outside, here)",
	"a file in its place": "os.rename(os.getcwd(), os.getcwd() + '.moved')\nopen(here, 'w').close()",
	"gone":                "os.rename(os.getcwd(), os.getcwd() + '.moved')",
}

func TestWorkspaceRemove(t *testing.T) {
	s := newStarter(t, findPython(t))
	for name, program := range workspaces {
		t.Run(name, func(t *testing.T) {
			outside := t.TempDir()
			if err := os.WriteFile(filepath.Join(outside, "precious"), []byte("x"), 0o400); err != nil {
				t.Fatal(err)
			}
			r := startProgram(t, s, fmt.Sprintf("import os\nos.umask(0o077)\noutside = %q\nhere = os.getcwd()\n%s\nprint('made')", outside, program))
			r.expect("made")
			r.Wait()
			path := r.workspace.Path
			if err := r.workspace.Remove(); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(path); !os.IsNotExist(err) {
				t.Errorf("%s is still there: %v", path, err)
			}
			if _, err := os.Stat(filepath.Join(outside, "precious")); err != nil {
				t.Errorf("what a link led to: %v", err)
			}
			_ = os.RemoveAll(path + ".moved") // not the runtime's to find
		})
	}
}

// TestRemoveNeedsFewDescriptors removes a deep tree where hardly any descriptor
// is left.
func TestRemoveNeedsFewDescriptors(t *testing.T) {
	workspace, err := newFolder(t).NewWorkspace()
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{strings.Repeat("d/", 500), strings.Repeat("e/", 400)} {
		if err := os.MkdirAll(filepath.Join(workspace.Path, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var before, lower syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	highest := 0
	for fd := range openDescriptors() {
		var n int
		_, _ = fmt.Sscan(fd, &n)
		highest = max(highest, n)
	}
	lower = before
	lower.Cur = uint64(highest) + 30
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lower); err != nil {
		t.Fatal(err)
	}
	err = workspace.Remove()
	if resetErr := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); resetErr != nil {
		t.Fatal(resetErr)
	}
	if err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(workspace.Path); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
}

func TestNewWorkspace(t *testing.T) {
	w, err := newFolder(t).NewWorkspace()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Remove()
	for path, mode := range map[string]fs.FileMode{w.Path: 0o700, w.Path + "/tmp": 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	names := []string{}
	for _, entry := range Environment(w.Path) {
		name, _, _ := strings.Cut(entry, "=")
		names = append(names, name)
	}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG", "TZ", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"} {
		if !slices.Contains(names, name) {
			t.Errorf("no %s in the environment", name)
		}
	}
	t.Setenv("TMPDIR", "/none")
	if _, err := OpenFolder(); err == nil {
		t.Error("without a folder for temporary files: no error")
	}
}

// newFolder returns a folder that is closed when the test ends.
func newFolder(t testing.TB) *Folder {
	t.Helper()
	f, err := OpenFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}
