"""System calls that Python has no function for.

Only the extension module behind ctypes is imported: the package itself takes ten
times as long. The module is imported by the first call, so a child without a
confinement never pays for it.
"""

from __future__ import annotations

import posix
from os import strerror as _strerror

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Optional, Tuple, Union

    Argument = Union[int, bytes, None]

# From sys/syscall.h: by machine, then by name. The numbers from 424 on are the
# same everywhere.
_NUMBERS = {
    "x86_64": {"mount": 165, "umount2": 166, "pivot_root": 155, "capget": 125, "capset": 126, "seccomp": 317, "prctl": 157, "ptrace": 101, "unshare": 272, "socket": 41, "connect": 42, "setns": 308, "memfd_create": 319, "mmap": 9, "mprotect": 10, "munmap": 11, "mremap": 25, "madvise": 28},
    "aarch64": {"mount": 40, "umount2": 39, "pivot_root": 41, "capget": 90, "capset": 91, "seccomp": 277, "prctl": 167, "ptrace": 117, "unshare": 97, "socket": 198, "connect": 203, "setns": 268, "memfd_create": 279, "mmap": 222, "mprotect": 226, "munmap": 215, "mremap": 216, "madvise": 233},
}
_NUMBERS_ANYWHERE = {
    "pidfd_open": 434,
    "close_range": 436,
    "mount_setattr": 442,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}

_READ, _WRITE, _EXECUTE, _MAP_PRIVATE, _MAP_ANONYMOUS = 1, 2, 4, 2, 32  # from sys/mman.h


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
            _flags_ = 1 | 4  # the same, and keep the interpreter's lock
            _restype_ = Long

        self._holding: Any = Holding

        class Character(_ctypes._SimpleCData):  # type: ignore[misc]
            _type_ = "c"

        def view(address: int, size: int) -> memoryview:
            kind: Any = type("Memory", (_ctypes.Array,), {"_type_": Character, "_length_": size})
            return memoryview(kind.from_address(address)).cast("B")

        self._view = view
        self._symbol: Callable[[str], int] = lambda name: int(_ctypes.dlsym(handle, name))
        self._memmove: Callable[..., int] = Holding(_ctypes._memmove_addr)

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

    def symbol(self, name: str) -> int:
        """Return where a function of libc begins."""
        return self._symbol(name)

    def load(self, code: bytes) -> Callable[[int], int]:
        """Load machine code. Return what calls its begin with an address.

        The interpreter's lock is held meanwhile.
        """
        file = self.call("memfd_create", b"thirdrail-code", 1)
        posix.write(file, code)
        begin = self.call("mmap", 0, len(code), _READ | _EXECUTE, _MAP_PRIVATE, file, 0)
        posix.close(file)
        long, function = self._long, self._holding(begin)
        return lambda address: int(function(long(address)))

    def memory(self, size: int) -> Tuple[int, memoryview]:
        """Map memory that shares no page with anything else. Return where it lies, too."""
        address = self.call("mmap", 0, size, _READ | _WRITE, _MAP_PRIVATE | _MAP_ANONYMOUS, -1, 0)
        return address, self._view(address, size)

    def copy(self, to: int, start: int, size: int) -> None:
        """Copy bytes from one address to another."""
        self._memmove(self._long(to), self._long(start), self._long(size))

    def address(self, buffer: bytearray) -> int:
        """Return where the bytes of a buffer of at least eight bytes lie."""
        return self._addressof(self._long.from_buffer(buffer))
