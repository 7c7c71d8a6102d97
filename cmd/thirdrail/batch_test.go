package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail/internal/pythons"
)

// jobResult is a line of results, as another program would read it.
type jobResult struct {
	ID    json.RawMessage    `json:"id"`
	Line  int                `json:"line"`
	Value json.RawMessage    `json:"value"`
	Logs  []string           `json:"logs"`
	Error *map[string]string `json:"error"`
	Stats map[string]any     `json:"stats"`
}

// jobResults reads lines of results.
func jobResults(t *testing.T, text string) []jobResult {
	t.Helper()
	if text != "" && !strings.HasSuffix(text, "\n") {
		t.Errorf("the last line is a half: %.200q", text)
	}
	var list []jobResult
	for line := range strings.Lines(text) {
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.DisallowUnknownFields()
		var r jobResult
		if err := decoder.Decode(&r); err != nil || r.Logs == nil || r.Stats == nil {
			t.Fatalf("%v in %q", err, line)
		}
		list = append(list, r)
	}
	return list
}

// short returns what a result comes to: its id, and its value or the kind of its error.
func (r jobResult) short() string {
	text := string(r.ID)
	if r.Line > 0 {
		text += fmt.Sprintf("@%d", r.Line)
	}
	if r.Error != nil {
		return text + " " + (*r.Error)["kind"]
	}
	return text + " " + string(r.Value)
}

func shortResults(t *testing.T, text string) []string {
	t.Helper()
	var list []string
	for _, r := range jobResults(t, text) {
		list = append(list, r.short())
	}
	return list
}

// mixedJobs has jobs of each kind, and lines that are none. Its results in order are
// mixedResults.
const mixedJobs = `{"id": 1.0, "program": "print('hi')\nreturn data", "data": {"b": 9007199254740993, "a": -0.0}}

{"id": "a", "program": "return await t.echo(data)", "data": [5e-324, "\ud800"]}
no job
{"id": 1, "program": "x = 1"}
{"id": "a", "program": "return 'again'"}
{"id": 2, "program": "1/0"}
{"id": 3, "program": "while True: pass", "limits": {"wall": "200ms"}}
{"id": 4, "program": "return 'x' * 100", "limits": {"valueBytes": "50"}}
{"id": 5, "program": "return {1}", "limits": {"logBytes": 3}}
{"id": 6, "program": "import os\nos._exit(3)"}
{"id": 7, "program": "return 'data' in globals()", "extra": 1}
{"id": 8, "program": "return ['data' in globals(), None]"}`

var mixedResults = []string{
	`1.0 {"b":9007199254740993,"a":-0.0}`,
	`"a" [5e-324,"\ud800"]`,
	"null@4 invalid-job",
	"1 ",
	"null@6 invalid-job",
	"2 exception",
	"3 timeout",
	"4 output-limit",
	"5@10 invalid-job",
	"6 worker-exit",
	"7@12 invalid-job",
	"8 [false,null]",
}

const mixedSummary = "): 4 succeeded, 8 failed (4 invalid-job, 1 exception, 1 output-limit, 1 timeout, 1 worker-exit)\n"

func TestBatch(t *testing.T) {
	for _, inOrder := range []bool{true, false} {
		args := []string{"batch", "-", "-j", "3", "--tool", "t.echo=cat"}
		if inOrder {
			args = append(args, "--in-order")
		}
		s := invoke(t, mixedJobs, args...)
		got := shortResults(t, s.stdout.String())
		want := slices.Clone(mixedResults)
		if !inOrder {
			slices.Sort(got)
			slices.Sort(want)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in order %v (-want +got):\n%s", inOrder, diff)
		}
		s.check(exitFailure, s.stdout.String(), mixedSummary)
		for _, says := range []string{
			"thirdrail: line 4: the line is not a JSON object that crosses without loss: ",
			`thirdrail: line 6: the id "a" was there before; give each job an id of its own`,
			"thirdrail: line 10: limits.logBytes is 3; the notice that logs were cut needs 46",
			`thirdrail: line 12: it has a member "extra", which no job has`,
		} {
			if strings.Count(s.stderr.String(), says) != 1 {
				t.Errorf("stderr has not once %q: %s", says, s.stderr.String())
			}
		}
	}
}

// TestBatchReports: a result tells all that run --json tells.
func TestBatchReports(t *testing.T) {
	s := invoke(t, `{"id":1,"program":"print('one')\nprint()\nraise ValueError('no')"}`, "batch", "-")
	r := jobResults(t, s.stdout.String())[0]
	if !slices.Equal(r.Logs, []string{"one", ""}) || r.Error == nil || !strings.Contains((*r.Error)["message"], "ValueError: no") || r.Value != nil {
		t.Errorf("%+v", r)
	}
	one := jsonOutcome(t, invoke(t, "pass", "run", "-", "--json"))
	for name := range one.Stats {
		if _, ok := r.Stats[name]; !ok {
			t.Errorf("stats lack %s", name)
		}
	}
	if len(r.Stats) != len(one.Stats) || r.Stats["start"] != "fork" {
		t.Errorf("stats %v", r.Stats)
	}
}

