package thirdrail

import (
	"testing"
	"time"
)

// budgetCases are programs against their limits of time and memory. None may
// outlive its limit by much, whatever it does; how much is not asserted.
var budgetCases = []programCase{
	{Name: "wall, sleeping", Program: "print('a')\nimport time\nwhile True: time.sleep(1)", Limits: Limits{Wall: 500 * time.Millisecond}, Kind: Timeout, Message: []string{"wall time limit of 500ms"}, Logs: []string{"a"}},
	{Name: "wall, awaiting", Program: "await tools.slow()", Limits: Limits{Wall: 500 * time.Millisecond}, Kind: Timeout},
	{Name: "wall, every signal trapped", Program: "import signal, time\nfor s in range(1, signal.NSIG):\n    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass\nwhile True: time.sleep(1)", Limits: Limits{Wall: 500 * time.Millisecond}, Kind: Timeout},
	{Name: "wall of a nanosecond", Program: "return 1", Limits: Limits{Wall: 1}, Kind: Timeout},
	{Name: "wall of centuries", Program: "return 1", Limits: Limits{Wall: 1<<63 - 1}, Value: "1"},
	{Name: "limits can't be caught", Program: "while True:\n    try:\n        while True: pass\n    except BaseException: pass", Limits: Limits{CPU: time.Second, Wall: 20 * time.Second}, Kind: Timeout, Message: []string{"CPU"}},
	{Name: "cpu", Program: "while True: pass", Limits: Limits{CPU: time.Second, Wall: 20 * time.Second}, Kind: Timeout, Message: []string{"CPU time limit of 1s"}},
	{Name: "cpu, of half a second", Program: "while True: pass", Limits: Limits{CPU: 500 * time.Millisecond, Wall: 20 * time.Second}, Kind: Timeout, Message: []string{"CPU time limit of 500ms"}},
	{Name: "cpu, of a nanosecond", Program: "while True: pass", Limits: Limits{CPU: 1, Wall: 20 * time.Second}, Kind: Timeout, Message: []string{"CPU time limit of 1ns"}},
	{Name: "cpu, signal ignored", Program: "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", Limits: Limits{CPU: time.Second, Wall: 20 * time.Second}, Kind: Timeout, Message: []string{"CPU"}},
	{Name: "cpu, overrun and then returned", Program: "import signal, time\nsignal.signal(signal.SIGXCPU, lambda *a: None)\nwhile time.process_time() < 1.9: pass\nreturn 'late'", Limits: Limits{CPU: time.Second, Wall: 20 * time.Second}, Kind: Timeout, Message: []string{"CPU"}},
	{Name: "cpu, in threads", Program: "import hashlib, threading\nb = b'x' * (8 << 20)\ndef f():\n    while True: hashlib.sha256(b)\nfor _ in range(4): threading.Thread(target=f).start()\nf()", Limits: Limits{CPU: time.Second, Wall: 20 * time.Second}, Kind: Timeout, Message: []string{"CPU"}},
	{Name: "cpu, one long operation", Program: "10 ** 10 ** 9", Limits: Limits{CPU: time.Second, Wall: 20 * time.Second}, Kind: Timeout},
	{Name: "cpu, a regular expression", Program: "import re\nre.match('(a+)+$', 'a' * 60 + 'b')", Limits: Limits{CPU: time.Second, Wall: 20 * time.Second}, Kind: Timeout},
	{Name: "cpu isn't wall", Program: "import time\ntime.sleep(1.5)\nreturn 1", Limits: Limits{CPU: time.Second}, Value: "1"},
	{Name: "the kernel's limits", Program: "import resource as r\nreturn [list(r.getrlimit(r.RLIMIT_CPU)), r.getrlimit(r.RLIMIT_AS)[0] == r.getrlimit(r.RLIMIT_AS)[1], r.getrlimit(r.RLIMIT_CORE)[1]]", Limits: Limits{CPU: 42 * time.Second}, Value: "[[42,43],true,0]"},
	{Name: "the kernel's limit rounds up", Program: "import resource as r\nreturn r.getrlimit(r.RLIMIT_CPU)[0]", Limits: Limits{CPU: 1500 * time.Millisecond}, Value: "2"},
	{Name: "memory, filled and kept", Program: "keep = []\nwhile True: keep.append(' ' * (1 << 20) + str(len(keep)))", Limits: Limits{Memory: 128 << 20}, Kind: Exception, Message: []string{"MemoryError"}},
	{Name: "memory, filled by small objects", Program: "keep = []\nwhile True: keep.append([len(keep)])", Limits: Limits{Memory: 64 << 20}, Kind: Exception, Message: []string{"MemoryError"}},
	{Name: "memory, filled and let go", Program: "keep = []\ntry:\n    while True: keep.append(bytes(1 << 20))\nexcept MemoryError:\n    keep.clear()\nreturn 'alive'", Limits: Limits{Memory: 128 << 20}, Value: `"alive"`},
	{Name: "memory beyond the bare child", Program: "return len(bytes(200 << 20))", Limits: Limits{Memory: 256 << 20}, Value: "209715200"},
	{Name: "an argument without end", Program: "x = []\nfor _ in range(60): x = [x, x]\nawait tools.echo(x)", Limits: Limits{CPU: time.Second, Wall: 20 * time.Second, Memory: 512 << 20}, Check: func(t *testing.T, r *Result) {
		if r.Failure == nil {
			t.Error("an argument of 2^60 lists crossed")
		}
	}, Kind: Timeout},
	{Name: "stdin is empty", Program: "import sys\nreturn sys.stdin.read()", Value: `""`},
	{Name: "threads that go on", Program: "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\nreturn 'value'", Value: `"value"`},
	{Name: "tasks that go on", Program: "import asyncio\nasync def f():\n    await asyncio.sleep(60)\nt = asyncio.create_task(f())\nawait asyncio.sleep(0)\nreturn 'value'", Value: `"value"`},
	{Name: "helpers that go on", Sandbox: withProcesses, Program: "import os, time\nfor i in range(5):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            time.sleep(600)\n        time.sleep(600)\nreturn 'v'", Value: `"v"`},
	{Name: "an orphan that holds the pipes", Sandbox: withProcesses, Program: "import os, time\nos.write(1, b'diag')\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\nos._exit(3)", Kind: WorkerExit, Message: []string{"code=3"}, Logs: []string{"diag"}},
	{Name: "files that are hard to remove", Program: "import os\np = 'd'\nfor i in range(50):\n    os.mkdir(p)\n    p += '/d'\nopen('f', 'w').close()\nos.chmod('f', 0)\nos.chmod('d', 0)\nos.symlink('/etc', 'link')\nreturn 1", Value: "1"},
	{Name: "a slow start of the interpreter isn't billed", Program: "import time\nreturn time.process_time() < 30", Limits: Limits{Wall: 10 * time.Second}, Value: "true"},
	{Name: "cpu, in a process that is waited for", Sandbox: withProcesses, Program: "import os\nif os.fork() == 0:\n    while True: pass\nos.wait()", Limits: Limits{CPU: 500 * time.Millisecond, Wall: 20 * time.Second}, Kind: Timeout, Message: []string{"CPU"}},
	{Name: "cpu, in a daemon", Sandbox: withProcesses, Program: "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True: pass\n    os._exit(0)\ntime.sleep(600)", Limits: Limits{CPU: 500 * time.Millisecond, Wall: 20 * time.Second}, Kind: Timeout, Message: []string{"CPU"}},
	{Name: "cpu, in short processes one after the other", Sandbox: withProcesses, Program: "import os, time\nwhile True:\n    if os.fork() == 0:\n        while time.process_time() < 0.05: pass\n        os._exit(0)\n    os.wait()", Limits: Limits{CPU: 500 * time.Millisecond, Wall: 20 * time.Second}, Kind: Timeout, Message: []string{"CPU"}},
	{Name: "cpu, overrun and then raised", Program: "import signal, time\nsignal.signal(signal.SIGXCPU, lambda *a: None)\nwhile time.process_time() < 1.9: pass\nraise KeyError('late')", Limits: Limits{CPU: time.Second, Wall: 20 * time.Second}, Kind: Timeout, Message: []string{"CPU"}},
	{Name: "cpu, an exception of the program's signal", Program: "import signal\ndef over(*a): raise RuntimeError('caught the limit')\nsignal.signal(signal.SIGXCPU, over)\ndef spin():\n    while True: len('')\ntry: spin()\nexcept RuntimeError: pass\nspin()", Limits: Limits{CPU: time.Second, Wall: 20 * time.Second}, Kind: Timeout, Message: []string{"CPU"}},
	{Name: "cpu, its tellers patched", Program: "import os, resource, signal, time\nresource.getrusage = resource.setrlimit = os.kill = signal.signal = time.process_time = lambda *a: 0\nimport __main__\n__main__.enforce = None\nwhile True: pass", Limits: Limits{CPU: 500 * time.Millisecond, Wall: 20 * time.Second}, Kind: Timeout, Message: []string{"CPU"}},
	{Name: "cpu, a limit raised by the program", Program: "import resource\ntry: resource.setrlimit(resource.RLIMIT_CPU, (1000, 1000))\nexcept (ValueError, OSError): pass\nwhile True: pass", Limits: Limits{CPU: time.Second, Wall: 20 * time.Second}, Kind: Timeout, Message: []string{"CPU"}},
	{Name: "wall, one long operation", Program: "10 ** 10 ** 9", Limits: Limits{Wall: 500 * time.Millisecond}, Kind: Timeout, Message: []string{"wall"}},
	{Name: "wall, a product without end", Program: "from itertools import product\nfor p in product(range(200), repeat=5): pass", Limits: Limits{Wall: 500 * time.Millisecond}, Kind: Timeout},
	{Name: "memory, more than there is", Program: "try:\n    bytearray(10 ** 10)\nexcept MemoryError:\n    return 'caught'", Limits: Limits{Memory: 512 << 20}, Value: `"caught"`},
	{Name: "memory, more than there is, uncaught", Program: "x = 1\nbytearray(10 ** 10)", Limits: Limits{Memory: 512 << 20}, Kind: Exception, Message: []string{"MemoryError", "line 2", "bytearray(10 ** 10)"}},
	{Name: "memory, filled and then returned", Program: fill + "return 'full'", Limits: Limits{Memory: 64 << 20}, Value: `"full"`},
	{Name: "memory, filled and then raised", Program: fill + "raise KeyError('full')", Limits: Limits{Memory: 64 << 20}, Kind: Exception, Message: []string{"KeyError: 'full'"}},
	{Name: "memory, recursion", Program: "def f(): return f() + 1\nf()", Kind: Exception, Message: []string{"RecursionError"}},
	{Name: "memory that a call adds", Sandbox: unconfined, Program: mapped + "before = mapped()\nawait tools.echo({'a': 1})\nreturn mapped() - before < 8 << 20", Value: "true"},
	{Name: "memory of the idle child", Sandbox: unconfined, Program: mapped + "return mapped() < 64 << 20", Value: "true"},
}

