package interpreter

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail/internal/pythons"
	"github.com/thirdrail-dev/thirdrail/python"
)

// ownAccount makes an interpreter tell what Find should know of it. The number
// of bytes is what it takes to load the code on stdin, as a child does.
const ownAccount = `
import builtins, json, marshal, os, sys
names = []
for name, is_package, code in marshal.loads(sys.stdin.buffer.read()):
    module = type(sys)(name)
    module.__package__ = name if is_package else name.rpartition(".")[0]
    if is_package:
        module.__path__ = []
    module.__builtins__ = dict(builtins.__dict__)
    sys.modules[name] = module
    if type(code) is bytes:
        code = marshal.loads(code)
    exec(code, module.__dict__)
    names.append([name, code.co_filename, module.__doc__])
pages = int(open("/proc/self/statm").read().split()[0])
print(json.dumps({
    "Version": "%d.%d.%d" % sys.version_info[:3], "Path": sys.executable,
    "Prefix": sys.prefix, "BasePrefix": sys.base_prefix, "ExecPrefix": sys.exec_prefix,
    "SysPath": sys.path, "Bytes": pages * os.sysconf("SC_PAGE_SIZE"), "Names": names,
}))
`

type account struct {
	Version, Path, Prefix, BasePrefix, ExecPrefix string
	SysPath                                       []string
	Bytes                                         int64
	Names                                         [][]any
}

// ask returns the account of the interpreter at path, which loads code.
func ask(t *testing.T, path string, code []byte) account {
	t.Helper()
	command := exec.Command(path, "-I", "-B", "-c", ownAccount)
	command.Env = cleanEnvironment()
	command.Stdin = bytes.NewReader(code)
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var result account
	if err := json.Unmarshal(output, &result); err != nil {
		t.Fatal(err)
	}
	return result
}

// checkTrue fails unless what was found is what the interpreter says of itself.
func checkTrue(t *testing.T, found *Interpreter) {
	t.Helper()
	want := ask(t, found.Path, found.Code)
	got := account{
		Version: found.Version.String(), Path: found.Path,
		Prefix: found.Prefix, BasePrefix: found.BasePrefix, ExecPrefix: found.ExecPrefix,
		SysPath: found.SysPath, Bytes: want.Bytes,
	}
	for _, module := range python.Modules() {
		// Docstrings are compiled away.
		got.Names = append(got.Names, []any{module.Name, "<thirdrail>/" + module.File, nil})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what %s says of itself (-) and what was found (+):\n%s", found.Path, diff)
	}
	// The account has the json module on top, and the probe had a compiler.
	const slack = 16 << 20
	if found.BareBytes < want.Bytes-slack || found.BareBytes > want.Bytes+slack {
		t.Errorf("BareBytes %d, want about %d", found.BareBytes, want.Bytes)
	}
	if found.Bits != 64 && found.Bits != 32 {
		t.Errorf("Bits %d", found.Bits)
	}
}

func TestFindEveryInterpreter(t *testing.T) {
	pythons.Each(t, func(t *testing.T, path string) {
		found, err := Find(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if found.Path != path {
			t.Errorf("Path %s, want %s", found.Path, path)
		}
		if !found.Version.AtLeast(3, 9) {
			t.Errorf("version %s", found.Version)
		}
		if found.Ctypes != (exec.Command(path, "-I", "-c", "import _ctypes").Run() == nil) {
			t.Errorf("Ctypes %t is wrong", found.Ctypes)
		}
		checkTrue(t, found)
	})
}

func TestFindOldInterpreters(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	var old []string
	for _, pattern := range []string{"2.7.*", "3.[0-8].*"} {
		paths, err := filepath.Glob(filepath.Join(home, ".pyenv", "versions", pattern, "bin", "python"))
		if err != nil {
			t.Fatal(err)
		}
		old = append(old, paths...)
	}
	if len(old) == 0 {
		t.Skip("no Python older than 3.9 under ~/.pyenv/versions; TestFindRefusesFakes has stand-ins")
	}
	for _, path := range old {
		version := filepath.Base(filepath.Dir(filepath.Dir(path)))
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			_, err := Find(t.Context(), path)
			checkError(t, err, ErrTooOld, "needs 3.9 or newer, "+path+" is "+version+"; set Config.Python or --python to a newer one")
		})
	}
}

