package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/thirdrail-dev/thirdrail/bench"
)

// TestBench measures one group in a tiny size. Nothing but the report is printed
// where no terminal is.
func TestBench(t *testing.T) {
	s := invoke(t, "", "bench", "--only", "codec", "--rounds", "1")
	out := s.stdout.String()
	if s.ProcessState.ExitCode() != exitSuccess || s.stderr.Len() > 0 ||
		!strings.Contains(out, "### JSON both ways") || !strings.Contains(out, "| `json.dumps` |") || strings.Contains(out, "### One run") {
		t.Errorf("exit status %d, output %q, stderr %q", s.ProcessState.ExitCode(), out, s.stderr.String())
	}
	s = invoke(t, "", "bench", "--only", "start,codec", "--rounds", "1", "--json")
	var report bench.Report
	if err := json.Unmarshal(s.stdout.Bytes(), &report); err != nil {
		t.Fatalf("%v: %q", err, s.stdout.String())
	}
	groups := map[string]bool{}
	for _, l := range report.Lines {
		groups[l.Group] = true
	}
	if len(groups) != 2 || !groups["start"] || !groups["codec"] || report.Rounds != 1 {
		t.Errorf("%+v", report)
	}
}

func TestBenchRefuses(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"bench", "--only", "luck"}, exitMisuse, `--only: there is no group "luck"; the groups are start, walls`},
		{[]string{"bench", "--rounds=-1"}, exitMisuse, "--rounds is -1"},
		{[]string{"bench", "all"}, exitMisuse, `"all"`},
		{[]string{"bench", "--python", "/none/python3"}, exitFailure, "/none/python3"},
	} {
		s := invoke(t, "", c.args...)
		if s.ProcessState.ExitCode() != c.status || !strings.Contains(s.stderr.String(), c.says) ||
			strings.Count(s.stderr.String(), "\n") != 1 || s.stdout.Len() > 0 {
			t.Errorf("%q: exit status %d, stderr %q", c.args, s.ProcessState.ExitCode(), s.stderr.String())
		}
	}
}
