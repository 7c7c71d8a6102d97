"""Says what a name was meant to be that isn't there: of a variable, a function, a namespace."""

from __future__ import annotations

import builtins as _builtins
import sys as _sys

from thirdrail_child.hints_closest import closest
from thirdrail_child.imports import STANDARD_LIBRARY
from thirdrail_child.hints_scene import Scene
from thirdrail_child.surroundings import example, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, List, Optional, Tuple

_LISTED = 8

_Module = type(_sys)


def missing_name(scene: Scene, message: str) -> Optional[str]:
    """Return what to write for a NameError."""
    name = _between(message, "name '", "' is not defined")
    if name is None or not name.isidentifier():
        return None
    word = _other_languages().get(name)
    if word:
        return f"write `{word}`"
    functions = scene.functions()
    attribute = _attribute(scene.line, name)
    hint = _meant_function(attribute or name, functions)
    if hint:
        return hint
    word = _imported_as().get(name)
    if word:
        return f"write `{word}` first"
    if name in STANDARD_LIBRARY:
        return f"if the module {name} is meant, write `import {name}` first"
    near = closest(name, dict.fromkeys([*functions, *scene.names])) or closest(name, _builtin_names())
    if near:
        return f"perhaps {_or(near)} is meant"
    near = [each for each in closest(name, STANDARD_LIBRARY) if not each.startswith("_")]
    if near and attribute and f"await {name}." not in scene.line:
        return f"if the module {near[0]} is meant, write `import {near[0]}` first"
    near_functions = _near_functions(attribute or name, functions)
    if near_functions:
        return f"perhaps {_or(near_functions)} is meant"
    if _is_set_somewhere(scene, name):
        return f"{name} is set in another place of the program, which has not run when this line does"
    fresh = "each run starts fresh: what a former run defined is gone, so define it in this program"
    if attribute and functions:
        return f"{fresh}; {_all(functions)}"
    return fresh


def missing_attribute(scene: Scene, message: str) -> Optional[str]:
    """Return what to write for an attribute, or the name of a function, that isn't there."""
    functions = scene.functions()
    for global_name, names in functions.items():
        for start in (f"{global_name} has no function '", f'"{global_name} has no function \''):
            name = _between(message, start, "'; it has: ")
            if name is None:
                continue
            if name in scene.errors():
                return f"{name} is there without a namespace: write `except {name}`"
            near = closest(name, names)
            if near:
                return f"perhaps {_or([written(global_name, each) for each in near])} is meant"
            return _meant_function(name, functions)
    if message.startswith("'function' object has no attribute '"):
        for global_name, names in functions.items():
            for function in names:
                if f"{written(global_name, function)}." in scene.line:
                    return f"{written(global_name, function)} is a function: write `await {written(global_name, function)}(…)`"
    return _of_a_dict(message) or _of_module(message)


def not_callable(scene: Scene, message: str) -> Optional[str]:
    """Return what to write where a namespace was called like a function."""
    name = _between(message, "'", "' object is not callable")
    names = scene.functions().get(name) if name is not None else None
    if not name or not names:
        return None
    return f"{name} is a namespace: call one of its functions, such as `await {example(name, names)}(…)`"


def _of_a_dict(message: str) -> Optional[str]:
    """Return how to write a key that was written like an attribute."""
    name = _between(message, "'dict' object has no attribute '", "'")
    if not name or len(name) > 60:
        return None
    near = closest(name, dir(dict))
    if near:
        return f"perhaps `.{near[0]}` is meant; a key is written in brackets, `[\"{name}\"]`"
    return f"a dict has keys and no attributes for them: write `[\"{name}\"]` instead of `.{name}`"


def _of_module(message: str) -> Optional[str]:
    """Return what to write for what a module doesn't have."""
    for later, instead in _of_later_pythons().items():
        module, _, last = later.partition(".")
        if message.startswith(f"module '{module}' has no attribute '{last}'"):
            return f"this Python has no {later}: {instead}"
    name, _, attribute = message.partition("' has no attribute '")
    name, attribute = name.partition("module '")[2], attribute.partition("'")[0]
    names = names_of(_sys.modules.get(name))
    if not attribute or not names:
        return None
    inner = names.get(name)
    if type(inner) is type and hasattr(inner, attribute):
        return f"write `{name}.{name}.{attribute}`, or import the class: `from {name} import {name}`"
    near = closest(attribute, [each for each in names if not each.startswith("_")])
    return f"perhaps {_or([f'{name}.{each}' for each in near])} is meant" if near else None


def names_of(module: object) -> "Dict[str, object]":
    """Return what a module holds, nothing if it is none."""
    if type(module) is not _Module:
        return {}
    return {name: value for name, value in list(module.__dict__.items()) if type(name) is str}


