"""Lines over file descriptor 3, in both directions, without ever getting stuck.

The descriptor stays a blocking one, since the program owns it too. While calls are
in flight the host may have stopped to read, so a write is only started when poll
says that there is room, in pieces that fit that room; while there is none, replies
are read, so that neither side waits for the other. Without calls in flight the host
reads and has nothing to write, and then a plain write can't get stuck.
"""

from __future__ import annotations

from _collections import deque as _deque  # type: ignore[import]
from _thread import _count as _count_threads
from _thread import allocate_lock as _allocate_lock
from _thread import get_ident as _get_ident
from errno import EBADF as _EBADF
from errno import ECONNRESET as _ECONNRESET
from errno import EINVAL as _EINVAL
from errno import EIO as _EIO
from errno import EISDIR as _EISDIR
from errno import ENOTCONN as _ENOTCONN
from errno import ENOTSOCK as _ENOTSOCK
from errno import EPIPE as _EPIPE
from posix import read as _read
from posix import write as _write
from select import POLLIN as _POLLIN
from select import POLLOUT as _POLLOUT
from select import poll as _poll

from thirdrail_child.signals import Section as _Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Deque, List, Optional, Sized, Tuple, TypeVar, Union

    _T = TypeVar("_T")

# What a Unix stream socket takes without blocking once poll reports room: Linux
# does so when at least three quarters of the send buffer are free.
_PIECE = 64 << 10
# What is read at once. A big buffer costs a mapping and page faults each time, so
# it grows only while replies fill it.
_READ_SIZES = (16 << 10, 256 << 10)
# How often to look whether another thread has read what this one waits for.
_LOOK_MILLISECONDS = 50
# How much is kept of a line that does not fit in memory.
_HEAD = 256


class ChannelClosed(Exception):
    """The host is gone, or the descriptor was closed in this process."""


# The errors of the kernel for a broken descriptor.
_BROKEN = frozenset((_EBADF, _ECONNRESET, _ENOTCONN, _ENOTSOCK, _EPIPE, _EINVAL, _EISDIR, _EIO))


def _check_ours(error: OSError) -> None:
    """Raise the error again if it is none of a descriptor: a signal handler's, say."""
    if error.errno not in _BROKEN:
        raise error


