"""Tests of program: that a program is a module, whatever its top level returns or awaits.

Run with any Python from 3.9 on: python3 -m unittest test_program
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import types
import unittest
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

from program_cases import MODULE_CASES  # noqa: E402

from thirdrail_child.program import ABSENT, Program  # noqa: E402
from thirdrail_child.toplevel import compile_body  # noqa: E402


PYTHON_3_10 = sys.version_info >= (3, 10)


async def same(value: object) -> object:
    """Give back a value, as something to await."""
    return value


@contextlib.contextmanager
def main_module() -> Iterator[Dict[str, Any]]:
    """Stand a fresh __main__ in for the test's own."""
    before = sys.modules["__main__"]
    module = types.ModuleType("__main__")
    module.__dict__.update(__builtins__=__builtins__, __file__="program.py", same=same)
    sys.modules["__main__"] = module
    try:
        yield module.__dict__
    finally:
        sys.modules["__main__"] = before


def finish(coroutine: Any) -> Any:
    """Run a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("the coroutine waits")


def run(source: str, names: Optional[Dict[str, Any]] = None) -> Any:
    """Run a program to its value."""
    with main_module() as module_globals:
        module_globals.update(names or {})
        program = Program(source)
        value = program.execute(module_globals)
        return finish(value) if program.is_async else value


def error_of(source: str) -> BaseException:
    """Return what compiling or running a program raises."""
    try:
        value = run(source)
    except BaseException as error:
        return error
    raise AssertionError(f"no error but {value!r}")


def read(source: str) -> str:
    """Return source as Python reads it, with an end."""
    return source.replace("\r\n", "\n").replace("\r", "\n") + "\n"


# Ways to write the same program, each of which is compiled in another way.
SHAPES: List[Tuple[str, Callable[[str], str], bool]] = [
    ("returns at its end", lambda source: source + "return result\n", False),
    ("returns further in", lambda source: source + "if 1:\n    return result\n", False),
    ("returns at its end and binds", lambda source: source + "return (last := result)\n", False),
    ("awaits and returns at its end", lambda source: source + "return await same(result)\n", True),
    ("awaits and returns further in", lambda source: source + "if 1:\n    return await same(result)\n", True),
    ("awaits first, returns at its end", lambda source: source + "await same(1)\nreturn result\n", True),
]


class ModuleMeaning(unittest.TestCase):
    """Each case sees the same in a plain module and in a program of any shape."""

    maxDiff = None

    def test_cases(self) -> None:
        for name, version, source in MODULE_CASES:
            if sys.version_info < version:
                continue
            source = read(source)
            with main_module() as expected:
                expected["__doc__"] = None
                exec(compile(source, "program.py", "exec", dont_inherit=True), expected)
            self.assertIn("result", expected, name)
            with self.subTest(name, shape="plain"), main_module() as module_globals:
                program = Program(source)
                self.assertFalse(program.is_async)
                self.assertIs(program.execute(module_globals), ABSENT)
                self.assertEqual(repr(module_globals["result"]), repr(expected["result"]))
            for shape, write, is_async in SHAPES:
                with self.subTest(name, shape=shape):
                    self.check(write(source), is_async, expected)

    def check(self, source: str, is_async: bool, expected: Dict[str, Any]) -> None:
        """Compare the value, and which names the program leaves behind."""
        with main_module() as module_globals:
            program = Program(source)
            self.assertEqual(program.is_async, is_async)
            value = program.execute(module_globals)
            value = finish(value) if is_async else value
            names = {name for name in module_globals if name[:1] != "."}
        self.assertEqual(repr(value), repr(expected["result"]))
        own = {"__loader__", "__package__", "__spec__", "last"}
        self.assertEqual(names - own, set(expected) - own)

    def test_versions_are_covered(self) -> None:
        """A typo in a case's version would leave it out everywhere."""
        for name, version, _ in MODULE_CASES:
            self.assertIn(version, [(3, 9), (3, 10), (3, 11), (3, 12)], name)


