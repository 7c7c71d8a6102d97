"""Says of a value that is over its budget how large it is, and which part of it is the large one.

Only types that are exactly JSON's are looked into, so nothing of the program's runs. Lists and dicts that lie in several places
are measured once, which keeps the work to what there is in memory, and no more than _ITEMS items are looked at.
"""

from __future__ import annotations

from thirdrail_child.codec_numbers import digits_at_least, double_text, integer_text
from thirdrail_child.codec_refusal import OverBudget, place_text
from thirdrail_child.codec_strings import string_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, List, Optional, Tuple, Union

    Step = Union[int, str, None]

_ITEMS = 1_000_000
_LEVELS = 60
_LONGEST_STRING = 1 << 26
_MEASURED_BITS = 1 << 12

# The part is followed down while one item takes so much of its container.
_MOST_OF = 0.6
_STEPS = 6


def over_budget_text(over: OverBudget, value: object, double: bool, place: str) -> str:
    """Return the refusal of a value that is over its budget: its size, the limit, its largest part, and what to do."""
    try:
        return _Parts(double).text(over, value, place)
    except Exception:  # such as too little memory
        return str(over)


class _Parts:
    """The measuring of one value."""

    def __init__(self, double: bool) -> None:
        self._double = double
        self._sizes: Dict[int, int] = {}  # of lists and dicts, by identity; 0 while one is being measured
        self._left = _ITEMS
        self._exact = True

    def text(self, over: OverBudget, value: object, place: str) -> str:
        size = self._size(value, 0)
        self._exact = self._exact and size > over.limit
        steps, part = self._largest(value)
        start = f"{place} is over the size limit: {'' if self._exact else 'at least '}{max(size, over.size)} bytes as JSON, "
        where = "it is" if not steps else f"most of it is {place_text(place, steps, 0)},"
        return start + f"and the limit is {over.limit} bytes; {where} {self._kind(part)}; return less: a part, a count or a summary"

    def _size(self, value: object, depth: int) -> int:
        """Return the size of a value's text, or less where not all of it is looked at."""
        self._left -= 1
        if isinstance(value, (list, dict)) and type(value) in (list, dict):
            known = self._sizes.get(id(value))
            if known is None:
                self._sizes[id(value)] = 0
                known = self._sizes[id(value)] = self._container(value, depth)
            elif known == 0:
                self._exact = False  # it holds itself
            return known
        if type(value) is str:
            if len(value) > _LONGEST_STRING:
                self._exact = False
                return len(value) + 2
            return string_size(value, 6 * _LONGEST_STRING)
        if type(value) is int:
            if value.bit_length() > _MEASURED_BITS:
                self._exact = False
                return digits_at_least(value)
            return len(integer_text(value))
        if type(value) is float:
            return len(double_text(value)) if self._double and value - value == 0 else len(repr(value))
        if value is None or value is True:
            return 4
        self._exact = self._exact and value is False
        return 5

    def _container(self, value: "Union[List[object], Dict[object, object]]", depth: int) -> int:
        size = 2 + max(0, len(value) - 1)
        if depth >= _LEVELS:
            self._exact = False
            return size
        for key, item in self._items(value):
            if self._left <= 0:
                self._exact = False
                break
            size += self._size(item, depth + 1)
            if isinstance(value, dict):
                size += self._size(key, depth + 1) + 1
        return size

    @staticmethod
    def _items(value: object) -> "List[Tuple[object, object]]":
        if type(value) is dict:
            return list(value.items())
        return list(enumerate(value)) if type(value) is list else []

    def _largest(self, value: object) -> "Tuple[List[Step], object]":
        """Return the way to the part that makes the value large, and that part."""
        steps: List[Step] = []
        passed: List[object] = []
        while len(steps) < _STEPS:
            self._left = _ITEMS
            passed.append(value)
            largest: Optional[Tuple[int, object, object]] = None
            for key, item in self._items(value):
                if self._left <= 0:
                    break
                size = 0 if any(item is each for each in passed) else self._size(item, len(steps) + 1)
                if largest is None or size > largest[0]:
                    largest = size, key, item
            if largest is None or largest[0] < _MOST_OF * self._size(value, len(steps)):
                break
            _, step, value = largest
            steps.append(step if isinstance(step, (int, str)) else None)
        return steps, value

    def _kind(self, part: object) -> str:
        """Return words for a part: its type, how many items it has, its size."""
        if type(part) is list or type(part) is dict:
            word = "list" if type(part) is list else "dict"
            return f"a {word} of {len(part)} item{'' if len(part) == 1 else 's'}"
        return f"a str of {len(part)} characters" if type(part) is str else f"a number of type {type(part).__name__}"
