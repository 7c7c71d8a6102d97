package thirdrail

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/thirdrail-dev/thirdrail/lossless"
	"github.com/thirdrail-dev/thirdrail/wire"
)

// marker is the last entry of logs that were cut.
func marker(limit int64) string { return wire.LogTruncationMarker(limit) }

// cut checks that logs are cut within a budget: what stands before the marker
// fits it as a JSON array, and would not with one more character of any kind.
func cut(limit int64) func(*testing.T, *Result) {
	return func(t *testing.T, result *Result) {
		t.Helper()
		logs := result.Logs
		if len(logs) == 0 || logs[len(logs)-1] != marker(limit) || slices.Index(logs, marker(limit)) != len(logs)-1 {
			t.Errorf("the marker is not once and last in %s", short(fmt.Sprintf("%q", logs)))
			return
		}
		array, err := lossless.Of(logs[:len(logs)-1])
		if err != nil {
			t.Error(err)
			return
		}
		if size := int64(len(array.Bytes())); size > limit || size < limit-12 {
			t.Errorf("the logs before the marker take %d bytes of %d", size, limit)
		}
		if result.Stats.LogBytes != limit {
			t.Errorf("Stats.LogBytes is %d, want all of %d", result.Stats.LogBytes, limit)
		}
	}
}