VALUES: List[Tuple[str, object]] = [
    ("", ABSENT),
    ("\n\n", ABSENT),
    ("# nothing\n", ABSENT),
    ("x = 1", ABSENT),
    ("def f():\n    return 1\nf()", ABSENT),
    ("return", None),
    ("return None", None),
    ("return 1", 1),
    ("return 1 # why", 1),
    ("return(2)", 2),
    ("return[3]", [3]),
    ("return'x'", "x"),
    ("return -1", -1),
    ("return 1, 2", (1, 2)),
    ("return *[1], 2", (1, 2)),
    ("return \\\n  4", 4),
    ("return (\n1\n+ 2)", 3),
    ("return {\n'a': 1,\n\n'b': [\n2]}", {"a": 1, "b": [2]}),
    ("return '''\nreturn 1\n'''", "\nreturn 1\n"),
    ("x = '''\nreturn 1\n'''\nreturn x", "\nreturn 1\n"),
    ("x = '''\nreturn 1\n'''\nif x: return x", "\nreturn 1\n"),
    ("x = 1 + \\\n2\nreturn x", 3),
    ("x = [\n1,\n]\nreturn x", [1]),
    ("returned = 3\nreturn returned", 3),
    ("return_ = 4\nreturnö = 5\nreturn return_ + returnö", 9),
    ("if 1:\n    return 'early'\nreturn 'late'", "early"),
    ("if 0:\n    return 'early'\nreturn 'late'", "late"),
    ("if 0:\n    return 'early'", ABSENT),
    ("return 1; x = 2", 1),
    ("x = 1; return x", 1),
    ("x = 1\nreturn x; x = 2", 1),
    ("x = 1\nif x: return x; x = 2", 1),
    ("return x if 0 else 1\nx = 5\ndef x(): return 3", 1),
    ("for i in range(5):\n    if i == 3: return i", 3),
    ("for i in range(5):\n    for j in range(5):\n        if i * j == 6: return i, j\nelse:\n    return 0", (2, 3)),
    ("while True:\n    return 'w'", "w"),
    ("try:\n    return 'try'\nfinally:\n    x = 1", "try"),
    ("try:\n    return 'try'\nfinally:\n    return 'finally'", "finally"),
    ("for i in [1, 2]:\n    try:\n        return i\n    finally:\n        break\nreturn 'after'", "after"),
    ("try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    return str(e)", "division by zero"),
    ("try:\n    pass\nexcept KeyError:\n    pass\nelse:\n    return 'else'", "else"),
    ("log = []\nclass C:\n    def __enter__(s): return s\n    def __exit__(s, *a): log.append(a[0])\nwith C():\n    return log", [None]),
    ("def f():\n    return 1\nclass A:\n    def g(self):\n        return 2\nif f() == 1: return A().g()", 2),
    ("return (lambda: (lambda: 5))()()", 5),
    ("x = 3\nreturn [i * x for i in range(x)]", [0, 3, 6]),
    ("return [(lambda: i)() for i in range(2)]", [0, 1]),
    ("x = [7]\nreturn locals() is globals(), eval('x'), [eval('x') for y in x]", (True, [7], [[7]])),
    ("i = 4\nreturn [i for i in range(2)], locals()['i'], i", ([0, 1], 4, 4)),
    ("return (y := 5), y, globals()['y']", (5, 5, 5)),
    ("return [z := i for i in range(3)], z", ([0, 1, 2], 2)),
    ("return (lambda: 0).__qualname__", "<lambda>"),
    ("x = 0\nreturn (lambda: lambda: 0)().__qualname__", "<lambda>.<locals>.<lambda>"),
    ("import sys\nreturn sys._getframe().f_code.co_name, sys._getframe().f_lineno", ("<module>", 2)),
    ("import sys\n\nif 1:\n    return sys._getframe().f_code.co_name, sys._getframe().f_lineno", ("<module>", 4)),
    ("from __future__ import annotations\nreturn eval('lambda: 0').__name__", "<lambda>"),
    ("from __future__ import annotations\nreturn exec('def f(x: nope): 0') or f.__annotations__", {"x": "nope"}),
    ("'doc'\nreturn __doc__", "doc"),
    ("'doc'\nif 1: return __doc__", "doc"),
    ("\ufeffreturn 'mark'", "mark"),
    ("# coding: latin-1\nreturn 'é'", "é"),
    ("# -*- coding: no-such-thing -*-\nreturn 'é'", "é"),
    ("if 1:\r\n\treturn 'tab'\r\n", "tab"),
    ("x = 1\rreturn x", 1),
    ("x = 1\x0c\n\x0c\nreturn x", 1),
    ("return b'\\0thirdrail'", b"\0thirdrail"),
]

