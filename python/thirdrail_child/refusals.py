"""Has what the confinement refuses say what to use instead, in the exception itself.

A program often catches an exception and prints its text, and then no message of ours
is seen. So the few functions of C by which Python starts processes and looks up hosts
get a wrapper that adds to the text of a refusal. It is no wall: the kernel refuses.
"""

from __future__ import annotations

import posix as _posix
import sys as _sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict

    from thirdrail_child.surroundings import Surroundings

_PROCESSES = ("fork", "forkpty")
_PROGRAMS = ("execv", "execve", "posix_spawn", "posix_spawnp")

# What libc's system() returns when it could start nothing.
_NOT_STARTED = 127 << 8
_EPERM = 1

# Words of a program that is about to import what has the function.
_SUBPROCESS_WORDS = ("subprocess", "popen")
_NETWORK_WORDS = ("socket", "urllib", "requests", "http.", "httpx", "open_connection", "smtplib", "ftplib")


def explain_refusals(source: str, surroundings: Surroundings, filters_calls: bool) -> None:
    """Put the wrappers in place for a program with this source.

    filters_calls tells that system calls are filtered, so that what isn't open is
    certain to be refused.
    """
    if not filters_calls:
        return
    if not surroundings.processes:
        explain: Dict[str, str] = dict.fromkeys(_PROCESSES, surroundings.no_process())
        explain.update(dict.fromkeys(_PROGRAMS, surroundings.no_program()))
        for name, text in explain.items():
            _wrap(_posix, name, _explained(getattr(_posix, name), text))
        _wrap(_posix, "system", _system(_posix.system, surroundings.no_program()))
        if any(word in source for word in _SUBPROCESS_WORDS):
            _explain_subprocess(surroundings.no_program())
    if not surroundings.network and any(word in source for word in _NETWORK_WORDS):
        _explain_lookup(surroundings.no_network())


def _wrap(module: Any, name: str, wrapper: Any) -> None:
    """Replace a function of a module, and of os where that has it from there."""
    real = getattr(module, name)
    wrapper.__name__ = wrapper.__qualname__ = name
    wrapper.__doc__, wrapper.__module__ = real.__doc__, module.__name__
    setattr(module, name, wrapper)
    os = _sys.modules.get("os") if module is _posix else None
    if os is not None and os.__dict__.get(name) is real:
        setattr(os, name, wrapper)


def _explained(real: Callable[..., Any], text: str) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return real(*args, **kwargs)
        except PermissionError as error:
            error.strerror = f"{error.strerror}; {text}"
            raise

    return wrapper


def _system(real: Callable[..., int], text: str) -> Callable[..., int]:
    """Wrap system(), which tells a refusal by a number that programs don't look at."""

    def wrapper(command: Any) -> int:
        status = real(command)
        if status == _NOT_STARTED:
            raise PermissionError(_EPERM, f"Operation not permitted; {text}")
        return status

    return wrapper


def _explain_subprocess(text: str) -> None:
    try:
        import _posixsubprocess
    except ImportError:
        return
    real = _posixsubprocess.fork_exec
    wrapper = _explained(real, text)
    _wrap(_posixsubprocess, "fork_exec", wrapper)
    loaded = _sys.modules.get("subprocess")
    if loaded is not None and loaded.__dict__.get("_fork_exec") is real:
        setattr(loaded, "_fork_exec", wrapper)


def _explain_lookup(text: str) -> None:
    try:
        import _socket
    except ImportError:
        return
    real, lookup_error, never = _socket.getaddrinfo, _socket.gaierror, _socket.EAI_FAIL

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return real(*args, **kwargs)
        except lookup_error:
            # Python's own says that the failure is temporary, and programs try again.
            raise lookup_error(never, text) from None

    _wrap(_socket, "getaddrinfo", wrapper)
