//go:build linux

package thirdrail

import (
	"fmt"
	"os"
	"path/filepath"
)

// heldByEnd is why nothing is left without a confinement either.
const heldByEnd = "all that a run started is ended and removed with it, confined or not"

// leftoverAttacks leave something behind that outlives their run.
var leftoverAttacks = []attack{
	{Name: "a daemon", Off: heldByEnd, Check: leftProcess, Program: `
if os.fork() == 0:
    os.setsid()
    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", token])
`},
	{Name: "a daemon by two forks", Off: heldByEnd, Check: leftProcess, Program: `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", token])
    os._exit(0)
os.wait()
`},
	{Name: "a daemon deaf to signals", Off: heldByEnd, Check: leftProcess, Program: `
import subprocess
subprocess.Popen([sys.executable, "-c", "import signal, time\nfor n in range(1, 65):\n try: signal.signal(n, signal.SIG_IGN)\n except: pass\ntime.sleep(60)", token], start_new_session=True)
`},
	{Name: "a daemon of the shell", Off: heldByEnd, Check: leftProcess, Program: `
os.system("(setsid nohup sleep 60 " + token + " 2>/dev/null & exec setsid " + sys.executable + " -c 'import time; time.sleep(60)' " + token + " &) >/dev/null")
`},
	{Name: "a daemon whose starter is killed", Off: heldByEnd, Check: leftProcess, Program: `
if os.fork() == 0:
    os.setsid()
    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", token])
os.kill(os.getpid(), signal.SIGKILL)
`},
	{Name: "a daemon that killed the keeper", Off: heldByEnd, Check: leftProcess, Program: `
parent = os.getppid()
if os.fork() == 0:
    os.setsid()
    os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)", token])
os.kill(parent, signal.SIGKILL)
`},
	{Name: "a descriptor that keeps the host waiting", Off: heldByEnd, Check: tooLong, Program: `
if os.fork() == 0:
    os.setsid()
    time.sleep(60)
    os._exit(0)
`},
	{Name: "an abstract listener", Off: heldByEnd, Program: `
s = socket.socket(socket.AF_UNIX)
s.bind("\0" + token)
s.listen()
if os.fork() == 0:
    os.setsid()
    s.accept()
    os._exit(0)
`, Then: `
s = socket.socket(socket.AF_UNIX)
s.connect("\0" + token)
through("another run's listener")
`},
	{Name: "shared memory for the next run", Program: `
call("shmget", int.from_bytes(token[:3].encode(), "big"), 4096, 0o1666)
`, Then: `
number = call("shmget", int.from_bytes(token[:3].encode(), "big"), 4096, 0)
through(number)
call("shmctl", number, 0, None)
`},
	{Name: "a queue for the next run", Program: `
call("mq_open", token.encode(), os.O_CREAT | os.O_RDWR, 0o666, None)
`, Then: `
through(call("mq_open", token.encode(), os.O_RDWR, 0, None))
call("mq_unlink", token.encode())
`},
	{Name: "a file for the next run", Program: `
for folder in "/tmp", "/var/tmp", "/dev/shm", aims["folder"]:
    try:
        with open(folder + "/" + token, "w") as file:
            file.write("from the run before")
    except OSError:
        pass
`, Then: `
for folder in "/tmp", "/var/tmp", "/dev/shm", aims["folder"]:
    try:
        through(content(folder + "/" + token))
    except OSError:
        pass
`},
	{Name: "a key for the next run", Program: `
USER_KEYRING, SETPERM, ALL = -4, 5, 0x3f3f3f3f
key = call("add_key", b"user", token.encode(), b"x", 1, USER_KEYRING)
call("keyctl", SETPERM, key, ALL, 0, 0)
`, Then: `
USER_KEYRING, SEARCH, UNLINK = -4, 10, 9
key = call("keyctl", SEARCH, USER_KEYRING, b"user", token.encode(), 0)
through(key)
call("keyctl", UNLINK, key, USER_KEYRING, 0, 0)
`},
	{Name: "folders without permission", Off: heldByEnd, Check: leftFile, Program: `
for i in range(20):
    os.makedirs("%s%d/inside/deeper" % (token, i))
    os.chmod("%s%d/inside" % (token, i), 0)
    os.chmod("%s%d" % (token, i), 0)
os.chmod(".", 0)
`},
	{Name: "a deep tree", Off: heldByEnd, Check: leftFile, Program: `
os.mkdir(token)
os.chdir(token)
for i in range(1500):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
`},
	{Name: "names of odd bytes", Off: heldByEnd, Check: leftFile, Program: `
for name in b"\xff\xfe", b"\n", b" ", b"-rf", b"*", b"\x01", b"x" * (255 - len(token)):
    os.mkdir(token.encode() + name)
`},
	{Name: "a file that can't be removed", Off: "not tried: would leave a file that can't be removed", Check: leftFile, Program: `
GETFLAGS, SETFLAGS, IMMUTABLE = 0x80086601, 0x40086602, 0x10
with open(token, "w") as file:
    fcntl.ioctl(file, SETFLAGS, struct.pack("l", IMMUTABLE))
`},
	{Name: "a link that is followed when the workspace is removed", Off: heldByEnd, Check: lostFile, Program: `
os.symlink(aims["folder"], token)
os.symlink(aims["file"], token + "file")
import shutil
shutil.rmtree(os.environ["TMPDIR"])
os.symlink(aims["folder"], os.environ["TMPDIR"])
`},
	{Name: "a folder that becomes a link while it is removed", Off: heldByEnd, Check: lostFile, Program: `
import threading
os.makedirs("a/b")
os.symlink(aims["folder"], "link")
def swap():
    while True:
        os.rename("a", "c")
        os.rename("link", "a")
        os.rename("a", "link")
        os.rename("c", "a")
threading.Thread(target=swap, daemon=True).start()
for i in range(200):
    os.makedirs("many/%d" % i)
`},
	{Name: "a workspace that is moved away", Check: leftFile, Program: `
open(token, "w").close()
here = os.getcwd()
try:
    os.rename(here, os.path.dirname(here) + "/" + token)
except OSError:
    os.mkdir(token + " at home")
    raise
`},
	{Name: "a thread", Off: heldByEnd, Check: tooLong, Program: `
import threading
for i in range(8):
    threading.Thread(target=time.sleep, args=(600,)).start()
`},
	{Name: "a handler for the end", Off: heldByEnd, Check: tooLong, Program: `
import atexit
atexit.register(time.sleep, 600)
class Late:
    def __del__(self):
        time.sleep(600)
sys.late = Late()
`},
	{Name: "a pending timer", Off: heldByEnd, Check: tooLong, Program: `
import asyncio
await asyncio.sleep(0)
asyncio.get_running_loop().call_later(600, print)
asyncio.ensure_future(asyncio.sleep(600))
`},
}

// lostFile is a Check for attacks on what removes the workspace.
func lostFile(a *attempt) string {
	if _, err := os.Lstat(filepath.Join(a.targets.folder, "secret")); err != nil {
		return fmt.Sprintf("a file outside is gone: %v", err)
	}
	return leftFile(a)
}
