"""The nursery: a process that has imported everything, and forks a child for each run.

It never runs a program. The host hands it the descriptors of each child over a
socket that is its descriptor 3, one message for each; nursery.go has the other end.
A child gets a PID namespace, mounts and walls of its own, and then waits for its
boot frame like one that was started by itself.

The children are forked by libc, without the hooks that Python runs around its own
fork: these cost as much as the fork. What of them matters is in forked.py.
"""

from __future__ import annotations

import posix
from binascii import a2b_base64 as _a2b_base64
from errno import EAGAIN as _EAGAIN
from errno import EMFILE as _EMFILE
from errno import ENOSPC as _ENOSPC
from sys import byteorder as _byteorder
from sys import modules as _modules

import gc as _gc
import resource as _resource
import select as _select

from thirdrail_child.boot import boot_failed as _boot_failed
from thirdrail_child.boot import proof_field as _proof_field
from thirdrail_child.boot import reset_signals as _reset_signals
from thirdrail_child.boot import serve_forked as _serve_forked
from thirdrail_child.codec import decode as _decode
from thirdrail_child.codec import encode_string as _encode_string
from thirdrail_child.confine import ConfinementError as _ConfinementError
from thirdrail_child.confine import apply as _apply
from thirdrail_child.confine import make_ruleset as _make_ruleset
from thirdrail_child.constants import PROTOCOL_FD
from thirdrail_child.forked import Randomness as _Randomness
from thirdrail_child.forked import mend as _mend
from thirdrail_child.native import System
from thirdrail_child.overlimit import know as _know_limits
from thirdrail_child.pages import Pages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, NoReturn, Optional, Tuple

# What most programs import, and what asyncio brings along anyway.
_IMPORTED = ("asyncio", "json", "random", "re", "datetime", "math", "collections", "itertools", "functools", "linecache", "traceback")

# What to raise where the kernel gives no more.
_REMEDIES = {
    _EAGAIN: "; no more processes may be made: raise RLIMIT_NPROC (ulimit -u) or pids.max of the control group, or have fewer runs at once",
    _ENOSPC: "; no more namespaces may be made: raise sysctl user.max_pid_namespaces, or have fewer runs at once",
    _EMFILE: "; no more files may be open: raise RLIMIT_NOFILE (ulimit -n), or have fewer runs at once",
}

