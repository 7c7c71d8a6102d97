package thirdrail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// angry is an error that can't be shown.
type angry struct{}

func (angry) Error() string { panic("no text") }

func TestAbort(t *testing.T) {
	rt := newRuntime(t, Config{})
	for _, program := range []string{"print('up')\nwhile True: pass", "print('up')\nawait tools.slow()", "print('up')\nimport time\ntime.sleep(100)"} {
		for _, cause := range []error{errors.New("enough"), angry{}, nil} {
			ctx, cancel := context.WithCancelCause(t.Context())
			result, err := rt.Run(ctx, Request{Program: program, Namespaces: testNamespaces(), OnLog: func(string) { cancel(cause) }})
			cancel(nil)
			if err != nil {
				t.Fatal(err)
			}
			f := result.Failure
			if f == nil || f.Kind != Abort || !errors.Is(result.Err(), context.Canceled) {
				t.Fatalf("%q: %v, want an abort", program, f)
			}
			want := unreadable
			if cause == nil {
				want = "canceled"
			} else if _, ok := cause.(angry); !ok {
				want = "enough"
			}
			if !strings.Contains(f.Message, want) || len(result.Logs) != 1 {
				t.Errorf("message %q, want %q; logs %q", f.Message, want, result.Logs)
			}
		}
	}
}

