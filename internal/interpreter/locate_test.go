package interpreter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// unusable lists what can't be an interpreter by its path alone. The directory
// they are in holds a file, a folder, a fifo, a link to nothing and a loop.
var unusable = []struct {
	name   string
	python string // {dir} stands for the directory, which is the working one too
	reason error
	words  string
	cause  error
}{
	{"missing", "/opt/none/python", ErrNotExecutable, "there is no such file", fs.ErrNotExist},
	{"missing relative", "./missing-py", ErrNotExecutable, "{dir}/missing-py: not an executable regular file: there is no such file", fs.ErrNotExist},
	{"no execute permission", "{dir}/plain", ErrNotExecutable, "no execute permission", fs.ErrPermission},
	{"directory", "{dir}/folder", ErrNotExecutable, "it is a directory", nil},
	{"directory with a slash", "folder/", ErrNotExecutable, "it is a directory", nil},
	{"fifo", "{dir}/fifo", ErrNotExecutable, "it is a special file", nil},
	{"device", "/dev/null", ErrNotExecutable, "it is a special file", nil},
	{"link to nothing", "{dir}/dangling", ErrNotExecutable, "there is no such file", fs.ErrNotExist},
	{"loop of links", "{dir}/loop", ErrNotExecutable, "too many levels of symbolic links", syscall.ELOOP},
	{"below a file", "{dir}/plain/python", ErrNotExecutable, "not a directory", syscall.ENOTDIR},
	{"name too long", "/" + strings.Repeat("n", 300), ErrNotExecutable, "file name too long", syscall.ENAMETOOLONG},
	{"tilde", "~/none/python", ErrNotExecutable, "{dir}/~/none/python", fs.ErrNotExist},
	{"NUL in a path", "/usr/bin/python3\x00", ErrNotExecutable, `"/usr/bin/python3\x00"`, nil},
	{"NUL in a name", "python3\x00", ErrNotExecutable, "can't hold a NUL", nil},
	{"only a NUL", "\x00", ErrNotExecutable, "can't hold a NUL", nil},
	{"name absent", "python-zzz", ErrNotFound, "looked in PATH={dir}/folder", nil},
	{"name of a plain file on PATH", "plain", ErrNotFound, "looked in PATH=", nil},
	{"name of a folder on PATH", "inner", ErrNotFound, "looked in PATH=", nil},
	{"name of a fifo on PATH", "pipe", ErrNotExecutable, "it is a special file", nil},
	{"dots", "..", ErrNotFound, "looked in PATH=", nil},
	{"default absent", "", ErrNotFound, "tried python3 and python in PATH={dir}/folder", nil},
}

func TestFindUnusablePaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PATH", dir+"/folder")
	for _, folder := range []string{"folder", "folder/inner"} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "plain", "#!/bin/sh\n", 0o644)
	write(t, "folder/plain", "#!/bin/sh\n", 0o644)
	for path, err := range map[string]error{
		"fifo":        syscall.Mkfifo("fifo", 0o755),
		"folder/pipe": syscall.Mkfifo("folder/pipe", 0o755),
		"dangling":    os.Symlink("nowhere", "dangling"),
		"loop":        os.Symlink("loop", "loop"),
	} {
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	for _, test := range unusable {
		t.Run(test.name, func(t *testing.T) {
			_, err := Find(t.Context(), strings.ReplaceAll(test.python, "{dir}", dir))
			checkError(t, err, test.reason, strings.ReplaceAll(test.words, "{dir}", dir))
			if test.cause != nil && !errors.Is(err, test.cause) {
				t.Errorf("%v does not wrap %v", err, test.cause)
			}
		})
	}
}

// checkError fails unless err is an *Error for reason that holds words, says
// what to do next and is one line.
func checkError(t *testing.T, err, reason error, words string) {
	t.Helper()
	var typed *Error
	if !errors.As(err, &typed) || !errors.Is(err, reason) {
		t.Fatalf("error %v, want an *Error for %q", err, reason)
	}
	for _, part := range []string{words, reason.Error(), "Config.Python", "--python"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\r\x00") || len(err.Error()) > 1500 {
		t.Errorf("%q is not one short line", err)
	}
}

func TestLocateRelativePath(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, folder := range []string{"a/deep", "bin"} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "bin/py", "#!/bin/sh\n", 0o755)
	write(t, "a/py", "#!/bin/sh\n", 0o755)
	if err := os.Symlink("a/deep", "link"); err != nil {
		t.Fatal(err)
	}
	for python, want := range map[string]string{
		"bin/py":        "/bin/py",
		"./bin/py":      "/bin/py",
		".//bin/./py":   "/bin/py",
		"bin/../bin/py": "/bin/../bin/py",
		// Without its dots this would be dir/py, which isn't there.
		"link/../py": "/link/../py",
	} {
		got, err := locate(python)
		if err != nil || got != dir+want {
			t.Errorf("locate(%q) = %q, %v, want %q", python, got, err, dir+want)
		}
	}
}

func TestLocateName(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, path := range []string{"first/python3", "second/python3", "second/python", "second/python3.99", "third/python"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, path, "#!/bin/sh\n", 0o755)
	}
	tests := []struct {
		name, path, python, want string
	}{
		{"first entry wins", "{dir}/first:{dir}/second", "python3", "/first/python3"},
		{"other order", "{dir}/second:{dir}/first", "python3", "/second/python3"},
		{"default is python3", "{dir}/third:{dir}/second", "", "/second/python3"},
		{"default may be python", "{dir}/third", "", "/third/python"},
		{"a version", "{dir}/first:{dir}/second", "python3.99", "/second/python3.99"},
		{"a missing entry", "{dir}/none:{dir}/first", "", "/first/python3"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("PATH", strings.ReplaceAll(test.path, "{dir}", dir))
			got, err := locate(test.python)
			if err != nil || got != dir+test.want {
				t.Errorf("locate(%q) = %q, %v, want %q", test.python, got, err, dir+test.want)
			}
		})
	}
}

func TestLocateIgnoresRelativePATH(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "python3", "#!/bin/sh\n", 0o755)
	for _, path := range []string{".", "", ":"} {
		t.Run(path, func(t *testing.T) {
			t.Setenv("PATH", path)
			for _, python := range []string{"python3", ""} {
				got, err := locate(python)
				if !errors.Is(err, ErrNotFound) {
					t.Errorf("locate(%q) with PATH=%q = %q, %v, want ErrNotFound", python, path, got, err)
				}
			}
		})
	}
}

func TestDisplay(t *testing.T) {
	for path, want := range map[string]string{
		"/usr/bin/python3": "/usr/bin/python3",
		"/opt/é/python":    "/opt/é/python",
		"":                 `""`,
		"/a b/python":      `"/a b/python"`,
		"a\nb":             `"a\nb"`,
		"a\xffb":           `"a\xffb"`,
		`a"b`:              `"a\"b"`,
	} {
		if got := display(path); got != want {
			t.Errorf("display(%q) = %s, want %s", path, got, want)
		}
	}
}
