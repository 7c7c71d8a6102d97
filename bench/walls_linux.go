package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/thirdrail-dev/thirdrail"
	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/internal/confine"
	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// A wall is one mechanism: what a child is started with for it, and what of a whole
// policy is its part.
type wall struct {
	name       string
	namespaces child.Namespaces
	part       func(all, mine *confine.Policy)
}

// walls are in the order in which a child gets them, since each may need those
// above it. A Runtime always asks for all that its machine has: what is left out
// here is left out by a host of this package's own.
var walls = []wall{
	{name: "namespaces for mounts, System V objects and the host's name", namespaces: child.Namespaces{Mounts: true}},
	{name: "a network namespace", namespaces: child.Namespaces{Network: true}},
	{name: "system calls by number (loading `_ctypes`)", part: func(all, mine *confine.Policy) {}},
	{name: "an own root", part: func(all, mine *confine.Policy) { mine.Root = all.Root }},
	{name: "an own user", part: func(all, mine *confine.Policy) { mine.User = all.User }},
	{name: "no capabilities", part: func(all, mine *confine.Policy) { mine.Capabilities = all.Capabilities }},
	{name: "Landlock", part: func(all, mine *confine.Policy) { mine.Landlock = all.Landlock }},
	{name: "limits", part: func(all, mine *confine.Policy) { mine.Limits = all.Limits }},
	{name: "the filter of system calls", part: func(all, mine *confine.Policy) { mine.Calls = all.Calls }},
	{name: "the proofs", part: func(all, mine *confine.Policy) { mine.Proofs = all.Proofs }},
}

const noWalls = "a spawned child without walls"

// walls starts children behind none, one, two and so on, and compares each with the
// one before.
func (s *session) walls(ctx context.Context) error {
	folder, err := child.OpenFolder()
	if err != nil {
		return err
	}
	h := &wallsHost{session: s, folder: folder}
	defer h.close()
	if err := h.plan(ctx); err != nil {
		return err
	}
	variants := []variant{h.variant(noWalls, child.Namespaces{}, nil)}
	var namespaces child.Namespaces
	var parts []func(all, mine *confine.Policy)
	for _, w := range walls {
		namespaces.Mounts = namespaces.Mounts || w.namespaces.Mounts
		namespaces.Network = namespaces.Network || w.namespaces.Network
		if w.part != nil {
			parts = append(parts, w.part)
		}
		variants = append(variants, h.variant(w.name, namespaces, slices.Clone(parts)))
	}
	figures, err := s.alternate(ctx, s.options.Rounds, variants)
	if err != nil {
		return err
	}
	none := figures[noWalls]
	for i, w := range walls {
		added := figures[w.name].minus(figures[variants[i].name])
		s.addRatios(w.name, noWalls, added.over(none), added.median(), none.median(), milliseconds)
	}
	all := figures[walls[len(walls)-1].name].minus(none)
	s.addRatios("**all of them**", noWalls, all.over(none), all.median(), none.median(), milliseconds)
	return nil
}

// minus returns the differences of two variants in each round.
func (s samples) minus(other samples) samples {
	differences := make(samples, len(s))
	for i := range s {
		differences[i] = s[i] - other[i]
	}
	return differences
}

// wallsHost runs children behind some of the walls of a default run.
type wallsHost struct {
	session  *session
	folder   *child.Folder
	composed *confine.Plan
	starters map[child.Namespaces]*child.Starter
	runs     uint64
}

// plan composes what a default run on this machine has.
func (h *wallsHost) plan(ctx context.Context) error {
	machine, inForce := confine.Look(), h.session.report.Machine.Walls
	spec := confine.Spec{
		Interpreter:  h.session.python,
		Landlock:     machine.Landlock,
		Calls:        machine.Calls,
		OwnRoot:      slices.Contains(inForce, thirdrail.MechanismRoot),
		OwnProcesses: slices.Contains(inForce, thirdrail.MechanismProcesses),
		Canary:       h.folder.Path(),
		Socket:       "thirdrail-bench-that-nobody-listens-on",
		Host:         os.Getpid(),
	}
	if slices.Contains(inForce, thirdrail.MechanismUser) {
		spec.Users = machine.Users
	}
	if err := os.WriteFile(h.folder.Path()+"/"+confine.CanaryName, nil, 0o600); err != nil {
		return err
	}
	var err error
	h.composed, err = confine.NewPlan(spec)
	return err
}

