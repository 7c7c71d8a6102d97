"""Values as canonical JSON text and back, exactly (DESIGN, section 4).

Both ways have a fast path that runs at the speed of C on ordinary values, and a careful one for all others that handles one item at
a time and gives the same text or value: codec_survey with codec_fast, and codec_walk, to encode, _json's scanner and codec_read to decode.
"""

from __future__ import annotations

from thirdrail_child.codec_fast import encode_ordinary
from thirdrail_child.codec_read import make_scanner, read
from thirdrail_child.codec_refusal import NotLossless, OverBudget
from thirdrail_child.codec_strings import encode_string, string_size
from thirdrail_child.codec_walk import walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Optional, Tuple

__all__ = ["DOUBLE", "EXACT", "NotLossless", "OverBudget", "decode", "encode", "encode_string", "string_size"]

# The number profiles, as boot.numbers names them.
EXACT = "exact"
DOUBLE = "double"

# Text with at most this many brackets is taken as shallow without a look at how they nest.
_FEW_BRACKETS = 64

# Rounds in which the brackets of shallow text vanish. A round takes away at most two levels.
_SHALLOW_ROUNDS = 64

_WITHOUT_BRACKETS_AND_QUOTES = bytes(set(range(256)) - set(b'[]{}"'))

_scan: Optional[Callable[[str, int], Tuple[object, int]]] = None
try:
    import _json

    _scan = make_scanner(_json, int)
except ImportError:
    pass


def encode(value: object, numbers: str, budget: Optional[int], place: str = "result") -> bytes:
    """Return value as canonical JSON text under the number profile: UTF-8, lone surrogates as lower-case escapes.

    Raises OverBudget if the text would have more than budget bytes (None: no budget), and otherwise NotLossless if JSON can't carry
    the value. place names the value in messages; a place that starts with "result" is returned, any other is passed.
    """
    double = numbers == DOUBLE
    if type(value) is list or type(value) is dict:
        data = encode_ordinary(value, double, budget, place)
        if data is not None:
            return data
    return walk(value, double, budget, place)


def decode(text: bytes, numbers: str) -> object:
    """Return the value that JSON text from the host stands for, at any depth and with ints of any size.

    The profiles need no difference here: the host spells a number that is to be an int as one. It has also checked that no member
    name comes twice and no number is beyond the doubles. Text that is not JSON raises ValueError.
    """
    source = text.decode("utf-8")
    if _scan is not None and _is_shallow(text):
        try:
            value, end = _scan(source, 0)
        except (ValueError, StopIteration, RecursionError):
            # An int longer than the program's own limit, little stack left, or no JSON: the careful reader tells.
            return read(source)
        if end == len(source):
            return value
    return read(source)


def _is_shallow(text: bytes) -> bool:
    """Tell whether JSON text is known to be at most some hundred levels deep, so that a recursive scanner may read it.

    Python's own guard is not enough: the program may have raised the recursion limit, or call from a thread with a small stack.
    """
    if text[:1] == b'"' or text.count(b"[") + text.count(b"{") <= _FEW_BRACKETS:
        return True
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Two quotes that meet go: what is left of each string stays on the same side of the quotes that are left.
    brackets = text.translate(None, _WITHOUT_BRACKETS_AND_QUOTES).replace(b'""', b"")
    if b'"' in brackets:
        brackets = b"".join(brackets.split(b'"')[::2])
    for _ in range(_SHALLOW_ROUNDS):
        if not brackets:
            return True
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return False
