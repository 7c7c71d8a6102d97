"""Tests of the channel: lines both ways, whole and in order, and neither side stuck."""

from __future__ import annotations

import os
import random
import socket
import sys
import threading
import unittest
from pathlib import Path
from typing import Any, Callable, List

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from thirdrail_child.channel import Channel, ChannelClosed  # noqa: E402

# How long a thread may take that would be stuck for ever if it were wrong.
PATIENCE = 20


class ChannelTest(unittest.TestCase):
    def setUp(self) -> None:
        self.host, child = socket.socketpair()
        self.child = child
        self.addCleanup(self.host.close)
        self.addCleanup(child.close)
        self.channel = Channel(child.fileno())

    def start(self, work: Callable[[], Any]) -> threading.Thread:
        """Run something in a thread that may not outlive the test."""
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        self.addCleanup(self.join, thread)
        return thread

    def join(self, thread: threading.Thread) -> None:
        thread.join(PATIENCE)
        self.assertFalse(thread.is_alive(), "a thread is stuck")

    def read(self, size: int) -> bytes:
        """Read so many bytes as the host."""
        self.host.settimeout(PATIENCE)
        pieces: List[bytes] = []
        while size:
            piece = self.host.recv(min(size, 1 << 20))
            self.assertTrue(piece, "the channel was closed")
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    # Reading.

    def test_lines(self) -> None:
        self.assertEqual(self.channel.take_lines(), [])
        self.host.sendall(b"a\nb")
        self.assertEqual(self.channel.take_lines(), [b"a"])
        self.assertEqual(self.channel.take_lines(), [])
        self.host.sendall(b"c\n\nd\n")
        self.assertEqual(self.channel.take_lines(), [b"bc", b"", b"d"])

    def test_wait_lines(self) -> None:
        self.start(lambda: [self.host.sendall(b"one "), self.host.sendall(b"line\n")])
        self.assertEqual(self.channel.wait_lines(), [b"one line"])

    def test_any_pieces(self) -> None:
        source = random.Random(3)
        lines = [bytes(source.choices(b"ab{}\\\xff", k=source.choice((0, 1, 50, 20_000, 300_000)))) for _ in range(60)]
        text = b"".join(line + b"\n" for line in lines)

        def write() -> None:
            rest = text
            while rest:
                size = source.choice((1, 100, 16 << 10, 256 << 10))
                self.host.sendall(rest[:size])
                rest = rest[size:]

        self.start(write)
        got: List[bytes] = []
        while len(got) < len(lines):
            got += self.channel.wait_lines()
        self.assertEqual(got, lines)

    def test_end(self) -> None:
        self.host.sendall(b"whole\npartial")
        self.host.close()
        self.assertEqual(self.channel.wait_lines(), [b"whole"])
        with self.assertRaises(ChannelClosed):
            self.channel.wait_lines()
        with self.assertRaises(ChannelClosed):
            self.channel.take_lines()
        self.channel.wait(None)  # there is nothing to wait for

    def test_closed_descriptor(self) -> None:
        os.close(os.dup(self.child.fileno()))
        fd = self.child.detach()
        os.close(fd)
        for call in (self.channel.wait_lines, lambda: self.channel.send(b"x\n")):
            with self.assertRaises(ChannelClosed):
                call()

    def test_wait_is_bounded(self) -> None:
        self.channel.wait(1)
        self.assertEqual(self.channel.take_lines(), [])

    def test_wait_while_another_thread_reads(self) -> None:
        """What this thread waits for may have been read by then: it must look again."""
        self.channel._receive_lock.acquire()
        thread = self.start(lambda: self.channel.wait(None))
        self.join(thread)
        self.channel._receive_lock.release()

    def test_non_blocking_descriptor(self) -> None:
        os.set_blocking(self.child.fileno(), False)
        frame = b"x" * (3 << 20) + b"\n"
        self.start(lambda: self.channel.send(frame))
        self.assertEqual(self.read(len(frame)), frame)
        self.start(lambda: self.host.sendall(b"late\n"))
        self.assertEqual(self.channel.wait_lines(), [b"late"])

    # Writing.

    def test_send(self) -> None:
        for size in (0, 1, 65535, 65536, 65537, 5 << 20):
            frame = b"x" * size + b"\n"
            for waiting in ((), (1,)):
                with self.subTest(size=size, waiting=waiting):
                    self.channel.waiting = waiting
                    thread = self.start(lambda: self.channel.send(frame))
                    self.assertEqual(self.read(len(frame)), frame)
                    self.join(thread)

    def test_host_that_writes_before_it_reads(self) -> None:
        """With calls in flight: a host that is busy with replies must not stop the child for ever."""
        replies = [b"r" * 100_000 for _ in range(30)]
        frame = b"x" * (2 << 20) + b"\n"
        seen: List[bytes] = []
        got: List[bytes] = []
        self.channel.waiting = (1,)
        self.channel.on_lines = lambda: seen.extend(self.channel.take_lines())

        def host() -> None:
            for reply in replies:
                self.host.sendall(reply + b"\n")
            got.append(self.read(len(frame)))

        thread = self.start(host)
        self.channel.send(frame)
        self.join(thread)
        while len(seen) < len(replies):
            seen.extend(self.channel.wait_lines())
        self.assertEqual((got, seen), ([frame], replies))

    def test_host_that_is_gone(self) -> None:
        self.host.close()
        for waiting in ((), (1,)):
            self.channel.waiting = waiting
            with self.assertRaises(ChannelClosed):
                self.channel.send(b"x" * 100_000 + b"\n")

    def test_host_that_goes_in_the_middle(self) -> None:
        for waiting in ((), (1,)):
            with self.subTest(waiting=waiting):
                host, child = socket.socketpair()
                channel = Channel(child.fileno())
                channel.waiting = waiting
                self.start(lambda: [host.recv(1000), host.close()])
                with self.assertRaises(ChannelClosed):
                    channel.send(b"x" * (5 << 20) + b"\n")
                child.close()

    def test_send_on_top_of_a_send(self) -> None:
        """A signal handler that sends waits for the frame that it interrupted."""

        def make() -> Any:
            self.channel.send(b"handler 1\n")
            self.channel.send(b"handler 2\n")
            return b"call\n", "result"

        self.assertEqual(self.channel.send_call(make), "result")
        self.channel.send(b"next\n")
        self.assertEqual(self.read(30), b"call\nhandler 1\nhandler 2\nnext\n")

    def test_a_failed_frame_is_none(self) -> None:
        def make() -> Any:
            raise MemoryError

        with self.assertRaises(MemoryError):
            self.channel.send_call(make)
        self.channel.send(b"next\n")
        self.assertEqual(self.read(5), b"next\n")

    def test_frames_of_threads_are_whole_and_in_order(self) -> None:
        numbers = iter(range(10**6))
        sizes = (10, 5_000, 70_000, 300_000)

        def work(n: int) -> None:
            for i in range(24):
                size = sizes[(n + i) % len(sizes)]
                if i % 2:
                    self.channel.send_call(lambda: (b"%d" % next(numbers) + b" " * size + b"\n", None))
                else:
                    self.channel.send(b"log" + b"." * size + b"\n")

        threads = [self.start(lambda n=n: work(n)) for n in range(6)]
        lines: List[bytes] = []
        reader = self.host.makefile("rb")
        self.host.settimeout(PATIENCE)
        while len(lines) < 6 * 24:
            lines.append(reader.readline())
        for thread in threads:
            self.join(thread)
        calls = [int(line) for line in lines if line[:3] != b"log"]
        self.assertEqual(calls, list(range(72)))
        for line in lines:
            body = line.rstrip(b"\n")
            self.assertIn(len(body) - len(body.rstrip(b" .")) , sizes)
            self.assertEqual(len(set(body.lstrip(b"0123456789log"))), 1)


if __name__ == "__main__":
    unittest.main()
