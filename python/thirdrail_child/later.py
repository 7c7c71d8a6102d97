"""Loads the modules that only a failed program needs, the ones named hints, when it has failed.

To load them at every start would take longer than most of the child does. Like all
modules of the child they see the builtins as they were before the program.
"""

from __future__ import annotations

import sys as _sys
from marshal import loads as _loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Tuple


class _Kept:
    """What there is to load, and what it needs."""

    def __init__(self) -> None:
        self.code: List[Tuple[str, bytes]] = []
        self.modules: Dict[str, Any] = {}  # the child's own, by name
        self.builtins: Dict[str, Any] = {}


_kept = _Kept()


def keep(code: List[Tuple[str, bytes]], modules: Dict[str, Any], builtins: Dict[str, Any]) -> None:
    """Take what later_module loads; called before the program runs."""
    _kept.code, _kept.modules, _kept.builtins = code, modules, builtins


def later_module(name: str) -> Any:
    """Return one of the modules. It may raise whatever a program in a bad state brings about."""
    if not _kept.modules:  # the child's modules are files here, in tests
        return __import__(name, fromlist=["_"])
    if name not in _kept.modules:
        _load_all()
    return _kept.modules[name]


def _load_all() -> None:
    """Execute the modules, for which the package is importable once more."""
    modules = _kept.modules
    before = [each for each in modules if each in _sys.modules]
    _sys.modules.update(modules)
    try:
        for name, code in _kept.code:
            module = type(_sys)(name)
            module.__package__ = name.rpartition(".")[0]
            module.__dict__["__builtins__"] = dict(_kept.builtins)
            _sys.modules[name] = modules[name] = module
            exec(_loads(code), module.__dict__)
    finally:
        for name in modules:
            if name not in before:
                _sys.modules.pop(name, None)
