"""The child's life: boot, acknowledge, run one program, say how it ended, exit."""

from __future__ import annotations

import _signal  # type: ignore[import]
import sys as _sys
from _thread import stack_size as _stack_size
from errno import EINVAL as _EINVAL
from posix import _exit
from posix import write as _write

import resource as _resource

from thirdrail_child.bindings import Calls
from thirdrail_child.bindings import seed as _seed
from thirdrail_child.channel import Channel, ChannelClosed
from thirdrail_child.codec import NotLossless as _NotLossless
from thirdrail_child.codec import OverBudget as _OverBudget
from thirdrail_child.codec import decode as _decode
from thirdrail_child.codec import encode as _encode
from thirdrail_child.codec import encode_string as _encode_string
from thirdrail_child.confine import ConfinementError as _ConfinementError
from thirdrail_child.confine import confine as _confine
from thirdrail_child.constants import PROTOCOL_FD
from thirdrail_child.driver import drive as _drive
from thirdrail_child.driver import run_loop as _run_loop
from thirdrail_child.failure import describe as _describe
from thirdrail_child.forgotten import Forgotten
from thirdrail_child.handles import closed as _closed
from thirdrail_child.later import later_module as _later_module
from thirdrail_child.logs import Ledger, LogStream, empty_input
from thirdrail_child.overlimit import know as _know_limits
from thirdrail_child.program import ABSENT, Program
from thirdrail_child.proof import prove as _prove
from thirdrail_child.refusals import explain_refusals as _explain_refusals
from thirdrail_child.surroundings import Surroundings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, NoReturn, Optional, Tuple

    from thirdrail_child.native import System

    # The confinement, None without one, and what boot-ack tells of it.
    Applied = Tuple[Optional[Dict[str, Any]], bytes]

# How the process ends when it can't say so in a frame.
_EXIT_CHANNEL_CLOSED = 74
_EXIT_BOOT_FAILED = 78

# Kept aside so that a program that used up its memory can still be told so.
_BALLAST_BYTES = 4 << 20

# Threads with the usual 8 MiB of stack would use up the address space that the
# memory limit grants.
_THREAD_STACK_BYTES = 2 << 20


def main() -> None:
    """Run the child from its boot frame to the end of the process."""
    reset_signals()
    _live(None)


def serve_forked(policy: Optional[Dict[str, Any]], proof: bytes) -> NoReturn:
    """Be a child of the nursery, confined already, from its boot frame to its end."""
    _warm()
    _live((policy, proof))
    _exit(0)


def _live(applied: Optional[Applied]) -> None:
    channel = Channel(PROTOCOL_FD)
    channel.section.guard()
    try:
        _serve(channel, applied)
    except ChannelClosed:
        _exit(_EXIT_CHANNEL_CLOSED)


def _warm() -> None:
    """Touch what a program will need, which a forked process has yet to copy."""
    frame: Any = _decode(b'{"type":"run","program":"return 1","limit":1.5}', "exact")
    names = {"__name__": "__main__", "__builtins__": _sys.modules["builtins"]}
    result = Program(frame["program"], "program.py").execute(names)
    _end_frame("value", result, "exact", 1 << 10)


def _serve(channel: Channel, applied: Optional[Applied]) -> None:
    inbox: List[bytes] = []
    boot = _wait_frame(channel, inbox, "boot")
    try:
        policy, proof = applied or _confined(boot)
        _apply_limits(boot)
    except _ConfinementError as error:
        boot_failed(f"the confinement could not be applied: {error}")
    except (OSError, ValueError) as error:
        boot_failed(f"the limits could not be applied: {error}")
    channel.send(b'{"type":"boot-ack"%b}\n' % proof)
    numbers = boot.get("numbers", "double")
    ledger = Ledger(channel, boot["maxLogBytes"], boot.get("openLogs") is True)
    streams = LogStream(ledger, "<stdout>", 1), LogStream(ledger, "<stderr>", 2)
    run = _wait_frame(channel, inbox, "run")
    calls = Calls(channel, numbers)
    file_name = run.get("fileName", "program.py")
    module = _main_module(file_name, streams)
    if "data" in run:
        module.__dict__["data"] = run["data"]
    _seed(module.__dict__, calls, boot["namespaces"])
    forgotten = Forgotten(calls, streams[1], file_name)
    surroundings = Surroundings(policy, boot["namespaces"], "data" in run)
    _explain_refusals(run["program"], surroundings, policy is not None and bool(policy.get("calls")))
    # Zeros take no memory until they are read, but address space.
    ballast = [bytes(_BALLAST_BYTES)]
    last = run.get("lastExpression") is True
    kind, result = _run_program(run["program"], file_name, last, module.__dict__, calls, forgotten, surroundings, ballast)
    ballast.clear()
    try:
        result = _closed(result)
        end = _end_frame(kind, result, numbers, boot["maxValueBytes"])
        forgotten.program_ends(module.__dict__)
        for stream in streams:
            stream.buffer.end()
    except ChannelClosed:
        raise
    except BaseException as error:
        end = _error_frame("exception", _name(error))
    ledger.finish()
    channel.send(end)
    _exit(0)


def _confined(boot: Dict[str, Any]) -> Applied:
    """Apply the confinement that the host asks for. Return it, and the proof for boot-ack."""
    policy = boot.get("confinement")
    if policy is None:
        return None, b""
    _know_limits(policy.get("told", {}))
    return policy, proof_field(_confine(policy), policy.get("proofs", []))


def proof_field(system: System, proofs: List[Dict[str, Any]]) -> bytes:
    """Make the attempts and return what boot-ack tells of them."""
    return b',"proof":' + _encode(_prove(system, proofs), "exact", 1 << 20, "proof")


