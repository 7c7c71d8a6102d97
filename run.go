package thirdrail

import (
	"context"
	"errors"
	goruntime "runtime"
	"sync"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// Request is one program to run.
type Request struct {
	// Program is Python source: a module whose top level may also await and
	// return. It must be valid UTF-8.
	Program string
	// Namespaces are the functions that the program can call.
	Namespaces []Namespace
	// Data becomes the program's global data. Absent means no such global.
	Data lossless.Value
	// LastExpression makes the value of a bare expression that the program ends
	// with its value, unless it is None. Otherwise only return gives one.
	LastExpression bool
	// Limits are this run's. Zero fields inherit from Config.
	Limits Limits
	// OnLog gets each line that the program prints, as it is complete. Calls come
	// one after the other; while one goes on, the run's output is not read. A
	// panic in it ends the calls, not the run.
	OnLog func(text string)
}

const (
	// startLimit bounds the time from starting a child to its boot-ack.
	startLimit = 10 * time.Second
	// grace is what a child that closed descriptor 3 gets to end by itself, so
	// that the status of its end can be told.
	grace = 200 * time.Millisecond
	// mostChildren is how many forked children may end, one after the other, before
	// they have got the program of one run. That is the fate of all children of a
	// nursery that dies.
	mostChildren = 3
	// exitGrace is what a child gets to exit after its done frame.
	exitGrace = 50 * time.Millisecond
	// cpuInterval is the least time between two looks at a child's CPU time.
	cpuInterval = 10 * time.Millisecond
	// cpuSlack is what the figures of a child's CPU time may be off by: the
	// kernel's clock ticks at both ends, and the end of the process.
	cpuSlack = 50 * time.Millisecond
)

// Run runs one program to its end, and returns when nothing is left of it. The
// error is for misuse only, and wraps ErrMisuse: every outcome of the program is
// in the Result, which is nil only with an error.
//
// When ctx ends, the run is aborted, also while it waits for its turn.
func (r *Runtime) Run(ctx context.Context, request Request) (*Result, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.runs.Done()
	began := time.Now()
	limits := request.Limits.inherit(r.limits)
	if err := limits.check(); err != nil {
		return nil, err
	}
	limits = limits.clampBy(r.host, r.interpreter.BareBytes)
	if err := r.checkMemory(r.life, limits.Memory); errors.Is(err, ErrMisuse) {
		return nil, err // anything else shows in the run itself
	}
	namespaces, err := r.checkRequest(request)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.life, func() { cancel(context.Cause(r.life)) })()
	select {
	case r.places <- struct{}{}:
		defer func() { <-r.places }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return &Result{Failure: abortFailure(ctx)}, nil
	}
	for before := 0; ; before++ {
		one := &run{runtime: r, request: request, limits: limits, namespaces: namespaces, began: began, again: before > 0}
		result := one.do(ctx)
		if !one.stillborn || before == mostChildren-1 {
			return result, nil
		}
		r.logger.Warn("thirdrail: a forked child ended before it got its program; the run gets another", "reason", result.Failure.Message)
	}
}

func (r *Runtime) checkRequest(request Request) (*boundNamespaces, error) {
	if request.Data.Exists() {
		if _, err := request.Data.Check(lossless.Options{Numbers: r.numbers}); err != nil {
			return nil, misuse("Request.Data is not lossless JSON: %w", err)
		}
	}
	if err := checkText("Request.Program", request.Program); err != nil {
		return nil, err
	}
	return checkNamespaces(request.Namespaces, request.Data.Exists())
}

// run is one run from start to end.
type run struct {
	runtime    *Runtime
	request    Request
	limits     Limits
	namespaces *boundNamespaces
	began      time.Time

	child   *prepared
	process *child.Process
	talk    *conversation
	stats   Stats
	baseCPU time.Duration // what the child had used when the program was sent
	sent    time.Time     // when the program was sent
	ready   func()        // gives back the place among those that start
	// stillborn tells that a forked child ended before the program was sent, by
	// itself or with its nursery. Another can take its place: nothing has been done.
	stillborn bool
	again     bool // the last child of this run was stillborn
}

