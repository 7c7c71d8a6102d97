package thirdrail

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/internal/confine"
	"github.com/thirdrail-dev/thirdrail/lossless"
)

// confinement is what a Runtime confines its children with, and the host's part of
// the proof: a file, and a socket to listen on, that no child may reach.
type confinement struct {
	plan    *confine.Plan
	inside  []string      // the mechanisms in force
	groups  *groups       // nil where runs have no control groups
	ungroup error         // why, then
	held    []HeldLimit   // what holds each limit
	watched watchedLimits // those that the host has to hold

	processes bool // a program may have several
	ours      int  // how many processes below the keeper may be a wrapper's
	socket    net.Listener
	runs      atomic.Uint64
	tamper    func(*confine.Policy) // for tests: changes what is sent, not what is checked
}

// newConfinement finds out what this machine has, and takes the strongest of what
// works: own root and own user, own root, or neither. Only a child that has
// applied and proven all of it counts as one that works.
func (r *Runtime) newConfinement(ctx context.Context, sandbox Sandbox) error {
	machine := confine.Look()
	if err := sandbox.checkMachine(machine, r.interpreter.Ctypes, r.starter.Isolation()); err != nil {
		return err
	}
	spec := confine.Spec{
		Interpreter: r.interpreter,
		Read:        sandbox.AllowRead, Write: sandbox.AllowWrite, Execute: sandbox.AllowExec,
		Processes: sandbox.processes(), Network: sandbox.AllowNetwork,
		Landlock: machine.Landlock, Calls: machine.Calls,
		OwnProcesses: r.starter.Isolation() != child.ProcessGroup && len(sandbox.Wrapper) == 0,
		OwnUsers:     r.starter.Isolation() == child.UserPIDNamespace,
		Canary:       r.folder.Path(), Host: os.Getpid(),
	}
	c, err := openConfinement(&spec)
	if err != nil {
		return err
	}
	r.confinement = c
	c.groups, c.ungroup = r.openGroups(ctx)
	c.processes = spec.Processes
	if len(sandbox.Wrapper) > 0 {
		c.ours = wrapperProcesses
	}
	root := r.starter.Namespaces().Mounts
	if len(sandbox.AllowRead)+len(sandbox.AllowWrite) > 0 {
		machine.Users = 0 // what is opened may be for the host's user alone
	}
	var failed error
	for _, walls := range []struct {
		root bool
		user int
	}{{root, machine.Users}, {root, 0}, {false, 0}} {
		spec.OwnRoot, spec.Users = walls.root, walls.user
		if !walls.root {
			spec.Users = 0
		}
		if c.plan, err = confine.NewPlan(spec); err != nil {
			return misuse("Config.Sandbox: %w", err)
		}
		if failed = r.tryConfinement(ctx); failed == nil {
			c.inside = r.mechanisms(spec)
			c.held, c.watched = c.holds(spec)
			return nil
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("thirdrail: programs can't be confined on this machine: %w; "+
		"thirdrail doctor tells what is missing, and Sandbox.Mode SandboxOff runs them with all your rights", failed)
}

// checkMachine refuses a machine that lacks what the sandbox needs and doesn't
// accept to be without.
func (s Sandbox) checkMachine(machine confine.Machine, ctypes bool, isolation child.Isolation) error {
	const ways = "; accept that with Sandbox.Allow %q, or run programs with all your rights with SandboxOff"
	switch {
	case !ctypes:
		return errors.New("thirdrail: this Python has no module _ctypes, with which a child confines itself; " +
			"use another with Config.Python, or SandboxOff to run programs with all your rights")
	case machine.Landlock == 0 && !s.allows(MechanismLandlock):
		return fmt.Errorf("thirdrail: %s has no Landlock, which confines files: it needs Linux 5.13 with landlock among the boot parameter lsm="+ways,
			machine.Kernel, MechanismLandlock)
	case !machine.Calls && !s.allows(MechanismSeccomp):
		return fmt.Errorf("thirdrail: %s can't filter system calls (seccomp): it needs CONFIG_SECCOMP_FILTER"+ways,
			machine.Kernel, MechanismSeccomp)
	case s.processes() && isolation == child.ProcessGroup && !s.allows(MechanismProcesses):
		return fmt.Errorf("thirdrail: Sandbox.AllowProcesses needs a PID namespace, to end all processes of a program, "+
			"and this user can make none: allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone)"+ways,
			MechanismProcesses)
	}
	return nil
}

// openConfinement makes the host's part of the proof and names it in spec.
func openConfinement(spec *confine.Spec) (*confinement, error) {
	canary := filepath.Join(spec.Canary, confine.CanaryName)
	// A file that everybody may read and write, whatever the umask.
	if err := os.WriteFile(canary, []byte("no child may read this\n"), 0o600); err != nil {
		return nil, fmt.Errorf("thirdrail: %w", err)
	}
	if err := os.Chmod(canary, 0o666); err != nil {
		return nil, fmt.Errorf("thirdrail: %w", err)
	}
	// The name of a socket has 108 bytes at most, so the folder's path may not fit.
	spec.Socket = fmt.Sprintf("%s-%d", filepath.Base(spec.Canary), os.Getpid())
	socket, err := net.Listen("unix", "@"+spec.Socket)
	if err != nil {
		return nil, fmt.Errorf("thirdrail: listening on an abstract socket, which children must not reach: %w", err)
	}
	return &confinement{socket: socket}, nil
}

// mechanisms names what is in force.
func (r *Runtime) mechanisms(spec confine.Spec) []string {
	var names []string
	for _, m := range []struct {
		name string
		in   bool
	}{
		{MechanismLandlock, spec.Landlock > 0},
		{MechanismSeccomp, spec.Calls},
		{MechanismProcesses, r.starter.Isolation() != child.ProcessGroup},
		{MechanismRoot, spec.OwnRoot},
		{MechanismUser, spec.Users > 0},
		{MechanismNetwork, r.starter.Namespaces().Network},
		{MechanismCgroup, r.confinement.groups != nil},
	} {
		if m.in {
			names = append(names, m.name)
		}
	}
	return names
}

// tryConfinement runs a program that does nothing inside the walls.
func (r *Runtime) tryConfinement(ctx context.Context) error {
	p, err := r.spawn(r.limits)
	if err != nil {
		return err
	}
	return r.tryChild(ctx, p, func() {})
}

// tryChild runs a program in a child that does nothing but one call, of look.
func (r *Runtime) tryChild(ctx context.Context, p *prepared, look func()) error {
	namespaces, err := checkNamespaces([]Namespace{{Global: "host", Funcs: Funcs{
		"look": func(context.Context, lossless.Value) (lossless.Value, error) {
			look()
			return lossless.Value{}, nil
		},
	}}}, false)
	if err != nil {
		return err
	}
	one := &run{
		runtime:    r,
		request:    Request{Program: "await host.look()"},
		limits:     DefaultLimits().clampBy(r.host, p.bareBytes),
		namespaces: namespaces,
		began:      time.Now(),
	}
	return one.doIn(ctx, p).Err()
}

// close ends the host's part of the proof. It may be called on nil.
func (c *confinement) close() error {
	if c == nil {
		return nil
	}
	return errors.Join(c.socket.Close(), c.groups.close())
}

// policy returns what the child of a run in folder applies. It is nil without a
// confinement.
func (c *confinement) policy(folder string, limits Limits) *confine.Policy {
	if c == nil {
		return nil
	}
	return c.plan.Policy(confine.Run{
		Folder:    folder,
		Memory:    limits.Memory,
		DiskBytes: limits.DiskBytes,
		Processes: limits.Processes,
		Number:    c.runs.Add(1),
	})
}

// nursery returns what a nursery that is started in folder applies, and its children.
func (c *confinement) nursery(folder string, preloads bool) *confine.Nursery {
	policies := c.plan.Nursery(folder, child.Holder(), preloads)
	if c.tamper != nil {
		c.tamper(policies.Run)
	}
	return policies
}

// workspace returns the path at which a child in folder sees its workspace.
func (c *confinement) workspace(folder string) string {
	if c == nil {
		return folder
	}
	return c.plan.Workspace(folder)
}

// mechanismsInForce are for Stats.
func (c *confinement) mechanismsInForce() []string {
	if c == nil {
		return nil
	}
	return c.inside
}

// value is the policy as the boot frame has it.
func (c *confinement) value(policy *confine.Policy) (lossless.Value, error) {
	if policy == nil {
		return lossless.Value{}, nil
	}
	if c.tamper != nil {
		changed := *policy
		c.tamper(&changed)
		policy = &changed
	}
	return lossless.Of(policy)
}