ASYNC_VALUES: List[Tuple[str, object]] = [
    ("await same(1)", ABSENT),
    ("await same(1)\nreturn", None),
    ("return await same(1)", 1),
    ("x = await same(1)\nreturn x", 1),
    ("x = await same(1)\nif x: return x", 1),
    ("if await same(0):\n    return 1", ABSENT),
    ("async def f():\n    return 2\nreturn await f()", 2),
    ("return [await same(i) for i in range(3)]", [0, 1, 2]),
    ("return {await same(i): i async for i in gen()}", {0: 0, 1: 1}),
    ("out = []\nasync for i in gen():\n    out.append(i)\nreturn out", [0, 1]),
    ("async for i in gen():\n    if i: return i", 1),
    ("async with manager() as m:\n    return m, log[:]", ("m", ["in"])),
    ("async with manager() as m:\n    pass\nreturn log", ["in", "out"]),
    ("x = [i async for i in gen()]\nreturn x", [0, 1]),
    ("x: int = await same(3)\nif x: return x, __annotations__", (3, {"x": int})),
    ("def f(a=await same(3)):\n    return a\nreturn f()", 3),
    ("class A(await same(dict)): pass\nif 1: return A.__mro__[1].__name__", "dict"),
    ("try:\n    return await same(1)\nfinally:\n    await same(2)", 1),
    ("return f'{await same(1)}'", "1"),
    ("return (await same('a')), locals() is globals()", ("a", True)),
    ("from __future__ import annotations\nreturn await same(1)", 1),
    ("from math import *\nif await same(1): return sqrt(4)", 2.0),
]

# Programs that have the word but don't await at the top.
SYNC_VALUES: List[Tuple[str, object]] = [
    ("return 'please await'", "please await"),
    ("# await\nif 1: return 1", 1),
    ("async def f():\n    return await same(1)\nreturn f.__name__", "f"),
    ("async def f():\n    return await same(1)\nif 1: return f.__name__", "f"),
    ("class A:\n    async def f(self):\n        await same(1)\nif 1: return A.__name__", "A"),
]

GIVEN = """
log = []
async def gen():
    for i in range(2):
        yield i
class manager:
    async def __aenter__(self):
        log.append("in")
        return "m"
    async def __aexit__(self, *details):
        log.append("out")
"""


class Values(unittest.TestCase):
    """What a program's value is."""

    def given(self) -> Dict[str, Any]:
        names: Dict[str, Any] = {}
        exec(GIVEN, names)
        return {name: names[name] for name in ("log", "gen", "manager")}

    def test_values(self) -> None:
        for source, value in VALUES + SYNC_VALUES:
            with self.subTest(source):
                self.assertFalse(Program(source).is_async)
                got = run(source)
                self.assertEqual(got, value)
                self.assertIs(type(got), type(value))

    def test_async_values(self) -> None:
        for source, value in ASYNC_VALUES:
            with self.subTest(source):
                self.assertTrue(Program(source).is_async)
                got = run(source, self.given())
                self.assertEqual(got, value)
                self.assertIs(type(got), type(value))

    def test_return_runs_finally(self) -> None:
        names: Dict[str, Any] = {"log": []}
        self.assertEqual(run("try:\n    return 1\nfinally:\n    log.append(2)", names), 1)
        self.assertEqual(names["log"], [2])

    @unittest.skipIf(sys.version_info < (3, 10), "no match statement")
    def test_match(self) -> None:
        self.assertEqual(run("match [1, 2]:\n    case [a, b]:\n        return b"), 2)

    @unittest.skipIf(sys.version_info < (3, 11), "no except*")
    def test_except_star(self) -> None:
        source = "try:\n    raise ExceptionGroup('g', [ValueError(1)])\nexcept* ValueError as e:\n    got = 1\nif got: return got"
        self.assertEqual(run(source), 1)

    def test_a_program_runs_again(self) -> None:
        program = Program("n = globals().get('n', 0) + 1\nreturn n")
        for _ in range(2):
            self.assertEqual(program.execute({"__builtins__": __builtins__}), 1)

    def test_absent_is_itself(self) -> None:
        self.assertEqual(repr(ABSENT), "ABSENT")
        self.assertIsNot(run("return None"), ABSENT)


