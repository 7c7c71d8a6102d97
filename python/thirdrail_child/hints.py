"""Says what to write instead, where a frequent mistake is certain from the error.

Everything here runs only after a program has failed. What is asked of the exception
is what Python itself keeps there: nothing of the program's is called.
"""

from __future__ import annotations

from thirdrail_child.handles import Handle
from thirdrail_child.hints_imports import missing_module, missing_name_in_module
from thirdrail_child.hints_names import missing_attribute, missing_name, not_callable
from thirdrail_child.hints_refused import refused
from thirdrail_child.inspection import class_name
from thirdrail_child.hints_scene import Scene
from thirdrail_child.overlimit import exceeded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator, Optional, Tuple

    from thirdrail_child.program import Program
    from thirdrail_child.surroundings import Surroundings

    Rules = Tuple[Tuple[Tuple[type, ...], Tuple[str, ...], str], ...]

_LONGEST_MESSAGE = 2000

_MISSING_AWAIT = "`await` is missing: write it before the call whose result is used here"
_AWAIT_IN_PARENTHESES = "`await` takes in too much here: put it and its call in parentheses, `(await f(…))[…]`"
_RUNNING_LOOP = (
    "this program runs in an event loop already: write `await main()` instead of `asyncio.run(main())`"
)
_HANDLE = "a handle of content has .mime, .size, .name, .read() and .save(path); return it to show it"
_NO_INPUT = "nobody can answer: write the value into the program, or get it"


def hint_for(
    exception: BaseException, message: Optional[str], program: Optional[Program], surroundings: Optional[Surroundings]
) -> Optional[str]:
    """Return what to write instead, None if nothing is certain or the message says it."""
    if message is not None and len(message) > _LONGEST_MESSAGE:
        return None
    scene = Scene(exception, program, surroundings)
    for hint in _hints(scene, message or ""):
        if hint:
            return None if message and hint in message else hint
    return None


def _hints(scene: Scene, message: str) -> Iterator[Optional[str]]:
    """Yield what each rule has to say, the surest first."""
    kind = type(scene.exception)
    yield exceeded(scene.exception, message)
    if kind is NameError:
        yield missing_name(scene, message)
    elif kind is AttributeError or kind is KeyError:
        yield missing_attribute(scene, message)
        yield _of_a_handle(message)
    elif kind is ModuleNotFoundError:
        yield missing_module(scene)
    elif kind is ImportError:
        yield missing_name_in_module(scene, message)
    elif kind is TypeError:
        yield not_callable(scene, message)
        yield _calls_in_a_list(scene, message)
        yield _of_a_handle(message)
    elif kind is RecursionError:
        yield "a function calls itself without end or too deep: see that it stops, or write a loop"
    elif kind is SyntaxError:
        yield _no_python(scene.exception)
    yield _by_message(kind, message, scene.line)
    yield _interactive(scene, message)
    yield refused(scene, message)


def _by_message(kind: type, message: str, line: str) -> Optional[str]:
    for kinds, words, help_text in _rules():
        if any(kind is each for each in kinds) and any(word in message for word in words):
            if help_text is _MISSING_AWAIT and "await " in line and "'coroutine'" in message:
                return _AWAIT_IN_PARENTHESES
            return help_text
    return None


def _rules() -> Rules:
    """Return the exact types that Python raises, words of its message, and the help."""
    return (
        (
            (AttributeError, TypeError),
            (
                "'coroutine'",
                '(not "coroutine")',
                "not coroutine",
                "got coroutine",
                "coroutine found",
                "non-iterable coroutine object",
                "type coroutine ",
                "'_asyncio.Task'",
                "'_asyncio.Future'",
                "'_GatheringFuture'",
            ),
            _MISSING_AWAIT,
        ),
        ((RuntimeError,), ("await wasn't used with future",), _MISSING_AWAIT),
        (
            (AttributeError, TypeError),
            ("'async_generator' object", "object async_generator can't be used"),
            "this is an asynchronous generator: write `async for item in f():` or `[item async for item in f()]`",
        ),
        (
            (RuntimeError,),
            (
                "asyncio.run() cannot be called from a running event loop",
                "This event loop is already running",
                "Cannot run the event loop while another loop is running",
            ),
            _RUNNING_LOOP,
        ),
        (
            (RuntimeError,),
            ("no running event loop",),
            "an event loop runs only where the program awaits: write `await` at the top level, as in `await asyncio.gather(…)`",
        ),
        (
            (TypeError,),
            ("object list can't be used in 'await' expression", "object tuple can't be used in 'await' expression"),
            "to await several calls, write `await asyncio.gather(*calls)`",
        ),
        (
            (RuntimeError,),
            ("cannot reuse already awaited coroutine",),
            "a call is awaited once: keep its result in a variable, or make the call again",
        ),
        ((TypeError,), ("can't be used in 'await' expression",), "this value is there already: leave out `await`"),
        (
            (SyntaxError,),
            ("'await' outside async function",),
            "only `async def` functions can await: write `async def`, and `await` where the function is called",
        ),
    )


def _calls_in_a_list(scene: Scene, message: str) -> Optional[str]:
    if message.startswith("unhashable type: 'list'") and "gather(" in scene.line:
        return "asyncio.gather takes the calls one by one: write `await asyncio.gather(*calls)`"
    return None


def _of_a_handle(message: str) -> Optional[str]:
    """Say what a handle has, where one was made and taken for something else."""
    return _HANDLE if Handle.made and any(word in message for word in ("'Handle' object", "type Handle ", "not 'Handle'", "not Handle")) else None


def _interactive(scene: Scene, message: str) -> Optional[str]:
    """Say what to write where the program waits for somebody to type."""
    name = class_name(scene.exception)
    if name == "EOFError" and (not message or message == "EOF when reading a line"):
        source = scene.source_of_values()
        return f"{_NO_INPUT} from {source}" if source else "nobody can answer: write the value into the program"
    if name == "bdb.BdbQuit":
        return "there is nobody to debug: leave out the breakpoint, and `print` what you want to see"
    return None


def _no_python(exception: BaseException) -> Optional[str]:
    """Say what to write instead of what a notebook or a shell would take."""
    text = getattr(exception, "text", None)
    line = text.strip() if type(text) is str else ""
    if line.startswith(("!", "%")) or line.startswith(("pip install ", "pip3 install ")):
        return "this is a command of a notebook or a shell, not Python: leave it out. Nothing can be installed"
    if line.startswith("```"):
        return "leave out the lines with ```: send the program alone"
    if line.startswith(("const ", "let ", "var ", "function ", "export ")):
        return "this is another language: write the program in Python"
    return None
