"""Says what to write instead, where a frequent mistake is certain from the error's text."""

from __future__ import annotations

from thirdrail_child.imports import STANDARD_LIBRARY
from thirdrail_child.overlimit import exceeded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Optional

_MISSING_AWAIT = "`await` is missing: write it before the call whose result is used here"
_RUNNING_LOOP = (
    "this program runs in an event loop already: write `await main()` instead of `asyncio.run(main())`"
)

# The exact types that Python raises, words of its message, and the help.
_HINTS = (
    ((AttributeError, TypeError), "'coroutine'", _MISSING_AWAIT),
    ((TypeError,), '(not "coroutine")', _MISSING_AWAIT),
    ((TypeError,), "not coroutine", _MISSING_AWAIT),
    ((TypeError,), "got coroutine", _MISSING_AWAIT),
    ((TypeError,), "coroutine found", _MISSING_AWAIT),
    ((TypeError,), "non-iterable coroutine object", _MISSING_AWAIT),
    ((TypeError,), "type coroutine ", _MISSING_AWAIT),
    ((RuntimeError,), "asyncio.run() cannot be called from a running event loop", _RUNNING_LOOP),
    ((RuntimeError,), "This event loop is already running", _RUNNING_LOOP),
    ((RuntimeError,), "Cannot run the event loop while another loop is running", _RUNNING_LOOP),
    (
        (TypeError,),
        "can't be used in 'await' expression",
        "this value is there already: leave out `await`",
    ),
    (
        (SyntaxError,),
        "'await' outside async function",
        "only `async def` functions can await: write `async def`, and `await` where the function is called",
    ),
)

_LONGEST_MESSAGE = 2000


def hint_for(exception: BaseException, message: Optional[str]) -> Optional[str]:
    """Return what to write instead, None if nothing is certain."""
    if message is None or len(message) > _LONGEST_MESSAGE:
        return None
    limit = exceeded(exception, message)
    if limit is not None:
        return limit
    kind = type(exception)
    if kind is NameError:
        return _missing_import(message)
    for kinds, words, help_text in _HINTS:
        if words in message and any(kind is each for each in kinds):
            return help_text
    return None


def _missing_import(message: str) -> Optional[str]:
    before, after = "name '", "' is not defined"
    if not message.startswith(before) or not message.endswith(after):
        return None
    name = message[len(before) : len(message) - len(after)]
    if name not in STANDARD_LIBRARY:
        return None
    return f"if the module {name} is meant, write `import {name}` first"