# Source, words of the message, line, the text at the caret.
SYNTAX_ERRORS: List[Tuple[str, str, int, Optional[str]]] = [
    ("def (", "invalid syntax", 1, "("),
    ("x = 1\ndef (\nreturn 2", "invalid syntax", 2, "("),
    ("return 1\ndef (", "invalid syntax", 2, "("),
    ("if 1: return 1\ndef (", "invalid syntax", 2, "("),
    ("x = 1\nreturn 1 +", "invalid syntax", 2, None),
    ("return a = b", "invalid syntax", 1, "="),
    ("yield 1", "'yield' outside function", 1, "yield"),
    ("x = 1\nyield x\nreturn x", "'yield' outside function", 2, "yield"),
    ("if 1: return 1\né = (yield 3)", "'yield' outside function", 2, "yield"),
    ("return (yield)", "'yield' outside function", 1, "yield"),
    ("x = 1\nreturn (yield from x)", "'yield' outside function", 2, "yield"),
    ("await same(1)\nyield 1\nreturn 1", "'yield' outside function", 2, "yield"),
    ("def f(x=(yield)): pass\nif 1: return 1", "'yield' outside function", 1, "yield"),
    ("def f():\n    await x\nreturn 1", "'await' outside async function", 2, "await"),
    ("'é'; f = lambda: await x\nif 1: return 1", "'await' outside async function", 1, "await"),
    ("class A:\n    await x\nreturn 1", "'await' outside function", 2, "await"),
    ("class A:\n    return 1\nif 1: return 1", "'return' outside function", 2, "return"),
    ("class A:\n    return 1", "'return' outside function", 2, "return"),
    ("return 1\nclass A:\n    return 1", "'return' outside function", 3, "return"),
    ("nonlocal x\nreturn 1", "nonlocal declaration not allowed at module level", 1, "nonlocal"),
    ("return 1\nnonlocal x", "nonlocal declaration not allowed at module level", 2, "nonlocal"),
    ("x = 1\ndef f():\n    nonlocal x\nreturn 3", "no binding for nonlocal 'x' found", 3, "nonlocal"),
    ("x = 1\ndef f():\n    nonlocal x\nif 1: return 3", "no binding for nonlocal 'x' found", 3, "nonlocal"),
    ("x = 1\nglobal x\nif 1: return x", "name 'x' is", 2, "global"),
    ("def f():\n    from math import *\nif 1: return 1", "import * only allowed at module level", 2 if PYTHON_3_10 else 1, None),
    ("x = 1\nfrom __future__ import annotations\nreturn 1", "from __future__ imports must occur", 2, "from"),
    ("if 1: return 1\nfrom __future__ import annotations", "from __future__ imports must occur", 2, "from"),
    ("from __future__ import nothing\nif 1: return 1", "future feature nothing is not defined", 1, None),
    ("from __future__ import braces\nreturn 1", "not a chance", 1, None),
    ("break\nreturn 1", "'break' outside loop", 1, "break"),
    ("if 1: return 1\ncontinue", "'continue' not properly in loop", 2, "continue"),
    ("if 1:\nreturn 1", "expected an indented block", 2, "return"),
    ("  x = 1\nreturn x", "unexpected indent", 1, None),
    ("return 1\n  x = 1", "unexpected indent", 2, None),
    ("if 1:\n\tx = 1\n        y = 2\nreturn 1", "inconsistent use of tabs", 3, None),
    ("x = '''\nreturn 1", "triple-quoted string literal", 1 if PYTHON_3_10 else 2, None),
    ("def f(a, a): pass\nif 1: return 1", "duplicate argument 'a'", 1, None),
    ("None = 1\nreturn 1", "cannot assign to", 1, "None"),
    ("__debug__ = 1\nif 1: return 1", "cannot assign to __debug__", 1, None),
    ("x = 1\ny = 'a\0b'\nreturn x", "null bytes", 2, "\ufffd"),
    ("\0", "null bytes", 1, "\ufffd"),
    ("x = 1\ny = 'é\ud800'", "lone surrogate", 2, None),
    ("return " + "(" * 5000, "too many nested parentheses", 1, None),
]


