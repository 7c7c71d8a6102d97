//go:build linux

package thirdrail

// outsideAttacks learn about and change what is outside of the workspace: files,
// devices, and the kernel's own file systems.
var outsideAttacks = []attack{
	{Name: "stat", Program: `
through(os.stat(aims["file"]))
`},
	{Name: "stat without following", Program: `
through(os.lstat(aims["link"]))
`},
	{Name: "access", Program: `
if os.access(aims["file"], os.F_OK):
    through("it exists")
`},
	{Name: "target of a link", Program: `
seen(os.readlink(aims["link"]))
`},
	{Name: "attributes", Program: `
seen(os.getxattr(aims["file"], "user.canary"))
`, Off: "it depends on the machine"},
	{Name: "names of attributes", Program: `
through(os.listxattr(aims["file"]))
`},
	{Name: "statfs", Program: `
through(os.statvfs(aims["folder"]))
`},
	{Name: "list a folder", Program: `
through(os.listdir(aims["folder"]))
`},
	{Name: "watch a folder", Program: `
ALL = 0xfff
fd = call("inotify_init1", 0)
through(call("inotify_add_watch", fd, aims["folder"].encode(), ALL))
`},
	{Name: "watch everything", Program: `
through(call("fanotify_init", 0, os.O_RDONLY))
`},
	{Name: "write a file", Program: `
fd = os.open(aims["file"], os.O_WRONLY)
through("opened for writing")
`},
	{Name: "append to a file", Program: `
fd = os.open(aims["file"], os.O_WRONLY | os.O_APPEND)
through("opened for appending")
`},
	{Name: "truncate a file", Program: `
os.truncate(aims["folder"] + "/to truncate", 5)
through("truncated")
`},
	{Name: "make a file", Program: `
os.close(os.open(aims["folder"] + "/" + token, os.O_CREAT | os.O_WRONLY))
through("made")
`},
	{Name: "make a file without a name", Program: `
os.open(aims["folder"], os.O_TMPFILE | os.O_WRONLY)
through("made")
`},
	{Name: "make a folder", Program: `
os.mkdir(aims["folder"] + "/" + token)
through("made")
`},
	{Name: "make a link", Program: `
os.symlink("x", aims["folder"] + "/" + token)
through("made")
`},
	{Name: "make a pipe", Program: `
os.mkfifo(aims["folder"] + "/" + token)
through("made")
`},
	{Name: "remove a file", Program: `
os.unlink(aims["folder"] + "/to remove")
through("removed")
`},
	{Name: "remove a tree by a link", Program: `
import shutil
shutil.rmtree(aims["folder"] + "/none", ignore_errors=True)
os.mkdir(aims["folder"] + "/" + token)
os.rmdir(aims["folder"] + "/" + token)
through("removed")
`},
	{Name: "mode of a file", Program: `
os.chmod(aims["file"], 0o666)
through("set")
`},
	{Name: "mode of a folder", Program: `
os.chmod(aims["folder"], 0o777)
through("set")
`},
	{Name: "owner of a file", Program: `
os.chown(aims["file"], os.getuid(), -1)
through("set")
`},
	{Name: "times of a file", Program: `
os.utime(aims["file"])
through("set")
`},
	{Name: "attribute of a file", Program: `
os.setxattr(aims["file"], "user.attack", b"x")
through("set")
`, Off: "it depends on the machine"},
	{Name: "flags of a file", Program: `
GETFLAGS = 0x80086601
fd = os.open(aims["file"], os.O_RDONLY)
through(fcntl.ioctl(fd, GETFLAGS, bytes(8)))
`},
	{Name: "lock of a file", Program: `
fcntl.flock(os.open(aims["file"], os.O_RDONLY), fcntl.LOCK_EX)
through("locked")
`},
	{Name: "a device made", Program: `
import stat
os.mknod("zero", stat.S_IFCHR | 0o600, os.makedev(1, 5))
through(content("zero", 5))
`, Off: "it depends on the machine: the workspace may be on a file system without devices"},
	{Name: "a disk", Program: `
import stat
for name in os.listdir("/dev"):
    try:
        if stat.S_ISBLK(os.stat("/dev/" + name).st_mode) and content("/dev/" + name, 16):
            through(name)
    except OSError:
        pass
`, Off: "it depends on the machine: it may have no disk"},
	{Name: "devices", Program: `
for name in "kmsg", "mem", "port", "kvm", "fuse", "net/tun", "loop-control", "ptmx", "tty", "tty0", "console", "vhost-vsock", "hwrng", "autofs", "rfkill", "uinput", "snapshot":
    try:
        os.close(os.open("/dev/" + name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK))
        through(name)
    except OSError:
        pass
`},
	{Name: "/sys", Program: `
through(os.listdir("/sys/kernel"))
`},
	{Name: "/proc/sys", Program: `
through(content("/proc/sys/kernel/hostname"))
`},
	{Name: "/proc/sys written", Program: `
os.close(os.open("/proc/sys/kernel/core_pattern", os.O_WRONLY))
through("opened for writing")
`},
	{Name: "/proc/sysrq-trigger", Program: `
os.close(os.open("/proc/sysrq-trigger", os.O_WRONLY))
through("opened for writing")
`, Off: "it depends on the machine: the kernel may be built without"},
	{Name: "addresses and memory of the kernel", Program: `
for name in "kcore", "kallsyms", "kmsg", "vmallocinfo", "slabinfo", "kpagecount", "timer_list":
    try:
        through((name, content("/proc/" + name, 16)))
    except OSError:
        pass
`},
	{Name: "facts of the machine", Program: `
for name in "meminfo", "cpuinfo", "version", "cmdline", "mounts", "self/mountinfo", "net/tcp", "net/unix", "loadavg", "sysvipc/shm", "keys", "interrupts":
    try:
        through((name, content("/proc/" + name, 100)))
    except OSError:
        pass
`},
	{Name: "a cgroup made", Program: `
for folder in "", "/unified", "/pids", "/memory", "/systemd":
    path = "/sys/fs/cgroup" + folder + "/" + token
    try:
        os.mkdir(path)
    except OSError:
        continue
    os.rmdir(path)
    through(path)
`, Off: "it depends on the machine: the cgroups may be read-only"},
	{Name: "core dumps", Program: `
resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))
through("they may be written")
`, Off: withoutRight},
	{Name: "a file in a shared folder", Program: `
for folder in "/tmp", "/var/tmp", "/dev/shm", "/run/lock":
    try:
        with open(folder + "/" + token, "w") as file:
            file.write("x")
    except OSError:
        pass
`, Check: leftFile},
	{Name: "a file beside the workspace", Program: `
with open("../" + token, "w") as file:
    file.write("x")
`, Check: leftFile},
}
