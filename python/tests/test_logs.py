"""Tests of the log streams and their ledger: entries, budget, order, and what a program may do to the streams."""

from __future__ import annotations

import io
import itertools
import json
import os
import random
import signal
import sys
import threading
import time
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from thirdrail_child import logs  # noqa: E402
from thirdrail_child.constants import log_truncation_marker  # noqa: E402
from thirdrail_child.logs import Ledger, LogStream, Native  # noqa: E402
from thirdrail_child.signals import Section  # noqa: E402

OUT, ERR = "<stdout>", "<stderr>"
Write = Tuple[str, str]


class Sent:
    """A channel that keeps what is sent over it."""

    def __init__(self) -> None:
        self.data = b""
        self.sends = 0
        self.section = Section()

    def send(self, data: bytes) -> None:
        assert data.endswith(b"\n")
        self.sends += 1
        self.data += data

    def frames(self) -> List[Dict[str, Any]]:
        return [json.loads(line) for line in self.data.decode("utf-8").split("\n")[:-1]]

    def entries(self) -> List[str]:
        """Return the log entries as a host makes them of the frames."""
        entries: List[str] = []
        is_open = False
        for frame in self.frames():
            assert set(frame) <= {"type", "text", "open", "truncated"} and frame["type"] == "log", frame
            if is_open:
                entries[-1] += frame["text"]
            else:
                entries.append(frame["text"])
            is_open = frame.get("open", False)
        return entries


def ledger(budget: int = 1 << 20, open_logs: bool = True) -> Tuple[Ledger, Sent]:
    sent = Sent()
    return Ledger(sent, budget, open_logs), sent  # type: ignore[arg-type]


def play(writes: List[Write], budget: int = 1 << 20, open_logs: bool = True) -> List[str]:
    book, sent = ledger(budget, open_logs)
    for stream, text in writes:
        book.write(stream, text)
    book.finish()
    return sent.entries()


def weigh(entries: List[str]) -> int:
    """Return the size of entries as a compact JSON array."""
    return len(json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))


def model(writes: List[Write], budget: int) -> List[str]:
    """Take characters one by one, and weigh all entries anew for each."""
    entries: List[str] = []
    owner: Optional[str] = None
    for stream, text in writes:
        if owner is not None and owner != stream and text:
            owner = None
        for character in text:
            if "\ud800" <= character <= "\udfff":
                character = "\ufffd"
            added = "" if character == "\n" else character
            following = entries[:-1] + [entries[-1] + added] if owner is not None else entries + [added]
            if weigh(following) > budget:
                return entries + [log_truncation_marker(budget)]
            entries = following
            owner = None if character == "\n" else stream
    return entries


# Writes to the two streams, and the entries that they make.
CASES: List[Tuple[str, List[Write], List[str]]] = [
    ("nothing", [], []),
    ("empty writes", [(OUT, ""), (ERR, "")], []),
    ("a line", [(OUT, "a b\n")], ["a b"]),
    ("a line in pieces", [(OUT, "a"), (OUT, " "), (OUT, "b"), (OUT, "\n")], ["a b"]),
    ("lines", [(OUT, "a\nb\n\nc\n")], ["a", "b", "", "c"]),
    ("an open end", [(OUT, "a\nb")], ["a", "b"]),
    ("blank", [(OUT, "\n")], [""]),
    ("streams take turns", [(OUT, "a"), (ERR, "b"), (OUT, "c\n"), (ERR, "d\n")], ["a", "b", "c", "d"]),
    ("empty text of the other stream ends nothing", [(OUT, "a"), (ERR, ""), (OUT, "b")], ["ab"]),
    ("only a line feed", [(OUT, "a\rb\x0bc\x0cd\x1ce\x85f\u2028g\r\n")], ["a\rb\x0bc\x0cd\x1ce\x85f\u2028g\r"]),
    ("surrogates", [(OUT, "\ud83d\ude00\n"), (OUT, "x\udfffy")], ["\ufffd\ufffd", "x\ufffdy"]),
    ("like the protocol", [(OUT, '{"type":"done"}\n')], ['{"type":"done"}']),
    ("any character", [(OUT, '\t"\\\x00\x01\x7fé\u4f60\U0001f600\n')], ['\t"\\\x00\x01\x7fé\u4f60\U0001f600']),
]


