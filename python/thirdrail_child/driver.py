"""Runs a program's own coroutine, with an event loop only where one is needed.

Importing asyncio and making a loop costs more than most programs take. A program
that only awaits bindings is driven by hand: it yields the call, and gets its reply.
"""

from __future__ import annotations

from types import coroutine as _coroutine

from thirdrail_child.bindings import Calls, Pending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Coroutine, Generator, List

    # Gets the coroutines of the tasks that are about to be cancelled.
    TasksEnd = Callable[[List[Any]], None]

# How long tasks that are cancelled at the program's end may take to finish.
_CANCEL_SECONDS = 0.05


def drive(coroutine: Coroutine[Any, Any, Any], calls: Calls, tasks_end: TasksEnd) -> Any:
    """Run a coroutine that most likely awaits nothing but bindings; return its result."""
    while True:
        try:
            yielded = coroutine.send(None)
        except StopIteration as stop:
            return stop.value
        if type(yielded) is Pending:
            calls.wait(yielded)
        elif yielded is not None:
            return run_loop(_go_on(coroutine, yielded), tasks_end)


@_coroutine
def _go_on(coroutine: Coroutine[Any, Any, Any], yielded: Any) -> Generator[Any, Any, Any]:
    """Carry on, inside a loop, with a coroutine that has yielded something for it."""
    while True:
        try:
            sent = yield yielded
        except BaseException as thrown:
            step: Any = coroutine.throw
            argument: Any = thrown
        else:
            step, argument = coroutine.send, sent
        try:
            yielded = step(argument)
        except StopIteration as stop:
            return stop.value


def run_loop(coroutine: Any, tasks_end: TasksEnd) -> Any:
    """Run a coroutine as the main task of a new event loop and return its result.

    The loop is left as it is, since the process ends with the program: what
    closing it would wait for, such as threads, must not hold the value up.
    """
    import asyncio

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    task = loop.create_task(coroutine)
    try:
        return loop.run_until_complete(task)
    finally:
        _cancel_rest(asyncio, loop, task, tasks_end)


def _cancel_rest(asyncio: Any, loop: Any, main: Any, tasks_end: TasksEnd) -> None:
    try:
        tasks = [task for task in asyncio.all_tasks(loop) if task is not main]
        tasks_end([task.get_coro() for task in tasks])
        for task in tasks:
            task.cancel()
        if tasks and not loop.is_running():
            loop.run_until_complete(asyncio.wait(tasks, timeout=_CANCEL_SECONDS))
    except Exception:
        pass  # the program changed asyncio: its tasks end with the process
