package thirdrail

import (
	"testing"
	"time"
)

// Parts of what a program is told that the confinement refused something.
const (
	threads  = "use threads (concurrent.futures.ThreadPoolExecutor) or asyncio, or a function of tools or db"
	modules  = "no other program can be started here: use Python's own modules (pathlib, shutil, zipfile, …), or a function of tools or db"
	hosts    = "there is no network here: use a function of tools or db instead"
	ownWrite = "a run can write only in its own folder"
	ownRead  = "a run sees only its own folder"
)

// refusalCases are programs that try what a confined run may not do. The message,
// or what they see themselves of the exception, says what to use instead.
var refusalCases = []programCase{
	{Name: "fork", Program: "import os\nos.fork()", Kind: Exception, Message: []string{"PermissionError", threads}},
	{Name: "forkpty", Program: "import os\nos.forkpty()", Kind: Exception, Message: []string{threads}},
	{Name: "process", Program: "import multiprocessing\nmultiprocessing.Process(target=print).start()", Kind: Exception, Message: []string{"PermissionError", threads}},
	{Name: "spawned process", Program: "import multiprocessing\nmultiprocessing.get_context('spawn').Process(target=print).start()", Kind: Exception, Message: []string{threads}},
	{Name: "process pool", Program: "from concurrent.futures import ProcessPoolExecutor\nProcessPoolExecutor(2).submit(print)", Kind: Exception, Message: []string{threads}},
	{Name: "subprocess", Program: "import subprocess\nsubprocess.run(['ls'])", Kind: Exception, Message: []string{"PermissionError", modules}},
	{Name: "subprocess in a shell", Program: "import subprocess\nsubprocess.check_output('ls', shell=True)", Kind: Exception, Message: []string{modules}},
	{Name: "popen", Program: "import os\nos.popen('ls')", Kind: Exception, Message: []string{modules}},
	{Name: "system", Program: "import os\nos.system('ls')", Kind: Exception, Message: []string{"PermissionError", modules}},
	{Name: "execv", Program: "import os\nos.execv('/bin/ls', ['ls'])", Kind: Exception, Message: []string{"PermissionError", modules}},
	{Name: "execvp", Program: "import os\nos.execvp('ls', ['ls'])", Kind: Exception, Message: []string{modules}},
	{Name: "posix_spawn", Program: "import os\nos.posix_spawn('/bin/ls', ['ls'], {})", Kind: Exception, Message: []string{modules}},
	{Name: "pty", Program: "import pty\npty.spawn('ls')", Kind: Exception, Message: []string{modules}},
	{Name: "asyncio's subprocess", Program: "import asyncio\nawait asyncio.create_subprocess_exec('ls')", Kind: Exception, Message: []string{modules}},
	{Name: "socket", Program: "import socket\nsocket.socket()", Kind: Exception, Message: []string{"PermissionError", hosts}},
	{Name: "connection", Program: "import socket\nsocket.create_connection(('192.0.2.1', 80))", Kind: Exception, Message: []string{hosts}},
	{Name: "look-up", Program: "import socket\nsocket.getaddrinfo('example.com', 80)", Kind: Exception, Message: []string{"gaierror", hosts}},
	{Name: "urllib", Program: "import urllib.request\nurllib.request.urlopen('http://example.com')", Kind: Exception, Message: []string{"URLError", hosts}},
	{Name: "urllib by address", Program: "import urllib.request\nurllib.request.urlopen('http://192.0.2.1')", Kind: Exception, Message: []string{"URLError", hosts}},
	{Name: "http.client", Program: "import http.client\nhttp.client.HTTPConnection('192.0.2.1').request('GET', '/')", Kind: Exception, Message: []string{hosts}},
	{Name: "asyncio's connection", Program: "import asyncio\nawait asyncio.open_connection('192.0.2.1', 80)", Kind: Exception, Message: []string{hosts}},
	{Name: "server", Program: "import http.server\nhttp.server.HTTPServer(('127.0.0.1', 8000), None)", Kind: Exception, Message: []string{hosts}},
	{Name: "reading", Program: "open('/home/me/x.csv')", Kind: Exception, Message: []string{ownRead, "get its content from a function of tools or db"}},
	{Name: "listing", Program: "import os\nos.listdir('/home/me')", Kind: Exception, Message: []string{ownRead}},
	{Name: "a file that isn't there", Program: "open('x.csv')", Kind: Exception, Message: []string{"a run starts with a new and empty folder"}},
	{Name: "writing into no folder", Program: "open('out/x.csv', 'w')", Kind: Exception, Message: []string{"make it first", "os.makedirs"}},
	{Name: "writing", Program: "open('/mnt/data/x.csv', 'w')", Kind: Exception, Message: []string{ownWrite, "use the path 'x.csv'"}},
	{Name: "pathlib", Program: "from pathlib import Path\nPath('/usr/x.csv').write_text('1')", Kind: Exception, Message: []string{ownWrite, "use the path 'x.csv'"}},
	{Name: "a folder", Program: "import os\nos.makedirs('/data/out')", Kind: Exception, Message: []string{ownWrite}},
	{Name: "moving", Program: "import os\nopen('a', 'w').close()\nos.rename('a', '/usr/b')", Kind: Exception, Message: []string{ownWrite, "use the path 'b'"}},
	{Name: "sqlite", Program: "import sqlite3\nsqlite3.connect('/mnt/x.db')", Kind: Exception, Message: []string{ownWrite}},
	{Name: "a signal", Program: "import os\nos.kill(1, 9)", Kind: Exception, Message: []string{"a confined run may not do this"}},
	{Name: "file size", Program: "open('x', 'wb').truncate(1 << 40)", Limits: Limits{DiskBytes: 4 << 20}, Kind: Exception, Message: []string{"a run may use 4 MiB of disk"}},
	{Name: "open files", Program: "import os\nkept = [os.pipe() for _ in range(1000)]", Kind: Exception, Message: []string{"256 files open at once", "with statement"}},
	{Name: "threads", Program: "import threading, time\nfor _ in range(100_000):\n    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
		Limits: Limits{Memory: 256 << 20, Wall: time.Minute}, Kind: Exception, Message: []string{"can't start new thread", "fewer threads"}},

	{Name: "caught: fork", Program: "import os\ntry:\n    os.fork()\nexcept PermissionError as error:\n    print(error)", Value: "absent", InLogs: []string{threads}},
	{Name: "caught: subprocess", Program: "import subprocess\ntry:\n    subprocess.run(['ls'])\nexcept OSError as error:\n    print(error)", Value: "absent", InLogs: []string{modules}},
	{Name: "caught: system", Program: "import os\ntry:\n    os.system('ls')\nexcept OSError as error:\n    print(error)", Value: "absent", InLogs: []string{modules}},
	{Name: "caught: execv", Program: "import os\ntry:\n    os.execv('/bin/ls', ['ls'])\nexcept OSError as error:\n    print(error)", Value: "absent", InLogs: []string{modules}},
	{Name: "caught: urllib", Program: "import urllib.request\ntry:\n    urllib.request.urlopen('https://example.com')\nexcept OSError as error:\n    print(error)", Value: "absent", InLogs: []string{hosts}},

	{Name: "processes are open", Sandbox: withProcesses, Program: "import os\npid = os.fork()\nif pid == 0:\n    os._exit(3)\nreturn os.waitpid(pid, 0)[1] >> 8", Value: "3"},
	{Name: "a shell is open", Sandbox: withProcesses, Program: "import os\nreturn os.system('exit 5') >> 8", Value: "5"},
	{Name: "a program that isn't open", Sandbox: withProcesses, Program: "import subprocess\nsubprocess.run(['/usr/bin/env'])", Kind: Exception,
		Message: []string{"only Python and the programs that the host opened can be started here"}},
	{Name: "network beside processes", Sandbox: withProcesses, Program: "import socket\nsocket.socket()", Kind: Exception, Message: []string{hosts}},
	{Name: "unconfined", Sandbox: unconfined, Program: "open('/home/me/x.csv')", Kind: Exception, Message: []string{"FileNotFoundError"}, NotMessage: []string{"help:"}},
	{Name: "honest errors are left alone", Program: "raise PermissionError(13, 'of my own')", Kind: Exception, Message: []string{"PermissionError: [Errno 13] of my own"}, NotMessage: []string{"help:"}},
	{Name: "the wrappers are functions like others", Program: "import os, posix\nreturn [os.fork is posix.fork, os.fork.__name__, os.system.__module__]", Value: `[true,"fork","posix"]`},
}

