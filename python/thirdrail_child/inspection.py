"""Looks at a program's exceptions without trusting them.

A program may override whatever a class can, so each thing is read by the
descriptor of the built-in type. What only the program's own code can tell, such as
the text of an exception, is asked for under a time limit.
"""

from __future__ import annotations

from _signal import ITIMER_REAL as _ITIMER_REAL  # type: ignore[import]
from _signal import SIG_DFL as _SIG_DFL
from _signal import SIGALRM as _SIGALRM
from _signal import setitimer as _set_timer
from _signal import signal as _set_handler
from time import monotonic as _monotonic

from thirdrail_child.cutting import cut_ends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any, Callable, List, Optional, Tuple

# How long the program's own code may take, in all, to tell what an exception says.
ASK_SECONDS = 1.0
_REPEAT_SECONDS = 0.05

_NAME_LIMIT = 200
_NOTES_LIMIT = 20

_cause_of = BaseException.__dict__["__cause__"].__get__
_context_of = BaseException.__dict__["__context__"].__get__
_suppresses_context = BaseException.__dict__["__suppress_context__"].__get__
_traceback_of = BaseException.__dict__["__traceback__"].__get__
_dict_of = BaseException.__dict__["__dict__"].__get__
_type_fields: Any = type.__dict__
_qualified_name_of = _type_fields["__qualname__"].__get__
_module_of = _type_fields["__module__"].__get__
_import_path_of = ImportError.__dict__["path"].__get__
_import_name_of = ImportError.__dict__["name"].__get__
_errno_of = OSError.__dict__["errno"].__get__
_file_name_of = OSError.__dict__["filename"].__get__
_file_name2_of = OSError.__dict__["filename2"].__get__

# Exception groups came with Python 3.11.
try:
    _Group: Any = BaseExceptionGroup  # type: ignore[name-defined]
    _exceptions_of = _Group.__dict__["exceptions"].__get__
except NameError:
    _Group = None


class _TooLong(BaseException):
    """Raised in the program's code when its time to answer is over."""


class Questions:
    """Asks the program's code, for one report. No answer is None."""

    def __init__(self, seconds: float = ASK_SECONDS) -> None:
        self._seconds = seconds
        self._end: Optional[float] = None
        self._open = False

    def text(self, thing: object, limit: int) -> Optional[str]:
        """Return str(thing) as an exact str, its middle cut out beyond limit characters."""
        answer = self._ask(str, thing)
        if not issubclass(type(answer), str):
            return None
        return cut_ends(answer, limit)

    def _ask(self, question: Callable[[Any], Any], thing: object) -> Any:
        now = _monotonic()
        if self._end is None:
            self._end = now + self._seconds
        if now >= self._end:
            return None
        previous = self._start_timer(self._end - now)
        try:
            self._open = True
            try:
                answer = question(thing)
            finally:
                self._open = False
        except BaseException:
            answer = None
        self._open = False
        if previous is not None:
            _set_timer(_ITIMER_REAL, 0)
            _set_handler(_SIGALRM, previous)
        return answer

    def _start_timer(self, seconds: float) -> Any:
        """Start the timer and return the handler before; None where there can't be one."""
        try:
            previous = _set_handler(_SIGALRM, self._ring)
            _set_timer(_ITIMER_REAL, seconds, _REPEAT_SECONDS)
        except (ValueError, OSError):
            return None  # only the main thread may; the run's own limits still hold
        return _SIG_DFL if previous is None else previous

    def _ring(self, *details: object) -> None:
        if self._open:
            raise _TooLong


def class_name(exception: BaseException) -> str:
    """Return the name that Python shows for the exception's class, of bounded length."""
    kind = type(exception)
    name = cut_ends(_qualified_name_of(kind), _NAME_LIMIT)
    module = _module_of(kind)
    if type(module) is not str or module in ("__main__", "builtins"):
        return name
    return cut_ends(module, _NAME_LIMIT) + "." + name


def earlier(exception: BaseException) -> Tuple[Optional[BaseException], bool]:
    """Return the exception that Python shows before this one, and whether it is its direct cause."""
    cause = _cause_of(exception)
    if cause is not None:
        return cause, True
    return (None if _suppresses_context(exception) else _context_of(exception)), False


def traceback_of(exception: BaseException) -> Optional[TracebackType]:
    """Return the exception's traceback."""
    traceback: Optional[TracebackType] = _traceback_of(exception)
    return traceback


def members(exception: BaseException) -> Optional[List[BaseException]]:
    """Return the exceptions in a group, None if this is no group."""
    if _Group is None or not issubclass(type(exception), _Group):
        return None
    found = _exceptions_of(exception)
    if not issubclass(type(found), (tuple, list)):
        return []
    return [item for item in found if issubclass(type(item), BaseException)]


def notes(exception: BaseException) -> List[object]:
    """Return what was added with add_note: the first few, which may be anything."""
    found = dict.get(_dict_of(exception), "__notes__")
    if type(found) is list or type(found) is tuple:
        return list(found[:_NOTES_LIMIT])
    return []


def import_path(exception: BaseException) -> str:
    """Return the path that an ImportError names, "" if there is none."""
    path = _import_path_of(exception) if issubclass(type(exception), ImportError) else ""
    return path if type(path) is str else ""


def import_name(exception: BaseException) -> str:
    """Return the module that an ImportError is about, "" if it doesn't say."""
    name = _import_name_of(exception) if issubclass(type(exception), ImportError) else ""
    return name if type(name) is str else ""


def os_error(exception: BaseException) -> Tuple[Optional[int], str]:
    """Return the number of an OSError, None if it has none, and the path it is about: of two, the second."""
    if not issubclass(type(exception), OSError):
        return None, ""
    code = _errno_of(exception)
    paths = [path for path in (_file_name2_of(exception), _file_name_of(exception)) if type(path) is str]
    return (code if type(code) is int else None), (paths[0] if paths else "")


class SyntaxPlace:
    """Where a SyntaxError is, each part None if it is not what Python makes it."""

    __slots__ = ("end_line", "end_offset", "file_name", "line", "message", "offset", "text")

    def __init__(self, error: SyntaxError) -> None:
        self.message: Optional[str] = _field(error, "msg", str)
        self.file_name: Optional[str] = _field(error, "filename", str)
        self.line: Optional[int] = _field(error, "lineno", int)
        self.offset: Optional[int] = _field(error, "offset", int)
        self.text: Optional[str] = _field(error, "text", str)
        self.end_line: Optional[int] = _field(error, "end_lineno", int)
        self.end_offset: Optional[int] = _field(error, "end_offset", int)


def _field(error: SyntaxError, name: str, kind: type) -> Any:
    descriptor = SyntaxError.__dict__.get(name)  # the ends came with Python 3.10
    value = descriptor.__get__(error) if descriptor is not None else None
    return value if type(value) is kind else None
