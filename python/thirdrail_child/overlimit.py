"""Names the limit of the run that an exception comes from, and what to do about it."""

from __future__ import annotations

from errno import EAGAIN as _EAGAIN
from errno import EFBIG as _EFBIG
from errno import EMFILE as _EMFILE
from errno import ENOMEM as _ENOMEM
from errno import ENOSPC as _ENOSPC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Optional

_errno_of = OSError.__dict__["errno"].__get__

# The run's limits by the names of the host's confine.Told. What is missing isn't limited.
_limits: "Dict[str, int]" = {}


def know(limits: Dict[str, int]) -> None:
    """Take the limits that the host tells."""
    _limits.update(limits)


def exceeded(exception: BaseException, message: str) -> Optional[str]:
    """Return what to do about the limit that exception comes from, None if it comes from none."""
    kind = type(exception)
    if issubclass(kind, MemoryError):
        return _memory()
    if kind is RuntimeError and "can't start new thread" in message:
        return _threads()
    if not issubclass(kind, OSError):
        return None
    number: Any = _errno_of(exception)
    if number == _ENOMEM:
        return _memory()
    if number == _EMFILE and "openFiles" in _limits:
        return (
            f"a program may have {_limits['openFiles']} files open at once (its limit of open files): "
            "close each when it is done with, best by a with statement"
        )
    if number in (_ENOSPC, _EFBIG) and "diskBytes" in _limits:
        return f"a run may use {_size('diskBytes')} of disk (its disk limit): write less, or remove files first"
    if number == _EAGAIN and "processes" in _limits and message == "[Errno %d] Resource temporarily unavailable" % _EAGAIN:
        return f"if this was to start a process: {_processes()}"
    return None


def _memory() -> str:
    amount = f" of {_size('memory')}" if "memory" in _limits else ""
    return f"the run's memory limit{amount} is used up: keep less at once, or work in parts"


def _threads() -> str:
    if "processes" in _limits:
        return _processes()
    return f"{_memory()}, with fewer threads, such as ThreadPoolExecutor(max_workers=16), or asyncio"


def _processes() -> str:
    return (
        f"a run may have {_limits['processes']} processes and threads at once (its limit of processes): "
        "wait for some to end before starting more"
    )


def _size(name: str) -> str:
    size = _limits[name]
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size and size % (1 << shift) == 0:
            return f"{size >> shift} {unit}"
    return f"{size} bytes"
