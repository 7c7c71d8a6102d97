//go:build linux

package thirdrail

import (
	"net"
	"os"
	"testing"
	"time"
)

// refusedPrelude has the programs below tell how each attempt ended: the name of
// the exception's class, "PermissionError" for those that only carry one, or
// "done". The host measures that none hangs.
const refusedPrelude = `
import asyncio, errno, os, sys
def end(error):
    while error is not None:
        if isinstance(error, PermissionError) or getattr(error, "errno", 0) == errno.EROFS:
            return "refused"
        if isinstance(error, FileNotFoundError):
            return "absent"
        error = error.__cause__ or error.__context__ or getattr(error, "reason", None)
    return "other"
def attempt(f, *args, **named):
    try:
        f(*args, **named)
    except Exception as error:
        return end(error) if end(error) != "other" else repr(error)
    return "done"
def shut(ends):
    # With a root of its own what isn't opened doesn't exist, without one it is refused.
    return [end in ("refused", "absent") for end in ends]
async def attempt_async(awaitable):
    try:
        await awaitable
    except Exception as error:
        return end(error) if end(error) != "other" else repr(error)
    return "done"
`

// refusedCases are what a run can't do by default. Each is told at once.
var refusedCases = []libraryCase{
	{Name: "os.fork", Program: `return attempt(os.fork)`, Value: `"refused"`},
	// There is no terminal to fork with: CPython gives that an OSError of its own.
	{Name: "pty", Program: `import pty
return [attempt(pty.fork), attempt(pty.openpty)]`, Value: `["OSError('out of pty devices')","OSError('out of pty devices')"]`},
	{Name: "subprocess", Program: `import subprocess
return [attempt(subprocess.run, ["echo", "x"]), attempt(subprocess.check_output, "echo x", shell=True), attempt(subprocess.Popen, [sys.executable, "-c", "1"]), attempt(os.popen, "ls")]`,
		Value: `["refused","refused","refused","refused"]`},
	{Name: "os.system", Program: `return attempt(os.system, "echo x")`, Value: `"refused"`},
	{Name: "execution", Program: `return [attempt(os.execv, sys.executable, ["python"]), attempt(os.posix_spawn, "/bin/ls", ["ls"], {})]`, Value: `["refused","refused"]`},
	{Name: "multiprocessing", Program: `import multiprocessing
return [[attempt(multiprocessing.get_context(k).Process(target=abs, args=(1,)).start) for k in ("fork", "spawn", "forkserver")], [attempt(multiprocessing.get_context(k).Pool, 2) for k in ("fork", "spawn")], attempt(multiprocessing.Manager)]`,
		Value: `[["refused","refused","refused"],["refused","refused"],"refused"]`},
	{Name: "ProcessPoolExecutor", Program: `import multiprocessing
from concurrent.futures import ProcessPoolExecutor
def use(kind):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(kind)) as pool:
        return list(pool.map(abs, [-1, -2]))
return [attempt(use, kind) for kind in ("fork", "spawn")]`, Value: `["refused","refused"]`},
	{Name: "shared memory that needs a tracker", Program: `from multiprocessing.shared_memory import SharedMemory
return attempt(SharedMemory, create=True, size=100)`, Value: `"refused"`},
	{Name: "processes by asyncio", Program: `return [await attempt_async(asyncio.create_subprocess_exec("echo", "x")), await attempt_async(asyncio.create_subprocess_shell("echo x"))]`, Value: `["refused","refused"]`},
	{Name: "sockets", Program: `import socket, socketserver
return [attempt(socket.create_connection, ("127.0.0.1", 80)), attempt(socket.socket), attempt(socket.socket, socket.AF_UNIX), attempt(socket.create_server, ("127.0.0.1", 0)), attempt(socketserver.TCPServer, ("127.0.0.1", 0), None), await attempt_async(asyncio.open_connection("127.0.0.1", 80))]`,
		Value: `["refused","refused","refused","refused","refused","refused"]`},
	{Name: "http by address", Program: `import http.client, urllib.request
return [attempt(urllib.request.urlopen, "http://127.0.0.1:9/"), attempt(http.client.HTTPConnection("127.0.0.1", 9).connect)]`, Value: `["refused","refused"]`},
	// getaddrinfo has errors of its own, which name no errno.
	{Name: "name resolution", Program: `import socket
try:
    socket.getaddrinfo("example.org", 80)
except OSError as error:
    return type(error).__name__`, Value: `"gaierror"`},
	{Name: "files of the host", Program: `return shut([attempt(open, p) for p in ("/etc/shadow", "/etc/hostname", "/proc/self/environ", "/etc/gshadow")] + [attempt(os.listdir, "/var/log")])`, Value: `[true,true,true,true,true]`},
	{Name: "writing outside", Program: `import tempfile, shutil
target = os.path.dirname(os.__file__)
return [attempt(open, p, "w") for p in ("/x", "/etc/x", target + "/x", os.__file__, "/usr/x")] + [attempt(os.mkdir, "/y"), attempt(os.remove, os.__file__), attempt(os.chmod, os.__file__, 0o777), attempt(tempfile.mkdtemp, dir="/usr")]`,
		Value: `["refused","refused","refused","refused","refused","refused","refused","refused","refused"]`},
}

