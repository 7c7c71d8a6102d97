"""What a program prints, as log frames, within a budget.

The budget counts the logs as a compact JSON array: it starts at one byte less
than LogBytes, and an entry costs its JSON string and a comma. Text over it is cut
to what fits, the marker follows once, and the program goes on unheard.

Both text streams share one ledger, so that their order is kept. Bytes that go to
descriptors 1 and 2 past these streams are read by the host itself. To keep the
order between the two ways, a frame waits until the host has taken such bytes.
"""

from __future__ import annotations

import io as _io
from _codecs import lookup as _lookup_codec
from _io import BytesIO as _BytesIO  # type: ignore[import]
from _io import TextIOWrapper as _TextIOWrapper
from _io import UnsupportedOperation as _UnsupportedOperation
from _thread import RLock as _RLock  # type: ignore[attr-defined]
from _thread import get_ident as _get_ident
from fcntl import ioctl as _ioctl
from posix import fstat as _fstat
from sys import byteorder as _byteorder
from sys import platform as _platform
from time import sleep as _sleep

from thirdrail_child.codec import encode_string as _encode_string
from thirdrail_child.codec import string_size as _string_size
from thirdrail_child.constants import log_truncation_marker as _marker
from thirdrail_child.cutting import without_surrogates as _without_surrogates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, List, Optional, Set, Tuple

    from thirdrail_child.channel import Channel

# What isinstance knows streams by.
_TextIOBase: Any = _io.TextIOBase
_BufferedIOBase: Any = _io.BufferedIOBase

_BATCH = 64 << 10
_CLOSE_FRAME = b'{"type":"log","text":""}\n'
_FIONREAD = 0x541B if _platform == "linux" else 0x4004667F
# How long a frame waits for the host to take native bytes. An idle host needs
# some 50 microseconds; the bound is for one that is stopped or behind.
_DRAIN_STEPS = (0.00003,) * 20 + (0.0005,) * 20 + (0.005,) * 20
# How long it goes on to wait as long as nothing moves: the host is behind.
_STILL_STEPS = (0.02,) * 100
_PIPE_BYTES = 64 << 10
# How long a thread waits for another to end its line. print() writes the parts of
# a line one by one, within microseconds; the bound is for a line that stays open.
_LINE_STEPS = (0.00003,) * 20 + (0.0005,) * 20 + (0.005,) * 40


def _fitting(text: str, budget: int) -> str:
    """Return the longest beginning of text whose JSON string is within budget."""
    low, high = 0, min(len(text), max(budget - 2, 0))
    while low < high:
        middle = (low + high + 1) // 2
        if _string_size(text[:middle], budget) <= budget:
            low = middle
        else:
            high = middle - 1
    return text[:low]


class Native:
    """Descriptors 1 and 2: tells whether the host has yet to read what went there."""

    def __init__(self) -> None:
        self._pipes: List[Tuple[int, Tuple[int, int]]] = []
        for fd in (1, 2):
            try:
                status = _fstat(fd)
                self._pending(fd)
            except OSError:
                continue
            if status.st_mode & 0o170000 == 0o010000:  # a FIFO
                self._pipes.append((fd, (status.st_dev, status.st_ino)))

    @staticmethod
    def _pending(fd: int) -> int:
        return int.from_bytes(_ioctl(fd, _FIONREAD, b"\0\0\0\0"), _byteorder)

    def wait(self) -> None:
        """Wait, for a bounded time, until the host has read what was written before."""
        for fd, identity in self._pipes:
            try:
                if not self._pending(fd):
                    continue
                status = _fstat(fd)
                if (status.st_dev, status.st_ino) != identity:
                    continue  # the program put something else in its place
                self._drain(fd)
            except OSError:
                continue

    def _drain(self, fd: int) -> None:
        for step in _DRAIN_STEPS:
            _sleep(step)
            if not self._pending(fd):
                return
        left = self._pending(fd)
        for step in _STILL_STEPS:
            # More or less than before, or a full pipe: another process writes all
            # the time, and there is no order to keep.
            if left == 0 or left >= _PIPE_BYTES or self._pending(fd) != left:
                return
            _sleep(step)


