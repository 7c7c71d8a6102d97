"""The careful encoder: every value, any depth, every refusal with its place.

It keeps one iterator for each open container, so its memory is the depth of the value plus the text. It writes the same text as the
fast path of codec.py, which hands over each value that it can't decide.
"""

from __future__ import annotations

from _operator import is_, length_hint
from io import BytesIO
from itertools import islice, repeat

from thirdrail_child.codec_numbers import EXACT_DOUBLE_LIMIT, digits_at_least, double_text, fits_double, integer_text
from thirdrail_child.codec_refusal import (
    NotLossless,
    OverBudget,
    place_text,
    refuse_cycle,
    refuse_inexact,
    refuse_key,
    refuse_merging_keys,
    refuse_negative_zero,
    refuse_non_finite,
    refuse_value,
    shown_steps,
)
from thirdrail_child.codec_strings import encoded_pieces, fold, quote, string_size, to_utf8

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Optional, Set, Union

    Container = Union[List[object], Dict[object, object]]
    Step = Union[int, str, None]

# Pieces of text that wait to be written together. Strings longer than _WAITING_STRING never wait, so what waits is bounded.
_PIECES = 512
_WAITING_STRING = 1 << 10

# Ints of more bits than this are measured against the budget before they are converted.
_MEASURED_BITS = 1 << 10

_LARGEST_FLOAT = 1.7976931348623157e308


def walk(value: object, double: bool, budget: Optional[int], place: str) -> bytes:
    """Return value as canonical JSON text, or raise OverBudget or NotLossless; OverBudget where both are due."""
    return _Walk(double, budget, place).run(value)