func TestFindBehindWrappers(t *testing.T) {
	real := pythons.All(t)[0]
	for name, body := range map[string]string{
		"exec":               `exec ` + real + ` "$@"`,
		"not exec":           real + ` "$@"`,
		"fails afterwards":   real + ` "$@"; exit 9`,
		"prints before":      `echo starting "$@"; ` + real + ` "$@"`,
		"prints after":       real + ` "$@"; echo done`,
		"leaves a process":   `sleep 300 & echo $! >"$0.pids"; exec ` + real + ` "$@"`,
		"sets its own paths": `PYTHONHOME=/none PYTHONPATH=/none exec ` + real + ` "$@"`,
		"pyenv shim": `set -e
program="${0##*/}"
export PYENV_ROOT=` + filepath.Dir(filepath.Dir(real)) + `
exec env bash -c 'exec "$PYENV_ROOT/bin/$0" "$@"' "$program" "$@"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := script(t, "python3", body)
			found, err := Find(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if found.Path != real {
				t.Errorf("Path %s, want %s", found.Path, real)
			}
			checkTrue(t, found)
			if name == "leaves a process" {
				checkGone(t, path+".pids")
			}
		})
	}
}

func TestFindNeedsTheSameInterpreterBehindAWrapper(t *testing.T) {
	real := pythons.All(t)[0]
	for name, test := range map[string]struct {
		executable string
		changes    []string
	}{
		"another version": {real, []string{"version", "3.99.0"}},
		"another prefix":  {real, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := script(t, "python3", answeringHealthy(test.executable, test.changes...))
			_, err := Find(t.Context(), path)
			checkError(t, err, ErrNotPython, "when started directly")
		})
	}
	t.Run("a chain", func(t *testing.T) {
		t.Parallel()
		inner := script(t, "python3", `exec `+real+` "$@"`)
		_, err := Find(t.Context(), script(t, "python3", answeringHealthy(inner)))
		checkError(t, err, ErrNotPython, "when started directly")
	})
	t.Run("an old one", func(t *testing.T) {
		t.Parallel()
		inner := script(t, "python3", answering("implementation", "cpython", "version", "3.7.1"))
		_, err := Find(t.Context(), script(t, "python3", answeringHealthy(inner)))
		checkError(t, err, ErrTooOld, inner+" is 3.7.1")
	})
}

func TestFindIsFrozen(t *testing.T) {
	all := pythons.All(t)
	dir := t.TempDir()
	for i, path := range []string{all[0], all[len(all)-1]} {
		folder := filepath.Join(dir, string(rune('a'+i)))
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, "python3"), "#!/bin/sh\nexec "+path+` "$@"`, 0o755)
	}
	for i, want := range []string{all[0], all[len(all)-1]} {
		t.Setenv("PATH", filepath.Join(dir, string(rune('a'+i)))+":/usr/bin:/bin")
		for _, name := range []string{"", "python3"} {
			found, err := Find(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			if found.Path != want {
				t.Errorf("Find(%q) with PATH=%s: %s, want %s", name, os.Getenv("PATH"), found.Path, want)
			}
		}
	}
}

func TestFindPassesTheShimItsVersion(t *testing.T) {
	all := pythons.All(t)
	t.Setenv("PYENV_TEST_CHOICE", all[len(all)-1])
	t.Setenv("SECRET_TOKEN", "hush")
	path := script(t, "python3", `[ -z "$SECRET_TOKEN" ] || { echo "knows $SECRET_TOKEN" >&2; exit 1; }
exec "${PYENV_TEST_CHOICE:-`+all[0]+`}" "$@"`)
	found, err := Find(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if found.Path != all[len(all)-1] {
		t.Errorf("Path %s, want %s", found.Path, all[len(all)-1])
	}
}

// venv makes a virtual environment and returns its directory.
func venv(t *testing.T, python string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "venv")
	output, err := exec.Command(python, "-I", "-m", "venv", "--without-pip", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return dir
}

func TestFindKeepsVirtualEnvironment(t *testing.T) {
	real := pythons.All(t)[0]
	dir := venv(t, real)
	for name, path := range map[string]string{
		"directly":          filepath.Join(dir, "bin", "python3"),
		"behind a wrapper":  script(t, "python3", "exec "+dir+`/bin/python3 "$@"`),
		"by its other name": filepath.Join(dir, "bin", "python"),
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Find(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Dir(found.Path) != filepath.Join(dir, "bin") {
				t.Errorf("Path %s is outside of %s", found.Path, dir)
			}
			if found.Prefix != dir || found.BasePrefix == dir {
				t.Errorf("Prefix %s and BasePrefix %s, want the first to be %s", found.Prefix, found.BasePrefix, dir)
			}
			checkTrue(t, found)
		})
	}
}

func TestFindWithNoisySiteFiles(t *testing.T) {
	for name, line := range map[string]string{
		"prints":          `import sys; print("welcome", sys.argv); sys.stderr.write("hm\n")`,
		"prints at exit":  `import atexit; atexit.register(print, "bye")`,
		"prints a lot":    `import sys; sys.stdout.write("x" * 1000000)`,
		"closes stdout":   `import sys; sys.stdout = None`,
		"replaces stdout": `import io, sys; sys.stdout = io.StringIO()`,
		"prints NULs":     `import os; os.write(1, bytes(100))`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := venv(t, pythons.All(t)[0])
			site, err := filepath.Glob(filepath.Join(dir, "lib", "python3.*", "site-packages"))
			if err != nil || len(site) != 1 {
				t.Fatalf("site-packages of the environment: %q, %v", site, err)
			}
			write(t, filepath.Join(site[0], "noise.pth"), line+"\n", 0o644)
			found, err := Find(t.Context(), filepath.Join(dir, "bin", "python3"))
			if err != nil {
				t.Fatal(err)
			}
			if found.Prefix != dir || len(found.Code) == 0 {
				t.Errorf("Prefix %s and %d bytes of code", found.Prefix, len(found.Code))
			}
		})
	}
}

func TestFindInOddPlaces(t *testing.T) {
	real := pythons.All(t)[0]
	for _, name := range []string{"with space", "é", "new\nline", `quo"te`, "byte\xff"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), name)
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "python3")
			if err := os.Symlink(real, path); err != nil {
				t.Fatal(err)
			}
			found, err := Find(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if found.Path != path {
				t.Errorf("Path %q, want %q", found.Path, path)
			}
		})
	}
}

