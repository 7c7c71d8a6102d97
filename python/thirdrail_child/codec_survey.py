"""Finds out, at the speed of C, whether a value is ordinary, so that _json may encode it.

The survey goes down the value level by level. On each level it takes the items of many containers together, and looks at them with
map, compress and sum only, which run no Python code for an item. Types are told by identity: hashing or comparing a class of the
program could run its metaclass. Whatever is out of the ordinary is left to codec_walk: other types, NaN, deep or looped or vastly
shared containers, surrogates, huge ints, and doubles that Python and ECMAScript spell differently.
"""

from __future__ import annotations

from _operator import is_
from itertools import chain, compress, filterfalse, islice, repeat

from thirdrail_child.codec_numbers import EXACT_DOUBLE_LIMIT, fits_double
from thirdrail_child.codec_refusal import OverBudget
from thirdrail_child.codec_strings import LONG_STRING, string_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Collection, Dict, Iterable, List, Optional, Sequence

# Values deeper than this are left to the walk, so that neither the C stack nor the recursion limit is ever near.
_LEVELS = 64

# Containers on a level, and items on one, beyond which a value is taken to be one that sharing blows up.
_CONTAINERS = 1 << 21
_ITEMS = 1 << 25

# Items looked at together: enough to make the steps between them cheap, few enough to stay in the processor's cache.
_BATCH = 1 << 13

# Ints beyond this are converted and measured by the walk.
_LARGE_INT = 1 << 1000

# Integral floats from here on have an exponent in Python's spelling, and so have those nearer to zero than the other limit.
_FIRST_EXPONENT = 1e16
_LAST_EXPONENT = 1e-4

_NONE, _BOOL, _INT, _FLOAT, _STR, _LIST, _DICT = range(7)
# The codes of the types, by identity, and the least that a value takes beside its contents; containers are counted by level.
_CODES = {id(kind): code for code, kind in enumerate((type(None), bool, int, float, str, list, dict))}

_LEAST_SIZES = (4, 4, 1, 1, 2, 0, 0)

# For each code a translation table that makes a row of codes one of selectors.
_SELECTORS = [bytes(code == selected for code in range(256)) for selected in range(len(_CODES))]

# What a small value may come to: about its bytes as JSON, a container counting _CONTAINER_ROOM more so that depth is bounded too.
_SMALL_ROOM = 1024
_CONTAINER_ROOM = 32


class Undecided(Exception):
    """The value is not ordinary, or not known to be."""


def is_small(value: object, double: bool) -> bool:
    """Tell whether a list or dict is small and ordinary, so that no survey is needed."""
    return _room_left((value,), double, _SMALL_ROOM) >= 0


def _room_left(items: Collection[Any], double: bool, room: int) -> int:
    """Return what is left of room after items, negative if there is too little or an item is not ordinary."""
    if len(items) > room:
        return -1
    for item in items:
        kind = type(item)
        if kind is str:
            room -= len(item)
        elif kind is int:
            if not -EXACT_DOUBLE_LIMIT <= item <= EXACT_DOUBLE_LIMIT:
                return -1
        elif kind is dict:
            for key in item:
                if type(key) is not str:
                    return -1
                room -= len(key)
            room = _room_left(item.values(), double, room - _CONTAINER_ROOM)
        elif kind is list:
            room = _room_left(item, double, room - _CONTAINER_ROOM)
        elif kind is float:
            if double and (item.is_integer() or -_LAST_EXPONENT < item < _LAST_EXPONENT):
                return -1
        elif kind is not bool and item is not None:
            return -1
        room -= 4
        if room < 0:
            return room
    return room


