"""Tests of what a failed program is told to write instead.

Run with any Python from 3.9 on: python3 -m unittest test_hints
"""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import socket
import sys
import tempfile
import time
import unittest
import warnings
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple
from unittest import mock

sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent)]

from test_failure import failed  # noqa: E402
from thirdrail_child import hints_imports, hints_refused, hints_size, refusals  # noqa: E402
from thirdrail_child.codec import DOUBLE, EXACT, OverBudget, encode  # noqa: E402
from thirdrail_child.hints import hint_for  # noqa: E402
from thirdrail_child.hints_closest import closest  # noqa: E402
from thirdrail_child.surroundings import Surroundings  # noqa: E402

NAMESPACES: List[Any] = [
    {"global": "tools", "names": ["echo", "get_page", "my-tool"]},
    {"global": "web", "names": ["search", "fetch_all_pages"]},
    {"global": "empty", "names": []},
]
CONFINED = Surroundings({}, NAMESPACES)


def setUpModule() -> None:
    warnings.simplefilter("ignore")


def hint(source: str, surroundings: Optional[Surroundings] = CONFINED) -> str:
    """Return the help for a program that fails, "" if there is none."""
    with contextlib.redirect_stdout(io.StringIO()):
        error, program = failed(source)
    return hint_for(error, str(error), program, surroundings) or ""


# A program that fails, and parts of what it is told.
NAMES: List[Tuple[str, Tuple[str, ...]]] = [
    ("await search(q=1)", ("`await web.search(…)`",)),
    ("search", ("`await web.search(…)`",)),
    ("await functions.echo(1)", ("`await tools.echo(…)`",)),
    ("await tool.echo(1)", ("`await tools.echo(…)`",)),
    ("x = tool", ("perhaps `tools` is meant",)),
    ("await wbe.find(1)", ("perhaps `web` is meant",)),
    ("await getPage(1)", ("perhaps `tools.get_page` is meant",)),
    ("await zeta.nothing(1)", ("starts fresh", "the namespaces are tools, web, empty")),
    ("await mail.send(1)", ("starts fresh", "the namespaces are tools, web, empty")),
    ("total = 1\nreturn totl", ("perhaps `total` is meant",)),
    ("return lne([1])", ("perhaps `len` is meant",)),
    ("return df.head()", ("each run starts fresh", "define it in this program")),
    ("return np.zeros(3)", ("`import numpy as np`",)),
    ("return Counter('a')", ("`from collections import Counter`",)),
    ("return sleep(1)", ("`from time import sleep`",)),
    ("return json.dumps(1)", ("`import json`",)),
    ("return jsno.dumps(1)", ("`import json`",)),
    ("x = true", ("`True`",)),
    ("return [null]", ("`None`",)),
    ("console.log(1)", ("`print(…)`",)),
    ("f()\ndef f(): pass", ("in another place of the program",)),
    ("x = rows\nfor rows in [1]: pass", ("in another place of the program",)),
    ("import math\nmath.sqr(2)", ("`math.sqrt`",)),
    ("import datetime\ndatetime.now()", ("`datetime.datetime.now`", "from datetime import datetime")),
    ("from collections import OrderDict", ("`OrderedDict`",)),
    ("from datetime import now", ("`from datetime import datetime`", "`datetime.now`")),
]

MODULES: List[Tuple[str, Tuple[str, ...]]] = [
    ("import tools", ("no module", "without an import", "`await tools.echo(…)`")),
    ("from web import search", ("without an import", "`await web.fetch_all_pages(…)`")),
    ("import empty", ("without an import",)),
    ("import toolz", ("perhaps `tools` is meant, which is there without an import",)),
    ("import jsn", ("perhaps `json` is meant",)),
    ("import os.pth", ("perhaps `os.path` is meant",)),
    ("import xml.etree\nimport xml.etree.ElementTre", ("`xml.etree.ElementTree`",)),
    ("import no_such_module_at_all", ("is not installed and can't be", "use the standard library")),
    ("import tweepy", ("tweepy is not installed and can't be", "no network", "use a function of tools or web instead")),
    ("import nest_asyncio", ("leave it out", "`await`")),
]