// TestBatchSucceeds: the exit status, defaults from flags, tools with schemas, and an
// empty input.
func TestBatchSucceeds(t *testing.T) {
	jobs := `{"id":1,"program":"import sys\nreturn ['statistics' in sys.modules, 5.0]"}
{"id":2,"program":"await a_b.x_y_z()"}
{"id":3,"program":"return await t.f(1)"}
`
	s := invoke(t, jobs, "batch", "-", "--in-order", "--preload", "statistics", "--numbers", "double",
		"--tools", file(t, "tools.json", toolsFile), "--tool", "t.f=cat")
	if diff := cmp.Diff([]string{"1 [true,5]", "2 {}", "3 1"}, shortResults(t, s.stdout.String())); diff != "" {
		t.Errorf("%s", diff)
	}
	s.check(exitSuccess, s.stdout.String(), "thirdrail: 3 jobs in ")
	invoke(t, "\n", "batch", "-").check(exitSuccess, "", "thirdrail: 0 jobs in ")
}

// TestBatchFailFast stops at the first failure, which a second job would survive.
func TestBatchFailFast(t *testing.T) {
	jobs := `{"id":1,"program":"import time\ntime.sleep(300)"}
{"id":2,"program":"1/0"}
` + strings.Repeat("no job\n", 50)
	out := filepath.Join(t.TempDir(), "out")
	s := invoke(t, jobs, "batch", "-", "-j", "2", "--fail-fast", "-o", out)
	s.check(exitFailure, "", "thirdrail: 1 job in ")
	text, _ := os.ReadFile(out)
	if got := shortResults(t, string(text)); !slices.Equal(got, []string{"2 exception"}) {
		t.Errorf("%v", got)
	}
}

// batchMisuses lists command lines that are refused. OUT stands for an output with
// text in it, JOBS for a file with a job that would leave a mark.
var batchMisuses = []struct {
	name string
	args []string
	out  string // what is in OUT
	want string
}{
	{"no jobs", nil, "", "no jobs given; write thirdrail batch FILE"},
	{"two files", []string{"JOBS", "b"}, "", "batch takes one; join them with cat"},
	{"a missing file", []string{"none.jsonl"}, "", `the list of jobs in "none.jsonl" can't be read: no such file or directory; give the path`},
	{"a folder", []string{"DIR"}, "", "can't be read: is a directory"},
	{"a program", []string{"DIR/program.py"}, "", "program.py\" is none: these are no jobs: line 1: the line is not a JSON object"},
	{"a list", []string{"DIR/list.json"}, "", "line 1: the line is not a JSON object"},
	{"no workers", []string{"JOBS", "-j", "0"}, "", "--jobs is 0; it must be at least 1"},
	{"workers that are no number", []string{"JOBS", "-j", "many"}, "", "--jobs: "},
	{"resume of nothing", []string{"JOBS", "--resume"}, "", "--resume needs an --output"},
	{"retry without resume", []string{"JOBS", "-o", "OUT", "--retry-failed"}, "", "--retry-failed goes with --resume"},
	{"an empty output", []string{"JOBS", "--output="}, "", "--output is no file"},
	{"an output that isn't empty", []string{"JOBS", "-o", "OUT"}, "x", "isn't empty; write --resume"},
	{"an output that isn't ours", []string{"JOBS", "-o", "OUT", "--resume"}, "hello\n", "has a line 1 that is no result"},
	{"the jobs as output", []string{"JOBS", "-o", "JOBS", "--resume"}, "", `it has a member "program"; a result is`},
	{"an output in no folder", []string{"JOBS", "-o", "DIR/none/out"}, "", "can't be opened: no such file or directory"},
	{"a preload that isn't there", []string{"JOBS", "-o", "OUT", "--preload", "no_such_module"}, "", "no_such_module"},
	{"a preload beside an output to mend", []string{"JOBS", "-o", "OUT", "--resume", "--preload", "no_such_module"}, `{"id":`, "no_such_module"},
	{"a tool without a command", []string{"JOBS", "--tool", "t.f"}, "", `--tool "t.f" has no command`},
	{"a namespace that is reserved", []string{"JOBS", "--tool", "lambda.f=cat"}, "", `--tool namespace "lambda" is a reserved word`},
	{"a limit that can't be kept", []string{"JOBS", "--log-bytes", "3"}, "", "--log-bytes is 3; the notice"},
	{"an interpreter that isn't there", []string{"JOBS", "--python", "/none/python3"}, "", "/none/python3"},
	{"one input for two", []string{"-", "--tools", "-"}, "", "the jobs and --tools can't both come from standard input"},
	{"no jobs on standard input", []string{"-", "-o", "OUT"}, "", `the list of jobs in "-" is none`},
}