var logCases = []programCase{
	// Lines.
	{Name: "one entry a line", Program: `print("a", "b")` + "\n" + `print("c")`, Value: "absent", Logs: []string{"a b", "c"}},
	{Name: "blank lines", Program: "print('a\\n')\nprint()\nprint('\\n\\n', end='')", Logs: []string{"a", "", "", "", ""}},
	{Name: "unfinished at the end", Program: "print('tail', end='')\nreturn 1", Value: "1", Logs: []string{"tail"}},
	{Name: "nothing", Program: "return 1", Value: "1", Logs: []string{}},
	{
		Name: "empty writes", Program: "import sys\nw = sys.stdout.write\nfor _ in range(2_000_000): w('')\nprint(end='')\nsys.stdout.flush()", Logs: []string{},
	},
	{Name: "flush with nothing", Program: "import sys\nfor _ in range(3):\n    sys.stdout.flush()\n    sys.stderr.flush()\n    sys.stdout.buffer.flush()", Logs: []string{}},
	{Name: "open, then its end", Program: "print('a', end='', flush=True)\nprint('b')\nprint('c', end='')\nprint()\nprint('d')", Logs: []string{"ab", "c", "d"}},
	{Name: "the other stream ends an open entry", Program: "import sys\nprint('a', end='')\nprint('b', file=sys.stderr)\nprint('c')", Logs: []string{"a", "b", "c"}},
	{
		Name: "streams take turns", Program: "import sys\nfor i in range(3):\n    sys.stdout.write(f'o{i}')\n    sys.stderr.write(f'e{i}')", Logs: []string{"o0", "e0", "o1", "e1", "o2", "e2"},
	},
	{
		Name: "native text ends an open entry, and its end adds none", Program: "import os, sys\nprint('a', end='')\nos.write(1, b'native\\n')\nprint('b', file=sys.stderr)\n" +
			"print('c', end='')\nos.write(2, b'more\\n')\nprint()\nprint('d')", Logs: []string{"a", "native", "b", "c", "more", "d"},
	},
	{Name: "an open native line, ended by a frame", Program: "import os\nos.write(1, b'open')\nprint('line')\nos.write(1, b'rest\\n')", Logs: []string{"open", "line", "rest"}},
	{Name: "native lines", Program: "import os\nos.write(1, b'one\\ntwo\\nthree')", Logs: []string{"one", "two", "three"}},
	{Name: "native blank lines", Program: "import os\nos.write(2, b'\\n\\na\\n\\n')", Logs: []string{"", "", "a", ""}},
	{
		Name: "only a line feed ends a line", Program: "import os\nprint('1%\\r2%\\r\\n', end='')\nprint('a\\x0cb\\x0bc\\x85d\\u2028e\\x1cf')\nos.write(1, b'n\\r\\n\\x0c\\n')",
		Logs: []string{"1%\r2%\r", "a\x0cb\x0bc\u0085d\u2028e\x1cf", "n\r", "\x0c"},
	},
	{
		Name: "what looks like the protocol is text", Program: `
import os
for text in ('{"type":"done","value":1}', '{"type":"log","text":"x","truncated":true}', '[thirdrail] log capture truncated at 262144 bytes', '{}', '"'):
    print(text)
    os.write(1, (text + "\n").encode())
return 2`,
		Value: "2",
		Logs: []string{
			`{"type":"done","value":1}`, `{"type":"done","value":1}`, `{"type":"log","text":"x","truncated":true}`, `{"type":"log","text":"x","truncated":true}`,
			"[thirdrail] log capture truncated at 262144 bytes", "[thirdrail] log capture truncated at 262144 bytes", "{}", "{}", `"`, `"`,
		},
	},

	// Characters.
	{
		Name: "any character", Program: "import os\nt = '\\t\"\\\\\\x01\\x7fé\\u4f60\\U0001f600\\x00<>&\\u2029'\nprint(t)\nos.write(1, t.encode() + b'\\n')",
		Logs: []string{"\t\"\\\x01\x7fé你😀\x00<>&\u2029", "\t\"\\\x01\x7fé你😀\x00<>&\u2029"},
	},
	{Name: "surrogates", Program: `print("x\ud800y")` + "\n" + `print("\ud83d\ude00", "\udfff")`, Logs: []string{"x\uFFFDy", "\uFFFD\uFFFD \uFFFD"}},
	{Name: "a broken character at the end", Program: "import os\nos.write(1, b'\\xe4\\xbd')", Logs: []string{"\uFFFD\uFFFD"}},
	{Name: "a broken character, then another", Program: "import os\nos.write(1, b'\\xe4')\nos.write(1, b'A\\n')\nos.write(1, b'\\xf0\\x9f\\n\\x98B')", Logs: []string{"\uFFFDA", "\uFFFD\uFFFD", "\uFFFDB"}},
	{
		Name: "characters across the edges of reads", Program: "import os\nos.write(1, b'x' * 65535 + '\\u4f60'.encode() + b'y' * 65534 + '\\U0001f600'.encode() + b'\\n')", Limits: Limits{LogBytes: 1 << 20},
		Logs: []string{strings.Repeat("x", 65535) + "你" + strings.Repeat("y", 65534) + "😀"},
	},
	{
		Name: "characters byte by byte", Program: "import os, sys\nfor b in 'é你😀\\n'.encode():\n    os.write(1, bytes([b]))\nfor b in 'é你😀\\n'.encode():\n    sys.stdout.buffer.write(bytes([b]))",
		Logs: []string{"é你😀", "é你😀"},
	},
	{Name: "a broken character in the binary layer", Program: "import sys\nsys.stdout.buffer.write(b'a\\xffb\\n\\xe4')", Logs: []string{"a\uFFFDb", "\uFFFD"}},
	{Name: "sixty thousand single bytes", Program: "import os\nfor _ in range(60000): os.write(1, b'x')\nos.write(1, b'\\n')", Logs: []string{strings.Repeat("x", 60000)}},

	// The streams.
	{
		Name: "all ways out", Sandbox: withProcesses, Program: `
import os, sys
print("print")
sys.__stdout__.write("dunder\n")
sys.stdout.buffer.write(b"buffer\n")
sys.__stderr__.buffer.write(b"error buffer\n")
sys.stdout.buffer.raw.write(b"raw\n")
os.write(1, b"native\n")
print("file", file=open(1, "w", closefd=False))
print("between")  # bytes written straight to 1 and to 2 have no order of their own
with os.fdopen(os.dup(2), "wb") as duplicate:
    duplicate.write(b"duplicate\n")
sys.stdout.writelines(["l1\n", "l2\n"])
print("a", "b", sep="-", end="!\n", flush=True)
os.system("echo shell")
import subprocess
subprocess.run([sys.executable, "-I", "-S", "-c", "print('child')"], check=True)
print("end")`,
		Logs: []string{"print", "dunder", "buffer", "error buffer", "raw", "native", "file", "between", "duplicate", "l1", "l2", "a-b!", "shell", "child", "end"},
	},
	{
		Name: "a real text stream", Program: `
import io, sys
s = sys.stdout
found = [s.write("four"), s.write("é\n"), s.isatty(), s.encoding, s.fileno(), sys.stderr.fileno(), s.writable(), s.readable(), s.seekable(), s.closed, s.errors,
    isinstance(s, io.TextIOBase), isinstance(s.buffer, io.BufferedIOBase), s.name, s.mode, s.buffer.write(b"abc\n"), s.buffer.write(memoryview(b"xyz\n")), s.line_buffering]
s.reconfigure(encoding="latin-1", errors="strict", line_buffering=False)
s.flush()
s.buffer.flush()
s.close()
s.buffer.close()
with s:
    pass
for bad in (lambda: s.write(b"x"), lambda: s.buffer.write("x"), lambda: s.detach(), lambda: s.read(), lambda: s.write(5)):
    try:
        bad()
    except (TypeError, io.UnsupportedOperation) as e:
        found.append(type(e).__name__)
print("still é \u4f60")
found.append(s.closed)
return found`,
		Value: `[4,2,false,"utf-8",1,2,true,false,false,false,"replace",true,true,"<stdout>","w",4,4,true,"TypeError","TypeError","UnsupportedOperation","UnsupportedOperation","TypeError",false]`,
		Logs:  []string{"fouré", "abc", "xyz", "still é 你"},
	},
	{
		Name: "a str subclass", Program: "import sys\nclass S(str):\n    def __str__(self): raise ValueError\n    def __len__(self): return 99\n    def find(self, *a): return 7\nsys.stdout.write(S('sub\\nclass\\n'))", Logs: []string{"sub", "class"},
	},
	{Name: "stdin is empty", Program: "import sys\nreturn [sys.stdin.read(), sys.stdin.readline(), list(sys.stdin), sys.stdin.isatty()]", Value: `["","",[],false]`, Logs: []string{}},
	{
		Name: "warnings, logging and threads that raise", Program: `
import logging, sys, threading, warnings
warnings.warn("careful")
logging.warning("logged %d", 1)
logging.getLogger("x").error("named")
thread = threading.Thread(target=lambda: 1 / 0, name="worker")
thread.start()
thread.join()
print("end")`,
		InLogs: []string{"program.py:3: UserWarning: careful", "WARNING:root:logged 1\nERROR:x:named\nException in thread worker", "ZeroDivisionError: division by zero\nend"},
	},
	{
		Name: "a redirected stream is the program's own", Program: `
import contextlib, io, sys
with contextlib.redirect_stdout(io.StringIO()) as out:
    print("hidden")
print("shown")
sys.stdout = io.StringIO()
print("hidden too")
sys.__stdout__.write("shown too\n")
return [out.getvalue(), sys.stdout.getvalue()]`,
		Value: `["hidden\n","hidden too\n"]`, Logs: []string{"shown", "shown too"},
	},
	{Name: "no stdout", Program: "import sys\nsys.stdout = sys.stderr = None\nprint('nothing')\nreturn await tools.echo(1)", Value: "1", Logs: []string{}},
	{
		Name: "descriptors closed or replaced", Program: `
import os
print("a")
os.close(1)
print("b")
os.close(2)
other = os.open("file", os.O_CREAT | os.O_RDWR)
os.write(other, b"in the file")
print("c")
r, w = os.pipe()
os.write(w, b"unread")
print("d")
return [other, await tools.echo("e")]`,
		Value: `[1,"e"]`, Logs: []string{"a", "b", "c", "d"},
	},
	{
		Name: "print in a signal handler and a finalizer", Program: `
import itertools, signal, sys
numbers = itertools.count()
def handler(*_):
    next(numbers)
    sys.stdout.write("signal\n")
class Dying:
    def __del__(self):
        sys.stdout.write("finalizer\n")
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
for i in range(3000):
    sys.stdout.write(f"line {i}\n")
    if i % 100 == 0:
        Dying()
signal.setitimer(signal.ITIMER_REAL, 0)
return next(numbers)`,
		Check: func(t *testing.T, result *Result) {
			signals, err := result.Value.Int64()
			if err != nil {
				t.Fatal(err)
			}
			counts := map[string]int{}
			next := 0
			for _, line := range result.Logs {
				if line == fmt.Sprintf("line %d", next) {
					next++
				} else {
					counts[line]++
				}
			}
			if next != 3000 || counts["signal"] != int(signals) || counts["finalizer"] != 30 || len(counts) > 2 || signals == 0 {
				t.Errorf("%d lines in order, %d signals, beside them %v", next, signals, counts)
			}
		},
	},

	// Threads.
	{
		Name: "threads tear no line", Program: `
import threading
def work(n):
    for i in range(150):
        print("thread", n, "line", i, "of", 150)
threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
for t in threads: t.start()
for t in threads: t.join()`,
		Check: func(t *testing.T, result *Result) {
			next := map[int]int{}
			for _, line := range result.Logs {
				var thread, number int
				if _, err := fmt.Sscanf(line, "thread %d line %d of 150", &thread, &number); err != nil || line != fmt.Sprintf("thread %d line %d of 150", thread, number) {
					t.Fatalf("a torn line: %q", line)
				}
				if number != next[thread] {
					t.Fatalf("thread %d: line %d follows line %d", thread, number, next[thread]-1)
				}
				next[thread]++
			}
			if len(result.Logs) != 900 {
				t.Errorf("%d lines, want 900", len(result.Logs))
			}
		},
	},
	{
		Name: "a line that stays open holds no other thread up for long", Program: `
import threading, time
print("open", end="")
began = time.monotonic()
def work():
    for i in range(20):
        print("line", i)
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(" rest")
return time.monotonic() - began < 10`,
		Value: "true", Check: func(t *testing.T, result *Result) {
			want := []string{"open"}
			for i := range 20 {
				want = append(want, fmt.Sprintf("line %d", i))
			}
			if want = append(want, " rest"); !slices.Equal(result.Logs, want) {
				t.Errorf("logs are %q", result.Logs)
			}
		},
	},
	{
		Name: "threads print while a value is sent", Limits: Limits{LogBytes: 8 << 20}, Program: `
import threading
stop = False
def work():
    while not stop:
        print("x" * 500)
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
for i in range(20):
    if len(await tools.echo("v" * 300 * 1024)) != 300 * 1024:
        raise ValueError(i)
return "w" * 300 * 1024`,
		Value: `"` + strings.Repeat("w", 300<<10) + `"`,
		Check: func(t *testing.T, result *Result) {
			if result.Stats.DroppedFrames != 0 {
				t.Errorf("%d frames were dropped", result.Stats.DroppedFrames)
			}
			for i, line := range result.Logs {
				if line != strings.Repeat("x", 500) && i != len(result.Logs)-1 {
					t.Fatalf("a torn line: %s", short(line))
				}
			}
		},
	},

	// How a run ends. More in log_order_test.go.
	{Name: "open text before an exit", Program: "import os\nprint('no newline yet', end='')\nos._exit(3)", Kind: WorkerExit, Message: []string{"code=3"}, Logs: []string{"no newline yet"}},
	{Name: "open text before a kill", Program: "import os\nprint('no newline yet', end='')\nos.kill(os.getpid(), 9)", Kind: WorkerExit, Logs: []string{"no newline yet"}},
	{
		Name: "open text before a timeout", Program: "print('no newline yet', end='')\nwhile True: pass", Limits: Limits{Wall: 700 * time.Millisecond}, Kind: Timeout, Logs: []string{"no newline yet"},
	},
	{Name: "a line before an error", Program: "print('before')\n1 / 0", Kind: Exception, Message: []string{"ZeroDivisionError"}, Logs: []string{"before"}},
	{Name: "open native text before an exit", Program: "import os\nos.write(2, b'diag')\nos._exit(3)", Kind: WorkerExit, Logs: []string{"diag"}},
	{
		Name: "an orphan holds the pipes", Sandbox: withProcesses, Program: `
import os, time
os.write(1, b"diag")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            time.sleep(60)
    os._exit(0)
os.wait()
os._exit(5)`,
		Kind: WorkerExit, Message: []string{"code=5"}, Logs: []string{"diag"},
	},
	{
		Name: "a daemon thread prints on", Program: "import threading\ndef work():\n    while True: print('x')\nthreading.Thread(target=work, daemon=True).start()\nreturn 1", Value: "1",
	},
	{Name: "a frame after done", Program: `
import os
os.write(3, b'{"type":"done","value":1}\n{"type":"log","text":"late"}\n')
return 2`, Value: "1", Logs: []string{}},

	// One stream full while the other isn't read.
	{
		Name: "much on either descriptor", Limits: Limits{LogBytes: 8 << 20}, Program: `
import os, sys
for first, second in ((1, 2), (2, 1)):
    for size in (1, 1000, 70000, 300000):
        for fd in (first, second):
            data = b"y" * size + b"\n"
            while data:
                data = data[os.write(fd, data):]
        print("p" * size)
        print("q" * size, file=sys.stderr)
return 1`, Value: "1",
		Check: func(t *testing.T, result *Result) {
			total := 0
			for _, line := range result.Logs {
				total += len(line)
			}
			if want := 8 * (1 + 1000 + 70000 + 300000); total != want {
				t.Errorf("%d bytes of text, want %d", total, want)
			}
		},
	},
	{
		Name: "text in UTF-8 whatever the locale", Program: `
import locale, sys
open("f", "w").write("é\u4f60")
return [open("f", "rb").read().decode("utf-8"), sys.getfilesystemencoding(), sys.flags.utf8_mode, locale.getpreferredencoding(False).lower().replace("-", "")]`,
		Value: `["é你","utf-8",1,"utf8"]`,
	},
}

