package thirdrail

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

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
	rt := newRuntime(t, Config{MaxConcurrent: 4})
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
	var most, now int
	var mu sync.Mutex
	enter := func(ctx context.Context, _ lossless.Value) (lossless.Value, error) {
		mu.Lock()
		defer mu.Unlock()
		now++
		most = max(most, now)
		now--
		return lossless.Null, nil
	}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			result, err := rt.Run(t.Context(), Request{Program: "await tools.enter()\nreturn 1", Namespaces: []Namespace{{Global: "tools", Funcs: Funcs{"enter": enter}}}})
			if err != nil || result.Failure != nil {
				t.Errorf("%v %v", err, result.Err())
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if result, err := rt.Run(ctx, Request{Program: "return 1"}); err != nil || result.Failure.Kind != Abort {
		t.Errorf("%v %v, want an abort", err, result)
	}
	all.Wait()
	if most != 1 {
		t.Errorf("%d runs at once, want 1", most)
	}
}

// mixed are programs of every ending, good and hostile.
var mixed = []struct {
	program string
	kind    FailureKind
}{
	{"return 1", ""},
	{"print('x' * 1000)\nreturn await tools.echo([1, 2, 3])", ""},
	{"1 / 0", Exception},
	{"import os\nos._exit(3)", WorkerExit},
	{"import os\nos.kill(os.getpid(), 9)", WorkerExit},
	{"import os\nos.close(3)", WorkerExit},
	{"import os\nfor i in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        import time\n        time.sleep(600)\nreturn 1", ""},
	{"return {1}", InvalidOutput},
	{"return 'x' * (2 << 20)", OutputLimit},
	{"await tools.slow()", Timeout},
	{"import os\nos.write(3, b'junk\\n' * 1000)\nreturn 1", ""},
	{"import os\nos.write(1, b'\\xff' * 300000)\nreturn 1", ""},
	{"def (", Exception},
	{"import asyncio\nreturn len(await asyncio.gather(*(tools.echo(i) for i in range(200))))", ""},
	{"bytearray(10 ** 11)", Exception},
	{"open('file', 'w').write('x' * 100000)\nimport os\nos.mkdir('closed')\nos.chmod('closed', 0)\nreturn 1", ""},
}

// TestManyMixedRuns runs a thousand of them, eight at a time. TestMain sees what
// they leave behind.
func TestManyMixedRuns(t *testing.T) {
	total := 1000
	if raceEnabled || testing.Short() {
		total = 200
	}
	rt := newRuntime(t, Config{MaxConcurrent: 8})
	var all sync.WaitGroup
	for i := range total {
		all.Go(func() {
			m := mixed[i%len(mixed)]
			limits := Limits{}
			if m.kind == Timeout {
				limits.Wall = 300 * time.Millisecond
			}
			result, err := rt.Run(t.Context(), Request{Program: m.program, Namespaces: testNamespaces(), Limits: limits})
			if err != nil {
				t.Error(err)
				return
			}
			kind := FailureKind("")
			if result.Failure != nil {
				kind = result.Failure.Kind
			}
			if kind != m.kind {
				t.Errorf("%q: %v, want %q", m.program, fmt.Sprint(result.Err()), m.kind)
			}
		})
	}
	all.Wait()
}