AWAITS: List[Tuple[str, Tuple[str, ...]]] = [
    (f"async def t(): return [1]\n{use}", parts)
    for use, parts in (
        ("return await t()[0]", ("in parentheses", "(await f(…))[…]")),
        ("return await t().get(1)", ("in parentheses",)),
        ("return t()[0]", ("`await` is missing",)),
        ("return await [t()]", ("`await asyncio.gather(*calls)`",)),
        ("import asyncio\nasync def m():\n    return asyncio.ensure_future(t())[0]\nasyncio.run(m())", ("`await` is missing",)),
        ("import asyncio\nasync def m():\n    return 1 + asyncio.ensure_future(t())\nasyncio.run(m())", ("`await` is missing",)),
        ("import asyncio\nasync def m():\n    return asyncio.gather(t())[0]\nasyncio.run(m())", ("`await` is missing",)),
        ("import asyncio\nasync def m():\n    for x in asyncio.gather(t()): pass\nasyncio.run(m())", ("`await` is missing",)),
        ("import asyncio\nasync def m():\n    await asyncio.gather([t()])\nasyncio.run(m())", ("`await asyncio.gather(*calls)`",)),
        ("import asyncio\nasyncio.create_task(t())", ("`await` at the top level",)),
        ("async def g():\n    yield 1\nfor x in g(): pass", ("`async for item in f():`",)),
        ("async def g():\n    yield 1\nx = await g()", ("`async for item in f():`",)),
    )
]

OTHERS: List[Tuple[str, Tuple[str, ...]]] = [
    ("raise EOFError('EOF when reading a line')", ("nobody can answer", "a function of tools or web")),
    ("raise EOFError", ("nobody can answer",)),
    ("import bdb\nraise bdb.BdbQuit", ("leave out the breakpoint", "`print`")),
    ("raise MemoryError", ("memory", "in parts")),
    ("def f(): return f()\nf()", ("a loop",)),
    ("raise RuntimeError(\"can't start new thread\")", ("fewer", "max_workers", "asyncio")),
    ("!pip install x", ("not Python", "leave it out")),
    ("%matplotlib inline", ("not Python",)),
    ("pip install requests", ("Nothing can be installed",)),
    ("```python\nreturn 1\n```", ("leave out the lines with ```",)),
]

NOTHING: List[str] = [
    "raise NameError",
    "raise NameError('x')",
    "raise NameError(\"name 'a b' is not defined\")",
    "class N(NameError): pass\nraise N(\"name 'true' is not defined\")",
    "raise ModuleNotFoundError",
    "raise ImportError('cannot import name')",
    "raise AttributeError('tools has no function')",
    "raise KeyError('x')",
    "raise EOFError('of my own')",
    "raise OSError",
    "raise OSError(5)",
    "raise OSError(22, 'x', 'y')",
    "raise ValueError(\"'coroutine' object\")",
    "x = 5\nx()",
    "x = (1,",
]


class Told(unittest.TestCase):
    """Each mistake is told what to write."""

    def check(self, cases: List[Tuple[str, Tuple[str, ...]]]) -> None:
        for source, parts in cases:
            with self.subTest(source):
                text = hint(source)
                for part in parts:
                    self.assertIn(part, text)
                self.assertLess(len(text), 300)

    def test_names(self) -> None:
        self.check(NAMES)

    def test_modules(self) -> None:
        self.check(MODULES)

    def test_awaits(self) -> None:
        self.check(AWAITS)

    def test_others(self) -> None:
        self.check(OTHERS)

    def test_nothing(self) -> None:
        for source in NOTHING:
            with self.subTest(source):
                self.assertEqual(hint(source), "")

    def test_without_surroundings(self) -> None:
        for source, _ in NAMES + MODULES + AWAITS + OTHERS:
            with self.subTest(source):
                error, program = failed(source)
                text = hint_for(error, str(error), program, None) or ""
                self.assertNotIn("tools.", text)
                hint_for(error, str(error), None, None)

    def test_functions(self) -> None:
        for message, expected in (
            ("tools has no function 'eco'; it has: echo, get_page, 'my-tool'", "perhaps `tools.echo` is meant"),
            ("tools has no function 'my_tool'; it has: echo, get_page, 'my-tool'", "perhaps `tools['my-tool']` is meant"),
            ("web has no function 'allPagesFetch'; it has: search", "perhaps `web.fetch_all_pages` is meant"),
            ("web has no function 'echo'; it has: search", "echo is a function of a namespace: write `await tools.echo(…)`"),
            ("web has no function 'zzzzzz'; it has: search", None),
        ):
            with self.subTest(message):
                self.assertEqual(hint_for(AttributeError(message), message, None, CONFINED), expected)
                self.assertEqual(hint_for(KeyError(message), str(KeyError(message)), None, CONFINED), expected)

    def test_namespace_called(self) -> None:
        message = "'tools' object is not callable"
        self.assertIn("`await tools.echo(…)`", hint_for(TypeError(message), message, None, CONFINED) or "")
        message = "'empty' object is not callable"
        self.assertIsNone(hint_for(TypeError(message), message, None, CONFINED))

    def test_installed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            site = os.path.join(folder, "site-packages")
            os.mkdir(site)
            for name in ("numpy", "pandas", "frobnicate", "pip", "numpy-1.dist-info", "_hidden"):
                os.mkdir(os.path.join(site, name))
            with mock.patch.object(sys, "path", [site, *sys.path[-3:]]):
                with mock.patch.object(hints_imports, "_FOLDERS", 1):
                    self.assertIn("use the standard library or numpy, pandas, frobnicate", hint("import nothing_like_it"))
                    self.assertIn("perhaps `frobnicate` is meant", hint("import frobnicat"))