// TestBindingThatIgnoresItsContext holds Close, and not Run.
func TestBindingThatIgnoresItsContext(t *testing.T) {
	rt := newRuntime(t, Config{})
	called, release := make(chan struct{}), make(chan struct{})
	stubborn := func(context.Context, lossless.Value) (lossless.Value, error) {
		close(called)
		<-release
		return lossless.Null, nil
	}
	result, err := rt.Run(t.Context(), Request{
		Program:    "await tools.stubborn()",
		Namespaces: []Namespace{{Global: "tools", Funcs: Funcs{"stubborn": stubborn}}},
		Limits:     Limits{Wall: 500 * time.Millisecond},
	})
	if err != nil || result.Failure == nil || result.Failure.Kind != Timeout || result.Stats.Calls != 1 {
		t.Fatalf("%v, %+v; want a timeout after one call", err, result)
	}
	<-called
	closed := make(chan error, 1)
	go func() { closed <- rt.Close() }()
	select {
	case <-closed:
		t.Error("Close did not wait for the function")
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// TestCloseEndsRuns closes a runtime under runs of every kind.
func TestCloseEndsRuns(t *testing.T) {
	rt := newRuntime(t, Config{MaxConcurrent: 4, Sandbox: testSandboxes[withProcesses]})
	programs := []string{
		"print('up')\nwhile True: pass",
		"print('up')\nawait tools.slow()",
		"import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('up')\ntime.sleep(100)",
		"import os, time\nif os.fork() == 0: os.setsid()\nprint('up')\ntime.sleep(100)",
		"return 'waits for its turn'",
		"return 'waits for its turn'",
	}
	var running, done sync.WaitGroup
	running.Add(4)
	for i, program := range programs {
		var up sync.Once
		done.Go(func() {
			result, err := rt.Run(t.Context(), Request{Program: program, Namespaces: testNamespaces(), OnLog: func(string) { up.Do(running.Done) }})
			if i < 4 { // a run that failed before must not hold the test up
				up.Do(running.Done)
			}
			switch {
			case err != nil && !errors.Is(err, ErrClosed):
				t.Errorf("%d: %v", i, err)
			case err == nil && (result.Failure == nil || result.Failure.Kind != Abort):
				t.Errorf("%d: %v, want an abort", i, result.Err())
			}
		})
		if i == 3 {
			running.Wait() // all places are taken
		}
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
	done.Wait()
}

// TestTurns has more runs than places: they come in order, and one that is
// cancelled leaves the line.
func TestTurns(t *testing.T) {
	rt := newRuntime(t, Config{MaxConcurrent: 1})
	inside, release := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	var order []string
	enter := func(_ context.Context, args lossless.Value) (lossless.Value, error) {
		if args.String() == `"first"` {
			close(inside)
			<-release
		}
		mu.Lock()
		defer mu.Unlock()
		order = append(order, args.String())
		return args, nil
	}
	namespaces := []Namespace{{Global: "tools", Funcs: Funcs{"enter": enter}}}
	var all sync.WaitGroup
	run := func(ctx context.Context, name string) *Result {
		result, err := rt.Run(ctx, Request{Program: "return await tools.enter('" + name + "')", Namespaces: namespaces})
		if err != nil {
			t.Error(err)
		}
		return result
	}
	all.Go(func() { run(t.Context(), "first") })
	<-inside
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cancelled := make(chan *Result, 1)
	names := []string{"second", "leaves", "third", "fourth", "fifth"}
	for i, name := range names {
		all.Go(func() {
			if name == "leaves" {
				cancelled <- run(ctx, name)
			} else {
				run(t.Context(), name)
			}
		})
		eventually(t, name+" waits in line", func() bool { return runsInLine() == i+1 })
	}
	cancel()
	if result := <-cancelled; result.Failure == nil || result.Failure.Kind != Abort || result.Stats.Start != "" || len(result.Logs) > 0 {
		t.Errorf("a cancelled waiter: %+v, want an abort and nothing started", result)
	}
	close(release)
	all.Wait()
	if want := []string{`"first"`, `"second"`, `"third"`, `"fourth"`, `"fifth"`}; !slices.Equal(order, want) {
		t.Errorf("runs came as %v, want %v", order, want)
	}
}

// runsInLine returns how many goroutines wait in Run itself.
func runsInLine() int {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	waiting := 0
	for goroutine := range bytes.SplitSeq(stacks, []byte("\n\n")) {
		state, frames, _ := bytes.Cut(goroutine, []byte("\n"))
		if bytes.Contains(state, []byte("[select")) && bytes.HasPrefix(frames, []byte("github.com/thirdrail-dev/thirdrail.(*Runtime).Run(")) {
			waiting++
		}
	}
	return waiting
}

// replaceInterpreter has a runtime start a shell script in the interpreter's place,
// as if the file had changed after New. Trials still find the real one.
func replaceInterpreter(t *testing.T, rt *Runtime, body string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "python3")
	text := fmt.Sprintf("#!/bin/sh\nif [ \"$2\" = -S ]; then exec '%s' \"$@\"; fi\n%s\n", rt.interpreter.Path, body)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	starter, err := child.NewStarter(t.Context(), &interpreter.Interpreter{Path: path, Code: rt.interpreter.Code}, child.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := rt.starter.Close(); err != nil {
		t.Fatal(err)
	}
	rt.starter = starter
	return path
}

// brokenStarts are interpreters that never become ready, and what is said of them.
var brokenStarts = []struct {
	name, body string
	message    []string
}{
	{"sleeps", "exec sleep 600", []string{"took longer than 300ms", "before it was ready"}},
	{"sleeps in a child", "sleep 600", []string{"took longer than 300ms"}},
	{"prints and exits", "echo 'error while loading libpython' >&2; exit 3", []string{"code=3", "error while loading libpython"}},
	{"exits at once", "exit 0", []string{"code=0", "before it was ready"}},
	{"is killed", "kill -9 $$", []string{"SIGKILL"}},
	{"closes the rail", "exec 3>&-; exec sleep 600", []string{"before it was ready"}},
	{"says junk", "while :; do echo junk >&3; sleep 0.01; done", []string{"took longer than 300ms"}},
	{"says done", `echo '{"type":"done","value":1}' >&3; exec sleep 600`, []string{"took longer than 300ms"}},
	{"prints without end", "yes", []string{"took longer than 300ms"}},
}

func TestBrokenStarts(t *testing.T) {
	for _, c := range brokenStarts {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rt := newSpawning(t, Config{})
			replaceInterpreter(t, rt, c.body)
			rt.startLimit = 300 * time.Millisecond
			result := run1(t, rt, "return 1", Limits{})
			f := result.Failure
			if f == nil || f.Kind != WorkerExit || result.Value.Exists() || result.Stats.Wall != 0 {
				t.Fatalf("%+v, want a worker-exit and a program that was never sent", result)
			}
			for _, part := range c.message {
				if !strings.Contains(f.Message, part) {
					t.Errorf("message %q lacks %q", short(f.Message), part)
				}
			}
		})
	}
}

// TestNothingStarts has every way in which no process comes to be.
func TestNothingStarts(t *testing.T) {
	rt := newSpawning(t, Config{})
	want := func(what string, result *Result) {
		t.Helper()
		if result.Failure == nil || result.Failure.Kind != WorkerExit || len(result.Logs) > 0 || result.Stats.Wall != 0 {
			t.Errorf("%s: %+v, want a worker-exit", what, result)
		}
	}
	folder := rt.folder.Path()
	if err := os.Rename(folder, folder+"-away"); err != nil {
		t.Fatal(err)
	}
	want("no folder", run1(t, rt, "return 1", Limits{}))
	if err := os.Rename(folder+"-away", folder); err != nil {
		t.Fatal(err)
	}
	path := replaceInterpreter(t, rt, "exec sleep 600")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	want("a deleted interpreter", run1(t, rt, "return 1", Limits{}))
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	want("a folder in its place", run1(t, rt, "return 1", Limits{}))
}

// TestAbortAtAnyTime ends a run's context at once, and a little later each time.
func TestAbortAtAnyTime(t *testing.T) {
	rt := newRuntime(t, Config{})
	for i := range 40 {
		ctx, cancel := context.WithCancelCause(t.Context())
		timer := time.AfterFunc(time.Duration(i)*2*time.Millisecond, func() { cancel(errNope) })
		result, err := rt.Run(ctx, Request{Program: "await tools.slow()", Namespaces: testNamespaces()})
		timer.Stop()
		if err != nil || result.Failure == nil || result.Failure.Kind != Abort || !strings.Contains(result.Failure.Message, "nope") {
			t.Errorf("after %d ms: %v, %v; want an abort", 2*i, err, result)
		}
	}
}

// TestCloseAtAnyTime closes runtimes right after a run began, by several at once.
// When any of them returns, nothing is left.
func TestCloseAtAnyTime(t *testing.T) {
	for i := range 10 {
		temporary := t.TempDir()
		t.Setenv("TMPDIR", temporary)
		rt := newRuntime(t, Config{})
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				result, err := rt.Run(t.Context(), Request{Program: "import time\nwhile True: time.sleep(1)"})
				if err == nil && result.Failure.Kind != Abort || err != nil && !errors.Is(err, ErrClosed) {
					t.Errorf("%v, %v; want an abort or ErrClosed", err, result)
				}
			})
		}
		time.Sleep(time.Duration(i) * 5 * time.Millisecond) // any time will do
		for range 3 {
			all.Go(func() {
				if err := rt.Close(); err != nil {
					t.Error(err)
				}
				if left := processesOf(temporary + "/thirdrail-run-"); len(left) > 0 {
					t.Errorf("after Close: %q", left)
				}
				if paths, _ := filepath.Glob(temporary + "/thirdrail-run-*"); len(paths) > 0 {
					t.Errorf("after Close: %q", paths)
				}
			})
		}
		all.Wait()
	}
}

