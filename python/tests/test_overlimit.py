"""Tests of overlimit: the limit of the run that an exception comes from is named.

Run with any Python from 3.9 on: python3 -m unittest test_overlimit
"""

from __future__ import annotations

import errno
import os
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from thirdrail_child import overlimit  # noqa: E402
from thirdrail_child.overlimit import exceeded  # noqa: E402

ALL = {"memory": 64 << 20, "diskBytes": 8 << 20, "openFiles": 256, "processes": 32}


def oserror(number: int) -> OSError:
    return OSError(number, os.strerror(number))


class Mine(MemoryError):
    """A class of the program's own."""

    errno = property(lambda self: 1 / 0)


# What is raised, what its help must have with all limits, and with none; None is no help.
CASES = (
    (MemoryError(), "memory limit of 64 MiB", "memory limit is used up"),
    (Mine("full"), "memory limit of 64 MiB", "memory limit is used up"),
    (oserror(errno.ENOMEM), "memory limit of 64 MiB", "memory limit is used up"),
    (oserror(errno.EMFILE), "256 files open at once (its limit of open files)", None),
    (oserror(errno.ENOSPC), "8 MiB of disk (its disk limit)", None),
    (oserror(errno.EFBIG), "8 MiB of disk (its disk limit)", None),
    (oserror(errno.EAGAIN), "32 processes and threads at once (its limit of processes)", None),
    (RuntimeError("can't start new thread"), "32 processes and threads", "memory limit is used up"),
    (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable", "pipe"), None, None),
    (oserror(errno.ENOENT), None, None),
    (OSError("no number"), None, None),
    (RuntimeError("other"), None, None),
    (ValueError(28), None, None),
)


class TestOverLimit(unittest.TestCase):
    def test_cases(self) -> None:
        for limits, column in ((ALL, 1), ({}, 2)):
            for case in CASES:
                with self.subTest(error=repr(case[0]), limits=limits), mock.patch.dict(overlimit._limits, clear=True):
                    overlimit.know(limits)
                    hint = exceeded(case[0], str(case[0]))
                    if case[column] is None:
                        self.assertIsNone(hint)
                    else:
                        self.assertIn(case[column], hint)

    def test_threads_without_processes(self) -> None:
        with mock.patch.dict(overlimit._limits, {"memory": 1 << 30}, clear=True):
            hint = exceeded(RuntimeError("can't start new thread"), "can't start new thread")
            self.assertIn("memory limit of 1 GiB", hint)
            self.assertIn("fewer threads", hint)

    def test_sizes(self) -> None:
        for size, text in ((1 << 30, "1 GiB"), (1536 << 20, "1536 MiB"), (3 << 10, "3 KiB"), (1000, "1000 bytes")):
            with mock.patch.dict(overlimit._limits, {"memory": size}, clear=True):
                self.assertIn(f"memory limit of {text} is", exceeded(MemoryError(), ""))


if __name__ == "__main__":
    unittest.main()
