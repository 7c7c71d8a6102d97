"""Tests of failure: what a model reads of the exception that ended its program.

Run with any Python from 3.9 on: python3 -m unittest test_failure
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import signal
import sys
import threading
import time
import traceback
import types
import unittest
import warnings
from pathlib import Path
from typing import Any, Callable, Iterator, List, Optional, Tuple
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from thirdrail_child import cutting, failure, frames, inspection  # noqa: E402
from thirdrail_child.cutting import cut_ends, cut_middle, without_surrogates  # noqa: E402
from thirdrail_child.failure import MESSAGE_BYTES  # noqa: E402
from thirdrail_child.failure import describe as describe_with  # noqa: E402
from thirdrail_child.hints import hint_for  # noqa: E402
from thirdrail_child.program import Program  # noqa: E402

CARETS = sys.version_info >= (3, 11)
GROUPS = unittest.skipIf(sys.version_info < (3, 11), "no exception groups")


def setUpModule() -> None:
    warnings.simplefilter("ignore", RuntimeWarning)  # coroutines that are never awaited on purpose


@contextlib.contextmanager
def main_module() -> Iterator[types.ModuleType]:
    """Stand a fresh __main__ in for the test's own."""
    before = sys.modules["__main__"]
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    try:
        yield module
    finally:
        sys.modules["__main__"] = before


def failed(source: str) -> Tuple[BaseException, Optional[Program]]:
    """Run a program that fails; return its exception and, if it compiled, the program."""
    program = None
    with main_module() as module:
        try:
            program = Program(source)
            value = program.execute(module.__dict__)
            if program.is_async:
                value.send(None)
        except BaseException as error:
            return error, program
    raise AssertionError("the program didn't fail")


def describe(error: BaseException, program: Optional[Program]) -> str:
    """Return the description of a failure, with the help that needs nothing but the error and the program."""
    return describe_with(error, program, lambda link, message: hint_for(link, message, program, None))


def text_of(source: str) -> str:
    """Return the description of a program's failure."""
    return describe(*failed(source))


def without_carets(text: str) -> str:
    """Return text without the lines that mark a place in the line above."""
    return "\n".join(line for line in text.split("\n") if line.strip("|^~ ") or "^" not in line and "~" not in line)


def json_size(text: str) -> int:
    """Return the size of text as a canonical JSON string."""
    return len(json.dumps(text, ensure_ascii=False).encode())


