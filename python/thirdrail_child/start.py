"""The first module of a child: makes it a process of its own, and loads the others.

bootstrap.py calls it. The command line is: CODE_FD STATUS_FD KEEPER. CODE_FD holds
the child's modules, read with pread so that one open file can serve every child.
KEEPER is `namespace` (this process is the first of a PID namespace), `subreaper`
(there is none) or `none` (run in this very process, as `thirdrail child` does).

A keeper is a process of our own between the host and the program. The first
process of a PID namespace takes no signal from inside it, not even its own
SIGKILL, so a program there could not die as it should. Everything that the
program leaves behind ends with the keeper, which tells the program's end on
STATUS_FD. The program never holds that descriptor. When the host is killed, the
kernel kills the keeper of a namespace, and tells a subreaper by SIGTERM.
"""

from __future__ import annotations

import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any, Dict, List, Tuple

    Modules = List[Tuple[str, bool, CodeType]]


def prctl(option: int, argument: int) -> None:
    """Call prctl(2). ctypes costs milliseconds: only where no namespace does the work."""
    import ctypes

    ctypes.CDLL(None).prctl(option, argument, 0, 0, 0)


def below(root: int) -> List[int]:
    """Return the living processes that descend from root."""
    children: Dict[int, List[int]] = {}
    for name in posix.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            fd = posix.open("/proc/" + name + "/stat", posix.O_RDONLY)
            try:
                fields = posix.read(fd, 4096).rpartition(b")")[2].split()
            finally:
                posix.close(fd)
        except OSError:
            continue  # it has ended
        if fields[0] != b"Z" or fields[17] != b"1":
            children.setdefault(int(fields[1]), []).append(int(name))
    found: List[int] = []
    queue = [root]
    while queue:
        more = children.get(queue.pop(), [])
        found += more
        queue += more
    return found


def sweep(number: int, frame: object) -> None:
    """End all that descends from this subreaper, and itself: the host is gone."""
    while True:
        found = below(posix.getpid())
        if not found:
            posix._exit(0)
        for wanted in (19, 9):  # SIGSTOP first, so that nothing forks meanwhile
            for pid in found:
                try:
                    posix.kill(pid, wanted)
                except OSError:
                    pass
        try:
            while posix.waitpid(-1, posix.WNOHANG)[0]:
                pass
        except OSError:
            pass


def become_subreaper() -> None:
    import _signal  # type: ignore[import]

    prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
    _signal.pthread_sigmask(_signal.SIG_SETMASK, [])
    _signal.signal(_signal.SIGTERM, sweep)


def leave_subreaper() -> None:
    """Undo in the program's process what it has of the keeper, and die with it."""
    import _signal

    _signal.signal(_signal.SIGTERM, _signal.SIG_DFL)
    prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL


def keep(status_fd: int, kind: str) -> None:
    """Fork. Return in the new process, and stay in the old one to see it end."""
    subreaper = kind == "subreaper" and sys.platform == "linux"
    if subreaper:
        become_subreaper()
    program = posix.fork()
    if program == 0:
        posix.close(status_fd)
        if subreaper:
            leave_subreaper()
        return
    for fd in range(4):
        posix.close(fd)
    while True:
        try:
            pid, status, usage = posix.wait4(-1, 0)
        except ChildProcessError:
            break
        if pid == program:
            microseconds = int((usage[0] + usage[1]) * 1000000)
            peak = usage[2] * (1024 if sys.platform == "linux" else 1)
            report = [n.to_bytes(8, sys.byteorder) for n in (status, microseconds, peak)]
            posix.write(status_fd, b"".join(report))
            if kind == "namespace":
                break
    # What is left in a namespace ends now. Orphans of the program come to a
    # subreaper as long as it lives, and the host ends them by way of it, so it
    # ends by itself only when there are none.
    posix._exit(0)


def load(modules: Modules) -> Any:
    """Execute the child package and return its boot module.

    Each module sees its own copy of the builtins, so that what a program does to
    them can't reach the child's code. The package doesn't stay importable.
    """
    import builtins

    module_type = type(sys)
    loaded = []
    for name, is_package, code in modules:
        module = module_type(name)
        module.__package__ = name if is_package else name.rpartition(".")[0]
        if is_package:
            module.__path__ = []
        module.__dict__["__builtins__"] = dict(builtins.__dict__)
        sys.modules[name] = module
        exec(code, module.__dict__)
        loaded.append(name)
    for name in loaded:
        del sys.modules[name]
    return module


def start(modules: Modules) -> None:
    """Run the child to its end. The modules are those of CODE_FD, this one first."""
    code_fd, status_fd, kind = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    if kind != "none":
        keep(status_fd, kind)
    posix.close(code_fd)
    null = posix.open("/dev/null", posix.O_RDONLY)
    if null != 0:
        posix.dup2(null, 0)
        posix.close(null)
    load(modules[1:]).main()
