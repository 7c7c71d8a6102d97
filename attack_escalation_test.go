//go:build linux

package thirdrail

// escalationAttacks get rights, namespaces, and the parts of the kernel that have
// been used to break out of confinements.
var escalationAttacks = []attack{
	{Name: "setuid", Program: `
os.setuid(0)
if os.geteuid() == 0:
    through("root")
`},
	{Name: "setresuid to another user", Program: `
call("setresuid", 12345, 12345, 12345)
through(os.getresuid())
`},
	{Name: "setgroups", Program: `
call("setgroups", 1, struct.pack("I", 0))
through(os.getgroups())
`},
	{Name: "capabilities taken back", Program: `
header = struct.pack("Ii", 0x20080522, 0)
held = ctypes.create_string_buffer(24)
call("capget", header, held)
effective, permitted = struct.unpack("II", held.raw[:8])
call("capset", header, struct.pack("IIIIII", 0xffffffff & permitted, permitted, 0, 0, 0, 0))
if effective | permitted:
    through(hex(permitted))
`},
	{Name: "capabilities in force", Program: `
held = ctypes.create_string_buffer(24)
call("capget", struct.pack("Ii", 0x20080522, 0), held)
if any(held.raw):
    through(held.raw)
`},
	{Name: "ambient capabilities", Program: `
CAP_AMBIENT, RAISE, CAPSET_DROP, KEEPCAPS = 47, 2, 24, 8
for attempt in (KEEPCAPS, 1, 0, 0, 0), (28, 1, 0, 0, 0):
    call("prctl", *attempt)
    through(attempt)
`},
	{Name: "user namespace by unshare", Program: `
NEWUSER = 0x10000000
reached("unshare", NEWUSER)
`},
	{Name: "network namespace by unshare", Program: `
NEWNET = 0x40000000
reached("unshare", NEWNET)
`},
	{Name: "mount namespace by unshare", Program: `
NEWNS = 0x20000
reached("unshare", NEWNS)
`},
	{Name: "files of a namespace of its own", Program: `
NEWNS, BIND, PRIVATE, REC = 0x20000, 4096, 1 << 18, 16384
os.mkdir("here")
call("unshare", NEWNS)
call("mount", None, b"/", None, PRIVATE | REC, None)
call("mount", aims["folder"].encode(), os.path.abspath("here").encode(), None, BIND, None)
seen(content("here/secret"))
`},
	{Name: "user namespace by clone", Program: `
NEWUSER = 0x10000000
pid = call("clone", NEWUSER | signal.SIGCHLD, None, None, None, None)
if pid == 0:
    os._exit(0)
through(pid)
os.waitpid(pid, 0)
`},
	{Name: "user namespace by clone3", Program: `
NEWUSER = 0x10000000
arguments = struct.pack("11Q", NEWUSER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0)
pid = call("clone3", arguments, len(arguments))
if pid == 0:
    os._exit(0)
through(pid)
os.waitpid(pid, 0)
`},
	{Name: "namespace of a victim", Program: `
NEWNET = 0x40000000
fd = os.open("/proc/%d/ns/net" % victim["pid"], os.O_RDONLY)
call("setns", fd, NEWNET)
through("joined")
`},
	{Name: "namespace of a victim by pidfd", Program: `
NEWIPC = 0x08000000
call("setns", call("pidfd_open", victim["pid"], 0), NEWIPC)
through("joined")
`},
	{Name: "mount", Program: `
reached("mount", b"none", os.getcwd().encode(), b"no-such-type", 0, None)
`},
	{Name: "mount by the new interface", Program: `
reached("fsopen", b"no-such-type", 0)
`},
	{Name: "copy of a mount", Program: `
CLONE = 1
fd = call("open_tree", -100, aims["folder"].encode(), CLONE)
seen(os.read(os.open("secret", os.O_RDONLY, dir_fd=fd), 100))
`},
	{Name: "pivot_root", Program: `
reached("pivot_root", os.getcwd().encode(), os.getcwd().encode())
`},
	{Name: "chroot", Program: `
call("chroot", b".")
through("its own root")
`},
	{Name: "io_uring", Program: `
parameters = ctypes.create_string_buffer(120)
through(call("io_uring_setup", 4, parameters))
`, Off: "it depends on the machine: an administrator may turn it off"},
	{Name: "bpf", Program: `
MAP_CREATE, ARRAY = 0, 2
through(call("bpf", MAP_CREATE, struct.pack("IIII", ARRAY, 4, 8, 1).ljust(64, b"\0"), 64))
`},
	{Name: "userfaultfd", Program: `
USER_MODE_ONLY = 1
through(call("userfaultfd", USER_MODE_ONLY))
`},
	{Name: "perf_event_open", Program: `
SOFTWARE, SIZE, EXCLUDE_KERNEL = 1, 112, 1 << 5
attributes = struct.pack("IIQQQQQ", SOFTWARE, SIZE, 0, 0, 0, 0, EXCLUDE_KERNEL).ljust(SIZE, b"\0")
through(call("perf_event_open", attributes, 0, -1, -1, 0))
`},
	{Name: "personality", Program: `
NO_RANDOMIZE = 0x40000
call("personality", NO_RANDOMIZE)
through("addresses would no longer be random")
`},
	{Name: "personality of mappings", Program: `
READ_IMPLIES_EXEC = 0x400000
call("personality", READ_IMPLIES_EXEC)
through("what is read may be executed")
`},
	{Name: "modify_ldt", Machine: "amd64", Program: `
reached("modify_ldt", 0, ctypes.create_string_buffer(64), 64)
`},
	{Name: "iopl", Machine: "amd64", Program: `
reached("iopl", 0)
call("iopl", 3)
through("ports")
`, Off: notInKernel},
	{Name: "system call by int 0x80", Machine: "amd64", Program: `
# mov eax, 359 (socket); mov ebx, 2; mov ecx, 1; xor edx, edx; int 0x80
code = bytes.fromhex("53b867010000bb02000000b90100000031d2cd805bc3")
if machine_code(code)() >= 0:
    through("a socket")
`, Off: "it depends on the machine"},
	{Name: "getpid by int 0x80", Machine: "amd64", Program: `
# mov eax, 20 (getpid); int 0x80
if machine_code(bytes.fromhex("53b814000000cd805bc3"))() > 0:
    through("another set of system calls")
`, Off: "it depends on the machine"},
	{Name: "system call of x32", Machine: "amd64", Program: `
NUMBERS["x32 socket"] = 0x40000000 + 41,
through(call("x32 socket", socket.AF_INET, socket.SOCK_STREAM, 0))
`, Off: notInKernel},
	{Name: "file by its own machine code", Machine: "amd64", Program: `
# mov eax, 257 (openat); syscall; ret, with the arguments where C has them
code = bytes.fromhex("b8010100000f05c3")
fd = machine_code(code)(-100, ctypes.c_char_p(aims["file"].encode()), 0)
if fd >= 0:
    seen(os.read(fd, 100))
`},
	{Name: "socket by its own machine code", Machine: "amd64", Program: `
# mov eax, 41 (socket); syscall; ret
if machine_code(bytes.fromhex("b8290000000f05c3"))(socket.AF_INET, socket.SOCK_STREAM, 0) >= 0:
    through("a socket")
`},
	{Name: "file by its own machine code on arm64", Machine: "arm64", Program: `
# mov x8, 56 (openat); svc 0; ret
code = struct.pack("<III", 0xd2800708, 0xd4000001, 0xd65f03c0)
fd = machine_code(code)(-100, ctypes.c_char_p(aims["file"].encode()), 0)
if fd >= 0:
    seen(os.read(fd, 100))
`},
	{Name: "filter of its own with a listener", Program: `
SET_MODE_FILTER, NEW_LISTENER, ALLOW, NO_NEW_PRIVS = 1, 8, 0x7fff0000, 38
libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0)
code = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, ALLOW), 8)
program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(code))
through(call("seccomp", SET_MODE_FILTER, NEW_LISTENER, program))
`},
	{Name: "dumpable again", Program: `
GET, SET = 3, 4
call("prctl", SET, 1, 0, 0, 0)
if call("prctl", GET, 0, 0, 0, 0) == 1:
    through("it may be traced")
`},
	{Name: "traced by anybody", Program: `
SET_PTRACER = 0x59616d61
call("prctl", SET_PTRACER, -1, 0, 0, 0)
through("allowed")
`, Off: "it depends on the machine: this is Yama's"},
	{Name: "subreaper", Program: `
SET_CHILD_SUBREAPER = 36
call("prctl", SET_CHILD_SUBREAPER, 1, 0, 0, 0)
through("it keeps processes")
`},
	{Name: "secure bits", Program: `
SET_SECUREBITS, NO_SETUID_FIXUP = 28, 4
call("prctl", SET_SECUREBITS, NO_SETUID_FIXUP, 0, 0, 0)
through("set")
`},
	{Name: "another core's scheduling", Program: `
SCHED_CORE, CREATE = 62, 1
reached("prctl", SCHED_CORE, CREATE, victim["pid"], 0, 0)
`, Off: notInKernel},
	{Name: "signals typed into a terminal", Program: `
TIOCSTI = 0x5412
for fd in (0, 1, 2):
    try:
        fcntl.ioctl(fd, TIOCSTI, b"x")
        through("typed")
    except OSError:
        pass
`, Off: "the host's terminal is none of its descriptors"},
}
