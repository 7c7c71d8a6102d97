package thirdrail

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/thirdrail-dev/thirdrail/internal/child"
	"github.com/thirdrail-dev/thirdrail/internal/confine"
)

// brokenWalls leave a mechanism out of what the child applies, while the host goes
// on to ask for all of them.
var brokenWalls = []struct {
	name    string
	without func(*confine.Policy)
	says    string // which proof is missing
	needs   string // the mechanism that this machine has to have
}{
	{"own root", func(p *confine.Policy) { p.Root, p.Workspace = nil, nil }, "root is open", MechanismRoot},
	{"own user", func(p *confine.Policy) { p.User = nil }, "user is open", MechanismUser},
	{"capabilities", func(p *confine.Policy) { p.Capabilities = false }, "landlock_restrict_self: Operation not permitted", ""},
	{"landlock", func(p *confine.Policy) { p.Landlock = nil }, "files.kinds is open", MechanismLandlock},
	{"a landlock that refuses nothing", func(p *confine.Policy) {
		l := *p.Landlock
		l.Files, l.Paths = 1, []confine.PathRule{} // executing only
		p.Landlock = &l
	}, "files.kinds is open", MechanismLandlock},
	{"limits", func(p *confine.Policy) { p.Limits = nil }, "limits.open-files is open", ""},
	{"one limit", func(p *confine.Policy) { p.Limits = p.Limits[:1] }, "limits.file-size is open", ""},
	{"system calls", func(p *confine.Policy) { p.Calls = nil }, "calls.filter is open", MechanismSeccomp},
	{"a filter that allows everything", func(p *confine.Policy) {
		p.Calls = &confine.Calls{Program: []byte{6, 0, 0, 0, 0, 0, 0xff, 0x7f}}
	}, " is open", MechanismSeccomp},
	{"all but the own root", func(p *confine.Policy) { p.Landlock, p.Calls = nil, nil }, "before it was ready", MechanismRoot},
	{"files altogether", func(p *confine.Policy) { p.Root, p.Workspace, p.Landlock, p.User = nil, nil, nil, nil }, "files.read is open", MechanismLandlock},
	{"every proof", func(p *confine.Policy) { p.Proofs = nil }, "didn't try privileges", ""},
	{"one proof", func(p *confine.Policy) { p.Proofs = p.Proofs[:len(p.Proofs)-1] }, "didn't try processes.fork", ""},
}

// TestEachWallIsProven breaks each mechanism in turn. The program never starts.
func TestEachWallIsProven(t *testing.T) {
	rt := newSpawning(t, Config{})
	for _, wall := range brokenWalls {
		t.Run(wall.name, func(t *testing.T) {
			if wall.needs != "" && !slices.Contains(rt.confinement.inside, wall.needs) {
				t.Skipf("needs the mechanism %s", wall.needs)
			}
			rt.confinement.tamper = wall.without
			defer func() { rt.confinement.tamper = nil }()
			result := run1(t, rt, "print('started')", Limits{})
			if result.Failure == nil || result.Failure.Kind != WorkerExit || slices.Contains(result.Logs, "started") || result.Stats.Wall != 0 {
				t.Fatalf("got %+v, want a worker-exit before the program", result)
			}
			if !strings.Contains(result.Failure.Message, wall.says) {
				t.Errorf("message %q lacks %q", result.Failure.Message, wall.says)
			}
		})
	}
	if result := run1(t, rt, "return 1", Limits{}); result.Failure != nil {
		t.Errorf("with all walls: %v", result.Err())
	}
}