_NOTHING: "Dict[str, str]" = {}  # the environment of a holder
_SETUP_BYTES = 1 << 20
_MESSAGE_BYTES = 1 << 12
_FILES = 3  # of every child; a control group may follow
_FIRST_OTHER = PROTOCOL_FD + 1  # descriptor that a child doesn't have
_CLOSE_ON_EXEC = 0x40000000  # MSG_CMSG_CLOEXEC
_NEW_PIDS = 0x20000000  # CLONE_NEWPID
_SIGKILL = 9
_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve the host until it closes the socket."""
    import _socket

    posix.set_inheritable(PROTOCOL_FD, False)
    _reset_signals()
    nursery = Nursery(_socket.socket(fileno=PROTOCOL_FD), _socket.SOL_SOCKET, _socket.SCM_RIGHTS)
    nursery.prepare()
    nursery.serve()


class Nursery:
    """The one object of the process."""

    def __init__(self, control: Any, level: int, rights: int) -> None:
        self._control = control
        self._level, self._rights = level, rights
        self._system = System(posix.uname().machine)
        self._holder = ""  # the program that is the first process of a child's namespace
        self._policy: Optional[Dict[str, Any]] = None  # what each child applies
        self._poll = _select.epoll()
        self._poll.register(control.fileno(), _select.EPOLLIN)
        self._pages: Optional[Pages] = None
        self._own = self._system.call("pidfd_open", posix.getpid(), 0)
        # By pidfd: the number that the host gave, the process, and its namespace's first.
        self._children: Dict[int, Tuple[int, int, int]] = {}
        self._holders: Dict[int, Tuple[int, int]] = {}
        # Two descriptors for each child: as many as may be, whatever the host began with.
        self._usual_files = _resource.getrlimit(_resource.RLIMIT_NOFILE)
        _resource.setrlimit(_resource.RLIMIT_NOFILE, (self._usual_files[1], self._usual_files[1]))

    def prepare(self) -> None:
        """Do what the host asks for before the first child."""
        setup, _ = self._receive(_SETUP_BYTES)
        try:
            for name in _IMPORTED:
                __import__(name)
            self._set_up(setup)
        except (_ConfinementError, OSError, ImportError) as error:
            self._fail(str(error) or type(error).__name__)
        self._send(b'{"ready":true}')
        preloaded = False
        while True:
            message, _ = self._receive(_MESSAGE_BYTES)
            if "import" not in message:
                break
            preloaded = True
            try:
                __import__(message["import"])
            except BaseException as error:
                self._fail(f"{type(error).__name__}: {error}")
            self._send(b'{"ready":true}')
        self._randomness = _Randomness(preloaded)
        _gc.collect()
        # What exists now is never looked at again, so that it stays shared.
        _gc.freeze()
        self._send(b'{"ready":true}')

    def _set_up(self, setup: Dict[str, Any]) -> None:
        own = setup.get("confinement")
        if own is None:
            # The first process of a namespace is started from here where /proc is in sight.
            file = self._system.call("memfd_create", b"thirdrail-holder", 1)
            posix.write(file, _a2b_base64(setup["holder"]))
            self._holder = f"/proc/self/fd/{file}"
            return
        self._holder = own["root"]["programs"][0][0]
        _apply(self._system, own)
        policy = self._policy = setup["run"]
        if policy.get("landlock"):
            policy["ruleset"] = _make_ruleset(self._system, policy.pop("landlock"))
        if policy.get("calls"):
            policy["calls"]["program"] = _a2b_base64(policy["calls"]["program"])
        policy["closeFrom"] = _FIRST_OTHER

    def serve(self) -> None:
        """Fork children and tell how they end, for ever."""
        control = self._control.fileno()
        while True:
            for fd, _ in self._poll.poll():
                if fd == control:
                    message, files = self._receive(_MESSAGE_BYTES)
                    if "pages" in message:
                        self._pages = Pages(self._system, files[0], message["pages"])
                        posix.close(files[0])
                        continue
                    self._start(message["fork"], message["order"], files)
                else:
                    self._bury(fd)

    def _receive(self, size: int) -> Tuple[Dict[str, Any], List[int]]:
        data, ancillary, _, _ = self._control.recvmsg(size, 64, _CLOSE_ON_EXEC)
        if not data:
            posix._exit(0)  # the host is done
        files = []
        for level, kind, content in ancillary:
            if level == self._level and kind == self._rights:
                files = [int.from_bytes(content[i : i + 4], _byteorder) for i in range(0, len(content) - 3, 4)]
        message: Any = _decode(data, "exact")
        return message, files

    def _send(self, message: bytes, *files: int) -> None:
        rights = b"".join([file.to_bytes(4, _byteorder) for file in files])
        self._control.sendmsg([message], [(self._level, self._rights, rights)] if files else [])

    def _fail(self, text: str) -> NoReturn:
        self._send(b'{"failed":%b}' % _encode_string(text[:2000]))
        posix._exit(0)

    def _start(self, number: int, order: Dict[str, Any], files: List[int]) -> None:
        holder = pid = 0
        try:
            if len(files) < _FILES:
                raise OSError(_EMFILE, "the nursery can open no more files")
            self._system.call("unshare", _NEW_PIDS)
            try:
                holder = posix.posix_spawn(self._holder, ["thirdrail-holder"], _NOTHING)
                pid = self._system.fork()
                if pid == 0:
                    self._child(order, files)
            finally:
                if pid or not holder:
                    self._system.call("setns", self._own, _NEW_PIDS)
            watch = self._system.call("pidfd_open", pid, 0)
            watch_holder = self._system.call("pidfd_open", holder, 0)
        except OSError as error:
            # Without descriptors nothing can be watched: a process like that is of no use.
            if not pid:
                self._give_up(number, holder, str(error) + _REMEDIES.get(error.errno or 0, ""))
                for file in files:
                    posix.close(file)
                return
            raise
        for file in files:
            posix.close(file)
        self._children[watch] = (number, pid, holder)
        self._holders[watch_holder] = (number, holder)
        self._poll.register(watch, _select.EPOLLIN)
        self._poll.register(watch_holder, _select.EPOLLIN)
        self._send(b'{"forked":%d}' % number, watch, watch_holder)

    def _give_up(self, number: int, holder: int, text: str) -> None:
        if holder:
            self._system.call("setns", self._own, _NEW_PIDS)
            posix.kill(holder, _SIGKILL)
            posix.waitpid(holder, 0)
        self._send(b'{"refused":%d,"reason":%b}' % (number, _encode_string(text)))

    def _bury(self, fd: int) -> None:
        """Wait for a process that has ended, and tell the host."""
        self._poll.unregister(fd)
        posix.close(fd)
        if fd in self._holders:
            number, holder = self._holders.pop(fd)
            posix.waitpid(holder, 0)
            self._send(b'{"gone":%d}' % number)
            return
        number, pid, holder = self._children.pop(fd)
        _, status, usage = posix.wait4(pid, 0)
        # What the program has left ends with the first process of its namespace.
        posix.kill(holder, _SIGKILL)
        microseconds = int((usage[0] + usage[1]) * 1000000)
        self._send(
            b'{"ended":%d,"status":%d,"microseconds":%d,"peakMemory":%d}'
            % (number, status, microseconds, usage[2] * 1024)
        )

    def _child(self, order: Dict[str, Any], files: List[int]) -> NoReturn:
        proof = b""
        try:
            if self._pages is not None:
                self._pages.copy()
            self._control.detach()
            self._poll.close()
            if len(files) > _FILES:
                _join(files[_FILES])
            for file, number in zip(files, (PROTOCOL_FD, 1, 2)):
                posix.dup2(file, number)
            posix.setsid()
            # For as long as the nursery lives: its death is ours.
            self._system.call("prctl", _PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
            _mend()
            self._randomness.renew()
            if self._policy is None:
                _resource.setrlimit(_resource.RLIMIT_NOFILE, self._usual_files)
                _enter(order["folder"])
                self._system.call("close_range", _FIRST_OTHER, 0xFFFFFFFF, 0)
            else:
                proof = self._confine(self._policy, order)
        except (_ConfinementError, OSError) as error:
            _boot_failed(f"the confinement could not be applied: {error}")
        except BaseException as error:
            _boot_failed(f"the child could not be prepared: {type(error).__name__}: {error}")
        _serve_forked(self._policy, proof)

    def _confine(self, policy: Dict[str, Any], order: Dict[str, Any]) -> bytes:
        owner = order["owner"]
        policy = dict(policy)
        policy["limits"] = policy.get("limits", []) + order["limits"]
        policy["workspace"] = dict(policy["workspace"], **order)
        if policy.get("user"):
            policy["user"] = owner
        _know_limits(order["told"])
        _apply(self._system, policy)
        thorough = order.get("thorough")
        numbers = order["numbers"]  # those that differ from run to run
        attempts = [
            dict(proof, number=numbers.get(proof["kind"], proof.get("number", 0)))
            for proof in policy.get("proofs", [])
            if thorough or proof.get("each")
        ]
        return _proof_field(self._system, attempts)


def _join(group: int) -> None:
    """Enter a control group, of which this is the open folder."""
    file = posix.open("cgroup.procs", posix.O_WRONLY, dir_fd=group)
    posix.write(file, b"0")
    posix.close(file)


def _enter(folder: str) -> None:
    """Make a folder of the host the workspace."""
    posix.chdir(folder)
    environment = _modules["os"].environ
    environment["HOME"], environment["TMPDIR"] = folder, folder + "/tmp"