def _meant_function(name: str, functions: "Dict[str, List[str]]") -> Optional[str]:
    """Return how to write the function of exactly this name, where a namespace has it."""
    found = [written(global_name, name) for global_name, names in functions.items() if name in names]
    return f"{name} is a function of a namespace: write {_or([f'await {each}(…)' for each in found])}" if found else None


def _near_functions(name: str, functions: "Dict[str, List[str]]") -> List[str]:
    owners: Dict[str, List[str]] = {}
    for global_name, names in functions.items():
        for function in names:
            owners.setdefault(function, []).append(written(global_name, function))
    return [each for function in closest(name, owners) for each in owners[function]]


def _all(functions: "Dict[str, List[str]]") -> str:
    return "the namespaces are " + ", ".join(list(functions)[:_LISTED]) + (", …" if len(functions) > _LISTED else "")


def _attribute(line: str, name: str) -> str:
    """Return what follows `name.` in a line of the program, "" if nothing does."""
    rest = ""
    before = line
    while not rest and name + "." in before:
        head, _, before = before.partition(name + ".")
        if not (head[-1:].isidentifier() or head[-1:] == "."):
            rest = before
    end = 0
    while end < len(rest) and rest[: end + 1].isidentifier():
        end += 1
    return rest[:end]


def _is_set_somewhere(scene: Scene, name: str) -> bool:
    """Tell whether the program's text has a statement that gives the name a value."""
    source = scene.program.source if scene.program is not None else ""
    for line in source.split("\n"):
        words = line.replace("(", " ").replace(":", " ").replace(",", " ").split()
        for at, word in enumerate(words):
            after = words[at + 1] if at + 1 < len(words) else ""
            if word == name and (after in ("=", "in") or (at > 0 and words[at - 1] in ("def", "class", "as", "for"))):
                return True
    return False


def _between(text: str, before: str, after: str) -> Optional[str]:
    """Return what stands between two texts, the first of which begins text; None if they don't."""
    if not text.startswith(before):
        return None
    end = text.find(after, len(before))
    return text[len(before) : end] if end >= 0 else None


def _or(names: List[str]) -> str:
    quoted = [f"`{name}`" for name in names[:_LISTED]]
    return " or ".join(quoted)


def _builtin_names() -> "Tuple[str, ...]":
    return tuple(name for name in list(_builtins.__dict__) if type(name) is str)


def _of_later_pythons() -> "Dict[str, str]":
    """Return what to write for what only later Pythons than 3.9 have."""
    return {
        "asyncio.TaskGroup": "write `await asyncio.gather(*calls)`",
        "asyncio.timeout": "write `await asyncio.wait_for(call, seconds)`",
        "itertools.batched": "write `[items[i : i + n] for i in range(0, len(items), n)]`",
        "itertools.pairwise": "write `zip(items, items[1:])`",
    }


def _other_languages() -> "Dict[str, str]":
    """Return what Python calls what other languages have."""
    return {
        "true": "True",
        "false": "False",
        "null": "None",
        "undefined": "None",
        "nil": "None",
        "none": "None",
        "NaN": "float('nan')",
        "console": "print(…)",
        "JSON": "json.dumps(…)` or `json.loads(…)`, after `import json",
        "require": "import …",
    }


def _imported_as() -> "Dict[str, str]":
    """Return the imports of names that programs often use without them."""
    known = {
        "np": "import numpy as np",
        "pd": "import pandas as pd",
        "plt": "import matplotlib.pyplot as plt",
        "ET": "import xml.etree.ElementTree as ET",
        "dt": "import datetime as dt",
    }
    for line in (
        "collections Counter defaultdict deque namedtuple OrderedDict",
        "concurrent.futures ThreadPoolExecutor as_completed",
        "dataclasses asdict dataclass field",
        "datetime date timedelta timezone",
        "decimal Decimal",
        "enum Enum",
        "fractions Fraction",
        "functools cmp_to_key lru_cache partial reduce",
        "io BytesIO StringIO",
        "itertools accumulate chain combinations count groupby islice permutations product",
        "json dumps loads",
        "math ceil cos exp floor gcd isclose isnan log log10 pi sin sqrt tan",
        "operator attrgetter itemgetter",
        "pathlib Path",
        "random choice randint sample shuffle uniform",
        "statistics mean median mode stdev variance",
        "time perf_counter sleep",
        "typing Any Callable Dict Iterable List NamedTuple Optional Set Tuple TypedDict Union",
        "urllib.parse quote urlencode urljoin urlparse",
        "uuid uuid4",
        "zoneinfo ZoneInfo",
    ):
        module, *names = line.split()
        known.update((name, f"from {module} import {name}") for name in names)
    return known
