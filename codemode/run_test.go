package codemode

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/internal/sharedruntime"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// shared is the Runtime of all tests.
var shared sharedruntime.One

func TestMain(m *testing.M) { shared.Main(m) }

func testRuntime(t testing.TB) *thirdrail.Runtime {
	t.Helper()
	return shared.Get(t)
}

// recorder is a handler that remembers its arguments and answers with them.
type recorder struct {
	mu   sync.Mutex
	args []string
}

func (r *recorder) handle(_ context.Context, args lossless.Value) (Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.args = append(r.args, args.String())
	return Value(args), nil
}

func TestRun(t *testing.T) {
	s, err := New(testRuntime(t), runTools(t)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range runCases {
		t.Run(c.name, func(t *testing.T) {
			out, err := s.Run(t.Context(), c.program)
			if err != nil {
				t.Fatal(err)
			}
			c.compare(t, out)
		})
	}
}

func (c runCase) compare(t *testing.T, out *Outcome) {
	t.Helper()
	message := ""
	if out.Failure != nil {
		message = out.Failure.Message
	}
	if (c.failure == "") != (out.Failure == nil) || !strings.Contains(message, c.failure) {
		t.Errorf("failure %q, want %q", message, c.failure)
	}
	got := out.Value.String()
	if !out.Value.Exists() {
		got = "absent"
	}
	if c.want != "" && got != c.want {
		t.Errorf("value %s, want %s", got, c.want)
	}
	if len(out.Content) != c.content {
		t.Errorf("%d parts of content, want %d", len(out.Content), c.content)
	}
	for _, content := range out.Content {
		if string(content.Data) != string(pixel) {
			t.Errorf("content is %q", content.Data)
		}
	}
	if diff := cmp.Diff(c.warnings, out.Warnings); diff != "" && len(c.warnings)+len(out.Warnings) > 0 {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// TestOutcomeText: what the model is sent says what happened, also when nothing did.
func TestOutcomeText(t *testing.T) {
	s, err := New(testRuntime(t), runTools(t)...)
	if err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]string{
		"return 1":                         "1",
		"print('a')\nprint('b')\nreturn 1": "a\nb\n[value] 1",
		"print('a')":                       "a\n[no value returned]",
		"await web.ping()\nx = 1":          "[the program ran once, made 1 call, printed nothing and returned nothing; return a value to see one]",
		"await out.typed()\nreturn 2":      "[warning] out.typed: the result does not match its output schema: result[\"id\"]: expected int, got str\n[value] 2",
	} {
		out, err := s.Run(t.Context(), program)
		if err != nil {
			t.Fatal(err)
		}
		if got := out.Text(); got != want {
			t.Errorf("%s:\n%q, want\n%q", program, got, want)
		}
	}
	out, err := s.Run(t.Context(), "await web.ping()\nprint('before')\n1/0")
	if err != nil {
		t.Fatal(err)
	}
	text := out.Text()
	if !strings.HasPrefix(text, "before\n[exception] ") || !strings.Contains(text, "ZeroDivisionError") ||
		!strings.HasSuffix(text, "[before that 1 call reached a tool; what was done is done]") {
		t.Errorf("text %q", text)
	}
}

// TestOnlyTheValueComesBack: what calls answer stays with the program.
func TestOnlyTheValueComesBack(t *testing.T) {
	s, err := New(testRuntime(t), runTools(t)...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context(), "import asyncio\nfound = await asyncio.gather(*(web.search(query='long ' * 1000) for _ in range(10)))\nreturn sum(len(r['query']) for r in found)")
	if err != nil || out.Text() != "50000" || out.Calls != 10 {
		t.Errorf("%v, %d calls: %.200s", err, out.Calls, out.Text())
	}
}

// TestLimits: those of the Options hold, and what is cut is said, with what it means.
func TestLimits(t *testing.T) {
	s, err := Options{Limits: thirdrail.Limits{Wall: 2 * time.Second, LogBytes: 1000, ValueBytes: 2000}}.New(testRuntime(t), runTools(t)...)
	if err != nil {
		t.Fatal(err)
	}
	if text := s.Instructions(); !strings.Contains(text, "A run may take 2s and 1 GiB of memory, print 1000 bytes and return 2000 bytes.") {
		t.Errorf("the model is told of other limits:\n%s", text)
	}
	for program, want := range map[string]string{
		"while True: pass": "[timeout] ",
		"await web.ping()\nprint('x' * 200_000)\nreturn 1":        "log capture truncated at 1000 bytes\n[the output is longer and was cut; the program ran on, once: to see the rest, print less, and don't repeat what it did]\n[value] 1",
		"await web.ping()\nreturn {'n': 1, 'rows': ['x'] * 1000}": `most of it is result["rows"], a list of 1000 items; return less: a part, a count or a summary` + "\n[before that 1 call reached a tool; what was done is done]",
	} {
		out, err := s.Run(t.Context(), program)
		if err != nil || !strings.Contains(out.Text(), want) || len(out.Text()) > 2000 {
			t.Errorf("%s: %v: %.2000s", program, err, out.Text())
		}
	}
}

// TestLastExpression: it gives the value, unless the Options say otherwise.
func TestLastExpression(t *testing.T) {
	for _, c := range []struct {
		options       Options
		program, want string
	}{
		{Options{}, "x = 20\nx + 1", "21"},
		{Options{}, "return 1\n2", "1"},
		{Options{NoLastExpression: true}, "x = 20\nx + 1", "[the program ran once, made 0 calls, printed nothing and returned nothing; return a value to see one]"},
		{Options{NoLastExpression: true}, "return 21", "21"},
	} {
		s, err := c.options.New(testRuntime(t), runTools(t)...)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := s.Run(t.Context(), c.program); err != nil || out.Text() != c.want {
			t.Errorf("%+v, %q: %v: %s, want %s", c.options, c.program, err, out.Text(), c.want)
		}
	}
}

// TestSetsAreApart: a program finds the tools of its own Set, and no others.
func TestSetsAreApart(t *testing.T) {
	rt := testRuntime(t)
	for _, c := range []struct {
		tools         []Tool
		program, want string
	}{
		{[]Tool{simple(t, "web", "fetch", echo), simple(t, "db", "count", echo)}, "return [await web.fetch(), await tools_search('count')]", `[{},["db.count(**extra: Any) -> Any"]]`},
		{[]Tool{simple(t, "web", "fetch", echo)}, "return [await web.fetch(), await tools_search('count')]", `[{},[]]`},
		{[]Tool{simple(t, "web", "fetch", echo)}, "await db.count()", "NameError: name 'db' is not defined\nhelp: each run starts fresh: what a former run defined is gone, so define it in this program; the namespaces are web"},
		{[]Tool{simple(t, "web", "fetch", echo)}, "await search('count')", "help: perhaps `tools_search` is meant"},
		{[]Tool{simple(t, "web", "fetch", echo)}, "await tools_describe('db.count')", `there is no tool "db.count"; find one with await tools_search("what it does")`},
		{nil, "await tools_search('count')", "name 'tools_search' is not defined"},
	} {
		s, err := New(rt, c.tools...)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(t.Context(), c.program)
		if err != nil || !strings.Contains(out.Text(), c.want) {
			t.Errorf("%s: %v: %s, want %s", c.program, err, out.Text(), c.want)
		}
	}
}

// TestCall takes the arguments of a tool call as they come.
func TestCall(t *testing.T) {
	s, err := New(testRuntime(t), runTools(t)...)
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{"code":"return 1"}`:         "1",
		`{"code":"return 1","x":[1]}`: "1",
		`{"program":"return 1"}`:      `[exception] the arguments of run_code must be a JSON object with the program as its member "code", a string`,
		`{"code":7}`:                  `[exception] the arguments of run_code must be`,
		`{"code":`:                    `[exception] the arguments of run_code must be`,
		``:                            `[exception] the arguments of run_code must be`,
	} {
		out, err := s.Call(t.Context(), []byte(arguments))
		if err != nil || !strings.HasPrefix(out.Text(), want) {
			t.Errorf("%s: %q, %v, want %q", arguments, out.Text(), err, want)
		}
	}
}

// TestNoCallWithoutCheck: no handler sees arguments that its schema refuses, and
// each call reaches its handler once.
func TestNoCallWithoutCheck(t *testing.T) {
	var seen recorder
	s, err := New(testRuntime(t), Tool{
		Namespace: "db", Name: "write", Handler: seen.handle,
		InputSchema: parse(t, `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context(), `
import asyncio
results = await asyncio.gather(*(db.write(n=n) for n in (1, "x", None, [2], 3)), db.write(), db.write(4, 5), return_exceptions=True)
return sum(isinstance(r, ToolError) for r in results)`)
	if err != nil || out.Value.String() != "5" {
		t.Fatalf("%v, %v", out, err)
	}
	if got := fmt.Sprint(seen.args); got != `[{"n":1} {"n":3}]` && got != `[{"n":3} {"n":1}]` {
		t.Errorf("the handler saw %s", got)
	}
}

// TestSessionsAreApart: content of one run is nothing to another.
func TestSessionsAreApart(t *testing.T) {
	s, err := New(testRuntime(t), runTools(t)...)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context(), "i = await out.image()\nreturn [i._marker, i._number]")
	if err != nil || out.Value.Len() != 2 {
		t.Fatal(out, err)
	}
	marker := out.Value.Index(0).String()
	for program, want := range map[string]string{
		"return {" + marker + ": 0}":                           "{" + marker + ":0}",
		"i = await out.image()\nreturn {i._marker: 9}":         "null",
		"i = await out.image()\nreturn {i._marker: 0, 'x': 1}": "",
		"i = await out.image()\nreturn {i._marker: 'x'}":       "null",
		"return await out.structured()":                        `{"result":[9007199254740993,0.1]}`,
	} {
		out, err := s.Run(t.Context(), program)
		if err != nil || out.Failure != nil || want != "" && out.Value.String() != want || len(out.Content) > 0 {
			t.Errorf("%s: %s, %v, %v", program, out.Value, out.Failure, err)
		}
	}
}

func TestWithoutRuntime(t *testing.T) {
	if _, err := newSet(t).Run(t.Context(), "return 1"); !errors.Is(err, errNoRuntime) {
		t.Errorf("error %v", err)
	}
}

func newRuntimeOf(t *testing.T, python string) *thirdrail.Runtime {
	t.Helper()
	rt, err := thirdrail.New(t.Context(), thirdrail.Config{Python: python})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}
