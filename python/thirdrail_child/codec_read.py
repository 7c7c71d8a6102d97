"""The careful decoder: any depth, ints of any size, in the order of the text and without recursion."""

from __future__ import annotations

from thirdrail_child.codec_numbers import parse_integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, NoReturn, Optional, Tuple, Union

_SPACE = " \t\n\r"
_NUMBER_CHARACTERS = frozenset("0123456789+-.eE")
_LITERALS = (("null", None), ("true", True), ("false", False))
_UNESCAPED = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and the infinities, which Python's scanner would read though JSON has no such numbers."""
    raise ValueError(f"{name} is not JSON")


class ScannerSettings:
    """What _json.make_scanner asks of a decoder, with an int parser of choice."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_constant = staticmethod(refuse_constant)

    def __init__(self, parse_int: Callable[[str], int]) -> None:
        self.parse_int = parse_int


def _scan_string(text: str, start: int) -> Tuple[str, int]:
    """Read the string whose opening quote stands before start; what _json.scanstring does, where that is missing."""
    pieces: List[str] = []
    end = text.index('"', start)
    while True:
        escape = text.find("\\", start, end)
        if escape < 0:
            pieces.append(text[start:end])
            return "".join(pieces), end + 1
        pieces.append(text[start:escape])
        letter = text[escape + 1]
        if letter == "u":
            code, start = _scan_code_point(text, escape + 2)
            pieces.append(chr(code))
        else:
            pieces.append(_UNESCAPED[letter])
            start = escape + 2
        if start > end:  # it was the quote that was escaped
            end = text.index('"', start)


def _scan_code_point(text: str, start: int) -> Tuple[int, int]:
    """Read the four hexadecimal digits after \\u, and the low half of a surrogate pair where one follows."""
    code = int(text[start : start + 4], 16)
    start += 4
    if 0xD800 <= code < 0xDC00 and text[start : start + 2] == "\\u":
        low = int(text[start + 2 : start + 6], 16)
        if 0xDC00 <= low < 0xE000:
            return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00), start + 6
    return code, start


def _scan_scalar(text: str, start: int) -> Tuple[object, int]:
    """Read a string, a number or a literal; what the scanner of _json does, where that is missing."""
    if text[start] == '"':
        return _scan_string(text, start + 1)
    for literal, value in _LITERALS:
        if text.startswith(literal, start):
            return value, start + len(literal)
    end = start
    while end < len(text) and text[end] in _NUMBER_CHARACTERS:
        end += 1
    token = text[start:end]
    if not token or token[0] == "+":
        raise ValueError(f"not JSON at character {start}")
    if "." in token or "e" in token or "E" in token:
        return float(token), end
    return parse_integer(token), end


def make_scanner(json_module: Any, parse_int: Callable[[str], int]) -> Callable[[str, int], Tuple[object, int]]:
    """Return the scanner of _json: from a text and a start it gives a value, read recursively, and the end."""
    scanner: Callable[[str, int], Tuple[object, int]] = json_module.make_scanner(ScannerSettings(parse_int))
    return scanner


scan_scalar: Callable[[str, int], Tuple[object, int]] = _scan_scalar
scan_string: Callable[[str, int], Tuple[str, int]] = _scan_string
try:
    import _json

    scan_scalar = make_scanner(_json, parse_integer)
    scan_string = _json.scanstring
except ImportError:
    pass


def read(text: str) -> object:
    """Return the value that JSON text stands for."""
    try:
        return _Reader(text).run()
    except (IndexError, StopIteration):
        raise ValueError("not JSON: a value is missing or the text ends too early") from None


class _Reader:
    """One reading in progress: the position, and for each open container itself and the key that its next value is for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._containers: List[Any] = []
        self._keys: List[Optional[str]] = []
        self._known_keys: Dict[str, str] = {}

    def run(self) -> object:
        """Read the one value of the text."""
        while True:
            value = self._value()
            if value is _OPENED:
                continue
            while self._containers:
                container = self._containers[-1]
                key = self._keys[-1]
                if key is None:
                    container.append(value)
                else:
                    container[key] = value
                if self._next_item(key is not None):
                    break
                value = self._containers.pop()
                self._keys.pop()
            else:
                self._skip_space()
                if self._position != len(self._text):
                    raise ValueError(f"more than one JSON value, at character {self._position}")
                return value

    def _value(self) -> object:
        """Read a scalar or an empty container, or open a container and return _OPENED."""
        opening = self._skip_space()
        if opening == "[":
            self._position += 1
            if self._skip_space() == "]":
                self._position += 1
                return []
            self._containers.append([])
            self._keys.append(None)
            return _OPENED
        if opening == "{":
            self._position += 1
            if self._skip_space() == "}":
                self._position += 1
                return {}
            self._containers.append({})
            self._keys.append(self._key())
            return _OPENED
        value, self._position = scan_scalar(self._text, self._position)
        return value

    def _next_item(self, in_object: bool) -> bool:
        """Step over the comma after an item, and over the next key; or over the closing bracket, and return False."""
        mark = self._skip_space()
        self._position += 1
        if mark == ",":
            if in_object:
                self._keys[-1] = self._key()
            return True
        if mark != ("}" if in_object else "]"):
            raise ValueError(f"not JSON at character {self._position - 1}")
        return False

    def _key(self) -> str:
        if self._skip_space() != '"':
            raise ValueError(f"not a JSON member name at character {self._position}")
        key, self._position = scan_string(self._text, self._position + 1)
        if self._skip_space() != ":":
            raise ValueError(f"no colon at character {self._position}")
        self._position += 1
        return self._known_keys.setdefault(key, key)

    def _skip_space(self) -> str:
        """Step to the next character that is no white space, and return it, or nothing at the end."""
        text, position = self._text, self._position
        while text[position : position + 1] in _SPACE and position < len(text):
            position += 1
        self._position = position
        return text[position : position + 1]


# What _Reader._value returns for a container that is open now.
_OPENED = object()
