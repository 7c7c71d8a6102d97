package confine

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// Where the workspace is in a root of its own: in a file system that is mounted on
// filesOfRun. Landlock's rule is for the folder around that: one for a folder that
// something is mounted on would have no effect.
const (
	aroundFiles     = "/sandbox"
	filesOfRun      = aroundFiles + "/run"
	workspaceInRoot = filesOfRun + "/workspace"
)

// linksInRoot lead into the workspace's file system, so that its size limits what lies there.
// libc keeps semaphores and shared memory in /dev/shm; without it not even a pool
// of threads of multiprocessing starts.
// The files that say who a user and a group are differ from run to run.
var linksInRoot = [][2]string{
	{"/tmp", workspaceInRoot[1:] + "/tmp"},
	{"/dev/shm", ".." + workspaceInRoot + "/tmp"},
	{usersFile, ".." + filesOfRun + "/" + usersName},
	{groupsFile, ".." + filesOfRun + "/" + groupsName},
}

// The files that say who a user and a group are, and their names beside the workspace.
const (
	usersFile, usersName   = "/etc/passwd", "passwd"
	groupsFile, groupsName = "/etc/group", "group"
)

// A Plan is what is the same for all children.
type Plan struct {
	spec     Spec
	places   places
	root     *Root
	landlock *Landlock
	calls    *Calls
	// The same in two filters: what a nursery can do without, and what it needs.
	sharedCalls, ownCalls *Calls
	hostRoot              int64 // the device of the host's root
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
			l.allow(aroundFiles, writeAccess, true)
		}
		p.landlock = &l
	}
	if spec.Calls {
		open := openings{
			processes: spec.Processes, network: spec.Network,
			attributes: spec.OwnRoot || spec.Users > 0,
		}
		var err error
		if p.calls, err = assemble(rules(open)); err != nil {
			return err
		}
		shared, own := split(rules(open))
		if p.sharedCalls, err = assemble(shared); err != nil {
			return err
		}
		if p.ownCalls, err = assemble(own); err != nil {
			return err
		}
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
	root := &Root{Home: workspaceInRoot}
	for _, link := range linksInRoot {
		if !p.places.contain(link[0]) {
			root.Links = append(root.Links, link)
		}
	}
	for _, link := range slices.Sorted(maps.Keys(p.places.links)) {
		own := slices.ContainsFunc(linksInRoot, func(l [2]string) bool { return l[0] == link })
		if !own && !p.places.contain(link) {
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
		return p.root.Home
	}
	return folder
}

const (
	usersPerHost = 1 << 16
)

// Policy returns what one child applies.
func (p *Plan) Policy(run Run) *Policy {
	policy := &Policy{Capabilities: true, Calls: p.calls, Processes: p.spec.Processes, Network: p.spec.Network}
	if p.spec.Users > 0 {
		owner := p.user(run)
		policy.User = &owner
	}
	if p.root != nil {
		root := *p.root
		root.At = run.Folder
		policy.Root = &root
		policy.Workspace = &Workspace{Path: root.Home, Size: p.size(run)}
	}
	policy.Landlock = p.landlock
	if p.landlock != nil && p.root == nil {
		l := *p.landlock
		l.Paths = slices.Clip(l.Paths)
		l.allow(run.Folder, writeAccess, true)
		policy.Landlock = &l
	}
	policy.Limits = append(fixedLimits(), p.runLimits(run)...)
	policy.Told = p.told(run)
	policy.Proofs = p.proofs(run)
	return policy
}

// fixedLimits are the same for every child.
func fixedLimits() [][2]int64 {
	return [][2]int64{
		{unix.RLIMIT_NOFILE, OpenFiles}, {unix.RLIMIT_CORE, 0}, {unix.RLIMIT_MEMLOCK, 1 << 20}, {unix.RLIMIT_MSGQUEUE, 0},
	}
}

// runLimits are those that depend on the run.
func (p *Plan) runLimits(run Run) [][2]int64 {
	limits := [][2]int64{{unix.RLIMIT_FSIZE, run.DiskBytes}}
	if most := p.processes(run); most > 0 {
		limits = append(limits, [2]int64{unix.RLIMIT_NPROC, most})
	}
	return limits
}

// size returns whose the workspace of a run is, and what it holds.
func (p *Plan) size(run Run) Size { return p.sizeFor(p.user(run), run.DiskBytes) }

func (p *Plan) sizeFor(owner User, diskBytes int64) Size {
	return Size{Owner: owner, Texts: p.ownUser(owner), DiskBytes: diskBytes, Files: max(diskBytes/BytesPerFile, 16)}
}

// CountsProcesses tells whether a limit of the kernel's holds the number of
// processes of one child: it counts those of a user, so children need users of their
// own. Root in the host's own user namespace is never counted.
func (p *Plan) CountsProcesses() bool {
	return p.spec.Users > 0 || p.spec.OwnUsers && os.Geteuid() != 0
}

// CountsTogether tells whether that limit would count all children of one nursery as
// one: they are of the user who started it.
func (p *Plan) CountsTogether() bool {
	return p.spec.Processes && p.spec.Users == 0 && p.CountsProcesses()
}

// processes is that limit, or 0 for none.
func (p *Plan) processes(run Run) int64 {
	switch {
	case !p.spec.Processes || !p.CountsProcesses():
		return 0
	case p.spec.Users > 0:
		return int64(run.Processes)
	default:
		return int64(run.Processes) + 1 // the keeper is of that user too
	}
}

// told names the limits that messages may name.
func (p *Plan) told(run Run) *Told {
	told := &Told{Memory: run.Memory, DiskBytes: run.DiskBytes, OpenFiles: OpenFiles}
	if p.spec.Processes {
		told.Processes = run.Processes
	}
	return told
}

// user returns who the child of a run is.
func (p *Plan) user(run Run) User {
	if p.spec.Users == 0 {
		return User{os.Geteuid(), os.Getegid()}
	}
	id := p.spec.Users + int(run.Number%usersPerHost)
	return User{id, id}
}

// ownUser returns the files that give a child's user a name and a home: it is in no
// list of the host. A file that is opened stays the host's.
func (p *Plan) ownUser(owner User) [][2]string {
	const name = "sandbox"
	return [][2]string{
		{usersName, fmt.Sprintf("%s:x:%d:%d::%s:/usr/sbin/nologin\n", name, owner.ID, owner.Group, workspaceInRoot)},
		{groupsName, fmt.Sprintf("%s:x:%d:\n", name, owner.Group)},
	}
}

// HasRoot tells whether children have a root of their own.
func (p *Plan) HasRoot() bool { return p.root != nil }

// HasUser tells whether children become users of their own.
func (p *Plan) HasUser() bool { return p.spec.Users > 0 }
