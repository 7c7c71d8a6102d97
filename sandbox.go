package thirdrail

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Sandbox says how a program is confined. The zero value is the default: one
// process that reads the interpreter and system libraries, writes its own
// workspace, and reaches nothing else. docs/security.md says what holds it.
type Sandbox struct {
	// Mode is SandboxStrict or SandboxOff. The zero value is SandboxStrict.
	Mode SandboxMode
	// AllowRead and AllowWrite are paths that programs may read, or read and
	// write, with all that lies below. They must be absolute and exist at New.
	AllowRead, AllowWrite []string
	// AllowExec are programs that may be executed, by absolute path. They run
	// inside the same walls. It implies AllowProcesses.
	AllowExec []string
	// AllowProcesses lets a program fork, and start the interpreter again, as
	// multiprocessing does. New refuses it where nothing could end all processes.
	AllowProcesses bool
	// AllowNetwork gives programs the host's network, and what resolving names
	// and checking certificates needs.
	AllowNetwork bool
	// Wrapper is a command that starts another, as bubblewrap or runsc do: each run's
	// interpreter is started by it, with its command line appended, and it is the
	// outermost wall. It has to leave descriptors 0 to 4, the environment and the
	// working directory as they are, show the interpreter, the system's libraries, /dev
	// and the folder for temporary files at their paths, and end when what it started
	// ends. Runs then have no own-root and no own-user of ours, and no
	// network-namespace. Empty means no wrapper.
	Wrapper []string
	// Allow are mechanisms whose absence on this machine is accepted: MechanismLandlock
	// and the like. Where a mechanism is there, it is used all the same.
	Allow []string
}

// SandboxMode is a degree of confinement.
type SandboxMode int

const (
	// SandboxStrict confines files, network, processes and system calls.
	SandboxStrict SandboxMode = iota
	// SandboxOff asks for no confinement: a program can do what the host's user can.
	SandboxOff
)

// String names the mode as the command's flag --sandbox does.
func (m SandboxMode) String() string {
	switch m {
	case SandboxStrict:
		return "strict"
	case SandboxOff:
		return "off"
	default:
		return fmt.Sprintf("SandboxMode(%d)", int(m))
	}
}

// The mechanisms that Sandbox.Allow can name, and that Stats and Report show.
const (
	// MechanismLandlock confines files, TCP ports, signals and abstract sockets.
	MechanismLandlock = "landlock"
	// MechanismSeccomp filters system calls.
	MechanismSeccomp = "seccomp"
	// MechanismProcesses is a PID namespace: a run sees only its own processes,
	// and all of them end with it.
	MechanismProcesses = "pid-namespace"
	// MechanismRoot is a mount namespace with a root of its own, in which what
	// isn't opened doesn't exist.
	MechanismRoot = "own-root"
	// MechanismUser is a user of its own for each run.
	MechanismUser = "own-user"
	// MechanismNetwork is a network namespace without devices.
	MechanismNetwork = "network-namespace"
	// MechanismCgroup is a control group (version 2) of its own for each run, which
	// counts, limits and ends all of its processes together.
	MechanismCgroup = "cgroup"
)

// required are the mechanisms that the default needs. The others are walls behind
// walls: they are used where the machine has them.
var required = []string{MechanismLandlock, MechanismSeccomp}

// check refuses what means nothing.
func (s Sandbox) check() error {
	if s.Mode != SandboxStrict && s.Mode != SandboxOff {
		return misuse("Config.Sandbox.Mode is %v; use SandboxStrict or SandboxOff", s.Mode)
	}
	for _, list := range []struct {
		name  string
		paths []string
	}{{"AllowRead", s.AllowRead}, {"AllowWrite", s.AllowWrite}, {"AllowExec", s.AllowExec}} {
		for _, path := range list.paths {
			if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
				return misuse("Config.Sandbox.%s has %q; write an absolute path", list.name, path)
			}
		}
	}
	if s.Mode == SandboxOff && s.opens() {
		return misuse("Config.Sandbox.Mode is off, so there is nothing to open; leave the Allow fields empty, or use SandboxStrict")
	}
	if len(s.Wrapper) > 0 && s.Wrapper[0] == "" {
		return misuse("Config.Sandbox.Wrapper begins with an empty word; write a command, or leave it empty for none")
	}
	for _, word := range s.Wrapper {
		if strings.ContainsRune(word, 0) {
			return misuse("Config.Sandbox.Wrapper has the word %q; no word of a command can have a NUL byte", word)
		}
	}
	// A control group is never required, so naming it changes nothing.
	allowable := append(slices.Clone(required), MechanismProcesses, MechanismCgroup)
	for _, name := range s.Allow {
		if !slices.Contains(allowable, name) {
			return misuse("Config.Sandbox.Allow has %q; it can name %s", name, strings.Join(allowable, ", "))
		}
	}
	return nil
}

func (s Sandbox) opens() bool {
	return len(s.AllowRead)+len(s.AllowWrite)+len(s.AllowExec) > 0 || s.AllowProcesses || s.AllowNetwork
}

func (s Sandbox) processes() bool { return s.AllowProcesses || len(s.AllowExec) > 0 }

func (s Sandbox) allows(mechanism string) bool { return slices.Contains(s.Allow, mechanism) }
