package thirdrail

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/internal/confine"
)

// nursery forks the children of a Runtime. It has a nursery process running, starts
// another when that has died, and keeps spares: children that were forked ahead.
type nursery struct {
	runtime *Runtime
	preload []string
	most    int // spares

	starting sync.Mutex // held while a process is started that runs wait for
	mu       sync.Mutex
	process  *nurseryProcess // nil where there is none
	looked   int64           // how many children it had forked at the last look
	retired  sync.WaitGroup  // processes that another has taken over from
	retry    time.Time       // when another may be started
	pause    time.Duration   // how long after that
	spares   []spare
	wanted   int
	taken    bool // since the last look
	closed   bool

	life context.Context // of the goroutine that keeps spares
	end  context.CancelFunc
	wake chan struct{} // asks it for spares
	done chan struct{} // closed when it has ended
}

// nurseryProcess is a process and the folder that it was started in.
type nurseryProcess struct {
	*child.Nursery
	folder *child.Workspace
}

// spare is a child that waits for a run with limits like those it was made with.
type spare struct {
	*prepared
	limits spareLimits
}

// spareLimits are the limits that a child has before its boot frame.
type spareLimits struct {
	memory, diskBytes int64
	processes         int
}

const (
	// firstPause is how long a nursery that died at once stays away; it doubles
	// each time, up to longestPause.
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
	// forkedBytes is what a child maps from the fork to its program, which one that
	// was spawned has mapped when it is measured.
	forkedBytes = 4 << 20
	// spareIdle is how long spares are kept when no run takes one.
	spareIdle = 5 * time.Second
)

