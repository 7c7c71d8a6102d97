"""Tests of what a failed program is told to write instead.

Run with any Python from 3.9 on: python3 -m unittest test_hints
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import unittest
import warnings
from pathlib import Path
from typing import Any, Iterator, List, Optional, Tuple
from unittest import mock

sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent)]

from test_failure import failed  # noqa: E402
from thirdrail_child import hints_imports, hints_size  # noqa: E402
from thirdrail_child.codec import DOUBLE, EXACT, OverBudget, encode  # noqa: E402
from thirdrail_child.handles import Handle  # noqa: E402
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
    ("x = {'query': 1}\nreturn x.query", ('a dict has keys and no attributes for them: write `["query"]` instead of `.query`',)),
    ("x = {}\nreturn x.itemss()", ("perhaps `.items` is meant", '`["itemss"]`')),
    ("return JSON.stringify(1)", ("write `json.dumps(…)` or `json.loads(…)`, after `import json`",)),
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
    ("const x = await f();", ("another language", "in Python")),
    ("let x = 1", ("another language",)),
    ("function f() { return 1 }", ("another language",)),
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
    "class C(dict): pass\nC().query",
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

    def test_of_later_pythons(self) -> None:
        for name, part in (("TaskGroup", "`await asyncio.gather(*calls)`"), ("timeout", "`await asyncio.wait_for(call, seconds)`")):
            message = f"module 'asyncio' has no attribute '{name}'"
            text = hint_for(AttributeError(message), message, None, CONFINED) or ""
            self.assertIn(f"this Python has no asyncio.{name}: write {part}", text)

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


# What Code Mode gives a program: a name for content that no program is to write,
# functions that are no namespace, names that are no identifiers, an exception class.
CODE_MODE = Surroundings(
    {},
    [
        {"global": "files", "names": ["2nd", "content-SECRET", "get"], "handles": "content-SECRET",
         "errorClass": {"name": "ToolError", "memberNameProperty": "tool"}},
        {"global": "odd", "names": ["2nd"]},
        {"global": "tools_search", "names": ["__call__"]},
    ],
)  # fmt: skip

IN_CODE_MODE: List[Tuple[str, str]] = [
    ("import files", "files is no module but there without an import: write `await files.get(…)`"),
    ("import odd", "odd is no module but there without an import: write `await odd['2nd'](…)`"),
    ("import tools_search", "tools_search is no module but there without an import: write `await tools_search(…)`"),
    ("await search('x')", ""),
    ("tools_search = 1\nawait search('x')", "perhaps `tools_search` is meant"),
    ("raise TypeError(\"'files' object is not callable\")", "files is a namespace: call one of its functions, such as `await files.get(…)`"),
    ("raise AttributeError(\"files has no function 'ToolError'; it has: get\")", "ToolError is there without a namespace: write `except ToolError`"),
    ("import tweepy", "tweepy is not installed and can't be; there is no network here: use a function of files or odd instead"),
    ("async def f(): return 1\nx = f()\nawait x\nawait x", "a call is awaited once: keep its result in a variable, or make the call again"),
]


class CodeMode(unittest.TestCase):
    """What is named is what a program writes."""

    def test_named(self) -> None:
        for source, expected in IN_CODE_MODE:
            with self.subTest(source):
                text = hint(source, CODE_MODE)
                if expected:
                    self.assertEqual(text, expected)
                self.assertNotIn("SECRET", text)
                self.assertNotIn("__call__", text)

    def test_handles(self) -> None:
        message = "'Handle' object has no attribute 'data'"
        self.assertIsNone(hint_for(AttributeError(message), message, None, CODE_MODE))
        with mock.patch.object(Handle, "made", True):
            for error in (
                AttributeError(message),
                TypeError("'Handle' object is not subscriptable"),
                TypeError("Object of type Handle is not JSON serializable"),
                TypeError("a bytes-like object is required, not 'Handle'"),
            ):
                self.assertIn(".read() and .save(path)", hint_for(error, str(error), None, CODE_MODE) or "")


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
        """The work is bounded: what comes after so many candidates isn't looked at."""
        looked_at: List[str] = []

        def candidates() -> Iterator[str]:
            for number in range(1_000_000):
                looked_at.append("")
                yield f"another_name_{number}"

        closest("a_long_name_of_something", candidates())
        self.assertLess(len(looked_at), 5000)


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
