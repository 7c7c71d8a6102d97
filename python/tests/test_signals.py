"""Signal handlers and the sections that they must not interrupt."""

from __future__ import annotations

import os
import signal
import sys
import threading
import unittest
from typing import Any, List

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import _signal  # type: ignore[import]  # noqa: E402

from thirdrail_child.signals import Section  # noqa: E402


class SignalsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.section = Section()
        self.ran: List[Any] = []
        plain = _signal.signal, _signal.getsignal
        old = signal.getsignal(signal.SIGUSR1)
        self.section.guard()

        def restore() -> None:
            _signal.signal, _signal.getsignal = plain
            signal.signal(signal.SIGUSR1, old)

        self.addCleanup(restore)

    def raise_signal(self) -> None:
        os.kill(os.getpid(), signal.SIGUSR1)

    def test_runs_at_once_outside(self) -> None:
        signal.signal(signal.SIGUSR1, lambda *arguments: self.ran.append(arguments))
        self.raise_signal()
        self.assertEqual([arguments[0] for arguments in self.ran], [signal.SIGUSR1])
        self.assertEqual(self.ran[0][1].f_code.co_name, "raise_signal")

    def test_waits_for_the_outermost_section(self) -> None:
        signal.signal(signal.SIGUSR1, lambda *arguments: self.ran.append(arguments))
        with self.section:
            with self.section:
                self.raise_signal()
            self.raise_signal()  # a second one before the handler ran is one
            self.assertEqual(self.ran, [])
        self.assertEqual(len(self.ran), 1)
        self.raise_signal()
        self.assertEqual(len(self.ran), 2)

    def test_raises_behind_the_section(self) -> None:
        def fail(*_: object) -> None:
            raise TimeoutError

        signal.signal(signal.SIGUSR1, fail)
        whole = False
        with self.assertRaises(TimeoutError):
            with self.section:
                self.raise_signal()
                whole = True
        self.assertTrue(whole)
        with self.section:  # nothing is left over
            pass

    def test_handlers_look_as_the_program_set_them(self) -> None:
        def handler(*_: object) -> None:
            pass

        for setting in (handler, signal.SIG_IGN, signal.SIG_DFL, signal.default_int_handler):
            signal.signal(signal.SIGUSR1, setting)
            self.assertIs(signal.getsignal(signal.SIGUSR1), setting)
            self.assertIs(signal.signal(signal.SIGUSR1, setting), setting)
        with self.assertRaises(TypeError):
            signal.signal(signal.SIGUSR1, "no handler")  # type: ignore[arg-type]
        with self.assertRaises(ValueError):
            signal.signal(10000, handler)

    def test_a_section_of_another_thread_holds_nothing_up(self) -> None:
        signal.signal(signal.SIGUSR1, lambda *arguments: self.ran.append(arguments))
        inside, leave = threading.Event(), threading.Event()

        def stay() -> None:
            with self.section:
                inside.set()
                leave.wait()

        thread = threading.Thread(target=stay)
        thread.start()
        inside.wait()
        self.raise_signal()
        self.assertEqual(len(self.ran), 1)
        leave.set()
        thread.join()


if __name__ == "__main__":
    unittest.main()
