//go:build linux

package thirdrail

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/child"
)

// wrappers start other commands. The first word is looked up on PATH.
var wrappers = []struct {
	name    string
	wrapper []string
}{
	{"a shell that becomes the interpreter", []string{"sh", "-c", `exec "$@"`, "sh"}},
	{"a shell that stays", []string{"sh", "-c", `"$@"; exit $?`, "sh"}},
	{"bubblewrap", []string{"bwrap", "--dev-bind", "/", "/"}},
	{"bubblewrap with walls", []string{
		"bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--bind", "TMPDIR", "TMPDIR",
		"--unshare-net", "--unshare-pid", "--unshare-ipc", "--proc", "/proc", "--die-with-parent",
	}},
}

// withFolder returns a wrapper with the folder for temporary files in its place.
func withFolder(wrapper []string) []string {
	list := slices.Clone(wrapper)
	for i, word := range list {
		if word == "TMPDIR" {
			list[i] = os.TempDir()
		}
	}
	return list
}

// TestWrapper runs programs that end in all ways in each wrapper.
func TestWrapper(t *testing.T) {
	findPython(t, systemPython(t)) // opens what stays open
	for _, c := range wrappers {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath(c.wrapper[0]); err != nil {
				t.Fatalf("%v; .ci/run installs it", err)
			}
			leavesNothing(t)
			wrapped(t, limitRuntime(t, Sandbox{Wrapper: withFolder(c.wrapper)}, nil))
		})
	}
	for _, c := range wrappers[1:] {
		t.Run(c.name+", and nothing else", func(t *testing.T) {
			leavesNothing(t)
			rt := limitRuntime(t, Sandbox{Mode: SandboxOff, Wrapper: withFolder(c.wrapper)}, []child.Isolation{child.ProcessGroup})
			wrapped(t, rt)
			// What loses its parent ends with the run all the same.
			run1(t, rt, "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(600)\n    os._exit(0)\nos.wait()", Limits{})
		})
	}
}

func wrapped(t *testing.T, rt *Runtime) {
	t.Helper()
	for program, want := range map[string]string{
		"import os\nopen('f', 'w').write('x')\nreturn [await tools.add(a=1), os.getcwd() == os.environ['HOME'], os.environ.get('SHELL')]": "[2,true,null]",
		"import os\nfor fd in range(5, 256):\n    try: os.fstat(fd)\n    except OSError: continue\n    return fd\nreturn 0":               "0",
	} {
		if result := run1(t, rt, program, Limits{}); result.Value.String() != want {
			t.Errorf("got %s, %v; want %s", result.Value, result.Err(), want)
		}
	}
	for program, want := range map[string]string{
		"while True: pass":                    "CPU time limit",
		"import os\nos.kill(os.getpid(), 9)":  "ended by signal SIGKILL",
		"import os\nos._exit(7)":              "code=7",
		"import ctypes\nctypes.string_at(0)":  "SIGSEGV",
		"import os\nos.abort()":               "SIGABRT",
		"keep = bytearray(1 << 30)":           "memory limit",
		"import os\nos.close(3)\nos._exit(0)": "",
	} {
		result := run1(t, rt, program, Limits{CPU: 300 * time.Millisecond, Wall: 3 * time.Second})
		if result.Failure == nil || !strings.Contains(result.Failure.Message, want) {
			t.Errorf("%q: got %v, want %q", program, result.Err(), want)
		}
	}
	report := rt.Report()
	if !slices.Equal(report.Wrapper, rt.wrapper) || !strings.HasPrefix(report.Wrapper[0], "/") {
		t.Errorf("Report has the wrapper %q", report.Wrapper)
	}
}

// badWrappers can't be used.
var badWrappers = []struct {
	name    string
	wrapper []string
	says    []string
	misuse  bool
}{
	{"missing", []string{"none-such"}, []string{`"none-such" can't be used`, "install it"}, true},
	{"no program", []string{"/etc/passwd"}, []string{"permission denied", "executable"}, true},
	{"an empty word", []string{""}, []string{"empty word"}, true},
	{"a NUL", []string{"sh", "\x00"}, []string{"NUL"}, true},
	{"fails", []string{"sh", "-c", "echo no luck >&2; exit 3"}, []string{"exit status 3", "no luck", "by hand"}, false},
	{"does nothing", []string{"true"}, []string{"exit status 0", "by hand"}, false},
	{"closes descriptors", []string{"sh", "-c", `exec "$@" 4>&-`, "sh"}, []string{"descriptors 0 to 4", "4 did not"}, false},
	{"another folder", []string{"sh", "-c", `cd /; exec "$@"`, "sh"}, []string{"workspace", "working directory"}, false},
}

func TestBadWrapper(t *testing.T) {
	findPython(t, systemPython(t))
	for _, c := range badWrappers {
		for _, mode := range []SandboxMode{SandboxStrict, SandboxOff} {
			t.Run(c.name+", "+mode.String(), func(t *testing.T) {
				leavesNothing(t)
				rt, err := New(t.Context(), Config{Python: systemPython(t), Sandbox: Sandbox{Mode: mode, Wrapper: c.wrapper}})
				if err == nil {
					must(t, rt.Close())
					t.Fatal("New takes it")
				}
				for _, part := range c.says {
					if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
						t.Errorf("%q lacks %q, or has several lines", err, part)
					}
				}
				if got := errors.Is(err, ErrMisuse); got != c.misuse {
					t.Errorf("misuse is %t: %v", got, err)
				}
			})
		}
	}
}
