"""Tests of text: the interpreter's code in huge pages.

Run with any Python from 3.9 on: python3 -m unittest test_text
"""

from __future__ import annotations

import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))

from thirdrail_child import text  # noqa: E402

MIB = 1 << 20


def line(start: int, end: int, rights: str, name: str) -> str:
    return f"{start:x}-{end:x} {rights} 00000000 fe:00 123                     {name}\n"


class ChoiceTest(unittest.TestCase):
    def chosen(self, *lines: str) -> "list[tuple[int, int]]":
        return text._whole_huge_pages("".join(lines).encode())

    def test_code_and_constants_that_lie_together(self) -> None:
        got = self.chosen(
            line(4 * MIB, 5 * MIB, "r--p", "/usr/bin/python3"),
            line(5 * MIB, 7 * MIB, "r-xp", "/usr/bin/python3"),
            line(7 * MIB, 9 * MIB, "r--p", "/usr/bin/python3"),
            line(9 * MIB, 12 * MIB, "rw-p", "/usr/bin/python3"),
        )
        self.assertEqual(got, [(4 * MIB, 8 * MIB)])

    def test_only_whole_ones(self) -> None:
        self.assertEqual(self.chosen(line(3 * MIB, 7 * MIB, "r-xp", "/a b/libpython3.so")), [(4 * MIB, 6 * MIB)])
        self.assertEqual(self.chosen(line(3 * MIB, 5 * MIB, "r-xp", "/lib/libc.so.6")), [])

    def test_nothing_else(self) -> None:
        self.assertEqual(self.chosen(line(2 * MIB, 8 * MIB, "r-xp", "[vdso]"), "broken\n", line(8 * MIB, 12 * MIB, "r--s", "/x")), [])

    def test_two_files_are_not_one(self) -> None:
        self.assertEqual(self.chosen(line(3 * MIB, 5 * MIB, "r-xp", "/a"), line(5 * MIB, 7 * MIB, "r-xp", "/b")), [])


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from thirdrail_child import native, text
import os
before = text._whole_huge_pages(text._maps())
system = native.System(os.uname().machine)
text.enlarge_text(system)
after = text._whole_huge_pages(text._maps())
assert after == [], after
# What has moved still runs, and so does a child.
pid = os.fork()
if pid == 0:
    os._exit(sum(ord(c) for c in str(2 ** 500)) % 7)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == sum(ord(c) for c in str(2 ** 500)) % 7
for start, end in before:
    assert any(
        int(words[0].split("-")[0], 16) <= start and end <= int(words[0].split("-")[1], 16) and words[1] == "r-xp" and len(words) == 5
        for words in (line.split() for line in open("/proc/self/maps"))
    ), (start, end)
print(len(before))
"""


@unittest.skipUnless(sys.platform == "linux", "needs Linux")
class MoveTest(unittest.TestCase):
    def test_all_stays_as_it_is(self) -> None:
        done = subprocess.run([sys.executable, "-I", "-c", PROGRAM, str(HERE)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_kernel_that_refuses(self) -> None:
        calls = []

        class Refusing:
            def call(self, name: str, *arguments: object) -> int:
                calls.append(name)
                if name in ("mprotect", "mremap"):
                    raise PermissionError
                return 4 * MIB

            def try_call(self, name: str, *arguments: object) -> int:
                return -22

            def copy(self, to: int, start: int, size: int) -> None:
                pass

        maps = line(4 * MIB, 6 * MIB, "r-xp", "/usr/bin/python3").encode()
        with mock.patch.object(text, "_maps", lambda: maps):
            text.enlarge_text(Refusing())  # type: ignore[arg-type]
        self.assertEqual(calls, ["mmap", "mprotect", "munmap"])


if __name__ == "__main__":
    unittest.main()
