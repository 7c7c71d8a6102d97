//go:build linux

package thirdrail

// fileAttacks get at a file outside of the workspace, which everybody may read and
// write as far as its mode goes. The folder that it is in may be written to as well.
var fileAttacks = []attack{
	{Name: "file by path", Program: `
seen(content(aims["file"]))
`},
	{Name: "file by dots", Program: `
seen(content("../" * 40 + aims["file"][1:]))
`},
	{Name: "file by dots in bytes", Program: `
seen(content(b"./" * 50 + b"../" * 40 + aims["file"][1:].encode()))
`},
	{Name: "file by a symbolic link", Program: `
os.symlink(aims["file"], "link")
seen(content("link"))
`},
	{Name: "file by a link to its folder", Program: `
os.symlink(aims["folder"], "folder")
seen(content("folder/secret"))
`},
	{Name: "file by a link to the root", Program: `
os.symlink("/", "root")
seen(content("root" + aims["file"]))
`},
	{Name: "file by a hard link", Program: `
fd = os.open(aims["folder"], os.O_PATH)
os.link("secret", aims["folder"] + "/" + token, src_dir_fd=fd)
through("linked")
`},
	{Name: "file by a hard link into the workspace", Program: `
os.link(aims["file"], "hard")
seen(content("hard"))
`, Off: "it depends on the machine: the workspace may be on another file system"},
	{Name: "file moved into the workspace", Program: `
os.rename(aims["folder"] + "/to move", "moved")
seen(content("moved"))
`, Off: "it depends on the machine: the workspace may be on another file system"},
	{Name: "file by its folder's descriptor", Program: `
folder = os.open(aims["folder"], os.O_RDONLY | os.O_DIRECTORY)
seen(os.read(os.open("secret", os.O_RDONLY, dir_fd=folder), 100))
`},
	{Name: "file by an O_PATH descriptor", Program: `
fd = os.open(aims["file"], os.O_PATH)
seen(content("/proc/self/fd/%d" % fd))
`},
	{Name: "folder by an O_PATH descriptor", Program: `
folder = os.open("/", os.O_PATH)
seen(os.read(os.open(aims["file"][1:], os.O_RDONLY, dir_fd=folder), 100))
`},
	{Name: "O_PATH tells about a file", Program: `
through(os.fstat(os.open(aims["file"], os.O_PATH)))
`},
	{Name: "file by /proc/self/root", Program: `
seen(content("/proc/self/root" + aims["file"]))
`},
	{Name: "file by /proc/self/cwd", Program: `
seen(content("/proc/self/cwd/" + "../" * 40 + aims["file"][1:]))
`},
	{Name: "file by /proc/thread-self", Program: `
seen(content("/proc/thread-self/root" + aims["file"]))
`},
	{Name: "file by /proc/1/root", Program: `
through(os.listdir("/proc/1/root"))
`, Off: "not tried: process 1 is none of ours"},
	{Name: "file after chdir", Program: `
os.chdir(aims["folder"])
seen(content("secret"))
`},
	{Name: "file after fchdir", Program: `
os.fchdir(os.open(aims["folder"], os.O_PATH))
seen(content("secret"))
`},
	{Name: "file by a handle", Program: `
raw = bytes.fromhex(aims["handle"]["bytes"])
handle = struct.pack("Ii", len(raw), aims["handle"]["type"]) + raw
for place in ".", "/", "/usr/lib", sys.prefix, "/dev/null":
    try:
        fd = call("open_by_handle_at", os.open(place, os.O_RDONLY), handle, os.O_RDONLY)
    except OSError as error:
        if error.errno not in (errno.ESTALE, errno.ENOTDIR):
            raise
    else:
        seen(os.read(fd, 100))
        break
`},
	{Name: "file by openat2 past the mounts", Program: `
how = struct.pack("QQQ", os.O_RDONLY, 0, 0)
NUMBERS["openat2"] = 437,
fd = call("openat2", -100, aims["file"].encode(), how, len(how))
seen(os.read(fd, 100))
`},
	{Name: "file by libc", Program: `
fd = libc.open(aims["file"].encode(), os.O_RDONLY)
seen(os.read(fd, 100))
`},
	{Name: "file by a mapping", Program: `
fd = os.open(aims["file"], os.O_RDONLY)
seen(bytes(mmap.mmap(fd, 10, mmap.MAP_SHARED, mmap.PROT_READ)))
`},
	{Name: "file as a library", Program: `
try:
    ctypes.CDLL(aims["file"])
except OSError as error:
    if "invalid ELF header" in str(error) or "too short" in str(error):
        through(str(error))
`},
	{Name: "file by sqlite", Program: `
import sqlite3
sqlite3.connect("file:" + aims["folder"] + "/" + token + "?mode=rwc", uri=True).execute("create table t(x)")
through("made a database")
`},
	{Name: "file as a source of text", Program: `
import linecache
for line in linecache.getlines(aims["file"]):
    seen(line)
`},
	{Name: "file renamed over by exchange", Program: `
EXCHANGE = 2
NUMBERS["renameat2"] = 316, 276
with open(aims["folder"] + "/" + token, "w") as file:
    file.write("x")
call("renameat2", -100, (aims["folder"] + "/" + token).encode(), -100, (aims["folder"] + "/to exchange").encode(), EXCHANGE)
through("exchanged")
call("renameat2", -100, (aims["folder"] + "/" + token).encode(), -100, (aims["folder"] + "/to exchange").encode(), EXCHANGE)
`},
	{Name: "secrets of the system", Program: `
for path in "/etc/passwd", "/etc/group", "/etc/shadow", "/etc/hosts", "/etc/hostname", "/etc/ssl/private":
    try:
        text = content(path)
    except OSError:
        continue
    if not text.startswith(b"sandbox:") or text.count(b"\n") > 1:  # which names the program itself
        through((path, text))
`},
	{Name: "home folders", Program: `
for path in "/root", "/home", aims["home"]:
    if strangers(path):
        through((path, strangers(path)))
`},
	{Name: "other runs' folders", Program: `
for folder in "..", "/tmp", aims["folder"] + "/..", sibling["folder"] + "/..":
    try:
        names = os.listdir(folder)
    except OSError:
        continue
    if any(name.startswith(("thirdrail-run-", "thirdrail-attacked-", "thirdrail-test-", "run-")) for name in names if name not in os.getcwd()):
        through(names)
`},
	{Name: "folders of the machine", Program: `
for path in "/", "/var/log", "/var/lib", "/opt", "/srv", "/mnt", "/boot", "/run", "/usr/share", "/usr/bin":
    found = [name for name in strangers(path) if path != "/" or name in ("home", "srv", "boot", "var", "sys")]
    if found:
        through((path, found))
`},
	{Name: "descriptors that the host left open", Program: `
for fd in range(4, 1024):
    try:
        through((fd, os.fstat(fd)))
    except OSError:
        pass
`, Off: "no descriptor is left open"},
	{Name: "the interpreter written", Program: `
for path in os.__file__, ctypes.__file__, os.path.realpath(sys.executable):
    try:
        os.close(os.open(path, os.O_WRONLY))
        through(path)
    except OSError:
        pass
`},
	{Name: "a module beside the interpreter's own", Program: `
for folder in sys.path + [os.path.dirname(os.__file__)]:
    path = folder + "/" + token + ".py"
    try:
        with open(path, "x"):
            pass
    except OSError:
        continue
    os.unlink(path)
    through(path)
`},
	{Name: "a poisoned compiled module", Program: `
path = os.path.dirname(os.__file__) + "/__pycache__/" + token + ".pyc"
with open(path, "xb"):
    pass
os.unlink(path)
through(path)
`},
	{Name: "the interpreter's files by their attributes", Program: `
os.utime(os.__file__, ns=(os.stat(os.__file__).st_atime_ns, os.stat(os.__file__).st_mtime_ns))
through("its times set, to what they were")
`},
}
