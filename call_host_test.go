package thirdrail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// absent is a function that does something and returns no value.
func absent(f func(context.Context) error) Func {
	return func(ctx context.Context, _ lossless.Value) (lossless.Value, error) {
		return lossless.Value{}, f(ctx)
	}
}

// wordlessError is an error whose text can't be had.
type wordlessError struct{}

func (*wordlessError) Error() string { panic("no text") }

func setIn(m map[string]int) { m["a"] = 1 }

// textError is an error with any text.
type textError string

func (e textError) Error() string { return string(e) }

const hugeText = 10 << 20

// faultyFuncs are functions that fail in every way, and what the program sees.
var faultyFuncs = []struct {
	name string
	f    func(context.Context) error
	want string // the exception's text; "" means that it is checked elsewhere
}{
	{"panic", func(context.Context) error { panic("secret") }, "the host's function failed unexpectedly"},
	{"panic with an error", func(context.Context) error { panic(errNope) }, "the host's function failed unexpectedly"},
	{"panic of the runtime", func(context.Context) error { setIn(nil); return nil }, "the host's function failed unexpectedly"},
	{"panic with nil", func(context.Context) error { panic(nil) }, "the host's function failed unexpectedly"}, //nolint:govet // the point
	{"end of the goroutine", func(context.Context) error { goruntime.Goexit(); return nil }, "the host's function failed unexpectedly"},
	{"error that panics", func(context.Context) error { return &wordlessError{} }, "an error that can't be shown"},
	{"nil in an interface", func(context.Context) error { var e *wordlessError; return e }, "an error that can't be shown"},
	{"wrapped error that panics", func(context.Context) error { return fmt.Errorf("outer: %w", &wordlessError{}) }, "outer: %!v(PANIC=Error method: no text)"},
	{"empty message", func(context.Context) error { return errors.New("") }, "an error that can't be shown"},
	{"invalid UTF-8", func(context.Context) error { return textError("a\xffb\xed\xa0\x80c") }, "a\uFFFDb\uFFFDc"},
	{"controls", func(context.Context) error { return textError("a\x00\n\"\\\u2028</é😀") }, "a\x00\n\"\\\u2028</é😀"},
	{"huge", func(context.Context) error { return textError("<" + strings.Repeat("é", hugeText/2) + ">") }, ""},
	{"huge and invalid", func(context.Context) error { return textError("<" + strings.Repeat("a\xff", hugeText/2) + ">") }, ""},
	{"huge controls", func(context.Context) error { return textError("<" + strings.Repeat("\x00", hugeText) + ">") }, ""},
	{"joined", func(context.Context) error { return errors.Join(errNope, errNope) }, "nope\nnope"},
}

