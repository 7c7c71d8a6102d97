package jobs

import (
	"context"
	"errors"
	"io"
	"sync"
)

// ErrFailFast is why a Pool stopped at the first failed job.
var ErrFailFast = errors.New("a job failed")

// window is how many jobs for each worker may be read and not delivered where
// results keep the order of the jobs.
const window = 16

// An Outcome is what became of a job.
type Outcome struct {
	// Line is the result as it is written.
	Line []byte
	// Failed is the kind of the failure, empty where there is none.
	Failed string
	// Unfinished tells that the job was cut short by the end of the context. Its
	// result isn't delivered.
	Unfinished bool
}

// A Pool runs jobs, several at once.
type Pool struct {
	// Workers is how many run at once, at least 1.
	Workers int
	// InOrder delivers outcomes in the order of the jobs, and not as they come.
	InOrder bool
	// FailFast stops at the first job that failed.
	FailFast bool
	// Run runs one job. Several calls go on at once.
	Run func(context.Context, Job) Outcome
	// Deliver gets what became of each job, one after the other. For a job that is
	// Done the Outcome is empty. An error of it ends all.
	Deliver func(Job, Outcome) error
}

// A finished job has an outcome, and its place in the order.
type finished struct {
	job     Job
	outcome Outcome
	place   int
}

// Do runs what next returns until its io.EOF, and returns when nothing is left in
// flight. When ctx ends, the jobs in flight are cut short, and those that have ended
// are delivered; next must end with ctx too. The error is that of Deliver, or the
// cause of ctx, or ErrFailFast, or that of next.
func (p Pool) Do(ctx context.Context, next func() (Job, error)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ahead := 2 * p.Workers
	if p.InOrder {
		ahead = window * p.Workers
	}
	places := make(chan struct{}, ahead) // for a job from its reading to its delivery
	results := make(chan finished)
	var ending error
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(results)
		ending = p.read(ctx, stop, next, places, results)
	})
	failed := p.collect(places, results, stop)
	reading.Wait()
	switch {
	case failed != nil:
		return failed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case ending == io.EOF:
		return nil
	}
	return ending
}

// read reads jobs as fast as they run, and returns when all that it started have
// ended.
func (p Pool) read(ctx context.Context, stop context.CancelCauseFunc, next func() (Job, error), places chan<- struct{}, results chan<- finished) error {
	workers := make(chan struct{}, p.Workers)
	var running sync.WaitGroup
	defer running.Wait()
	for place := 0; ; place++ {
		for _, free := range []chan<- struct{}{places, workers} {
			select {
			case free <- struct{}{}:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil { // also where there was a place
			return context.Cause(ctx)
		}
		job, err := next()
		if err != nil {
			return err
		}
		if job.Done {
			<-workers
			results <- finished{job: job, place: place}
			continue
		}
		running.Go(func() {
			outcome := p.Run(ctx, job)
			if p.FailFast && outcome.Failed != "" && !outcome.Unfinished {
				stop(ErrFailFast) // before another job takes the place
			}
			<-workers
			results <- finished{job, outcome, place}
		})
	}
}

// collect delivers outcomes until there are no more.
func (p Pool) collect(places <-chan struct{}, results <-chan finished, stop context.CancelCauseFunc) (failed error) {
	deliver := func(f finished) {
		if failed == nil && !f.outcome.Unfinished {
			if failed = p.Deliver(f.job, f.outcome); failed != nil {
				stop(failed)
			}
		}
		<-places
	}
	held := map[int]finished{} // those that are before their turn
	turn := 0
	for f := range results {
		if !p.InOrder {
			deliver(f)
			continue
		}
		held[f.place] = f
		for {
			f, ok := held[turn]
			if !ok {
				break
			}
			delete(held, turn)
			deliver(f)
			turn++
		}
	}
	return failed
}
