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
_LEGACY_WORDS = 4  # of 32 bits; one alone would repeat among 100,000 runs


class Randomness:
    """The generators of random numbers that exist before the fork."""

    def __init__(self, preloaded: bool) -> None:
        objects = _gc.get_objects()
        if preloaded:
            # A generator that refers to nothing is found only by what refers to it.
            objects += [one for one in _gc.get_referents(*objects) if type(one) is _random.Random]
        self._plain = _once(objects, _random.Random)
        numpy: Any = _sys.modules.get("numpy.random")
        self._sequences: List[Any] = []
        self._legacy: List[Any] = []
        self._bits: List[Any] = []
        if numpy is not None:
            self._sequences = _once(objects, numpy.SeedSequence)
            # The functions of the module itself share one that nothing else may name.
            legacy = _once([*objects, numpy.mtrand._rand], numpy.RandomState)
            # What isn't of the usual kind is renewed by way of its bits.
            self._legacy = [one for one in legacy if type(one._bit_generator) is numpy.MT19937]
            own = {id(one._bit_generator) for one in self._legacy}
            self._bits = [one for one in _once(objects, numpy.BitGenerator) if id(one) not in own]

    def renew(self) -> None:
        """Give each generator a state that no other child has."""
        for plain in self._plain:
            plain.seed(None)
        for legacy in self._legacy:
            seed = _urandom(_LEGACY_WORDS * 4)
            legacy.seed([int.from_bytes(seed[i : i + 4], "little") for i in range(0, len(seed), 4)])
        for bits in self._bits:
            bits.state = type(bits)().state
        for sequence in self._sequences:
            # What is spawned of it comes from here, and not from the state of bits.
            sequence.__init__(pool_size=sequence.pool_size)
        process: Any = _sys.modules.get("multiprocessing.process")
        if process is not None:
            process.current_process().authkey = _urandom(_AUTHENTICATION_BYTES)


def _once(objects: List[Any], kind: type) -> List[Any]:
    """Return the objects of a kind, each once."""
    # Not isinstance, which asks the object too.
    return list({id(one): one for one in objects if issubclass(type(one), kind)}.values())


def mend() -> None:
    """Correct what Python remembers of the process and of its thread."""
    threading: Any = _sys.modules.get("threading")
    if threading is not None:
        threading.main_thread()._native_id = _get_native_id()
