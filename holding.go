package thirdrail

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/cgroup"
	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/internal/confine"
)

// HeldLimit is one of Limits and what holds it.
type HeldLimit struct {
	// Limit is the field of Limits, or OpenFiles, which is fixed.
	Limit string `json:"limit"`
	// By is what holds it, and what the limit is for: the whole run or each process.
	By string `json:"by"`
}

// watchedLimits are those that the kernel doesn't hold for a whole run here. The
// host looks at them while the program runs, and ends a run that is over one. So a
// program can be over it for a moment.
type watchedLimits struct {
	memory, processes, disk bool
}

const (
	// watchInterval is how often the host looks at the processes of a run, where it
	// has to count them or their memory.
	watchInterval = 20 * time.Millisecond
	// diskInterval is the least time between two looks at a workspace. A look at many
	// files takes long, and then the next one comes later.
	diskInterval = 100 * time.Millisecond
	// wrapperProcesses is how many processes a wrapper may have of its own.
	wrapperProcesses = 4
)

// holds tells what holds each limit of a run with these walls.
func (c *confinement) holds(spec confine.Spec) ([]HeldLimit, watchedLimits) {
	several := spec.Processes
	memory, processes := c.groups.limits("memory"), c.groups.limits("pids")
	w := watchedLimits{
		memory:    several && !memory,
		processes: several && !processes && !c.plan.CountsProcesses(),
		disk:      !spec.OwnRoot,
	}
	by := func(cases ...any) string {
		for i := 0; ; i += 2 {
			if cases[i].(bool) {
				return cases[i+1].(string)
			}
		}
	}
	return []HeldLimit{
		{"CPU", by(c.groups != nil, "the control group's clock, for the whole run",
			true, "the kernel's limit for each process, and the host's look at all of them")},
		{"Memory", by(memory && several, "the control group, for the whole run, and each process's address space",
			several, "each process's address space, and the host's look at the sum",
			true, "the one process's address space")},
		{"Processes", by(!several, "no second process is allowed; threads take memory",
			c.plan.CountsProcesses(), "the kernel's limit for the run's own user",
			processes, "the control group, for the whole run",
			true, "the host's look at their number")},
		{"DiskBytes", by(spec.OwnRoot, "the workspace is a file system of that size; elsewhere each file",
			true, "each file, and the host's look at the workspace")},
		{"OpenFiles", fmt.Sprintf("%d for each process", confine.OpenFiles)},
	}, w
}

// heldLimits are for Report.
func (c *confinement) heldLimits() []HeldLimit {
	if c == nil {
		return []HeldLimit{
			{"CPU", "the kernel's limit for each process, and the host's look at all of them"},
			{"Memory", "each process's address space"},
		}
	}
	return c.held
}

// describeGroups says what control groups give here, or why there are none.
func (c *confinement) describeGroups(among []Mechanism) {
	for i := range among {
		m := &among[i]
		if c == nil || m.Name != MechanismCgroup {
			continue
		}
		if c.groups == nil {
			m.Remedy += fmt.Sprintf(" (here: %v)", c.ungroup)
			continue
		}
		var missing []string
		for _, name := range []string{"memory", "pids"} {
			if !c.groups.limits(name) {
				missing = append(missing, name)
			}
		}
		if len(missing) > 0 {
			m.Gives = groupGives + "; here without the controllers " + strings.Join(missing, " and ")
			m.Remedy = groupRemedy
		}
	}
}

// groups are the control groups of runs.
type groups struct {
	host *cgroup.Host
}

// openGroups makes the host's control group, and has a process be in one below. The
// error says why there is none.
func (r *Runtime) openGroups(ctx context.Context) (*groups, error) {
	host, err := cgroup.Open()
	if err != nil {
		return nil, err
	}
	g, err := host.Take(cgroup.Limits{})
	if err == nil {
		if err = r.starter.TryGroup(ctx, g.FD()); err == nil {
			if used, ok := g.CPU(); !ok || used <= 0 {
				err = errors.New("a process was started in a control group and isn't counted there")
			}
		}
		err = errors.Join(err, g.Release())
	}
	if err != nil {
		return nil, errors.Join(err, host.Close())
	}
	return &groups{host}, nil
}

