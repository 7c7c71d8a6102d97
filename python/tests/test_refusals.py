"""Tests of what a program is told that the confinement refused something.

Run with any Python from 3.9 on: python3 -m unittest test_refusals
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple
from unittest import mock

sys.path[:0] = [str(Path(__file__).resolve().parent.parent), str(Path(__file__).resolve().parent)]

from test_failure import failed  # noqa: E402
from test_hints import CONFINED, NAMESPACES  # noqa: E402
from thirdrail_child import hints_refused, refusals  # noqa: E402
from thirdrail_child.hints import hint_for  # noqa: E402
from thirdrail_child.surroundings import Surroundings  # noqa: E402


def os_failure(kind: type, code: int, path: Optional[str] = None, source: str = "fail()") -> Tuple[BaseException, Any]:
    """Return an error that a line of a program raised."""
    error = kind(code, os.strerror(code), path) if path else kind(code, os.strerror(code))
    holder = mock.Mock(fail=mock.Mock(side_effect=error), error=error)
    with mock.patch.dict(sys.modules, {"holder": holder}):
        raised, program = failed(f"from holder import error, fail\n{source}")
    return raised, program


OPEN = Surroundings({"processes": True, "network": True}, NAMESPACES)
ALONE = Surroundings({})
WITH_DATA = Surroundings({}, NAMESPACES, True)
FREE = Surroundings(None, NAMESPACES)

# The number, the path, the program's line, and what is told.
REFUSED: List[Tuple[int, Optional[str], str, str]] = [
    (errno.EPERM, None, "fail()  # os.fork()", "use threads (concurrent.futures.ThreadPoolExecutor) or asyncio, or a function of tools or web"),
    (errno.EPERM, None, "fail()  # os.execvp('a')", "use Python's own modules"),
    (errno.EPERM, None, "fail()  # os.system('a')", "no other program can be started"),
    (errno.EPERM, None, "fail()  # socket.socket()", "there is no network here: use a function of tools or web instead"),
    (errno.ENETUNREACH, None, "fail()  # sock.connect()", "there is no network here"),
    (errno.EPERM, None, "fail()", "may not do this"),
    (errno.EACCES, "/etc/shadow", "fail()", "sees only its own folder"),
    (errno.ENOENT, "/home/user/data.csv", "fail()", "get its content from a function of tools or web"),
    (errno.ENOENT, "data.csv", "fail()", "new and empty folder: write the file first"),
    (errno.ENOENT, "/tmp/data.csv", "fail()", "new and empty folder"),
    (errno.ENOENT, "../../data.csv", "fail()", "sees only its own folder"),
    (errno.EROFS, "/usr/x.txt", "fail()", "write only in its own folder, which is the current one: use the path 'x.txt'"),
    (errno.EXDEV, "/usr/x.txt", "fail()", "use the path 'x.txt'"),
    (errno.EACCES, "/mnt/data/x.txt", "fail()  # open(path, 'w')", "use the path 'x.txt'"),
    (errno.ENOENT, "/mnt/data/x.txt", "fail()  # df.to_csv(path)", "use the path 'x.txt'"),
    (errno.EROFS, "/", "fail()", "which is the current one"),
    (errno.EACCES, "data.csv", "fail()", ""),
    (errno.ENOENT, "spawn.csv", "fail()  # open('execl-spawn.csv')", "new and empty folder"),
    (errno.EPERM, None, "raise error", ""),
    (errno.EACCES, "/etc/x", "raise error", ""),
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
        for line in ("fail()  # socket()", "fail()  # os.fork()"):
            error, program = os_failure(OSError, errno.EPERM, None, line)
            self.assertIsNone(hint_for(error, str(error), program, OPEN))
        error, program = os_failure(OSError, errno.EACCES, "/bin/ls", "fail()  # os.execv()")
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
                exec("def call(error): raise error", scope)  # a library's function
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
        error, program = os_failure(PermissionError, errno.EPERM, None, "fail()  # os.fork()")
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


if __name__ == "__main__":
    unittest.main()
