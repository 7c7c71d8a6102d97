"""What messages need to know of the run: what it may do, and what it can call.

Nothing is decided by it. It holds what the host sent, so that a message can name
what to use instead.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional

    from thirdrail_child.protocol import Namespace as NamespaceFrame

# How many namespaces a message names.
_NAMED = 5


class Surroundings:
    """What is around a program.

    Attributes: confined, and then whether other processes and the network are open
    all the same; functions, the names of each namespace's functions; callables, the
    namespaces that are functions themselves; errors, the names of exception classes;
    has_data.
    """

    __slots__ = ("callables", "confined", "errors", "functions", "has_data", "network", "processes")

    def __init__(
        self, policy: Optional[Dict[str, Any]] = None, namespaces: Optional[List[NamespaceFrame]] = None, has_data: bool = False
    ) -> None:
        self.confined = policy is not None
        self.processes = policy is None or policy.get("processes") is True
        self.network = policy is None or policy.get("network") is True
        self.functions: Dict[str, List[str]] = {}
        self.callables: List[str] = []
        self.errors: List[str] = []
        for item in namespaces or ():
            self._add(item)
        self.has_data = has_data

    def _add(self, item: NamespaceFrame) -> None:
        """Take a namespace, without what the program isn't to write."""
        names = [name for name in item["names"] if name not in ("__call__", item.get("handles"))]
        if "__call__" in item["names"]:
            self.callables.append(item["global"])
        if names or "__call__" not in item["names"]:
            self.functions[item["global"]] = names
        declared = item.get("errorClass")
        if declared is not None:
            self.errors.append(declared["name"])

    def a_function(self) -> str:
        """Return words for the functions that the host offers, "" if there are none."""
        names = [name for name, functions in self.functions.items() if functions]
        if not names:
            return ""
        if len(names) > _NAMED:
            return f"a function of {', '.join(names[:_NAMED])} or {len(names) - _NAMED} more"
        return "a function of " + " or ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)

    def no_program(self) -> str:
        """Return what to use where no other program can be started."""
        return "no other program can be started here: use Python's own modules (pathlib, shutil, zipfile, …)" + self._or()

    def no_process(self) -> str:
        """Return what to use where there can be no second process."""
        return "a run is one process: use threads (concurrent.futures.ThreadPoolExecutor) or asyncio" + self._or()

    def no_network(self) -> str:
        """Return what to use where there is no network."""
        instead = self.a_function()
        return "there is no network here: " + (f"use {instead} instead" if instead else "use what the program was given")

    def _or(self) -> str:
        instead = self.a_function()
        return f", or {instead}" if instead else ""


def example(global_name: str, functions: List[str]) -> str:
    """Return one of a namespace's functions as the program writes it, "" if it has none."""
    plain = [name for name in functions if name.isidentifier()]
    return written(global_name, min(plain or functions)) if functions else ""


def written(global_name: str, function: str) -> str:
    """Return a function as the program writes it."""
    return f"{global_name}.{function}" if function.isidentifier() else f"{global_name}[{function!r}]"