class Closest(unittest.TestCase):
    """Names are found by slips, by their words, and only then by a part of them."""

    def test_closest(self) -> None:
        for name, candidates, expected in (
            ("eco", ["echo", "exit"], ["echo"]),
            ("serach", ["search", "reach"], ["search"]),
            ("getPage", ["get_page", "get_pages_all"], ["get_page"]),
            ("get-page", ["get_page"], ["get_page"]),
            ("page_get", ["get_page"], ["get_page"]),
            ("search", ["web_search", "web_fetch"], ["web_search"]),
            ("x", ["search"], []),
            ("", ["a"], []),
            ("same", ["same"], []),
            ("q" * 100, ["q" * 100 + "r"], []),
            ("abc", ["abd", "abe", "abf", "abg"], ["abd", "abe", "abf"]),
            ("HTTPServer", ["http_server"], ["http_server"]),
        ):
            with self.subTest(name):
                self.assertEqual(closest(name, candidates), expected)

    def test_many(self) -> None:
        start = time.process_time()
        closest("a_long_name_of_something", [f"another_name_of_thing_{number}" for number in range(50_000)])
        self.assertLess(time.process_time() - start, 10)


def os_failure(kind: type, code: int, path: Optional[str] = None, source: str = "raise error") -> Tuple[BaseException, Any]:
    """Return an error that a line of a program raised."""
    error = kind(code, os.strerror(code), path) if path else kind(code, os.strerror(code))
    holder: Dict[str, Any] = {"error": error}
    with mock.patch.dict(sys.modules, {"holder": mock.Mock(**holder)}):
        raised, program = failed(f"from holder import error\n{source}")
    return raised, program


OPEN = Surroundings({"processes": True, "network": True}, NAMESPACES)
ALONE = Surroundings({})
WITH_DATA = Surroundings({}, NAMESPACES, True)
FREE = Surroundings(None, NAMESPACES)

# The number, the path, the program's line, and what is told.
REFUSED: List[Tuple[int, Optional[str], str, str]] = [
    (errno.EPERM, None, "raise error  # os.fork()", "use threads (concurrent.futures.ThreadPoolExecutor) or asyncio, or a function of tools or web"),
    (errno.EPERM, None, "raise error  # os.execvp('a')", "use Python's own modules"),
    (errno.EPERM, None, "raise error  # os.system('a')", "no other program can be started"),
    (errno.EPERM, None, "raise error  # socket.socket()", "there is no network here: use a function of tools or web instead"),
    (errno.ENETUNREACH, None, "raise error  # sock.connect()", "there is no network here"),
    (errno.EPERM, None, "raise error", "may not do this"),
    (errno.EACCES, "/etc/shadow", "raise error", "sees only its own folder"),
    (errno.ENOENT, "/home/user/data.csv", "raise error", "get its content from a function of tools or web"),
    (errno.ENOENT, "data.csv", "raise error", "new and empty folder: write the file first"),
    (errno.ENOENT, "/tmp/data.csv", "raise error", "new and empty folder"),
    (errno.ENOENT, "../../data.csv", "raise error", "sees only its own folder"),
    (errno.EROFS, "/usr/x.txt", "raise error", "write only in its own folder, which is the current one: use the path 'x.txt'"),
    (errno.EXDEV, "/usr/x.txt", "raise error", "use the path 'x.txt'"),
    (errno.EACCES, "/mnt/data/x.txt", "raise error  # open(path, 'w')", "use the path 'x.txt'"),
    (errno.ENOENT, "/mnt/data/x.txt", "raise error  # df.to_csv(path)", "use the path 'x.txt'"),
    (errno.EROFS, "/", "raise error", "which is the current one"),
    (errno.EACCES, "data.csv", "raise error", ""),
]


