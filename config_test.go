package thirdrail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/pythons"
	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// misuses are configurations that New refuses, and what it says.
var misuses = []struct {
	name   string
	config Config
	says   string
}{
	{"negative wall", Config{Limits: Limits{Wall: -5 * time.Second}}, "Limits.Wall"},
	{"negative cpu", Config{Limits: Limits{CPU: -1}}, "Limits.CPU"},
	{"negative memory", Config{Limits: Limits{Memory: -1}}, "Limits.Memory"},
	{"negative calls", Config{Limits: Limits{CallsInFlight: -1}}, "Limits.CallsInFlight"},
	{"negative logs", Config{Limits: Limits{LogBytes: -1}}, "Limits.LogBytes"},
	{"negative value", Config{Limits: Limits{ValueBytes: -1}}, "Limits.ValueBytes"},
	{"negative frame", Config{Limits: Limits{FrameBytes: -1}}, "Limits.FrameBytes"},
	{"negative processes", Config{Limits: Limits{Processes: -1}}, "Limits.Processes"},
	{"negative disk", Config{Limits: Limits{DiskBytes: -1}}, "Limits.DiskBytes"},
	{"value beyond exact integers", Config{Limits: Limits{ValueBytes: 1 << 53, FrameBytes: 1 << 54}}, "2^53-1"},
	{"memory beyond exact integers", Config{Limits: Limits{Memory: 1<<53 + 1}}, "2^53-1"},
	{"logs smaller than their marker", Config{Limits: Limits{LogBytes: 40}}, "Limits.LogBytes"},
	{"value over the frame", Config{Limits: Limits{ValueBytes: 64 << 20}}, "FrameBytes"},
	{"logs over the frame", Config{Limits: Limits{FrameBytes: 1 << 20, LogBytes: 1<<20 - 4095}}, "FrameBytes"},
	{"frames too small", Config{Limits: Limits{FrameBytes: 4096, LogBytes: 100, ValueBytes: 1}}, "Limits.FrameBytes"},
	{"negative concurrency", Config{MaxConcurrent: -1}, "MaxConcurrent"},
	{"numbers", Config{Numbers: lossless.Numbers(7)}, "Config.Numbers"},
	{"start method", Config{Start: 9}, "StartMethod(9)"},
	{"preload without a fork", Config{Start: StartSpawn, Preload: []string{"numpy"}}, "import in the program"},
	{"preload of a path", Config{Preload: []string{"a/b.py"}}, `"a/b.py"`},
	{"preload of nothing", Config{Preload: []string{""}}, "the name of a module"},
	{"spares", Config{Spares: -1}, "Config.Spares is -1"},
	{"sandbox mode", Config{Sandbox: Sandbox{Mode: 9}}, "SandboxMode(9)"},
	{"a relative path", Config{Sandbox: Sandbox{AllowRead: []string{"etc"}}}, "absolute"},
	{"a path that isn't there", Config{Sandbox: Sandbox{AllowWrite: []string{"/none"}}}, "/none"},
	{"a program that isn't there", Config{Sandbox: Sandbox{AllowExec: []string{"/none"}}}, "AllowExec"},
	{"nothing to open", Config{Sandbox: Sandbox{Mode: SandboxOff, AllowNetwork: true}}, "nothing to open"},
	{"a mechanism that isn't one", Config{Sandbox: Sandbox{Allow: []string{"luck"}}}, "landlock, seccomp, pid-namespace"},
}

func TestMisuseOfNew(t *testing.T) {
	for _, m := range misuses {
		t.Run(m.name, func(t *testing.T) {
			rt, err := New(t.Context(), m.config)
			if rt != nil || !errors.Is(err, ErrMisuse) || !strings.Contains(err.Error(), m.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("New: %v; want a misuse in one line that says %q", err, m.says)
			}
		})
	}
}

// TestWrongPythons has what is no interpreter: New refuses each, and takes no other.
func TestWrongPythons(t *testing.T) {
	folder := t.TempDir()
	script := func(name, body string, mode os.FileMode) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+body+"\n"), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		python string
		says   []string
	}{
		{"/opt/none/python", []string{"/opt/none/python", "not an executable regular file"}},
		{script("plain", "", 0o600), []string{"plain", "not an executable regular file"}},
		{folder, []string{folder, "not an executable regular file"}},
		{"./missing-py", []string{"missing-py", "not an executable regular file"}},
		{"python-zzz", []string{"python-zzz", "PATH"}},
		{"a\x00b", []string{"NUL"}},
		{"/dev/null", []string{"/dev/null", "not an executable regular file"}},
		{script("fails", "echo no licence >&2; exit 9", 0o700), []string{"fails", "no licence", "9"}},
		{script("echoes", "echo \"$@\"", 0o700), []string{"echoes", "-I"}},
		{script("silent", "", 0o700), []string{"silent"}},
	} {
		rt, err := New(t.Context(), Config{Python: c.python})
		if err == nil {
			_ = rt.Close()
			t.Errorf("New took %q", c.python)
			continue
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v; want %q in it", c.python, err, part)
			}
		}
	}
}

