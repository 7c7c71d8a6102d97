//go:build linux

package thirdrail

import "fmt"

// heldByProcess is why a program gains nothing from changing its own process.
const heldByProcess = "a run has a process of its own, confined or not"

// injectAttacks turn the child's own code against its host, the walls and the
// next run. The code runs in the program's process, so that a program can change it
// as it likes: nothing of the confinement may rest on it.
var injectAttacks = []attack{
	{Name: "a forged acknowledgement", Off: heldByProcess, Check: unharmed, Program: `
os.write(3, b'{"type":"boot-ack","proof":{}}\n' * 3)
return "unharmed"
`},
	{Name: "a forged acknowledgement by the channel", Off: heldByProcess, Check: unharmed, Program: `
import gc
channels = [o for o in gc.get_objects() if type(o).__name__ == "Channel"]
for channel in channels:
    channel.send(b'{"type":"boot-ack","proof":{"files.read":"refused"}}\n')
return "unharmed"
`},
	{Name: "the policy undone by the child's own code", Program: `
for name in "confine", "native", "proof", "boot":
    module = sys.modules.get("thirdrail_child." + name)
    for function in list(vars(module).values()) if module else ():
        if callable(function) and "confine" in getattr(function, "__name__", ""):
            try:
                function({})
            except BaseException:
                pass
seen(content(aims["file"]))
`},
	{Name: "the boot frame changed in the frames above", Program: `
frame = sys._getframe()
while frame:
    for name, value in list(frame.f_locals.items()):
        if isinstance(value, dict) and name not in ("module_globals", "__builtins__") and "type" in value:
            value.pop("confinement", None)
            value.pop("cpuSeconds", None)
    frame = frame.f_back
seen(content(aims["file"]))
`},
	{Name: "open without hooks", Program: `
import _io, posix
fd = posix.open(aims["file"], 0)
seen(_io.FileIO(fd).read())
`},
	{Name: "a thread reads", Program: `
import threading
got = []
def read():
    try:
        got.append(content(aims["file"]))
    except OSError:
        pass
thread = threading.Thread(target=read)
thread.start()
thread.join()
seen(b"".join(got))
`},
	{Name: "a signal handler reads", Program: `
got = []
signal.signal(signal.SIGUSR1, lambda *_: got.append(content(aims["file"])))
os.kill(os.getpid(), signal.SIGUSR1)
seen(b"".join(got))
`},
	{Name: "a subinterpreter reads", Program: `
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
end, other = os.pipe()
interpreters.run_string(interpreters.create(), "import os\nos.write(%d, os.read(os.open(%r, 0), 100))" % (other, aims["file"]))
os.close(other)
seen(os.read(end, 100))
`},
	{Name: "asyncio's executor reads", Program: `
import asyncio
seen(await asyncio.get_running_loop().run_in_executor(None, content, aims["file"]))
`},
	{Name: "a thread of C reads", Program: `
@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def read(_):
    try:
        got.append(content(aims["file"]))
    except OSError:
        pass
got, thread = [], ctypes.c_ulong()
pthreads = libc if hasattr(libc, "pthread_create") else ctypes.CDLL("libpthread.so.0")
pthreads.pthread_create(ctypes.byref(thread), None, read, None)
pthreads.pthread_join(thread, None)
seen(b"".join(got))
`},
	{Name: "threads from before the walls", Program: `
others = [int(name) for name in os.listdir("/proc/self/task") if int(name) != os.getpid()]
if others:
    through(others)
`, Off: "the child has one thread when the program begins"},
	{Name: "secrets of others in its own memory", Program: `
import gc
for thing in gc.get_objects():
    if isinstance(thing, dict) and thing is not globals():
        for value in list(thing.values()):
            if isinstance(value, (str, bytes)) and len(value) < 10000 and value is not data["prelude"]:
                if isinstance(value, str) and value.startswith("canary-"):
                    through(value)
`, Off: heldByProcess},
	{Name: "variables of the host", Program: `
for name in os.environ:
    if name not in ("PATH", "HOME", "TMPDIR", "LANG", "LC_CTYPE", "TZ", "MPLBACKEND", "MALLOC_ARENA_MAX") and not name.endswith("_THREADS"):
        through(name)
`, Off: "a run gets none of the host's variables"},
	{Name: "the child's code through the parent", Program: `
for pid in os.getppid(), host:
    for fd in os.listdir("/proc/%d/fd" % pid):
        path = "/proc/%d/fd/%s" % (pid, fd)
        if "memfd:" in os.readlink(path):
            os.close(os.open(path, os.O_RDONLY))
            through(path)
`},
	{Name: "builtins for the next run", Off: heldByProcess, Program: `
import builtins
builtins.poisoned = os.poisoned = True
builtins.print = builtins.len = None
`, Then: `
import builtins
if hasattr(builtins, "poisoned") or hasattr(os, "poisoned"):
    through("they are patched")
`},
	{Name: "a module for the next run", Off: heldByProcess, Program: `
for name in "statistics.py", "sitecustomize.py", "usercustomize.py", "thirdrail_child.py":
    for folder in ".", os.environ["HOME"], os.environ["TMPDIR"]:
        with open(folder + "/" + name, "w") as file:
            file.write("poisoned = True")
os.environ["PYTHONPATH"] = os.getcwd()
`, Then: `
import statistics
if hasattr(statistics, "poisoned") or "sitecustomize" in sys.modules and hasattr(sys.modules["sitecustomize"], "poisoned"):
    through("it is imported")
`},
	{Name: "the child's code in memory for the next run", Off: heldByProcess, Program: `
for name, module in list(sys.modules.items()):
    if name.startswith("thirdrail_child"):
        for key in list(vars(module)):
            if not key.startswith("__"):
                try:
                    vars(module)[key].__code__ = (lambda *a, **k: None).__code__
                except (AttributeError, ValueError, TypeError):
                    pass
os._exit(0)
`, Then: `
if (await tools.echo({"a": [1, 2]})) != {"a": [1, 2]}:
    through("the child's code is not what it was")
`},
	{Name: "a binding that was not given", Off: heldByProcess, Check: unharmed, Program: `
for number, name in enumerate(("watch.here", "os.system", "watch.__class__", "db.drop", ".")):
    space, _, member = name.encode().partition(b".")
    os.write(3, b'{"type":"call","id":%d,"global":"%b","name":"%b","args":{}}\n' % (number, space, member))
return "unharmed"
`},
	{Name: "a forged reply to a sibling", Off: heldByProcess, Check: unharmed, Program: `
for number in range(3):
    os.write(3, b'{"type":"reply","id":%d,"ok":true,"value":"forged"}\n' % number)
return "unharmed"
`},
}

// unharmed is a Check for programs that forge frames and return "unharmed". The
// run ends as if they had sent nothing, or as the forger's alone.
func unharmed(a *attempt) string {
	if a.result.Failure == nil && a.result.Value.String() != `"unharmed"` {
		return fmt.Sprintf("the value is %s", a.result.Value)
	}
	if a.result.Stats.Calls > 0 {
		return fmt.Sprintf("%d calls reached the host", a.result.Stats.Calls)
	}
	return ""
}
