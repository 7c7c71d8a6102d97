//go:build linux

package thirdrail

// executionAttacks start another process or another program.
var executionAttacks = []attack{
	{Name: "fork", Program: `
pid = os.fork()
if pid == 0:
    os._exit(0)
through(pid)
`},
	{Name: "fork by system call", Machine: "amd64", Program: `
pid = call("fork")
if pid == 0:
    os._exit(0)
through(pid)
`},
	{Name: "vfork by system call", Machine: "amd64", Program: `
# pop rdi; mov eax, 58 (vfork); syscall; push rdi; test eax, eax; jnz to the ret;
# mov edi, eax; mov eax, 231 (exit_group); syscall; ret
# The child shares the stack, so it ends before it returns.
code = bytes.fromhex("5fb83a0000000f0557") + bytes.fromhex("85c075098bf8b8e70000000f05c3")
pid = machine_code(code)()
if pid > 0:
    through(pid)
`},
	{Name: "fork by clone", Program: `
pid = call("clone", signal.SIGCHLD, None, None, None, None)
if pid == 0:
    os._exit(0)
through(pid)
`},
	{Name: "fork by clone3", Program: `
arguments = struct.pack("11Q", 0, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0)
pid = call("clone3", arguments, len(arguments))
if pid == 0:
    os._exit(0)
through(pid)
`},
	{Name: "clone as a child of the parent", Program: `
PARENT = 0x8000
pid = call("clone", PARENT | signal.SIGCHLD, None, None, None, None)
if pid == 0:
    os._exit(0)
through(pid)
`},
	{Name: "terminal with a process", Program: `
pid, fd = os.forkpty()
if pid == 0:
    os._exit(0)
through(pid)
`},
	{Name: "posix_spawn", Program: `
through(os.posix_spawn("/bin/true", ["true"], {}))
`},
	{Name: "subprocess", Program: `
import subprocess
through(subprocess.run(["/bin/echo", "hello"], stdout=subprocess.PIPE).stdout)
`},
	{Name: "subprocess of Python", Program: `
import subprocess
through(subprocess.run([sys.executable, "-c", "print(1)"], stdout=subprocess.PIPE).stdout)
`},
	{Name: "os.system", Program: `
status = os.system("exit 7")
if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 7:
    through("a shell")
`},
	{Name: "os.popen", Program: `
got = os.popen("echo hello").read()
if "hello" in got:
    through(got)
`},
	{Name: "system of libc", Program: `
status = libc.system(b"exit 7")
if status == 7 << 8:
    through("a shell")
`},
	{Name: "asyncio's subprocess", Program: `
import asyncio
process = await asyncio.create_subprocess_exec("/bin/echo", "hello", stdout=asyncio.subprocess.PIPE)
through((await process.communicate())[0])
`},
	{Name: "multiprocessing", Program: `
import multiprocessing
process = multiprocessing.get_context("fork").Process(target=int)
process.start()
through(process.pid)
process.join()
`},
	{Name: "execve", Program: `
os.execve("/bin/echo", ["echo", "THROUGH: another program"], {})
`},
	{Name: "execve from the workspace", Program: `
with open("script", "w") as file:
    file.write("#!" + os.path.realpath(sys.executable) + "\nprint('THROUGH: a script')\n")
os.chmod("script", 0o700)
os.execve("script", ["script"], {})
`},
	{Name: "execve by the loader", Program: `
import glob
for loader in glob.glob("/lib*/ld-linux*") + glob.glob("/lib/ld-musl*"):
    os.execve(loader, [loader, "/bin/echo", "THROUGH: by the loader"], {})
`},
	{Name: "execve of itself", Program: `
os.execve("/proc/self/exe", ["python", "-I", "-S", "-c", "print('THROUGH: Python anew')"], {})
`},
	{Name: "execveat of a descriptor", Program: `
EMPTY_PATH = 0x1000
fd = os.open(os.path.realpath(sys.executable), os.O_RDONLY)
arguments = (ctypes.c_char_p * 6)(b"python", b"-I", b"-S", b"-c", b"print('THROUGH: by a descriptor')", None)
call("execveat", fd, b"", ctypes.byref(arguments), ctypes.byref(ctypes.c_char_p()), EMPTY_PATH)
`},
	{Name: "memfd and execveat", Program: `
EMPTY_PATH = 0x1000
fd = call("memfd_create", b"program", 0)
os.write(fd, content(os.path.realpath(sys.executable), 100 << 20))
arguments = (ctypes.c_char_p * 6)(b"python", b"-I", b"-S", b"-c", b"print('THROUGH: from memory')", None)
call("execveat", fd, b"", ctypes.byref(arguments), ctypes.byref(ctypes.c_char_p()), EMPTY_PATH)
`},
}

// machineAttacks act on the whole machine. Where one gets through, its arguments
// are such that nothing happens.
var machineAttacks = []attack{
	{Name: "clock", Program: `
time.clock_settime(time.CLOCK_REALTIME, time.time())
through("set")
`, Off: notTried},
	{Name: "clock adjusted", Program: `
TICK = 0x4000
reached("clock_adjtime", 0, struct.pack("I", TICK).ljust(208, b"\0"))
`, Off: notTried},
	{Name: "name of the machine", Program: `
name = os.uname().nodename.encode()
call("sethostname", name, len(name))
through("set, to what it was")
`},
	{Name: "kernel log", Program: `
READ_ALL = 3
buffer = ctypes.create_string_buffer(100)
through(call("syslog", READ_ALL, buffer, 100))
`},
	{Name: "reboot", Program: `
reached("reboot", 0, 0, 0, None)
`, Off: notTried},
	{Name: "kernel module loaded", Program: `
reached("init_module", None, 0, b"")
`, Off: notTried},
	{Name: "kernel module removed", Program: `
reached("delete_module", token.encode(), 0)
`, Off: notTried},
	{Name: "another kernel", Program: `
reached("kexec_load", 0, 0, None, -1)
`, Off: notTried},
	{Name: "accounting", Program: `
reached("acct", (aims["folder"] + "/none/" + token).encode())
`},
	{Name: "swap", Program: `
reached("swapon", (aims["folder"] + "/none").encode(), 0)
`},
	{Name: "disk quota", Program: `
SYNC, USER = 0x800001, 0
reached("quotactl", SYNC << 8 | USER, b"/none", 0, None)
`, Off: notInKernel},
	{Name: "cache of the machine", Program: `
os.close(os.open("/proc/sys/vm/drop_caches", os.O_WRONLY))
through("may be dropped")
`},
	{Name: "processors of the machine", Program: `
os.close(os.open("/sys/devices/system/cpu/cpu1/online", os.O_WRONLY))
through("may be turned off")
`, Off: "it depends on the machine: it may have one processor"},
}
