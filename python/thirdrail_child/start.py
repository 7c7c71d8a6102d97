"""The first module of a child: makes it a process of its own, and loads the others.

bootstrap.py calls it. The command line is: CODE_FD STATUS_FD KEEPER [nursery]. CODE_FD holds
the child's modules, read with pread so that one open file can serve every child.
KEEPER is `namespace` (this process is the first of a PID namespace), `subreaper`
(there is none), `wrapped` (a wrapper command has started this process, and its end
ends all) or `none` (run in this very process, as `thirdrail child` does).

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
    from typing import Any, Dict, List, Tuple, Union

    # Name, whether it is a package, code; marshalled code is for later.
    Modules = List[Tuple[str, bool, Union[CodeType, bytes]]]


def prctl(option: int, argument: int) -> None:
    """Call prctl(2). ctypes costs milliseconds: only where no namespace does the work."""
    import ctypes

    ctypes.CDLL(None).prctl(option, argument, 0, 0, 0)


def sweep(number: int, frame: object) -> None:
    """End all that descends from this subreaper, and itself: the host is gone.

    Whatever loses its parent becomes a child of this process, so killing children
    gets at everything in turn. Groups are killed as a whole, which the kernel does
    between two forks.
    """
    me = posix.getpid()
    while True:
        try:
            while posix.waitpid(-1, posix.WNOHANG)[0]:
                pass
            children = posix.open(f"/proc/{me}/task/{me}/children", posix.O_RDONLY)
        except OSError:
            posix._exit(0)  # nothing is left, or this kernel can't tell
        pids = [int(pid) for pid in posix.read(children, 1 << 16).split()]
        posix.close(children)
        for pid in pids:
            try:
                group = posix.getpgid(pid)
                if group != me:
                    posix.killpg(group, 9)
                posix.kill(pid, 9)
            except OSError:
                pass  # it has ended


def become_subreaper() -> None:
    import _signal  # type: ignore[import]

    prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
    prctl(1, 15)  # PR_SET_PDEATHSIG, SIGTERM: the parent may be a wrapper
    _signal.pthread_sigmask(_signal.SIG_SETMASK, [])
    _signal.signal(_signal.SIGTERM, sweep)


def leave_subreaper() -> None:
    """Undo in the program's process what it has of the keeper, and die with it.

    The group of its own is for sweeps.
    """
    import _signal

    posix.setpgid(0, 0)
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
            if kind != "subreaper":
                break
    # What is left in a namespace ends now. Orphans of the program come to a
    # subreaper as long as it lives, and the host ends them by way of it, so it
    # ends by itself only when there are none.
    posix._exit(0)


def close_others() -> None:
    """Close what the host's own parent may have left open in it: a child has 0 to 3."""
    try:
        names = posix.listdir("/dev/fd")
    except OSError:
        posix.closerange(4, posix.sysconf("SC_OPEN_MAX"))
        return
    for name in names:
        if int(name) > 3:
            posix.closerange(int(name), int(name) + 1)  # an open one or not


# The modules that only a nursery needs. They come last.
NURSERY = ("thirdrail_child.forked", "thirdrail_child.text", "thirdrail_child.nursery")


def load(modules: Modules, nursery: bool) -> Any:
    """Execute the child package and return its last module: boot, or nursery.

    Each module sees its own copy of the builtins, so that what a program does to
    them can't reach the child's code. The package doesn't stay importable.
    """
    import builtins

    module_type = type(sys)
    loaded: Dict[str, Any] = {}
    module: Any = None
    later: List[Tuple[str, bytes]] = []
    for name, is_package, code in modules:
        if name in NURSERY and not nursery:
            break
        if isinstance(code, bytes):
            later.append((name, code))
            continue
        module = module_type(name)
        module.__package__ = name if is_package else name.rpartition(".")[0]
        if is_package:
            module.__path__ = []
        module.__dict__["__builtins__"] = dict(builtins.__dict__)
        sys.modules[name] = module
        exec(code, module.__dict__)
        loaded[name] = module
    for name in loaded:
        del sys.modules[name]
    loaded["thirdrail_child.later"].keep(later, loaded, dict(builtins.__dict__))
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
    close_others()
    load(modules[1:], sys.argv[4:] == ["nursery"]).main()
