"""Strings as canonical JSON text: the fewest escapes, UTF-8, sizes known without building the text.

A Python str may hold surrogates. A high one followed by a low one is the character that the two encode (as in the UTF-16 strings
of other JSON hosts) and is written as that character; any other is written as an escape, so that it arrives as it is.
"""

from __future__ import annotations

from _codecs import utf_16_le_decode as _utf_16_decode, utf_16_le_encode as _utf_16_encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Iterator

# Strings longer than this are measured and written piece by piece, so that no escaped copy of the whole is ever made.
LONG_STRING = 1 << 16

_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
_ESCAPES = {code: "\\u%04x" % code for code in range(0x20)}
_ESCAPES.update({ord(character): escape for character, escape in _SHORT_ESCAPES.items()})


def _quote_by_table(text: str) -> str:
    """Return text in quotes with JSON's necessary escapes; what _json's encoder does, where that is missing."""
    return '"' + text.translate(_ESCAPES) + '"'


# quote returns an exact str in quotes with JSON's necessary escapes, non-ASCII characters as they are.
quote: Callable[[str], str] = _quote_by_table
try:
    import _json

    quote = getattr(_json, "encode_basestring", _quote_by_table)
except ImportError:
    pass


def fold(text: str) -> str:
    """Return text with each pair of a high and a low surrogate replaced by the character that they encode."""
    return _utf_16_decode(_utf_16_encode(text, "surrogatepass")[0], "surrogatepass", True)[0]


def to_utf8(json_text: str) -> bytes:
    """Return JSON text as UTF-8, surrogate pairs as one character, lone surrogates as lower-case escapes."""
    try:
        return json_text.encode("utf-8")
    except UnicodeEncodeError:
        # For a surrogate, backslashreplace writes just what JSON has: \udxxx.
        return fold(json_text).encode("utf-8", "backslashreplace")


def encoded_pieces(text: str) -> Iterator[bytes]:
    """Yield the encoded inside of text (no quotes) in pieces of bounded size, each from at most LONG_STRING + 1 characters."""
    start = 0
    while start < len(text):
        end = start + LONG_STRING
        if "\ud800" <= text[end - 1 : end] <= "\udbff":
            end += 1
        yield to_utf8(quote(text[start:end]))[1:-1]
        start = end


def encode_string(text: str) -> bytes:
    """Return text as a canonical JSON string."""
    text = _exact(text)
    if len(text) <= LONG_STRING:
        return to_utf8(quote(text))
    return b'"' + b"".join(encoded_pieces(text)) + b'"'


def string_size(text: str, limit: int) -> int:
    """Return the size in bytes of text as a canonical JSON string, or some size over limit as soon as it is known to be over."""
    text = _exact(text)
    size = len(text) + 2  # each character needs one byte at least
    if size > limit:
        return size
    if len(text) <= LONG_STRING:
        return len(to_utf8(quote(text)))
    size = 2
    for piece in encoded_pieces(text):
        size += len(piece)
        if size > limit:
            break
    return size


def _exact(text: str) -> str:
    """Return text as an exact str, whatever a subclass overrides."""
    return text if type(text) is str else str.__str__(text)
