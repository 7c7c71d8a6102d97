package confine

import "github.com/thirdrail-dev/thirdrail/internal/interpreter"

// A Spec is what programs shall be able to do, on a machine that has been looked at.
type Spec struct {
	Interpreter *interpreter.Interpreter
	// Read, Write and Execute are absolute paths that are opened. What may be
	// executed may be read too.
	Read, Write, Execute []string
	// Processes opens fork and the interpreter itself, Network the host's network.
	Processes, Network bool
	// OwnRoot tells that children start in a mount namespace that they may change.
	OwnRoot bool
	// OwnProcesses tells that children start as the second process of a PID namespace.
	OwnProcesses bool
	// OwnUsers tells that children start in a user namespace, where the kernel counts
	// their processes apart from those of the same user elsewhere.
	OwnUsers bool
	// Landlock is the version of the kernel's interface; 0 leaves it out. Calls
	// tells to filter system calls.
	Landlock int
	Calls    bool
	// Users is where the numbers of the users begin that children become, each
	// another; 0 lets them stay who they are.
	Users int
	// Canary is a folder that no child may reach. It holds a file of that name.
	Canary string
	// Socket is an abstract socket that the host listens on, without the first NUL.
	Socket string
	// Host is the number of the host's process.
	Host int
}

// A Run is what differs between children.
type Run struct {
	// Folder is the run's folder on the host, empty and its own.
	Folder string
	// Memory, DiskBytes and Processes are those of the limits.
	Memory, DiskBytes int64
	Processes         int
	// Number tells runs of one host apart.
	Number uint64
}

// CanaryName is the file in the canary folder. It can be read and written by
// everybody, so only the confinement keeps a child from it.
const CanaryName = "canary"