// fill is the beginning of programs that keep all memory that they can get.
const fill = "keep = []\nsize = 1 << 20\nwhile size > 1000:\n    try:\n        while True: keep.append(bytearray(size))\n    except MemoryError:\n        size //= 2\n"

// mapped is the beginning of programs that look at their address space.
const mapped = "import os\ndef mapped():\n    with open('/proc/self/statm') as f: return int(f.read().split()[0]) * os.sysconf('SC_PAGE_SIZE')\n"

func TestBudgets(t *testing.T) { runCases(t, budgetCases) }

// TestLimitsAreMet measures limits of time: a run goes on until its limit, and ends
// a while later at most, which leaves room for a busy machine.
func TestLimitsAreMet(t *testing.T) {
	rt := newRuntime(t, Config{})
	for _, limit := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second} {
		for name, c := range map[string]struct {
			program string
			limits  Limits
			used    func(Stats) time.Duration
		}{
			"wall": {"import time\ntime.sleep(600)", Limits{Wall: limit}, func(s Stats) time.Duration { return s.Wall }},
			"cpu":  {"while True: pass", Limits{CPU: limit}, func(s Stats) time.Duration { return s.CPU + cpuSlack }},
		} {
			result := run1(t, rt, c.program, c.limits)
			// The kernel's own CPU limit counts the start too, and ticks.
			least := limit * 3 / 4
			if used := c.used(result.Stats); result.Failure == nil || result.Failure.Kind != Timeout || used < least || used > limit+5*time.Second {
				t.Errorf("%s limit of %v: %v after %v", name, limit, result.Err(), used)
			}
		}
	}
}