class Channel:
    """The child's end of the protocol descriptor."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        # What must not be interrupted by a handler that raises.
        self.section = _Section()
        self._send_lock = _allocate_lock()
        self._sender: Optional[int] = None
        self._queue: List[bytes] = []
        self._receive_lock = _allocate_lock()
        self._pieces: List[bytes] = []
        self._lines: Deque[bytes] = _deque()
        self._read_size = _READ_SIZES[0]
        self._ended = False
        # The calls that wait for a reply.
        self.waiting: Sized = ()
        # The head and the size of a line that did not fit in memory, while the rest
        # of it is passed over; and what makes the line that stands for it.
        self._lost: Optional[Tuple[bytes, int]] = None
        self.stand_in: Optional[Callable[[bytes, int], bytes]] = None
        # Called after a send that had to read: the lines may be what a loop
        # waits for, and poll won't report them again.
        self.on_lines: Optional[Callable[[], None]] = None

    def fileno(self) -> int:
        return self._fd

    def send(self, data: bytes) -> None:
        """Send whole frames, and return when the kernel has them.

        A signal handler may call this on top of itself, in the middle of a frame.
        Then the data waits in the queue for the call below, which goes on once
        the handler returns.
        """
        self._send(lambda: (data, None), 0)

    def send_call(self, make: Callable[[], Tuple[bytes, _T]]) -> _T:
        """Send the call that make returns, and return what it returns beside it.

        Calls must leave in the order of their numbers, so make runs with the right
        to send held. It adds the call to those that wait.
        """
        return self._send(make, 1)

    def _send(self, make: Callable[[], Tuple[bytes, _T]], own: int) -> _T:
        me = _get_ident()
        if self._sender == me:
            data, result = make()
            self._queue.append(data)
            return result
        with self.section, self._send_lock:
            self._sender = me
            try:
                data, result = make()
                self._send_all(data, own)
                while self._queue:
                    self._send_all(self._queue.pop(0), 0)
            finally:
                self._sender = None
        if self._lines and self.on_lines is not None:
            self.on_lines()
        return result

    def _send_all(self, data: bytes, own: int) -> None:
        if len(self.waiting) == own:
            self._write_plainly(data)
        else:
            self._write_and_read(data)

    def _write_plainly(self, data: bytes) -> None:
        sent = self._write_piece(data)
        if sent == len(data):
            return
        view = memoryview(data)
        while sent < len(view):
            written = self._write_piece(view[sent:])
            if not written:
                self._write_and_read(view[sent:])
                return
            sent += written

    def _write_and_read(self, data: Union[bytes, memoryview]) -> None:
        poller = _poll()
        poller.register(self._fd, _POLLOUT | _POLLIN)
        view = memoryview(data)
        sent = 0
        while sent < len(view):
            events = poller.poll()
            if not events:
                continue
            ready = events[0][1]
            if ready & _POLLOUT:
                sent += self._write_piece(view[sent : sent + _PIECE])
                continue
            if ready & _POLLIN:
                self._read_some()
                if self._ended:
                    raise ChannelClosed
                continue
            raise ChannelClosed  # POLLERR, POLLHUP, POLLNVAL

    def _write_piece(self, piece: Union[bytes, memoryview]) -> int:
        try:
            return _write(self._fd, piece)
        except BlockingIOError:
            return 0  # the program made the descriptor a non-blocking one
        except OSError as error:
            _check_ours(error)
            raise ChannelClosed from error

    def _read_some(self) -> None:
        """Take what has arrived. Call it when poll says that there is something."""
        if not self._receive_lock.acquire(False):
            return  # another thread is at it
        try:
            self._take()
        finally:
            self._receive_lock.release()

    def _take(self) -> None:
        poller = _poll()
        poller.register(self._fd, _POLLIN)
        if poller.poll(0):
            self._read()

    def _read(self) -> None:
        """Read once, waiting if nothing has arrived. The receive lock is held."""
        try:
            data = _read(self._fd, self._read_size)
        except BlockingIOError:
            return
        except MemoryError:
            self._lose()
            return
        except OSError as error:
            _check_ours(error)
            data = b""
        if not data:
            self._ended = True
            return
        self._read_size = _READ_SIZES[len(data) == self._read_size]
        try:
            self._accept(data)
        except MemoryError:
            self._lose()
            self._accept(data)

    def _accept(self, data: bytes) -> None:
        """Make lines of what was read. After a MemoryError nothing has changed."""
        if self._lost is not None:
            data = self._skip(*self._lost, data)
        end = data.rfind(b"\n")
        if end < 0:
            if data:
                self._pieces.append(data)
            return
        rest = data[end + 1 :]
        whole = b"".join([*self._pieces, data[:end]])
        self._lines.extend(whole.split(b"\n"))
        self._pieces = [rest] if rest else []

    def _lose(self) -> None:
        """Give up the line that is arriving, so that there is memory again."""
        if self.stand_in is None or not self._pieces:
            raise MemoryError
        self._lost = self._pieces[0][:_HEAD], sum(map(len, self._pieces))
        self._pieces = []

    def _skip(self, head: bytes, size: int, data: bytes) -> bytes:
        """Pass over the rest of the lost line, and return what follows it."""
        end = data.find(b"\n")
        if end < 0:
            self._lost = head, size + len(data)
            return b""
        assert self.stand_in is not None
        self._lines.append(self.stand_in(head, size + end))
        self._lost = None
        return data[end + 1 :]

    def take_lines(self) -> List[bytes]:
        """Return the lines that have arrived, without waiting. ChannelClosed at the end."""
        lines: List[bytes] = []
        with self.section:
            if not self._lines and not self._ended:
                self._read_some()
            while self._lines:
                try:
                    lines.append(self._lines.popleft())
                except IndexError:  # another thread was faster
                    break
        if not lines and self._ended:
            raise ChannelClosed
        return lines

    def wait(self, milliseconds: Optional[int]) -> None:
        """Wait until something may have arrived, or so many milliseconds are over."""
        if self._lines or self._ended:
            return
        # This reads nothing: a handler may interrupt it. Another thread that reads
        # may take what is waited for, so it looks up now and then.
        if milliseconds is None and _count_threads():
            milliseconds = _LOOK_MILLISECONDS
        poller = _poll()
        poller.register(self._fd, _POLLIN)
        poller.poll(milliseconds)

    def wait_lines(self) -> List[bytes]:
        """Return the next lines, at least one. ChannelClosed at the end."""
        while True:
            lines = self.take_lines()
            if lines:
                return lines
            self.wait(None)