# A program and its whole description, carets apart.
TEXTS: List[Tuple[str, str]] = [
    (
        "x = 1\ny = 2\nraise KeyError('k')",
        'Traceback (most recent call last):\n  File "program.py", line 3, in <module>\n    raise KeyError(\'k\')\nKeyError: \'k\'',
    ),
    (
        "def f(a):\n    return a / 0\n\nreturn f(1)",
        'Traceback (most recent call last):\n  File "program.py", line 4, in <module>\n    return f(1)\n'
        '  File "program.py", line 2, in f\n    return a / 0\nZeroDivisionError: division by zero',
    ),
    (
        "async def f():\n    raise ValueError\nif 1:\n    return await f()",
        'Traceback (most recent call last):\n  File "program.py", line 4, in <module>\n    return await f()\n'
        '  File "program.py", line 2, in f\n    raise ValueError\nValueError',
    ),
    (
        "import json\nreturn json.loads('{')",
        'Traceback (most recent call last):\n  File "program.py", line 2, in <module>\n    return json.loads(\'{\')\n'
        "json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    ),
    (
        "import json\njson.dumps([lambda: 0], default=lambda o: 1 / 0)",
        'Traceback (most recent call last):\n  File "program.py", line 2, in <module>\n'
        "    json.dumps([lambda: 0], default=lambda o: 1 / 0)\n"
        '  File "program.py", line 2, in <lambda>\n    json.dumps([lambda: 0], default=lambda o: 1 / 0)\n'
        "ZeroDivisionError: division by zero",
    ),
    (
        "try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('bad') from e",
        'Traceback (most recent call last):\n  File "program.py", line 2, in <module>\n    {}[\'a\']\nKeyError: \'a\'\n\n'
        "The above exception was the direct cause of the following exception:\n\n"
        'Traceback (most recent call last):\n  File "program.py", line 4, in <module>\n'
        "    raise ValueError('bad') from e\nValueError: bad",
    ),
    (
        "try:\n    {}['a']\nexcept KeyError:\n    raise ValueError('bad')",
        'Traceback (most recent call last):\n  File "program.py", line 2, in <module>\n    {}[\'a\']\nKeyError: \'a\'\n\n'
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "program.py", line 4, in <module>\n    raise ValueError(\'bad\')\nValueError: bad',
    ),
    (
        "try:\n    {}['a']\nexcept KeyError:\n    raise ValueError('bad') from None",
        'Traceback (most recent call last):\n  File "program.py", line 4, in <module>\n'
        "    raise ValueError('bad') from None\nValueError: bad",
    ),
    (
        "exec('x = 1\\n1 / 0')",
        'Traceback (most recent call last):\n  File "program.py", line 1, in <module>\n    exec(\'x = 1\\n1 / 0\')\n'
        '  File "<string>", line 2, in <module>\nZeroDivisionError: division by zero',
    ),
    (
        "raise SystemExit(3)",
        'Traceback (most recent call last):\n  File "program.py", line 1, in <module>\n    raise SystemExit(3)\nSystemExit: 3',
    ),
    (
        "raise KeyboardInterrupt",
        'Traceback (most recent call last):\n  File "program.py", line 1, in <module>\n    raise KeyboardInterrupt\nKeyboardInterrupt',
    ),
    (
        "import asyncio\nraise asyncio.CancelledError",
        'Traceback (most recent call last):\n  File "program.py", line 2, in <module>\n    raise asyncio.CancelledError\n'
        "asyncio.exceptions.CancelledError",
    ),
    (
        "class E(Exception):\n    class Inner(Exception): pass\nraise E.Inner('two\\nlines')",
        'Traceback (most recent call last):\n  File "program.py", line 3, in <module>\n'
        "    raise E.Inner('two\\nlines')\nE.Inner: two\nlines",
    ),
    (
        "from json import nothing",
        'Traceback (most recent call last):\n  File "program.py", line 1, in <module>\n    from json import nothing\n'
        "ImportError: cannot import name 'nothing' from 'json'",
    ),
    (
        "raise Exception('bad \\ud800\\udc00 end')",
        'Traceback (most recent call last):\n  File "program.py", line 1, in <module>\n'
        "    raise Exception('bad \\ud800\\udc00 end')\nException: bad \ufffd\ufffd end",
    ),
    (
        "f = lambda n: f(n)\nf(1)",
        'Traceback (most recent call last):\n  File "program.py", line 2, in <module>\n    f(1)\n'
        + '  File "program.py", line 1, in <lambda>\n    f = lambda n: f(n)\n' * 3
        + "  [Previous line repeated N more times]\nRecursionError: maximum recursion depth exceeded\n"
        "help: a function calls itself without end or too deep: see that it stops, or write a loop",
    ),
]


class Text(unittest.TestCase):
    """The usual forms of a traceback."""

    maxDiff = None

    def test_texts(self) -> None:
        for source, expected in TEXTS:
            with self.subTest(source):
                text = without_carets(text_of(source))
                for number in range(900, 1000):
                    text = text.replace(f"repeated {number} more", "repeated N more")
                self.assertEqual(text, expected)

    def test_like_python(self) -> None:
        """Where all frames are the program's, the text is Python's own, but for the marks below lines."""
        for source, _ in TEXTS[:2] + TEXTS[5:10]:
            with self.subTest(source):
                error, program = failed(source)
                entry = error.__traceback__
                while entry is not None and entry.tb_frame.f_code.co_filename != "program.py":
                    entry = entry.tb_next
                assert program is not None
                with mock.patch.dict("linecache.cache", {"program.py": (1, None, source.splitlines(True), "program.py")}):
                    expected = "".join(traceback.format_exception(type(error), error, entry))
                inner = expected.rstrip("\n")
                own = [part for part in inner.split("\n") if "/test_failure.py" not in part]
                self.assertEqual(without_carets(describe(error, program)), without_carets("\n".join(own)))

    @unittest.skipUnless(CARETS, "no columns")
    def test_carets(self) -> None:
        for source, marked in (
            ("x = 1\nreturn 2 + x / 0", "x / 0"),
            ("é = 'ß'; x = int('é')", "int('é')"),
            ("if 1:\n\treturn 1 + int('x')", "int('x')"),
            ("return [\n  int('x'), 2]", "int('x')"),
            ("x = dict(\n  a=1)['b']", "dict("),
            ("int('x')", None),
            ("raise KeyError", None),
        ):
            with self.subTest(source):
                lines = text_of(source).split("\n")[2:4]
                if marked is None:
                    self.assertNotIn("^", lines[1])
                    continue
                start = lines[1].index("^")
                self.assertEqual(lines[0][start : start + lines[1].count("^")], marked)
                self.assertEqual(lines[1][:start].strip(), "")

    def test_long_line(self) -> None:
        text = text_of(f"x = 0; y = '{'a' * 100_000}'; z = 1 / x; w = '{'b' * 100_000}'")
        self.assertLess(len(text), 1000)
        if CARETS:
            lines = text.split("\n")
            start = lines[3].index("^")
            self.assertEqual(lines[2][start : start + 5], "1 / x")
            self.assertTrue(lines[2].startswith("    ...a") and lines[2].endswith("b..."))

    def test_no_frames(self) -> None:
        self.assertEqual(describe(ValueError("v"), None), "ValueError: v")
        self.assertEqual(describe(ValueError(), Program("")), "ValueError")
        self.assertEqual(describe(ValueError(" "), None), "ValueError:  ")
        error, program = failed("1 / 0")
        self.assertIn("program.py", describe(error, program))
        self.assertEqual(describe(error, None), "ZeroDivisionError: division by zero")

    def test_nothing_of_ours(self) -> None:
        """No frame and no path of this process is shown, anywhere in a chain."""
        source = "import json\ntry:\n    json.loads('{')\nexcept ValueError as e:\n    first = e\ntry:\n    json.loads('[')\nexcept ValueError as e:\n    raise KeyError from first"
        text = text_of(source)
        for words in (sys.prefix, "thirdrail", "test_failure", "decoder.py", "/"):
            self.assertNotIn(words, text)
        self.assertEqual(text.count("json.decoder.JSONDecodeError"), 1)

    def test_other_file_name(self) -> None:
        with main_module() as module:
            program = Program("1 / 0", "cell 7.py")
            try:
                program.execute(module.__dict__)
            except ZeroDivisionError as error:
                self.assertIn('File "cell 7.py", line 1, in <module>\n    1 / 0\n', describe(error, program))

    def test_code_of_the_program(self) -> None:
        """Code that the program compiled under another name is shown without text."""
        text = text_of("exec(compile('def g():\\n    1 / 0', '<made>', 'exec'))\ng()")
        self.assertIn('  File "<made>", line 2, in g\nZeroDivisionError', text)

    def test_deep_stack(self) -> None:
        source = "def a(n):\n    return b(n)\ndef b(n):\n    return a(n - 1) if n else 1 / 0\na(200)"
        text = text_of(source)
        self.assertIn("[343 more frames are left out here]", text)
        self.assertEqual(text.count('File "program.py"'), 60)
        self.assertTrue(text.split("\n")[1].endswith('line 5, in <module>'))
        self.assertTrue(text.endswith("ZeroDivisionError: division by zero"))


SYNTAX_TEXTS: List[Tuple[str, str]] = [
    ("def (", '  File "program.py", line 1\n    def (\n        ^\nSyntaxError: invalid syntax'),
    ("x = 1\nif x:\n    y = (yield 3)\n", '  File "program.py", line 3\n    y = (yield 3)\n         ^^^^^^^\nSyntaxError: \'yield\' outside function'),
    ("x = 1\nclass A:\n    return 5\n", '  File "program.py", line 3\n    return 5\n    ^^^^^^^^\nSyntaxError: \'return\' outside function'),
    (
        "exec('def f(:')",
        'Traceback (most recent call last):\n  File "program.py", line 1, in <module>\n    exec(\'def f(:\')\n'
        '  File "<string>", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax',
    ),
    (
        "compile('x = = 1', '/home/someone/secret.py', 'exec')",
        'Traceback (most recent call last):\n  File "program.py", line 1, in <module>\n'
        "    compile('x = = 1', '/home/someone/secret.py', 'exec')\n"
        '  File "secret.py", line 1\n    x = = 1\n        ^\nSyntaxError: invalid syntax',
    ),
    ("a\0b", '  File "program.py", line 1\n    a\ufffdb\n     ^\nSyntaxError: source code string cannot contain null bytes'),
]


class Syntax(unittest.TestCase):
    """SyntaxErrors show their place, of whatever they are made."""

    maxDiff = None

    def test_texts(self) -> None:
        for source, expected in SYNTAX_TEXTS:
            with self.subTest(source):
                text = text_of(source)
                if sys.version_info < (3, 10):  # one caret, and fewer carets in frames
                    expected = expected.replace("^^^^^^^^\n", "^\n").replace("^^^^^^^\n", "^\n")
                if source.startswith(("exec", "compile")):
                    text, expected = without_carets(text), without_carets(expected)
                self.assertEqual(text, expected)

    def test_made_by_hand(self) -> None:
        """Its parts may be anything that a program gives it."""
        huge = 10**30
        place: Any
        for place in (
            ("f", 1, 1, "x"),
            ("f", 1, None, None),
            ("f", None, 1, "x"),
            (None, 1, 1, "x"),
            (3, "1", [], {}),
            ("f", 1, huge, "x"),
            ("f", huge, -huge, "x" * 100_000),
            ("f", 1, 0, " \n\t "),
            ("f", -1, -1, "\n"),
            ("x" * 70_000, 1, 50_000, "y" * 100_000),
        ):
            error = SyntaxError("made", place)
            for end in (None, 0, -1, huge, "x"):
                if sys.version_info >= (3, 10):
                    setattr(error, "end_offset", end)
                with self.subTest(place=str(place)[:50], end=end):
                    text = describe(error, None)
                    self.assertTrue(text.endswith("SyntaxError: made"), text)
                    self.assertLess(len(text), 2000)
        self.assertEqual(describe(SyntaxError(), None), "SyntaxError")
        self.assertEqual(describe(SyntaxError("only"), None), "SyntaxError: only")


class Chains(unittest.TestCase):
    """Chains and groups are whole while they are short, and bounded."""

    def test_long_chain(self) -> None:
        text = text_of("e = None\nfor i in range(3000):\n    x = ValueError(i); x.__cause__ = e; e = x\nraise e")
        self.assertTrue(text.startswith("ValueError: 0\n\nThe above exception was the direct cause"))
        self.assertIn("\nValueError: 3\n\n[2984 more exceptions of this chain are left out here]\n\nThe above", text)
        self.assertTrue(text.endswith("\nValueError: 2999"))
        self.assertEqual(text.count("ValueError"), 16)

    def test_chain_without_end(self) -> None:
        for count in (1, 2, 3):
            links: List[BaseException] = [ValueError(number) for number in range(count)]
            for number in range(count):
                links[number].__context__ = links[number - 1] if count > 1 else None
            text = describe(links[0], None)
            self.assertEqual(text.count("ValueError"), count)

    def test_chain_that_is_left_alone(self) -> None:
        """The exception is only read: a chain whose attributes can't be set is shown, and stays as it was."""
        source = (
            "class E(Exception):\n"
            "    def __setattr__(self, name, value): raise RuntimeError(name)\n"
            "    def __getattribute__(self, name): raise RuntimeError(name)\n"
            "    def __delattr__(self, name): raise RuntimeError(name)\n"
            "try:\n    raise E(1)\nexcept E:\n    raise E(2)"
        )
        error, program = failed(source)
        before = BaseException.__dict__["__traceback__"].__get__(error)
        text = describe(error, program)
        self.assertIn("E: 1\n\nDuring handling", text)
        self.assertTrue(text.endswith("\nE: 2"))
        self.assertIs(BaseException.__dict__["__traceback__"].__get__(error), before)

    def test_notes(self) -> None:
        error = ValueError("v")
        error.__dict__["__notes__"] = ["one", "two\nlines", 3, "x" * 100_000]
        text = describe(error, None)
        self.assertTrue(text.startswith("ValueError: v\none\ntwo\nlines\n3\nxxx"))
        self.assertLess(len(text), 5000)
        for notes in (  # type: ignore[var-annotated]
            None, 3, {}, "text", [None] * 1000):
            error.__dict__["__notes__"] = notes
            self.assertTrue(describe(error, None).startswith("ValueError: v"))
            self.assertLess(len(describe(error, None)), 200)

    @GROUPS
    def test_groups_like_python(self) -> None:
        source = (
            "def g():\n  try:\n    1 / 0\n  except Exception as e:\n    k = KeyError(1)\n    k.__cause__ = OSError('c')\n"
            "    return ExceptionGroup('inner', [e, k])\n"
            "raise BaseExceptionGroup('outer', [ValueError('a\\nb'), g(), KeyboardInterrupt(), ExceptionGroup('last', [TypeError(2)])])"
        )
        error, program = failed(source)
        text = without_carets(describe(error, program))
        with mock.patch.dict("linecache.cache", {"program.py": (1, None, source.splitlines(True), "program.py")}):
            entry = error.__traceback__
            while entry is not None and entry.tb_frame.f_code.co_filename != "program.py":
                entry = entry.tb_next
            expected = without_carets("".join(traceback.format_exception(type(error), error, entry)).rstrip("\n"))
        self.assertEqual(text, expected)

    @GROUPS
    def test_deep_groups(self) -> None:
        text = text_of("e = ValueError(1)\nfor i in range(150):\n    e = ExceptionGroup(str(i), [e])\nraise e")
        self.assertIn("ExceptionGroup: 149 (1 sub-exception)", text)
        self.assertIn("[groups inside this one are left out]", text)
        self.assertEqual(text.count("ExceptionGroup: "), 11)

    @GROUPS
    def test_wide_groups(self) -> None:
        text = text_of("raise ExceptionGroup('g', [ValueError(i) for i in range(1000)])")
        self.assertIn("ValueError: 14\n    +---------------- ... ----------------\n    | [985 more exceptions are left out here]", text)
        self.assertNotIn("ValueError: 15", text)

    @GROUPS
    def test_bushy_groups(self) -> None:
        """Ten to the tenth exceptions, made of a hundred."""
        source = "e = ValueError(1)\nfor i in range(10):\n    e = ExceptionGroup('g', [e] * 10)\nraise e"
        error, program = failed(source)
        start = time.process_time()
        text = describe(error, program)
        self.assertLess(time.process_time() - start, 5)
        self.assertLessEqual(json_size(text), MESSAGE_BYTES)
        self.assertIn("left out", text)


# Classes whose parts raise, lie or are huge, each raised as E, and the end of the description.
HOSTILE: List[Tuple[str, str]] = [
    ("class E(Exception):\n    def __str__(self): raise ValueError('own')\n    __repr__ = __str__", "E"),
    ("class E(Exception):\n    def __str__(self): raise SystemExit(1)", "E"),
    ("class E(Exception):\n    def __str__(self): raise KeyboardInterrupt", "E"),
    ("class E(Exception):\n    def __str__(self): return 5", "E"),
    ("class E(Exception):\n    def __str__(self): return self.__str__()", "E"),
    ("class E(Exception):\n    def __str__(self): raise self", "E"),
    ("class E(Exception):\n    __str__ = None", "E"),
    ("class S(str):\n    def __len__(self): 1 / 0\n    __getitem__ = __str__ = encode = split = __len__\nclass E(Exception):\n    def __str__(self): return S('told')", "E: told"),
    ("class M(type):\n    def __getattribute__(c, n): raise ValueError(n)\n    __name__ = property(lambda c: 1 / 0)\n    __module__ = __name__\nclass E(Exception, metaclass=M): pass", "E"),
    ("class M(type):\n    def __instancecheck__(c, o): 1 / 0\n    __eq__ = __instancecheck__\n    def __hash__(c): 1 / 0\nclass E(Exception, metaclass=M): pass", "E"),
    ("class E(Exception):\n    __class__ = property(lambda s: 1 / 0)\n    __dict__ = __traceback__ = __cause__ = __context__ = args = __notes__ = __class__", "E"),
    ("class E(Exception):\n    __class__ = SyntaxError", "E"),
    ("class E(Exception): pass\nE.__module__ = 5", "E"),
    ("class E(Exception): pass\nE.__module__ = 'm' * 70_000", "E"),
    ("class E(Exception): pass\nE.__qualname__ = E.__name__ = 'n' * 70_000", "n"),
    ("class S(str):\n    def __getitem__(s, i): 1 / 0\n    __len__ = __str__ = replace = __getitem__\nclass E(Exception): pass\nE.__qualname__ = S('Own')", "Own"),
    ("class E(SyntaxError):\n    msg = filename = lineno = text = offset = property(lambda s: 1 / 0)", "E"),
    ("class E(ImportError):\n    path = property(lambda s: 1 / 0)", "E"),
    ("class K:\n    def __repr__(self): raise ValueError\nclass E(KeyError):\n    def __init__(self): super().__init__(K())", "E"),
    ("class K:\n    def __hash__(self): return hash('__notes__')\n    def __eq__(self, o): 1 / 0\nclass E(Exception):\n    def __init__(self): self.__dict__[K()] = 1", "E"),
]


class Hostile(unittest.TestCase):
    """Nothing that an exception is keeps its name from being told."""

    def test_hostile(self) -> None:
        for source, end in HOSTILE:
            with self.subTest(source):
                text = text_of(source + "\nraise E()")
                self.assertTrue(text.endswith(end), text[-300:])
                self.assertLess(len(text), 2000)

    def test_loops(self) -> None:
        for body in ("while True: pass", "import time; time.sleep(60)", "while True:\n            try: time\n            except Exception: pass"):
            with self.subTest(body), mock.patch.object(failure, "Questions", lambda: inspection.Questions(0.1)):
                start = time.monotonic()
                text = text_of(f"class E(Exception):\n    def __str__(self):\n        {body}\ntry:\n    raise E\nexcept E:\n    raise E")
                self.assertEqual(text.count("\nE"), 2)
                self.assertLess(time.monotonic() - start, 20)

    def test_signals_stay(self) -> None:
        handler: Callable[..., None] = lambda *details: None
        before = signal.signal(signal.SIGALRM, handler)
        try:
            describe(ValueError(1), None)
            self.assertIs(signal.getsignal(signal.SIGALRM), handler)
            self.assertEqual(signal.getitimer(signal.ITIMER_REAL), (0.0, 0.0))
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_from_a_thread(self) -> None:
        texts: List[str] = []
        thread = threading.Thread(target=lambda: texts.append(describe(ValueError("v"), None)))
        thread.start()
        thread.join()
        self.assertEqual(texts, ["ValueError: v"])

    def test_prints(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            text = text_of("class E(Exception):\n    def __str__(self):\n        print('x')\n        return 'said'\nraise E")
        self.assertTrue(text.endswith("\nE: said"))

    def test_frames_made_by_hand(self) -> None:
        """A program can make tracebacks with any numbers, and code with any names."""
        for number, last in ((-5, -1), (10**6, 10**6), (0, 2**30), (2**31 - 1, 3)):
            source = (
                "import sys, types\n"
                f"made = types.TracebackType(None, sys._getframe(), {last}, {number})\n"
                "raise ValueError('v').with_traceback(made)"
            )
            with self.subTest(number=number, last=last):
                self.assertTrue(text_of(source).endswith("\nValueError: v"))
        source = "def f(): 1 / 0\nf.__code__ = f.__code__.replace(co_name='n' * 100_000 + '\\nx')\nf()"
        text = text_of(source)
        self.assertLess(len(text), 2000)
        self.assertTrue(text.endswith("ZeroDivisionError: division by zero"))

    def test_big_texts(self) -> None:
        """An 8 MB text and a 70 MB name are cut before they are copied."""
        for source, end in (
            ("raise Exception('<' + 'z' * 8_000_000 + '>')", "z>"),
            ("class E(Exception):\n    def __str__(self): return 'z' * 8_000_000\nraise E", "zz"),
            ("raise Exception('\\0' * 8_000_000 + '.')", "\0."),
            ("raise Exception('é' * 8_000_000)", "éé"),
            ("raise type('Q' * 70_000_000, (Exception,), {})('q')", "QQ: q"),
        ):
            with self.subTest(source):
                error, program = failed(source)
                gc.collect()
                text = describe(error, program)
                self.assertTrue(text.startswith("Traceback (most recent call last):\n"))
                self.assertTrue(text.endswith(end), text[-20:])
                self.assertIn(" cut …", text)
                self.assertLessEqual(json_size(text), MESSAGE_BYTES)

    def test_last_resort(self) -> None:
        with mock.patch.object(failure._Report, "write", side_effect=MemoryError):
            self.assertEqual(describe(ValueError("v"), None), "ValueError")
            with mock.patch.object(failure, "class_name", side_effect=MemoryError):
                self.assertEqual(describe(ValueError("v"), None), "an exception that can't be shown")

    def test_recursion_is_short(self) -> None:
        """A circle of functions repeats no single place, so that each of its calls would be shown."""
        text = text_of("def f(n): return g(n + 1)\ndef g(n): return f(n)\nf(0)")
        self.assertIn("more frames are left out here]", text)
        self.assertLess(len(text.split("\n")), 25)

    def test_memory_and_recursion(self) -> None:
        for source, name in (("x = bytearray(1 << 60)", "MemoryError"), ("def f(): return f() + 1\nf()", "RecursionError")):
            self.assertIn(f"\n{name}", text_of(source))


CORO = "async def t(): return [1]\n"
NO_HELP = None
AWAIT = "help: `await` is missing"
HELP: List[Tuple[str, Optional[str]]] = [
    (CORO + "t().items()", AWAIT),
    (CORO + "t()['a']", AWAIT),
    (CORO + "for x in t(): pass", AWAIT),
    (CORO + "a, b = t()", AWAIT),
    (CORO + "len(t())", AWAIT),
    (CORO + "'a' + t()", AWAIT),
    (CORO + "1 + t()", AWAIT),
    (CORO + "t() < 1", AWAIT),
    (CORO + "[] + t()", AWAIT),
    (CORO + "t()['a'] = 1", AWAIT),
    (CORO + "','.join([t()])", AWAIT),
    (CORO + "{**t()}", AWAIT),
    (CORO + "t()()", AWAIT),
    (CORO + "int(t())", AWAIT),
    (CORO + "import json\njson.dumps(t())", AWAIT),
    (CORO + "async def m():\n    async for x in t(): pass\nawait m()", AWAIT),
    (CORO + "if t(): 1 / 0", NO_HELP),
    ("raise AttributeError('about a coroutine')", NO_HELP),
    ("raise ValueError(\"'coroutine' object\")", NO_HELP),
    ("class E(TypeError): pass\nraise E(\"'coroutine' object\")", NO_HELP),
    ("import asyncio\nasync def main(): pass\nasync def top():\n    asyncio.run(main())\nasyncio.run(top())", "help: this program runs in an event loop already: write `await main()`"),
    ("async def f():\n    await 1\nawait f()", "help: this value is there already"),
    ("def f():\n    await x\nreturn 1", "help: only `async def` functions can await"),
    ("x = json.dumps(1)", "help: if the module json is meant, write `import json` first"),
    ("x = jsonn.dumps(1)", "help: if the module json is meant, write `import json` first"),
    ("x = jsonn", "help: each run starts fresh"),
    ("raise NameError(\"name 'a b' is not defined\")", NO_HELP),
    ("x = []\nx['a']", NO_HELP),
]


class Help(unittest.TestCase):
    """A frequent mistake that is certain is followed by what to write."""

    def test_help(self) -> None:
        for source, expected in HELP:
            with self.subTest(source):
                last = text_of(source).split("\n")[-1]
                if expected is None:
                    self.assertFalse(last.startswith("help:"), last)
                else:
                    self.assertTrue(last.startswith(expected), last)

    @GROUPS
    def test_in_groups(self) -> None:
        """The members of a group get help too, a few of them."""
        text = text_of(CORO + "e = []\nfor i in range(6):\n  try: t()['a']\n  except TypeError as x: e.append(x)\nraise ExceptionGroup('g', e)")
        self.assertEqual(text.count("    | help: `await` is missing"), 3)

    def test_help_is_never_worth_the_message(self) -> None:
        def broken(error: BaseException, message: Optional[str]) -> Optional[str]:
            raise MemoryError

        self.assertEqual(describe_with(ValueError("v"), None, broken), "ValueError: v")
        self.assertEqual(describe_with(NameError("name 'x' is not defined"), None), "NameError: name 'x' is not defined")

    def test_only_at_the_end(self) -> None:
        text = text_of(CORO + "try:\n    t()['a']\nexcept TypeError:\n    raise ValueError('v')")
        self.assertNotIn("help:", text)


class Cutting(unittest.TestCase):
    """Cuts keep both ends, whole characters and the bound."""

    ALPHABETS = ["a", "é", "名", "😀", '"', "\\", "\n", "\0", "\x7f", "aé名😀\"\0"]

    def test_short_is_kept(self) -> None:
        for alphabet in self.ALPHABETS:
            text = alphabet * 20
            size = json_size(text)
            self.assertIs(cut_middle(text, size), text)
            self.assertIsNot(cut_middle(text, size - 1), text)

    def test_cut(self) -> None:
        for alphabet in self.ALPHABETS:
            for limit in (100, 200, 1000, 32_768):
                text = "<" + alphabet * 40_000 + ">"
                with self.subTest(alphabet=alphabet, limit=limit):
                    cut = cut_middle(text, limit)
                    self.assertLessEqual(json_size(cut), limit)
                    self.assertGreater(json_size(cut), limit - 64 - 12)
                    head, _, rest = cut.partition("\n… ")
                    number, _, tail = rest.partition(" bytes cut …\n")
                    if alphabet != "\n":
                        self.assertTrue(text.startswith(head) and text.endswith(tail))
                        self.assertEqual(len((head + tail).encode()) + int(number), len(text.encode()))
                    self.assertEqual((cut[0], cut[-1]), ("<", ">"))

    def test_every_length(self) -> None:
        for length in range(0, 300):
            text = "é" * length
            self.assertLessEqual(json_size(cut_middle(text, 128)), 128)

    def test_cut_ends(self) -> None:
        self.assertEqual(cut_ends("abc", 3), "abc")
        self.assertEqual(cut_ends("abcdefgh", 4), "ab… 4 characters cut …gh")

        class Odd(str):
            def __getitem__(self, key: Any) -> Any:
                raise ValueError

            __len__ = __str__ = __getitem__  # type: ignore[assignment]

        self.assertEqual(cut_ends(Odd("abc"), 3), "abc")
        self.assertIs(type(cut_ends(Odd("abc"), 3)), str)
        self.assertEqual(cut_ends(Odd("abcdefgh"), 4), "ab… 4 characters cut …gh")

    def test_without_surrogates(self) -> None:
        self.assertEqual(without_surrogates("a\ud83d\ude00b\udfff"), "a\ufffd\ufffdb\ufffd")
        self.assertEqual(without_surrogates("a😀"), "a😀")

    def test_the_bound_of_the_host(self) -> None:
        self.assertEqual(MESSAGE_BYTES, 32 << 10)
        self.assertEqual(cutting._NOTE_BYTES, 64)


class SourceLines(unittest.TestCase):
    """A place in a line of source, however long the line."""

    def test_source_lines(self) -> None:
        for text, start, end, expected in (
            ("x = 1", 0, 0, ["    x = 1"]),
            ("  x = 1  ", 2, 3, ["    x = 1", "    ^"]),
            ("x = 1", 4, 9, ["    x = 1", "        ^^"]),
            ("x", 1, 2, ["    x", "     ^"]),
            ("x", 5, 3, ["    x"]),
            ("\tx\ty", 3, 4, ["    x\ty", "     \t^"]),
            ("", 0, 1, ["    ", "    ^"]),
        ):
            with self.subTest(text=text, start=start):
                self.assertEqual(frames.source_lines(text, start, end), expected)

    def test_long(self) -> None:
        text = "".join(f"{number:04d}," for number in range(2000))
        for start in (0, 5, 100, 239, 240, 5000, 9990, 9999):
            lines = frames.source_lines(text, start, start + 1)
            column = lines[1].index("^")
            self.assertEqual(lines[0][column], text[start])
            self.assertLess(len(lines[0]), 260)


if __name__ == "__main__":
    unittest.main()
