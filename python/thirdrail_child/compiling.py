"""What the ways of compiling a program share: its parts, and when warnings are shown."""

from __future__ import annotations

import sys as _sys

import _warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any, Optional

# The flags of __future__ in co_flags, which are also compile()'s.
FUTURE_MASK = 0x1FE0000

CO_COROUTINE = 0x80


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
