package thirdrail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/child"
)

// mixedRun is a program and how it ends.
type mixedRun struct {
	program string
	kind    FailureKind
	limits  Limits
}

const misused = FailureKind("misuse") // not run at all

// mixed are programs of every ending, good and hostile.
var mixed = []mixedRun{
	{"return 1", "", Limits{}},
	{"print('x' * 1000)\nreturn await tools.echo([1, 2, 3])", "", Limits{}},
	{"1 / 0", Exception, Limits{}},
	{"def (", Exception, Limits{}},
	{"bytearray(10 ** 11)", Exception, Limits{}},
	{"keep = []\nwhile True: keep.append(bytes(1 << 20))", Exception, Limits{Memory: 64 << 20}},
	{"raise SystemExit('no')", Exception, Limits{}},
	{"return {1}", InvalidOutput, Limits{}},
	{"return 'x' * (2 << 20)", OutputLimit, Limits{}},
	{"import os\nos._exit(3)", WorkerExit, Limits{}},
	{"import os\nos.kill(os.getpid(), 9)", WorkerExit, Limits{}},
	{"import os\nos.close(3)", WorkerExit, Limits{}},
	{"import os\nos.closerange(0, 100)\nimport time\ntime.sleep(600)", WorkerExit, Limits{}},
	{"import ctypes\nctypes.string_at(0)", WorkerExit, Limits{}},
	{"await tools.slow()", Timeout, Limits{Wall: 300 * time.Millisecond}},
	{"import signal\nfor s in (1, 2, 15, 24): signal.signal(s, signal.SIG_IGN)\nwhile True: pass", Timeout, Limits{Wall: 300 * time.Millisecond}},
	{"print('abort me')\nawait tools.slow()", Abort, Limits{}},
	{"print('abort me')\nwhile True: pass", Abort, Limits{}},
	{"return 'never run'", misused, Limits{Wall: -1}},
	{write + "w('junk\\n' * 1000)\nreturn 1", "", Limits{}},
	{write + "w('{\"type\":\"log\",\"text\":\"forged\"}\\n' * 1000)\nreturn 1", "", Limits{}},
	{write + "w('x' * (1 << 20))\nimport time\ntime.sleep(600)", WorkerExit, Limits{FrameBytes: 1 << 19, ValueBytes: 1000, LogBytes: 1000}},
	{"import os\nos.write(1, b'\\xff' * 300000)\nreturn 1", "", Limits{}},
	{"import asyncio\nreturn len(await asyncio.gather(*(tools.echo(i) for i in range(200))))", "", Limits{}},
	{"open('file', 'w').write('x' * 100000)\nimport os\nos.mkdir('closed')\nos.chmod('closed', 0)\nreturn 1", "", Limits{}},
	{"import os\nfor i in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        import time\n        time.sleep(600)\nreturn 1", "", Limits{}},
	{"import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True: pass\n    os._exit(0)\ntime.sleep(0.01)\nos._exit(1)", WorkerExit, Limits{}},
	{"import os, time\nfor i in range(3): os.fork()\ntime.sleep(600)", Timeout, Limits{Wall: 300 * time.Millisecond}},
	{"import threading, time\nfor i in range(20): threading.Thread(target=time.sleep, args=(600,)).start()\nreturn 1", "", Limits{}},
	{"import subprocess\nsubprocess.Popen(['sleep', '600'], start_new_session=True)\nreturn 1", "", Limits{}},
}

// run runs it and fails the test if it ends otherwise.
func (m mixedRun) run(t *testing.T, rt *Runtime) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request := Request{Program: m.program, Namespaces: testNamespaces(), Limits: m.limits}
	if m.kind == Abort {
		request.OnLog = func(string) { cancel() }
	}
	result, err := rt.Run(ctx, request)
	kind := FailureKind("")
	switch {
	case errors.Is(err, ErrMisuse):
		kind = misused
	case err != nil:
		t.Error(err)
		return
	case result.Failure != nil:
		kind = result.Failure.Kind
	}
	if kind != m.kind {
		t.Errorf("%q: %v, want %q", m.program, fmt.Sprint(result.Err()), m.kind)
	}
}

