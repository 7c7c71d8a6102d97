"""The frames that cross file descriptor 3, as types.

This module is the Python half of the mirror: package wire declares the same
frames as Go structs, and wire/mirror_test.go compares the two, names, types and
what is optional. The page that explains them is wire/wire.md.

The child never imports this module when it runs, since typing is slow to
import. Its modules may import it under `if TYPE_CHECKING:`.

A frame with optional fields is split in two: the required ones in a private
base, the optional ones in a subclass with total=False. NotRequired would say it
shorter, but Python 3.9 and 3.10 do not have it. Where a key is a word of the
language (`global`), only the functional syntax can name it.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union

from .constants import PROTOCOL_FD, log_truncation_marker

__all__ = [
    "FRAMES",
    "JSON",
    "PROTOCOL_FD",
    "Boot",
    "BootAck",
    "Call",
    "Done",
    "DoneError",
    "ErrorClass",
    "Log",
    "Namespace",
    "Reply",
    "ReplyError",
    "ReplyValue",
    "Run",
    "log_truncation_marker",
]

# Any JSON value.
JSON = Any


# Host to child.


class ErrorClass(TypedDict):
    """The exception class that a namespace's rejected calls raise."""

    name: str
    memberNameProperty: str


_NamespaceBase = TypedDict("_NamespaceBase", {"global": str, "names": List[str]})


class Namespace(_NamespaceBase, total=False):
    """One object of functions that the program finds among its globals."""

    errorClass: ErrorClass
    splitArguments: Literal[True]
    handles: str


class _BootBase(TypedDict):
    type: Literal["boot"]
    cpuSeconds: int
    addressSpaceBytes: int
    maxLogBytes: int
    maxValueBytes: int
    namespaces: List[Namespace]


class Boot(_BootBase, total=False):
    """The first frame: what the child may use, and what the program may call."""

    numbers: Literal["exact", "double"]
    openLogs: Literal[True]
    confinement: Dict[str, JSON]


class _RunBase(TypedDict):
    type: Literal["run"]
    program: str


class Run(_RunBase, total=False):
    """The program to run, sent once the child has acknowledged boot."""

    fileName: str
    data: JSON
    lastExpression: Literal[True]


class ReplyValue(TypedDict):
    """The answer to a call that succeeded."""

    type: Literal["reply"]
    id: int
    ok: Literal[True]
    value: JSON


class ReplyError(TypedDict):
    """The answer to a call that was rejected."""

    type: Literal["reply"]
    id: int
    ok: Literal[False]
    message: str


Reply = Union[ReplyValue, ReplyError]


# Child to host.


class _BootAckBase(TypedDict):
    type: Literal["boot-ack"]


class BootAck(_BootAckBase, total=False):
    """The child has applied its limits and is ready for a program."""

    proof: Dict[str, JSON]


_CallBase = TypedDict(
    "_CallBase",
    {"type": Literal["call"], "id": int, "global": str, "name": str, "args": JSON},
)


class Call(_CallBase):
    """The program calls a function of a namespace."""


class _LogBase(TypedDict):
    type: Literal["log"]
    text: str


class Log(_LogBase, total=False):
    """A line, or a piece of one, that the program wrote."""

    truncated: Literal[True]
    open: Literal[True]


class DoneError(TypedDict):
    """Why the program has no value."""

    kind: Literal["exception", "invalid-output", "output-limit"]
    message: str


class _DoneBase(TypedDict):
    type: Literal["done"]


class Done(_DoneBase, total=False):
    """The program has ended: with a value, without one, or with an error."""

    value: JSON
    error: DoneError


# Every frame, by who sends it.
FRAMES = {
    "host": (Boot, Run, Reply),
    "child": (BootAck, Call, Log, Done),
}