class LedgerTest(unittest.TestCase):
    def test_cases(self) -> None:
        for name, writes, want in CASES:
            for open_logs in (True, False):
                with self.subTest(name, open_logs=open_logs):
                    self.assertEqual(play(writes, open_logs=open_logs), want)
                    self.assertEqual(model(writes, 1 << 20), want)

    def test_against_model(self) -> None:
        source = random.Random(7)
        pieces = ["", "a", "\n", "b\nc", "é", "\u4f60", "\U0001f600", "\0", '"', "\x7f", "\ud800", "0123456789", "\n\n", "\r", "xy" * 20]
        for round_number in range(1500):
            budget = source.randrange(60, 260)
            writes = [
                (source.choice((OUT, ERR)), "".join(source.choices(pieces, k=source.randrange(4))))
                for _ in range(source.randrange(30))
            ]
            for open_logs in (True, False):
                got = play(writes, budget, open_logs)
                self.assertEqual(got, model(writes, budget), (round_number, budget, open_logs, writes))
                kept = got[:-1] if got and got[-1] == log_truncation_marker(budget) else got
                self.assertLessEqual(weigh(kept), budget)

    def test_text_is_sent_at_once(self) -> None:
        book, sent = ledger()
        book.write(OUT, "unfinished")
        self.assertEqual(sent.frames(), [{"type": "log", "text": "unfinished", "open": True}])
        book.write(OUT, "!\n")
        self.assertEqual(sent.frames()[1:], [{"type": "log", "text": "!"}])
        book.write(OUT, "a")
        book.write(ERR, "b")
        self.assertEqual([f["text"] for f in sent.frames()[2:]], ["a", "", "b"])

    def test_base_protocol_keeps_unfinished_text(self) -> None:
        book, sent = ledger(open_logs=False)
        book.write(OUT, "unfin")
        book.write(OUT, "ished")
        self.assertEqual(sent.data, b"")
        book.finish()
        self.assertEqual(sent.frames(), [{"type": "log", "text": "unfinished"}])

    def test_nothing_after_finish(self) -> None:
        book, sent = ledger()
        book.finish()
        book.write(OUT, "late\n")
        self.assertEqual(sent.data, b"")

    def test_marker_frame(self) -> None:
        book, sent = ledger(100)
        book.write(OUT, "x" * 1000)
        book.write(OUT, "more\n")
        self.assertEqual(
            sent.frames(),
            [
                {"type": "log", "text": "x" * 96},
                {"type": "log", "text": log_truncation_marker(100), "truncated": True},
            ],
        )

    def test_many_lines_are_few_sends(self) -> None:
        book, sent = ledger()
        book.write(OUT, "line\n" * 10_000)
        self.assertEqual(len(sent.entries()), 10_000)
        self.assertLess(sent.sends, 20)

    def test_spent_budget_stops_the_scan(self) -> None:
        book, sent = ledger(200)
        text = "l\n" * 3_000_000
        with mock.patch.object(Ledger, "_line", autospec=True, side_effect=Ledger._line) as line:
            book.write(OUT, text)
        self.assertLess(line.call_count, 100)
        self.assertEqual(sent.entries()[-1], log_truncation_marker(200))

    def test_fitting(self) -> None:
        for text, budget, want in (
            ("abc", 5, 3), ("abc", 4, 2), ("abc", 2, 0), ("abc", 0, 0), ("abc", -5, 0), ("", 5, 0), ("éé", 6, 2), ("éé", 5, 1),
            ("\0\0", 8, 1), ("\0\0", 7, 0), ('""', 6, 2), ('""', 5, 1), ("\U0001f600" * 3, 10, 2), ("\ufffd", 5, 1), ("\ufffd", 4, 0),
        ):  # fmt: skip
            self.assertEqual(logs._fitting(text, budget), text[:want], (text, budget))

    def test_write_on_top_of_a_write(self) -> None:
        """A signal handler or finalizer writes while a write goes on: nothing is lost, doubled or torn."""
        sent = Sent()
        book = Ledger(sent, 1 << 20, True)  # type: ignore[arg-type]
        plain, nested = sent.send, []

        def send(data: bytes) -> None:
            if len(nested) < 3:
                nested.append(data)
                book.write(OUT, f"nested {len(nested)}\n")
            plain(data)

        sent.send = send  # type: ignore[method-assign]
        book.write(OUT, "a\nb\n")
        book.write(ERR, "c\n")
        self.assertEqual(sent.entries(), ["a", "b", "nested 1", "nested 2", "nested 3", "c"])

    def test_signals(self) -> None:
        book, sent = ledger()
        numbers = itertools.count()

        def handler(*_: object) -> None:
            book.write(ERR, f"signal {next(numbers)}\n")

        before = signal.signal(signal.SIGALRM, handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
            for i in range(4000):
                book.write(OUT, f"line {i}\n")
            signal.setitimer(signal.ITIMER_REAL, 0)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        entries = sent.entries()
        self.assertEqual([e for e in entries if e[0] == "l"], [f"line {i}" for i in range(4000)])
        count = next(numbers)
        # One handler may interrupt another before it writes.
        self.assertEqual({e for e in entries if e[0] != "l"}, {f"signal {i}" for i in range(count)})
        self.assertEqual(len(entries), 4000 + count)
        self.assertGreater(count, 0)

    def test_an_exception_in_a_handler_breaks_nothing(self) -> None:
        book, sent = ledger()
        plain = sent.send

        def send(data: bytes) -> None:
            sent.send = plain  # type: ignore[method-assign]
            raise TimeoutError

        sent.send = send  # type: ignore[method-assign]
        with self.assertRaises(TimeoutError):
            book.write(OUT, "lost\n")
        book.write(OUT, "next\n")
        self.assertEqual(sent.entries(), ["next"])


class ThreadTest(unittest.TestCase):
    def test_lines_are_whole(self) -> None:
        """Each thread writes its lines in pieces, as print does."""
        book, sent = ledger()

        def work(number: int) -> None:
            for i in range(200):
                for piece in ("thread ", str(number), " line ", str(i), "\n"):
                    book.write(OUT if i % 2 else ERR, piece)
                    if i % 50 == 0:
                        time.sleep(0)  # let others in

        threads = [threading.Thread(target=work, args=(n,)) for n in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        entries = sent.entries()
        for n in range(5):
            mine = [e for e in entries if e.startswith(f"thread {n} ")]
            self.assertEqual(mine, [f"thread {n} line {i}" for i in range(200)])
        self.assertEqual(len(entries), 1000)

    def test_a_line_that_stays_open_is_ended_once(self) -> None:
        book, sent = ledger()
        book.write(OUT, "open")
        waits: List[float] = []
        with mock.patch.object(logs, "_sleep", waits.append):
            thread = threading.Thread(target=lambda: [book.write(OUT, f"{i}\n") for i in range(5)])
            thread.start()
            thread.join()
        self.assertEqual(len(waits), len(logs._LINE_STEPS))
        book.write(OUT, " on")
        # This thread is known now to leave its lines open: nobody waits for it.
        with mock.patch.object(logs, "_sleep", waits.append):
            thread = threading.Thread(target=lambda: book.write(OUT, "5\n"))
            thread.start()
            thread.join()
        self.assertEqual(len(waits), len(logs._LINE_STEPS))
        book.write(OUT, "done\n")
        self.assertEqual(sent.entries(), ["open", "0", "1", "2", "3", "4", " on", "5", "done"])


class NativeTest(unittest.TestCase):
    """Descriptors other than 1 and 2 stand for them, since those are the test's own."""

    def setUp(self) -> None:
        self.reader, self.writer = os.pipe()
        self.addCleanup(os.close, self.reader)
        self.addCleanup(os.close, self.writer)
        self.native = Native()
        status = os.fstat(self.writer)
        self.native._pipes = [(self.writer, (status.st_dev, status.st_ino))]

    def wait(self, on_sleep: Any) -> List[float]:
        """Wait, with an on_sleep in the place of sleep, and return how long it slept."""
        slept: List[float] = []

        def sleep(seconds: float) -> None:
            slept.append(seconds)
            on_sleep(len(slept))

        with mock.patch.object(logs, "_sleep", sleep):
            self.native.wait()
        return slept

    def test_empty(self) -> None:
        self.assertEqual(self.wait(lambda n: None), [])

    def test_until_it_is_read(self) -> None:
        for when in (1, 30, 60, 61, 100):
            with self.subTest(when=when):
                os.write(self.writer, b"native")
                self.assertEqual(len(self.wait(lambda n: n == when and os.read(self.reader, 100))), when)

    def test_bounded_when_nobody_reads(self) -> None:
        os.write(self.writer, b"native")
        slept = self.wait(lambda n: None)
        self.assertEqual(len(slept), len(logs._DRAIN_STEPS) + len(logs._STILL_STEPS))
        self.assertLess(sum(slept), 3)

    def test_less_for_one_who_writes_all_the_time(self) -> None:
        slept = self.wait(lambda n: os.write(self.writer, b"more"))
        self.assertEqual(slept, [])  # nothing was there
        os.write(self.writer, b"native")
        slept = self.wait(lambda n: os.write(self.writer, b"more"))
        self.assertLess(sum(slept), 0.2)

    def test_replaced_or_closed(self) -> None:
        os.write(self.writer, b"native")
        self.native._pipes = [(self.writer, (0, 0)), (10**6, (0, 0))]
        self.assertEqual(self.wait(lambda n: None), [])


class StreamTest(unittest.TestCase):
    def setUp(self) -> None:
        self.ledger, self.sent = ledger()
        self.stream = LogStream(self.ledger, OUT, 1)

    def test_is_a_text_stream(self) -> None:
        s = self.stream
        self.assertIsInstance(s, io.TextIOBase)
        self.assertIsInstance(s.buffer, io.BufferedIOBase)
        self.assertEqual(s.write("é\n"), 2)
        self.assertEqual(
            (s.encoding, s.errors, s.newlines, s.isatty(), s.fileno(), s.writable(), s.readable(), s.seekable(), s.closed),
            ("utf-8", "replace", None, False, 1, True, False, False, False),
        )
        s.writelines(["a\n", "b\n"])
        s.flush()
        s.reconfigure(encoding="latin-1", line_buffering=True)
        s.close()
        s.buffer.close()
        with s:
            pass
        self.assertFalse(s.closed)
        print("after", "close", file=s, flush=True)
        self.assertEqual(self.sent.entries(), ["é", "a", "b", "after close"])

    def test_refusals(self) -> None:
        for bad in (b"x", 5, None):
            with self.assertRaises(TypeError):
                self.stream.write(bad)  # type: ignore[arg-type]
        with self.assertRaises(TypeError):
            self.stream.buffer.write("x")
        for call in (self.stream.detach, self.stream.buffer.detach, self.stream.read, self.stream.buffer.read):
            with self.assertRaises(io.UnsupportedOperation):
                call()
        self.assertEqual(self.sent.data, b"")

    def test_buffer(self) -> None:
        for data in (b"a", bytearray(b"b"), memoryview(b"c\n"), memoryview(b"..d..")[2:3]):
            self.assertEqual(self.stream.buffer.write(data), len(data))
        for byte in "é\u4f60\U0001f600".encode("utf-8"):
            self.stream.buffer.write(bytes([byte]))
        self.stream.buffer.write(b"\xff\n\xe4\xbd")
        self.stream.buffer.end()
        self.assertEqual(self.sent.entries(), ["abc", "dé\u4f60\U0001f600\ufffd", "\ufffd"])

    def test_str_subclass(self) -> None:
        class Odd(str):
            def __str__(self) -> str:
                raise ValueError

            def find(self, *args: Any) -> int:
                return 3

        self.stream.write(Odd("plain\n"))
        self.assertEqual(self.sent.entries(), ["plain"])

    def test_input_is_empty(self) -> None:
        stream = logs.empty_input()
        self.assertEqual((stream.read(), stream.readline(), list(stream), stream.encoding), ("", "", [], "utf-8"))


if __name__ == "__main__":
    unittest.main()
