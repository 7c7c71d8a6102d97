//go:build linux

package thirdrail

import "strings"

// slowModules are imported only where a program names them: they take a third of
// the time of most attacks.
var slowModules = []string{"fcntl", "resource", "signal", "socket", "time"}

// firstLine is what stands before an attack's program.
func firstLine(program string) string {
	line := `exec(data["prelude"])`
	for _, module := range slowModules {
		if strings.Contains(program, module+".") {
			line += "; import " + module
		}
	}
	return line
}

// attackPrelude is executed by the first line of each attack. It imports ctypes,
// errno, mmap, os, struct and sys, and defines
//
//	call(name, ...)     a system call, which raises OSError
//	reached(name, ...)  a system call without effect, to see whether it is refused
//	                    for lack of a right or only for its arguments
//	seen(data)          gets through if data has a secret in it
//	content(path)       what is in a file
//	strangers(folder)   names in a folder that aren't on the way to the interpreter
//	                    or the workspace
//	machine_code(code)  a function of these bytes
//	through(what)       tells that the attack got through
//
// victim, sibling and aims are what there is to attack; see targets.
const attackPrelude = `
import ctypes, errno, mmap, os, struct, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
libc.mmap.restype = ctypes.c_void_p

# System calls by name: the number on amd64 and on arm64, or one for both.
NUMBERS = {
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "ptrace": (101, 117), "kcmp": (312, 272),
    "pidfd_open": (434,), "pidfd_getfd": (438,), "pidfd_send_signal": (424,), "process_madvise": (440,),
    "move_pages": (279, 239), "get_robust_list": (274, 100), "tgkill": (234, 131), "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "prlimit64": (302, 261), "ioprio_set": (251, 30),
    "sched_setaffinity": (203, 122), "sched_setscheduler": (144, 119), "open_by_handle_at": (304, 265),
    "memfd_create": (319, 279), "memfd_secret": (447,), "execveat": (322, 281), "mount": (165, 40), "fsopen": (430,),
    "open_tree": (428,), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268),
    "clone": (56, 220), "clone3": (435,), "fork": (57, None), "vfork": (58, None), "io_uring_setup": (425,),
    "bpf": (321, 280), "userfaultfd": (323, 282), "perf_event_open": (298, 241), "personality": (135, 92),
    "modify_ldt": (154, None), "iopl": (172, None), "add_key": (248, 217), "keyctl": (250, 219),
    "shmget": (29, 194), "shmctl": (31, 195), "semget": (64, 190), "semctl": (66, 191),
    "msgget": (68, 186), "msgctl": (71, 187), "msgrcv": (70, 188), "mq_open": (240, 180), "mq_timedreceive": (243, 183),
    "mq_unlink": (241, 181), "seccomp": (317, 277), "prctl": (157, 167), "fanotify_init": (300, 262), "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27), "capset": (126, 91), "capget": (125, 90), "setresuid": (117, 147), "setgroups": (116, 159),
    "reboot": (169, 142), "sethostname": (170, 161), "syslog": (103, 116), "acct": (163, 89), "swapon": (167, 224),
    "init_module": (175, 105), "delete_module": (176, 106), "kexec_load": (246, 104), "quotactl": (179, 60),
    "clock_settime": (227, 112), "clock_adjtime": (305, 266), "getpid": (39, 172), "socket": (41, 198), "openat": (257, 56), "mlock": (149, 228),
}
MACHINE = 0 if os.uname().machine == "x86_64" else -1

def call(name, *arguments):
    words = [a if isinstance(a, (bytes, ctypes._SimpleCData)) or a is None or hasattr(a, "_b_base_") or hasattr(a, "_obj") else ctypes.c_long(a) for a in arguments]
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(NUMBERS[name][MACHINE]), *words)
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return result

def reached(name, *arguments):
    try:
        result = call(name, *arguments)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOSYS, errno.EACCES):
            through(name + " answers " + errno.errorcode[error.errno])
        raise
    through(name + " returns " + str(result))
    return result

def through(what):
    print("THROUGH:", repr(what)[:200])

def seen(data):
    if (b"canary-" if isinstance(data, (bytes, bytearray)) else "canary-") in data:
        through(data)

def content(path, size=1 << 20):
    with open(path, "rb", buffering=0) as file:
        return file.read(size)

def strangers(folder):
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    known = [os.path.realpath(p) + "/" for p in sys.path + [sys.prefix, sys.base_prefix, sys.executable, os.getcwd()]]
    known += ["/usr/share/" + name for name in ("zoneinfo", "fonts", "fontconfig", "matplotlib")]
    return [name for name in names if not any(p.startswith(folder.rstrip("/") + "/" + name) for p in known)]

class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

def vectors(own, address):
    mine = Vector(ctypes.addressof(own), len(own))
    return ctypes.byref(mine), ctypes.byref(Vector(address, len(own)))

def machine_code(code):
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
    function.page = page
    return function

victim, sibling, aims = data["victim"], data["sibling"], data["aims"]
token, host = data["token"], data["host"]
print("READY")
`
