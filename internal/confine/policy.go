package confine

// A Policy is what a child applies to itself, in this order, before a program
// starts. It is the boot frame's field confinement. A part that is absent isn't
// applied.
type Policy struct {
	// Root is a file system of the child's own.
	Root *Root `json:"root,omitempty"`
	// Workspace is the private folder, where it is mounted in that.
	Workspace *Workspace `json:"workspace,omitempty"`
	// User is who the child becomes.
	User *User `json:"user,omitempty"`
	// Capabilities tells to give up all of them, and the right to gain any by
	// executing a file (no_new_privs).
	Capabilities bool `json:"dropCapabilities,omitempty"`
	// Landlock are the rules for paths, ports and signals, see landlock(7).
	Landlock *Landlock `json:"landlock,omitempty"`
	// Limits are those of setrlimit(2), by the kernel's numbers: resource, limit.
	Limits [][2]int64 `json:"limits,omitempty"`
	// Calls is the filter of system calls, see seccomp(2).
	Calls *Calls `json:"calls,omitempty"`
	// Told are the limits by what a person calls them. The child applies none of them:
	// it names the one that a program ran into.
	Told *Told `json:"told,omitempty"`
	// Proofs are what the child tries in the end, and must see refused.
	Proofs []Proof `json:"proofs,omitempty"`
	// Processes and Network tell which of the two the parts above leave open. They
	// open nothing: the child's messages say what a program may use instead.
	Processes bool `json:"processes,omitempty"`
	Network   bool `json:"network,omitempty"`
}

// Root is made of an empty file system in memory, in a mount namespace.
type Root struct {
	// At is a folder to mount it on, before it becomes the root.
	At string `json:"at"`
	// Links are symbolic links, such as /lib to usr/lib: path, target.
	Links [][2]string `json:"links,omitempty"`
	// Mounts are what of the host appears, at the same path, with all that is
	// mounted below it. A folder comes before what lies in it.
	Mounts []Mount `json:"mounts,omitempty"`
	// Home is the path of the workspace, in a folder that its file system is mounted on.
	Home string `json:"home"`
	// Programs are files that can be executed: path, content in base64.
	Programs [][2]string `json:"programs,omitempty"`
}

// Workspace is the working directory of a child, in a file system in memory. A forked
// child gets who owns it and how large it is with the order to fork.
type Workspace struct {
	// Path is where it is. The file system is mounted on the folder around it.
	Path string `json:"path"`
	// Own tells to leave the mounts of the others first.
	Own bool `json:"own,omitempty"`
	Size
}

// Size is whose a workspace is, and what it holds at most.
type Size struct {
	Owner     User  `json:"owner"`
	DiskBytes int64 `json:"diskBytes"`
	Files     int64 `json:"files"`
	// Texts are small files beside it, only for reading: name, text.
	Texts [][2]string `json:"texts,omitempty"`
}

// Mount is a folder or a file of the host that a child sees.
type Mount struct {
	Path   string `json:"path"`
	Folder bool   `json:"folder,omitempty"`
	Write  bool   `json:"write,omitempty"`
}

// User is a user and a group, by number.
type User struct {
	ID    int `json:"id"`
	Group int `json:"group"`
}

// Landlock is a set of rules in the kernel's own numbers.
type Landlock struct {
	Files   uint64 `json:"files"`
	Network uint64 `json:"network"`
	Scopes  uint64 `json:"scopes"`
	// Paths are what stays allowed. One that doesn't exist is passed over.
	Paths []PathRule `json:"paths"`
}

// OpenFiles is how many files each process may have open. It is enough for any
// program that closes what it opens, and bounds the memory in pipes and sockets,
// which counts as nobody's.
const OpenFiles = 256

// BytesPerFile is how much of the disk limit grants one file: an empty one takes
// kernel memory too.
const BytesPerFile = 4 << 10

// Told are a run's limits, for messages. Zero means that there is none.
type Told struct {
	Memory    int64 `json:"memory,omitempty"`
	DiskBytes int64 `json:"diskBytes,omitempty"`
	OpenFiles int   `json:"openFiles,omitempty"`
	Processes int   `json:"processes,omitempty"`
}

// PathRule allows what Access names at Path and below.
type PathRule struct {
	Path   string `json:"path"`
	Access uint64 `json:"access"`
}

// Calls is a filter as the kernel has it, and the offsets in it where the number
// of the process belongs.
type Calls struct {
	Program []byte `json:"program"` // base64 in JSON
	Own     []int  `json:"own"`
}

// Proof is one attempt: its name, what kind it is, and what it needs for it.
type Proof struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Path   string `json:"path,omitempty"`
	Number int64  `json:"number,omitempty"`
	// Each tells that each forked child makes the attempt, and not only the first
	// of a nursery: it is about what that child has applied itself.
	Each bool `json:"each,omitempty"`
}
