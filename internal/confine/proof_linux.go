package confine

import (
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// families are the kinds of sockets that a child tries. A kernel that lacks one
// refuses it too.
var families = []Proof{
	{Name: "network.inet", Number: unix.AF_INET},
	{Name: "network.inet6", Number: unix.AF_INET6},
	{Name: "network.unix", Number: unix.AF_UNIX},
	{Name: "network.netlink", Number: unix.AF_NETLINK},
	{Name: "network.packet", Number: unix.AF_PACKET},
	{Name: "network.vsock", Number: unix.AF_VSOCK},
}

// proofs lists what the child of a run tries: each thing that one of the walls in
// force forbids, so that a wall that isn't there shows.
func (p *Plan) proofs(run Run) []Proof {
	list := []Proof{
		{Name: "privileges", Kind: "privileges"},
		{Name: "capabilities", Kind: "capabilities"},
		{Name: "dumpable", Kind: "dumpable"},
		{Name: "limits.open-files", Kind: "open-files", Number: OpenFiles},
		{Name: "limits.file-size", Kind: "file-size", Number: run.DiskBytes},
		{Name: "limits.core", Kind: "core"},
	}
	if most := p.processes(run); most > 0 {
		list = append(list, Proof{Name: "limits.processes", Kind: "processes", Number: most})
	}
	list = append(list, p.fileProofs()...)
	if p.root != nil {
		list = append(list, Proof{Name: "root", Kind: "root", Number: p.hostRoot})
	}
	if p.landlock != nil {
		list = append(list, Proof{Name: "files.kinds", Kind: "socket-file"})
	}
	if p.spec.Users > 0 {
		list = append(list, Proof{Name: "user", Kind: "user", Number: int64(p.user(run).ID)})
	}
	if p.spec.OwnProcesses {
		list = append(list, Proof{Name: "processes.namespace", Kind: "own-processes"})
	}
	if p.calls != nil {
		list = append(list, p.callProofs()...)
	}
	for i := range list {
		list[i].Each = slices.Contains(eachProofs, list[i].Kind)
	}
	return list
}

// eachProofs are the kinds of attempts that each forked child makes: one for each
// part that it applies itself. The nursery's first child makes all of them.
var eachProofs = []string{"own-processes", "user", "capabilities", "socket-file", "open-files", "file-size", "filter", "fork", "processes"}

// fileProofs try the canary, as far as it doesn't lie in what is opened.
func (p *Plan) fileProofs() []Proof {
	if p.root == nil && p.landlock == nil {
		return nil
	}
	canary := filepath.Join(p.spec.Canary, CanaryName)
	open := p.places.access(canary)
	var list []Proof
	if open&unix.LANDLOCK_ACCESS_FS_READ_FILE == 0 {
		list = append(list, Proof{Name: "files.read", Kind: "read", Path: canary}, Proof{Name: "files.list", Kind: "list", Path: p.spec.Canary})
		if p.root != nil {
			list = append(list, Proof{Name: "files.stat", Kind: "stat", Path: canary})
		}
	}
	if open&unix.LANDLOCK_ACCESS_FS_WRITE_FILE == 0 {
		list = append(list,
			Proof{Name: "files.write", Kind: "write", Path: canary},
			Proof{Name: "files.create", Kind: "create", Path: filepath.Join(p.spec.Canary, "new")},
		)
	}
	return list
}

func (p *Plan) callProofs() []Proof {
	list := []Proof{
		{Name: "calls.filter", Kind: "filter"},
		{Name: "calls.mount", Kind: "mount"},
		{Name: "calls.namespace", Kind: "namespace"},
		{Name: "processes.trace", Kind: "trace", Number: int64(p.spec.Host)},
	}
	if !p.spec.Network {
		for _, family := range families {
			family.Kind = "family"
			list = append(list, family)
		}
		list = append(list, Proof{Name: "network.abstract", Kind: "abstract", Path: p.spec.Socket})
	}
	if !p.spec.Processes {
		list = append(list,
			Proof{Name: "processes.signal", Kind: "signal", Number: int64(p.spec.Host)},
			Proof{Name: "processes.execute", Kind: "execute", Path: p.spec.Interpreter.Path},
			Proof{Name: "processes.fork", Kind: "fork"},
		)
	}
	return list
}