// limits tells whether the control groups have a controller. There may be none.
func (g *groups) limits(controller string) bool {
	if g == nil {
		return false
	}
	for _, name := range g.host.Controllers() {
		if name == controller {
			return true
		}
	}
	return false
}

func (g *groups) close() error {
	if g == nil {
		return nil
	}
	return g.host.Close()
}

// takeGroup returns a control group for a run where New has proven that it can be
// had. Then a run without one is refused.
func (c *confinement) takeGroup(limits Limits, bareBytes int64) (*cgroup.Group, error) {
	if c == nil || c.groups == nil {
		return nil, nil
	}
	group := cgroup.Limits{Memory: limits.Memory + bareBytes}
	if c.plan.HasRoot() { // the workspace is in memory too
		group.Memory += limits.DiskBytes
	}
	if c.processes {
		group.Processes = int64(limits.Processes + 1 + c.ours) // the keeper, which isn't among ours
	}
	g, err := c.groups.host.Take(group)
	if err != nil {
		return nil, fmt.Errorf("its control group, which New found to work, can't be had: %w", err)
	}
	return g, nil
}

// memoryOfAll is what all processes of a run may hold: the limit, and what the
// interpreter itself takes.
func (r *run) memoryOfAll() int64 { return r.limits.Memory + r.child.bareBytes }

// cpu returns what the run has used, its start included.
func (r *run) cpu() time.Duration {
	if r.child.group != nil {
		if used, ok := r.child.group.CPU(); ok {
			return used
		}
	}
	return r.process.CPU()
}

// groupUsage adds what the control group has counted to how the child ended, and
// returns the failure that only it can tell.
func (r *run) groupUsage(exit *child.Exit) *Failure {
	if r.child.group == nil {
		return nil
	}
	used, err := r.child.group.Usage()
	switch {
	case err != nil:
		return fail(WorkerExit, "the run's control group was lost while it ran, so its limits may not have held: %v", err)
	case used.Memory:
		return memoryFailure(r.limits.Memory)
	}
	exit.CPU = max(exit.CPU, used.CPU)
	return nil
}

// firstLook returns when the host first looks at a running child.
func (r *run) firstLook() time.Duration {
	if w := r.watched(); w.memory || w.processes {
		return cpuInterval
	}
	return r.nextLook(0)
}

func (r *run) watched() watchedLimits {
	if r.runtime.confinement == nil {
		return watchedLimits{}
	}
	return r.runtime.confinement.watched
}

// look returns the limit that the run is over, if any, and when to look again.
func (r *run) look() (time.Duration, *Failure) {
	used := r.cpu() - r.baseCPU
	if used >= r.limits.CPU {
		return cpuInterval, cpuFailure(r.limits.CPU)
	}
	next, w := r.nextLook(used), r.watched()
	if w.memory {
		next = min(next, watchInterval)
		if most := r.memoryOfAll(); r.process.Memory(most) > most {
			return next, memoryFailure(r.limits.Memory)
		}
	}
	if w.processes {
		next = min(next, watchInterval)
		if r.process.Threads() > r.limits.Processes+r.runtime.confinement.ours {
			return next, processesFailure(r.limits.Processes)
		}
	}
	return next, nil
}

// watchDisk looks at the workspace until ctx ends, where the host has to, and settles
// a run that is over its limit.
func (r *run) watchDisk(ctx context.Context, all *sync.WaitGroup) {
	if !r.watched().disk {
		return
	}
	all.Go(func() {
		timer := time.NewTimer(diskInterval)
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			}
			began := time.Now()
			used, err := r.child.workspace.Size(confine.BytesPerFile, r.limits.DiskBytes)
			if err != nil {
				r.talk.settle(verdict{failure: fail(WorkerExit, "the size of the run's workspace can't be told: %v", err)})
				return
			}
			if used+r.process.Unlinked() > r.limits.DiskBytes {
				r.talk.settle(verdict{failure: diskFailure(r.limits.DiskBytes)})
				return
			}
			timer.Reset(max(diskInterval, 10*time.Since(began)))
		}
	})
}