class Errors(unittest.TestCase):
    """SyntaxErrors tell the program's own place."""

    def test_syntax_errors(self) -> None:
        for source, words, line, at in SYNTAX_ERRORS:
            with self.subTest(source[:80]):
                error = error_of(source)
                self.assertIsInstance(error, SyntaxError)
                assert isinstance(error, SyntaxError)
                self.assertIn(words, str(error.msg))
                self.assertEqual(error.filename, "program.py")
                self.assertEqual(error.lineno, line)
                self.assertIsNone(error.__context__)
                if at is not None:
                    assert error.text is not None and error.offset is not None
                    self.assertEqual(error.text[error.offset - 1 :][: len(at)], at)

    def test_text_is_never_from_a_file(self) -> None:
        """Python looks for the text in a file of that name, which may be any."""
        with main_module():
            try:
                Program("def (", str(HERE / "test_program.py"))
            except SyntaxError as error:
                self.assertEqual(error.text, "def (\n")
            else:
                self.fail("no error")

    def test_f_string(self) -> None:
        error = error_of("x = 1\nreturn f'{x y}'")
        assert isinstance(error, SyntaxError)
        self.assertEqual(error.filename, "program.py")

    def test_too_deep_for_the_parser(self) -> None:
        # Python 3.9 itself crashes on much longer chains.
        terms = 20_000 if sys.version_info < (3, 10) else 50_000
        for inside in ("-" * 50_000, "a+" * terms, "a" + ".b" * terms + "+", "not " * 50_000, "lambda:" * 50_000):
            for source in (f"return {inside}1", f"x = {inside}1", f"if 1: return {inside}1", f"x = 1\nreturn {inside}1"):
                with self.subTest(source[:20]):
                    self.assertIsInstance(error_of(source), (RecursionError, MemoryError, SyntaxError))

    def test_deep_but_fine(self) -> None:
        """Expressions of some hundred terms are ordinary."""
        for source in ("return " + "1+" * 500 + "1", "if 1: return " + "1+" * 500 + "1", "x = 2\nreturn " + "1+" * 2000 + "1"):
            with self.subTest(source[:20]):
                self.assertEqual(run(source) % 500, 1)