// newNursery starts the first process and proves that a child of it is confined.
func (r *Runtime) newNursery(ctx context.Context, config Config) (*nursery, error) {
	n := &nursery{
		runtime: r,
		preload: config.Preload,
		most:    config.spares(),
		wake:    make(chan struct{}, 1),
		done:    make(chan struct{}),
	}
	n.life, n.end = context.WithCancel(r.life)
	go n.keepSpares()
	if _, err := n.live(ctx); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

// take returns a spare, or a child that is forked now.
func (n *nursery) take(ctx context.Context, limits Limits) (*prepared, error) {
	kind := spareLimitsOf(limits)
	n.mu.Lock()
	n.taken = true
	for i := len(n.spares) - 1; i >= 0; i-- {
		s := n.spares[i]
		if s.limits != kind {
			continue
		}
		n.spares = append(n.spares[:i], n.spares[i+1:]...)
		if s.ended() {
			defer func() { _ = s.discard() }()
			continue
		}
		n.mu.Unlock()
		n.wakeUp()
		return s.prepared, nil
	}
	if kind == n.usual() {
		n.wanted = min(n.wanted+1, n.most)
	}
	n.mu.Unlock()
	p, err := n.fork(ctx, kind, false)
	n.wakeUp()
	return p, err
}

// forkNow returns a child that is forked now.
func (n *nursery) forkNow(ctx context.Context, limits Limits) (*prepared, error) {
	return n.fork(ctx, spareLimitsOf(limits), false)
}

func (n *nursery) usual() spareLimits {
	return spareLimitsOf(n.runtime.limits.clampBy(n.runtime.host, n.runtime.interpreter.BareBytes))
}

func spareLimitsOf(l Limits) spareLimits { return spareLimits{l.Memory, l.DiskBytes, l.Processes} }

func (s spare) ended() bool {
	select {
	case <-s.process.Ended():
		return true
	default:
		return false
	}
}

// fork has the living process fork a child. One that is found dead, or retired, only
// now is succeeded by another.
func (n *nursery) fork(ctx context.Context, kind spareLimits, thorough bool) (*prepared, error) {
	for dead := 0; ; {
		process, err := n.live(ctx)
		if err != nil {
			return nil, err
		}
		p, err := n.forkOf(process, kind, thorough)
		switch {
		case errors.Is(err, child.ErrNurseryRetired):
		case errors.Is(err, child.ErrNurseryDead) && dead < mostChildren && n.buried(ctx, process):
			dead++
		default:
			return p, err
		}
	}
}

// buried waits for the end of a process that answers no more, but not for long.
func (n *nursery) buried(ctx context.Context, process *nurseryProcess) bool {
	timer := time.NewTimer(firstPause)
	defer timer.Stop()
	select {
	case <-process.Dead():
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

func (n *nursery) forkOf(process *nurseryProcess, kind spareLimits, thorough bool) (*prepared, error) {
	p := &prepared{start: StartFork, bareBytes: process.Memory() + forkedBytes}
	c := n.runtime.confinement
	var order any
	if c != nil {
		run := confine.Run{Memory: kind.memory, DiskBytes: kind.diskBytes, Processes: kind.processes, Number: c.runs.Add(1)}
		order, p.policy = c.plan.Order(run, thorough), c.plan.Forked(run, thorough)
	} else {
		workspace, err := n.runtime.folder.NewWorkspace()
		if err != nil {
			return nil, err
		}
		p.workspace = workspace
		order = map[string]string{"folder": workspace.Path}
	}
	var err error
	limits := Limits{Memory: kind.memory, DiskBytes: kind.diskBytes, Processes: kind.processes}
	if p.group, err = c.takeGroup(limits, p.bareBytes); err == nil {
		p.process, err = process.Fork(order, p.groupFD())
	}
	if err != nil {
		return nil, errors.Join(err, p.release())
	}
	return p, nil
}

// live returns the process, another one if the last has died.
func (n *nursery) live(ctx context.Context) (*nurseryProcess, error) {
	n.starting.Lock()
	defer n.starting.Unlock()
	n.mu.Lock()
	process, closed, retry := n.process, n.closed, n.retry
	n.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	if process != nil {
		select {
		case <-process.Dead():
			n.bury()
		default:
			return process, nil
		}
	}
	if err := n.waitToRetry(ctx, time.Until(retry)); err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.pause = min(max(2*n.pause, firstPause), longestPause)
	n.retry = time.Now().Add(n.pause)
	n.mu.Unlock()
	process, err := n.begin(ctx)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.process, n.looked = process, 0
	n.pause, n.retry = 0, time.Time{} // it lives
	n.mu.Unlock()
	return process, nil
}

// waitToRetry waits until a process may be started, where nothing else can take the
// run.
func (n *nursery) waitToRetry(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	if n.runtime.start != StartFork {
		return fmt.Errorf("thirdrail: the nursery ended, and is started again in %v", wait)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// bury closes what is left of a process that has died.
func (n *nursery) bury() {
	n.mu.Lock()
	process := n.process
	n.process = nil
	n.mu.Unlock()
	n.discard(process)
}

// discard ends a process with all its children, and removes its folder.
func (n *nursery) discard(process *nurseryProcess) {
	_ = process.Close()
	if err := process.folder.Remove(); err != nil {
		n.runtime.logger.Error("thirdrail: a nursery's folder is left behind", "error", err)
	}
}

// begin starts a process, and has its first child try everything.
func (n *nursery) begin(ctx context.Context) (*nurseryProcess, error) {
	folder, err := n.runtime.folder.NewWorkspace()
	if err != nil {
		return nil, err
	}
	limit := n.runtime.startLimit * time.Duration(1+len(n.preload)) // some are large
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %v", limit))
	defer cancel()
	c := n.runtime.confinement
	options := child.NurseryOptions{
		Directory:   folder.Path,
		Environment: child.Environment(c.workspace(folder.Path)),
		Preload:     n.preload,
	}
	if c != nil {
		policies := c.nursery(folder.Path, len(n.preload) > 0)
		options.Confinement, options.Run = policies.Own, policies.Run
	}
	started, err := n.runtime.starter.StartNursery(ctx, options)
	if err != nil {
		return nil, errors.Join(err, folder.Remove())
	}
	process := &nurseryProcess{started, folder}
	p, err := n.forkOf(process, n.usual(), true)
	if err == nil {
		var copied child.Pages
		err = n.runtime.tryChild(ctx, p, func() { copied = process.CopiedBy(p.process) })
		if err == nil {
			err = process.CopyAtOnce(copied)
		}
	}
	if err != nil {
		n.discard(process)
		return nil, err
	}
	return process, nil
}

func (n *nursery) wakeUp() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// keepSpares forks ahead what runs are about to need, until the nursery is closed.
func (n *nursery) keepSpares() {
	defer close(n.done)
	idle := time.NewTicker(spareIdle)
	defer idle.Stop()
	for {
		select {
		case <-n.life.Done():
			return
		case <-n.wake:
			n.refill()
			n.recycle()
		case <-idle.C:
			n.giveBack()
		}
	}
}

func (n *nursery) refill() {
	for {
		n.mu.Lock()
		enough := len(n.spares) >= n.wanted || n.closed
		n.mu.Unlock()
		if enough {
			return
		}
		kind := n.usual()
		p, err := n.fork(n.life, kind, false)
		if err != nil {
			return // a run tells why
		}
		n.mu.Lock()
		n.spares = append(n.spares, spare{p, kind})
		n.mu.Unlock()
	}
}

// giveBack ends the spares when no run has taken one for a while.
func (n *nursery) giveBack() {
	n.mu.Lock()
	var unused []spare
	if !n.taken {
		unused, n.spares, n.wanted = n.spares, nil, 0
	}
	n.taken = false
	n.mu.Unlock()
	for _, s := range unused {
		_ = s.discard()
	}
}

// close ends all of it. The runtime's life is over, and so are all runs. It may be
// called on nil.
func (n *nursery) close() error {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.end()
	<-n.done
	n.starting.Lock()
	defer n.starting.Unlock()
	var errs []error
	for _, s := range n.spares {
		errs = append(errs, s.discard())
	}
	n.spares = nil
	if n.process != nil {
		n.bury()
	}
	n.retired.Wait()
	return errors.Join(errs...)
}