// TestFaultyFunctions has every kind of failure in one run: each must be an
// ordinary exception, and the next call must work.
func TestFaultyFunctions(t *testing.T) {
	t.Parallel()
	funcs := Funcs{"echo": func(_ context.Context, args lossless.Value) (lossless.Value, error) { return args, nil }}
	var names []string
	for _, faulty := range faultyFuncs {
		funcs[faulty.name] = absent(faulty.f)
		names = append(names, faulty.name)
	}
	data, err := lossless.Of(names)
	if err != nil {
		t.Fatal(err)
	}
	request := Request{
		Program: `
out = []
for name in data:
    try:
        await odd[name](1)
    except OddError as e:
        out.append([e.where, str(e)])
    await odd.echo(1)
return out`,
		Data:       data,
		Namespaces: []Namespace{{Global: "odd", Funcs: funcs, ErrorClass: &ErrorClass{Name: "OddError", MemberNameProperty: "where"}}},
	}
	eachPython(t, Config{}, func(t *testing.T, rt *Runtime) {
		result, err := rt.Run(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		var got [][2]string
		if err := result.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if len(got) != len(faultyFuncs) {
			t.Fatalf("%d rejections, want %d", len(got), len(faultyFuncs))
		}
		for i, faulty := range faultyFuncs {
			where, text := got[i][0], got[i][1]
			if where != faulty.name {
				t.Errorf("%s: the member is %q", faulty.name, where)
			}
			if faulty.want != "" && text != faulty.want {
				t.Errorf("%s: %q, want %q", faulty.name, short(text), faulty.want)
			}
			if faulty.want == "" {
				checkCut(t, faulty.name, text)
			}
		}
		if want := int64(2 * len(faultyFuncs)); result.Stats.Calls != want {
			t.Errorf("%d calls, want %d", result.Stats.Calls, want)
		}
	})
}

// checkCut checks a text in angle brackets that was cut in its middle.
func checkCut(t *testing.T, name, text string) {
	t.Helper()
	if size, ok := lossless.StringSize(text, maxMessageBytes); !ok || size < maxMessageBytes/2 {
		t.Errorf("%s: takes %d bytes as JSON", name, size)
	}
	if text[0] != '<' || text[len(text)-1] != '>' || !strings.Contains(text, " bytes cut …") {
		t.Errorf("%s: not cut in its middle: %q", name, short(text))
	}
}

// TestManyCalls has more calls at once than may be in flight.
func TestManyCalls(t *testing.T) {
	t.Parallel()
	for _, count := range []int64{1200, 20000} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			eachPython(t, Config{}, func(t *testing.T, rt *Runtime) {
				result, err := rt.Run(t.Context(), Request{
					Program:    "import asyncio\nr = await asyncio.gather(*[tools.echo(i) for i in range(data)])\nreturn r == list(range(data))",
					Data:       parse(t, fmt.Sprint(count)),
					Namespaces: testNamespaces(),
				})
				if err != nil {
					t.Fatal(err)
				}
				programCase{Value: "true", Logs: []string{}, Check: made(count)}.compare(t, result)
			})
		})
	}
}

