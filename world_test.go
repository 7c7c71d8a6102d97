package thirdrail

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// moduleCases are ordinary programs: the language as a module has it, beside a
// top level that may await and return.
var moduleCases = []programCase{
	{Name: "main guard", Program: "if __name__ == \"__main__\":\n    return 'ran'\n", Value: `"ran"`},
	{Name: "main function", Program: "import asyncio\nasync def main():\n    await asyncio.sleep(0)\n    print('x')\nif __name__ == '__main__':\n    asyncio.run(main())", Value: "absent", Logs: []string{"x"}},
	{Name: "global counter", Program: "n = 0\ndef inc():\n    global n\n    n += 1\ninc(); inc()\nreturn n", Value: "2"},
	{Name: "global at the top", Program: "global a\na = 3\nreturn a", Value: "3"},
	{Name: "functions see later names", Program: "def f(): return later\nlater = 5\nreturn f()", Value: "5"},
	{Name: "recursion", Program: "def fib(n): return n if n < 2 else fib(n-1) + fib(n-2)\nreturn fib(15)", Value: "610"},
	{Name: "closures", Program: "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x += 1\n        return x\n    return g\ng = f()\ng()\nreturn g()", Value: "3"},
	{Name: "comprehension sees globals", Program: "k = 3\nreturn [i * k for i in range(3)]", Value: "[0,3,6]"},
	{Name: "class body comprehension", Program: "class A:\n    n = 2\n    xs = [i for i in range(n)]\nreturn A.xs", Value: "[0,1]"},
	{Name: "walrus in a comprehension", Program: "xs = [y := i for i in range(3)]\nreturn y", Value: "2"},
	{Name: "star import", Program: "from math import *\nreturn floor(pi)", Value: "3"},
	{Name: "star import beside await", Program: "from math import *\nx = await tools.echo(2)\nreturn floor(pi) + x", Value: "5"},
	{Name: "future import", Program: "'''doc'''\n# comment\nfrom __future__ import annotations\ndef f(x: nope): pass\nreturn [f.__annotations__['x'], __doc__]", Value: `["nope","doc"]`},
	{Name: "no future flag of ours", Program: "def f(n: int): ...\nreturn f.__annotations__['n'].__name__", Value: `"int"`},
	{Name: "module annotations", Program: "x: int = 3\ny: str\nreturn sorted(__annotations__)", Value: `["x","y"]`},
	{Name: "dataclass", Program: "from dataclasses import dataclass, asdict\n@dataclass\nclass P:\n    x: int\n    y: int = 2\nreturn asdict(P(1))", Value: `{"x":1,"y":2}`},
	{Name: "type hints", Program: "import typing\nclass A:\n    b: 'B'\nclass B: pass\nreturn typing.get_type_hints(A)['b'] is B", Value: "true"},
	{Name: "enum and named tuple", Program: "from enum import Enum\nfrom typing import NamedTuple\nclass C(Enum):\n    A = 1\nclass P(NamedTuple):\n    x: int\nreturn [C.A.name, list(P(4))]", Value: `["A",[4]]`},
	{Name: "pickle own class", Program: "import pickle\nclass A:\n    def __init__(self): self.x = 1\nreturn pickle.loads(pickle.dumps(A())).x", Value: "1"},
	{Name: "inspect", Program: "import inspect\ndef f():\n    return 1\nreturn inspect.getsource(f)", Value: `"def f():\n    return 1\n"`},
	{Name: "traceback by the program", Program: "import traceback\ntry:\n    1 / 0\nexcept Exception:\n    t = traceback.format_exc()\nreturn ['program.py' in t, 'line 3' in t, '1 / 0' in t, 'thirdrail' in t]", Value: "[true,true,true,false]"},
	{Name: "doctest", Program: "import doctest\ndef f(x):\n    '''\n    >>> f(2)\n    3\n    '''\n    return x + 1\nr = doctest.testmod()\nreturn [r.failed, r.attempted]", Value: "[0,1]"},
	{Name: "generators", Program: "def g():\n    yield 1\n    yield from [2, 3]\nreturn list(g())", Value: "[1,2,3]"},
	{Name: "async generator", Program: "async def g():\n    for i in range(3):\n        yield await tools.echo(i)\nreturn [x async for x in g()]", Value: "[0,1,2]"},
	{Name: "async with", Program: "class C:\n    async def __aenter__(self): return 7\n    async def __aexit__(self, *a): pass\nasync with C() as c:\n    return c", Value: "7"},
	{Name: "context manager and finally", Program: "from contextlib import contextmanager\n@contextmanager\ndef c():\n    print('in')\n    try:\n        yield 1\n    finally:\n        print('out')\nwith c() as x:\n    return x", Value: "1", Logs: []string{"in", "out"}},
	{Name: "return in a loop", Program: "for i in range(10):\n    if i == 3:\n        return i", Value: "3"},
	{Name: "match", Since: 10, Program: "match {'a': 1}:\n    case {'a': x}:\n        return x", Value: "1"},
	{Name: "except star", Since: 11, Program: "try:\n    raise ExceptionGroup('g', [ValueError(1)])\nexcept* ValueError as e:\n    n = len(e.exceptions)\nreturn n", Value: "1"},
	{Name: "generics", Since: 12, Program: "def first[T](xs: list[T]) -> T:\n    return xs[0]\ntype L = list[int]\nreturn first([5])", Value: "5"},
	{Name: "locals are globals", Program: "x = 1\nreturn locals() is globals() and 'x' in globals()", Value: "true"},
	{Name: "exec and eval", Program: "exec('y = 4')\nreturn eval('y + 1')", Value: "5"},
	{Name: "del", Program: "x = 1\ndel x\nreturn 'x' in globals()", Value: "false"},
	{Name: "shadowed builtins", Program: "def print(*a): return 'mine'\nlist = tuple\nreturn print('x')", Value: `"mine"`, Logs: []string{}},
	{Name: "file and name", Program: "return [__file__, __name__]", Value: `["program.py","__main__"]`},
	{Name: "main module", Program: "import sys\nx = 1\nreturn sys.modules['__main__'].x", Value: "1"},
	{Name: "argv", Program: "import sys\nreturn sys.argv", Value: `["program.py"]`},
	{Name: "threads", Program: "import threading\nout = []\nts = [threading.Thread(target=out.append, args=(i,)) for i in range(8)]\nfor t in ts: t.start()\nfor t in ts: t.join()\nreturn sorted(out)", Value: "[0,1,2,3,4,5,6,7]"},
	{Name: "thread pool", Program: "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as p:\n    return list(p.map(lambda x: x * x, range(5)))", Value: "[0,1,4,9,16]"},
	{Name: "CRLF", Program: "x = 1\r\nif x:\r\n    return 'crlf'\r\n", Value: `"crlf"`},
	{Name: "BOM", Program: "\ufeffreturn 1", Value: "1"},
	{Name: "coding cookie", Program: "# -*- coding: latin-1 -*-\nreturn 'é'", Value: `"é"`},
	{Name: "identifiers and literals beyond ASCII", Program: "größe = '数😀'\nreturn größe", Value: `"数😀"`},
	{Name: "a long line", Program: "x = '" + strings.Repeat("a", 1<<20) + "'\nreturn len(x)", Value: "1048576"},
	{Name: "one MiB of lines", Program: strings.Repeat("x = 1\n", 175_000) + "return x", Value: "1"},
	{Name: "smoke of imports", Program: "import json, base64, random, uuid, hashlib, ssl, sqlite3, zoneinfo, decimal, csv, statistics, concurrent.futures, multiprocessing, tempfile, socket, ctypes, zlib, lzma, bz2, xml.etree.ElementTree, unicodedata, secrets, asyncio\nreturn True", Value: "true"},
	{Name: "data", Program: "return data['rows'][0]", Data: `{"rows":[9007199254740993]}`, Value: "9007199254740993"},
	{Name: "no data", Program: "return 'data' in globals()", Value: "false"},
}

