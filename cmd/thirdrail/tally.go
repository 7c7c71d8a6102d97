package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/thirdrail-dev/thirdrail/cmd/thirdrail/internal/jobs"
)

// A tally counts what became of the jobs of a batch. It is safe for concurrent use.
type tally struct {
	total int64 // bytes of the input, 0 when that isn't known
	began time.Time

	mu        sync.Mutex
	succeeded int
	skipped   int            // done before
	failed    map[string]int // by kind
	bytes     int64          // of the input that is dealt with
	skipBytes int64          // of those, what took no time
}

func newTally(total int64) *tally {
	return &tally{total: total, began: time.Now(), failed: map[string]int{}}
}

// add counts a job.
func (t *tally) add(job jobs.Job, outcome jobs.Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes += job.Bytes
	switch {
	case job.Done:
		t.skipped++
		t.skipBytes += job.Bytes
	case outcome.Failed != "":
		t.failed[outcome.Failed]++
	default:
		t.succeeded++
	}
}

// done returns how many jobs were run, and how many of those failed.
func (t *tally) done() (run, failed int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts()
}

func (t *tally) counts() (run, failed int) {
	for _, n := range t.failed {
		failed += n
	}
	return t.succeeded + failed, failed
}

// kinds lists the failures by kind, the most frequent first.
func (t *tally) kinds() string {
	kinds := make([]string, 0, len(t.failed))
	for kind := range t.failed {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b string) int {
		if t.failed[a] != t.failed[b] {
			return t.failed[b] - t.failed[a]
		}
		return strings.Compare(a, b)
	})
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", t.failed[kind], kind)
	}
	return strings.Join(kinds, ", ")
}

// progress says how far the batch is: how many are done, how fast, what failed, and
// how much time is left.
func (t *tally) progress(now time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	run, failed := t.counts()
	elapsed := now.Sub(t.began)
	text := fmt.Sprintf("%d done", run)
	if t.skipped > 0 {
		text += fmt.Sprintf(" and %d before", t.skipped)
	}
	text += ", " + rate(run, elapsed)
	if failed > 0 {
		text += ", failed: " + t.kinds()
	}
	if left, ok := t.left(elapsed); ok {
		text += ", " + left.String() + " left"
	}
	return text
}

// left returns how long the rest takes if it goes on as so far.
func (t *tally) left(elapsed time.Duration) (time.Duration, bool) {
	ran := t.bytes - t.skipBytes
	if t.total == 0 || ran <= 0 {
		return 0, false
	}
	left := time.Duration(float64(elapsed) * float64(max(t.total-t.bytes, 0)) / float64(ran))
	return left.Round(time.Second), true
}

// rate returns how many are done in a second.
func rate(n int, elapsed time.Duration) string {
	perSecond := float64(n) / max(elapsed, time.Millisecond).Seconds()
	if perSecond < 10 {
		return fmt.Sprintf("%.1f/s", perSecond)
	}
	return fmt.Sprintf("%.0f/s", perSecond)
}

// summary says what became of all.
func (t *tally) summary(now time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	run, failed := t.counts()
	elapsed := now.Sub(t.began)
	text := fmt.Sprintf("%s in %v (%s): %d succeeded", plural(run, "job"), elapsed.Round(10*time.Millisecond), rate(run, elapsed), t.succeeded)
	if failed > 0 {
		text += fmt.Sprintf(", %d failed (%s)", failed, t.kinds())
	}
	if t.skipped > 0 {
		text += fmt.Sprintf("; %d had a result before", t.skipped)
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// position returns how many bytes of the input are dealt with.
func (t *tally) position() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return min(t.bytes, t.total)
}
