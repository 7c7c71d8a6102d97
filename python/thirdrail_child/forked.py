"""What a forked child has to change, so that it is like one that was started by itself.

Python's own fork would run hooks for threads, locks and random numbers. The nursery
has one thread and holds no lock, so that only this is left of them.
"""

from __future__ import annotations

import _random
import sys as _sys
from _thread import get_native_id as _get_native_id
from posix import urandom as _urandom

import gc as _gc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List

_AUTHENTICATION_BYTES = 32  # as multiprocessing has it


class Randomness:
    """The generators of random numbers that exist before the fork."""

    def __init__(self) -> None:
        objects = _gc.get_objects()
        self._plain: List[Any] = [one for one in objects if isinstance(one, _random.Random)]
        numpy: Any = _sys.modules.get("numpy.random")
        self._legacy: List[Any] = []
        self._bits: List[Any] = []
        if numpy is not None:
            # The module's own functions share a generator that nothing else names.
            self._legacy = [one for one in objects if isinstance(one, numpy.RandomState)]
            shared = numpy.mtrand._rand
            if all(one is not shared for one in self._legacy):
                self._legacy.append(shared)
            own = {id(one._bit_generator) for one in self._legacy}
            self._bits = [
                one for one in objects if isinstance(one, numpy.BitGenerator) and id(one) not in own
            ]

    def renew(self) -> None:
        """Give each generator a state that no other child has."""
        for plain in self._plain:
            _random.Random.seed(plain)
            plain.gauss_next = None
        for legacy in self._legacy:
            legacy.seed(int.from_bytes(_urandom(4), "little"))
        for bits in self._bits:
            bits.state = type(bits)().state
        process: Any = _sys.modules.get("multiprocessing.process")
        if process is not None:
            process.current_process().authkey = _urandom(_AUTHENTICATION_BYTES)


def mend() -> None:
    """Correct what Python remembers of the process and of its thread."""
    threading: Any = _sys.modules.get("threading")
    if threading is not None:
        threading.main_thread()._native_id = _get_native_id()