// lifecycleCases are programs and how they end, whatever comes after.
var lifecycleCases = []programCase{
	{Name: "done, then an exit code", Program: write + "w('{\"type\":\"done\",\"value\":1}\\n')\nos._exit(7)", Value: "1"},
	{Name: "done, then a signal", Program: write + "w('{\"type\":\"done\",\"value\":1}\\n')\nos.kill(os.getpid(), 11)", Value: "1"},
	{Name: "done, then a loop", Program: write + "w('{\"type\":\"done\",\"value\":1}\\n')\nwhile True: pass", Value: "1", Limits: Limits{Wall: 20 * time.Second}},
	{Name: "descriptor 3 closed", Program: "import os\nos.close(3)\nreturn 1", Kind: WorkerExit, Message: []string{"file descriptor 3", "code=74"}},
	{Name: "descriptor 3 closed, and no end", Program: "import os, time\nos.close(3)\ntime.sleep(600)", Kind: WorkerExit, Message: []string{"file descriptor 3"}},
	{Name: "descriptor 3 replaced", Program: "import os\nos.dup2(os.open('/dev/null', os.O_RDWR), 3)\nreturn 1", Kind: WorkerExit},
	{Name: "stopped by itself", Program: "import os\nos.kill(os.getpid(), 19)", Limits: Limits{Wall: 500 * time.Millisecond}, Kind: Timeout},
	{Name: "first thread ended", Program: "import ctypes, threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\nctypes.CDLL(None).pthread_exit(None)", Limits: Limits{Wall: time.Second}, Kind: Timeout},
	{Name: "its parent attacked", Sandbox: unconfined, Program: "import os\nparent = os.getppid() or 1  # 0 is a parent that can't be seen\nfor s in (15, 9): os.kill(parent, s)\nreturn 1", Value: "1"},
	{Name: "input", Program: "input()", Kind: Exception, Message: []string{"EOFError"}},
	{Name: "getpass", Program: "import getpass\ngetpass.getpass()", Kind: Exception, Message: []string{"EOFError"}},
	{Name: "breakpoint", Program: "breakpoint()\nreturn 1", Kind: Exception, Message: []string{"BdbQuit"}},
	{Name: "stdin's lines", Program: "import sys\nreturn [list(sys.stdin), sys.stdin.readline()]", Value: `[[],""]`},
	{Name: "descriptor 0", Program: "import os\nreturn len(os.read(0, 10))", Value: "0"},
	{Name: "files", Program: "import os, tempfile, pathlib\nopen('out.csv', 'w').write('a,b')\nf = tempfile.NamedTemporaryFile()\nh = pathlib.Path.home()\n(h / 'x').write_text('y')\nreturn [open('out.csv').read(), f.name.startswith(os.getcwd() + '/tmp/'), str(h) == os.getcwd(), oct(os.stat('.').st_mode)]", Value: `["a,b",true,true,"0o40700"]`},
	{Name: "fails while its reply is written", Program: "c = tools.big()\nc.send(None)\nraise KeyError('mine')", Namespaces: largeReply(), Kind: Exception, Message: []string{"KeyError: 'mine'"}},
	{Name: "ends while its reply is written", Program: "c = tools.big()\nc.send(None)\nreturn 1", Namespaces: largeReply(), Value: "1"},
	{Name: "a large program that fails at once", Program: "1 / 0\n# " + strings.Repeat("x", 8<<20), Limits: Limits{CPU: 5 * time.Second}, Kind: Exception, Message: []string{"ZeroDivisionError", "line 1"}},
}