// starter returns the starter for some namespaces. It is made once.
func (h *wallsHost) starter(ctx context.Context, n child.Namespaces) (*child.Starter, error) {
	if s := h.starters[n]; s != nil {
		return s, nil
	}
	s, err := child.NewStarter(ctx, h.session.python, child.Options{Namespaces: n})
	if err == nil {
		if h.starters == nil {
			h.starters = map[child.Namespaces]*child.Starter{}
		}
		h.starters[n] = s
	}
	return s, err
}

func (h *wallsHost) close() {
	for _, s := range h.starters {
		_ = s.Close()
	}
	_ = h.folder.Close()
}

// variant is a run behind some walls, until nothing is left of it. No parts at all
// means no policy.
func (h *wallsHost) variant(name string, n child.Namespaces, parts []func(all, mine *confine.Policy)) variant {
	return variant{name, func(ctx context.Context) (float64, error) {
		s := h.session
		starter, err := h.starter(ctx, n)
		if err != nil {
			return 0, err
		}
		began := s.now()
		if err := h.run(starter, parts); err != nil {
			return 0, fmt.Errorf("with %s: %w", name, err)
		}
		return s.now() - began, nil
	}}
}

// startLimit is as long as a child that works could take.
const startLimit = 10 * time.Second

// run is one run by a host that does nothing but what a run needs.
func (h *wallsHost) run(starter *child.Starter, parts []func(all, mine *confine.Policy)) (err error) {
	workspace, err := h.folder.NewWorkspace()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, workspace.Remove()) }()
	limits := thirdrail.DefaultLimits()
	h.runs++
	all := h.composed.Policy(confine.Run{
		Folder: workspace.Path, DiskBytes: limits.DiskBytes, Processes: limits.Processes, Number: h.runs,
	})
	boot := wire.Boot{
		CPUSeconds:        int64(limits.CPU / time.Second),
		AddressSpaceBytes: limits.Memory + h.session.python.BareBytes,
		MaxLogBytes:       limits.LogBytes, MaxValueBytes: limits.ValueBytes,
		Numbers: wire.NumbersExact, OpenLogs: true,
	}
	seen := workspace.Path
	if parts != nil {
		var mine confine.Policy
		for _, part := range parts {
			part(all, &mine)
		}
		if boot.Confinement, err = lossless.Of(&mine); err != nil {
			return err
		}
		if mine.Root != nil {
			seen = h.composed.Workspace(workspace.Path)
		}
	}
	process, err := starter.Start(workspace.Path, child.Environment(seen))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, process.Close()) }()
	defer process.Wait()
	return converse(process, &boot)
}

// converse sends boot and a program, and returns when the child is done.
func converse(process *child.Process, boot *wire.Boot) error {
	if err := process.Rail.SetDeadline(time.Now().Add(startLimit)); err != nil {
		return err
	}
	lines := wire.NewReader(process.Rail, 0)
	for _, exchange := range []struct{ say, hear wire.Frame }{
		{boot, &wire.BootAck{}}, {&wire.Run{Program: trivial}, &wire.Done{}},
	} {
		if _, err := process.Rail.Write(wire.Append(nil, exchange.say)); err != nil {
			return err
		}
		line, err := lines.Next()
		if err != nil {
			return fmt.Errorf("waiting for %s: %w: %s", exchange.hear.FrameType(), err, lastWords(process))
		}
		frame, err := wire.DecodeChild(line)
		if err != nil {
			return err
		}
		if frame.FrameType() != exchange.hear.FrameType() {
			return fmt.Errorf("the child sent %s, want %s", frame.FrameType(), exchange.hear.FrameType())
		}
	}
	<-process.Ended() // as a run lets a child end that is done
	return nil
}

// lastWords returns what a child that failed has written to standard error.
func lastWords(process *child.Process) string {
	text := make([]byte, 1<<10)
	_ = process.Stderr.SetReadDeadline(time.Now().Add(time.Second))
	n, _ := process.Stderr.Read(text)
	return string(text[:n])
}