// brokenForks leave out what a nursery's child applies itself.
var brokenForks = []struct {
	name    string
	without func(*confine.Policy)
	says    string
	needs   string
}{
	{"own user", func(p *confine.Policy) { p.User = nil }, "user is open", MechanismUser},
	{"capabilities", func(p *confine.Policy) { p.Capabilities = false }, "landlock_restrict_self: Operation not permitted", ""},
	{"landlock", func(p *confine.Policy) { p.Landlock = nil }, "files.kinds is open", MechanismLandlock},
	{"limits", func(p *confine.Policy) { p.Limits = nil }, "limits.open-files is open", ""},
	{"system calls", func(p *confine.Policy) { p.Calls = nil }, " is open", MechanismSeccomp},
	{"a filter that allows everything", func(p *confine.Policy) {
		p.Calls = &confine.Calls{Program: []byte{6, 0, 0, 0, 0, 0, 0xff, 0x7f}}
	}, " is open", MechanismSeccomp},
	{"a workspace with the nursery's mounts", func(p *confine.Policy) { p.Workspace = &confine.Workspace{Path: "/none"} }, "workspace: ", ""},
	{"every proof", func(p *confine.Policy) { p.Proofs = nil }, "didn't try privileges", ""},
	{"one proof", func(p *confine.Policy) { p.Proofs = p.Proofs[:len(p.Proofs)-1] }, "didn't try processes.fork", ""},
}

// TestEachWallOfForksIsProven breaks each mechanism of a nursery's children in turn:
// the nursery isn't used. Without one, the runtime goes on.
func TestEachWallOfForksIsProven(t *testing.T) {
	rt := newSpawning(t, Config{})
	if err := rt.canFork(); err != nil {
		t.Skipf("needs namespaces to fork children: %v", err)
	}
	for _, wall := range brokenForks {
		t.Run(wall.name, func(t *testing.T) {
			if wall.needs != "" && !slices.Contains(rt.confinement.inside, wall.needs) {
				t.Skipf("needs the mechanism %s", wall.needs)
			}
			rt.confinement.tamper = wall.without
			defer func() { rt.confinement.tamper = nil }()
			n, err := rt.newNursery(t.Context(), Config{})
			if err == nil {
				t.Fatal("the nursery is used", n.close())
			}
			if !strings.Contains(err.Error(), wall.says) {
				t.Errorf("error %q lacks %q", err, wall.says)
			}
		})
	}
	if result := run1(t, rt, "return 1", Limits{}); result.Failure != nil {
		t.Errorf("afterwards: %v", result.Err())
	}
}

// brokenPolicies can't be applied.
var brokenPolicies = []struct {
	name    string
	without func(*confine.Policy)
	says    string
}{
	{"a mount that isn't there", func(p *confine.Policy) {
		root := *p.Root
		root.Mounts = append(slices.Clone(root.Mounts), confine.Mount{Path: "/none"})
		p.Root = &root
	}, "root: "},
	{"rights that Landlock doesn't know", func(p *confine.Policy) {
		l := *p.Landlock
		l.Files = 1 << 60
		p.Landlock = &l
	}, "landlock: "},
	{"a filter that is none", func(p *confine.Policy) { p.Calls = &confine.Calls{Program: make([]byte, 8)} }, "calls: "},
	{"a limit that is none", func(p *confine.Policy) { p.Limits = [][2]int64{{999, 1}} }, "limits: "},
}

// TestPolicyThatFails has parts that the child can't apply: it says which, and
// never acknowledges.
func TestPolicyThatFails(t *testing.T) {
	rt := newSpawning(t, Config{})
	for _, broken := range brokenPolicies {
		t.Run(broken.name, func(t *testing.T) {
			rt.confinement.tamper = broken.without
			defer func() { rt.confinement.tamper = nil }()
			result := run1(t, rt, "print('started')", Limits{})
			if result.Failure == nil || result.Failure.Kind != WorkerExit || result.Stats.Wall != 0 ||
				!strings.Contains(result.Failure.Message, "the confinement could not be applied: "+broken.says) {
				t.Errorf("got %+v", result.Err())
			}
		})
	}
}

