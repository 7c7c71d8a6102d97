//go:build linux

package thirdrail

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/child"
)

// limitWalls are kinds of confinement that hold limits in different ways.
var limitWalls = []struct {
	name    string
	sandbox Sandbox
	among   []child.Isolation
}{
	{name: "all"},
	{name: "without own root", among: []child.Isolation{child.ProcessGroup}},
	{name: "processes", sandbox: Sandbox{AllowProcesses: true}},
	{name: "processes of the host's user", sandbox: Sandbox{AllowProcesses: true, AllowRead: []string{"/usr/share"}}},
	{name: "processes without own root", sandbox: Sandbox{AllowProcesses: true, Allow: []string{MechanismProcesses}}, among: []child.Isolation{child.ProcessGroup}},
}

// overLimits are programs that go over a limit, and what must be said of it.
var overLimits = []struct {
	name    string
	several bool // needs AllowProcesses
	limits  Limits
	program string
	says    []string // one of them must be in the message
	kinds   []FailureKind
}{
	{
		name: "memory", program: "keep = []\nwhile True: keep.append(bytearray(1 << 20))",
		says: []string{"memory limit of 64 MiB"}, kinds: []FailureKind{Exception},
	},
	{
		name: "memory by threads", program: "import threading, time\nfor i in range(5000): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
		says: []string{"memory limit of 64 MiB", "limit of processes"}, kinds: []FailureKind{Exception, WorkerExit},
	},
	{
		name: "memory of several", several: true,
		program: "import os, time\nfor i in range(8):\n    if os.fork() == 0:\n        keep = bytearray(os.urandom(1 << 20) * 40)\n        time.sleep(60)\nos.wait()",
		says:    []string{"memory limit of 64 MiB"}, kinds: []FailureKind{WorkerExit},
	},
	{
		name: "CPU", program: "while True: pass", limits: Limits{CPU: 300 * time.Millisecond},
		says: []string{"CPU time limit of 300ms"}, kinds: []FailureKind{Timeout},
	},
	{
		name: "CPU of several", several: true, limits: Limits{CPU: 300 * time.Millisecond},
		program: "import os, time\nfor i in range(2):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork(): os._exit(0)\n        while True: pass\ntime.sleep(60)",
		says:    []string{"CPU time limit of 300ms"}, kinds: []FailureKind{Timeout},
	},
	{
		name: "processes", several: true, limits: Limits{Processes: 8},
		program: "import os, time\nfor i in range(100):\n    if os.fork() == 0:\n        time.sleep(60)\n        os._exit(0)\ntime.sleep(60)",
		says:    []string{"8 processes and threads at once"}, kinds: []FailureKind{Exception, WorkerExit},
	},
	{
		name: "a bomb of processes", several: true, limits: Limits{Processes: 8},
		program: "import os\nwhile True: os.fork()",
		says:    []string{"8 processes and threads at once", "CPU time limit"}, kinds: []FailureKind{Exception, WorkerExit, Timeout},
	},
	{
		name: "disk by one file", program: "with open('f', 'wb') as f: f.write(bytes(9 << 20))",
		// Without a file system of its own, the host may see the full file first.
		says: []string{"8 MiB of disk (its disk limit)", "disk limit of 8 MiB"}, kinds: []FailureKind{Exception, WorkerExit},
	},
	{
		name: "disk by several files", program: "import time\nfor i in range(32):\n    with open('f%d' % i, 'wb') as f: f.write(bytes(1 << 20))\ntime.sleep(60)",
		says: []string{"8 MiB of disk (its disk limit)", "disk limit of 8 MiB"}, kinds: []FailureKind{Exception, WorkerExit},
	},
	{
		name: "disk by empty files", program: "import os, time\nfor i in range(2500):\n    os.close(os.open('f%d' % i, os.O_CREAT | os.O_WRONLY))\nos.mkdir('d')\nfor i in range(2500): os.mkdir('d/%d' % i)\ntime.sleep(60)",
		says: []string{"8 MiB of disk (its disk limit)", "disk limit of 8 MiB"}, kinds: []FailureKind{Exception, WorkerExit},
	},
	{
		name: "disk by removed files", program: "import os, time\nkeep = []\nfor i in range(32):\n    keep.append(open('f', 'wb', buffering=0))\n    os.unlink('f')\n    if keep[-1].write(bytes(1 << 20)) != 1 << 20: raise OSError(28, 'a part')\ntime.sleep(60)",
		says: []string{"8 MiB of disk (its disk limit)", "disk limit of 8 MiB"}, kinds: []FailureKind{Exception, WorkerExit},
	},
	{
		name: "open files", program: "keep = [open('/dev/null') for i in range(300)]",
		says: []string{"256 files open at once (its limit of open files)"}, kinds: []FailureKind{Exception},
	},
	{
		name: "wall", program: "import time\ntime.sleep(60)", limits: Limits{Wall: 300 * time.Millisecond},
		says: []string{"wall time limit of 300ms"}, kinds: []FailureKind{Timeout},
	},
}

