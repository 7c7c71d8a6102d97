"""What the ways of compiling a program share: its parts, a function's code as a module's, quiet warnings."""

from __future__ import annotations

import sys as _sys

import _warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any, Dict, Optional

_CodeType = type((lambda: 0).__code__)

# The flags of __future__ in co_flags, which are also compile()'s.
FUTURE_MASK = 0x1FE0000

CO_COROUTINE = 0x80
_CO_OPTIMIZED = 0x1
_CO_NEWLOCALS = 0x2
_CO_NESTED = 0x10

_PYTHON_3_11 = _sys.version_info >= (3, 11)

_MODULE_NAME = "<module>"

# A constant that as_module_code replaces by an object.
END_CONSTANT = b"\0thirdrail: the end of the program\0"


class Part:
    """Code for some of the program's statements, in their order."""

    __slots__ = ("annotated", "code", "document", "is_async", "returns")

    def __init__(self, code: CodeType, returns: bool, annotated: bool, document: Optional[str]) -> None:
        self.code = code
        # The code's value is the program's. The code of a plain module has none.
        self.returns = returns
        # Before the code runs, the module needs __annotations__ and __doc__.
        # The code of a plain module makes both itself.
        self.annotated = annotated
        self.document = document
        self.is_async = bool(code.co_flags & CO_COROUTINE)


class quiet:
    """Hold back the compiler's warnings inside a with block, and remember that there were some.

    Source may be compiled more than once before it is right, and would repeat them.
    """

    __slots__ = ("_filter", "_filters", "seen")

    def __init__(self) -> None:
        self.seen = False

    def __enter__(self) -> quiet:
        self._filters: Any = getattr(_sys.modules.get("warnings"), "filters", _warnings.filters)
        # In the place of the pattern for the text stands this object.
        self._filter = ("ignore", self, Warning, None, 0)
        self._filters.insert(0, self._filter)
        return self

    def match(self, text: str) -> bool:
        """Take note of a warning; called by Python in the place of a pattern's method."""
        self.seen = True
        return True

    def __exit__(self, *details: object) -> None:
        del self._filters[0]
        self._filter = None  # type: ignore[assignment]


def code_in(module_code: CodeType) -> CodeType:
    """Return the code of the first function in a module."""
    code: CodeType = next(item for item in module_code.co_consts if type(item) is _CodeType)
    return code


def as_module_code(code: CodeType, name: str, end: object = None, move: int = 0) -> CodeType:
    """Return a function's code as code that runs in a module's dict.

    name is the function's own. None of its names may be local, but for variables of
    comprehensions, which Python 3.12 and later keep there. With CO_NEWLOCALS cleared,
    locals() is the module's dict; with CO_OPTIMIZED cleared, those variables stay out
    of it. end takes the place of END_CONSTANT. All lines move by move, for which all functions in the code must
    be in expressions.
    """
    prefix = name + ".<locals>."
    changes: Dict[str, Any] = {
        "co_name": _MODULE_NAME,
        "co_flags": code.co_flags & ~(_CO_OPTIMIZED | _CO_NEWLOCALS | _CO_NESTED),
        "co_consts": tuple(
            end if type(item) is bytes and item == END_CONSTANT else _unnested(item, prefix, move)
            for item in code.co_consts
        ),
        "co_firstlineno": code.co_firstlineno + move,
    }
    if _PYTHON_3_11:
        changes["co_qualname"] = _MODULE_NAME
    return code.replace(**changes)


def _unnested(item: Any, prefix: str, move: int) -> Any:
    """Return a constant of the code with the qualified names and the lines that it has in a module."""
    if type(item) is str:
        return item[len(prefix) :] if item.startswith(prefix) else item
    if type(item) is not _CodeType:
        return item
    changes: Dict[str, Any] = {"co_firstlineno": item.co_firstlineno + move}
    if _PYTHON_3_11:
        name: str = getattr(item, "co_qualname")
        if not name.startswith(prefix):
            return item
        changes["co_qualname"] = name[len(prefix) :]
    elif item.co_name[:1] != "<":
        return item
    changes["co_consts"] = tuple(_unnested(each, prefix, move) for each in item.co_consts)
    return item.replace(**changes)