class Ledger:
    """The run's log entries: counts them against the budget and sends them.

    With open_logs, text without a newline is sent at once, as an entry that the
    next frame goes on with, so that a kill loses nothing. Without, as in the base
    protocol, it is kept until its newline comes or the program ends.
    """

    def __init__(self, channel: Channel, max_bytes: int, open_logs: bool) -> None:
        self._channel = channel
        self.section = channel.section
        self._lock = _RLock()
        self._max_bytes = max_bytes
        self._left = max_bytes - 1
        self._open_logs = open_logs
        self._native = Native()
        self._open: Optional[str] = None  # the stream with an unfinished entry
        self._thread = 0  # whose it is
        self._lines = 0  # how many entries were ended
        self._slow: Set[int] = set()  # threads that leave lines open for long
        self._busy = False
        self._later: List[Tuple[str, str]] = []
        self._kept: List[str] = []  # its text, where open entries are not sent
        self._spent = False
        self._batch: List[bytes] = []
        self._batch_size = 0

    def write(self, stream: str, text: str) -> None:
        """Take text that was written to the stream called stream."""
        if not text or self._spent:
            return
        with self.section, self._lock:
            if self._busy:
                # We are in a finalizer, on top of a write.
                self._later.append((stream, text))
                return
            self._let_finish()
            self._later.append((stream, text))
            while self._later:
                self._busy = True
                try:
                    while self._later:
                        self._take(*self._later.pop(0))
                finally:
                    self._busy = False

    def _let_finish(self) -> None:
        """Wait, for a bounded time, until another thread has ended its line."""
        me = _get_ident()
        lines, steps = self._lines, iter(_LINE_STEPS)
        while self._open is not None and self._thread != me and self._thread not in self._slow:
            if lines != self._lines:  # another line, with a time of its own
                lines, steps = self._lines, iter(_LINE_STEPS)
            step = next(steps, None)
            if step is None:
                break
            self._lock.release()
            try:
                _sleep(step)
            finally:
                self._lock.acquire()
        if self._open is not None and self._thread != me:
            self._slow.add(self._thread)
            self._close_entry()
        self._thread = me

    def _take(self, stream: str, text: str) -> None:
        self._native.wait()
        if self._open is not None and self._open != stream:
            self._close_entry()
        start = 0
        while not self._spent:
            end = text.find("\n", start)
            if end < 0:
                break
            self._line(text, start, end)
            start = end + 1
        if start < len(text) and not self._spent:
            self._unfinished(stream, text, start)
        self._flush()

    def finish(self) -> None:
        """End an unfinished entry, and take nothing more."""
        with self._lock:
            if self._open is not None and not self._open_logs:
                self._close_entry()
                self._flush()
            self._spent = True

    def _line(self, text: str, start: int, end: int) -> None:
        piece = self._pay(text, start, end)
        if piece is None:
            return
        if self._kept:
            self._kept.append(piece)
            piece = "".join(self._kept)
            self._kept = []
        self._open = None
        self._lines += 1
        self._slow.discard(self._thread)
        self._append(b'{"type":"log","text":%b}\n' % _encode_string(piece))

    def _unfinished(self, stream: str, text: str, start: int) -> None:
        piece = self._pay(text, start, len(text))
        if piece is None:
            return
        self._open = stream
        if self._open_logs:
            self._append(b'{"type":"log","text":%b,"open":true}\n' % _encode_string(piece))
        else:
            self._kept.append(piece)

    def _close_entry(self) -> None:
        self._open = None
        self._lines += 1
        if self._open_logs:
            self._append(_CLOSE_FRAME)
        elif self._kept:
            text = "".join(self._kept)
            self._kept = []
            self._append(b'{"type":"log","text":%b}\n' % _encode_string(text))

    def _pay(self, text: str, start: int, end: int) -> Optional[str]:
        """Return text[start:end], paid for, or None once the budget is spent.

        The quotes and the comma are paid once an entry. No more is copied than
        could fit.
        """
        overhead = 0 if self._open is not None else 3
        left = self._left - overhead
        whole = end - start <= left
        piece = _without_surrogates(text[start : end if whole else start + max(left, 0) + 1])
        if whole:
            size = _string_size(piece, left + 2) - 2
            if size <= left:
                self._left = left - size
                return piece
        self._truncate(_fitting(piece, left + 2))
        return None

    def _truncate(self, piece: str) -> None:
        if piece:
            if self._kept:
                self._kept.append(piece)
                piece = "".join(self._kept)
            self._append(b'{"type":"log","text":%b}\n' % _encode_string(piece))
        elif self._open is not None:
            self._close_entry()
        self._kept = []
        self._open = None
        self._spent = True
        marker = _encode_string(_marker(self._max_bytes))
        self._append(b'{"type":"log","text":%b,"truncated":true}\n' % marker)

    def _append(self, frame: bytes) -> None:
        self._batch.append(frame)
        self._batch_size += len(frame)
        if self._batch_size >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        if self._batch:
            data = self._batch[0] if len(self._batch) == 1 else b"".join(self._batch)
            self._batch = []
            self._batch_size = 0
            self._channel.send(data)