class Lines(unittest.TestCase):
    """Line numbers and text are the program's own, whoever asks for them."""

    def test_lines_of_errors(self) -> None:
        for source in (
            "x = 1\n\n\n1 / 0",
            "x = 1\n\n\n1 / 0\nreturn 1",
            "x = 1\n\n\nreturn 1 / 0",
            "x = 1\n\n\nreturn (lambda: 1 / 0)()",
            "x = 1\n\n\nreturn [1 / 0 for i in [1]]",
            "x = 1\n\nif x:\n    return 1 / 0",
            "x = 1\n\nreturn (\n  1 / 0\n)",
            "return (\n\n\n  [1 / 0 for i in 'a'])",
            "return [\n\n\n  (lambda: [1 / 0 for i in 'a'])()]",
            "x = await same(1)\n\n\nreturn await same(1 / 0)",
            "'''\n\n'''\n1 / 0\nif 1: return",
        ):
            with self.subTest(source):
                traceback = error_of(source).__traceback__
                lines = []
                while traceback is not None:
                    if traceback.tb_frame.f_code.co_filename == "program.py":
                        lines.append(traceback.tb_lineno)
                    traceback = traceback.tb_next
                self.assertEqual(set(lines), {4})

    @unittest.skipIf(sys.version_info < (3, 11), "no columns")
    def test_columns(self) -> None:
        for source, column in (
            ("x = 1\nreturn x / 0", 7),
            ("return 11 / (x := 0)", 7),
            ("return int('x')", 7),
            ("x = 1\nif x:\n    return x / 0", 11),
        ):
            with self.subTest(source):
                traceback = error_of(source).__traceback__
                assert traceback is not None
                while traceback.tb_next is not None:
                    traceback = traceback.tb_next
                positions: Any = getattr(traceback.tb_frame.f_code, "co_positions")
                self.assertEqual(list(positions())[traceback.tb_lasti // 2][2], column)

    SELF_SEEING = (
        "import inspect, traceback, linecache\n"
        "y = 'a\u2028b'\n"
        "\x0c\n"
        "def f(a):\n"
        "    # why\n"
        "    return a / 0\n"
        "class A:\n"
        "    def m(self): pass\n"
        "try:\n"
        "    f(1)\n"
        "except ZeroDivisionError:\n"
        "    text = traceback.format_exc()\n"
        "result = [inspect.getsource(f), inspect.getsource(A), inspect.getsource(A.m), linecache.getline('program.py', 4),\n"
        "    inspect.getsourcelines(f)[1], inspect.getsourcefile(f), text]\n"
    )

    def test_source_for_the_program_itself(self) -> None:
        """In a fresh interpreter, where linecache is not there before, and where it is."""
        for before in ("", "import linecache"):
            for end in ("return result\n", "if 1: return result\n", "await same(1)\nreturn result\n"):
                with self.subTest(before=before, end=end):
                    lines = self.in_fresh_python(before, self.SELF_SEEING + end)
                    function, kind, method, line, number, file, text = lines
                    self.assertEqual(function, "def f(a):\n    # why\n    return a / 0\n")
                    self.assertEqual(kind, "class A:\n    def m(self): pass\n")
                    self.assertEqual(method, "    def m(self): pass\n")
                    self.assertEqual((line, number, file), ("def f(a):\n", 4, "program.py"))
                    self.assertIn('\n  File "program.py", line 10, in <module>\n    f(1)\n', text)
                    self.assertIn('\n  File "program.py", line 6, in f\n    return a / 0\n', text)

    def in_fresh_python(self, before: str, source: str) -> Any:
        code = (
            "import sys, types, json\n"
            f"sys.path.insert(0, {str(HERE.parent)!r})\n"
            f"{before}\n"
            "from thirdrail_child.program import Program\n"
            "module = sys.modules['__main__'] = types.ModuleType('__main__')\n"
            "async def same(x): return x\n"
            "module.same = same\n"
            f"program = Program({source!r})\n"
            "value = program.execute(module.__dict__)\n"
            "if program.is_async:\n"
            "    try: value.send(None)\n"
            "    except StopIteration as stop: value = stop.value\n"
            "print(json.dumps(value))\n"
        )
        done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, cwd="/")
        self.assertEqual(done.stderr, "")
        import json

        return json.loads(done.stdout)

    def test_no_slow_imports(self) -> None:
        """Compiling and running the usual program loads nothing that is slow to load."""
        slow = ["ast", "linecache", "traceback", "typing", "re", "warnings", "inspect", "enum", "tokenize"]
        source = f"import sys\nreturn sorted(set({slow!r}) & set(sys.modules))"
        code_before = "import sys\nfor name in list(sys.modules):\n    if name in ('re', 'enum', 'typing', 'warnings'): pass"
        found = self.in_fresh_python(code_before, source)
        baseline = subprocess.run(
            [sys.executable, "-I", "-c", "import sys, types, json; print(*sys.modules)"],
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout.split()
        self.assertEqual([name for name in found if name not in baseline], [])


class Warnings(unittest.TestCase):
    """Each warning of the compiler is shown once, at the program's line."""

    def test_once(self) -> None:
        escape = SyntaxWarning if sys.version_info >= (3, 12) else DeprecationWarning
        for source, line, kind in (
            ("x = 1\nx is 1\n", 2, SyntaxWarning),
            ("x = 1\nx is 1\nreturn x\n", 2, SyntaxWarning),
            ("x = 1\nreturn x is 1\n", 2, SyntaxWarning),
            ("return 1 is 1\n", 1, SyntaxWarning),
            ("x = 1\nif x is 1: return x\n", 2, SyntaxWarning),
            ("x = 1\nif x: return x is 1\n", 2, SyntaxWarning),
            ("x = 1\nreturn await same(x is 1)\n", 2, SyntaxWarning),
            ("x = '\\d'\nreturn x\n", 1, escape),
            ("x = 1\nif x: return '\\d'\n", 2, escape),
            ("x = 1\nreturn await same('\\d')\n", 2, escape),
            ("x = '''\nreturn'''\ny = '\\d'\nreturn y\n", 3, escape),
        ):
            with self.subTest(source), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                before = list(warnings.filters)
                Program(source)
                self.assertEqual(list(warnings.filters), before)
                self.assertEqual([(w.filename, w.lineno, w.category) for w in caught], [("program.py", line, kind)])

    def test_warnings_of_the_program(self) -> None:
        """They have the program's line, with its text where linecache was loaded before."""
        for before, text in (("", ""), ("import linecache\n", "  warnings.warn('careful')\n")):
            code = (
                f"import sys; sys.path.insert(0, {str(HERE.parent)!r})\n{before}"
                "from thirdrail_child.program import Program\n"
                "Program(\"import warnings\\nwarnings.warn('careful')\\nreturn 1\").execute({'__builtins__': __builtins__})\n"
            )
            done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, cwd="/")
            self.assertTrue(done.stderr.startswith("program.py:2: UserWarning: careful\n" + text), done.stderr)

    def test_shown_without_the_warnings_module(self) -> None:
        code = (
            f"import sys; sys.path.insert(0, {str(HERE.parent)!r})\n"
            "from thirdrail_child.program import Program\n"
            "Program('x = 1\\nif x is 1: return x')\n"
        )
        done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stderr.count("SyntaxWarning"), 1)
        self.assertIn("program.py:2: SyntaxWarning", done.stderr)