// TestFindWritesNothing: no caches, neither in the environment nor in HOME or the
// working directory.
func TestFindWritesNothing(t *testing.T) {
	real := pythons.All(t)[0] // found before HOME changes
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Chdir(t.TempDir())
	dir := venv(t, real)
	before := listing(t, dir)
	if _, err := Find(t.Context(), filepath.Join(dir, "bin", "python3")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
		t.Errorf("the environment changed:\n%s", diff)
	}
	for _, empty := range []string{home, "."} {
		if files := listing(t, empty); len(files) > 0 {
			t.Errorf("%s holds %q", empty, files)
		}
	}
}

// listing returns the files below dir.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if path != dir {
			paths = append(paths, strings.TrimPrefix(path, dir))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	return paths
}

func TestVersionAtLeast(t *testing.T) {
	for _, test := range []struct {
		version      Version
		major, minor int
		want         bool
	}{
		{Version{3, 9, 0}, 3, 9, true},
		{Version{3, 10, 1}, 3, 9, true},
		{Version{3, 8, 18}, 3, 9, false},
		{Version{2, 7, 18}, 3, 9, false},
		{Version{2, 99, 0}, 3, 9, false},
		{Version{4, 0, 0}, 3, 9, true},
	} {
		if got := test.version.AtLeast(test.major, test.minor); got != test.want {
			t.Errorf("%s at least %d.%d: %t, want %t", test.version, test.major, test.minor, got, test.want)
		}
	}
}
