"""Cuts text that is too long, keeping what a reader needs most."""

from __future__ import annotations

from _codecs import utf_32_le_decode as _utf_32_decode
from _codecs import utf_32_le_encode as _utf_32_encode

from thirdrail_child.codec_strings import string_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

# Room for the note that stands in the place of what was cut.
_NOTE_BYTES = 64
_PIECE = 1 << 16


def cut_middle(text: str, limit_bytes: int) -> str:
    """Return text with its middle cut out if its JSON string is over limit_bytes.

    A third of the room is for the beginning, the rest for the end, since the end of
    a traceback says what happened. The host cuts by the same rule (cutMiddle in
    failure.go). No copy of more than the limit is made.
    """
    if string_size(text, limit_bytes) <= limit_bytes:
        return text
    first = limit_bytes // 3
    head = _longest(min(len(text), first), lambda count: text[:count], first)
    rest = limit_bytes - first - _NOTE_BYTES
    tail = _longest(min(len(text) - head, max(rest, 0)), lambda count: text[len(text) - count :], rest)
    end = len(text) - tail
    return f"{text[:head]}\n… {_utf8_size(text, head, end)} bytes cut …\n{text[end:]}"


def cut_ends(text: str, limit: int) -> str:
    """Return at most limit characters of text and a little: its beginning and its end."""
    if str.__len__(text) <= limit:
        return str.__getitem__(text, slice(None))
    half = limit // 2
    cut = str.__len__(text) - 2 * half
    head, tail = str.__getitem__(text, slice(half)), str.__getitem__(text, slice(-half, None))
    return f"{head}… {cut} characters cut …{tail}"


def without_surrogates(text: str) -> str:
    """Return text with U+FFFD for each surrogate, also for two in a row."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return _utf_32_decode(_utf_32_encode(text, "surrogatepass")[0], "replace", True)[0]
    return text


def _longest(most: int, piece: Callable[[int], str], budget: int) -> int:
    """Return the largest count up to most whose piece fits the budget as a JSON string."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if string_size(piece(middle), budget) <= budget:
            low = middle
        else:
            high = middle - 1
    return low


def _utf8_size(text: str, start: int, end: int) -> int:
    size = 0
    while start < end:
        stop = min(start + _PIECE, end)
        size += len(text[start:stop].encode("utf-8", "surrogatepass"))
        start = stop
    return size