ASYNCIO: List[Tuple[str, bool]] = [
    ("return 1", False),
    ("import json, os.path\nfrom collections import abc\nreturn 1", False),
    ("import asyncio", True),
    ("from asyncio import sleep", True),
    ("# about asyncio", True),
    ("import numpy as np", True),
    ("from pandas.io import x", True),
    ("def f():\n    import httpx\nreturn 1", True),
    ("class A:\n    def f(self):\n        if self:\n            from anyio import sleep\n", True),
    ("f = lambda: __import__('x')", True),
    ("import importlib\nimportlib.import_module('x')", True),
    ("import json\nif 1:\n    import json.decoder\n    return 1", False),
    ("from . import x", False),
    ("x = 'import numpy'\nreturn x", False),
    ("import unittest", True),
    ("import _thread, _json" if sys.version_info >= (3, 10) else "import sys", False),
    ("\n".join(f"name{i} = 0" for i in range(300)) + "\nimport json\nimport numpy", True),
    # The import is name 301, and name 45 is of the standard library.
    (";".join(("json" if i == 45 else f"name{i}") + " = 0" for i in range(301)) + "\nimport numpy", True),
    ("from __future__ import annotations\nreturn 1", False),
]


class UsesAsyncio(unittest.TestCase):
    """uses_asyncio tells whether a program may need the real asyncio."""

    def test_cases(self) -> None:
        for source, expected in ASYNCIO:
            with self.subTest(source[:60]):
                self.assertEqual(Program(source).uses_asyncio, expected)

    def test_modules_that_start_asyncio(self) -> None:
        """No other module of the usual ones imports asyncio by itself."""
        modules = (
            "json random base64 uuid hashlib sqlite3 zoneinfo decimal csv statistics tempfile socket ctypes zlib "
            "xml.etree.ElementTree unicodedata secrets dataclasses typing inspect traceback logging urllib.request "
            "http.client email subprocess threading concurrent.futures multiprocessing functools itertools re "
            "contextlib pathlib datetime fractions heapq bisect enum string textwrap difflib pprint copy pickle"
        ).split()
        code = f"import sys, importlib\nfor name in {modules!r}:\n    importlib.import_module(name)\nprint('asyncio' in sys.modules)"
        done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout.strip(), "False", done.stderr)
        source = "\n".join("import " + name for name in modules)
        self.assertFalse(Program(source).uses_asyncio)


