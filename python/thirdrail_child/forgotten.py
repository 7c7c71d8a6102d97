"""Tells, in the logs, of calls that the program forgot: to await, or to wait for."""

from __future__ import annotations

from sys import _getframe
from sys import modules as _modules

from _warnings import filters as _filters

from thirdrail_child.bindings import Calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

    from thirdrail_child.logs import LogStream

# How Python's own warning of a dropped coroutine begins and goes on.
_BEFORE, _AFTER = "coroutine '", "' was never awaited"
# How much of a list in the program's globals is looked through for calls.
_LOOKED_AT = 1000


async def _never_run() -> None:
    pass


_sample = _never_run()
_CoroutineType = type(_sample)
_sample.close()


def is_unstarted(coroutine: Any) -> bool:
    """Tell whether a coroutine has yet to begin."""
    if coroutine.cr_frame is None or coroutine.cr_running:
        return False
    if hasattr(coroutine, "cr_suspended"):  # 3.11 and later
        return not coroutine.cr_suspended
    return bool(coroutine.cr_frame.f_lasti == -1)


class Forgotten:
    """The calls of one run that were forgotten.

    Python warns, in two lines that name no remedy, when a coroutine is dropped
    that never began. For ours, one line takes their place. It comes by way of a
    filter that stands where a pattern for the warning's text may stand, since the
    module warnings takes too long to import for every run.
    """

    def __init__(self, calls: Calls, log: LogStream, file_name: str) -> None:
        self._calls = calls
        self._log = log
        self._file_name = file_name
        self._told: Set[Tuple[str, int]] = set()
        self._ended: List[str] = []  # what was forgotten in tasks
        filters: Any = getattr(_modules.get("warnings"), "filters", _filters)
        filters.insert(0, ("ignore", self, RuntimeWarning, None, 0))

    def match(self, text: str) -> bool:
        """Take a warning, if it is of a call; called by Python like a pattern's method."""
        end = text.find(_AFTER)
        if not text.startswith(_BEFORE) or end < 0:
            return False
        label = text[len(_BEFORE) : end]
        if label not in self._calls.labels:
            return False
        line = self._line()
        if (label, line) not in self._told:
            self._told.add((label, line))
            where = f" (it was dropped in line {line})" if line else ""
            self._tell(f"{label}() was never awaited, so it was never called{where}: write `await {label}(…)`")
        return True

    def _line(self) -> int:
        """Return the line of the program that dropped a call, or 0."""
        frame: Any = _getframe(2)
        if frame.f_code.co_name == "_warn_unawaited_coroutine":
            frame = frame.f_back
        if frame is None or frame.f_code.co_filename != self._file_name:
            return 0
        return int(frame.f_lineno or 0)

    def tasks_end(self, coroutines: List[Any]) -> None:
        """Take note of the calls in tasks that are about to be cancelled."""
        for label in self._calls.waiting():
            self._ended.append(f"{label}() was still waiting for its reply when the program ended")
        for coroutine in coroutines:
            if self._is_call(coroutine) and is_unstarted(coroutine):
                label = coroutine.__qualname__
                self._ended.append(f"{label}() was never called: the program ended before its task began; await the task")

    def program_ends(self, module_globals: Dict[str, Any]) -> None:
        """Tell of all calls that were forgotten and not told of yet."""
        if not self._ended:
            self.tasks_end([])
        for text in self._ended:
            self._tell(text)
        for label, variable in self._kept(module_globals):
            self._tell(f"{label}() was never awaited, so it was never called: write `await` before the call in {variable!r}")

    def _kept(self, module_globals: Dict[str, Any]) -> Iterator[Tuple[str, str]]:
        """Yield the calls that lie in the program's globals and never began, and where.

        Lists are looked into, since calls are gathered from them.
        """
        for variable, value in list(module_globals.items()):
            items = value[:_LOOKED_AT] if type(value) in (list, tuple) else (value,)
            labels = [item.__qualname__ for item in items if self._is_call(item) and is_unstarted(item)]
            yield from ((label, variable) for label in dict.fromkeys(labels))

    def _is_call(self, item: Any) -> bool:
        return type(item) is _CoroutineType and item.cr_code is self._calls.code

    def _tell(self, text: str) -> None:
        self._log.write(f"[thirdrail] {text}\n")
