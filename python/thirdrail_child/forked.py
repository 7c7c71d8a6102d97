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
    from typing import Any, List, Optional, Tuple

_AUTHENTICATION_BYTES = 32  # as multiprocessing has it
_TWISTER_WORDS = 624  # of 32 bits, the state of a Mersenne twister


class Randomness:
    """The generators of random numbers that exist before the fork.

    What can be done once is done here. In a child each page that is touched is copied.
    """

    def __init__(self, preloaded: bool) -> None:
        objects = _gc.get_objects()
        if preloaded:
            # A generator that refers to nothing is found only by what refers to it.
            objects += [one for one in _gc.get_referents(*objects) if type(one) is _random.Random]
        self._own: List[Any] = []
        self._plain: List[Any] = []
        usual: Any = _sys.modules["random"].Random.seed
        for plain in _once(objects, _random.Random):
            plain.seed(None)  # and no more normally distributed number is kept for later
            seed = getattr(type(plain), "seed", None)
            (self._plain if seed in (usual, _random.Random.seed) else self._own).append(plain)
        self._sequences: List[Any] = []
        self._twisters: List[Tuple[Any, memoryview]] = []
        self._bits: List[Any] = []
        numpy: Any = _sys.modules.get("numpy.random")
        if numpy is not None:
            self._find_numpy(numpy, objects)

    def _find_numpy(self, numpy: Any, objects: List[Any]) -> None:
        # The functions of the module itself share one that nothing else may name.
        shared = numpy.mtrand._rand
        legacy = _once([*objects, shared], numpy.RandomState)
        for one in legacy:
            state = one.get_state(legacy=False)
            state["has_gauss"], state["gauss"] = 0, 0.0
            one.set_state(state)
        bits = _once([*objects, *[one._bit_generator for one in legacy]], numpy.BitGenerator)
        for one in bits:
            memory = _twister_memory(one) if type(one) is numpy.MT19937 else None
            if memory is None:
                self._bits.append(one)
            else:
                self._twisters.append((one, memory))
        # Nobody spawns from the shared one, and a sequence takes a hundred pages.
        unused = getattr(shared._bit_generator, "_seed_seq", None)
        self._sequences = [one for one in _once(objects, numpy.SeedSequence) if one is not unused]

    def renew(self) -> None:
        """Give each generator a state that no other child has."""
        for plain in self._plain:
            _random.Random.seed(plain)
        for own in self._own:
            own.seed(None)
        for _, memory in self._twisters:
            memory[:] = _urandom(len(memory))
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


def _twister_memory(twister: Any) -> Optional[memoryview]:
    """Return where numpy.random.MT19937 has its state, or None if that isn't as expected."""
    key = _urandom(_TWISTER_WORDS * 4)
    state = {"key": memoryview(key).cast("I"), "pos": _TWISTER_WORDS}
    try:
        twister.state = {"bit_generator": "MT19937", "state": state}
        byte: Any = __import__("ctypes").c_ubyte  # which numpy has imported
        view = memoryview((byte * (len(key) + 4)).from_address(twister.ctypes.state_address)).cast("B")
    except Exception:
        return None
    if bytes(view) != key + _TWISTER_WORDS.to_bytes(4, _sys.byteorder):
        return None
    return view[: len(key)]


def mend() -> None:
    """Correct what Python remembers of the process and of its thread."""
    threading: Any = _sys.modules.get("threading")
    if threading is not None:
        threading.main_thread()._native_id = _get_native_id()