// do starts a child, runs the program in it and ends it.
func (r *run) do(ctx context.Context) *Result {
	select {
	case r.runtime.starts <- struct{}{}:
	case <-ctx.Done():
		return r.failed(abortFailure(ctx))
	}
	r.ready = sync.OnceFunc(func() { <-r.runtime.starts })
	defer r.ready()
	child, err := r.runtime.prepare(ctx, r.limits, r.again)
	if err != nil {
		return r.failed(fail(WorkerExit, "the interpreter could not be started: %v", err))
	}
	return r.doIn(ctx, child)
}

// doIn runs the program in a child that was prepared.
func (r *run) doIn(ctx context.Context, child *prepared) *Result {
	r.child, r.process = child, child.process
	defer r.release()
	r.stats.Start = child.start.String()
	r.stats.Isolation = r.runtime.starter.Isolation().String()
	r.stats.Confinement = r.runtime.confinement.mechanismsInForce()

	runCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	var err error
	r.talk, err = newConversation(r.process, r.limits, r.runtime.numbers, guarded(r.request.OnLog, r.runtime.logger))
	if err != nil {
		r.process.Wait()
		_ = r.process.Close()
		return r.failed(fail(WorkerExit, "the run could not be prepared: %v", err))
	}
	r.talk.check = child.policy.Check
	r.talk.calls = newCalls(runCtx, r.namespaces.funcs, r.limits, r.runtime.numbers, r.process.Rail, &r.runtime.bindings)
	var sending sync.WaitGroup
	start := make(chan struct{})
	sending.Go(func() { r.send(runCtx, start) })
	r.talk.start()
	r.supervise(ctx, start)
	return r.conclude(ctx, cancel, &sending)
}

// send writes the host's two frames: boot at once, and run when start is closed.
// Replies go their own way, and only after run. The context ends with the run, also
// when the child is gone before it was ready.
func (r *run) send(ctx context.Context, start <-chan struct{}) {
	boot := bootFrame(r.limits, r.runtime.numbers, r.child.bareBytes, r.namespaces.frames)
	boot.Confinement = r.child.confinement
	if r.talk.calls.send(wire.Append(nil, boot)) != nil {
		return // the child's end tells why
	}
	select {
	case <-start:
	case <-ctx.Done():
		return
	}
	data := r.request.Data
	if data.Exists() {
		// Checked before: this only brings it into the profile's form.
		data, _ = lossless.Parse(data.Bytes(), lossless.Options{Numbers: r.runtime.numbers})
	}
	_ = r.talk.calls.send(wire.Append(nil, &wire.Run{
		Program: r.request.Program, Data: data, LastExpression: r.request.LastExpression,
	}))
}

// supervise returns when the run has a verdict, or the child has ended without one.
func (r *run) supervise(ctx context.Context, start chan<- struct{}) {
	startTimer := time.NewTimer(r.runtime.startLimit)
	defer startTimer.Stop()
	select {
	case <-r.talk.acked:
	case <-r.talk.settled:
		return
	case <-r.process.Ended():
		return
	case <-ctx.Done():
		r.talk.settle(verdict{failure: abortFailure(ctx)})
		return
	case <-startTimer.C:
		r.talk.settle(verdict{failure: startFailure("took longer than "+r.runtime.startLimit.String(), nil)})
		return
	}
	if r.ready != nil {
		r.ready()
	}
	r.baseCPU = r.cpu()
	r.sent = time.Now()
	r.stats.StartTime = r.sent.Sub(r.began)
	close(start)
	r.watch(ctx)
}

