"""What a refused value is told: the place, what was found there, and what to write instead.

The objects described here are hostile. Their types are recognised by the names that the interpreter keeps for them, read through
the descriptors of `type` itself. No method or attribute of the object or of its metaclass is used, nothing is imported, and each
part of a message is bounded, so that a class name of 70 million characters does no harm.
"""

from __future__ import annotations

from thirdrail_child.codec_strings import encode_string

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Sequence, Union

    Step = Union[int, str, None]

# How many steps of a place are shown at each of its ends, how many characters of a key or a name, how many base classes are read.
_SHOWN_STEPS = 8
_SHOWN_CHARACTERS = 60
_BASES_READ = 100

_descriptors: Any = type.__dict__
_name_of = _descriptors["__name__"].__get__
_module_of = _descriptors["__module__"].__get__
_bases_of = _descriptors["__mro__"].__get__
_namespace_of = _descriptors["__dict__"].__get__

_FIELDS = "a dict of the values that you need from it"
_CALL = "what it gives: call it with ()"

# What to return instead, by the outermost package and the name of the type or of one of its bases. x stands for the value.
_INSTEAD: Dict[str, str] = {
    "builtins.tuple": "list(x)",
    "builtins.set": "sorted(x) or list(x)",
    "builtins.frozenset": "sorted(x) or list(x)",
    "builtins.bytes": ".decode() or .hex()",
    "builtins.bytearray": ".decode() or .hex()",
    "builtins.memoryview": ".tolist() or .hex()",
    "builtins.complex": "[x.real, x.imag]",
    "builtins.range": "list(x)",
    "builtins.generator": "list(x)",
    "builtins.async_generator": "[item async for item in x]",
    "builtins.map": "list(x)",
    "builtins.filter": "list(x)",
    "builtins.reversed": "list(x)",
    "builtins.zip": "[list(item) for item in x]",
    "builtins.enumerate": "[list(item) for item in x]",
    "builtins.dict_keys": "list(x)",
    "builtins.dict_values": "list(x)",
    "builtins.dict_items": "dict(x)",
    "builtins.mappingproxy": "dict(x)",
    "builtins.dict": "dict(x)",
    "builtins.list": "list(x)",
    "builtins.str": "str(x)",
    "builtins.int": "int(x)",
    "builtins.float": "float(x)",
    "builtins.ellipsis": "None",
    "builtins.NotImplementedType": "None",
    "builtins.BaseException": "str(x) or repr(x)",
    "builtins.type": ".__name__, or an instance's values as a dict",
    "builtins.module": _FIELDS,
    "builtins.function": _CALL,
    "builtins.builtin_function_or_method": _CALL,
    "builtins.method": _CALL,
    "functools.partial": _CALL,
    "datetime.datetime": ".isoformat()",
    "datetime.date": ".isoformat()",
    "datetime.time": ".isoformat()",
    "datetime.timedelta": ".total_seconds()",
    "decimal.Decimal": "str(x) or float(x)",
    "fractions.Fraction": "str(x) or float(x)",
    "enum.Enum": ".value or .name",
    "pathlib.PurePath": "str(x)",
    "uuid.UUID": "str(x)",
    "collections.deque": "list(x)",
    "collections.UserDict": "dict(x)",
    "collections.UserList": "list(x)",
    "array.array": ".tolist()",
    "re.Match": ".group() or .groupdict()",
    "re.Pattern": ".pattern",
    "numpy.generic": ".item()",
    "numpy.ndarray": ".tolist()",
    "pandas.DataFrame": '.to_dict("records")',
    "pandas.Series": ".tolist()",
    "pandas.Index": ".tolist()",
    "pandas.NaTType": "None",
    "pandas.NAType": "None",
    "polars.DataFrame": ".to_dicts()",
    "polars.Series": ".to_list()",
    "thirdrail_child.Handle": "base64.b64encode(x.read()).decode(), or its text by x.read().decode()",
}

# Values whose result was meant: they stand for a call that was not awaited.
_AWAITABLE = ("builtins.coroutine", "asyncio.Future", "asyncio.Task", "_asyncio.Future", "_asyncio.Task")

# Types whose own subclasses are told so, since the subclass looks like plain data to the one who wrote it.
_PLAIN = ("builtins.dict", "builtins.list", "builtins.str", "builtins.int", "builtins.float")


class NotLossless(ValueError):
    """A value that JSON can't carry without loss. The message is written for the model that wrote the program."""


class OverBudget(ValueError):
    """A value whose canonical JSON text is longer than its budget.

    limit is the budget and size a lower bound of the text's size, both in bytes.
    """

    def __init__(self, place: str, limit: int, size: int) -> None:
        super().__init__(f"{place} is over the size limit: at least {size} bytes as JSON, and the limit is {limit} bytes")
        self.limit = limit
        self.size = size


def place_text(root: str, steps: Sequence[Step], left_out: int) -> str:
    """Return the expression for a place: root and its subscripts.

    Where a place is deep, steps holds only those at its two ends, and left_out says how many lie between them.
    """
    parts = [_subscript(step) for step in steps]
    if left_out:
        parts.insert(_SHOWN_STEPS, f"…({left_out} more)…")
    return root + "".join(parts)