// TestPythonIsFoundOnce changes what PATH and the working directory say after New.
func TestPythonIsFoundOnce(t *testing.T) {
	all := pythons.All(t)
	if len(all) < 2 {
		t.Skip("needs Python twice")
	}
	var folders []string
	for _, path := range all[:2] {
		folder := t.TempDir()
		text := "#!/bin/sh\nexec " + path + " \"$@\"\n"
		if err := os.WriteFile(filepath.Join(folder, "python3"), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, folder)
	}
	for _, python := range []string{"", "python3", "./python3"} {
		t.Setenv("PATH", folders[0])
		t.Chdir(folders[0])
		rt, err := New(t.Context(), Config{Python: python})
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", folders[1])
		t.Chdir(folders[1])
		result := run1(t, rt, "import sys\nreturn sys.executable", Limits{})
		if result.Value.String() != `"`+all[0]+`"` {
			t.Errorf("Python %q: ran %s, want %s", python, result.Value, all[0])
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestLeastMemory has limits below what the interpreter needs: they are refused
// with the least that works, which does work.
func TestLeastMemory(t *testing.T) {
	pythons.Each(t, func(t *testing.T, python string) {
		found := findPython(t, python)
		with := func(memory int64) (*Runtime, error) {
			config := Config{Limits: Limits{Memory: memory}}
			return newOn(t.Context(), config, config.Limits.inherit(DefaultLimits()), found)
		}
		for _, memory := range []int64{1, 1 << 20} {
			_, err := with(memory)
			if !errors.Is(err, ErrMisuse) || !strings.Contains(err.Error(), "Limits.Memory is "+strconv.FormatInt(memory, 10)) {
				t.Fatalf("Memory %d: %v, want misuse", memory, err)
			}
		}
		_, err := with(1)
		var least int64
		_, rest, _ := strings.Cut(err.Error(), "needs ")
		if _, scanErr := fmt.Sscanf(rest, "%d,", &least); scanErr != nil || least < 1<<20 || least > plentyOfMemory {
			t.Fatalf("%v names no least", err)
		}
		rt, err := with(least)
		if err != nil {
			t.Fatalf("the least, %d: %v", least, err)
		}
		defer rt.Close()
		for _, memory := range []int64{0, least} {
			if result := run1(t, rt, "return 1", Limits{Memory: memory}); result.Failure != nil {
				t.Errorf("in %d bytes: %v", memory, result.Err())
			}
		}
		// Measured in whole MiB, with one to spare.
		request := Request{Program: "return 1", Limits: Limits{Memory: max(least-3<<20, 1)}}
		if _, err := rt.Run(t.Context(), request); !errors.Is(err, ErrMisuse) {
			t.Errorf("Run in %d bytes: %v, want misuse", request.Limits.Memory, err)
		}
	})
}

// TestLimitsOfOneRun has what New refuses in a Request.
func TestLimitsOfOneRun(t *testing.T) {
	rt := newRuntime(t, Config{})
	for _, m := range misuses {
		if m.config.Limits == (Limits{}) {
			continue
		}
		result, err := rt.Run(t.Context(), Request{Program: "return 1", Limits: m.config.Limits})
		if result != nil || !errors.Is(err, ErrMisuse) || !strings.Contains(err.Error(), m.says) {
			t.Errorf("%s: %v, want a misuse that says %q", m.name, err, m.says)
		}
	}
}

// TestLimitsOnTheEdge has the least and the most that is taken.
func TestLimitsOnTheEdge(t *testing.T) {
	rt := newRuntime(t, Config{})
	marker, _ := lossless.StringSize(wire.LogTruncationMarker(47), 1000)
	for name, limits := range map[string]Limits{
		"value of one byte":       {ValueBytes: 1},
		"logs that hold a marker": {LogBytes: int64(marker)},
		"centuries":               {Wall: 1<<63 - 1, CPU: 1<<63 - 1},
		"2^53-1":                  {Memory: 1<<53 - 1, LogBytes: 1<<53 - 1 - 4096, ValueBytes: 1<<53 - 1 - 4096, FrameBytes: 1<<53 - 1, DiskBytes: 1<<53 - 1},
		"one call":                {CallsInFlight: 1, Processes: 1},
		"the frame's budgets":     {FrameBytes: 1 << 20, LogBytes: 1<<20 - 4096, ValueBytes: 1<<20 - 4096},
	} {
		result := run1(t, rt, "return await tools.echo(1)", limits)
		if result.Failure != nil || result.Value.String() != "1" {
			t.Errorf("%s: %v", name, result.Err())
		}
	}
}

func TestRunAfterClose(t *testing.T) {
	rt := newRuntime(t, Config{})
	if err := rt.Close(); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := rt.Run(ended, Request{Namespaces: []Namespace{{Global: "9"}}})
	if !errors.Is(err, ErrClosed) || !errors.Is(err, ErrMisuse) {
		t.Errorf("Run after Close: %v, want ErrClosed", err)
	}
	if err := rt.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

// TestOrderOfChecks has a misuse and an ended context: the misuse is told.
func TestOrderOfChecks(t *testing.T) {
	rt := newRuntime(t, Config{})
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the reason"))
	for _, request := range []Request{
		{Namespaces: []Namespace{{Global: "9lives"}}},
		{Limits: Limits{Wall: -1}},
		{Program: "\xff"},
		{Namespaces: []Namespace{{Global: "data"}}, Data: lossless.Null},
	} {
		if _, err := rt.Run(ended, request); !errors.Is(err, ErrMisuse) {
			t.Errorf("Run: %v, want misuse", err)
		}
	}
	result, err := rt.Run(ended, Request{Program: "return 1"})
	if err != nil {
		t.Fatal(err)
	}
	f := result.Failure
	if f == nil || f.Kind != Abort || !strings.Contains(f.Message, "the reason") || !errors.Is(f, context.Canceled) || result.Stats.Start != "" || len(result.Logs) > 0 {
		t.Errorf("%+v, want an abort that names the reason, and nothing started", result)
	}
}
