"""Tests of namespaces, calls and their replies, against a host that a thread plays."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import pickle
import random
import socket
import sys
import threading
import unittest
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from thirdrail_child import forgotten  # noqa: E402
from thirdrail_child.bindings import Calls, seed  # noqa: E402
from thirdrail_child.channel import Channel, ChannelClosed  # noqa: E402
from thirdrail_child.driver import drive, run_loop  # noqa: E402
from thirdrail_child.forgotten import Forgotten  # noqa: E402

PATIENCE = 20

NAMESPACES: List[Any] = [
    {"global": "tools", "names": ["echo", "fail", "a-b", "__class__", "constructor", "", "class"]},
    {"global": "db", "names": ["page"], "errorClass": {"name": "DBError", "memberNameProperty": "tool name"}},
    {"global": "none", "names": []},
    {"global": "split", "names": ["echo"], "splitArguments": True},
]


class Log:
    """A log stream that keeps what is written to it."""

    def __init__(self) -> None:
        self.lines: List[str] = []

    def write(self, text: str) -> None:
        self.lines += text.splitlines()


class HostTest(unittest.TestCase):
    """Has a host that answers each call: echo gives its arguments, all others are rejected."""

    def setUp(self) -> None:
        self.host, self.child = socket.socketpair()
        self.host.settimeout(PATIENCE)
        self.calls = Calls(Channel(self.child.fileno()), "exact")
        self.globals: Dict[str, Any] = {}
        seed(self.globals, self.calls, NAMESPACES)
        self.tools, self.db = self.globals["tools"], self.globals["db"]
        self.seen: List[Dict[str, Any]] = []
        self.reader = self.host.makefile("rb")

    def tearDown(self) -> None:
        self.reader.close()
        self.host.close()
        self.child.close()
        asyncio.set_event_loop(None)

    def receive(self) -> Dict[str, Any]:
        line = self.reader.readline()
        self.assertTrue(line.endswith(b"\n"), line)
        frame: Dict[str, Any] = json.loads(line)
        self.seen.append(frame)
        return frame

    def reply(self, id: Any, **fields: Any) -> None:
        self.host.sendall(json.dumps({"type": "reply", "id": id, **fields}).encode() + b"\n")

    def answer(self, frame: Dict[str, Any]) -> None:
        if frame["name"] == "echo":
            self.reply(frame["id"], ok=True, value=frame["args"])
        else:
            self.reply(frame["id"], ok=False, message="no " + frame["name"])

    def serve(self, calls: int, play: Optional[Callable[[], None]] = None) -> None:
        """Have a thread play the host: by default, it answers so many calls in order."""

        def work() -> None:
            for _ in range(calls):
                self.answer(self.receive())

        thread = threading.Thread(target=play or work, daemon=True)
        thread.start()
        self.addCleanup(lambda: (thread.join(PATIENCE), self.assertFalse(thread.is_alive(), "the host is stuck")))

    def drive(self, coroutine: Any) -> Any:
        return drive(coroutine, self.calls, lambda coroutines: None)

    def failure(self, coroutine: Any) -> BaseException:
        try:
            self.drive(coroutine)
        except BaseException as error:
            return error
        self.fail("nothing was raised")


class CallTest(HostTest):
    def test_frame(self) -> None:
        call = self.tools.echo({"a": [1, None], "é": "\ud800"})
        call.send(None)
        self.assertEqual(
            self.reader.readline(), '{"type":"call","id":0,"global":"tools","name":"echo","args":{"a":[1,null],"é":"\\ud800"}}\n'.encode()
        )
        call.close()

    def test_arguments(self) -> None:
        async def program() -> List[Any]:
            echo = self.tools.echo
            return [await echo(), await echo(5), await echo(None), await echo([]), await echo(a=1, self=2, name=3, args=4, kwargs=5)]

        self.serve(5)
        self.assertEqual(self.drive(program()), [{}, 5, None, [], {"a": 1, "self": 2, "name": 3, "args": 4, "kwargs": 5}])
        self.assertEqual([f["id"] for f in self.seen], [0, 1, 2, 3, 4])

    def test_refused_arguments_take_no_number(self) -> None:
        for bad in ((1,), {1: 2}, float("nan"), {"a": {1}}, object()):
            self.assertIn("lossless JSON", str(self.failure(self.tools.echo(bad))))
            self.assertIs(type(self.failure(self.db.page(bad))), self.globals["DBError"])
        for call in (self.tools.echo(1, 2), self.tools.echo({}, a=1)):
            self.assertIs(type(self.failure(call)), TypeError)
        self.serve(1)
        self.assertEqual(self.drive(self.tools.echo(1)), 1)
        self.assertEqual([f["id"] for f in self.seen], [0])

    def test_split_arguments(self) -> None:
        """The place of a refused one is its own, and an ellipsis is what isn't given."""
        echo = self.globals["split"].echo
        for call, start in (
            (echo(1, {"a"}), "split.echo argument[1] is a set"),
            (echo({"q": [{"a"}]}), 'split.echo argument[0]["q"][0] is a set'),
            (echo(q={"a": (1,)}), 'split.echo argument["q"]["a"] is a tuple'),
            (echo(...), "split.echo argument[0] is an ellipsis"),
            (echo(q=[...]), 'split.echo argument["q"][0] is an ellipsis'),
        ):
            with self.subTest(start):
                self.assertTrue(str(self.failure(call)).startswith(start))
        self.serve(1)
        self.assertEqual(self.drive(echo(1, q=..., r=None)), [[1], {"r": None}])

    def test_rejections(self) -> None:
        self.serve(2)
        error = self.failure(self.tools.fail())
        self.assertEqual((type(error), str(error), error.args), (RuntimeError, "no fail", ("no fail",)))
        self.assertEqual((error.__cause__, error.__context__, error.__suppress_context__), (None, None, True))
        error = self.failure(self.db.page())
        self.assertEqual((type(error), getattr(error, "tool name")), (self.globals["DBError"], "page"))

    def test_error_class(self) -> None:
        kind = self.globals["DBError"]
        self.assertEqual((kind.__name__, kind.__module__, kind.__bases__), ("DBError", "__main__", (Exception,)))
        fresh = kind("a", 1)
        self.assertEqual((fresh.args, getattr(fresh, "tool name")), (("a", 1), None))

    def test_names(self) -> None:
        tools = self.tools
        for name in NAMESPACES[0]["names"]:
            self.assertIs(tools[name], getattr(tools, name))
            self.assertEqual(tools[name].__name__, name)
            self.assertTrue(inspect.iscoroutinefunction(tools[name]))
        self.assertEqual(dir(tools), sorted(NAMESPACES[0]["names"]))
        for name in ("absent", "Echo", "keys", "items"):
            with self.assertRaisesRegex(AttributeError, f"tools has no function '{name}'; it has: '', __class__, 'a-b', class, constructor, echo, fail"):
                getattr(tools, name)
        for key in ("absent", 0, None, ["echo"], b"echo", "__doc__"):
            with self.assertRaisesRegex(KeyError, "tools has no function"):
                tools[key]
        for change in (lambda: setattr(tools, "echo", 1), lambda: setattr(tools, "new", 1), lambda: delattr(tools, "echo")):
            with self.assertRaises(AttributeError):
                change()
        with self.assertRaisesRegex(AttributeError, "none has no function 'x'; it has: nothing"):
            self.globals["none"].x
        self.assertEqual(repr(self.db), "<namespace db: page>")
        self.assertEqual(self.tools["a-b"].__qualname__, "tools['a-b']")

    def test_any_other_line_is_passed_over(self) -> None:
        def host() -> None:
            self.receive()
            for junk in (b"", b"null", b"[]", b"{", b"\xff", b'{"type":"reply"}', b'{"type":"boot"}', b'{"type":"reply","id":"0","ok":true,"value":1}', b'{"type":"reply","id":false,"ok":true,"value":2}'):
                self.host.sendall(junk + b"\n")
            self.reply(7, ok=True, value="nobody's")
            self.reply(0, ok=True, value="first")
            self.reply(0, ok=True, value="second")
            self.answer(self.receive())

        async def program() -> List[Any]:
            return [await self.tools.echo(1), await self.tools.echo(2)]

        self.serve(0, host)
        self.assertEqual(self.drive(program()), ["first", 2])

    def test_replies_without_form_are_rejections(self) -> None:
        shapes: List[Dict[str, Any]] = [{}, {"ok": True}, {"ok": False}, {"ok": 1, "value": 1}, {"ok": False, "message": 5}, {"ok": False, "value": 1}]

        def host() -> None:
            for shape in shapes:
                self.reply(self.receive()["id"], **shape)

        self.serve(0, host)
        for _ in shapes:
            self.assertEqual(str(self.failure(self.tools.echo())), "the call was rejected")

    def test_host_that_is_gone(self) -> None:
        self.serve(0, lambda: (self.receive(), self.host.shutdown(socket.SHUT_RDWR)))
        self.assertIs(type(self.failure(self.tools.echo())), ChannelClosed)


