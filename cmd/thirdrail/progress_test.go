package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/cmd/thirdrail/internal/jobs"
)

// TestTally: what is told along the way and at the end.
func TestTally(t *testing.T) {
	tally := newTally(1000)
	at := func(seconds int) time.Time { return tally.began.Add(time.Duration(seconds) * time.Second) }
	step := func(bytes int64, failed string, done bool) {
		tally.add(jobs.Job{Bytes: bytes, Done: done}, jobs.Outcome{Failed: failed})
	}
	check := func(now int, progress, summary string) {
		t.Helper()
		if got := tally.progress(at(now)); got != progress {
			t.Errorf("after %d s: %q, want %q", now, got, progress)
		}
		if got := tally.summary(at(now)); got != summary {
			t.Errorf("after %d s: %q, want %q", now, got, summary)
		}
	}
	check(0, "0 done, 0.0/s", "0 jobs in 0s (0.0/s): 0 succeeded")
	step(400, "", true)
	check(1, "0 done and 1 before, 0.0/s", "0 jobs in 1s (0.0/s): 0 succeeded; 1 had a result before")
	step(200, "", false) // a third of what takes time
	check(10, "1 done and 1 before, 0.1/s, 20s left", "1 job in 10s (0.1/s): 1 succeeded; 1 had a result before")
	step(100, "timeout", false)
	step(100, "exception", false)
	step(100, "exception", false)
	check(10, "4 done and 1 before, 0.4/s, failed: 2 exception, 1 timeout, 2s left",
		"4 jobs in 10s (0.4/s): 1 succeeded, 3 failed (2 exception, 1 timeout); 1 had a result before")
	step(200, "", false) // the file has grown
	check(10, "5 done and 1 before, 0.5/s, failed: 2 exception, 1 timeout, 0s left",
		"5 jobs in 10s (0.5/s): 2 succeeded, 3 failed (2 exception, 1 timeout); 1 had a result before")
	if got := tally.position(); got != 1000 {
		t.Errorf("position %d", got)
	}
	stream := newTally(0)
	stream.add(jobs.Job{Bytes: 5}, jobs.Outcome{})
	if got := stream.progress(stream.began.Add(time.Millisecond)); got != "1 done, 1000/s" {
		t.Errorf("%q", got)
	}
}

// TestPlainProgress: without a terminal a line comes at each tick.
func TestPlainProgress(t *testing.T) {
	var stderr bytes.Buffer
	p, tally := newProgress(&stderr), newTally(0)
	ticks := make(chan time.Time)
	stop := p.tell(tally, ticks)
	ticks <- tally.began.Add(time.Second)
	ticks <- tally.began.Add(time.Second)
	stop()
	if got := stderr.String(); got != strings.Repeat("thirdrail: 0 done, 0.0/s\n", 2) {
		t.Errorf("%q", got)
	}
	p.start(tally)
	p.stop()
	if terminal(&stderr) != nil || terminal(os.NewFile(99, "none")) != nil {
		t.Error("a buffer or a closed file is a terminal")
	}
}

// TestNotices: each text once, and not too many.
func TestNotices(t *testing.T) {
	var out bytes.Buffer
	n := notices{w: &out}
	for i := range 3 * maxNotices {
		n.add(strings.Repeat("x", i/2))
	}
	text := out.String()
	if strings.Count(text, "\n") != maxNotices+1 || !strings.HasSuffix(text, "\nthirdrail: more of this is not told here\n") {
		t.Errorf("%s", text)
	}
}
