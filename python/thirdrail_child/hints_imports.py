"""Says what to import instead of a module, or a name of one, that isn't there."""

from __future__ import annotations

import posix as _posix
import sys as _sys

from thirdrail_child.hints_closest import closest
from thirdrail_child.hints_names import names_of
from thirdrail_child.imports import STANDARD_LIBRARY
from thirdrail_child.inspection import import_name
from thirdrail_child.hints_scene import Scene
from thirdrail_child.surroundings import example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator, List, Optional

_FOLDERS = 20
_ENTRIES = 20_000
_SHOWN = 8


def missing_module(scene: Scene) -> Optional[str]:
    """Return what to do about a module that isn't there."""
    name = import_name(scene.exception)
    if not name or len(name) > 200:
        return None
    top = name.partition(".")[0]
    functions = scene.functions()
    if top in functions:
        function = example(top, functions[top])
        return f"{top} is no module but there without an import" + (f": write `await {function}(…)`" if function else "")
    if top in scene.callables():
        return f"{top} is no module but there without an import: write `await {top}(…)`"
    if name in ("nest_asyncio", "pip"):
        return "leave it out: " + ("`await` works at the top level" if name == "nest_asyncio" else "nothing can be installed")
    parent, _, last = name.rpartition(".")
    if parent in _sys.modules:
        near = _inside(parent, last)
        return f"perhaps {_or([f'{parent}.{each}' for each in near])} is meant" if near else None
    near = closest(top, functions)
    if near:
        return f"perhaps {_or(near)} is meant, which is there without an import"
    installed = list(_installed())
    if top not in _well_known() and top not in _for_the_network():
        public = [each for each in [*installed, *STANDARD_LIBRARY] if not each.startswith("_")]
        near = [each for each in closest(top, public) if abs(len(each) - len(top)) < 2]
        if near:
            return f"perhaps {_or(near)} is meant"
    return _not_installed(scene, top, installed)


def missing_name_in_module(scene: Scene, message: str) -> Optional[str]:
    """Return which name of a module was meant."""
    start = "cannot import name '"
    if not message.startswith(start):
        return None
    name = message[len(start) :].partition("'")[0]
    module = import_name(scene.exception)
    near = closest(name, [each for each in names_of(_sys.modules.get(module)) if not each.startswith("_")])
    if near:
        return f"perhaps {_or(near)} is meant"
    inner = names_of(_sys.modules.get(module)).get(module)
    if type(inner) is type and hasattr(inner, name):
        return f"write `from {module} import {module}` and `{module}.{name}`"
    return None


def _not_installed(scene: Scene, top: str, installed: List[str]) -> str:
    around = scene.surroundings
    confined = around is not None and around.confined
    there = [name for name in _well_known() if name in installed]
    there += [name for name in sorted(installed) if name not in (*there, *_tools()) and not name.startswith("_")]
    text = f"{top} is not installed" + (" and can't be" if confined else "")
    if around is not None and not around.network and top in _for_the_network():
        return f"{text}; {around.no_network()}"
    if there:
        more = ", …" if len(there) > _SHOWN else ""
        return f"{text}: use the standard library or {', '.join(there[:_SHOWN])}{more}"
    return f"{text}: use the standard library"


def _inside(parent: str, last: str) -> List[str]:
    """Return the names in a loaded package or module that are near to last."""
    module = _sys.modules.get(parent)
    names = list(names_of(module))
    paths = names_of(module).get("__path__")
    for path in list(paths)[:_FOLDERS] if type(paths) is list else ():
        names.extend(_modules_of(path))
    return closest(last, dict.fromkeys(name for name in names if not name.startswith("_")))


def _installed() -> Iterator[str]:
    """Yield the top-level modules beside the standard library, as far as their folders show them."""
    for path in list(_sys.path)[:_FOLDERS]:
        if type(path) is str and path.rstrip("/").endswith(("-packages", "/workspace")):
            yield from _modules_of(path)


def _modules_of(path: object) -> List[str]:
    if type(path) is not str:
        return []
    try:
        entries = _posix.listdir(path)[:_ENTRIES]
    except OSError:
        return []
    # Files too, but nothing with a dash: those are records of what is installed.
    names = dict.fromkeys(entry.partition(".")[0] for entry in entries if "-" not in entry)
    return [name for name in names if name.isidentifier()]


def _or(names: List[str]) -> str:
    return " or ".join(f"`{name}`" for name in names)


def _well_known() -> "tuple[str, ...]":
    """Return the modules that are worth naming, the most useful first."""
    return (
        "numpy", "pandas", "scipy", "matplotlib", "sklearn", "polars", "sympy", "networkx", "yaml", "lxml", "bs4", "PIL",
        "dateutil", "openpyxl", "pyarrow", "jinja2", "regex", "tabulate", "pydantic", "statsmodels", "seaborn", "plotly",
    )  # fmt: skip


def _tools() -> "tuple[str, ...]":
    """Return the modules that install others, which a program has no use for."""
    return ("pip", "setuptools", "pkg_resources", "wheel", "easy_install", "README", "site", "sitecustomize", "test", "tests")


def _for_the_network() -> "tuple[str, ...]":
    """Return the modules that are of no use without a network."""
    return (
        "requests", "httpx", "aiohttp", "urllib3", "websockets", "selenium", "playwright", "boto3", "paramiko", "openai",
        "anthropic", "psycopg2", "pymysql", "redis", "pymongo", "googleapiclient", "slack_sdk", "github", "tweepy",
    )  # fmt: skip