class LoopTest(HostTest):
    def run_loop(self, coroutine: Any) -> Any:
        return run_loop(coroutine, lambda coroutines: None)

    def test_replies_in_any_order(self) -> None:
        count = 200

        def host() -> None:
            frames = [self.receive() for _ in range(count)]
            random.Random(5).shuffle(frames)
            for frame in frames:
                self.answer(frame)

        async def program() -> List[Any]:
            return await asyncio.gather(*[self.tools.echo(i) for i in range(count)])

        self.serve(0, host)
        self.assertEqual(self.run_loop(program()), list(range(count)))
        self.assertEqual([f["args"] for f in self.seen], list(range(count)))

    def test_given_up_calls_are_still_owed_a_reply(self) -> None:
        release = threading.Event()

        def host() -> None:
            late = self.receive()
            release.wait(PATIENCE)
            self.answer(late)
            self.answer(self.receive())

        async def program() -> Any:
            call = asyncio.ensure_future(self.tools.echo("late"))
            await asyncio.sleep(0)
            self.assertEqual(self.calls.waiting(), ["tools.echo"])
            call.cancel()
            await asyncio.wait([call])
            self.assertEqual((self.calls.waiting(), len(self.calls._channel.waiting)), ([], 1))
            release.set()
            return await self.tools.echo("next")

        self.serve(0, host)
        self.assertEqual(self.run_loop(program()), "next")
        self.assertEqual(len(self.calls._channel.waiting), 0)

    def test_loops_of_threads(self) -> None:
        async def many(n: int) -> List[Any]:
            return await asyncio.gather(*[self.tools.echo([n, i]) for i in range(30)])

        got: Dict[int, Any] = {}
        threads = [threading.Thread(target=lambda n=n: got.update({n: asyncio.run(many(n))}), daemon=True) for n in range(4)]
        self.serve(30 * 5)
        for thread in threads:
            thread.start()
        mine = self.run_loop(many(9))
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual((mine, got), ([[9, i] for i in range(30)], {n: [[n, i] for i in range(30)] for n in range(4)}))

    def test_reply_read_by_a_thread_without_a_loop(self) -> None:
        """A thread that sends reads replies, too: they reach the loop of their call."""
        got: List[Any] = []
        thread = threading.Thread(target=lambda: got.append(self.drive(self.tools.echo("driven"))), daemon=True)

        async def program() -> List[Any]:
            thread.start()
            return [await self.tools.echo(i) for i in range(20)]

        self.serve(21)
        self.assertEqual(self.run_loop(program()), list(range(20)))
        thread.join(PATIENCE)
        self.assertEqual(got, ["driven"])

    def test_a_loop_that_was_closed(self) -> None:
        def host() -> None:
            late, second = self.receive(), self.receive()
            self.answer(late)
            self.answer(second)

        async def leave() -> None:
            asyncio.ensure_future(self.tools.echo("late"))
            await asyncio.sleep(0)

        self.serve(0, host)
        asyncio.run(leave())
        self.assertEqual(asyncio.run(self.tools.echo("second")), "second")

    def test_without_a_loop(self) -> None:
        class Bare:
            """Gives way once, as asyncio.sleep(0) does."""

            def __await__(self) -> Any:
                yield None

        async def program() -> List[Any]:
            first = await self.tools.echo(1)
            await Bare()
            return [first, await self.tools.echo(2)]

        for run in (self.drive, self.run_loop):
            self.serve(2)
            self.assertEqual(run(program()), [1, 2])