// TestManyMixedRuns runs a thousand programs, eight at a time, a part of them in
// the isolation that is the fallback. Then nothing is left of them.
func TestManyMixedRuns(t *testing.T) {
	total := 1000
	if raceEnabled || testing.Short() {
		total = 300
	}
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	descriptors, goroutines := len(openDescriptors()), goruntime.NumGoroutine()
	var all sync.WaitGroup
	places := make(chan struct{}, 8)
	sleep, err := exec.LookPath("sleep") // one of the programs starts it
	if err != nil {
		t.Skipf("needs the program sleep: %v", err)
	}
	off, processes := Config{Sandbox: Sandbox{Mode: SandboxOff}}, Config{Sandbox: Sandbox{AllowExec: []string{sleep}}}
	runtimes := []*Runtime{newRuntime(t, processes), newRuntime(t, processes), newRuntime(t, off)}
	isolate(t, runtimes[2], child.ProcessGroup)
	for i := range total {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			mixed[i%len(mixed)].run(t, runtimes[(i/len(mixed))%len(runtimes)])
		})
	}
	all.Wait()
	for _, rt := range runtimes {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	}
	if left := processesOf(filepath.Join(temporary, "thirdrail-run-")); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
	if entries, err := os.ReadDir(temporary); err != nil || len(entries) > 0 {
		t.Errorf("folders are left: %v, %v", entries, err)
	}
	if got := len(openDescriptors()); got > descriptors {
		t.Errorf("%d descriptors are open, %d before", got, descriptors)
	}
	eventually(t, "the goroutines have ended", func() bool { return goruntime.NumGoroutine() <= goroutines })
}

// isolate has a runtime keep its children together in another way.
func isolate(t *testing.T, rt *Runtime, isolation child.Isolation) {
	t.Helper()
	// What it forked was isolated in the old way.
	if err := rt.nursery.close(); err != nil {
		t.Fatal(err)
	}
	rt.nursery, rt.start = nil, StartSpawn
	starter, err := child.NewStarter(t.Context(), rt.interpreter, child.Options{
		Among: []child.Isolation{isolation}, Namespaces: rt.starter.Namespaces(),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := rt.starter.Close(); err != nil {
		t.Fatal(err)
	}
	rt.starter = starter
	if rt.confinement == nil {
		return
	}
	if err := rt.confinement.close(); err != nil {
		t.Fatal(err)
	}
	if err := rt.newConfinement(t.Context(), Sandbox{}); err != nil {
		t.Fatal(err)
	}
}

// TestFallbackIsolation runs, without namespaces, the programs whose end depends on
// how children are kept.
func TestFallbackIsolation(t *testing.T) {
	t.Parallel()
	rt := newRuntime(t, Config{Sandbox: Sandbox{Mode: SandboxOff}})
	isolate(t, rt, child.ProcessGroup)
	for _, table := range [][]programCase{budgetCases, lifecycleCases} {
		for _, c := range table {
			switch {
			case c.Name == "its parent attacked": // see TestKeeperOfFallbackKilled
				continue
			case strings.HasPrefix(c.Name, "memory"), strings.HasPrefix(c.Name, "a large"), c.Numbers != 0:
				continue
			}
			t.Run(c.Name, func(t *testing.T) { c.run(t, rt) })
		}
	}
}

// TestKeeperOfFallbackKilled has a program kill what would end its helpers.
func TestKeeperOfFallbackKilled(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	rt := newRuntime(t, Config{Sandbox: Sandbox{Mode: SandboxOff}})
	isolate(t, rt, child.ProcessGroup)
	result := run1(t, rt, "import os, time\nparent = os.getppid()\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(600)\n    os._exit(0)\nos.wait()\nos.kill(parent, 9)\ntime.sleep(600)", Limits{Wall: 20 * time.Second})
	if result.Failure == nil || result.Failure.Kind != WorkerExit {
		t.Errorf("%+v, want a worker-exit", result)
	}
	if left := processesWith(filepath.Join(temporary, "thirdrail-run-")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