func TestBatchMisuse(t *testing.T) {
	for _, test := range batchMisuses {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			at := func(name string) string { return filepath.Join(folder, name) }
			texts := map[string]string{
				"jobs.jsonl": `{"id":1,"program":"open('` + at("mark") + `', 'w')"}` + "\n",
				"program.py": "import os\nprint(os.name)\n",
				"list.json":  "[\n" + `{"id":1,"program":"x"},` + "\n]\n",
			}
			if test.out != "" {
				texts["out"] = test.out
			}
			for name, text := range texts {
				if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"batch", "--sandbox", "off"}
			for _, arg := range test.args {
				args = append(args, strings.NewReplacer("JOBS", at("jobs.jsonl"), "OUT", at("out"), "DIR", folder).Replace(arg))
			}
			s := invoke(t, "prose\n", args...)
			s.check(exitMisuse, "", test.want)
			checkOneLine(t, s.stderr.String())
			entries, _ := os.ReadDir(folder)
			if len(entries) != len(texts) {
				t.Errorf("files were made or removed: %v", entries)
			}
			for name, want := range texts {
				if got, err := os.ReadFile(at(name)); string(got) != want {
					t.Errorf("%s is %q (%v)", name, got, err)
				}
			}
		})
	}
}

// TestBatchResume goes on with an output whose last line is a half, and then once
// more with those that failed.
func TestBatchResume(t *testing.T) {
	jobs := file(t, "jobs.jsonl", mixedJobs)
	out := filepath.Join(t.TempDir(), "out")
	args := []string{"batch", jobs, "-o", out, "--in-order", "--resume", "--tool", "t.echo=cat"}
	for _, want := range []string{": 4 succeeded, 8 failed", ": 3 succeeded, 1 failed (1 worker-exit); 8 had a result before", ": 0 succeeded; 12 had a result before"} {
		s := invoke(t, "", args...)
		status := exitFailure
		if strings.Contains(want, ": 0 succeeded") {
			status = exitSuccess // nothing failed this time
		}
		s.check(status, "", want)
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		got, sorted := shortResults(t, string(text)), slices.Clone(mixedResults)
		slices.Sort(got)
		slices.Sort(sorted)
		if diff := cmp.Diff(sorted, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !strings.Contains(want, "8 failed") {
			continue
		}
		var kept string // all but 1.0, "a", 6 and 8, of which one is a half
		half := ""
		for line := range strings.Lines(string(text)) {
			switch {
			case strings.HasPrefix(line, `{"id":8,`):
				half = line[:len(line)/2]
			case !strings.HasPrefix(line, `{"id":1.0,`) && !strings.HasPrefix(line, `{"id":"a",`) && !strings.HasPrefix(line, `{"id":6,`):
				kept += line
			}
		}
		if err := os.WriteFile(out, []byte(kept+half), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := invoke(t, "", append(args, "--retry-failed", "--wall", "10s")...)
	s.check(exitFailure, "", ": 0 succeeded, 8 failed (4 invalid-job, 1 exception, 1 output-limit, 1 timeout, 1 worker-exit); 4 had a result before")
}

// TestBatchOutputThatCannotBeWritten ends the batch.
func TestBatchOutputThatCannotBeWritten(t *testing.T) {
	s := newSession(t, strings.Repeat("no job\n", 3)+`{"id":1,"program":"return 1"}`+strings.Repeat("\nno job", 1000), "batch", "-", "-j", "1")
	s.Stdout = closedPipe(t)
	s.run()
	s.check(exitFailure, "", "thirdrail: the results can't be written to standard output: write /dev/stdout: broken pipe\n")
	if !strings.Contains(s.stderr.String(), "thirdrail: 0 jobs in ") {
		t.Errorf("stderr %s", s.stderr.String())
	}
}

func TestBatchOnEveryPython(t *testing.T) {
	pythons.Each(t, func(t *testing.T, python string) {
		s := invoke(t, `{"id":1,"program":"import sys\nreturn sys.executable"}`, "batch", "-", "--python", python)
		if got := shortResults(t, s.stdout.String()); !slices.Equal(got, []string{`1 "` + python + `"`}) {
			t.Errorf("%v, %s", got, s.stderr.String())
		}
	})
}

// TestBatchHelp: the help says what is decided, and the example is there.
func TestBatchHelp(t *testing.T) {
	help := invoke(t, "", "batch", "--help").stdout.String()
	for _, word := range []string{"thirdrail batch FILE|-", `1, 1.0 and "1" are three`, "invalid-job", "--resume", "Exit status 0", "-j, --jobs"} {
		if !strings.Contains(help, word) {
			t.Errorf("%q is missing in\n%s", word, help)
		}
	}
	if _, err := os.Stat("../../examples/batch/jobs.jsonl"); err != nil {
		t.Error(err)
	}
}
