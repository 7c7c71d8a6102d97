package interpreter

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// locate returns the absolute path of the file that python names, which is an
// executable regular file or a link to one.
func locate(python string) (string, error) {
	switch {
	case python == "":
		return locateDefault()
	case strings.ContainsRune(python, 0):
		return "", fail(python, ErrNotExecutable, "a path can't hold a NUL; %s", setAnother)
	case !strings.Contains(python, "/"):
		return lookUp(python)
	}
	path, err := absolute(python)
	if err != nil {
		return "", fail(python, ErrNotExecutable, "it is relative, and the working directory is unknown: %w", err)
	}
	if err := checkExecutable(path); err != nil {
		return "", fail(path, ErrNotExecutable, "%w; %s", err, setAnother)
	}
	return path, nil
}

// locateDefault returns python3 of PATH, or python.
func locateDefault() (string, error) {
	for _, name := range []string{"python3", "python"} {
		path, err := lookUp(name)
		if !errors.Is(err, ErrNotFound) {
			return path, err
		}
	}
	return "", fail("python3", ErrNotFound, "tried python3 and python in %s; install CPython 3.9 or newer, or set Config.Python or --python to its path",
		pathVariable())
}

// lookUp returns the executable that a name without a slash has on PATH.
// Entries of PATH that are relative never count: what they mean depends on where
// the host happens to run.
func lookUp(name string) (string, error) {
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		return "", fail(name, ErrNotFound, "only a relative entry of PATH has it, as %s; write ./%s to use that one", display(path), name)
	}
	if err != nil {
		return "", fail(name, ErrNotFound, "looked in %s; %s", pathVariable(), setAnother)
	}
	if err := checkExecutable(path); err != nil {
		return "", fail(path, ErrNotExecutable, "%w; %s", err, setAnother)
	}
	return path, nil
}

// pathVariable returns PATH as a message shows it.
func pathVariable() string {
	if path := os.Getenv("PATH"); path != "" {
		return "PATH=" + path
	}
	return "PATH, which is empty"
}

// absolute returns path from the working directory of now. Dots are removed only
// where that can't change what the path means: a/../b is another file than b
// when a is a link.
func absolute(path string) (string, error) {
	if !filepath.IsAbs(path) {
		directory, err := os.Getwd()
		if err != nil {
			return "", err
		}
		path = directory + "/" + path
	}
	if strings.Contains(path, "..") {
		return path, nil
	}
	return filepath.Clean(path), nil
}

// checkExecutable returns what is wrong with the file at path, if it isn't an
// executable regular file. The words follow "not an executable regular file: ".
func checkExecutable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return wordedError{"there is no such file", err}
	case err != nil:
		return err
	case info.IsDir():
		return wordedError{"it is a directory", fs.ErrInvalid}
	case !info.Mode().IsRegular():
		return wordedError{"it is a special file", fs.ErrInvalid}
	case info.Mode().Perm()&0o111 == 0:
		return wordedError{"it has no execute permission", fs.ErrPermission}
	}
	return nil
}

// A wordedError says an error of the system in plain words.
type wordedError struct {
	words string
	err   error
}

func (e wordedError) Error() string { return e.words }

func (e wordedError) Unwrap() error { return e.err }