// cutCases spend the budget.
var cutCases = []programCase{
	{Name: "to the byte", Limits: Limits{LogBytes: 100}, Program: "print('x' * 96)", Logs: []string{strings.Repeat("x", 96)}},
	{Name: "a byte over", Limits: Limits{LogBytes: 100}, Program: "print('x' * 97)\nreturn 1", Value: "1", Logs: []string{strings.Repeat("x", 96), marker(100)}, Check: cut(100)},
	{Name: "native, to the byte", Limits: Limits{LogBytes: 100}, Program: "import os\nos.write(1, b'x' * 96 + b'\\n')", Logs: []string{strings.Repeat("x", 96)}},
	{Name: "native, a byte over", Limits: Limits{LogBytes: 100}, Program: "import os\nos.write(1, b'x' * 97 + b'\\n')", Logs: []string{strings.Repeat("x", 96), marker(100)}, Check: cut(100)},
	{Name: "on a character's edge", Limits: Limits{LogBytes: 100}, Program: "print('😀' * 30)", Logs: []string{strings.Repeat("😀", 24), marker(100)}},
	{Name: "native, on a character's edge", Limits: Limits{LogBytes: 100}, Program: "import os\nos.write(1, '😀'.encode() * 30)", Logs: []string{strings.Repeat("😀", 24), marker(100)}},
	{Name: "in pieces", Limits: Limits{LogBytes: 100}, Program: "for _ in range(10): print('0123456789', end='')", Logs: []string{strings.Repeat("0123456789", 9) + "012345", marker(100)}},
	{Name: "blank lines", Limits: Limits{LogBytes: 100}, Program: "print('\\n' * 200)", Logs: append(make([]string, 33), marker(100)), Check: cut(100)},
	{Name: "controls", Limits: Limits{LogBytes: 100}, Program: "print('\\x01' * 20)", Logs: []string{strings.Repeat("\x01", 16), marker(100)}, Check: cut(100)},
	{Name: "bad bytes", Limits: Limits{LogBytes: 100}, Program: "import os\nos.write(1, b'\\xff' * 40)", Logs: []string{strings.Repeat("\uFFFD", 32), marker(100)}, Check: cut(100)},
	{Name: "two native lines, the first over", Limits: Limits{LogBytes: 100}, Program: "import os\nos.write(1, b'x' * 200 + b'\\nsecond\\n')\nprint('third')", Logs: []string{strings.Repeat("x", 96), marker(100)}},
	{Name: "nothing after the marker", Limits: Limits{LogBytes: 100}, Program: "import os, sys\nprint('x' * 200)\nfor _ in range(100):\n    print('more')\n    os.write(1, b'more\\n')\n    os.write(2, b'more\\n')\nreturn await tools.echo(1)", Value: "1", Logs: []string{strings.Repeat("x", 96), marker(100)}},
	{
		Name: "both ways share the budget", Limits: Limits{LogBytes: 1000}, Program: "import os\nfor i in range(100):\n    print('frame')\n    os.write(1, b'native\\n')\n    os.write(2, b'error\\n')", Check: cut(1000),
	},
	{Name: "both streams share the budget", Limits: Limits{LogBytes: 1000}, Program: "import sys\nfor i in range(200):\n    print('out')\n    print('error', file=sys.stderr)", Check: cut(1000)},
	{
		Name: "two megabytes without a newline", Limits: Limits{LogBytes: 4096}, Program: "import os\nfor _ in range(32):\n    os.write(1, b'x' * 65536)\n    os.write(2, b'y' * 65536)", Check: cut(4096),
	},
	{Name: "bad bytes, dripped", Limits: Limits{LogBytes: 4096}, Program: "import os\nfor _ in range(1500): os.write(1, b'\\xff')", Logs: []string{strings.Repeat("\uFFFD", 1364), marker(4096)}},
	{Name: "surrogates as bytes, dripped", Limits: Limits{LogBytes: 4096}, Program: "import os\nfor _ in range(500):\n    for b in (b'\\xed', b'\\xa0', b'\\x80'): os.write(1, b)", Logs: []string{strings.Repeat("\uFFFD", 1364), marker(4096)}},
	{Name: "300,000 lines", Limits: Limits{LogBytes: 200}, Program: "print('l\\n' * 300000, end='')\nreturn 1", Value: "1", Check: cut(200)},
	{Name: "100,000 unfinished pieces", Limits: Limits{LogBytes: 1 << 16}, Program: "for _ in range(100000): print('xxxxxxxxxx', end='')\nreturn 1", Value: "1", Check: cut(1 << 16)},
	{Name: "one line of 100 MiB", Limits: Limits{LogBytes: 1024, Memory: 256 << 20}, Program: "print('x' * (100 << 20))\nreturn 1", Value: "1", Check: cut(1024)},
	{Name: "340 MiB, after a character and without newline", Limits: Limits{LogBytes: 1024, Memory: 400 << 20}, Program: "print('a', end='')\nprint('x' * (340 << 20), end='')\nreturn 1", Value: "1", Check: cut(1024)},
	{Name: "a newline, then 150 MiB", Limits: Limits{LogBytes: 1024, Memory: 400 << 20}, Program: "import sys\nsys.stdout.write('\\n' + 'x' * (150 << 20))\nreturn 1", Value: "1", Check: cut(1024)},
	{Name: "the smallest budget", Limits: Limits{LogBytes: int64(len(marker(55)) + 2)}, Program: "print('x' * 100)\nreturn 1", Value: "1", Check: cut(int64(len(marker(55)) + 2))},
	{Name: "a failure beside cut logs", Limits: Limits{LogBytes: 100}, Program: "print('x' * 200)\nraise ValueError('kept whole')", Kind: Exception, Message: []string{"ValueError: kept whole"}, Check: cut(100)},
}