func TestModules(t *testing.T) { runCases(t, moduleCases) }

// sabotageCases are honest programs that change what they can reach. Their calls,
// logs and value go on.
var sabotageCases = []programCase{
	{Name: "builtins", Program: "import builtins\nput = setattr\nfor n in ('len', 'isinstance', 'type', 'dict', 'str', 'print', 'Exception', 'setattr', 'getattr', 'open'):\n    put(builtins, n, None)\nx = await tools.echo([1])\nreturn x", Value: "[1]"},
	{Name: "builtins, and an error class", Program: "import builtins\nbuiltins.Exception = builtins.setattr = None\ntry:\n    await db.page()\nexcept DBError as e:\n    return [str(e), e.operation]", Value: `["nope","page"]`},
	{Name: "json", Program: "import json\njson.dumps = json.loads = None\nimport sys\nsys.modules['json'] = sys.modules['_json'] = None\nreturn await tools.echo({'a': 1})", Value: `{"a":1}`},
	{Name: "os and select", Program: "import os, posix, select\nos.read = os.write = posix.read = posix.write = select.poll = None\nprint('still')\nreturn await tools.echo(1)", Value: "1", Logs: []string{"still"}},
	{Name: "asyncio.gather", Program: "import asyncio\nasyncio.gather = None\nasyncio.sleep = None\nreturn await tools.echo(1)", Value: "1"},
	{Name: "stdout is None", Program: "import sys\nsys.stdout = sys.stderr = None\nprint('gone')\nreturn 1", Value: "1", Logs: []string{}},
	{Name: "stdout is a buffer", Program: "import sys, io\nsys.stdout = io.StringIO()\nprint('gone')\nreturn 1", Value: "1", Logs: []string{}},
	{Name: "main module removed", Program: "import sys\ndel sys.modules['__main__']\nprint('a')\nreturn await tools.echo(2)", Value: "2", Logs: []string{"a"}},
	{Name: "modules cleared", Program: "import sys\nsys.modules.clear()\nreturn await tools.echo(2)", Value: "2"},
	{Name: "recursion limit", Program: "import sys\nsys.setrecursionlimit(60)\nreturn await tools.echo({'a': [1, {'b': 2}]})", Value: `{"a":[1,{"b":2}]}`},
	{Name: "decimal context", Program: "import decimal\nc = decimal.getcontext()\nc.prec = 2\nc.traps[decimal.Inexact] = True\nreturn [1.2345678901234567, 10**50]", Value: "[1.2345678901234567,100000000000000000000000000000000000000000000000000]"},
	{Name: "a tool's name", Program: "keep = tools\ntools = 5\nreturn await keep.echo(tools)", Value: "5"},
	{Name: "gc off and thresholds", Program: "import gc\ngc.disable()\nreturn await tools.echo(1)", Value: "1"},
	{Name: "import hooks", Program: "import sys\nsys.meta_path.clear()\nsys.path.clear()\nprint('x')\nreturn await tools.echo(1)", Value: "1", Logs: []string{"x"}},
	{Name: "surrogates without codecs to import", Program: "import sys\nsys.meta_path.clear()\nsys.path.clear()\nprint('a\\ud800b')\nreturn [await tools.echo('\\ud800'), '\\ud83d\\ude00']", Value: `["\ud800","😀"]`, Logs: []string{"a\uFFFDb"}},
	{Name: "exceptions after sabotage", Program: "import builtins, sys\nbuiltins.len = builtins.str = builtins.type = None\nsys.modules.clear()\nraise ValueError('v')", Kind: Exception, Message: []string{"line 4", "ValueError: v"}},
	{Name: "our module isn't importable", Program: "try:\n    import thirdrail_child\nexcept ImportError:\n    return 'absent'", Value: `"absent"`},
}

