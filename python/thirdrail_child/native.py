"""System calls that Python has no function for.

Only the extension module behind ctypes is imported: the package itself takes ten
times as long. The module is imported by the first call, so a child without a
confinement never pays for it.
"""

from __future__ import annotations

from os import strerror as _strerror

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Optional, Union

    Argument = Union[int, bytes, None]

# From sys/syscall.h: by machine, then by name. The numbers from 424 on are the
# same everywhere.
_NUMBERS = {
    "x86_64": {"mount": 165, "umount2": 166, "pivot_root": 155, "capget": 125, "capset": 126, "seccomp": 317, "prctl": 157, "ptrace": 101, "unshare": 272, "socket": 41, "connect": 42, "setns": 308, "memfd_create": 319, "madvise": 28},
    "aarch64": {"mount": 40, "umount2": 39, "pivot_root": 41, "capget": 90, "capset": 91, "seccomp": 277, "prctl": 167, "ptrace": 117, "unshare": 97, "socket": 198, "connect": 203, "setns": 268, "memfd_create": 279, "madvise": 233},
}
_NUMBERS_ANYWHERE = {
    "pidfd_open": 434,
    "close_range": 436,
    "process_madvise": 440,
    "mount_setattr": 442,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}


class System:
    """The kernel, called by name."""

    def __init__(self, machine: str) -> None:
        _ctypes: Any = __import__("_ctypes")  # whose type checkers' description lacks most of it
        self._numbers = {**_NUMBERS[machine], **_NUMBERS_ANYWHERE}
        self._get_errno: Callable[[], int] = _ctypes.get_errno
        self._addressof: Callable[[object], int] = _ctypes.addressof

        class Long(_ctypes._SimpleCData):  # type: ignore[misc]
            _type_ = "l"

        class Function(_ctypes.CFuncPtr):  # type: ignore[misc]
            _flags_ = 1 | 8  # the C calling convention, and keep errno
            _restype_ = Long

        self._long: Any = Long
        handle = _ctypes.dlopen(None, 0)
        self._syscall: Callable[..., int] = Function(_ctypes.dlsym(handle, "syscall"))

        class Holding(_ctypes.CFuncPtr):  # type: ignore[misc]
            _flags_ = 1 | 4 | 8  # and keep the interpreter's lock, which the child then has
            _restype_ = Long

        self._fork: Callable[[], int] = Holding(_ctypes.dlsym(handle, "fork"))

    def try_call(self, name: str, *arguments: Argument) -> int:
        """Call the kernel. Return the result, or the error number made negative."""
        long = self._long
        values = [long(a) if type(a) is int else a for a in arguments]
        result = self._syscall(long(self._numbers[name]), *values)
        return result if result != -1 else -self._get_errno()

    def call(self, name: str, *arguments: Argument) -> int:
        """Call the kernel and return the result. Raise OSError for an error."""
        result = self.try_call(name, *arguments)
        if result < 0:
            raise OSError(-result, f"{name}: {_strerror(-result)}")
        return result

    def fork(self) -> int:
        """Fork by libc alone, without Python's hooks. Raise OSError for an error."""
        pid = self._fork() & 0xFFFFFFFF  # an int, of which the upper half means nothing
        if pid == 0xFFFFFFFF:
            number = self._get_errno()
            raise OSError(number, f"fork: {_strerror(number)}")
        return pid

    def address(self, buffer: bytearray) -> int:
        """Return where the bytes of a buffer of at least eight bytes lie."""
        return self._addressof(self._long.from_buffer(buffer))
