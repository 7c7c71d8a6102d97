"""Keeps the program's signal handlers out of the middle of a frame.

Python runs a handler between any two instructions of the main thread, and a
handler may raise: that is how programs give a piece of work a time limit. In the
middle of the channel's work that would tear a frame or lose a reply. So there a
handler waits until the section is over, and then runs as it would have.
"""

from __future__ import annotations

import _signal  # type: ignore[import]
from _thread import get_ident as _get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, List, Tuple


class Section:
    """What no handler may interrupt. It may be entered again inside of itself."""

    def __init__(self) -> None:
        self._main = _get_ident()
        self._depth = 0  # only the main thread changes it, and only it runs handlers
        self._late: List[Tuple[Callable[..., Any], int, object]] = []

    def __enter__(self) -> None:
        if _get_ident() == self._main:
            self._depth += 1

    def __exit__(self, *error: object) -> None:
        if _get_ident() == self._main:
            self._depth -= 1
            while self._late and not self._depth:
                handler, number, frame = self._late.pop(0)
                handler(number, frame)

    def guard(self) -> None:
        """Wrap the handlers that are set from now on, in a way that programs don't see."""
        set_handler, get_handler = _signal.signal, _signal.getsignal

        def signal(number: int, handler: Any) -> Any:
            if callable(handler):
                handler = _Guarded(self, handler)
            return _own(set_handler(number, handler))

        def getsignal(number: int) -> Any:
            return _own(get_handler(number))

        _signal.signal, _signal.getsignal = signal, getsignal

    def run(self, handler: Callable[..., Any], number: int, frame: object) -> None:
        """Run a handler, now or when the section is over."""
        if not self._depth:
            handler(number, frame)
        elif all(number != late[1] for late in self._late):
            # A signal that comes twice before its handler runs counts once, as ever.
            self._late.append((handler, number, frame))


class _Guarded:
    """A handler of the program, as the interpreter calls it."""

    __slots__ = ("_section", "own")

    def __init__(self, section: Section, own: Callable[..., Any]) -> None:
        self._section = section
        self.own = own

    def __call__(self, number: int, frame: object) -> None:
        self._section.run(self.own, number, frame)


def _own(handler: Any) -> Any:
    return handler.own if type(handler) is _Guarded else handler
