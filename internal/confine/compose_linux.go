package confine

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// workspaceInRoot is the path of the workspace in a root of its own.
const workspaceInRoot = "/workspace"

// A Plan is what is the same for all children.
type Plan struct {
	spec     Spec
	places   places
	root     *Root
	landlock *Landlock
	calls    *Calls
	hostRoot int64 // the device of the host's root
}

// NewPlan composes what doesn't depend on the run.
func NewPlan(spec Spec) (*Plan, error) {
	p := &Plan{spec: spec}
	if err := p.collect(); err != nil {
		return nil, err
	}
	if err := p.compose(); err != nil {
		return nil, err
	}
	return p, nil
}

// compose makes each part that all children share, of the places that they reach.
func (p *Plan) compose() error {
	spec := p.spec
	if spec.OwnRoot {
		p.root = p.makeRoot()
		var root unix.Stat_t
		if err := unix.Stat("/", &root); err != nil {
			return fmt.Errorf("confine: %w", err)
		}
		p.hostRoot = int64(root.Dev)
	}
	if spec.Landlock > 0 {
		l := handled(spec.Landlock, spec.Network)
		for _, place := range p.places.all {
			l.allow(place.path, place.access, place.folder)
		}
		if spec.OwnRoot { // there is nothing else in it to list
			l.allow("/", unix.LANDLOCK_ACCESS_FS_READ_DIR, true)
		}
		p.landlock = &l
	}
	if spec.Calls {
		open := openings{
			processes: spec.Processes, network: spec.Network,
			attributes: spec.OwnRoot || spec.Users > 0,
		}
		program, own, err := assemble(rules(open))
		if err != nil {
			return err
		}
		p.calls = &Calls{program, own}
	}
	return nil
}

// collect lists the places that children reach.
func (p *Plan) collect() error {
	optional := append(slices.Clone(systemPaths), interpreterPaths(p.spec.Interpreter)...)
	if p.spec.Network {
		optional = append(optional, networkPaths...)
	}
	for _, path := range optional {
		_ = p.places.add(path, readAccess, false)
	}
	for _, path := range devices {
		access := uint64(readAccess)
		if path == "/dev/null" {
			access = writeAccess
		}
		_ = p.places.add(path, access, false)
	}
	execute := slices.Clone(p.spec.Execute)
	if p.spec.Processes {
		execute = append(execute, p.spec.Interpreter.Path)
	}
	for _, opened := range []struct {
		name   string
		paths  []string
		access uint64
	}{
		{"AllowRead", p.spec.Read, readAccess},
		{"AllowWrite", p.spec.Write, writeAccess},
		{"AllowExec", execute, readAccess | executeAccess},
	} {
		for _, path := range opened.paths {
			if err := p.open(path, opened.access); err != nil {
				return fmt.Errorf("confine: %s: %w", opened.name, err)
			}
		}
	}
	p.places.tidy()
	return nil
}

// open opens one path, and with a program what loads it.
func (p *Plan) open(path string, access uint64) error {
	if err := p.places.add(path, access, true); err != nil {
		return err
	}
	if access&executeAccess == 0 {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if name := loader(real); name != "" {
		return p.places.add(name, access, true)
	}
	return nil
}

// makeRoot lists what is mounted: each place once, at the largest that has it.
func (p *Plan) makeRoot() *Root {
	root := &Root{Workspace: workspaceInRoot, Links: [][2]string{{"/tmp", "workspace/tmp"}}}
	for _, link := range slices.Sorted(maps.Keys(p.places.links)) {
		inside := slices.ContainsFunc(p.places.all, func(l place) bool { return l.contains(link) })
		if !inside && link != "/tmp" {
			root.Links = append(root.Links, [2]string{link, p.places.links[link]})
		}
	}
	var mounted []place
	for _, next := range p.places.all {
		next.access &= unix.LANDLOCK_ACCESS_FS_WRITE_FILE
		if slices.ContainsFunc(mounted, func(m place) bool { return m.contains(next.path) && m.access >= next.access }) {
			continue
		}
		mounted = append(mounted, next)
		root.Mounts = append(root.Mounts, Mount{next.path, next.folder, next.access != 0})
	}
	return root
}

// Workspace returns the path that a child sees its workspace at.
func (p *Plan) Workspace(folder string) string {
	if p.root != nil {
		return p.root.Workspace
	}
	return folder
}

const (
	// openFiles is enough for any program that closes what it opens, and bounds
	// the memory in pipes and sockets, which counts as nobody's.
	openFiles = 256
	// bytesPerFile is how much of the disk limit grants one file: an empty one
	// takes kernel memory too.
	bytesPerFile = 4 << 10
	usersPerHost = 1 << 16
)

// Policy returns what one child applies.
func (p *Plan) Policy(run Run) *Policy {
	policy := &Policy{Capabilities: true, Calls: p.calls}
	owner := p.user(run)
	if p.spec.Users > 0 {
		policy.User = &owner
	}
	if p.root != nil {
		root := *p.root
		root.Owner = owner
		root.At, root.DiskBytes, root.Files = run.Folder, run.DiskBytes, max(run.DiskBytes/bytesPerFile, 16)
		policy.Root = &root
	}
	if p.landlock != nil {
		l := *p.landlock
		l.Paths = slices.Clip(l.Paths)
		l.allow(p.Workspace(run.Folder), writeAccess, true)
		policy.Landlock = &l
	}
	policy.Limits = [][2]int64{
		{unix.RLIMIT_NOFILE, openFiles}, {unix.RLIMIT_FSIZE, run.DiskBytes}, {unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_MEMLOCK, 1 << 20}, {unix.RLIMIT_MSGQUEUE, 0},
	}
	if p.spec.Processes && p.spec.Users > 0 {
		policy.Limits = append(policy.Limits, [2]int64{unix.RLIMIT_NPROC, int64(run.Processes)})
	}
	policy.Proofs = p.proofs(run)
	return policy
}

// user returns who the child of a run is.
func (p *Plan) user(run Run) User {
	if p.spec.Users == 0 {
		return User{os.Geteuid(), os.Getegid()}
	}
	id := p.spec.Users + int(run.Number%usersPerHost)
	return User{id, id}
}

// HasRoot tells whether children have a root of their own.
func (p *Plan) HasRoot() bool { return p.root != nil }

// HasUser tells whether children become users of their own.
func (p *Plan) HasUser() bool { return p.spec.Users > 0 }
