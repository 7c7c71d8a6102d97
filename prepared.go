package thirdrail

import (
	"context"
	"errors"

	"github.com/thirdrail-dev/thirdrail/internal/cgroup"
	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/internal/confine"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// prepared is a child that waits for its boot frame, or is about to.
type prepared struct {
	process   *child.Process
	workspace *child.Workspace // nil where it ends with the child
	start     StartMethod
	policy    *confine.Policy // what the child must prove; nil without a confinement
	// confinement is what the child shall apply, for the boot frame. A forked one
	// has applied it.
	confinement lossless.Value
	bareBytes   int64         // what it had mapped before any program
	group       *cgroup.Group // nil without control groups
}

// prepare starts a child in the way that the runtime has chosen. One that takes the
// place of another is no spare: those may be dead too.
func (r *Runtime) prepare(ctx context.Context, limits Limits, again bool) (*prepared, error) {
	if r.nursery != nil {
		take := r.nursery.take
		if again {
			take = r.nursery.forkNow
		}
		p, err := take(ctx, limits)
		if err == nil || r.start == StartFork {
			return p, err
		}
		r.logger.Warn("thirdrail: the nursery can't fork; the run gets an interpreter of its own", "error", err)
	}
	return r.spawn(limits)
}

// spawn starts an interpreter.
func (r *Runtime) spawn(limits Limits) (*prepared, error) {
	workspace, err := r.folder.NewWorkspace()
	if err != nil {
		return nil, err
	}
	p := &prepared{workspace: workspace, start: StartSpawn, bareBytes: r.interpreter.BareBytes}
	if err = r.begin(p, limits); err != nil {
		return nil, errors.Join(err, p.release())
	}
	return p, nil
}

func (r *Runtime) begin(p *prepared, limits Limits) (err error) {
	if p.group, err = r.confinement.takeGroup(limits, p.bareBytes); err != nil {
		return err
	}
	p.policy = r.confinement.policy(p.workspace.Path, limits)
	if p.confinement, err = r.confinement.value(p.policy); err != nil {
		return err
	}
	environment := child.Environment(r.confinement.workspace(p.workspace.Path))
	p.process, err = r.starter.StartIn(p.workspace.Path, environment, p.groupFD())
	return err
}

// discard ends a child that was never used.
func (p *prepared) discard() error {
	p.process.Wait()
	return errors.Join(p.process.Close(), p.release())
}

// release gives back what the child had of the host. It has ended.
func (p *prepared) release() error {
	var errs []error
	if p.group != nil {
		errs = append(errs, p.group.Release())
	}
	if p.workspace != nil {
		errs = append(errs, p.workspace.Remove())
	}
	return errors.Join(errs...)
}

// groupFD is the control group for the start of the child.
func (p *prepared) groupFD() int {
	if p.group == nil {
		return child.NoGroup
	}
	return p.group.FD()
}