def boot_failed(text: str) -> NoReturn:
    """Say why, where the host finds it, and end."""
    _write(2, f"thirdrail: {text}\n".encode())
    _exit(_EXIT_BOOT_FAILED)


def reset_signals() -> None:
    """Give signals the meaning that a fresh Python has, whatever the host ignores."""
    _signal.pthread_sigmask(_signal.SIG_SETMASK, [])
    for number in range(1, _signal.NSIG):
        if number in (_signal.SIGPIPE, getattr(_signal, "SIGXFSZ", 0)):
            continue
        try:
            if _signal.getsignal(number) is _signal.SIG_IGN:
                _signal.signal(number, _signal.SIG_DFL)
        except (OSError, ValueError):
            continue
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _wait_frame(channel: Channel, inbox: List[bytes], wanted: str) -> Dict[str, Any]:
    """Return the next frame of a type. Others, and what is no frame, are passed over."""
    while True:
        while inbox:
            try:
                frame: Any = _decode(inbox.pop(0), "exact")
            except ValueError:
                continue
            if type(frame) is dict and frame.get("type") == wanted:
                return frame
        inbox.extend(channel.wait_lines())


def _apply_limits(boot: Dict[str, Any]) -> None:
    infinity = _resource.RLIM_INFINITY
    cpu = boot["cpuSeconds"]
    soft, hard = _resource.getrlimit(_resource.RLIMIT_CPU)
    new_hard = cpu + 1 if hard == infinity else min(cpu + 1, hard)
    new_soft = cpu if soft == infinity else min(cpu, soft)
    _set_limit(_resource.RLIMIT_CPU, min(new_soft, new_hard), new_hard)
    memory = boot["addressSpaceBytes"]
    for inherited in _resource.getrlimit(_resource.RLIMIT_AS):
        if inherited != infinity:
            memory = min(memory, inherited)
    _set_limit(_resource.RLIMIT_AS, memory, memory)
    _set_limit(_resource.RLIMIT_CORE, 0, 0)
    _stack_size(_THREAD_STACK_BYTES)


def _set_limit(which: int, soft: int, hard: int) -> None:
    try:
        _resource.setrlimit(which, (soft, hard))
    except (ValueError, OSError) as error:
        # macOS knows the address space limit by name only.
        if _sys.platform == "linux" or getattr(error, "errno", _EINVAL) != _EINVAL:
            raise


def _main_module(file_name: str, streams: Tuple[LogStream, LogStream]) -> Any:
    """Make the module that the program is, and the world that it expects around it."""
    module = type(_sys)("__main__")
    module.__dict__["__file__"] = file_name
    module.__dict__["__builtins__"] = _sys.modules["builtins"]
    _sys.modules["__main__"] = module
    _sys.argv[:] = [file_name]
    _sys.stdin = _sys.__stdin__ = empty_input()
    _sys.stdout = _sys.__stdout__ = streams[0]
    _sys.stderr = _sys.__stderr__ = streams[1]
    return module


def _run_program(
    source: str,
    file_name: str,
    last_expression: bool,
    module_globals: Dict[str, Any],
    calls: Calls,
    forgotten: Forgotten,
    surroundings: Surroundings,
    ballast: List[bytes],
) -> Tuple[str, Any]:
    """Run the program. Return "value" and what it returned, or "exception" and its text."""
    program: Optional[Program] = None
    try:
        program = Program(source, file_name, last_expression)
        result = program.execute(module_globals)
        if program.is_async:
            if program.uses_asyncio:
                result = _run_loop(result, forgotten.tasks_end)
            else:
                result = _drive(result, calls, forgotten.tasks_end)
        return "value", result
    except ChannelClosed:
        raise
    except SystemExit as exit:
        ballast.clear()
        code = exit.code
        if code is None or (type(code) is int and code == 0):
            return "value", ABSENT
        return "exception", _described(exit, program, surroundings)
    except BaseException as error:
        ballast.clear()
        return "exception", _described(error, program, surroundings)


def _described(error: BaseException, program: Optional[Program], surroundings: Surroundings) -> str:
    def help(link: BaseException, message: Optional[str]) -> Any:
        return _later_module("thirdrail_child.hints").hint_for(link, message, program, surroundings)

    try:
        return _describe(error, program, help)
    except BaseException:
        return _name(error)


# A class can hide its name, but not from type's own way of telling it.
_type_name: Any = type.__dict__["__name__"].__get__  # type: ignore[index]


def _name(error: BaseException) -> str:
    name = _type_name(type(error))
    return str(name)[:200]


def _end_frame(kind: str, result: Any, numbers: str, max_value_bytes: int) -> bytes:
    if kind == "exception":
        return _error_frame(kind, result)
    if result is ABSENT:
        return b'{"type":"done"}\n'
    try:
        value = _encode(result, numbers, max_value_bytes, "result")
    except _OverBudget as over:
        return _error_frame("output-limit", _over_budget(over, result, numbers))
    except _NotLossless as refusal:
        return _error_frame("invalid-output", str(refusal))
    except BaseException as error:
        message = f"the result could not be encoded: {_name(error)}; return a smaller or plainer value"
        return _error_frame("invalid-output", message)
    return b'{"type":"done","value":' + value + b"}\n"


def _over_budget(over: _OverBudget, result: Any, numbers: str) -> str:
    try:
        text: str = _later_module("thirdrail_child.hints_size").over_budget_text(over, result, numbers == "double", "result")
        return text
    except BaseException:
        return str(over)


def _error_frame(kind: str, message: str) -> bytes:
    text = _encode_string(message)
    return b'{"type":"done","error":{"kind":"%b","message":%b}}\n' % (kind.encode(), text)
