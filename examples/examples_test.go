// Package examples_test runs the examples as a reader would, and compares what
// they print with their output.txt.
package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail/internal/pythons"
)

// environment has an interpreter on PATH, and no shim before it: on a busy machine
// a shim can take seconds.
func environment(t *testing.T) []string {
	t.Helper()
	return append(os.Environ(), "PATH="+filepath.Dir(pythons.All(t)[0])+":"+os.Getenv("PATH"))
}

func TestExamples(t *testing.T) {
	outputs, err := filepath.Glob("*/output.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(outputs) != 4 {
		t.Errorf("there are %d examples, want 4: %v", len(outputs), outputs)
	}
	for _, path := range outputs {
		name := filepath.Dir(path)
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			command := exec.Command("go", "run", "./"+name)
			command.Env = environment(t)
			var stderr strings.Builder
			command.Stderr = &stderr
			got, err := command.Output()
			if err != nil || stderr.Len() > 0 {
				t.Errorf("%v, stderr %q", err, stderr.String())
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadme: the page names each example, and nothing else.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		named++
		if !strings.Contains(string(page), "- **"+entry.Name()+"** – ") {
			t.Errorf("README.md says nothing of %s", entry.Name())
		}
	}
	if got := strings.Count(string(page), "\n- **"); got != named {
		t.Errorf("README.md names %d examples, and there are %d", got, named)
	}
}

// TestPageTool drives tools/page.py as `thirdrail run` does.
func TestPageTool(t *testing.T) {
	for _, test := range []struct{ args, want, err string }{
		{`{"n":1}`, `[{"id": 1}, {"id": 2}, {"id": 3}]`, ""},
		{`{"n":2}`, `[{"id": 4}]`, ""},
		{`{"n":3}`, "", "there is no page 3: the pages are 1 and 2\n"},
		{`{}`, "", "there is no page None: the pages are 1 and 2\n"},
	} {
		command := exec.Command(pythons.All(t)[0], "tools/page.py")
		command.Stdin = strings.NewReader(test.args)
		var stderr strings.Builder
		command.Stderr = &stderr
		got, err := command.Output()
		if string(got) != test.want || stderr.String() != test.err || (err == nil) != (test.err == "") {
			t.Errorf("%s: %q, stderr %q, %v", test.args, got, stderr.String(), err)
		}
	}
}
