"""Says what to use instead of what a confined run may not do."""

from __future__ import annotations

import errno as _errno
import posix as _posix

from thirdrail_child.inspection import class_name, os_error
from thirdrail_child.hints_scene import Scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Optional

    from thirdrail_child.surroundings import Surroundings

_NOT_PERMITTED = (_errno.EPERM, _errno.EACCES)
_NOT_WRITABLE = (_errno.EROFS, _errno.EXDEV)
_UNREACHABLE = (_errno.ENETUNREACH, _errno.EHOSTUNREACH, _errno.ENETDOWN, _errno.EADDRNOTAVAIL)

# By the module whose code raised the error, or of which it is a part.
_PROCESS_MODULES = ("multiprocessing", "concurrent.futures.process")
_PROGRAM_MODULES = ("subprocess", "asyncio.subprocess", "pty")
_NETWORK_MODULES = (
    "socket", "ssl", "socketserver", "http", "urllib", "smtplib", "ftplib", "imaplib", "poplib", "xmlrpc",
    "requests", "urllib3", "httpx", "httpcore", "anyio", "aiohttp", "websockets", "paramiko",
)  # fmt: skip

# Where C raised it, by what the program's line calls.
_PROCESS_CALLS = ("fork(", "forkpty(")
_PROGRAM_CALLS = ("execv", "execl", "spawn", "system(", "popen(", "openpty(", "startfile(")
_NETWORK_CALLS = (
    "socket(", "create_connection(", "create_server(", "connect(", "getaddrinfo(", "gethostby", "open_connection(",
)  # fmt: skip
_WRITING = (
    "'w", '"w', "'a", '"a', "'x", '"x', "write", "mkdir", "makedirs", "mkfifo", "to_", "save", "dump", "copy", "move",
    "rename", "replace", "touch", "remove", "unlink", "rmtree", "rmdir", "chmod", "chown", "link", "truncate",
)  # fmt: skip

# The same where a path is what is wrong, whose text may have such words.
_WRITING_A_FILE = (", 'w", ', "w', ", 'a", ', "a', ", 'x", ', "x', "write_", "to_", "savefig(")


def refused(scene: Scene, message: str) -> Optional[str]:
    """Return what to use instead, None if the run isn't confined or no refusal is behind the error."""
    around = scene.surroundings
    if around is None or not around.confined:
        return None
    if message == "out of pty devices" and not around.processes:
        return around.no_program()
    for link in scene.links():
        hint = _one(scene, link, around)
        if hint:
            return hint
    if class_name(scene.exception) == "sqlite3.OperationalError" and message == "unable to open database file":
        return _writing("")
    return None


def _one(scene: Scene, exception: BaseException, around: Surroundings) -> Optional[str]:
    name = class_name(exception)
    if name == "socket.gaierror":
        return None if around.network else around.no_network()
    code, path = os_error(exception)
    if code is None:
        return None
    if scene.line.lstrip().startswith("raise ") and not scene.place(exception)[1]:
        return None  # the program's own
    area = _area(scene, exception, code in _NOT_PERMITTED or not path)
    if area == "network":
        return around.no_network() if not around.network and code in (*_NOT_PERMITTED, *_UNREACHABLE) else None
    if area:
        return _process_hint(area, code, around)
    if code in (*_NOT_PERMITTED, *_NOT_WRITABLE, _errno.ENOENT, _errno.ENOTDIR) and path:
        return _path_hint(scene, exception, code, path)
    if code in _NOT_PERMITTED:
        return "a confined run may not do this: leave it out"
    return None


def _area(scene: Scene, exception: BaseException, by_line: bool) -> str:
    """Return "process", "program" or "network", or "" if the error is of none of them.

    by_line tells to judge by the words of the program's line too.
    """
    line, modules = scene.place(exception)
    for module in reversed(modules):
        for area, known in (("process", _PROCESS_MODULES), ("program", _PROGRAM_MODULES), ("network", _NETWORK_MODULES)):
            if any(module == name or module.startswith(name + ".") for name in known):
                return area
    if not by_line:
        return ""
    for area, calls in (("process", _PROCESS_CALLS), ("program", _PROGRAM_CALLS), ("network", _NETWORK_CALLS)):
        if any(call in line for call in calls):
            return area
    return ""


def _process_hint(area: str, code: int, around: Surroundings) -> Optional[str]:
    if not around.processes:
        if code in _NOT_PERMITTED or code in (_errno.ENOENT, _errno.ENOSYS, _errno.EAGAIN):
            return around.no_process() if area == "process" else around.no_program()
        return around.no_program() if area == "program" else None
    if area == "program" and code in (*_NOT_PERMITTED, _errno.ENOENT):
        return "only Python and the programs that the host opened can be started here" + _functions(around)
    return None


def _functions(around: Surroundings) -> str:
    instead = around.a_function()
    return f"; use {instead} instead" if instead else ""


def _path_hint(scene: Scene, exception: BaseException, code: int, path: str) -> Optional[str]:
    own = _own_folder()
    line, _modules = scene.place(exception)
    if code in _NOT_WRITABLE:
        return _writing(path)
    whole = _whole(path)
    if whole is None:
        return None
    if own and (whole + "/").startswith((own + "/", "/tmp/")):
        if code != _errno.ENOENT:
            return None
        if any(word in line for word in _WRITING_A_FILE):
            return "the folder of this path isn't there: make it first, with os.makedirs(…, exist_ok=True)"
        return "a run starts with a new and empty folder: write the file first" + _get(scene)
    if any(word in line for word in _WRITING):
        return _writing(path)
    return "a run sees only its own folder, which is empty at its start, and what the host opened" + _get(scene, ": ")


def _get(scene: Scene, before: str = ", or ") -> str:
    source = scene.source_of_values()
    return f"{before}get its content from {source}" if source else ""


def _writing(path: str) -> str:
    base = path.rstrip("/").rpartition("/")[2]
    example = f": use the path {base!r}" if 0 < len(base) <= 100 and base not in (".", "..") else ""
    return f"a run can write only in its own folder, which is the current one{example}"


def _own_folder() -> str:
    home = _posix.environ.get(b"HOME", b"")
    return home.decode("utf-8", "replace").rstrip("/")


def _whole(path: str) -> Optional[str]:
    """Return the path from the root on, None if there is no current folder."""
    if not path.startswith("/"):
        try:
            path = f"{_posix.getcwd()}/{path}"
        except OSError:
            return None
    parts: List[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)