// largeReply has a function whose reply doesn't fit in any socket's buffer.
func largeReply() []Namespace {
	return []Namespace{{Global: "tools", Funcs: Funcs{
		"big": func(context.Context, lossless.Value) (lossless.Value, error) {
			return lossless.Of(strings.Repeat("x", 20<<20))
		},
	}}}
}

func TestLifecycles(t *testing.T) { runCases(t, lifecycleCases) }

// TestNextRunWorks has each kind of failure, and after each an honest run on the
// same runtime.
func TestNextRunWorks(t *testing.T) {
	rt := newRuntime(t, Config{MaxConcurrent: 1, Sandbox: testSandboxes[withProcesses]})
	for _, m := range mixed {
		m.run(t, rt)
		if result := run1(t, rt, "print('next')\nreturn await tools.add(a=41)", Limits{}); result.Value.String() != "42" || !slices.Equal(result.Logs, []string{"next"}) {
			t.Errorf("after %q: %+v", m.program, result)
		}
	}
}

// TestRunsAreIndependent has runs beside each other, each with limits of its own.
func TestRunsAreIndependent(t *testing.T) {
	rt := newRuntime(t, Config{MaxConcurrent: 8})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			limits := Limits{ValueBytes: int64(10 + i)}
			fits, over := run1(t, rt, fmt.Sprintf("return 'x' * %d", 8+i), limits), run1(t, rt, fmt.Sprintf("return 'x' * %d", 9+i), limits)
			if fits.Failure != nil || over.Failure == nil || over.Failure.Kind != OutputLimit {
				t.Errorf("%d: %v, %v", i, fits.Err(), over.Err())
			}
		})
	}
	all.Wait()
}
