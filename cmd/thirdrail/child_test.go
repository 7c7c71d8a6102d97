//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail/internal/pythons"
)

// An event is what host.mjs tells: a frame of the child, output of its other
// descriptors, or its end.
type event map[string]any

// A conversation is a program with what a host of another make hears of it
// between boot-ack and the child's end.
type conversation struct {
	name, program string
	events        []event
	code          float64 // the child's exit status
}

// aCall has every frame.
var aCall = conversation{"a call", "print('adding')\nr = await tools.add(a=1, b=2)\nreturn r['sum']", []event{
	{"type": "log", "text": "adding"},
	{"type": "call", "id": 0.0, "global": "tools", "name": "add", "args": map[string]any{"a": 1.0, "b": 2.0}},
	{"type": "done", "value": 3.0},
}, 0}

var conversations = []conversation{
	{"a value", "return {'a': [1, 2.5, None]}", []event{
		{"type": "done", "value": map[string]any{"a": []any{1.0, 2.5, nil}}},
	}, 0},
	{"no value", "pass", []event{{"type": "done"}}, 0},
	{"null", "return None", []event{{"type": "done", "value": nil}}, 0},
	aCall,
	{"replies out of order", "import asyncio\nreturn await asyncio.gather(tools.echo('é\\u2028'), tools.echo([]))", []event{
		{"type": "call", "id": 0.0, "global": "tools", "name": "echo", "args": "é\u2028"},
		{"type": "call", "id": 1.0, "global": "tools", "name": "echo", "args": []any{}},
		{"type": "done", "value": []any{"é\u2028", []any{}}},
	}, 0},
	{"a rejected call", "try:\n    await tools.fail()\nexcept ToolError as e:\n    return [e.tool, str(e), isinstance(e, Exception)]", []event{
		{"type": "call", "id": 0.0, "global": "tools", "name": "fail", "args": map[string]any{}},
		{"type": "done", "value": []any{"fail", "no such row", true}},
	}, 0},
	{"no open log entries", "import sys\nprint('a', end='')\nsys.stdout.flush()\nprint('b')\nprint('c', end='')", []event{
		{"type": "log", "text": "ab"},
		{"type": "log", "text": "c"},
		{"type": "done"},
	}, 0},
	{"logs over their budget", "print('x' * 2000)\nprint('y')", []event{
		{"type": "log", "text": strings.Repeat("x", 996)},
		{"type": "log", "text": "[thirdrail] log capture truncated at 1000 bytes", "truncated": true},
		{"type": "done"},
	}, 0},
	{"a value over its budget", "return 'x' * 999", []event{
		{"type": "done", "error": map[string]any{"kind": "output-limit", "message": "*"}},
	}, 0},
	{"a number that a double can't hold", "return 2**53 + 1", []event{
		{"type": "done", "error": map[string]any{"kind": "invalid-output", "message": "*"}},
	}, 0},
	{"numbers as ECMAScript spells them", "return [5.0, 2**60]", []event{
		{"type": "done", "value": []any{5.0, float64(1 << 60)}},
	}, 0},
	{"an exception", "1/0", []event{
		{"type": "done", "error": map[string]any{"kind": "exception", "message": "*"}},
	}, 0},
	{"output past the capture", "import os\nos.write(1, b'hi')\nos._exit(3)", []event{{"stdout": "hi"}}, 3},
	{"no data", "return 'data' in globals()", []event{{"type": "done", "value": false}}, 0},
	{"the name of the program", "return __file__", []event{{"type": "done", "value": "program.py"}}, 0},
}

// TestChildOfAnotherHost drives `thirdrail child` from testdata/host.mjs, a host
// that knows wire/wire.md and nothing else of us.
func TestChildOfAnotherHost(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("needs node on PATH, for a host of another make (testdata/host.mjs)")
	}
	// The words of the conversation are the same on every Python: one is enough.
	for _, test := range conversations {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			converse(t, node, pythons.All(t)[0], test)
		})
	}
	pythons.Each(t, func(t *testing.T, python string) {
		converse(t, node, python, aCall)
	})
}

// converse lets host.mjs run a program, and compares what it heard.
func converse(t *testing.T, node, python string, want conversation) {
	t.Helper()
	s := newSession(t, want.program)
	s.Path, s.Args = node, []string{node, "testdata/host.mjs", binary, "child", "--python", python}
	s.run()
	s.check(exitSuccess, s.stdout.String(), "")
	heard := slices.Concat([]event{{"type": "boot-ack"}}, want.events, []event{{"code": want.code, "signal": nil}})
	if diff := cmp.Diff(heard, events(t, s.stdout.String())); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// events reads what host.mjs printed. Messages become "*": their words are tested
// elsewhere.
func events(t *testing.T, text string) []event {
	t.Helper()
	var all []event
	for line := range strings.Lines(text) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if failed, ok := e["error"].(map[string]any); ok && failed["message"] != "" {
			failed["message"] = "*"
		}
		all = append(all, e)
	}
	return all
}