func TestRefusals(t *testing.T) { runCases(t, refusalCases) }

// hintCases try to have the help go wrong, which must not cost the message.
var hintCases = []programCase{
	{Name: "builtins are gone", Program: "import builtins\nfor name in list(vars(builtins)):\n    if name not in ('delattr', 'NameError', '__build_class__', 'vars', 'list'):\n        delattr(builtins, name)\nnp",
		Kind: Exception, Message: []string{"NameError: name 'np' is not defined", "help: write `import numpy as np` first"}},
	{Name: "modules are gone", Program: "import sys\nsys.modules.clear()\nnp", Kind: Exception, Message: []string{"NameError: name 'np' is not defined"}},
	{Name: "no imports", Program: "import builtins\nbuiltins.__import__ = None\nnp", Kind: Exception, Message: []string{"help: write `import numpy as np` first"}},
	{Name: "the child's modules stay hidden", Program: "import sys\ntry:\n    np\nexcept NameError:\n    pass\nreturn [name for name in sys.modules if 'thirdrail' in name]", Value: "[]"},
	{Name: "no files left", Program: "import os\nkept = []\ntry:\n    while True: kept.append(os.pipe())\nexcept OSError:\n    np", Kind: Exception, Message: []string{"help: write `import numpy as np` first"}},
	{Name: "no memory left", Program: "kept = []\nsize = 1 << 24\nwhile size > 64:\n    try:\n        kept.append(bytearray(size))\n    except MemoryError:\n        size //= 2\nnp",
		Limits: Limits{Memory: 256 << 20}, Kind: Exception, Message: []string{"NameError: name 'np' is not defined"}},
	{Name: "deep in calls", Program: "def f(n):\n    return f(n - 1) if n else np\nf(900)", Kind: Exception, Message: []string{"help: write `import numpy as np` first"}},
	{Name: "names that are none", Program: "globals()[5] = 1\nclass S(str):\n    __len__ = __hash__ = None\nglobals().update({'totla': 1})\ntotal", Kind: Exception, Message: []string{"perhaps `totla` is meant"}},
	{Name: "a huge result that is shared", Program: "x = ['y' * 100]\nfor _ in range(40):\n    x = [x, x]\nreturn x", Kind: OutputLimit, Message: []string{"over the size limit", "return less"}},
	{Name: "the part that is too large", Program: "return {'a': 1, 'rows': [{'text': 'x' * 100} for _ in range(20000)]}", Kind: OutputLimit,
		Message: []string{`most of it is result["rows"], a list of 20000 items`, "the limit is 1048576 bytes", "return less"}},
}

func TestHints(t *testing.T) { runCases(t, hintCases) }
