package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// counted returns a function that reads n jobs, numbered by their Line from 1.
func counted(n int64) func() (Job, error) {
	i := int64(0)
	return func() (Job, error) {
		if i++; i > n {
			return Job{}, io.EOF
		}
		return Job{Line: i}, nil
	}
}

// gates let jobs end when a test says so.
type gates struct {
	mu   sync.Mutex
	open map[int64]chan struct{}
}

func (g *gates) gate(n int64) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = map[int64]chan struct{}{}
	}
	if g.open[n] == nil {
		g.open[n] = make(chan struct{})
	}
	return g.open[n]
}

// wait waits for a job's gate, and tells whether the context ended before.
func (g *gates) wait(ctx context.Context, job Job) Outcome {
	select {
	case <-g.gate(job.Line):
		return Outcome{}
	case <-ctx.Done():
		return Outcome{Unfinished: true}
	}
}

// TestOrder ends four jobs from the last to the first.
func TestOrder(t *testing.T) {
	for _, inOrder := range []bool{false, true} {
		var g gates
		var delivered []int64
		arrived := make(chan int64, 4)
		pool := Pool{Workers: 4, InOrder: inOrder, Run: func(ctx context.Context, job Job) Outcome {
			arrived <- job.Line
			return g.wait(ctx, job)
		}}
		pool.Deliver = func(job Job, _ Outcome) error {
			delivered = append(delivered, job.Line)
			if !inOrder && job.Line > 1 {
				close(g.gate(job.Line - 1))
			}
			return nil
		}
		ended := make(chan error)
		go func() { ended <- pool.Do(t.Context(), counted(4)) }()
		for range 4 {
			<-arrived
		}
		close(g.gate(4))
		if inOrder {
			for n := range int64(3) {
				close(g.gate(3 - n))
			}
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		want := []int64{4, 3, 2, 1}
		if inOrder {
			slices.Sort(want)
		}
		if !slices.Equal(delivered, want) {
			t.Errorf("in order %v: %v", inOrder, delivered)
		}
	}
}

// TestWindow: while the first job goes on, only so many more are read.
func TestWindow(t *testing.T) {
	for _, c := range []struct {
		inOrder bool
		want    int64
	}{{false, 3}, {true, 3 * window}} {
		var g gates
		var read, running, most atomic.Int64
		idle := make(chan struct{})
		next := counted(1000)
		pool := Pool{Workers: 3, InOrder: c.inOrder, Deliver: func(Job, Outcome) error { return nil }}
		pool.Run = func(ctx context.Context, job Job) Outcome {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			if job.Line == 1 || !c.inOrder && job.Line <= c.want {
				if job.Line == c.want {
					close(idle)
				}
				return g.wait(ctx, job)
			}
			if job.Line == c.want {
				close(idle)
			}
			return Outcome{}
		}
		ended := make(chan error)
		go func() {
			ended <- pool.Do(t.Context(), func() (Job, error) { read.Add(1); return next() })
		}()
		<-idle
		for range 100 {
			runtime.Gosched()
		}
		if got := read.Load(); got != c.want {
			t.Errorf("in order %v: %d were read, want %d", c.inOrder, got, c.want)
		}
		for n := range c.want {
			if n == 0 || !c.inOrder {
				close(g.gate(n + 1))
			}
		}
		if err := <-ended; err != nil || most.Load() > 3 || read.Load() != 1001 {
			t.Errorf("in order %v: %v, %d at once, %d read", c.inOrder, err, most.Load(), read.Load())
		}
	}
}

// TestInterrupted: jobs in flight have no result, and those behind them that are
// done have theirs, in order too.
func TestInterrupted(t *testing.T) {
	reason := errors.New("enough")
	for _, inOrder := range []bool{false, true} {
		var g gates
		ctx, cancel := context.WithCancelCause(t.Context())
		var delivered []int64
		pool := Pool{Workers: 2, InOrder: inOrder, Run: func(ctx context.Context, job Job) Outcome {
			switch job.Line {
			case 1:
				return g.wait(ctx, job)
			case 9:
				cancel(reason)
				return g.wait(ctx, job)
			}
			return Outcome{}
		}, Deliver: func(job Job, _ Outcome) error {
			delivered = append(delivered, job.Line)
			return nil
		}}
		if err := pool.Do(ctx, counted(100)); err != reason {
			t.Error(err)
		}
		if !slices.Equal(delivered, []int64{2, 3, 4, 5, 6, 7, 8}) {
			t.Errorf("in order %v: %v", inOrder, delivered)
		}
	}
}

// TestFailFast: the first failure is delivered, and no job begins after it.
func TestFailFast(t *testing.T) {
	for _, inOrder := range []bool{false, true} {
		var g gates
		var begun atomic.Int64
		var delivered []string
		pool := Pool{Workers: 2, InOrder: inOrder, FailFast: true, Run: func(ctx context.Context, job Job) Outcome {
			begun.Add(1)
			if job.Line == 1 {
				return g.wait(ctx, job)
			}
			return Outcome{Failed: "exception"}
		}, Deliver: func(job Job, o Outcome) error {
			delivered = append(delivered, fmt.Sprint(job.Line, o.Failed))
			return nil
		}}
		if err := pool.Do(t.Context(), counted(1000)); err != ErrFailFast {
			t.Error(err)
		}
		if begun.Load() > 20 || !slices.Contains(delivered, "2exception") || slices.Contains(delivered, "1") {
			t.Errorf("in order %v: %d begun, delivered %v", inOrder, begun.Load(), delivered)
		}
	}
}

// TestPoolErrors: a result that can't be delivered ends all; a stream that breaks
// ends when what was read has run.
func TestPoolErrors(t *testing.T) {
	broken := errors.New("broken")
	count := 0
	pool := Pool{Workers: 2, Run: func(context.Context, Job) Outcome { return Outcome{} }, Deliver: func(Job, Outcome) error {
		count++
		return broken
	}}
	if err := pool.Do(t.Context(), counted(1000)); err != broken || count != 1 {
		t.Errorf("%v after %d", err, count)
	}
	count = 0
	pool.Deliver = func(Job, Outcome) error { count++; return nil }
	next := counted(5)
	err := pool.Do(t.Context(), func() (Job, error) {
		job, err := next()
		if err != nil {
			err = broken
		}
		return job, err
	})
	if err != broken || count != 5 {
		t.Errorf("%v after %d", err, count)
	}
}

// TestDoneJobsDoNotRun: they are delivered in their place, without an outcome.
func TestDoneJobsDoNotRun(t *testing.T) {
	var delivered []int64
	next := counted(50)
	pool := Pool{Workers: 2, InOrder: true, FailFast: true, Run: func(_ context.Context, job Job) Outcome {
		if job.Line%2 == 0 {
			t.Errorf("job %d ran", job.Line)
		}
		return Outcome{}
	}, Deliver: func(job Job, _ Outcome) error { delivered = append(delivered, job.Line); return nil }}
	err := pool.Do(t.Context(), func() (Job, error) {
		job, err := next()
		job.Done = job.Line%2 == 0
		return job, err
	})
	if err != nil || len(delivered) != 50 || !slices.IsSorted(delivered) {
		t.Errorf("%v, %v", err, delivered)
	}
}

// TestStreamIsBounded runs 5,000 jobs with 40 KiB of data each, 200 MB in all, and
// looks at the memory that is in use.
func TestStreamIsBounded(t *testing.T) {
	const jobs, most = 5_000, 64 << 20
	data := `,"program":"x","data":"` + strings.Repeat("d", 40<<10) + `"}` + "\n"
	made := 0
	reader := NewReader(readerFunc(func(p []byte) (int, error) {
		if made++; made > jobs {
			return 0, io.EOF
		}
		return copy(p, fmt.Sprintf(`{"id":%d%s`, made, data)), nil
	}), lossless.Exact, &IDs{})
	delivered := 0
	pool := Pool{Workers: 4, InOrder: true, Run: func(_ context.Context, job Job) Outcome {
		if job.Fault != nil {
			t.Error(job.Fault)
		}
		return Outcome{Line: slices.Clone(job.Data.Bytes())}
	}, Deliver: func(Job, Outcome) error {
		if delivered++; delivered%500 == 0 {
			runtime.GC()
			var stats runtime.MemStats
			if runtime.ReadMemStats(&stats); stats.HeapAlloc > most {
				t.Errorf("after %d jobs %d MiB are in use", delivered, stats.HeapAlloc>>20)
			}
		}
		return nil
	}}
	if err := pool.Do(t.Context(), reader.Next); err != nil || delivered != jobs {
		t.Errorf("%d delivered, %v", delivered, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