// TestCallsInFlight holds calls until as many as allowed are there, and looks that
// there is never one more.
func TestCallsInFlight(t *testing.T) {
	const limit, rounds = 3, 5
	eachPython(t, Config{Limits: Limits{CallsInFlight: limit}}, func(t *testing.T, rt *Runtime) {
		var mu sync.Mutex
		var now, most int
		gate := make(chan struct{})
		meet := absent(func(ctx context.Context) error {
			mu.Lock()
			now++
			most = max(most, now)
			mine := gate
			if now == limit {
				now = 0
				close(gate)
				gate = make(chan struct{})
			}
			mu.Unlock()
			select {
			case <-mine:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		result, err := rt.Run(t.Context(), Request{
			Program:    fmt.Sprintf("import asyncio\nreturn len(await asyncio.gather(*[t.meet() for _ in range(%d)]))", limit*rounds),
			Namespaces: []Namespace{{Global: "t", Funcs: Funcs{"meet": meet}}},
			Limits:     Limits{Wall: 20 * time.Second},
		})
		if err != nil {
			t.Fatal(err)
		}
		programCase{Value: fmt.Sprint(limit * rounds), Check: made(limit * rounds)}.compare(t, result)
		if most != limit {
			t.Errorf("%d calls in flight at once, want %d", most, limit)
		}
	})
}

// TestFloodOfCalls has a program that sends calls without end and never reads a
// reply. The host takes no more of them than may be in flight, so its memory is
// bounded, and the wall limit ends the run.
func TestFloodOfCalls(t *testing.T) {
	const argument = 100 << 10
	program := fmt.Sprintf(`
import os
i = 0
while True:
    frame = b'{"type":"call","id":%%d,"global":"tools","name":"echo","args":"%%s"}\n' %% (i, b"x" * %d)
    while frame:
        frame = frame[os.write(3, frame):]
    i += 1`, argument)
	for _, in := range []int{1, 64} {
		t.Run(fmt.Sprintf("%d in flight", in), func(t *testing.T) {
			eachPython(t, Config{}, func(t *testing.T, rt *Runtime) {
				result := run1(t, rt, program, Limits{Wall: time.Second, CallsInFlight: in})
				programCase{Kind: Timeout, Message: []string{"wall"}}.compare(t, result)
				// Replies that fit the socket's buffer are sent: a few. How soon a
				// busy machine takes as many as may be in flight isn't promised.
				if n := result.Stats.Calls; n < 1 || n > int64(in)+8 {
					t.Errorf("%d calls were taken with %d in flight", n, in)
				}
			})
		})
	}
}

// TestFloodIsBounded measures the host's memory while it is flooded.
func TestFloodIsBounded(t *testing.T) {
	rt := newRuntime(t, Config{})
	var before goruntime.MemStats
	goruntime.GC()
	goruntime.ReadMemStats(&before)
	peak := make(chan uint64)
	stop := make(chan struct{})
	go func() {
		var most uint64
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				peak <- most
				return
			case <-tick.C:
				var now goruntime.MemStats
				goruntime.ReadMemStats(&now)
				most = max(most, now.HeapInuse)
			}
		}
	}()
	program := `
import os
i = 0
while True:
    os.write(3, b'{"type":"call","id":%d,"global":"tools","name":"slow","args":{"pad":"%s"}}\n' % (i, b"x" * 50000))
    i += 1`
	result := run1(t, rt, program, Limits{Wall: 1500 * time.Millisecond, CallsInFlight: 16})
	close(stop)
	most := <-peak
	programCase{Kind: Timeout}.compare(t, result)
	if result.Stats.Calls != 16 {
		t.Errorf("%d calls were taken, want 16", result.Stats.Calls)
	}
	if grown := int64(most) - int64(before.HeapInuse); grown > 32<<20 {
		t.Errorf("the host grew by %d bytes for 16 calls of 50 kB", grown)
	}
}

// TestContexts looks at what a function learns of its run's end.
func TestContexts(t *testing.T) {
	t.Parallel()
	type key struct{}
	for _, end := range []string{"abort", "timeout", "done", "exit", "close"} {
		t.Run(end, func(t *testing.T) {
			eachPython(t, Config{}, func(t *testing.T, rt *Runtime) {
				ctx, cancel := context.WithCancelCause(context.WithValue(t.Context(), key{}, "user"))
				defer cancel(nil)
				ended := make(chan error, 3)
				started := make(chan struct{}, 3)
				wait := absent(func(ctx context.Context) error {
					if ctx.Value(key{}) != "user" {
						t.Error("a function doesn't see the values of Run's context")
					}
					started <- struct{}{}
					<-ctx.Done()
					ended <- ctx.Err()
					return ctx.Err()
				})
				both := absent(func(context.Context) error { // all three are in flight
					for range 3 {
						<-started
					}
					switch end {
					case "abort":
						cancel(errors.New("enough"))
					case "close":
						go rt.Close()
					}
					return nil
				})
				program := map[string]string{
					"abort":   "await hung",
					"close":   "await hung",
					"timeout": "await hung",
					"done":    "await t.both()\nreturn 1",
					"exit":    "await t.both()\nimport os\nos._exit(7)",
				}[end]
				limits := Limits{Wall: 20 * time.Second}
				if end == "timeout" {
					limits.Wall = 3 * time.Second
				}
				result, err := rt.Run(ctx, Request{
					Program: "import asyncio\nhung = asyncio.gather(*[t.wait() for _ in range(3)])\nawait asyncio.sleep(0)\n" +
						"extra = asyncio.ensure_future(t.both())\nawait asyncio.sleep(0)\n" + strings.Replace(program, "t.both()", "extra", 1),
					Namespaces: []Namespace{{Global: "t", Funcs: Funcs{"wait": wait, "both": both}}},
					Limits:     limits,
				})
				if err != nil {
					t.Fatal(err)
				}
				want := map[string]FailureKind{"abort": Abort, "close": Abort, "timeout": Timeout, "exit": WorkerExit}[end]
				programCase{Kind: want}.compare(t, result)
				for range 3 {
					select {
					case err := <-ended:
						if !errors.Is(err, context.Canceled) {
							t.Errorf("a function's context ended with %v", err)
						}
					case <-time.After(10 * time.Second):
						t.Fatal("a function's context doesn't end, or it never began")
					}
				}
			})
		})
	}
}

// TestStubbornFunction has a function that ignores its context: Run returns, and
// Close waits for it. What it returns then goes nowhere.
func TestStubbornFunction(t *testing.T) {
	rt, err := New(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	release, ended := make(chan struct{}), make(chan struct{})
	stubborn := func(context.Context, lossless.Value) (lossless.Value, error) {
		<-release
		defer close(ended)
		return lossless.Of("late")
	}
	request := Request{
		Program:    "return await t.stubborn()",
		Namespaces: []Namespace{{Global: "t", Funcs: Funcs{"stubborn": stubborn}}},
		Limits:     Limits{Wall: 300 * time.Millisecond},
	}
	result, err := rt.Run(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	programCase{Kind: Timeout, Check: made(1)}.compare(t, result)
	closed := make(chan struct{})
	go func() {
		_ = rt.Close()
		close(closed)
	}()
	eventually(t, "Close refuses runs", func() bool {
		_, err := rt.Run(t.Context(), Request{Namespaces: []Namespace{{}}})
		return errors.Is(err, ErrClosed)
	})
	select {
	case <-closed:
		t.Error("Close didn't wait for the function")
	case <-time.After(30 * time.Millisecond):
	}
	close(release)
	<-closed
	select {
	case <-ended:
	default:
		t.Error("Close returned before the function did")
	}
}

// TestRunsShareNothing cancels one of two runs.
func TestRunsShareNothing(t *testing.T) {
	eachPython(t, Config{}, func(t *testing.T, rt *Runtime) {
		ctx, cancel := context.WithCancel(t.Context())
		var both sync.WaitGroup
		both.Add(2)
		meet := absent(func(context.Context) error { both.Done(); both.Wait(); return nil })
		var runs sync.WaitGroup
		runs.Go(func() {
			result, err := rt.Run(ctx, Request{
				Program:    "print('one')\nawait t.meet()\nawait t.cancel()\nawait t.slow()",
				Namespaces: []Namespace{{Global: "t", Funcs: Funcs{"meet": meet, "slow": Bind(slow), "cancel": absent(func(context.Context) error { cancel(); return nil })}}},
			})
			if err != nil {
				t.Error(err)
				return
			}
			programCase{Kind: Abort, Logs: []string{"one"}}.compare(t, result)
		})
		runs.Go(func() {
			result, err := rt.Run(t.Context(), Request{
				Program:    "print('two')\nawait t.meet()\nawait t.cancelled()\nreturn [await t.echo(i) for i in range(3)]",
				Namespaces: []Namespace{{Global: "t", Funcs: Funcs{"meet": meet, "echo": testNamespaces()[0].Funcs["echo"], "cancelled": absent(func(context.Context) error { <-ctx.Done(); return nil })}}},
			})
			if err != nil {
				t.Error(err)
				return
			}
			programCase{Value: "[0,1,2]", Logs: []string{"two"}, Check: made(5)}.compare(t, result)
		})
		runs.Wait()
	})
}

// TestLateReplies has as many abandoned calls as may be in flight. Their big
// replies come while the program prints and reads none: nothing may get stuck.
func TestLateReplies(t *testing.T) {
	const limit = 2
	eachPython(t, Config{Limits: Limits{CallsInFlight: limit, LogBytes: 8 << 20, Wall: 20 * time.Second}}, func(t *testing.T, rt *Runtime) {
		printing := make(chan struct{})
		var once sync.Once
		late := func(ctx context.Context, _ lossless.Value) (lossless.Value, error) {
			select {
			case <-printing:
			case <-ctx.Done():
			}
			return lossless.Of(strings.Repeat("z", 1<<20))
		}
		result, err := rt.Run(t.Context(), Request{
			Program: `
import asyncio
calls = [asyncio.ensure_future(t.late()) for _ in range(data)]
await asyncio.sleep(0)
for call in calls:
    call.cancel()
await asyncio.sleep(0)
import os
os.write(1, b"go\n")
for i in range(3000):
    print("x" * 1000)
return await t.echo("end")`,
			Data:       parse(t, fmt.Sprint(limit)),
			Namespaces: []Namespace{{Global: "t", Funcs: Funcs{"late": late, "echo": testNamespaces()[0].Funcs["echo"]}}},
			OnLog:      func(string) { once.Do(func() { close(printing) }) },
		})
		once.Do(func() { close(printing) })
		if err != nil {
			t.Fatal(err)
		}
		programCase{Value: `"end"`, Check: made(limit + 1)}.compare(t, result)
		if len(result.Logs) != 3001 {
			t.Errorf("%d lines", len(result.Logs))
		}
	})
}

// TestRequestIsCopied changes what a request refers to while its run goes on and
// while it waits for its turn.
func TestRequestIsCopied(t *testing.T) {
	rt := newRuntime(t, Config{MaxConcurrent: 1})
	inside, release := make(chan struct{}), make(chan struct{})
	var first sync.WaitGroup
	first.Go(func() {
		_, _ = rt.Run(t.Context(), Request{
			Program:    "await t.hold()",
			Namespaces: []Namespace{{Global: "t", Funcs: Funcs{"hold": absent(func(context.Context) error { close(inside); <-release; return nil })}}},
		})
	})
	<-inside
	class := &ErrorClass{Name: "E", MemberNameProperty: "where"}
	funcs := Funcs{}
	change := absent(func(context.Context) error {
		class.Name, class.MemberNameProperty = "class", "args"
		delete(funcs, "change")
		funcs["fail"] = nil
		return nil
	})
	funcs["change"], funcs["fail"] = change, absent(func(context.Context) error { return errNope })
	namespaces := []Namespace{{Global: "t", Funcs: funcs, ErrorClass: class}}
	var result *Result
	var second sync.WaitGroup
	waiting := countingContext{Context: t.Context(), asked: make(chan struct{})}
	second.Go(func() {
		var err error
		result, err = rt.Run(&waiting, Request{
			Program: "await t.change()\nawait t.change()\ntry:\n    await t.fail()\nexcept E as e:\n    return [e.where, str(e)]", Namespaces: namespaces,
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-waiting.asked // the request was checked, and waits for its turn
	namespaces[0].Global = "other"
	_ = change
	close(release)
	second.Wait()
	first.Wait()
	programCase{Value: `["fail","nope"]`, Check: made(3)}.compare(t, result)
}

// countingContext tells when somebody first waits for its end.
type countingContext struct {
	context.Context
	once  sync.Once
	asked chan struct{}
}

func (c *countingContext) Done() <-chan struct{} {
	c.once.Do(func() { close(c.asked) })
	return c.Context.Done()
}

// TestQuoted bounds what a message repeats of a name.
func TestQuoted(t *testing.T) {
	for name, want := range map[string]string{
		"":                               `""`,
		"a\"b":                           `"a\"b"`,
		strings.Repeat("x", 64):          `"` + strings.Repeat("x", 64) + `"`,
		strings.Repeat("x", 65):          `"` + strings.Repeat("x", 64) + `"…`,
		strings.Repeat("é", 40):          `"` + strings.Repeat("é", 32) + `"…`,
		"x" + strings.Repeat("é", 4<<20): `"x` + strings.Repeat("é", 31) + `"…`,
	} {
		if got := quoted(name); got != want {
			t.Errorf("quoted(%s) = %s, want %s", short(name), got, want)
		}
	}
}

// TestListed bounds and sorts what a message says there is.
func TestListed(t *testing.T) {
	many := Funcs{}
	for i := range 30 {
		many[fmt.Sprintf("f%02d", i)] = nil
	}
	if got := listed(many); !strings.HasPrefix(got, `"f00", "f01"`) || !strings.HasSuffix(got, `"f19", and 10 more`) {
		t.Errorf("listed gives %s", got)
	}
	if got := listed(Funcs{}); got != "nothing" {
		t.Errorf("listed of nothing gives %s", got)
	}
}

// TestReplyLines holds replies to the frame limit, and counts them to the byte.
func TestReplyLines(t *testing.T) {
	var out bytes.Buffer
	var owner sync.WaitGroup
	c := newCalls(t.Context(), nil, Limits{FrameBytes: 100}, lossless.Exact, &out, &owner)
	frame := len(`{"type":"reply","id":7,"ok":true,"value":""}`)
	for _, extra := range []int{0, 1} {
		value, err := lossless.Of(strings.Repeat("x", 100-frame+extra))
		if err != nil {
			t.Fatal(err)
		}
		line, err := c.replyValue(7, value)
		if (err == nil) != (extra == 0) {
			t.Errorf("a reply of %d bytes: %q, %v", 100+extra, line, err)
		}
		if err == nil && (len(line) != 101 || !slices.Equal(line[100:], []byte("\n"))) {
			t.Errorf("the line has %d bytes", len(line))
		}
	}
}
