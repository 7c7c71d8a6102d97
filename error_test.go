package thirdrail

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/thirdrail-dev/thirdrail/lossless"
)

// ours are words that no message may have: our own files, and paths of the host.
var ours = []string{"thirdrail", "boot.py", "/lib/python", "_run_program", "bindings.py"}

// exceptionCases are programs that fail, and what their model is told.
var exceptionCases = []programCase{
	{Name: "syntax error", Program: "def (", Kind: Exception, NotMessage: ours,
		Message: []string{`File "program.py", line 1`, "def (", "^", "SyntaxError: "}},
	{Name: "syntax error further down", Program: "x = 1\ny = [1, 2\nz = 3\n", Kind: Exception, Message: []string{`File "program.py", line `, "SyntaxError"}},
	{Name: "indentation", Program: "if 1:\nx = 2", Kind: Exception, Message: []string{`line 2`, "IndentationError"}},
	{Name: "own line and text", Program: "x = 1\ny = 2\nraise KeyError(\"k\")", Kind: Exception, NotMessage: ours,
		Message: []string{"Traceback (most recent call last):", `File "program.py", line 3, in <module>`, `raise KeyError("k")`, "KeyError: 'k'"}},
	{Name: "line with await and return", Program: "a = await tools.echo(1)\nif a:\n    1 / 0\nreturn a", Kind: Exception, NotMessage: ours,
		Message: []string{`line 3, in <module>`, "1 / 0", "ZeroDivisionError: division by zero"}},
	{Name: "in functions", Program: "def f(x):\n    return g(x)\ndef g(x):\n    return x.nope\nf(1)", Kind: Exception,
		Message: []string{"line 5, in <module>", "line 2, in f", "line 4, in g", "AttributeError: 'int' object has no attribute 'nope'"}},
	{Name: "inside the standard library", Program: "import json\njson.loads(\"{\")", Kind: Exception, NotMessage: append([]string{"decoder.py"}, ours...),
		Message: []string{"line 2, in <module>", "JSONDecodeError: Expecting property name"}},
	{Name: "call over several lines", Program: "x = dict(\n    a=1,\n    b=1 / 0,\n)\n", Kind: Exception, Message: []string{"line 3", "ZeroDivisionError"}},
	{Name: "in a lambda", Program: "f = lambda: 1 / 0\n\nf()", Kind: Exception, Message: []string{"line 3, in <module>", "line 1, in <lambda>"}},
	{Name: "in a comprehension", Program: "a = 1\nx = [1 / i for i in (1, 0)]", Kind: Exception, Message: []string{"line 2", "ZeroDivisionError"}},
	{Name: "in a decorator", Program: "def d(f):\n    raise TypeError('no')\n@d\ndef f(): pass", Kind: Exception, Message: []string{"line 2, in d", "TypeError: no"}},
	{Name: "in a formatted string", Program: "a = 0\nx = f\"{1 / a}\"", Kind: Exception, Message: []string{"line 2", "ZeroDivisionError"}},
	{Name: "chain", Program: "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('v') from e", Kind: Exception,
		Message: []string{"KeyError: 'a'", "The above exception was the direct cause of the following exception:", "ValueError: v"}},
	{Name: "context", Program: "try:\n    {}['a']\nexcept KeyError:\n    raise ValueError('v')", Kind: Exception,
		Message: []string{"KeyError: 'a'", "During handling of the above exception, another exception occurred:", "ValueError: v"}},
	{Name: "context suppressed", Program: "try:\n    {}['a']\nexcept KeyError:\n    raise ValueError('v') from None", Kind: Exception,
		Message: []string{"ValueError: v"}, NotMessage: []string{"KeyError"}},
	{Name: "notes", Since: 11, Program: "e = ValueError('v')\ne.add_note('look here')\nraise e", Kind: Exception, Message: []string{"ValueError: v\nlook here"}},
	{Name: "group", Since: 11, Program: "raise ExceptionGroup('many', [ValueError('a'), KeyError('b')])", Kind: Exception,
		Message: []string{"ExceptionGroup: many (2 sub-exceptions)", "ValueError: a", "KeyError: 'b'"}},
	{Name: "group of base exceptions", Since: 11, Program: "raise BaseExceptionGroup('many', [KeyboardInterrupt(), SystemExit(2)])", Kind: Exception,
		Message: []string{"BaseExceptionGroup: many", "KeyboardInterrupt", "SystemExit: 2"}},
	{Name: "sys.exit with a code", Program: "import sys\nsys.exit(3)", Kind: Exception, Message: []string{"SystemExit: 3"}},
	{Name: "sys.exit with a text", Program: "import sys\nsys.exit('text')", Kind: Exception, Message: []string{"SystemExit: text"}},
	{Name: "sys.exit", Program: "import sys\nprint('a')\nsys.exit()", Value: "absent", Logs: []string{"a"}},
	{Name: "exit zero", Program: "exit(0)", Value: "absent"},
	{Name: "raise SystemExit(0)", Program: "raise SystemExit(0)", Value: "absent"},
	{Name: "keyboard interrupt", Program: "raise KeyboardInterrupt", Kind: Exception, Message: []string{"KeyboardInterrupt"}},
	{Name: "cancelled", Program: "import asyncio\nawait asyncio.sleep(0)\nraise asyncio.CancelledError", Kind: Exception, Message: []string{"CancelledError"}},
	{Name: "cancelled without a loop", Program: "import asyncio\nraise asyncio.CancelledError", Kind: Exception, Message: []string{"CancelledError"}},
	{Name: "input", Program: "input()", Kind: Exception, Message: []string{"EOFError"}},
	{Name: "getpass", Program: "import getpass\ngetpass.getpass()", Kind: Exception, Message: []string{"EOFError"}},
	{Name: "asyncio.run at a top level without await", Program: "import asyncio\nasync def main():\n    return await tools.echo(4)\nreturn asyncio.run(main())", Value: "4"},
	{Name: "asyncio.run beside await", Program: "import asyncio\nasync def main(): pass\nawait asyncio.sleep(0)\nasyncio.run(main())", Kind: Exception,
		Message: []string{"RuntimeError", "await main()"}},
	{Name: "yield at the top", Program: "yield 1", Kind: Exception, Message: []string{"SyntaxError", "'yield' outside function"}},
	{Name: "await in a plain function", Program: "def f():\n    await tools.echo(1)", Kind: Exception, Message: []string{"SyntaxError", "line 2"}},
	{Name: "memory", Program: "bytearray(10**10)", Limits: Limits{Memory: 512 << 20}, Kind: Exception, Message: []string{"MemoryError"}},
	{Name: "memory, caught", Program: "try:\n    bytearray(10**10)\nexcept MemoryError:\n    return 'told'", Limits: Limits{Memory: 512 << 20}, Value: `"told"`},
	{Name: "recursion", Program: "def f(): return f()\nf()", Kind: Exception, Message: []string{"RecursionError", "Previous line repeated"}},
	{Name: "deep source", Program: "return " + strings.Repeat("(", 5000), Kind: Exception},
	{Name: "NUL in the source", Program: "x = 1\x00", Kind: Exception, Message: []string{"SyntaxError"}},
	{Name: "forgotten await, attribute", Program: "x = tools.echo({})\nx.get('a')", Kind: Exception, Message: []string{"AttributeError", "await"}},
	{Name: "forgotten await, subscript", Program: "x = tools.echo({})\nx['a']", Kind: Exception, Message: []string{"TypeError", "await"}},
	{Name: "lone surrogate", Program: "raise Exception(\"bad \\ud800 end\")", Kind: Exception, Message: []string{"Exception: bad \uFFFD end"}},
	{Name: "exec in the program", Program: "exec('def f():\\n    1 / 0')\nf()", Kind: Exception, Message: []string{"line 2, in <module>", "ZeroDivisionError"}},
	{Name: "a caught exception is no failure", Program: "try:\n    1 / 0\nexcept ZeroDivisionError:\n    pass\nreturn 'fine'", Value: `"fine"`},
	{Name: "assertion", Program: "assert 1 == 2, 'numbers'", Kind: Exception, Message: []string{"AssertionError: numbers"}},
}