// forgedLogCases write frames themselves. send is a list of frames.
var forgedLogCases = []programCase{
	{
		Name: "open, empty and open, closing", Program: forged(`{"type":"log","text":"a","open":true}`, `{"type":"log","text":"","open":true}`, `{"type":"log","text":"b"}`), Logs: []string{"ab"},
	},
	{Name: "empty and open without end", Program: "import os\nfor _ in range(1000):\n    os.write(3, b'{\"type\":\"log\",\"text\":\"\",\"open\":true}\\n' * 50)\nreturn 1", Value: "1", Logs: []string{}},
	{Name: "open, then nothing", Program: forged(`{"type":"log","text":"a","open":true}`), Logs: []string{"a"}},
	{Name: "a newline within a frame's text stays", Program: forged(`{"type":"log","text":"a\nb"}`), Logs: []string{"a\nb"}},
	{
		Name: "truncated is the host's own marker, once", Limits: Limits{LogBytes: 4096},
		Program: "import os\nframe = b'{\"type\":\"log\",\"text\":\"' + b'x' * (1 << 20) + b'\",\"truncated\":true}\\n'\nfor _ in range(2):\n    rest = frame\n    while rest: rest = rest[os.write(3, rest):]\nprint('more')\nreturn 1",
		Value:   "1", Logs: []string{marker(4096)},
	},
	{Name: "truncated ends an open entry", Program: forged(`{"type":"log","text":"a","open":true}`, `{"type":"log","text":"x","truncated":true}`), Logs: []string{"a", marker(256 << 10)}},
	{
		Name:    "truncated that isn't true",
		Program: forged(`{"type":"log","text":"a","truncated":"yes"}`, `{"type":"log","text":"b","truncated":1}`, `{"type":"log","text":"c","truncated":false}`, `{"type":"log","text":"d","truncated":null}`, `{"type":"log","text":"e","truncated":[true]}`),
		Logs:    []string{"a", "b", "c", "d", "e"},
	},
	{Name: "open that isn't true", Program: forged(`{"type":"log","text":"a","open":"yes"}`, `{"type":"log","text":"b","open":1}`, `{"type":"log","text":"c","open":false}`), Logs: []string{"a", "b", "c"}},
	{
		Name: "escaped surrogates cost six", Limits: Limits{LogBytes: 4096}, Program: "import os\nos.write(3, b'{\"type\":\"log\",\"text\":\"' + b'\\\\ud800' * 1000 + b'\"}\\n')\nreturn 1", Value: "1",
		Check: func(t *testing.T, result *Result) {
			if n := len(result.Logs); n == 0 || result.Logs[n-1] != marker(4096) {
				t.Errorf("no marker in %s", short(fmt.Sprintf("%q", result.Logs)))
			}
		},
	},
	{Name: "a text that is no text", Program: forged(`{"type":"log"}`, `{"type":"log","text":42}`, `{"type":"log","text":null}`), Logs: []string{}, Check: func(t *testing.T, result *Result) {
		if result.Stats.DroppedFrames != 3 {
			t.Errorf("%d frames were dropped, want 3", result.Stats.DroppedFrames)
		}
	}},
}

