"""Copies in one go the pages that each child is going to write to.

A forked child shares all memory with the nursery. Its first write to each page goes to
the kernel, which copies the page: many hundred times until a program has run, at a
multiple of what the copying costs. The host has seen which pages the first child
wrote to, which ran no program.
"""

from __future__ import annotations

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Tuple

    from thirdrail_child.native import System

_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE, from Linux 5.14 on
_SELF = -10000  # PIDFD_SELF_THREAD, from Linux 6.14 on
_RANGE_BYTES = 16


class Pages:
    """Ranges of this process's memory, as the host gives them: see pages_linux.go."""

    def __init__(self, system: System, file: int, size: int) -> None:
        self._system = system
        ranges: List[Tuple[int, int]] = []
        content = posix.pread(file, size, 0)
        kept = bytearray()
        for i in range(0, len(content), _RANGE_BYTES):
            one = content[i : i + _RANGE_BYTES]
            start, length = memoryview(one).cast("N")
            # What the child has mapped by itself isn't here.
            if system.try_call("madvise", start, length, _POPULATE_WRITE) == 0:
                ranges.append((start, length))
                kept += one
        self._vector = kept
        self._ranges = ranges
        self._address = system.address(kept) if kept else 0
        self._at_once = bool(kept) and self._copy_at_once() > 0

    def copy(self) -> None:
        """Make the pages this process's own."""
        if self._at_once:
            self._copy_at_once()
            return
        for start, length in self._ranges:
            self._system.try_call("madvise", start, length, _POPULATE_WRITE)

    def _copy_at_once(self) -> int:
        return self._system.try_call("process_madvise", _SELF, self._address, len(self._ranges), _POPULATE_WRITE, 0)