// rail returns the two ends of a socket pair of a type.
func rail(t *testing.T, kind int) (host, child *os.File) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, kind, 0)
	if err != nil {
		t.Fatal(err)
	}
	host, child = os.NewFile(uintptr(fds[0]), "host"), os.NewFile(uintptr(fds[1]), "child")
	syscall.CloseOnExec(fds[0])
	syscall.CloseOnExec(fds[1])
	t.Cleanup(func() { _, _ = host.Close(), child.Close() })
	return host, child
}

func TestChildWithoutARail(t *testing.T) {
	_, datagram := rail(t, syscall.SOCK_DGRAM)
	plain, err := os.Open(file(t, "plain", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	for name, third := range map[string]*os.File{"a datagram socket": datagram, "a file": plain, "a pipe": closedPipe(t)} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, "", "child")
			s.ExtraFiles = []*os.File{third}
			s.run()
			s.check(exitMisuse, "", "descriptor 3 is not a Unix stream socket; start thirdrail child from a host")
			checkOneLine(t, s.stderr.String())
		})
	}
}

func TestChildWithoutAnInterpreter(t *testing.T) {
	_, child := rail(t, syscall.SOCK_STREAM)
	s := newSession(t, "", "child", "--python", "/none/python3")
	s.ExtraFiles = []*os.File{child}
	s.run()
	s.check(exitMisuse, "", "/none/python3: not an executable regular file")
	checkOneLine(t, s.stderr.String())
}

// TestChildEndsWithItsHost closes the host's end before anything was said, and in
// the middle of a program.
func TestChildEndsWithItsHost(t *testing.T) {
	for name, frames := range map[string]string{
		"before boot": "",
		"in the middle": `{"type":"boot","cpuSeconds":10,"addressSpaceBytes":4294967296,"maxLogBytes":1000,"maxValueBytes":1000,"namespaces":[{"global":"t","names":["f"]}]}` + "\n" +
			`{"type":"run","program":"await t.f()"}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			host, child := rail(t, syscall.SOCK_STREAM)
			s := newSession(t, "", "child")
			s.ExtraFiles = []*os.File{child}
			if err := s.Start(); err != nil {
				t.Fatal(err)
			}
			_ = child.Close()
			if _, err := host.WriteString(frames); err != nil {
				t.Fatal(err)
			}
			if frames != "" {
				awaitText(t, host, `"type":"call"`)
			}
			_ = host.Close()
			s.wait()
			if s.ProcessState.Success() || s.stdout.Len() > 0 || s.stderr.Len() > 0 {
				t.Errorf("%v, stdout %q, stderr %q", s.ProcessState, s.stdout.String(), s.stderr.String())
			}
		})
	}
}

// awaitText reads until text has come.
func awaitText(t *testing.T, f *os.File, text string) {
	t.Helper()
	var got strings.Builder
	buffer := make([]byte, 4096)
	for !strings.Contains(got.String(), text) {
		n, err := f.Read(buffer)
		if err != nil {
			t.Fatalf("%v after %q, waiting for %q", err, got.String(), text)
		}
		got.Write(buffer[:n])
	}
}

// TestChildHasNoOtherDescriptors: what the Go process opened must not reach the
// program.
func TestChildHasNoOtherDescriptors(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("needs /proc/self/fd")
	}
	host, child := rail(t, syscall.SOCK_STREAM)
	s := newSession(t, "", "child")
	s.ExtraFiles = []*os.File{child}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	_ = child.Close()
	program := `import os\nd = os.open('/proc/self/fd', os.O_RDONLY)\nprint(sorted(int(n) for n in os.listdir(d) if int(n) != d))`
	frames := `{"type":"boot","cpuSeconds":10,"addressSpaceBytes":4294967296,"maxLogBytes":1000,"maxValueBytes":1000,"namespaces":[]}` + "\n" +
		`{"type":"run","program":"` + program + `"}` + "\n"
	if _, err := host.WriteString(frames); err != nil {
		t.Fatal(err)
	}
	awaitText(t, host, `"text":"[0, 1, 2, 3`)
	_ = host.Close()
	s.wait()
}