class LogBuffer(_BufferedIOBase):  # type: ignore[misc]
    """The binary layer of a log stream: UTF-8 bytes, decoded as they come."""

    def __init__(self, ledger: Ledger, stream: str, fd: int) -> None:
        self._ledger = ledger
        self._stream = stream
        self._fd = fd
        self._decoder = _lookup_codec("utf-8").incrementaldecoder("replace")
        self._lock = _RLock()
        self.raw = self
        self.name = stream
        self.mode = "wb"

    def write(self, data: Any) -> int:
        if isinstance(data, str):
            raise TypeError("a bytes-like object is required, not 'str'")
        view = memoryview(data).cast("B")
        with self._ledger.section, self._lock:
            self._ledger.write(self._stream, self._decoder.decode(view))
        return view.nbytes

    def end(self) -> None:
        """Give out what an unfinished character has become: U+FFFD."""
        with self._lock:
            self._ledger.write(self._stream, self._decoder.decode(b"", True))

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._fd

    def isatty(self) -> bool:
        return False

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def detach(self) -> Any:
        raise _UnsupportedOperation("the log stream can't be detached")


class LogStream(_TextIOBase):  # type: ignore[misc]
    """sys.stdout or sys.stderr: each write becomes log entries at once."""

    mode = "w"
    line_buffering = True
    write_through = True

    def __init__(self, ledger: Ledger, stream: str, fd: int) -> None:
        self._ledger = ledger
        self._stream = stream
        self._buffer = LogBuffer(ledger, stream, fd)

    @property
    def name(self) -> str:
        return self._stream

    @property
    def buffer(self) -> LogBuffer:
        return self._buffer

    @property
    def encoding(self) -> str:
        return "utf-8"

    @property
    def errors(self) -> str:
        return "replace"

    @property
    def newlines(self) -> None:
        return None

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._ledger.write(self._stream, str.__str__(text))
        return len(text)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._buffer.fileno()

    def isatty(self) -> bool:
        return False

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def reconfigure(self, **options: Any) -> None:
        pass

    def detach(self) -> Any:
        raise _UnsupportedOperation("the log stream can't be detached")

    def __repr__(self) -> str:
        return f"<log stream {self._stream!r} encoding='utf-8'>"


def empty_input() -> Any:
    """Return what sys.stdin is in a run: a text stream at its end."""
    return _TextIOWrapper(_BytesIO(), encoding="utf-8")
