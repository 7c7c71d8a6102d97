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

func (i Isolation) ownNamespace() bool { return i != ProcessGroup }

// keeper is the bootstrap's name for what the keeper has to be.
func (i Isolation) keeper() string {
	if i.ownNamespace() {
		return "namespace"
	}
	return "subreaper"
}