// watch holds a running program to its limits.
func (r *run) watch(ctx context.Context) {
	wall := time.NewTimer(clampDuration(r.limits.Wall))
	defer wall.Stop()
	cpu := time.NewTimer(r.firstLook())
	defer cpu.Stop()
	ctx, stopDisk := context.WithCancel(ctx)
	var disk sync.WaitGroup
	defer disk.Wait()
	defer stopDisk()
	r.watchDisk(ctx, &disk)
	railEnd := r.talk.railEnd
	var graceEnd <-chan time.Time
	for {
		select {
		case <-r.talk.settled:
			return
		case <-r.process.Ended():
			return
		case <-railEnd:
			railEnd = nil
			timer := time.NewTimer(grace)
			defer timer.Stop()
			graceEnd = timer.C
		case <-graceEnd:
			return
		case <-ctx.Done():
			r.talk.settle(verdict{failure: abortFailure(ctx)})
		case <-wall.C:
			r.talk.settle(verdict{failure: wallFailure(r.limits.Wall)})
		case <-cpu.C:
			next, over := r.look()
			if over != nil {
				r.talk.settle(verdict{failure: over})
			}
			cpu.Reset(next)
		}
	}
}

// nextLook returns how long a child that has used so much CPU time can't be over
// its limit, even with a thread on every core.
func (r *run) nextLook(used time.Duration) time.Duration {
	return max((r.limits.CPU-used)/time.Duration(goruntime.NumCPU()), cpuInterval)
}

// conclude ends the child and everything around it, and makes the result.
func (r *run) conclude(ctx context.Context, cancel context.CancelFunc, sending *sync.WaitGroup) *Result {
	if !r.sent.IsZero() {
		r.stats.Wall = time.Since(r.sent)
	}
	cancel()
	ended := r.letEnd()
	exit := r.process.Wait()
	lost := r.groupUsage(&exit)
	logs, used, dropped := r.talk.finish()
	_ = r.process.Close()
	r.talk.readers.Wait()
	sending.Wait()

	r.stats.CPU, r.stats.PeakMemory = exit.CPU, exit.PeakMemory
	r.stats.Calls, r.stats.LogBytes, r.stats.DroppedFrames = r.talk.calls.count(), used, dropped
	result := &Result{Logs: logs}
	verdict := r.talk.verdict.Load()
	overCPU := !r.sent.IsZero() && exit.CPU-r.baseCPU-cpuSlack > r.limits.CPU
	switch {
	case lost != nil && (verdict == nil || verdict.byChild):
		result.Failure = lost
	case verdict == nil:
		result.Failure = r.deathFailure(exit, ended, logs)
	case verdict.byChild && r.overWall(verdict.at):
		// The timer and the frame may be seen in either order: the clock decides.
		result.Failure = wallFailure(r.limits.Wall)
	case verdict.byChild && overCPU:
		result.Failure = cpuFailure(r.limits.CPU)
	default:
		result.Value, result.Failure = verdict.value, verdict.failure
	}
	result.Stats = r.stats
	return result
}

// overWall tells whether the wall limit was over at a moment. Both times have the
// monotonic clock's reading, so it doesn't matter what somebody sets the clock to.
func (r *run) overWall(at time.Time) bool { return at.Sub(r.sent) > r.limits.Wall }

// letEnd tells whether the child has ended by itself. One that has said how its
// program ended is about to, and only then it is known exactly what it used.
func (r *run) letEnd() bool {
	wait := time.Duration(0)
	if v := r.talk.verdict.Load(); v != nil && v.byChild {
		wait = exitGrace
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-r.process.Ended():
		return true
	case <-timer.C:
	}
	select { // both may have been ready
	case <-r.process.Ended():
		return true
	default:
		return false
	}
}

// deathFailure tells why a child ended without a verdict.
func (r *run) deathFailure(exit child.Exit, ended bool, logs []string) *Failure {
	if r.sent.IsZero() {
		r.stillborn = r.child.start == StartFork && exit.Refusal == ""
		return startFailure(exitText(exit), logs)
	}
	if !ended {
		exit = child.Exit{Code: -1} // it was we who ended it
	}
	return exitFailure(exit, r.limits, !ended)
}

// failed is the result of a run that never started.
func (r *run) failed(f *Failure) *Result { return &Result{Failure: f, Stats: r.stats} }

func (r *run) release() {
	if err := r.child.release(); err != nil {
		r.runtime.logger.Error("thirdrail: something of a run is left behind", "error", err)
	}
}
