"""Finds out, before any text is made, whether a value is ordinary, so that _json may encode it.

Types are told by identity alone: to hash or compare a class of the program could run its metaclass. Whatever is out of the ordinary
is left to codec_walk: other types, NaN, deep, looped or vastly shared containers, surrogates, huge ints, doubles that Python and
ECMAScript spell differently, and whatever seems over budget. So a survey may give up at any time, but never be wrong.
"""

from __future__ import annotations

from _operator import is_
from itertools import repeat

from thirdrail_child.codec_numbers import EXACT_DOUBLE_LIMIT, fits_double
from thirdrail_child.codec_strings import LONG_STRING, string_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Collection, List, Optional

# Values deeper than this are left to the walk, so that neither the C stack nor the recursion limit is ever near.
_LEVELS = 64

# What stands for the budget where there is none: beyond it, a value is taken to be one that sharing blows up.
_NO_BUDGET = 1 << 26

# From this many elements on, a list is worth the attempt to look at it as a whole.
_LONG_LIST = 32

# Ints beyond this are converted and measured by the walk.
_LARGE_INT = 1 << 1000

# Python spells integral floats from here on with an exponent, and others nearer to zero than the second limit.
_FIRST_EXPONENT = 1e16
_LAST_EXPONENT = 1e-4


class Undecided(Exception):
    """The value is not ordinary, or not known to be."""


class Survey:
    """A survey of one value.

    After run, least_size is a lower bound of its text's size in bytes, and whole_floats the number of floats (in the double
    profile) whose text from Python has a `.0` too much.
    """

    def __init__(self, double: bool, budget: Optional[int]) -> None:
        self._double = double
        self._room = _NO_BUDGET if budget is None else budget
        self.least_size = 0
        self.whole_floats = 0

    def run(self, value: object) -> None:
        """Return if value, a list or dict, is ordinary, and raise Undecided if it is not known to be."""
        self.least_size = self._room - self._look((value,), self._room + 1, _LEVELS)

    def _look(self, items: Collection[Any], room: int, levels: int) -> int:
        """Look at items, and return what they leave of room; it is reckoned by the least that they can take as text."""
        double = self._double
        room -= 2 * len(items)  # each at least one byte, and a comma or the bracket at the end
        if room < 0 or not levels:
            raise Undecided
        for item in items:
            kind = type(item)
            if kind is str:
                room -= len(item) + 1
                if len(item) > LONG_STRING and room < 5 * len(item):
                    room -= string_size(item, room + len(item) + 2) - len(item) - 2
            elif kind is dict:
                if 5 * len(item) > room:  # before any step that takes time
                    raise Undecided
                for key in item:
                    if type(key) is not str:
                        raise Undecided
                    room -= len(key) + 3
                    if len(key) > LONG_STRING and room < 5 * len(key):
                        room -= string_size(key, room + len(key) + 2) - len(key) - 2
                room = self._look(item.values(), room, levels - 1)
            elif kind is list:
                if 2 * len(item) > room:
                    raise Undecided
                if len(item) < _LONG_LIST or not all(map(is_, map(type, item), repeat(type(item[0])))):
                    room = self._look(item, room, levels - 1)
                else:
                    room = self._look_at_alike(item, room, levels - 1)
            elif kind is int:
                if not -EXACT_DOUBLE_LIMIT <= item <= EXACT_DOUBLE_LIMIT:
                    self._large_int(item)
            elif kind is float:
                if double and (-_LAST_EXPONENT < item < _LAST_EXPONENT or item.is_integer()):
                    self._whole_float(item)
            elif kind is not bool and item is not None:
                raise Undecided
            if room < 0:
                raise Undecided
        return room

    def _look_at_alike(self, items: List[Any], room: int, levels: int) -> int:
        """Look at items that are all of one type, at the speed of C if it is a frequent one."""
        kind = type(items[0])
        if kind is int and max(items) <= EXACT_DOUBLE_LIMIT and min(items) >= -EXACT_DOUBLE_LIMIT:
            room -= 2 * len(items)
        elif kind is str and len(items) <= room:
            length = sum(map(len, items))
            if length > LONG_STRING and room < 6 * length + 3 * len(items):
                return self._look(items, room, levels)
            room -= length + 3 * len(items)
        elif (kind is float and not self._double) or kind is bool or items[0] is None:
            room -= 2 * len(items)
        else:
            return self._look(items, room, levels)
        if room < 0:
            raise Undecided
        return room

    def _large_int(self, number: int) -> None:
        if not -_LARGE_INT <= number <= _LARGE_INT or (self._double and not fits_double(number)):
            raise Undecided

    def _whole_float(self, number: float) -> None:
        """Count an integral float, unless its text or that of a tiny one differs by more than the `.0`."""
        if not -_FIRST_EXPONENT < number < _FIRST_EXPONENT or not number.is_integer() or repr(number) == "-0.0":
            raise Undecided
        self.whole_floats += 1
