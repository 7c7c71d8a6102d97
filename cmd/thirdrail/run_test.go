package main

import (
	"encoding/json"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail/internal/pythons"
)

// programs lists programs with what they must bring to the two streams.
var programs = []struct {
	name    string
	program string
	args    []string
	status  int
	stdout  string
	stderr  string
}{
	{name: "a value", program: `return {"a": [1, 2.5, None, True, "é"]}`, stdout: `{"a":[1,2.5,null,true,"é"]}` + "\n"},
	{name: "no value", program: `a = 1`},
	{name: "an empty program", program: ``},
	{name: "null is a value", program: `return None`, stdout: "null\n"},
	{name: "top-level await", program: "import asyncio\nawait asyncio.sleep(0)\nreturn 1", stdout: "1\n"},
	{name: "integers of any size", program: `return [2**53 + 1, -2**63, 10**40]`,
		stdout: "[9007199254740993,-9223372036854775808,10000000000000000000000000000000000000000]\n"},
	{name: "no escapes for HTML", program: `return "<a href='?x&y'>"`, stdout: `"<a href='?x&y'>"` + "\n"},
	{name: "logs", program: "print('one')\nprint()\nprint('two', end='')\nreturn 1", stdout: "1\n", stderr: "one\n\ntwo\n"},
	{name: "an exception", program: "print('before')\n1/0", status: 1, stderr: "before\nthirdrail: exception: "},
	{name: "a syntax error", program: "x = = 1", status: 1, stderr: "thirdrail: exception: "},
	{name: "not JSON", program: "return {1, 2}", status: 1, stderr: "thirdrail: invalid-output: "},
	{name: "an exit", program: "import os\nos._exit(7)", status: 1, stderr: "thirdrail: worker-exit: the process exited with code=7"},
	{name: "sys.exit is no failure", program: "import sys\nsys.exit(0)"},
	{name: "a byte order mark", program: "\uFEFFreturn 1", stdout: "1\n"},
	{name: "the value is no log", program: "print('{\"type\":\"done\"}')\nreturn 1", stdout: "1\n", stderr: "{\"type\":\"done\"}\n"},

	{name: "over the wall limit", program: "print('on')\nwhile True: pass", args: []string{"--wall", "300ms"},
		status: 1, stderr: "on\nthirdrail: timeout: the program ran for longer than the wall time limit of 300ms"},
	{name: "over the CPU limit", program: "while True: pass", args: []string{"--cpu", "300ms"},
		status: 1, stderr: "thirdrail: timeout: the program used more than the CPU time limit of 300ms"},
	{name: "over the memory limit", program: "try:\n    b'x' * (300 << 20)\nexcept MemoryError:\n    return 'told'",
		args: []string{"--memory", "256MiB"}, stdout: "\"told\"\n"},
	{name: "over the value limit", program: "return None", args: []string{"--value-bytes", "3B"},
		status: 1, stderr: "thirdrail: output-limit: "},
	{name: "over the log limit", program: "print('x' * 100)\nprint('y')\nreturn 1", args: []string{"--log-bytes", "64"},
		stdout: "1\n", stderr: "xxx\n[thirdrail] log capture truncated at 64 bytes\n"},
	{name: "numbers that a double holds", program: "return 5.0", args: []string{"--numbers", "double"}, stdout: "5\n"},
	{name: "numbers that a double can't hold", program: "return 2**53 + 1", args: []string{"--numbers=double"},
		status: 1, stderr: "thirdrail: invalid-output: "},
	{name: "fork", program: "return 1", args: []string{"--start", "fork"}, stdout: "1\n"},
	{name: "preload", program: "import sys\nreturn 'statistics' in sys.modules", args: []string{"--preload", "statistics,json"}, stdout: "true\n"},
	{name: "start and sandbox", program: "return 1", args: []string{"--start", "spawn", "--sandbox", "off"}, stdout: "1\n"},
}

func TestRun(t *testing.T) {
	for _, test := range programs {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			invoke(t, test.program, append([]string{"run", "-"}, test.args...)...).check(test.status, test.stdout, test.stderr)
		})
	}
}

func TestRunFile(t *testing.T) {
	path := file(t, "sum.py", "return sum(data)")
	invoke(t, "[1, 2, 3]", "run", path, "--data", "-").check(exitSuccess, "6\n", "")
}

func TestRunOnEveryPython(t *testing.T) {
	pythons.Each(t, func(t *testing.T, python string) {
		s := invoke(t, "import sys\nprint('hi')\nreturn sys.executable", "run", "-", "--python", python)
		s.check(exitSuccess, `"`+python+"\"\n", "hi\n")
	})
}

// data lists JSON that programs get as their global data and return as it is.
var data = []struct{ name, text, want string }{
	{"an object", ` {"b": 1, "a": [true, null]} `, `{"b":1,"a":[true,null]}`},
	{"null", `null`, `null`},
	{"large integers", `[9007199254740993, 18446744073709551616]`, `[9007199254740993,18446744073709551616]`},
	{"doubles", `[0.1, 5e-324, -0.0, 3.0]`, `[0.1,5e-324,-0.0,3.0]`},
	{"text", `"é\u00e9\u2028\ud83d\ude00\u0000"`, `"éé` + "\u2028😀" + `\u0000"`},
	{"a lone surrogate", `"\ud800"`, `"\ud800"`},
	{"deep", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), strings.Repeat("[", 20000) + strings.Repeat("]", 20000)},
}

func TestData(t *testing.T) {
	for _, test := range data {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := file(t, "data.json", test.text)
			invoke(t, "return data", "run", "-", "--data", path).check(exitSuccess, test.want+"\n", "")
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		invoke(t, "return 'data' in globals()", "run", "-").check(exitSuccess, "false\n", "")
	})
}