class Survey:
    """One survey in progress."""

    def __init__(self, double: bool, budget: Optional[int], place: str) -> None:
        self._double = double
        self._budget = budget
        self._place = place
        self._size = 0  # a lower bound of the text of what was seen, kept only where there is a budget
        self._whole_floats = 0
        self._level = 0
        self._lists: List[List[Any]] = []
        self._dicts: List[Dict[Any, Any]] = []

    def run(self, value: Any) -> int:
        """Return the number of floats whose text has a `.0` too much (in the double profile), or raise Undecided or OverBudget."""
        if type(value) is list:
            self._lists.append(value)
        else:
            self._dicts.append(value)
        for self._level in range(_LEVELS):
            lists, dicts = self._lists, self._dicts
            if not lists and not dicts:
                return self._whole_floats
            self._lists, self._dicts = [], []
            self._check_level(lists, dicts)
            self._keys(dicts)
            for items in (chain.from_iterable(lists), chain.from_iterable(map(dict.values, dicts))):
                batch = list(islice(items, _BATCH))
                while batch:
                    self._values(batch)
                    batch = list(islice(items, _BATCH))
        raise Undecided

    def _check_level(self, lists: Sequence[List[Any]], dicts: Sequence[Dict[Any, Any]]) -> None:
        """Judge a level by the number of its containers and of their items, before any item is looked at."""
        elements, members = sum(map(len, lists)), sum(map(len, dicts))
        if self._budget is not None:
            # Brackets, an item's least byte and the commas between them; quotes and colon of a key.
            separators = max(0, elements - len(lists)) + max(0, members - len(dicts)) + 3 * members
            self._count(2 * (len(lists) + len(dicts)) + separators)
            self._check_budget(self._size + elements + members)
        if elements + members > _ITEMS:
            raise Undecided

    def _keys(self, dicts: Sequence[Dict[Any, Any]]) -> None:
        """Look at the keys of dicts."""
        if not all(map(is_, map(type, chain.from_iterable(dicts)), repeat(str))):
            raise Undecided
        if self._budget is not None:
            length = sum(map(len, chain.from_iterable(dicts)))
            self._count(length)
            if self._may_exceed(length):
                self._measure(chain.from_iterable(dicts))

    def _values(self, values: List[Any]) -> None:
        """Look at items, and keep the containers among them for the next level."""
        kind = type(values[0])
        if all(map(is_, map(type, values), repeat(kind))):
            self._items_of_kind(_code_of(kind), values)
            return
        try:
            codes = bytes(map(_CODES.__getitem__, map(id, map(type, values))))
        except KeyError:
            raise Undecided from None
        for code in range(len(_CODES)):
            if code in codes:
                self._items_of_kind(code, list(compress(values, codes.translate(_SELECTORS[code]))))

    def _items_of_kind(self, code: int, items: List[Any]) -> None:
        """Look at items of the one type that code stands for."""
        if code == _LIST:
            self._lists += items
        elif code == _DICT:
            self._dicts += items
        elif code == _INT:
            self._ints(items)
        elif code == _FLOAT:
            if self._double:
                self._floats(items)
        elif code == _STR:
            if self._budget is not None:
                self._strings(items)
        if self._budget is not None:
            self._count(_LEAST_SIZES[code] * len(items))
        if len(self._lists) + len(self._dicts) > _CONTAINERS:
            raise Undecided

    def _ints(self, ints: Sequence[int]) -> None:
        least, greatest = min(ints), max(ints)
        if least < -_LARGE_INT or greatest > _LARGE_INT:
            raise Undecided
        if self._double and (least < -EXACT_DOUBLE_LIMIT or greatest > EXACT_DOUBLE_LIMIT) and not all(map(fits_double, ints)):
            raise Undecided

    def _floats(self, floats: Sequence[float]) -> None:
        """Look at floats in the double profile, and count those that differ from their final text only by a `.0`."""
        others = list(filter(None, floats))
        if len(others) < len(floats) and "-0.0" in map(repr, filterfalse(None, floats)):
            raise Undecided
        magnitudes: List[float] = list(map(float.__abs__, others))
        if magnitudes and not (_LAST_EXPONENT <= min(magnitudes) and max(magnitudes) < _FIRST_EXPONENT):
            raise Undecided
        self._whole_floats += sum(map(float.is_integer, floats))

    def _strings(self, strings: Sequence[str]) -> None:
        """Count strings by their length, or exactly."""
        length = sum(map(len, strings))
        self._count(length)
        if self._may_exceed(length):
            self._measure(strings)

    def _may_exceed(self, length: int) -> bool:
        """Tell whether escapes in strings of this length could be much, and take the value over the budget."""
        return self._budget is not None and length > LONG_STRING and self._size + 5 * length > self._budget

    def _measure(self, strings: Iterable[str]) -> None:
        """Count the escapes in long strings, whose lengths have been counted already."""
        for string in strings:
            if self._budget is not None and len(string) > LONG_STRING:
                known = len(string) + 2
                self._count(string_size(string, self._budget - self._size + known) - known)

    def _count(self, size: int) -> None:
        self._size += size
        self._check_budget(self._size)

    def _check_budget(self, size: int) -> None:
        """Stop at a size over the budget. Below the value itself, where it may be a loop that was counted, the walk decides."""
        if self._budget is not None and size > self._budget:
            if self._level:
                raise Undecided
            raise OverBudget(self._place, self._budget, size)


def _code_of(kind: type) -> int:
    """Return the code of a type, found by its identity."""
    code = _CODES.get(id(kind))
    if code is None:
        raise Undecided
    return code