func TestSabotage(t *testing.T) { runCases(t, sabotageCases) }

// TestRunsAreStrangers has one run change what it can, and the next look for it.
func TestRunsAreStrangers(t *testing.T) {
	runCases(t, []programCase{
		{Name: "leave", Program: "import builtins, json, os, sys\nbuiltins.mark = json.mark = sys.mark = 1\nos.environ['MARK'] = '1'\nopen('mark', 'w').write('1')\nreturn 1", Value: "1"},
		{Name: "look", Program: "import builtins, json, os, sys\nreturn [hasattr(builtins, 'mark'), hasattr(json, 'mark'), hasattr(sys, 'mark'), 'MARK' in os.environ, os.path.exists('mark')]",
			Value: "[false,false,false,false,false]"},
	})
}

// environment is what a program has of variables, and nothing else.
var environment = []string{
	"HOME", "LANG", "MALLOC_ARENA_MAX", "MKL_NUM_THREADS", "MPLBACKEND", "NUMEXPR_NUM_THREADS",
	"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PATH", "TMPDIR", "TZ", "VECLIB_MAXIMUM_THREADS",
}

func TestWorld(t *testing.T) {
	t.Setenv("THIRDRAIL_TEST_SECRET", "secret")
	t.Setenv("PYTHONPATH", "/nowhere")
	t.Setenv("LC_ALL", "C")
	for _, python := range []string{"", "/usr/bin/python3"} {
		if _, err := os.Stat(python); python != "" && err != nil {
			continue
		}
		rt := newRuntime(t, Config{Python: python, Sandbox: Sandbox{Mode: SandboxOff}})
		result := run1(t, rt, `import os, sys, time, datetime, locale
names = sorted(os.environ)
home = os.environ["HOME"]
open("out.csv", "w").write("é")
return {
    "names": [n for n in names if n != "LC_CTYPE"],
    "home": home == os.getcwd() and os.access(home, os.W_OK),
    "tmp": os.environ["TMPDIR"].startswith(home),
    "fds": sorted(int(f) for f in os.listdir("/proc/self/fd"))[:5],
    "stdin": sys.stdin.read(),
    "utf8": [sys.flags.utf8_mode, sys.getfilesystemencoding(), open("out.csv").read()],
    "zone": [time.tzname[0], str(datetime.datetime.now().astimezone().tzinfo)],
    "isolated": sys.flags.isolated,
    "path": [p for p in sys.path if "nowhere" in p],
}`, Limits{})
		if result.Failure != nil {
			t.Fatal(result.Err())
		}
		var got struct {
			Names     []string
			Home, Tmp bool
			Fds       []int
			Stdin     string
			Zone      []string
			Isolated  int
			Path      []string
			Utf8      []any
		}
		if err := json.Unmarshal(result.Value.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Names, environment) {
			t.Errorf("variables %q, want %q", got.Names, environment)
		}
		// Listing the folder takes a descriptor of its own.
		if !slices.Equal(got.Fds, []int{0, 1, 2, 3, 4}) {
			t.Errorf("descriptors %v, want 0 to 3 and the one that looks", got.Fds)
		}
		if !got.Home || !got.Tmp || got.Stdin != "" || got.Isolated != 1 || len(got.Path) > 0 {
			t.Errorf("the world is %+v", got)
		}
		if !slices.Equal(got.Zone, []string{"UTC", "UTC"}) || got.Utf8[2] != "é" || got.Utf8[1] != "utf-8" {
			t.Errorf("zone %q, encoding %v", got.Zone, got.Utf8)
		}
	}
}
