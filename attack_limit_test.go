//go:build linux

package thirdrail

import "time"

// small are limits that are soon reached.
var small = Limits{Memory: 64 << 20, DiskBytes: 8 << 20, Wall: 10 * time.Second}

// heldByRlimit is why memory is held without a confinement: the child's limit of
// address space is older.
const heldByRlimit = "held by the limit of address space"

// withoutRight is why a limit can't be raised on some machines, by root either.
const withoutRight = "it depends on the machine: root may lack CAP_SYS_RESOURCE"

// limitAttacks use more than their run's limits grant: memory and disk space in all
// places where there is some, processes, threads, descriptors. Each knows the
// limits of small.
var limitAttacks = []attack{
	{Name: "fork bomb", Limits: small, Program: `
born = 0
while born < 200:
    if os.fork() == 0:
        time.sleep(5)
        os._exit(0)
    born += 1
through(born)
`, Off: notTried},
	{Name: "fork bomb by clone", Limits: small, Program: `
PARENT = 0x8000
born = 0
while born < 200:
    if call("clone", PARENT | signal.SIGCHLD, None, None, None, None) == 0:
        time.sleep(5)
        os._exit(0)
    born += 1
through(born)
`, Off: notTried},
	{Name: "thread bomb", Limits: small, Program: `
import _thread
_thread.stack_size(32 << 10)
lock = _thread.allocate_lock()
lock.acquire()
for started in range(8192):
    _thread.start_new_thread(lock.acquire, ())
through(started)
`, Off: heldByRlimit},
	{Name: "memory in bytes", Limits: small, Program: `
keep = []
for i in range(256):
    keep.append(bytearray(1 << 20))
through(len(keep))
`, Off: heldByRlimit},
	{Name: "memory in a string", Limits: small, Program: `
through(len("x" * (256 << 20)))
`, Off: heldByRlimit},
	{Name: "memory mapped", Limits: small, Program: `
through(len(mmap.mmap(-1, 256 << 20, flags=mmap.MAP_PRIVATE)))
`, Off: heldByRlimit},
	{Name: "memory mapped and shared", Limits: small, Program: `
keep = [mmap.mmap(-1, 16 << 20) for i in range(16)]
through(len(keep))
`, Off: heldByRlimit},
	{Name: "memory mapped without reserve", Limits: small, Program: `
NORESERVE = 0x4000
through(len(mmap.mmap(-1, 256 << 20, flags=mmap.MAP_PRIVATE | NORESERVE)))
`, Off: heldByRlimit},
	{Name: "memory by malloc", Limits: small, Program: `
libc.malloc.restype = ctypes.c_void_p
if libc.malloc(ctypes.c_size_t(256 << 20)):
    through("allocated")
`, Off: heldByRlimit},
	{Name: "memory in a file of memory", Limits: small, Program: `
fd = call("memfd_create", b"more", 0)
for i in range(96):
    os.write(fd, bytes(1 << 20))
through(os.fstat(fd).st_size)
`},
	{Name: "memory in a secret file", Limits: small, Program: `
fd = call("memfd_secret", 0)
os.ftruncate(fd, 1 << 20)
through(fd)
`, Off: "it depends on the machine"},
	{Name: "memory in SysV segments", Limits: small, Program: `
made = []
try:
    for i in range(6):
        made.append(call("shmget", 0, 16 << 20, 0o1600))
    through(len(made))
finally:
    for number in made:
        call("shmctl", number, 0, None)
`},
	{Name: "memory in larger pipes", Limits: small, Program: `
F_SETPIPE_SZ = 1031
keep, total = [], 0
while total < 96 << 20:
    keep.append(os.pipe())
    size = fcntl.fcntl(keep[-1][1], F_SETPIPE_SZ, 1 << 20)
    total += os.write(keep[-1][1], bytes(size))
through(total)
`},
	{Name: "memory in pipes", Limits: small, Program: `
keep, total = [], 0
while total < 96 << 20:
    keep.append(os.pipe())
    total += os.write(keep[-1][1], bytes(64 << 10))
through(total)
`},
	{Name: "memory in sockets", Limits: small, Program: `
keep, total = [], 0
while total < 96 << 20:
    for end in socket.socketpair():
        end.setblocking(False)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 16 << 20)
        keep.append(end)
    for end in keep[-2:]:
        try:
            while total < 96 << 20:
                total += end.send(bytes(64 << 10))
        except BlockingIOError:
            pass
through(total)
`},
	{Name: "memory in sockets' usual buffers", Limits: small, Program: `
keep, total = [], 0
while total < 96 << 20:
    for end in socket.socketpair():
        end.setblocking(False)
        keep.append(end)
    for end in keep[-2:]:
        try:
            while total < 96 << 20:
                total += end.send(bytes(32 << 10))
        except BlockingIOError:
            pass
through(total)
`},
	{Name: "memory locked", Limits: small, Program: `
page = mmap.mmap(-1, 16 << 20)
call("mlock", ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(page))), 16 << 20)
through("locked")
`},
	{Name: "more memory allowed", Limits: small, Program: `
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
through(resource.getrlimit(resource.RLIMIT_AS))
`, Off: withoutRight},
	{Name: "more files allowed", Limits: small, Program: `
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard + 1, hard + 1))
through(hard + 1)
`, Off: withoutRight},
	{Name: "more time allowed", Limits: small, Program: `
resource.setrlimit(resource.RLIMIT_CPU, (1 << 30, 1 << 30))
through(resource.getrlimit(resource.RLIMIT_CPU))
`, Off: withoutRight},
	{Name: "disk by one file", Limits: small, Program: `
with open("large", "wb", buffering=0) as file:
    for i in range(32):
        file.write(bytes(1 << 20))
through(os.stat("large").st_size)
`},
	{Name: "disk by several files", Limits: small, Program: `
for i in range(32):
    with open("file%d" % i, "wb") as file:
        file.write(bytes(1 << 20))
through(i)
`},
	{Name: "disk by removed files", Limits: small, Program: `
keep = []
for i in range(32):
    keep.append(open("gone", "wb", buffering=0))
    os.unlink("gone")
    if keep[-1].write(bytes(1 << 20)) != 1 << 20:
        raise OSError(errno.ENOSPC, "a part")
through(len(keep))
`},
	{Name: "disk by files in TMPDIR", Limits: small, Program: `
import tempfile
keep = []
for i in range(32):
    keep.append(tempfile.TemporaryFile(buffering=0))
    if keep[-1].write(bytes(1 << 20)) != 1 << 20:
        raise OSError(errno.ENOSPC, "a part")
through(len(keep))
`},
	{Name: "disk reserved", Limits: small, Program: `
with open("reserved", "wb") as file:
    os.posix_fallocate(file.fileno(), 0, 32 << 20)
through(os.stat("reserved").st_blocks * 512)
`},
	{Name: "sparse file", Limits: small, Program: `
with open("sparse", "wb") as file:
    file.truncate(1 << 40)
through(os.stat("sparse").st_size)
`},
	{Name: "sparse files written by a mapping", Limits: small, Program: `
total = 0
while total < 32 << 20:
    with open("mapped%d" % total, "w+b") as file:
        file.truncate(4 << 20)
        page = mmap.mmap(file.fileno(), 4 << 20)
        page.write(b"x" * (4 << 20))
        page.close()
        total += os.fstat(file.fileno()).st_blocks * 512
through(total)
`},
	{Name: "many files", Limits: small, Program: `
for i in range(4500):
    os.close(os.open("f%d" % i, os.O_CREAT | os.O_WRONLY))
through(i)
`},
	{Name: "many folders", Limits: small, Program: `
for i in range(4500):
    os.mkdir("d%d" % i)
through(i)
`},
	{Name: "many links", Limits: small, Program: `
for i in range(4500):
    os.symlink("x" * 200, "l%d" % i)
through(i)
`},
	{Name: "disk by attributes", Limits: small, Program: `
total = 0
for i in range(64):
    open("a%d" % i, "w").close()
    for j in range(16):
        try:
            os.setxattr("a%d" % i, "user.a%d" % j, bytes(60 << 10))
        except OSError:
            break
        total += 60 << 10
if total > 32 << 20:
    through(total)
`, Off: "it depends on the machine"},
	{Name: "descriptors", Limits: small, Program: `
for i in range(600):
    os.dup(0)
through(i)
`},
	{Name: "descriptors hidden in messages", Limits: small, Program: `
one, other = socket.socketpair()
one.setblocking(False)
hidden = 0
while hidden < 3000:
    fds = [os.dup(0) for i in range(100)]
    socket.SocketType.sendmsg(one, [b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("100i", *fds))])
    for fd in fds:
        os.close(fd)
    hidden += len(fds)
through(hidden)
`},
	{Name: "signals queued", Limits: small, Program: `
number = signal.SIGRTMIN + 1
signal.pthread_sigmask(signal.SIG_BLOCK, [number])
information = struct.pack("iiii", number, 0, -1, 0).ljust(128, b"\0")
for queued in range(1 << 18):
    call("rt_sigqueueinfo", os.getpid(), number, information)
through(queued)
`, Off: "held by the system's own limit"},
}