func TestExceptions(t *testing.T) { runCases(t, exceptionCases) }

// oddExceptionCases are exceptions that are hard to render.
var oddExceptionCases = []programCase{
	{Name: "long chain", Program: "e = None\nfor i in range(3000):\n    n = ValueError(i)\n    n.__cause__ = e\n    e = n\nraise e", Kind: Exception,
		Message: []string{"ValueError: 2999"}, Check: bounded},
	{Name: "deep groups", Since: 11, Program: "e = ValueError('inner')\nfor i in range(150):\n    e = ExceptionGroup(str(i), [e])\nraise e", Kind: Exception,
		Message: []string{"ExceptionGroup: 149"}, Check: bounded},
	{Name: "no setattr", Program: "class E(Exception):\n    def __setattr__(self, n, v): raise RuntimeError('no')\ntry:\n    raise E('a')\nexcept E as e:\n    raise E('b') from e", Kind: Exception,
		Message: []string{"E: a", "E: b"}},
	{Name: "str and repr raise", Program: "class Odd(Exception):\n    def __str__(self): raise ValueError('inner')\n    __repr__ = __str__\nraise Odd()", Kind: Exception,
		Message: []string{"Odd"}, NotMessage: []string{"inner", "failure.py"}},
	{Name: "str is no text", Program: "class Odd(Exception):\n    def __str__(self): return 5\nraise Odd()", Kind: Exception, Message: []string{"Odd"}},
	{Name: "str is huge", Program: "class Odd(Exception):\n    def __str__(self): return 'x' * 8_000_000 + 'end'\nraise Odd()", Kind: Exception, Message: []string{"Odd", "end"}, Check: bounded},
	{Name: "repr prints", Program: "class Odd(Exception):\n    def __repr__(self):\n        print('printed')\n        return 'r'\nraise Odd(1)", Kind: Exception, Message: []string{"Odd: 1"}},
	{Name: "huge class name", Program: "raise type('Q' * 70_000_000, (Exception,), {})('x')", Kind: Exception, Check: bounded},
	{Name: "control characters", Program: "raise Exception('\\x01' * 100_000)", Kind: Exception, Check: bounded},
	{Name: "huge traceback text", Program: "raise Exception('start' + 'y' * 8_000_000 + 'stop')", Kind: Exception, Message: []string{"start", "stop", "cut"}, Check: bounded},
	{Name: "small value limit", Program: "raise Exception('z' * 5000)", Limits: Limits{ValueBytes: 16}, Kind: Exception, Message: []string{strings.Repeat("z", 5000)}},
	{Name: "hostile metaclass", Program: "class M(type):\n    def __getattribute__(c, n): raise OSError('meta')\nclass Odd(Exception, metaclass=M): pass\nraise Odd('x')", Kind: Exception,
		Message: []string{"Odd"}, NotMessage: []string{"OSError"}},
}

