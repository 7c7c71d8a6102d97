"""The fast encoder: _json's, for values that are known to be ordinary.

A large list is encoded slice by slice. So the text in work stays small, which is faster, an over-budget value is found before all
its text is made, and one character beyond ASCII does not widen the text of the whole value.
"""

from __future__ import annotations

from io import BytesIO

from thirdrail_child.codec_refusal import OverBudget
from thirdrail_child.codec_strings import quote
from thirdrail_child.codec_survey import Survey, Undecided

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

    Encoder = Callable[[object, int], Sequence[str]]

# Text of about this many bytes is made in one go.
_SMALL = 1 << 15

# Elements encoded at a time, and the members of a dict up to which its lists are sliced too, as in {"rows": [...]}.
_SLICE = 256
_FEW_MEMBERS = 64


def _undecided(value: object) -> object:
    """Give up on a value of a type that _json doesn't know; a thread of the program put it there after the survey."""
    raise Undecided


def _make_encoder() -> Optional[Encoder]:
    """Return _json's encoder set to canonical text, or None where there is none or it doesn't work as known."""
    try:
        from _json import make_encoder

        arguments: Tuple[Any, ...] = (None, _undecided, quote, None, ":", ",", False, False, False)
        encoder: Encoder = make_encoder(*arguments)
        known = "".join(encoder([1, {"a": None, "\u00e9": [True, 0.5]}], 0)) == '[1,{"a":null,"\u00e9":[true,0.5]}]'
    except (ImportError, TypeError, ValueError):
        return None
    return encoder if known else None


_encoder = _make_encoder()


def encode_ordinary(value: object, double: bool, budget: Optional[int], place: str) -> Optional[bytes]:
    """Return a list or dict as canonical JSON text, or None if the value is not known to be ordinary.

    Raises OverBudget once the text is over budget; a value that is over it by its structure is left to the walk.
    """
    if _encoder is None:
        return None
    try:
        survey = Survey(double, budget)
        survey.run(value)
        slices = _Slices(_encoder, survey.whole_floats, budget, place)
        return slices.whole(value) if survey.least_size <= _SMALL else slices.run(value)
    except OverBudget:
        raise
    except (Undecided, ValueError, RuntimeError, MemoryError):
        # ValueError: NaN, a surrogate, or an int longer than the program's own limit. RuntimeError: too little stack, or a change by
        # a thread. The walk needs less stack and less memory.
        return None


class _Slices:
    """One encoding in progress, of a value that was surveyed.

    whole_floats is the number of floats in it whose `.0` has to go. Each of them is followed by a comma or a bracket; if the text
    has just as many such places, none of them is within a string, and all may go.
    """

    def __init__(self, encoder: Encoder, whole_floats: int, budget: Optional[int], place: str) -> None:
        self._encoder = encoder
        self._whole_floats = whole_floats
        self._points_removed = 0
        self._budget = budget
        self._place = place
        self._size = 0

    def whole(self, value: object) -> bytes:
        """Return the text of a small value."""
        data = self._encoded(value)
        self._size = len(data)
        self._check()
        return data

    def run(self, value: object) -> bytes:
        """Return the text of a large value."""
        self._out = BytesIO()
        if type(value) is list:
            self._list(value)
        elif type(value) is dict and len(value) <= _FEW_MEMBERS:
            self._members(value)
        else:
            self._write(self._encoded(value))
        self._check()
        return self._out.getvalue()

    def _check(self) -> None:
        """Judge the finished text."""
        if self._points_removed != self._whole_floats:
            raise Undecided
        if self._budget is not None and self._size > self._budget:
            raise OverBudget(self._place, self._budget, self._size)

    def _list(self, elements: List[Any]) -> None:
        mark = b"["
        for start in range(0, len(elements), _SLICE):
            self._write(mark)
            self._write(memoryview(self._encoded(elements[start : start + _SLICE]))[1:-1])
            mark = b","
        self._write(b"]" if elements else b"[]")

    def _members(self, members: Dict[Any, Any]) -> None:
        mark = b"{"
        for key, value in members.items():
            self._write(mark)
            if type(value) is list:
                self._write(quote(key).encode("utf-8") + b":")
                self._list(value)
            else:
                self._write(memoryview(self._encoded({key: value}))[1:-1])
            mark = b","
        self._write(b"}" if members else b"{}")

    def _encoded(self, container: object) -> bytes:
        """Return the text of a whole container."""
        data = "".join(self._encoder(container, 0)).encode("utf-8")
        if self._whole_floats:
            size = len(data)
            data = data.replace(b".0,", b",").replace(b".0]", b"]").replace(b".0}", b"}")
            self._points_removed += (size - len(data)) // len(b".0")
        return data

    def _write(self, data: Any) -> None:
        self._size += len(data)
        if self._budget is not None and self._size > self._budget:
            raise OverBudget(self._place, self._budget, self._size)
        self._out.write(data)
