package child

// Isolation is how a child's processes are kept together, so that all of them
// can be ended.
type Isolation int

const (
	// ProcessGroup means that nothing better could be had: what leaves the
	// process group of the child is only found by way of /proc, where there is one.
	ProcessGroup Isolation = iota
	// PIDNamespace means a PID namespace made with the host's own rights.
	PIDNamespace
	// UserPIDNamespace means a PID namespace inside a user namespace, which needs
	// no rights.
	UserPIDNamespace
)

// String names the isolation as Stats show it.
func (i Isolation) String() string {
	switch i {
	case PIDNamespace:
		return "pid-namespace"
	case UserPIDNamespace:
		return "user-and-pid-namespace"
	default:
		return "process-group"
	}
}

// Namespaces are what a child has of its own beside its processes, where it has a
// namespace for those. The zero value is none.
type Namespaces struct {
	// Mounts gives it its own mounts, System V objects and host name, and the right
	// to change the mounts until it gives that up.
	Mounts bool
	// Network gives it a network without any device that is up.
	Network bool
}

// Options say how children are kept. The zero value takes the best isolation that
// works, and no other namespaces.
type Options struct {
	// Among are the kinds of isolation to choose from, the best first. Nil means all.
	Among []Isolation
	// Namespaces are what children get beside that.
	Namespaces Namespaces
	// Wrapper is a command that starts another: the interpreter's command line is
	// appended to it. Its first word is an absolute path. Nil means none.
	Wrapper []string
}

// NoGroup is what StartIn takes for no control group.
const NoGroup = -1

func (i Isolation) ownNamespace() bool { return i != ProcessGroup }

// keeper is the bootstrap's name for what the keeper has to be.
func (i Isolation) keeper() string {
	if i.ownNamespace() {
		return "namespace"
	}
	return "subreaper"
}