class ForgottenTest(HostTest):
    def setUp(self) -> None:
        super().setUp()
        self.log = Log()
        self.filters = list(warnings.filters)
        self.addCleanup(lambda: warnings.filters.__setitem__(slice(None), self.filters))  # type: ignore[index]
        self.forgotten = Forgotten(self.calls, self.log, "program.py")  # type: ignore[arg-type]

    def program(self, source: str) -> Dict[str, Any]:
        exec(compile(source, "program.py", "exec", dont_inherit=True), self.globals)
        gc.collect()
        return self.globals

    def test_dropped(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            self.program("x = 1\ntools.echo(1)\nfor i in range(9):\n    db.page()\ntools['a-b']()\ntools[''](); tools['class']()")
        self.assertEqual(caught, [])
        self.assertEqual(
            self.log.lines,
            [
                f"[thirdrail] {label}() was never awaited, so it was never called (it was dropped in line {line}): write `await {label}(…)`"
                for label, line in (("tools.echo", 2), ("db.page", 4), ("tools['a-b']", 5), ("tools['']", 6), ("tools.class", 6))
            ],
        )
        self.forgotten.program_ends(self.globals)
        self.assertEqual(len(self.log.lines), 5)

    def test_dropped_elsewhere(self) -> None:
        self.tools.echo()
        gc.collect()
        self.assertEqual(self.log.lines, ["[thirdrail] tools.echo() was never awaited, so it was never called: write `await tools.echo(…)`"])

    def test_other_warnings_are_not_taken(self) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", append=True)
            self.program("async def own(): pass\nown()\nasync def echo(): pass\necho()")
            for text in ("", "coroutine 'tools.echo'", "x coroutine 'tools.echo' was never awaited", "coroutine '' was never awaited"):
                warnings.warn(text, RuntimeWarning, stacklevel=1)
        self.assertEqual(len(caught), 6)
        self.assertEqual(self.log.lines, [])

    def test_kept(self) -> None:
        kept = self.program("a = tools.echo(1)\nb = [db.page(), db.page(), 5, tools.echo()]\nc = (tools.fail(),)\nd = a")
        self.forgotten.program_ends(kept)
        ending = "() was never awaited, so it was never called: write `await` before the call in "
        self.assertEqual(
            self.log.lines,
            [f"[thirdrail] {label}{ending}{variable!r}" for label, variable in (("tools.echo", "a"), ("db.page", "b"), ("tools.echo", "b"), ("tools.fail", "c"), ("tools.echo", "d"))],
        )
        for coroutine in (kept["a"], *kept["c"], *(item for item in kept["b"] if item != 5)):
            coroutine.close()

    def test_awaited_calls_are_not_told_of(self) -> None:
        self.serve(1)
        self.globals["done"] = call = self.tools.echo(1)
        self.drive(call)
        self.globals["closed"] = closed = self.tools.echo(1)
        closed.close()
        self.forgotten.program_ends(self.globals)
        self.assertEqual(self.log.lines, [])

    def test_tasks(self) -> None:
        async def program() -> None:
            loop = asyncio.get_running_loop()
            self.started = asyncio.ensure_future(self.tools.echo(1))
            await asyncio.sleep(0)
            loop.call_soon(lambda: setattr(self, "never", asyncio.ensure_future(self.db.page())))

        run_loop(program(), self.forgotten.tasks_end)
        self.forgotten.program_ends({})
        self.assertEqual(
            self.log.lines,
            [
                "[thirdrail] tools.echo() was still waiting for its reply when the program ended",
                "[thirdrail] db.page() was never called: the program ended before its task began; await the task",
            ],
        )

    def test_is_unstarted(self) -> None:
        async def steps() -> bool:
            return forgotten.is_unstarted(self.coroutine)

        self.coroutine = steps()
        self.assertTrue(forgotten.is_unstarted(self.coroutine))
        self.assertEqual(self.drive(self.coroutine), False)
        self.assertFalse(forgotten.is_unstarted(self.coroutine))


class PickleTest(HostTest):
    def test_errors_can_be_copied(self) -> None:
        kind = self.globals["DBError"]
        main = sys.modules["__main__"]
        main.DBError = kind  # type: ignore[attr-defined]
        self.addCleanup(lambda: delattr(main, "DBError"))
        self.serve(1)
        error = self.failure(self.db.page())
        copied = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(copied), copied.args, getattr(copied, "tool name")), (kind, ("no page",), "page"))


if __name__ == "__main__":
    unittest.main()