class Refused(unittest.TestCase):
    """What a confined run may not do names what it can use."""

    @contextlib.contextmanager
    def at_home(self) -> Iterator[None]:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            before = os.getcwd()
            folder = os.path.realpath(folder)
            os.chdir(folder)
            try:
                with mock.patch.dict(hints_refused._posix.environ, {b"HOME": folder.encode()}):
                    yield
            finally:
                os.chdir(before)

    def test_refused(self) -> None:
        for code, path, line, expected in REFUSED:
            with self.subTest(code=errno.errorcode[code], path=path, line=line), self.at_home():
                error, program = os_failure(OSError, code, path, line)
                text = hint_for(error, str(error), program, CONFINED) or ""
                self.assertIn(expected, text)
                self.assertEqual(bool(text), bool(expected))
                self.assertLess(len(text), 250)
                self.assertIsNone(hint_for(error, str(error), program, FREE))
                self.assertIsNone(hint_for(error, str(error), program, None))

    def test_data(self) -> None:
        with self.at_home():
            error, program = os_failure(OSError, errno.ENOENT, "data.csv")
            self.assertIn("get its content from `data` or a function of tools or web", hint_for(error, str(error), program, WITH_DATA) or "")
            text = hint_for(error, str(error), program, ALONE) or ""
            self.assertTrue(text.endswith("write the file first"), text)

    def test_open(self) -> None:
        """What is open is not said to be closed."""
        for line in ("raise error  # socket()", "raise error  # os.fork()"):
            error, program = os_failure(OSError, errno.EPERM, None, line)
            self.assertIsNone(hint_for(error, str(error), program, OPEN))
        error, program = os_failure(OSError, errno.EACCES, "/bin/ls", "raise error  # os.execv()")
        self.assertIn("programs that the host opened", hint_for(error, str(error), program, OPEN) or "")
        lookup = socket.gaierror(-3, "Temporary failure in name resolution")
        self.assertIsNone(hint_for(lookup, str(lookup), None, OPEN))

    def test_behind_others(self) -> None:
        """A library's own exception hides the refusal, which is found all the same."""
        error = ValueError("no connection")
        error.__cause__ = RuntimeError("tries are over")
        error.__cause__.__context__ = socket.gaierror(-3, "Temporary failure in name resolution")
        self.assertIn("no network", hint_for(error, str(error), None, CONFINED) or "")

    def test_modules(self) -> None:
        """The library that the error passed last tells what was tried."""
        for name, expected in (
            ("subprocess", "no other program"),
            ("multiprocessing.popen_fork", "threads"),
            ("concurrent.futures.process", "threads"),
            ("urllib3.connection", "no network"),
            ("http.client", "no network"),
            ("httpfoo", "may not do this"),
        ):
            with self.subTest(name):
                scope: Dict[str, Any] = {"__name__": name}
                exec("def call(error): raise error", scope)
                with mock.patch.dict(sys.modules, {"holder": mock.Mock(call=scope["call"], error=PermissionError(1, "x"))}):
                    error, program = failed("from holder import call, error\ncall(error)")
                self.assertIn(expected, hint_for(error, str(error), program, CONFINED) or "")

    def test_hostile(self) -> None:
        class Odd(OSError):
            errno = property(lambda self: 1 / 0)  # type: ignore[assignment]
            filename = property(lambda self: 1 / 0)  # type: ignore[assignment]

        for error in (Odd(1, "x", "/etc/x"), OSError("a", "b", "c"), OSError(1, "x", 5), OSError(1, "x", b"/etc/x")):
            hint_for(error, "x", None, CONFINED)
        self.assertIsNone(hint_for(NameError("x" * 5000), "x" * 5000, None, CONFINED))

    def test_not_twice(self) -> None:
        error, program = os_failure(PermissionError, errno.EPERM, None, "raise error  # os.fork()")
        self.assertEqual(hint_for(error, "Operation not permitted", program, CONFINED), CONFINED.no_process())
        self.assertIsNone(hint_for(error, "Operation not permitted; " + CONFINED.no_process(), program, CONFINED))


