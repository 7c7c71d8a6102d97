"""Puts the interpreter's own code into huge pages, in the nursery, once.

A fork copies no page table of a file that is mapped, so each child comes to each page of
the interpreter's code by a trap into the kernel, and on a virtual machine by another into
the host. Code in huge pages is memory like any other: a child has it at once. What is in
the pages, and where they are, stays the same; only code and constants are moved.
"""

from __future__ import annotations

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Tuple

    from thirdrail_child.native import System

_HUGE_BYTES = 2 << 20
# From sys/mman.h.
_READ_WRITE, _READ_EXECUTE = 1 | 2, 1 | 4
_PRIVATE_ANONYMOUS = 2 | 32
_HUGE_PAGES = 14  # MADV_HUGEPAGE
_MAY_MOVE_FIXED = 1 | 2


def enlarge_text(system: System) -> None:
    """Move what can be moved. Where the kernel refuses, all stays as it was."""
    try:
        for start, end in _whole_huge_pages(_maps()):
            _move(system, start, end - start)
    except OSError:
        pass  # children are only slower


def _maps() -> bytes:
    file = posix.open("/proc/self/maps", posix.O_RDONLY)
    text = b""
    while True:
        piece = posix.read(file, 1 << 16)
        if not piece:
            break
        text += piece
    posix.close(file)
    return text


def _whole_huge_pages(maps: bytes) -> "List[Tuple[int, int]]":
    """Return which huge pages hold nothing but one file's code and constants."""
    runs: List[Tuple[int, int, bytes]] = []
    for line in maps.split(b"\n"):
        words = line.split(None, 5)
        if len(words) < 6 or not words[5].startswith(b"/") or words[1] not in (b"r-xp", b"r--p"):
            continue
        start, end = (int(number, 16) for number in words[0].split(b"-"))
        if runs and runs[-1][1:] == (start, words[5]):
            start = runs.pop()[0]
        runs.append((start, end, words[5]))
    whole = []
    for start, end, _ in runs:
        start, end = -(-start // _HUGE_BYTES) * _HUGE_BYTES, end // _HUGE_BYTES * _HUGE_BYTES
        if start < end:
            whole.append((start, end))
    return whole


def _move(system: System, start: int, size: int) -> None:
    mapped = system.call("mmap", 0, size + _HUGE_BYTES, _READ_WRITE, _PRIVATE_ANONYMOUS, -1, 0)
    aligned = -(-mapped // _HUGE_BYTES) * _HUGE_BYTES
    system.try_call("madvise", aligned, size, _HUGE_PAGES)
    system.copy(aligned, start, size)
    try:
        system.call("mprotect", aligned, size, _READ_EXECUTE)
        # The kernel puts one in the place of the other between two instructions.
        system.call("mremap", aligned, size, size, _MAY_MOVE_FIXED, start)
    except OSError:
        system.call("munmap", mapped, size + _HUGE_BYTES)
        raise
    for left, end in ((mapped, aligned), (aligned + size, mapped + size + _HUGE_BYTES)):
        if left < end:
            system.call("munmap", left, end - left)