// TestWeakerMachines has machines that lack something: what New says, and what
// may be missing.
func TestWeakerMachines(t *testing.T) {
	all := confine.Machine{Kernel: "Linux 9", Landlock: 7, Calls: true}
	noLandlock, noCalls := all, all
	noLandlock.Landlock, noCalls.Calls = 0, false
	for _, c := range []struct {
		name      string
		sandbox   Sandbox
		machine   confine.Machine
		ctypes    bool
		isolation child.Isolation
		says      []string // nil: accepted
	}{
		{"all", Sandbox{}, all, true, child.PIDNamespace, nil},
		{"no namespaces", Sandbox{}, all, true, child.ProcessGroup, nil},
		{"no Landlock", Sandbox{}, noLandlock, true, child.PIDNamespace, []string{"Linux 9", "Landlock", "lsm=", `Sandbox.Allow "landlock"`, "SandboxOff"}},
		{"no Landlock, accepted", Sandbox{Allow: []string{"landlock"}}, noLandlock, true, child.PIDNamespace, nil},
		{"no filter", Sandbox{Allow: []string{"landlock"}}, noCalls, true, child.PIDNamespace, []string{"seccomp", "CONFIG_SECCOMP_FILTER", "SandboxOff"}},
		{"no filter, accepted", Sandbox{Allow: []string{"seccomp"}}, noCalls, true, child.PIDNamespace, nil},
		{"no ctypes", Sandbox{}, all, false, child.PIDNamespace, []string{"_ctypes", "Config.Python", "SandboxOff"}},
		{"processes without a namespace", Sandbox{AllowProcesses: true}, all, true, child.ProcessGroup, []string{"PID namespace", "max_user_namespaces", `"pid-namespace"`}},
		{"programs without a namespace", Sandbox{AllowExec: []string{"/bin/echo"}}, all, true, child.ProcessGroup, []string{"PID namespace"}},
		{"processes without a namespace, accepted", Sandbox{AllowProcesses: true, Allow: []string{"pid-namespace"}}, all, true, child.ProcessGroup, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.sandbox.checkMachine(c.machine, c.ctypes, c.isolation)
			if (err == nil) != (c.says == nil) {
				t.Fatalf("got %v", err)
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%q lacks %q", err, part)
				}
			}
		})
	}
}

// TestStatsTellTheWalls compares what Stats and Report say with what was asked.
func TestStatsTellTheWalls(t *testing.T) {
	for _, c := range []struct {
		name    string
		sandbox Sandbox
		without []string
	}{
		{"strict", Sandbox{}, nil},
		{"network", Sandbox{AllowNetwork: true}, []string{MechanismNetwork}},
		{"a path", Sandbox{AllowRead: []string{os.TempDir()}}, []string{MechanismUser}},
		{"off", Sandbox{Mode: SandboxOff}, []string{MechanismLandlock, MechanismSeccomp, MechanismProcesses, MechanismRoot, MechanismUser, MechanismNetwork}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rt := newRuntime(t, Config{Sandbox: c.sandbox})
			got := run1(t, rt, "return 1", Limits{}).Stats.Confinement
			for _, name := range c.without {
				if slices.Contains(got, name) {
					t.Errorf("%q has %s", got, name)
				}
			}
			if c.sandbox.Mode == SandboxStrict && !slices.Equal(got[:2], required) {
				t.Errorf("got %q", got)
			}
			var inForce []string
			for _, m := range rt.Report().Mechanisms {
				if m.InForce {
					inForce = append(inForce, m.Name)
				}
			}
			if diff := cmp.Diff(got, inForce); diff != "" {
				t.Errorf("Stats and Report differ: %s", diff)
			}
		})
	}
}

// TestInterpreterWithoutCtypes has New refuse one.
func TestInterpreterWithoutCtypes(t *testing.T) {
	found := *findPython(t, "")
	found.Ctypes = false
	rt, err := newOn(t.Context(), Config{}, DefaultLimits(), &found)
	if rt != nil || err == nil || !strings.Contains(err.Error(), "_ctypes") {
		t.Errorf("got %v, %v", rt, err)
	}
}