class Size(unittest.TestCase):
    """Large programs work, in every shape."""

    def test_large_programs(self) -> None:
        lines = "x = f(1)\n" * 120_000
        values = "[" + "1," * 524_288 + "]"
        for name, source, value in (
            ("1 MiB of lines", "def f(x): return x\n" + lines + "return x\n", 1),
            ("1 MiB in one line", f"x = {values}\nreturn len(x)\n", 524_288),
            ("1 MiB of comment", "#" * (1 << 20) + "\nreturn 1", 1),
            ("5 MiB of text", "x = '" + "é" * (5 << 19) + "'\nreturn len(x)", 5 << 19),
            ("5 MiB of text returned further in", "if 1: return len('" + "x" * (5 << 20) + "')", 5 << 20),
            ("5 MiB of text with lines", "x = '''" + "return\n" * 700_000 + "'''\nif 1: return len(x)", 4_900_000),
        ):
            with self.subTest(name):
                self.assertEqual(run(source), value)


class Execute(unittest.TestCase):
    """What execute gives the module."""

    def test_module_names(self) -> None:
        module_globals: Dict[str, Any] = {"__builtins__": __builtins__, "__name__": "given"}
        program = Program("return __name__, __file__, __spec__.name, __package__, __doc__", "other.py")
        # The name in __spec__ keeps multiprocessing from looking for a file.
        self.assertEqual(program.execute(module_globals), ("given", "other.py", "__main__", None, None))
        self.assertIs(program.module_globals, module_globals)
        self.assertEqual(module_globals["__loader__"].get_source("given"), program.source)
        self.assertFalse(module_globals["__loader__"].is_package("given"))

    def test_flags_that_are_on_already(self) -> None:
        part = compile_body("x: nope = 1\nif x: return x\n", "program.py", 0x1000000, ABSENT)
        names: Dict[str, Any] = {"__builtins__": __builtins__, "__annotations__": {}}
        self.assertEqual(eval(part.code, names), 1)
        self.assertEqual(names["__annotations__"], {"x": "nope"})

    def test_line(self) -> None:
        program = Program("\ufeffx = 1\r\n\x0cy = '\u2028'\rreturn x")
        self.assertEqual([program.line(number) for number in range(5)], [None, "x = 1", "\x0cy = '\u2028'", "return x", None])

    def test_nothing_of_ours_in_the_module(self) -> None:
        with main_module() as module_globals:
            Program("from math import pi\nif 1:\n    x: int = 1\n    return x").execute(module_globals)
            own = set(module_globals) - {"same", "pi", "x"}
        self.assertEqual({name for name in own if not (name[:2] == name[-2:] == "__")}, set())

    def test_output_is_not_touched(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            run("print('one')\nif 1: return 1")
        self.assertEqual(out.getvalue(), "one\n")


if __name__ == "__main__":
    unittest.main()