def shown_steps(depth: int) -> List[int]:
    """Return which of a place's steps are shown, by number: all, or those at its two ends."""
    if depth <= 2 * _SHOWN_STEPS:
        return list(range(depth))
    return list(range(_SHOWN_STEPS)) + list(range(depth - _SHOWN_STEPS, depth))


def _subscript(step: Step) -> str:
    """Return one subscript; None is a dict key that is no str, or a place lost because the container changed."""
    if step is None:
        return "[…]"
    return "[%s]" % (encode_string(_cut(step)).decode() if isinstance(step, str) else step)


def _cut(text: str) -> str:
    """Return text, its middle left out where it is long."""
    text = str.__str__(text)
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    half = _SHOWN_CHARACTERS // 2
    return f"{text[:half]}…({len(text) - 2 * half} characters)…{text[-half:]}"


def _refusal(place: str, found: str, instead: str) -> NotLossless:
    """Return the refusal that every message here has the form of. A result is returned, an argument is passed."""
    verb = "return" if place.startswith("result") else "pass"
    return NotLossless(f"{place} {found}, which is not lossless JSON; {verb} {instead}")


def refuse_value(place: str, value: object) -> NotLossless:
    """Return the refusal of a value whose type has no lossless JSON form."""
    kind = type(value)
    known = [_known_name(base) for base in _bases_of(kind)[:_BASES_READ]]
    found = "is " + _with_article(_shown_name(kind))
    if any(name in _AWAITABLE for name in known):
        return NotLossless(f"{place} {found}, which is not lossless JSON; write `await` in front of the call that gave it")
    plain = next((name for name in known[1:] if name in _PLAIN), None)
    if plain is not None:
        found += f", a subclass of {plain[len('builtins.'):]}"
    return _refusal(place, found, _instead(kind, known))


def _instead(kind: type, known: Sequence[str]) -> str:
    """Return what to write instead of a value of this kind, its most specific known base first."""
    own = known[0]
    if "builtins.tuple" in known[1:] and "_fields" in _namespace_of(kind):
        return "._asdict() or list(x)"
    for name in known:
        if name in _INSTEAD:
            return _INSTEAD[name]
        if name == own and any("__dataclass_fields__" in _namespace_of(base) for base in _bases_of(kind)[:_BASES_READ]):
            return "dataclasses.asdict(x)"
    return _FIELDS


def _module(kind: type) -> str:
    """Return the module that a type says it is from, or nothing where it doesn't say so with a str."""
    module: object = _module_of(kind)
    return module if type(module) is str else ""


def _known_name(kind: type) -> str:
    """Return the name of a type as _INSTEAD has it: pandas.core.frame.DataFrame is pandas.DataFrame."""
    package = _module(kind).partition(".")[0] if len(_module(kind)) < 1000 else ""
    return package + "." + _cut(_name_of(kind))


def _shown_name(kind: type) -> str:
    """Return the name of a type as it is shown: with its module, but for builtins, the program's own and ours."""
    module, name = _module(kind), _cut(_name_of(kind))
    return name if module in ("", "builtins", "__main__", "thirdrail_child.handles") else f"{_cut(module)}.{name}"


def _with_article(name: str) -> str:
    return ("an " if name[:1].lower() in tuple("aeio") else "a ") + name


def refuse_key(place: str, key: object) -> NotLossless:
    """Return the refusal of a dict key that is not exactly a str; place is the dict's."""
    shown = ""
    if key is None or type(key) in (bool, float) or (type(key) is int and key.bit_length() < 200):
        shown = f" {key!r}"
    kind = _shown_name(type(key))
    return _refusal(place, f"has a non-string dict key ({kind}){shown}", "{str(k): v for k, v in x.items()}")


def refuse_merging_keys(place: str, key: str) -> NotLossless:
    """Return the refusal of a dict with two keys that are one key once their surrogate pairs are joined."""
    found = f"has two dict keys that are the same as JSON text, {encode_string(_cut(key)).decode()}"
    return _refusal(place, found, "a dict without surrogate code points in its keys")


def refuse_cycle(place: str) -> NotLossless:
    """Return the refusal of a list or dict that contains itself."""
    return _refusal(place, "is a circular reference to a list or dict that contains it", "a copy without the loop")


def refuse_non_finite(place: str, number: float) -> NotLossless:
    """Return the refusal of NaN or an infinity."""
    return _refusal(place, f"is {number!r}, a non-finite float", "None or a string")


def refuse_negative_zero(place: str) -> NotLossless:
    """Return the refusal of -0.0 where numbers are doubles."""
    return _refusal(place, "is -0.0 (negative zero)", "0 or a string")


def refuse_inexact(place: str, number: int) -> NotLossless:
    """Return the refusal of an int that no double holds exactly."""
    size = f"{number}" if number.bit_length() < 200 else f"an int of {number.bit_length()} bits"
    return _refusal(place, f"is {size}, not exactly representable as a double", "str(x), or float(x) to round it")