func TestOddExceptions(t *testing.T) { runCases(t, oddExceptionCases) }

func bounded(t *testing.T, result *Result) {
	t.Helper()
	message := result.Failure.Message
	if _, ok := lossless.StringSize(message, maxMessageBytes); !ok || !utf8.ValidString(message) {
		t.Errorf("a message of %d bytes: %q", len(message), short(message))
	}
}

// exitCases are programs whose process ends before they do.
var exitCases = []programCase{
	{Name: "os._exit", Program: "import os\nprint('before')\nos._exit(7)", Kind: WorkerExit, Message: []string{"code=7"}, Logs: []string{"before"}},
	{Name: "os._exit(0)", Program: "import os\nos._exit(0)", Kind: WorkerExit, Message: []string{"code=0"}},
	{Name: "SIGKILL", Program: "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", Kind: WorkerExit, Message: []string{"SIGKILL"}, NotMessage: []string{"CPU"}},
	{Name: "SIGTERM", Program: "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)", Kind: WorkerExit, Message: []string{"SIGTERM"}},
	{Name: "segfault", Program: "import ctypes\nctypes.string_at(0)", Kind: WorkerExit, Message: []string{"SIGSEGV"}},
	{Name: "abort", Program: "import os\nos.abort()", Kind: WorkerExit, Message: []string{"SIGABRT"}},
	{Name: "descriptor 3 closed", Program: "import os\nprint('a')\nos.close(3)\nreturn 1", Kind: WorkerExit, Message: []string{"file descriptor 3"}, Logs: []string{"a"}},
	{Name: "descriptor 3 closed, goes on", Program: "import os, time\nos.close(3)\ntime.sleep(100)", Limits: Limits{Wall: 20 * time.Second}, Kind: WorkerExit, Message: []string{"file descriptor 3"}},
}

func TestExits(t *testing.T) { runCases(t, exitCases) }
