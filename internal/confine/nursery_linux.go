package confine

import (
	"encoding/base64"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// holderPath is where a nursery finds the program that holds the namespace of a
// child's processes.
const holderPath = "/.thirdrail-holder"

// nurseryCalls are the system calls that a nursery makes, or a child of it before it
// is confined. Only the children's own filter refuses them.
var nurseryCalls = append([]uint32{
	unix.SYS_MOUNT, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_PIDFD_OPEN,
	unix.SYS_SECCOMP, unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF, unix.SYS_CAPSET, unix.SYS_PRCTL,
	unix.SYS_SETRESUID, unix.SYS_SETRESGID, unix.SYS_SETGROUPS,
	unix.SYS_KILL, unix.SYS_CLONE, unix.SYS_EXECVE, unix.SYS_PRLIMIT64, unix.SYS_PROCESS_MADVISE,
	unix.SYS_SOCKET, // a loop of asyncio
}, oldFork...)

// split parts rules in those for a nursery, which its children inherit, and those
// for the children alone. What depends on the number of the process is theirs.
func split(rules []rule) (shared, own []rule) {
	for _, r := range rules {
		one, other := r, r
		one.calls, other.calls = nil, nil
		for _, call := range r.calls {
			if slices.Contains(nurseryCalls, call) || r.namesProcess() {
				other.calls = append(other.calls, call)
			} else {
				one.calls = append(one.calls, call)
			}
		}
		if len(one.calls) > 0 {
			shared = append(shared, one)
		}
		if len(other.calls) > 0 {
			own = append(own, other)
		}
	}
	return shared, own
}

func (r rule) namesProcess() bool {
	return slices.ContainsFunc(r.unless, func(t test) bool { return slices.Contains(t.in, ownProcess) })
}

// preloadBytes is what a nursery's own workspace holds.
const preloadBytes = 64 << 20

// Nursery returns what a nursery that is started in folder applies. It needs a root
// of its own. Holder is the program that holds the namespace of a child's processes.
// One that preloads modules gets a workspace, since some of them write to their home
// when they are imported. Each child mounts its own over it.
func (p *Plan) Nursery(folder string, holder []byte, preloads bool) *Nursery {
	root := *p.root
	root.At = folder
	root.Programs = [][2]string{{holderPath, base64.StdEncoding.EncodeToString(holder)}}
	run := &Policy{
		Workspace:    &Workspace{Path: root.Home, Own: true},
		Capabilities: true,
		Landlock:     p.landlock,
		Limits:       fixedLimits(),
		Calls:        p.ownCalls,
		Processes:    p.spec.Processes,
		Network:      p.spec.Network,
		Proofs:       p.proofs(Run{Processes: 1}), // the numbers come with each order
	}
	if p.spec.Users > 0 {
		run.User = &User{}
	}
	own := &Policy{Root: &root, Calls: p.sharedCalls}
	if preloads {
		owner := User{os.Geteuid(), os.Getegid()}
		own.Workspace = &Workspace{Path: root.Home, Size: p.sizeFor(owner, preloadBytes)}
	}
	return &Nursery{Own: own, Run: run}
}

// Order returns what the child of a run gets with the order to fork.
func (p *Plan) Order(run Run, thorough bool) *Order {
	order := &Order{
		Size: p.size(run), Limits: p.runLimits(run), Told: p.told(run), Numbers: map[string]int64{}, Thorough: thorough,
	}
	for _, proof := range p.proofs(run) {
		if slices.Contains(runProofs, proof.Kind) {
			order.Numbers[proof.Kind] = proof.Number
		}
	}
	return order
}

// runProofs are the kinds of attempts whose number depends on the run.
var runProofs = []string{"user", "file-size", "processes"}

// Forked returns what a child that was forked to an order must prove.
func (p *Plan) Forked(run Run, thorough bool) *Policy {
	proofs := p.proofs(run)
	if !thorough {
		proofs = slices.DeleteFunc(proofs, func(proof Proof) bool { return !proof.Each })
	}
	return &Policy{Proofs: proofs}
}
