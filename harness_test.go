package thirdrail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail/internal/interpreter"
	"github.com/thirdrail-dev/thirdrail/internal/pythons"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// programCase is one program and what must come of it, on each Python that the test
// runs on (package pythons). What isn't set isn't looked at, but for Kind: a case without one must
// succeed.
type programCase struct {
	Name    string
	Program string
	// Since is the first minor version of Python 3 that the case is for.
	Since   int
	Limits  Limits
	Numbers lossless.Numbers
	Data    string
	// Sandbox is what the case needs beyond the default.
	Sandbox testSandbox

	// Value is the canonical text of the value; "absent" means that there is none.
	Value string
	Kind  FailureKind
	// Message and NotMessage are parts that the failure's message must have and
	// must not have.
	Message    []string
	NotMessage []string
	Logs       []string // nil: not looked at; empty: no logs
	// InLogs are parts that the logs, joined by newlines, must have.
	InLogs []string
	// Check looks at whatever else matters.
	Check func(t *testing.T, result *Result)
	// Namespaces replaces the usual ones (testNamespaces).
	Namespaces     []Namespace
	LastExpression bool
}

// runCases runs each case on each Python, several at once, when the tests that look
// at all of this process are over.
func runCases(t *testing.T, cases []programCase) {
	t.Helper()
	t.Parallel()
	for _, python := range pythons.All(t) {
		t.Run(pythonName(python), func(t *testing.T) {
			t.Parallel()
			for _, numbers := range []lossless.Numbers{lossless.Exact, lossless.Double} {
				for sandbox := range testSandbox(len(testSandboxes)) {
					runCasesOf(t, python, numbers, sandbox, cases)
				}
			}
		})
	}
}

// testSandbox is what a program may do in a test.
type testSandbox int

const (
	confined      testSandbox = iota // the default
	withProcesses                    // it forks, or executes a usual command
	unconfined                       // it looks at the machine, or at the host's folders
)

var testSandboxes = [...]Sandbox{confined: {}, withProcesses: {AllowExec: []string{"/bin/sh", "/bin/echo", "/bin/sleep"}}, unconfined: {Mode: SandboxOff}}

func runCasesOf(t *testing.T, python string, numbers lossless.Numbers, sandbox testSandbox, cases []programCase) {
	if !slices.ContainsFunc(cases, func(c programCase) bool { return c.Numbers == numbers && c.Sandbox == sandbox }) {
		return
	}
	rt := newRuntime(t, Config{Python: python, Numbers: numbers, Sandbox: testSandboxes[sandbox]})
	for _, c := range cases {
		if c.Numbers != numbers || c.Sandbox != sandbox || rt.interpreter.Version.Minor < c.Since {
			continue
		}
		t.Run(c.Name, func(t *testing.T) { c.run(t, rt) })
	}
}

func (c programCase) run(t *testing.T, rt *Runtime) {
	t.Helper()
	request := Request{Program: c.Program, Namespaces: c.Namespaces, Limits: c.Limits, LastExpression: c.LastExpression}
	if request.Namespaces == nil {
		request.Namespaces = testNamespaces()
	}
	if c.Data != "" {
		request.Data = parse(t, c.Data)
	}
	result, err := rt.Run(t.Context(), request)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	c.compare(t, result)
}

func (c programCase) compare(t *testing.T, result *Result) {
	t.Helper()
	kind, message := FailureKind(""), ""
	if result.Failure != nil {
		kind, message = result.Failure.Kind, result.Failure.Message
	}
	if kind != c.Kind {
		t.Errorf("kind is %q, want %q; message %q, logs %s", kind, c.Kind, short(message), short(fmt.Sprintf("%q", result.Logs)))
	}
	if result.Failure != nil && result.Value.Exists() {
		t.Errorf("a failed run has the value %s", short(result.Value.String()))
	}
	for _, part := range c.Message {
		if !strings.Contains(message, part) {
			t.Errorf("message %q lacks %q", short(message), part)
		}
	}
	for _, part := range c.NotMessage {
		if strings.Contains(message, part) {
			t.Errorf("message %q has %q", short(message), part)
		}
	}
	if want := c.Value; want != "" {
		got := result.Value.String()
		if !result.Value.Exists() {
			got = "absent"
		}
		if got != want {
			t.Errorf("value is %s, want %s", short(got), short(want))
		}
	}
	if c.Logs != nil {
		if diff := cmp.Diff(c.Logs, result.Logs); diff != "" && len(c.Logs)+len(result.Logs) > 0 {
			t.Errorf("logs (-want +got):\n%s", short(diff))
		}
	}
	for _, part := range c.InLogs {
		if logs := strings.Join(result.Logs, "\n"); !strings.Contains(logs, part) {
			t.Errorf("logs %q lack %q", short(logs), part)
		}
	}
	if c.Check != nil {
		c.Check(t, result)
	}
}

// short bounds what a failing test prints.
func short(text string) string {
	const most = 3000
	if len(text) <= most {
		return text
	}
	return text[:most/2] + fmt.Sprintf(" … %d bytes … ", len(text)-most) + text[len(text)-most/2:]
}

// oldestAndNewest returns the Pythons of the machine with the lowest and the highest
// version.
func oldestAndNewest(t testing.TB) []string {
	t.Helper()
	all := pythons.Every(t)
	minor := func(a, b string) int {
		return findPython(t, a).Version.Minor - findPython(t, b).Version.Minor
	}
	return slices.Compact([]string{slices.MinFunc(all, minor), slices.MaxFunc(all, minor)})
}