class _Walk:
    """One encoding in progress.

    After the first refusal nothing more is written, and the walk goes on only to learn whether the value is over budget as well.
    What was refused counts as the least bytes that it could take.
    """

    def __init__(self, double: bool, budget: Optional[int], place: str) -> None:
        self._double = double
        self._budget = budget
        self._root = place
        self._refused: Optional[NotLossless] = None
        self._out = BytesIO()
        self._size = 0
        self._pieces: List[str] = []
        # The open containers, outermost first, what is left of each, and their identities.
        self._containers: List[Container] = []
        self._rests: List[Iterator[Any]] = []
        self._open: Set[int] = set()

    def run(self, value: object) -> bytes:
        """Encode the one value that this walk is for."""
        if type(value) is list or type(value) is dict:
            self._enter(value)
        else:
            self._pieces.append(self._scalar(value))
            self._pieces.append(",")
        while self._containers:
            if type(self._containers[-1]) is list:
                self._elements(self._rests[-1])
            else:
                self._members(self._rests[-1])
        self._pieces.pop()  # each value is followed by a comma, and the last one by this
        self._write_pieces()
        if self._refused is not None:
            raise self._refused
        return self._out.getvalue()

    def _enter(self, container: Container) -> bool:
        """Open a container, or write it whole if it is empty or refused. Tell whether it is open now."""
        pieces = self._pieces
        if id(container) in self._open:
            self._refuse(refuse_cycle(self._place()))
            pieces += ("0", ",")
            return False
        is_list = type(container) is list
        if not container:
            pieces += ("[]" if is_list else "{}", ",")
            return False
        # The least that the items can take: `0,` an element, `"":0,` a member.
        self._check_budget(self._size + 1 + len(container) * (2 if is_list else 5))
        if isinstance(container, dict):
            self._check_keys(container)
            self._rests.append(iter(container.items()))
        else:
            self._rests.append(iter(container))
        self._containers.append(container)
        self._open.add(id(container))
        pieces.append("[" if is_list else "{")
        return True

    def _close(self, bracket: str) -> None:
        """Close the innermost container, whose items are all written."""
        pieces = self._pieces
        self._rests.pop()
        self._open.discard(id(self._containers.pop()))
        if pieces[-1] == ",":
            pieces[-1] = bracket
        else:  # a thread of the program emptied it after it was opened
            pieces.append(bracket)
        pieces.append(",")

    def _elements(self, rest: Iterator[object]) -> None:
        """Write what is left of the innermost list, up to a container in it, which is opened."""
        pieces = self._pieces
        for item in rest:
            if type(item) is list or type(item) is dict:
                if self._enter(item):
                    return
            else:
                pieces.append(self._scalar(item))
                pieces.append(",")
            if len(pieces) > _PIECES:
                self._flush()
        self._close("]")

    def _members(self, rest: Iterator[tuple[object, object]]) -> None:
        """Write what is left of the innermost dict, up to a container in it, which is opened."""
        pieces = self._pieces
        for key, item in rest:
            pieces.append(self._string(key) if type(key) is str else '""')
            pieces.append(":")
            if type(item) is list or type(item) is dict:
                if self._enter(item):
                    return
            else:
                pieces.append(self._scalar(item))
                pieces.append(",")
            if len(pieces) > _PIECES:
                self._flush()
        self._close("}")

    def _scalar(self, value: object) -> str:
        """Return the text of a value that is neither list nor dict, and of a refused one the least it could be."""
        kind = type(value)
        if kind is str:
            return self._string(value)  # type: ignore[arg-type]
        if kind is int:
            if -EXACT_DOUBLE_LIMIT <= value <= EXACT_DOUBLE_LIMIT:  # type: ignore[operator]
                return repr(value)
            return self._large_int(value)  # type: ignore[arg-type]
        if kind is float:
            return self._float(value)  # type: ignore[arg-type]
        if value is None:
            return "null"
        if value is True:
            return "true"
        if value is False:
            return "false"
        self._refuse(refuse_value(self._place(), value))
        return "0"

    def _string(self, text: str) -> str:
        """Return text as JSON, or write it at once where it is long, and return nothing."""
        if len(text) <= _WAITING_STRING:
            return quote(text)
        self._write_pieces()
        if self._budget is not None and self._size + 6 * len(text) + 2 > self._budget:
            # Measured before it is written, so that no more is held than the budget allows.
            self._check_budget(self._size + string_size(text, self._budget - self._size))
        self._write(b'"')
        for piece in encoded_pieces(text):
            self._write(piece)
        self._write(b'"')
        return ""

    def _large_int(self, number: int) -> str:
        if number.bit_length() > _MEASURED_BITS:
            self._check_budget(self._size + digits_at_least(number))
        if self._double and not fits_double(number):
            self._size += digits_at_least(number) - 1
            self._refuse(refuse_inexact(self._place(), number))
            return "0"
        return integer_text(number)

    def _float(self, number: float) -> str:
        if not -_LARGEST_FLOAT <= number <= _LARGEST_FLOAT:
            self._refuse(refuse_non_finite(self._place(), number))
            return "0"
        if not self._double:
            return repr(number)
        text = double_text(number)
        if text == "0" and repr(number) == "-0.0":
            self._refuse(refuse_negative_zero(self._place()))
        return text

    def _check_keys(self, members: Dict[Any, object]) -> None:
        """Refuse the dict that is about to be opened for a key that is not exactly a str, or keys that would merge."""
        if not all(map(is_, map(type, members), repeat(str))):
            key = next((key for key in members if type(key) is not str), None)
            self._refuse(refuse_key(self._place(), key))
        elif not all(map(str.isascii, members)):
            folded: Set[str] = set()
            for key in members:
                # Only a pair of surrogates can make two keys one, and a key that has one is shorter when folded.
                if not _is_encodable(key) and len(fold(key)) < len(key):
                    if fold(key) in members or fold(key) in folded:
                        self._refuse(refuse_merging_keys(self._place(), fold(key)))
                        return
                    folded.add(fold(key))

    def _refuse(self, refusal: NotLossless) -> None:
        """Keep the first refusal until the size is known; without a budget, raise it."""
        if self._budget is None:
            raise refusal
        if self._refused is None:
            self._refused = refusal
            self._out = BytesIO()

    def _place(self) -> str:
        """Return the place of the item that the innermost iterator gave last."""
        shown = shown_steps(len(self._containers))
        steps = [self._step(self._containers[depth], self._rests[depth]) for depth in shown]
        return place_text(self._root, steps, len(self._containers) - len(shown))

    def _step(self, container: Container, rest: Iterator[Any]) -> Step:
        """Return the index or the key of the item that rest, the iterator of container, gave last."""
        position = max(0, len(container) - length_hint(rest, 0) - 1)
        if isinstance(container, list):
            return position
        key = next(islice(container, position, None), None)
        return key if type(key) is str else None

    def _check_budget(self, size: int) -> None:
        if self._budget is not None and size > self._budget:
            raise OverBudget(self._root, self._budget, size)

    def _flush(self) -> None:
        """Write the pieces that wait, but for the last, which may yet be replaced by a bracket."""
        last = self._pieces.pop()
        self._write_pieces()
        self._pieces.append(last)

    def _write_pieces(self) -> None:
        self._write(to_utf8("".join(self._pieces)))
        self._pieces.clear()

    def _write(self, data: bytes) -> None:
        self._size += len(data)
        self._check_budget(self._size)
        if self._refused is None:
            self._out.write(data)


def _is_encodable(text: str) -> bool:
    """Tell whether text is free of surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