// refusedAtOnce is far less than the wall limit, and enough for a busy machine.
const refusedAtOnce = 20 * time.Second

// TestLibraryRefusals tries each on every Python: an exception comes, and soon.
func TestLibraryRefusals(t *testing.T) {
	var cases []programCase
	for _, c := range refusedCases {
		cases = append(cases, programCase{
			Name: c.Name, Program: refusedPrelude + c.Program, Value: c.Value,
			Check: func(t *testing.T, result *Result) {
				if result.Stats.Wall > refusedAtOnce {
					t.Errorf("took %v, so it waited for something", result.Stats.Wall)
				}
			},
		})
	}
	runCases(t, cases)
}

// processCases need AllowProcesses.
var processCases = []programCase{
	{Name: "subprocess of the interpreter", Program: `
import subprocess, sys
done = subprocess.run([sys.executable, "-c", "import os, sys; print(os.getcwd() == sys.argv[1], sys.stdin.read())", __import__("os").getcwd()], input="in", capture_output=True, text=True, timeout=30)
return [done.returncode, done.stdout, done.stderr]
`, Value: `[0,"True in\n",""]`},
	{Name: "pools of processes", Program: `
import math, multiprocessing
results = []
for kind in "fork", "spawn":
    with multiprocessing.get_context(kind).Pool(2) as pool:
        results.append(pool.map(math.factorial, range(6)))
return results
`, Value: `[[1,1,2,6,24,120],[1,1,2,6,24,120]]`},
	{Name: "pool of a function of the program", Program: `
import multiprocessing
def double(n):
    return 2 * n
with multiprocessing.get_context("fork").Pool(2) as pool:
    return pool.map(double, [1, 2, 3])
`, Value: `[2,4,6]`},
	{Name: "ProcessPoolExecutor", Program: `
import math, multiprocessing
from concurrent.futures import ProcessPoolExecutor
with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
    return list(pool.map(math.isqrt, [16, 81]))
`, Value: `[4,9]`},
	{Name: "fork and waitpid", Program: `
import os
reading, writing = os.pipe()
child = os.fork()
if child == 0:
    os.write(writing, b"from the child")
    os._exit(3)
return [os.read(reading, 100).decode(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]
`, Value: `["from the child",3]`},
	{Name: "queues and shared memory", Program: `
import multiprocessing
from multiprocessing.shared_memory import SharedMemory
fork = multiprocessing.get_context("fork")
queue, memory = fork.Queue(), SharedMemory(create=True, size=100)
def work(name):
    other = SharedMemory(name)
    other.buf[0] = 7
    other.close()
    queue.put("done")
process = fork.Process(target=work, args=(memory.name,))
process.start()
said = queue.get(timeout=30)
process.join()
first = memory.buf[0]
memory.close()
memory.unlink()
return [said, first, process.exitcode]
`, Value: `["done",7,0]`},
	{Name: "asyncio and a process", Program: `
import asyncio, sys
process = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(5)", stdout=asyncio.subprocess.PIPE)
out, _ = await process.communicate()
return [out.decode(), process.returncode]
`, Value: `["5\n",0]`},
	{Name: "other programs stay shut", Program: refusedPrelude + `
import subprocess, socket
return shut([attempt(subprocess.run, ["/bin/ls"]), attempt(socket.socket), attempt(open, "/etc/shadow"), attempt(open, "/x", "w")])
`, Value: `[true,true,true,true]`},
}

// TestLibraryProcesses has programs start processes, on every Python.
func TestLibraryProcesses(t *testing.T) {
	runOpened(t, Config{Sandbox: Sandbox{AllowProcesses: true}}, processCases)
}

// runOpened runs cases on the system's Python with something opened.
func runOpened(t *testing.T, config Config, cases []programCase) {
	t.Helper()
	config.Python = systemPython(t)
	rt := newRuntime(t, config)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { c.run(t, rt) })
	}
}

