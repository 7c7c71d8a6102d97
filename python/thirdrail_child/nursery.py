"""The nursery: a process that has imported everything, and forks a child for each run.

It never runs a program. The host tells it over a socket, which is its descriptor 3,
what to import. Then it calls the forker, which is machine code (native/forker.c), and
which gets the descriptors of each child over the same socket. What follows that call
happens in a child, which gets walls of its own, and then waits for its boot frame like
one that was started by itself.

The children are forked by libc, without the hooks that Python runs around its own
fork: these cost as much as the fork. What of them matters is in forked.py.
"""

from __future__ import annotations

import posix
from binascii import a2b_base64 as _a2b_base64
from sys import byteorder as _byteorder
from sys import modules as _modules

import gc as _gc
import resource as _resource

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
from thirdrail_child.text import enlarge_text as _enlarge_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, NoReturn, Optional, Tuple

# What most programs import, and what asyncio brings along anyway.
_IMPORTED = ("asyncio", "json", "random", "re", "datetime", "math", "collections", "itertools", "functools", "linecache", "traceback")

_SETUP_BYTES = 1 << 20
_MESSAGE_BYTES = 1 << 12
_FILES = 3  # of every child; a control group may follow
_FIRST_OTHER = PROTOCOL_FD + 1  # descriptor that a child doesn't have
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9

# struct forker of native/forker.c: seven words, then the files and how many they are.
# The name of the holder follows, and the message: struct request, and the order.
_WORD = 8
_FILES_AT, _FILE_COUNT_AT, _NAME_AT = 7 * _WORD, 11 * _WORD, 12 * _WORD
_NAME_BYTES = 1 << 8
_MESSAGE_AT = _NAME_AT + _NAME_BYTES
_ORDER_AT = _MESSAGE_AT + 2 * _WORD


def main() -> None:
    """Serve the host until it closes the socket."""
    import _socket

    posix.set_inheritable(PROTOCOL_FD, False)
    _reset_signals()
    nursery = Nursery(_socket.socket(fileno=PROTOCOL_FD))
    nursery.prepare()
    nursery.serve()


class Nursery:
    """The one object of the process."""

    def __init__(self, control: Any) -> None:
        self._control = control
        self._system = System(posix.uname().machine)
        self._holder = ""  # the program that is the first process of a child's namespace
        self._policy: Optional[Dict[str, Any]] = None  # what each child applies
        # Those of each child pass through here: as many as may be, whatever the host began with.
        self._usual_files = _resource.getrlimit(_resource.RLIMIT_NOFILE)
        _resource.setrlimit(_resource.RLIMIT_NOFILE, (self._usual_files[1], self._usual_files[1]))

    def prepare(self) -> None:
        """Do what the host asks for before the first child."""
        setup = self._receive(_SETUP_BYTES)
        try:
            _enlarge_text(self._system)
            self._forker = self._system.load(_a2b_base64(setup["forker"]))
            for name in _IMPORTED:
                __import__(name)
            self._set_up(setup)
        except (_ConfinementError, OSError, ImportError) as error:
            self._fail(str(error) or type(error).__name__)
        self._send(b'{"ready":true}')
        preloaded = False
        while True:
            message = self._receive(_MESSAGE_BYTES)
            if "import" not in message:
                break
            preloaded = True
            try:
                __import__(message["import"])
            except BaseException as error:
                self._fail(f"{type(error).__name__}: {error}")
            self._send(b'{"ready":true}')
        self._randomness = _Randomness(preloaded)
        self._state = self._forker_state()
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

    def _forker_state(self) -> Tuple[int, memoryview]:
        """Return what the forker gets to know, and has as its own."""
        holder = self._holder.encode()
        if len(holder) >= _NAME_BYTES:
            self._fail(f"the path of the holder, {self._holder}, is too long")
        system = self._system
        place, state = system.memory(_MESSAGE_AT + _MESSAGE_BYTES)
        own = system.call("pidfd_open", posix.getpid(), 0)
        symbols = system.symbol("fork"), system.symbol("__errno_location")
        words = (self._control.fileno(), own, place + _NAME_AT, *symbols, place + _MESSAGE_AT, _MESSAGE_BYTES)
        state[:_FILES_AT] = b"".join([word.to_bytes(_WORD, _byteorder) for word in words])
        state[_NAME_AT : _NAME_AT + len(holder)] = holder
        return place, state

    def serve(self) -> NoReturn:
        """Have the forker fork children, for ever. What follows that happens in a child."""
        place, state = self._state
        size = self._forker(place)
        words = state[:_NAME_AT].cast("l").tolist()
        files = words[_FILES_AT // _WORD :][: words[_FILE_COUNT_AT // _WORD]]
        order: Any = _decode(bytes(state[_ORDER_AT : _MESSAGE_AT + size]), "exact")
        self._child(order, files)

    def _receive(self, size: int) -> Dict[str, Any]:
        data = self._control.recv(size)
        if not data:
            posix._exit(0)  # the host is done
        message: Any = _decode(data, "exact")
        return dict(message)

    def _send(self, message: bytes) -> None:
        self._control.send(message)

    def _fail(self, text: str) -> NoReturn:
        self._send(b'{"failed":%b}' % _encode_string(text[:2000]))
        posix._exit(0)

    def _child(self, order: Dict[str, Any], files: List[int]) -> NoReturn:
        proof = b""
        try:
            self._control.detach()
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
