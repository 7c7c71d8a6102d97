"""Tries what the confinement forbids, once it is applied and before the program.

The answer goes to the host in boot-ack: for each attempt the kernel's refusal, or
what happened instead. The host compares; this module judges nothing. A program
that forges such an answer comes too late: it is read once, before it starts.
"""

from __future__ import annotations

import posix
from errno import errorcode as _errorcode

import resource as _resource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List

    from thirdrail_child.native import System

    Attempt = Dict[str, Any]

_S_IFSOCK = 0o140000  # from sys/stat.h

# A file that attempts make in the workspace, where they are not refused, and remove.
_OWN_FILE = ".thirdrail-proof"

_HELD = "held"
_OPEN = "open"


def prove(system: System, attempts: List[Attempt]) -> Dict[str, str]:
    """Make the attempts. Return by name how each was refused, or "open"."""
    answers = {}
    for attempt in attempts:
        try:
            answer = _KINDS[attempt["kind"]](system, attempt)
        except OSError as error:
            answer = _errorcode.get(error.errno or 0, str(error))
        answers[attempt["name"]] = answer
    return answers


def _read(system: System, attempt: Attempt) -> str:
    posix.close(posix.open(attempt["path"], posix.O_RDONLY))
    return _OPEN


def _list(system: System, attempt: Attempt) -> str:
    posix.listdir(attempt["path"])
    return _OPEN


def _write(system: System, attempt: Attempt) -> str:
    posix.close(posix.open(attempt["path"], posix.O_WRONLY))
    return _OPEN


def _create(system: System, attempt: Attempt) -> str:
    posix.close(posix.open(attempt["path"], posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL, 0o600))
    posix.unlink(attempt["path"])
    return _OPEN


def _stat(system: System, attempt: Attempt) -> str:
    posix.stat(attempt["path"])
    return _OPEN


def _root(system: System, attempt: Attempt) -> str:
    return _HELD if posix.stat("/").st_dev != attempt["number"] else _OPEN


def _socket_file(system: System, attempt: Attempt) -> str:
    # Only Landlock refuses this: the workspace is open for every other kind of file.
    posix.mknod(_OWN_FILE, _S_IFSOCK | 0o600)
    posix.unlink(_OWN_FILE)
    return _OPEN


def _user(system: System, attempt: Attempt) -> str:
    own = {attempt["number"]}
    return _HELD if {*posix.getresuid(), *posix.getresgid(), *posix.getgroups()} == own else _OPEN


def _namespace_of_processes(system: System, attempt: Attempt) -> str:
    # The parent is the first process of the namespace, or a nursery outside of it.
    return _HELD if posix.getppid() in (0, 1) else _OPEN


def _family(system: System, attempt: Attempt) -> str:
    posix.close(_socket(system, attempt["number"]))
    return _OPEN


def _socket(system: System, family: int) -> int:
    # The module of that name takes longer to import than everything else here.
    stream, close_on_exec = 1, 0x80000
    return system.call("socket", family, stream | close_on_exec, 0)


def _abstract(system: System, attempt: Attempt) -> str:
    unix = 1  # AF_UNIX
    socket = _socket(system, unix)
    address = unix.to_bytes(2, "little") + b"\0" + attempt["path"].encode()
    try:
        system.call("connect", socket, address, len(address))
    finally:
        posix.close(socket)
    return _OPEN


def _signal(system: System, attempt: Attempt) -> str:
    # In a namespace the host's number may be that of this very process. The
    # parent is never in reach either.
    for pid in (attempt["number"], posix.getppid()):
        if pid != posix.getpid():
            posix.kill(pid, 0)
            return _OPEN
    return _OPEN


def _trace(system: System, attempt: Attempt) -> str:
    attach = 16  # PTRACE_ATTACH
    for pid in (attempt["number"], posix.getppid()):
        if pid != posix.getpid():
            system.call("ptrace", attach, pid, 0, 0)
            return _OPEN
    return _OPEN


def _execute(system: System, attempt: Attempt) -> str:
    posix.execve(attempt["path"], [attempt["path"], "-c", ""], {"LANG": "C"})
    return _OPEN


def _fork(system: System, attempt: Attempt) -> str:
    pid = posix.fork()
    if pid == 0:
        posix._exit(0)
    posix.waitpid(pid, 0)
    return _OPEN


def _mount(system: System, attempt: Attempt) -> str:
    system.call("mount", b"tmpfs", b".", b"tmpfs", 0, None)
    system.call("umount2", b".", 2)
    return _OPEN


def _namespace(system: System, attempt: Attempt) -> str:
    new_user = 0x10000000  # CLONE_NEWUSER
    system.call("unshare", new_user)
    return _OPEN


def _filter(system: System, attempt: Attempt) -> str:
    get_seccomp, by_filter = 21, 2
    return _HELD if system.call("prctl", get_seccomp, 0, 0, 0, 0) == by_filter else _OPEN


def _privileges(system: System, attempt: Attempt) -> str:
    get_no_new_privileges = 39
    return _HELD if system.call("prctl", get_no_new_privileges, 0, 0, 0, 0) == 1 else _OPEN


def _dumpable(system: System, attempt: Attempt) -> str:
    get_dumpable = 3
    return _HELD if system.call("prctl", get_dumpable, 0, 0, 0, 0) != 1 else _OPEN


def _capabilities(system: System, attempt: Attempt) -> str:
    version = 0x20080522
    sets = bytearray(24)
    header = bytearray(version.to_bytes(4, "little") + bytes(4))
    system.call("capget", system.address(header), system.address(sets))
    return _HELD if not any(sets) else _OPEN


def _open_files(system: System, attempt: Attempt) -> str:
    posix.close(posix.dup2(0, attempt["number"]))
    return _OPEN


def _file_size(system: System, attempt: Attempt) -> str:
    file = posix.open(_OWN_FILE, posix.O_WRONLY | posix.O_CREAT | posix.O_EXCL, 0o600)
    try:
        posix.pwrite(file, b"\0", attempt["number"])
    finally:
        posix.close(file)
        posix.unlink(_OWN_FILE)
    return _OPEN


def _processes(system: System, attempt: Attempt) -> str:
    # This process is one already, so a limit of one leaves no room for another.
    limit = _resource.RLIMIT_NPROC
    most = attempt["number"]
    if _resource.getrlimit(limit) != (most, most):
        return _OPEN
    _resource.setrlimit(limit, (1, most))
    try:
        return _fork(system, attempt)
    except BlockingIOError:
        return _HELD
    finally:
        _resource.setrlimit(limit, (most, most))


def _core(system: System, attempt: Attempt) -> str:
    return _HELD if _resource.getrlimit(_resource.RLIMIT_CORE) == (0, 0) else _OPEN


_KINDS: "Dict[str, Callable[[System, Attempt], str]]" = {
    "read": _read,
    "list": _list,
    "write": _write,
    "create": _create,
    "stat": _stat,
    "root": _root,
    "socket-file": _socket_file,
    "user": _user,
    "own-processes": _namespace_of_processes,
    "family": _family,
    "abstract": _abstract,
    "signal": _signal,
    "trace": _trace,
    "execute": _execute,
    "fork": _fork,
    "mount": _mount,
    "namespace": _namespace,
    "filter": _filter,
    "privileges": _privileges,
    "dumpable": _dumpable,
    "capabilities": _capabilities,
    "open-files": _open_files,
    "file-size": _file_size,
    "core": _core,
    "processes": _processes,
}