// TestLibraryOpenedPaths has folders opened for reading and for writing.
func TestLibraryOpenedPaths(t *testing.T) {
	read, write, shut := openedFolder(t), openedFolder(t), openedFolder(t)
	config := Config{Sandbox: Sandbox{AllowRead: []string{read}, AllowWrite: []string{write}}}
	paths := `{"read":"` + read + `","write":"` + write + `","shut":"` + shut + `"}`
	runOpened(t, config, []programCase{
		{Name: "what is opened", Data: paths, Program: `
import os, shutil, sqlite3
with open(data["write"] + "/new", "w") as f:
    f.write("written")
os.mkdir(data["write"] + "/folder")
os.rename(data["write"] + "/new", data["write"] + "/folder/new")
shutil.copy(data["read"] + "/text", data["write"] + "/copy")
os.remove(data["write"] + "/text")
return [open(data["read"] + "/text").read(), os.listdir(data["read"]), sorted(os.listdir(data["write"]))]
`, Value: `["opened",["text"],["copy","folder"]]`},
		{Name: "what is not", Data: paths, Program: refusedPrelude + `
import shutil
r, s = data["read"], data["shut"]
return [attempt(os.rename, r + "/text", data["write"] + "/moved") != "done"] + shut([
    attempt(open, r + "/text", "w"), attempt(open, r + "/new", "w"), attempt(os.remove, r + "/text"), attempt(os.mkdir, r + "/d"),
    attempt(open, s + "/text"), attempt(os.listdir, s), attempt(open, os.path.dirname(r) + "/x", "w"), attempt(open, r + "/../../../etc/shadow")])
`, Value: `[true,true,true,true,true,true,true,true,true]`},
	})
	for path, want := range map[string]string{write + "/folder/new": "written", write + "/copy": "opened", read + "/text": "opened", shut + "/text": "opened"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
		}
	}
}

// TestLibraryOpenedPrograms has one program opened, and no other.
func TestLibraryOpenedPrograms(t *testing.T) {
	runOpened(t, Config{Sandbox: Sandbox{AllowExec: []string{"/bin/echo"}}}, []programCase{
		{Name: "what is opened", Program: "import subprocess\nreturn subprocess.check_output(['/bin/echo', 'a', 'b'], text=True)", Value: `"a b\n"`},
		{Name: "by its name", Program: "import subprocess\nreturn subprocess.check_output(['echo', 'a'], text=True)", Value: `"a\n"`},
		{Name: "what is not", Program: refusedPrelude + `
import shutil, subprocess
shutil.copy("/bin/echo", "mine")
os.chmod("mine", 0o755)
open("script", "w").write("#!/bin/echo\n")
os.chmod("script", 0o755)
return shut(attempt(subprocess.run, [p]) for p in ("/bin/ls", "/bin/sh", "./mine", "./script"))
`, Value: `[true,true,true,true]`},
	})
}

// serveHello answers every connection as an HTTP server does, until the test ends.
func serveHello(t *testing.T, network, address string) net.Addr {
	t.Helper()
	listener, err := net.Listen(network, address)
	must(t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = connection.Read(make([]byte, 4096))
			_, _ = connection.Write([]byte("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello"))
			_ = connection.Close()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-served
	})
	return listener.Addr()
}

// TestLibraryOpenedNetwork has servers of the host: programs reach the one of the
// network, and those by a path or an abstract name not.
func TestLibraryOpenedNetwork(t *testing.T) {
	folder := openedFolder(t)
	_, port, err := net.SplitHostPort(serveHello(t, "tcp", "127.0.0.1:0").String())
	must(t, err)
	serveHello(t, "unix", folder+"/socket")
	must(t, os.Chmod(folder+"/socket", 0o777))
	serveHello(t, "unix", "@"+folder)
	runOpened(t, Config{Sandbox: Sandbox{AllowNetwork: true}}, []programCase{
		{Name: "what is opened", Data: port, Program: `
import asyncio, socket, urllib.request
by_name = urllib.request.urlopen(f"http://localhost:{data}/", timeout=30).read().decode()
reader, writer = await asyncio.open_connection("127.0.0.1", data)
writer.write(b"GET / HTTP/1.0\r\n\r\n")
answer = await reader.read()
writer.close()
addresses = {a[4][0] for a in socket.getaddrinfo("localhost", data, type=socket.SOCK_STREAM)}
with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
    server.accept()[0].sendall(b"own")
    own = client.recv(10).decode()
return [by_name, answer.endswith(b"hello"), "127.0.0.1" in addresses, own]
`, Value: `["hello",true,true,"own"]`},
		{Name: "what is not", Data: `"` + folder + `"`, Program: refusedPrelude + `
import socket, subprocess
def connect(address):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(address)
return shut([attempt(connect, data + "/socket"), attempt(connect, "\0" + data), attempt(os.fork), attempt(subprocess.run, ["/bin/echo"]), attempt(open, "/etc/shadow"),
    attempt(open, "/x", "w"), attempt(socket.socket, socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)])
`, Value: `[true,true,true,true,true,true,true]`},
	})
}