// withinLimits are programs that stay just below, and succeed.
var withinLimits = []struct {
	name    string
	several bool
	program string
}{
	{"memory", false, "x = bytearray(40 << 20)\nreturn 1"},
	{"disk", false, "for i in range(6):\n    with open('f%d' % i, 'wb') as f: f.write(bytes(1 << 20))\nreturn 1"},
	{"one file by several names", false, "import os, time\nwith open('f', 'wb') as f: f.write(bytes(3 << 20))\nfor i in range(50):\n    try: os.link('f', 'l%d' % i)\n    except OSError: pass\ntime.sleep(0.3)\nreturn 1"},
	{"open files", false, "keep = [open('/dev/null') for i in range(200)]\nreturn 1"},
	{"processes", true, "import os\nfor i in range(20):\n    pid = os.fork()\n    if pid == 0: os._exit(0)\n    os.waitpid(pid, 0)\nreturn 1"},
	{"shared memory of several", true, "import os, time\nkeep = bytearray(os.urandom(1 << 20) * 30)\npids = []\nfor i in range(4):\n    pids.append(os.fork())\n    if pids[-1] == 0:\n        time.sleep(0.3)\n        os._exit(0)\nfor pid in pids: os.waitpid(pid, 0)\nreturn 1"},
}

// limitRuntime returns a runtime with one of those walls.
func limitRuntime(t *testing.T, sandbox Sandbox, among []child.Isolation) *Runtime {
	t.Helper()
	rt, err := newOn(t.Context(), Config{Sandbox: sandbox}, small.inherit(DefaultLimits()), findPython(t, systemPython(t)), among...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, rt.Close()) })
	return rt
}

// TestLimitsHoldForTheWholeRun goes over each limit inside each kind of walls.
func TestLimitsHoldForTheWholeRun(t *testing.T) {
	t.Parallel()
	for _, walls := range limitWalls {
		t.Run(walls.name, func(t *testing.T) {
			rt := limitRuntime(t, walls.sandbox, walls.among)
			for _, c := range overLimits {
				if c.several && !walls.sandbox.AllowProcesses {
					continue
				}
				t.Run(c.name, func(t *testing.T) {
					result := run1(t, rt, c.program, c.limits)
					if result.Failure == nil || !slices.Contains(c.kinds, result.Failure.Kind) {
						t.Fatalf("got %+v", result.Err())
					}
					if !slices.ContainsFunc(c.says, func(part string) bool { return strings.Contains(result.Failure.Message, part) }) {
						t.Errorf("%q has none of %q", result.Failure.Message, c.says)
					}
				})
			}
			for _, c := range withinLimits {
				if c.several && !walls.sandbox.AllowProcesses {
					continue
				}
				t.Run("within "+c.name, func(t *testing.T) {
					if result := run1(t, rt, c.program, Limits{}); result.Failure != nil {
						t.Error(result.Err())
					}
				})
			}
		})
	}
}

// TestReportTellsWhatHolds compares Report with the walls.
func TestReportTellsWhatHolds(t *testing.T) {
	for _, walls := range limitWalls {
		rt := limitRuntime(t, walls.sandbox, walls.among)
		report := rt.Report()
		var names []string
		for _, limit := range report.Limits {
			names = append(names, limit.Limit)
			watched := strings.Contains(limit.By, "host's look")
			w := rt.confinement.watched
			want := map[string]bool{"CPU": rt.confinement.groups == nil, "Memory": w.memory, "Processes": w.processes, "DiskBytes": w.disk}[limit.Limit]
			if watched != want {
				t.Errorf("%s: %+v, and the host watches %+v", walls.name, limit, w)
			}
		}
		if want := []string{"CPU", "Memory", "Processes", "DiskBytes", "OpenFiles"}; !slices.Equal(names, want) {
			t.Errorf("%s: limits %q", walls.name, names)
		}
	}
}
