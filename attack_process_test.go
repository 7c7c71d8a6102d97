//go:build linux

package thirdrail

// processAttacks read and change other processes: a victim of the same user, the
// host, the parent, and the sibling, another run of the same runtime.
var processAttacks = []attack{
	{Name: "memory of another", Program: `
fd = os.open("/proc/%d/mem" % victim["pid"], os.O_RDONLY)
seen(os.pread(fd, 64, victim["address"]))
`},
	{Name: "memory of another, written", Program: `
fd = os.open("/proc/%d/mem" % victim["pid"], os.O_RDWR)
os.pwrite(fd, b"attacked", victim["scratch"])
through("wrote")
`},
	{Name: "memory of another, by thread", Program: `
fd = os.open("/proc/%d/task/%d/mem" % (victim["pid"], victim["pid"]), os.O_RDONLY)
seen(os.pread(fd, 64, victim["address"]))
`},
	{Name: "process_vm_readv", Program: `
own = ctypes.create_string_buffer(64)
mine, other = vectors(own, victim["address"])
call("process_vm_readv", victim["pid"], mine, 1, other, 1, 0)
seen(own.raw)
`},
	{Name: "process_vm_writev", Program: `
own = ctypes.create_string_buffer(b"attacked", 8)
mine, other = vectors(own, victim["scratch"])
through(call("process_vm_writev", victim["pid"], mine, 1, other, 1, 0))
`},
	{Name: "ptrace attach", Program: `
ATTACH, DETACH = 16, 17
call("ptrace", ATTACH, victim["pid"], 0, 0)
through("attached")
libc.waitpid(victim["pid"], None, 0x40000000)  # __WALL
call("ptrace", DETACH, victim["pid"], 0, 0)
`},
	{Name: "ptrace seize", Program: `
SEIZE = 0x4206
call("ptrace", SEIZE, sibling["pid"], 0, 0)
through("seized")
`},
	{Name: "environment of another", Program: `
seen(content("/proc/%d/environ" % victim["pid"]))
`},
	{Name: "command line of another", Program: `
seen(content("/proc/%d/cmdline" % victim["pid"]))
`},
	{Name: "maps of another", Program: `
if content("/proc/%d/maps" % victim["pid"]):
    through("maps")
`},
	{Name: "page map of another", Program: `
fd = os.open("/proc/%d/pagemap" % victim["pid"], os.O_RDONLY)
through(os.pread(fd, 8, victim["address"] // 4096 * 8))
`},
	{Name: "status of another", Program: `
through(content("/proc/%d/status" % victim["pid"]))
`},
	{Name: "list of processes", Program: `
if str(victim["pid"]) in os.listdir("/proc"):
    through("the victim is listed")
`},
	{Name: "descriptors of another", Program: `
through(os.readlink("/proc/%d/fd/%d" % (victim["pid"], victim["fd"])))
`},
	{Name: "descriptor of another, opened", Program: `
seen(content("/proc/%d/fd/%d" % (victim["pid"], victim["fd"])))
`},
	{Name: "pidfd_getfd", Program: `
fd = call("pidfd_getfd", call("pidfd_open", victim["pid"], 0), victim["fd"], 0)
seen(os.pread(fd, 100, 0))
`},
	{Name: "root of another", Program: `
seen(content("/proc/%d/root%s" % (victim["pid"], aims["file"])))
`},
	{Name: "working directory of another", Program: `
seen(content("/proc/%d/cwd/secret" % victim["pid"]))
`},
	{Name: "kcmp", Program: `
VM = 1
through(call("kcmp", os.getpid(), victim["pid"], VM, 0, 0))
`},
	{Name: "process_madvise", Program: `
COLD = 20
fd = call("pidfd_open", victim["pid"], 0)
through(call("process_madvise", fd, ctypes.byref(Vector(victim["address"] // 4096 * 4096, 4096)), 1, COLD, 0))
`},
	{Name: "move_pages", Program: `
page, status = ctypes.c_void_p(victim["address"] // 4096 * 4096), ctypes.c_int(-1)
call("move_pages", victim["pid"], 1, ctypes.byref(page), None, ctypes.byref(status), 0)
through(status.value)
`, Off: notInKernel},
	{Name: "get_robust_list", Program: `
head, size = ctypes.c_void_p(), ctypes.c_size_t()
call("get_robust_list", victim["pid"], ctypes.byref(head), ctypes.byref(size))
through(head.value)
`},
	{Name: "pidfd_open", Program: `
through(call("pidfd_open", victim["pid"], 0))
`},
	{Name: "victim for the memory killer", Program: `
with open("/proc/%d/oom_score_adj" % victim["pid"], "w") as file:
    file.write("1000")
through("the victim would be killed first")
`},
	{Name: "maps of the host", Program: `
if content("/proc/%d/maps" % host):
    through("maps")
`},
	{Name: "environment of the host", Program: `
if content("/proc/%d/environ" % host):
    through("environment")
`},
	{Name: "descriptors of the host", Program: `
through(os.listdir("/proc/%d/fd" % host))
`},
	{Name: "maps of the parent", Program: `
if content("/proc/%d/maps" % os.getppid()):
    through("maps")
`},
	{Name: "environment of the parent", Program: `
if content("/proc/%d/environ" % os.getppid()):
    through("environment")
`},
	{Name: "descriptors of the parent", Program: `
through(os.listdir("/proc/%d/fd" % os.getppid()))
`},
	{Name: "memory of a sibling", Program: `
for pid in sibling["pid"], sibling["inner"]:
    try:
        fd = os.open("/proc/%d/mem" % pid, os.O_RDONLY)
        seen(os.pread(fd, 64, sibling["address"]))
    except OSError:
        if pid == sibling["inner"]:
            raise
`},
	{Name: "memory of a sibling by process_vm_readv", Program: `
own = ctypes.create_string_buffer(64)
mine, other = vectors(own, sibling["address"])
call("process_vm_readv", sibling["pid"], mine, 1, other, 1, 0)
seen(own.raw)
`},
	{Name: "environment of a sibling", Program: `
through(content("/proc/%d/environ" % sibling["pid"]))
`},
	{Name: "wire of a sibling", Program: `
through(call("pidfd_getfd", call("pidfd_open", sibling["pid"], 0), 3, 0))
`},
	{Name: "workspace of a sibling", Program: `
seen(content(sibling["folder"] + "/secret"))
`},
	{Name: "workspace of a sibling through its process", Program: `
seen(content("/proc/%d/cwd/secret" % sibling["pid"]))
`},
}