// forged is a program that writes frames.
func forged(frames ...string) string {
	return fmt.Sprintf("import os\nos.write(3, %s)\nreturn", "b'''"+strings.ReplaceAll(strings.Join(frames, "\n"), `\`, `\\`)+"\n'''")
}

func TestLogs(t *testing.T)       { runCases(t, logCases) }
func TestCutLogs(t *testing.T)    { runCases(t, cutCases) }
func TestForgedLogs(t *testing.T) { runCases(t, forgedLogCases) }

// TestHostLocale has a host with another locale, and variables that would change
// the encoding of an interpreter that heeds them.
func TestHostLocale(t *testing.T) {
	for name, value := range map[string]string{"LANG": "C", "LC_ALL": "POSIX", "LC_CTYPE": "en_US.ISO-8859-1", "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0", "PYTHONLEGACYWINDOWSSTDIO": "1"} {
		t.Setenv(name, value)
	}
	rt := newRuntime(t, Config{})
	result := run1(t, rt, "import os, sys\nprint('é\\u4f60')\nos.write(1, 'é\\n'.encode())\nopen('f', 'w').write('é')\nreturn [sys.stdout.encoding, open('f', 'rb').read().decode(), 'PYTHONUTF8' in os.environ]", Limits{})
	programCase{Value: `["utf-8","é",false]`, Logs: []string{"é你", "é"}}.compare(t, result)
}

// TestSilence tells a run that printed nothing from one that never started.
func TestSilence(t *testing.T) {
	rt := newRuntime(t, Config{})
	result := run1(t, rt, "await tools.echo(1)\nawait tools.add(a=1)\ntry:\n    await tools.fail()\nexcept RuntimeError:\n    raise SystemExit(3)", Limits{})
	programCase{Kind: Exception, Logs: []string{}, Check: made(3)}.compare(t, result)
	if s := result.Stats; s.Wall <= 0 || s.StartTime <= 0 || s.Start == "" || s.LogBytes != 0 {
		t.Errorf("a run that printed nothing has %+v", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result, err := rt.Run(ctx, Request{Program: "print(1)"})
	if err != nil {
		t.Fatal(err)
	}
	programCase{Kind: Abort, Logs: []string{}, Check: made(0)}.compare(t, result)
	if s := result.Stats; s.Wall != 0 || s.Start != "" {
		t.Errorf("a run that never started has %+v", s)
	}
}

// TestOnLog looks at when lines arrive, and that a panic ends nothing but the calls.
func TestOnLog(t *testing.T) {
	rt := newRuntime(t, Config{})
	told := make(chan string, 10)
	waited := absent(func(ctx context.Context) error {
		select {
		case <-told:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	result, err := rt.Run(t.Context(), Request{
		Program:    "print('first')\nawait t.waited()\nprint('sec', end='')\nprint('ond')\nawait t.waited()\nreturn 1",
		Namespaces: []Namespace{{Global: "t", Funcs: Funcs{"waited": waited}}},
		OnLog:      func(text string) { told <- text },
	})
	if err != nil {
		t.Fatal(err)
	}
	programCase{Value: "1", Logs: []string{"first", "second"}}.compare(t, result)

	var seen []string
	result, err = rt.Run(t.Context(), Request{
		Program: "import os\nfor i in range(5): print(i)\nos.write(1, b'native\\n')\nreturn 1",
		OnLog: func(text string) {
			seen = append(seen, text)
			if text == "2" {
				panic(text)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	programCase{Value: "1", Logs: []string{"0", "1", "2", "3", "4", "native"}}.compare(t, result)
	if !slices.Equal(seen, []string{"0", "1", "2"}) {
		t.Errorf("OnLog got %q", seen)
	}
}