func pythonName(path string) string {
	if path == "/usr/bin/python3" || strings.HasPrefix(path, "/usr/bin/") {
		return "system"
	}
	return filepath.Base(filepath.Dir(filepath.Dir(path)))
}

// newRuntime returns a runtime that is closed when the test ends. It looks for
// each interpreter only once, since compiling the child for it takes most of New.
func newRuntime(t testing.TB, config Config) *Runtime {
	t.Helper()
	if config.Start == StartAuto {
		config.Start = startOf(t, config)
	}
	limits := config.Limits.inherit(DefaultLimits())
	if err := checkConfig(config, limits); err != nil {
		t.Fatal(err)
	}
	rt, err := newOn(context.Background(), config, limits, findPython(t, config.Python))
	if err != nil {
		t.Fatalf("newOn: %v", err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return rt
}

// newSpawning returns a runtime without a nursery, for tests that look at all its
// processes and folders between two runs.
func newSpawning(t testing.TB, config Config) *Runtime {
	t.Helper()
	config.Start = StartSpawn
	return newRuntime(t, config)
}

// startVariable forces the start method of tests that don't name one: fork or spawn.
const startVariable = "THIRDRAIL_TEST_START"

// startOf returns the start method of a test that doesn't name one: one or the other,
// by its name and its Python. All of them with both takes too long for every change,
// and is what `make starts` does.
func startOf(t testing.TB, config Config) StartMethod {
	switch method := os.Getenv(startVariable); method {
	case "fork":
		return StartFork
	case "spawn":
		return StartSpawn
	case "":
	default:
		t.Fatalf("%s is %q; it can be fork or spawn", startVariable, method)
	}
	turn := slices.Index(pythons.Every(t), config.Python)
	for _, letter := range []byte(strings.Split(t.Name(), "/")[0]) {
		turn += int(letter)
	}
	if turn%3 == 0 { // it takes ten times as long
		return StartSpawn
	}
	return StartFork
}

var pythonsFound sync.Map // by path: a function that finds the interpreter once

func findPython(t testing.TB, path string) *interpreter.Interpreter {
	t.Helper()
	find, _ := pythonsFound.LoadOrStore(path, sync.OnceValues(func() (*interpreter.Interpreter, error) {
		return interpreter.Find(context.Background(), path)
	}))
	found, err := find.(func() (*interpreter.Interpreter, error))()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// run runs a program with the usual namespaces.
func run1(t testing.TB, rt *Runtime, program string, limits Limits) *Result {
	t.Helper()
	result, err := rt.Run(t.Context(), Request{Program: program, Namespaces: testNamespaces(), Limits: limits})
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return result
}

func parse(t testing.TB, text string) lossless.Value {
	t.Helper()
	value, err := lossless.Parse([]byte(text), lossless.Options{})
	if err != nil {
		t.Fatalf("%s: %v", short(text), err)
	}
	return value
}

var errNope = errors.New("nope")

// testNamespaces are what most programs of the tests can call:
//
//	tools.echo      returns its arguments
//	tools.add       returns {"a": n} as n + 1
//	tools.fail      rejects with "nope"
//	tools.slow      waits until the run ends, or {"ms": n}
//	tools.null      returns null
//	tools["my-tool"], tools["__proto__"], tools["constructor"], tools["__class__"], tools[""]
//	                return their name
//	db.page         rejects with db's error class DBError, member "operation"
func testNamespaces() []Namespace {
	named := func(name string) Func {
		return func(context.Context, lossless.Value) (lossless.Value, error) { return lossless.Of(name) }
	}
	return []Namespace{
		{Global: "tools", Funcs: Funcs{
			"echo": func(_ context.Context, args lossless.Value) (lossless.Value, error) { return args, nil },
			"add": Bind(func(_ context.Context, in struct {
				A int64 `json:"a"`
			}) (int64, error) {
				return in.A + 1, nil
			}),
			"fail":        func(context.Context, lossless.Value) (lossless.Value, error) { return lossless.Value{}, errNope },
			"null":        func(context.Context, lossless.Value) (lossless.Value, error) { return lossless.Value{}, nil },
			"slow":        Bind(slow),
			"my-tool":     named("my-tool"),
			"__proto__":   named("__proto__"),
			"constructor": named("constructor"),
			"__class__":   named("__class__"),
			"":            named(""),
		}},
		{
			Global:     "db",
			Funcs:      Funcs{"page": func(context.Context, lossless.Value) (lossless.Value, error) { return lossless.Value{}, errNope }},
			ErrorClass: &ErrorClass{Name: "DBError", MemberNameProperty: "operation"},
		},
	}
}

func slow(ctx context.Context, in struct {
	Milliseconds int `json:"ms"`
}) (string, error) {
	var after <-chan time.Time
	if in.Milliseconds > 0 {
		timer := time.NewTimer(time.Duration(in.Milliseconds) * time.Millisecond)
		defer timer.Stop()
		after = timer.C
	}
	select {
	case <-after:
		return "slow", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// recorder is a function that remembers what it was called with.
type recorder struct {
	mu   sync.Mutex
	args []string
}

func (r *recorder) call(_ context.Context, args lossless.Value) (lossless.Value, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.args = append(r.args, args.String())
	return args, nil
}

func (r *recorder) seen() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.args)
}
