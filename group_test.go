//go:build linux

package thirdrail

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/child"
)

// withGroups returns a confined runtime whose runs have control groups.
func withGroups(t *testing.T, config Config) *Runtime {
	t.Helper()
	config.Python = systemPython(t)
	rt := newSpawning(t, config) // spares have groups of their own
	if rt.confinement.groups == nil {
		t.Skipf("needs a cgroup v2 that this user may write: %v", rt.confinement.ungroup)
	}
	return rt
}

// groupOf returns the folder of the control group of the test's only run.
func groupOf(t *testing.T, rt *Runtime) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(rt.confinement.groups.host.Path(), "run-*"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("control groups %q, %v; want one", paths, err)
	}
	return paths[0]
}

// TestRunIsInItsGroup looks for all processes of a run in its group.
func TestRunIsInItsGroup(t *testing.T) {
	rt := withGroups(t, Config{Sandbox: Sandbox{AllowProcesses: true}})
	seen := 0
	result, err := rt.Run(t.Context(), Request{
		Program:    "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(600)\n    os._exit(0)\nos.wait()\nprint('ready')\nreturn await tools.echo(a=1)",
		Namespaces: testNamespaces(),
		OnLog: func(string) {
			text, _ := os.ReadFile(filepath.Join(groupOf(t, rt), "cgroup.procs"))
			seen = len(strings.Fields(string(text)))
		},
	})
	if err != nil || result.Failure != nil {
		t.Fatal(err, result.Err())
	}
	if seen < 3 { // the keeper, the program and what it left
		t.Errorf("%d processes in the group", seen)
	}
	if !slices.Contains(result.Stats.Confinement, MechanismCgroup) {
		t.Errorf("Stats have %q", result.Stats.Confinement)
	}
	text, _ := os.ReadFile(filepath.Join(groupOf(t, rt), "cgroup.procs"))
	if len(text) > 0 {
		t.Errorf("processes %q are left in the group", text)
	}
}

// TestGroupVanishes has somebody remove the groups between runs: the next run gets
// another. Where none can be made any more, it is refused.
func TestGroupVanishes(t *testing.T) {
	leavesNothing(t)
	rt := withGroups(t, Config{})
	worksAgain(t, rt)
	must(t, os.Remove(groupOf(t, rt)))
	worksAgain(t, rt)
	host := rt.confinement.groups.host.Path()
	must(t, os.Remove(groupOf(t, rt)))
	must(t, os.Remove(host))
	worksAgain(t, rt)

	host = rt.confinement.groups.host.Path()
	must(t, os.Remove(groupOf(t, rt)))
	limit := filepath.Join(host, "cgroup.max.descendants")
	must(t, os.WriteFile(limit, []byte("0"), 0))
	result := run1(t, rt, "print('started')", Limits{})
	if result.Failure == nil || result.Failure.Kind != WorkerExit || len(result.Logs) > 0 ||
		!strings.Contains(result.Failure.Message, "control group") || strings.Contains(result.Failure.Message, "\n") {
		t.Errorf("got %+v, want a refusal in one line", result.Failure)
	}
	must(t, os.WriteFile(limit, []byte("max"), 0))
	worksAgain(t, rt)
}

// TestGroupIsLost has somebody move a run out of its group and remove that, while
// the run goes on.
func TestGroupIsLost(t *testing.T) {
	leavesNothing(t)
	rt := withGroups(t, Config{})
	result, err := rt.Run(t.Context(), Request{
		Program: "import time\nprint('ready')\ntime.sleep(0.1)\nreturn 1",
		OnLog: func(string) {
			group := groupOf(t, rt)
			elsewhere := filepath.Join(filepath.Dir(filepath.Dir(group)), "cgroup.procs")
			text, _ := os.ReadFile(filepath.Join(group, "cgroup.procs"))
			for _, pid := range strings.Fields(string(text)) {
				if err := os.WriteFile(elsewhere, []byte(pid), 0); err != nil {
					t.Error(err)
				}
			}
			if err := os.Remove(group); err != nil {
				t.Error(err)
			}
		},
	})
	if err != nil || result.Failure == nil || !strings.Contains(result.Failure.Message, "control group was lost") {
		t.Errorf("got %v, %+v", err, result.Err())
	}
	worksAgain(t, rt)
}

