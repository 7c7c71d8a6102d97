//go:build linux

package thirdrail

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// newForking returns a runtime with a nursery, and skips where there can be none.
func newForking(t *testing.T, config Config) *Runtime {
	t.Helper()
	probe := newSpawning(t, Config{Python: config.Python})
	if err := probe.canFork(); err != nil {
		t.Skipf("needs namespaces to fork children: %v", err)
	}
	config.Start = StartFork
	return newRuntime(t, config)
}

// nurseryFamily are the processes of a runtime's nursery: its keeper, itself, and
// what it forked.
func nurseryFamily(t *testing.T) (keeper, nursery int, children []int) {
	t.Helper()
	all := everybody()
	for _, k := range all {
		line, _ := os.ReadFile(filepath.Join("/proc", fmt.Sprint(k.pid), "cmdline"))
		if k.alive && strings.HasSuffix(string(line), "\x00nursery\x00") {
			switch parent := all[k.parent]; {
			case k.parent == os.Getpid():
				keeper = k.pid
			case parent.parent == os.Getpid():
				nursery = k.pid
			}
		}
	}
	for _, k := range all {
		if k.alive && k.parent == nursery {
			children = append(children, k.pid)
		}
	}
	return keeper, nursery, children
}

// TestNurseryEnds kills or stops the nursery, or what holds it, while programs run
// and wait in calls. They end with a failure that says so, and the next run works.
func TestNurseryEnds(t *testing.T) {
	for _, c := range []struct {
		name    string
		nursery bool // or its keeper
		signal  syscall.Signal
	}{
		{"nursery killed", true, syscall.SIGKILL},
		{"keeper killed", false, syscall.SIGKILL},
		{"nursery segfaults", true, syscall.SIGSEGV},
	} {
		t.Run(c.name, func(t *testing.T) {
			temporary := leavesNothingOpen(t)
			rt := newForking(t, Config{MaxConcurrent: 4})
			var up, all sync.WaitGroup
			for _, program := range []string{"print('up')\nwhile True: pass", "print('up')\nawait tools.slow()", "print('up')\nimport time\ntime.sleep(600)"} {
				up.Add(1)
				all.Go(func() {
					var once sync.Once
					result, err := rt.Run(t.Context(), Request{Program: program, Namespaces: testNamespaces(), OnLog: func(string) { once.Do(up.Done) }})
					if err != nil || result.Failure == nil || result.Failure.Kind != WorkerExit || len(result.Logs) != 1 {
						t.Errorf("%v, %+v; want a worker-exit and the log", err, result)
					}
				})
			}
			up.Wait()
			keeper, nursery, _ := nurseryFamily(t)
			victim := keeper
			if c.nursery {
				victim = nursery
			}
			if err := syscall.Kill(victim, c.signal); err != nil {
				t.Fatalf("process %d: %v", victim, err)
			}
			all.Wait()
			for range 3 {
				if result := run1(t, rt, "return 1", Limits{}); result.Failure != nil || result.Stats.Start != "fork" {
					t.Errorf("afterwards: %v by %s", result.Failure, result.Stats.Start)
				}
			}
			if err := rt.Close(); err != nil {
				t.Error(err)
			}
			if left := processesOf(temporary); len(left) > 0 {
				t.Errorf("after Close: %q", left)
			}
		})
	}
}

// leavesNothingOpen fails the test when a folder is left when it ends.
func leavesNothingOpen(t *testing.T) string {
	t.Helper()
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Cleanup(func() {
		if paths, _ := filepath.Glob(temporary + "/thirdrail-*"); len(paths) > 0 {
			t.Errorf("left: %q", paths)
		}
	})
	return temporary
}

// TestNurseryStopped stops the nursery, as somebody does who debugs the host. The
// run that it should end is given up with it.
func TestNurseryStopped(t *testing.T) {
	rt := newForking(t, Config{})
	_, nursery, _ := nurseryFamily(t)
	ctx, cancel := context.WithCancel(t.Context())
	var once sync.Once
	began := time.Now()
	result, err := rt.Run(ctx, Request{Program: "print('up')\nwhile True: pass", OnLog: func(string) {
		once.Do(func() {
			_ = syscall.Kill(nursery, syscall.SIGSTOP)
			cancel()
		})
	}})
	if err != nil || result.Failure == nil || result.Failure.Kind != Abort {
		t.Errorf("%v, %+v; want an abort", err, result)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
	if result := run1(t, rt, "return 1", Limits{}); result.Failure != nil {
		t.Errorf("afterwards: %v", result.Failure)
	}
}

// TestSparesAreFresh kills every spare. Nobody notices.
func TestSparesAreFresh(t *testing.T) {
	rt := newForking(t, Config{Spares: 3})
	for range 5 {
		run1(t, rt, "return 1", Limits{})
		_, _, children := nurseryFamily(t)
		for _, pid := range children {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		eventually(t, "the spares are dead", func() bool {
			_, _, left := nurseryFamily(t)
			for _, pid := range left {
				for _, dead := range children {
					if pid == dead {
						return false
					}
				}
			}
			return true
		})
		if result := run1(t, rt, "return 1", Limits{}); result.Failure != nil {
			t.Errorf("%v", result.Failure)
		}
	}
}

// TestNurseryCantFork has a nursery that may open no more files: a run says so, and
// another works when it may again.
func TestNurseryCantFork(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to change another process's limits")
	}
	rt := newForking(t, Config{Spares: 1})
	run1(t, rt, "return 1", Limits{})
	_, nursery, _ := nurseryFamily(t)
	var usual unix.Rlimit
	set := func(limit unix.Rlimit) {
		t.Helper()
		// One that can't watch its children any more ends itself.
		if err := unix.Prlimit(nursery, unix.RLIMIT_NOFILE, &limit, nil); err != nil && err != unix.ESRCH {
			t.Fatal(err)
		}
	}
	if err := unix.Prlimit(nursery, unix.RLIMIT_NOFILE, nil, &usual); err != nil {
		t.Fatal(err)
	}
	few := usual
	few.Cur = 8 // those that are open, and none for a new child
	set(few)
	failed := false
	for range 4 { // spares were forked before
		result := run1(t, rt, "return 1", Limits{})
		if result.Failure == nil {
			continue
		}
		failed = true
		programCase{Kind: WorkerExit}.compare(t, result)
		if told := result.Failure.Message; strings.Contains(told, "could not be forked") && !strings.Contains(told, "raise RLIMIT_NOFILE (ulimit -n)") {
			t.Errorf("%s", told)
		}
	}
	set(usual)
	if !failed {
		t.Error("no run noticed")
	}
	for i := 0; ; i++ {
		result := run1(t, rt, "return 1", Limits{})
		if result.Failure == nil {
			break
		}
		if i == 10 {
			t.Fatalf("afterwards: %v", result.Failure)
		}
	}
}