func TestLogsComeWhileTheProgramRuns(t *testing.T) {
	release := file(t, "wait", "")
	s := newSession(t, `import os, time
print("ready")
while os.path.exists(data):
    time.sleep(0.005)
print("released")
return 1`, "run", "-", "--data", file(t, "data.json", `"`+release+`"`))
	s.startReady()
	if err := os.Remove(release); err != nil {
		t.Fatal(err)
	}
	s.wait()
	s.check(exitSuccess, "1\n", "released\n")
}

// outcome is the object of --json, as another program would read it.
type outcome struct {
	Value json.RawMessage    `json:"value"`
	Logs  []string           `json:"logs"`
	Error *map[string]string `json:"error"`
	Stats map[string]any     `json:"stats"`
}

// jsonOutcome returns what a run with --json printed, which must be one line.
func jsonOutcome(t *testing.T, s *session) outcome {
	t.Helper()
	text := s.stdout.String()
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		t.Errorf("stdout is not one line: %q", text)
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	var o outcome
	if err := decoder.Decode(&o); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return o
}

func TestJSON(t *testing.T) {
	for _, test := range []struct {
		name, program string
		status        int
		value         string
		logs          []string
		kind          string
	}{
		{"a value", "print('a')\nprint('b')\nreturn {'n': 9007199254740993}", 0, `{"n":9007199254740993}`, []string{"a", "b"}, ""},
		{"no value", "pass", 0, "", []string{}, ""},
		{"null", "return None", 0, "null", []string{}, ""},
		{"a failure", "print('<a>')\nraise ValueError('no')", 1, "", []string{"<a>"}, "exception"},
		{"deep", "v = None\nfor _ in range(9000): v = [v]\nreturn v", 0, strings.Repeat("[", 9000) + "null" + strings.Repeat("]", 9000), []string{}, ""},
		{"not lossless", "return {1}", 1, "", []string{}, "invalid-output"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := invoke(t, test.program, "run", "-", "--json")
			if got := s.ProcessState.ExitCode(); got != test.status || s.stderr.Len() > 0 {
				t.Errorf("exit status %d, stderr %q", got, s.stderr.String())
			}
			o := jsonOutcome(t, s)
			if string(o.Value) != test.value || strings.Contains(s.stdout.String(), `"value"`) != (test.value != "") {
				t.Errorf("value %.100q, want %.100q", o.Value, test.value)
			}
			if diff := cmp.Diff(test.logs, o.Logs); diff != "" {
				t.Errorf("logs: %s", diff)
			}
			switch {
			case test.kind == "":
				if o.Error != nil || strings.Contains(s.stdout.String(), `"error"`) {
					t.Errorf("error %v on success", o.Error)
				}
			case o.Error == nil:
				t.Error("no error")
			case (*o.Error)["kind"] != test.kind || (*o.Error)["message"] == "" || len(*o.Error) != 2:
				t.Errorf("error %v, want kind %s", *o.Error, test.kind)
			}
		})
	}
}

func TestJSONStats(t *testing.T) {
	s := invoke(t, "print('abc')\nawait t.a()\nawait t.a()\nimport os\nos.write(3, b'no frame\\n')\nreturn 1",
		"run", "-", "--json", "--tool", "t.a=cat")
	stats := jsonOutcome(t, s).Stats
	for _, name := range []string{"wallMs", "cpuMs", "startMs", "peakMemoryBytes"} {
		if n, ok := stats[name].(float64); !ok || n <= 0 {
			t.Errorf("%s is %v, want a positive number", name, stats[name])
		}
		delete(stats, name)
	}
	if isolation, ok := stats["isolation"].(string); !ok || !regexp.MustCompile(`^[a-z-]+$`).MatchString(isolation) {
		t.Errorf("isolation %v", stats["isolation"])
	}
	delete(stats, "isolation")
	if walls, ok := stats["confinement"].([]any); !ok || len(walls) < 2 || walls[0] != "landlock" || walls[1] != "seccomp" {
		t.Errorf("confinement %v", stats["confinement"])
	}
	delete(stats, "confinement")
	want := map[string]any{"calls": 2.0, "droppedFrames": 1.0, "logBytes": 6.0, "start": "spawn"}
	if diff := cmp.Diff(want, stats); diff != "" {
		t.Errorf("stats: %s", diff)
	}
}

func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Run("stdout closed", func(t *testing.T) {
		t.Parallel()
		for _, args := range [][]string{nil, {"--json"}} {
			s := newSession(t, "return 1", append([]string{"run", "-"}, args...)...)
			s.Stdout = closedPipe(t)
			s.run()
			s.check(exitFailure, "", "thirdrail: the result can't be written to standard output: write /dev/stdout: broken pipe\n")
		}
	})
	t.Run("no value to write", func(t *testing.T) {
		t.Parallel()
		s := newSession(t, "pass", "run", "-")
		s.Stdout = closedPipe(t)
		s.run()
		s.check(exitSuccess, "", "")
	})
	t.Run("stderr closed", func(t *testing.T) {
		t.Parallel()
		s := newSession(t, "for i in range(100): print(i)\nreturn 1", "run", "-")
		s.Stderr = closedPipe(t)
		s.run()
		s.check(exitSuccess, "1\n", "")
	})
	t.Run("disk full", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS != "linux" {
			t.Skip("only Linux has /dev/full")
		}
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer full.Close()
		s := newSession(t, "return 1", "run", "-")
		s.Stdout = full
		s.run()
		s.check(exitFailure, "", "can't be written to standard output: write /dev/stdout: no space left on device\n")
	})
}

// closedPipe returns the end for writing of a pipe that nobody reads.
func closedPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	_ = r.Close()
	return w
}