// TestGroupEndsAll kills what a process group alone would leave: processes without
// any mark of the run, out of its tree.
func TestGroupEndsAll(t *testing.T) {
	rt, err := newOn(t.Context(), Config{Sandbox: Sandbox{AllowProcesses: true, Allow: []string{MechanismProcesses}}},
		DefaultLimits(), findPython(t, systemPython(t)), child.ProcessGroup)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { must(t, rt.Close()) }()
	if rt.confinement.groups == nil {
		t.Skipf("needs a cgroup v2 that this user may write: %v", rt.confinement.ungroup)
	}
	for range 3 {
		result := run1(t, rt, "import os, sys\nif os.fork() == 0:\n    os.setsid()\n    while True:\n        if os.fork(): os._exit(0)\n        os.setsid()\nreturn 1", Limits{})
		if result.Failure != nil && result.Failure.Kind == Exception {
			t.Fatal(result.Err())
		}
		text, _ := os.ReadFile(filepath.Join(groupOf(t, rt), "cgroup.procs"))
		if len(text) > 0 {
			t.Errorf("processes %q are left", text)
		}
	}
}

// TestGroupOfKilledHost kills a host with runs: the next one removes its groups.
func TestGroupOfKilledHost(t *testing.T) {
	rt := withGroups(t, Config{})
	parent := filepath.Dir(rt.confinement.groups.host.Path())
	command, _ := hostCommand(t, hostScript{Config: Config{Python: systemPython(t)}, Program: "import time\nprint('up')\ntime.sleep(600)", Stay: true}, 0)
	output, err := command.StdoutPipe()
	must(t, errors.Join(err, command.Start()))
	buffer := make([]byte, 64)
	for said := ""; strings.Count(said, "\n") < 2; { // it has begun, and the run has printed
		n, err := output.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		said += string(buffer[:n])
	}
	pattern := filepath.Join(parent, "thirdrail-"+strconv.Itoa(command.Process.Pid)+"-*")
	if paths, _ := filepath.Glob(pattern); len(paths) != 1 {
		t.Errorf("the host has the groups %q", paths)
	}
	must(t, command.Process.Kill())
	_ = command.Wait()
	next := withGroups(t, Config{})
	if paths, _ := filepath.Glob(pattern); len(paths) > 0 {
		t.Errorf("left behind: %q", paths)
	}
	worksAgain(t, next)
}

// TestLimitsAsNobody has a host without rights: a user namespace of their own has
// the kernel count the processes of runs, and wrappers work.
func TestLimitsAsNobody(t *testing.T) {
	const bomb = "import os, time\nfor i in range(100):\n    if os.fork() == 0:\n        time.sleep(60)\n        os._exit(0)"
	processes := Config{Python: systemPython(t), Sandbox: Sandbox{AllowProcesses: true}, Limits: Limits{Processes: 8, Wall: 20 * time.Second}}
	wrapped := Config{Python: systemPython(t), Sandbox: Sandbox{Wrapper: []string{"bwrap", "--dev-bind", "/", "/"}}}
	for _, c := range []struct {
		name      string
		config    Config
		isolation []child.Isolation
		program   string
		value     string
		says      string
	}{
		{"processes", processes, nil, bomb, "", "limit of processes"},
		{"fewer processes", processes, nil, "import os\npids = []\nfor i in range(6):\n    pids.append(os.fork())\n    if pids[-1] == 0: os._exit(0)\nfor pid in pids: os.waitpid(pid, 0)\nreturn 1", "1", ""},
		{"a wrapper", wrapped, nil, "return await tools.add(a=1)", "2", ""},
		{"a wrapper without namespaces", wrapped, []child.Isolation{child.ProcessGroup}, "return await tools.add(a=1)", "2", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := runHost(t, hostScript{Config: c.config, Isolation: c.isolation, Program: c.program}, nobody)
			if report.Value != c.value || !strings.Contains(report.Message, c.says) {
				t.Errorf("got %+v", report)
			}
		})
	}
	processes.Start = StartFork // where all children would be counted as one
	report := runHost(t, hostScript{Config: processes, Program: "return 1"}, nobody)
	if report.Value != "" || !strings.Contains(report.NewError, "only root can give each child a user of its own") {
		t.Errorf("forks: got %+v", report)
	}
}
