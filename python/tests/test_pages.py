"""Tests of pages: a forked process gets the pages of its own at once.

Run with any Python from 3.9 on: python3 -m unittest test_pages
"""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from thirdrail_child.native import System  # noqa: E402
from thirdrail_child.pages import Pages  # noqa: E402

PAGE = mmap.PAGESIZE
EXCLUSIVE = 1 << 56  # Documentation/admin-guide/mm/pagemap.rst
PRESENT = 1 << 63


def vector(*ranges: "tuple[int, int]") -> bytes:
    return b"".join(n.to_bytes(8, sys.byteorder) for one in ranges for n in one)


@unittest.skipUnless(sys.platform == "linux" and os.access("/proc/self/pagemap", os.R_OK), "needs /proc/self/pagemap of Linux")
class PagesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.system = System(os.uname().machine)
        self.memory = mmap.mmap(-1, 8 * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.memory.write(b"x" * 8 * PAGE)
        self.start = self.system.address(self.memory)  # type: ignore[arg-type]

    def own(self, pages: Pages) -> str:
        """Return which of the eight pages are a forked child's own when it has copied."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            pages.copy()
            with open("/proc/self/pagemap", "rb") as table:
                table.seek(self.start // PAGE * 8)
                entries = memoryview(table.read(8 * 8)).cast("Q")
            os.write(write, "".join("o" if e & EXCLUSIVE and e & PRESENT else "-" for e in entries).encode())
            os._exit(0)
        os.close(write)
        os.waitpid(pid, 0)
        with open(read) as answer:
            return answer.read()

    def pages(self, *ranges: "tuple[int, int]") -> Pages:
        with tempfile.TemporaryFile() as file:
            content = vector(*ranges)
            file.write(content)
            file.flush()
            return Pages(self.system, file.fileno(), len(content))

    def at(self, page: int, count: int) -> "tuple[int, int]":
        return self.start + page * PAGE, count * PAGE

    def test_copies_these_and_no_others(self) -> None:
        self.assertEqual(self.own(self.pages()), "--------")
        self.assertEqual(self.own(self.pages(self.at(1, 2), self.at(5, 1))), "-oo--o--")

    def test_one_by_one_where_the_kernel_takes_one(self) -> None:
        real = self.system.try_call

        def refusing(name: str, *arguments: "int | bytes | None") -> int:
            return -22 if name == "process_madvise" else real(name, *arguments)

        with mock.patch.object(self.system, "try_call", refusing):
            self.assertEqual(self.own(self.pages(self.at(0, 1), self.at(6, 2))), "o-----oo")

    def test_leaves_out_what_is_not_mapped(self) -> None:
        gone = (1 << 46, PAGE)
        self.assertEqual(self.own(self.pages(self.at(0, 1), gone, self.at(7, 1))), "o------o")

    def test_needs_nothing_of_an_old_kernel(self) -> None:
        with mock.patch.object(self.system, "try_call", lambda *_: -22):
            self.assertEqual(self.own(self.pages(self.at(0, 8))), "--------")


if __name__ == "__main__":
    unittest.main()