class Explained(unittest.TestCase):
    """The functions that start processes say in their own error what to use."""

    def explained(self, real: Any, text: str = "use threads") -> str:
        try:
            refusals._explained(real, text)()
        except OSError as error:
            return str(error)
        return ""

    def test_text(self) -> None:
        def refuse() -> None:
            raise PermissionError(1, "Operation not permitted", "/bin/ls")

        def other() -> None:
            raise FileNotFoundError(2, "No such file")

        self.assertEqual(self.explained(refuse), "[Errno 1] Operation not permitted; use threads: '/bin/ls'")
        self.assertEqual(self.explained(other), "[Errno 2] No such file")
        self.assertEqual(refusals._explained(lambda a, b=2: (a, b), "")(1, b=3), (1, 3))

    def test_system(self) -> None:
        self.assertEqual(refusals._system(lambda command: 256, "")("false"), 256)
        with self.assertRaisesRegex(PermissionError, "use threads"):
            refusals._system(lambda command: 127 << 8, "use threads")("ls")

    def test_only_what_is_closed(self) -> None:
        for around, filters, expected in ((CONFINED, True, 7), (CONFINED, False, 0), (OPEN, True, 0), (FREE, True, 0)):
            with mock.patch.object(refusals, "_wrap") as wrap:
                refusals.explain_refusals("return 1", around, filters)
                self.assertEqual(wrap.call_count, expected)

    def test_by_the_words(self) -> None:
        import _posixsubprocess
        import _socket

        for source, module, name in (
            ("import subprocess", _posixsubprocess, "fork_exec"),
            ("import urllib.request", _socket, "getaddrinfo"),
        ):
            with mock.patch.object(refusals, "_wrap") as wrap:
                refusals.explain_refusals(source, CONFINED, True)
                self.assertIn((module, name), [call[0][:2] for call in wrap.call_args_list])

    def test_lookup(self) -> None:
        import _socket

        def fail(*args: object) -> None:
            raise socket.gaierror(-3, "Temporary failure in name resolution")

        with mock.patch.object(_socket, "getaddrinfo", fail):
            refusals._explain_lookup("there is no network here")
            with self.assertRaisesRegex(socket.gaierror, "no network"):
                _socket.getaddrinfo("example.com", 80)  # type: ignore[attr-defined]


# Values that are over the limit, and what is said of their largest part.
LARGE: List[Tuple[Any, str]] = [
    ("x" * 2000, "it is a str of 2000 characters"),
    (list(range(1000)), "it is a list of 1000 items"),
    ({"a": [1], "rows": [{"id": i} for i in range(500)]}, 'most of it is result["rows"], a list of 500 items'),
    ({"a": {"b": [0, "y" * 5000, 1]}}, 'most of it is result["a"]["b"][1], a str of 5000 characters'),
    ({str(i): "z" * 10 for i in range(200)}, "it is a dict of 200 items"),
    ([["x" * 600], ["x" * 600]], "it is a list of 2 items"),
    (10**5000, "it is a number of type int"),
]


class TooLarge(unittest.TestCase):
    """A result over the limit is told its size, the limit and its largest part."""

    def over(self, value: Any, numbers: str = EXACT, limit: int = 1000) -> str:
        with self.assertRaises(OverBudget) as caught:
            encode(value, numbers, limit)
        return hints_size.over_budget_text(caught.exception, value, numbers == DOUBLE, "result")

    def test_parts(self) -> None:
        for value, expected in LARGE:
            with self.subTest(expected):
                text = self.over(value)
                self.assertIn(expected, text)
                self.assertIn("the limit is 1000 bytes", text)
                self.assertIn("return less: a part, a count or a summary", text)

    def test_size_is_exact(self) -> None:
        values: List[Any] = [value for value, _ in LARGE[:-1]]
        values += [[1.5, -0.5, 1e300, True, False, None, "é\n\"\ud800😀", {"kéy": []}, {}] * 300]
        for numbers in (EXACT, DOUBLE):
            for value in values:
                size = len(encode(value, numbers, None))
                self.assertIn(f": {size} bytes as JSON", self.over(value, numbers))

    def test_shared_and_deep(self) -> None:
        value: Any = ["x" * 100]
        for _ in range(40):
            value = [value, value]
        self.assertRegex(self.over(value), r"over the size limit: \d+ bytes")
        value = ["x" * 2000]
        for _ in range(100_000):
            value = [value]
        self.assertIn("at least ", self.over(value))
        loop: List[Any] = ["x" * 2000]
        loop.append(loop)
        self.assertIn('result[0], a str', self.over(loop))

    def test_bounded(self) -> None:
        value = [[0] * 1000 for _ in range(3000)]
        with mock.patch.object(hints_size, "_ITEMS", 5000):
            self.assertIn("at least ", self.over(value))

    def test_odd(self) -> None:
        self.assertIn("at least ", self.over(["x" * 2000, {1, 2}, float("nan")]))
        self.assertIn("most of it is result[1], a str", self.over({1: "x" * 2000}))

    def test_broken(self) -> None:
        with mock.patch.object(hints_size, "_Parts", side_effect=MemoryError):
            self.assertIn("at least ", self.over("x" * 2000))


if __name__ == "__main__":
    unittest.main()
