"""The model's program: a module named __main__ whose top level may also await and return."""

from __future__ import annotations

import sys as _sys

from thirdrail_child.compiling import CO_COROUTINE, FUTURE_MASK, Part, quiet
from thirdrail_child.imports import may_need_asyncio
from thirdrail_child.toplevel import compile_body, compile_statement, ends_with_expression

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, List, Optional, Tuple

# Lets the top level of a module await; also in the ast module, which is slow to import.
_ALLOW_TOP_LEVEL_AWAIT = 0x2000

_BYTE_ORDER_MARK = "\ufeff"


class _Absent:
    """The type of ABSENT."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


# What a program returns that executes no return.
ABSENT = _Absent()


class Program:
    """A program, compiled. Its source is checked when it is made: that raises SyntaxError.

    With last_expression, a bare expression at its end gives the program's value,
    unless that is None.

    Attributes: source (as Python reads it: line feeds only, no byte order mark),
    file_name, is_async (the top level awaits), uses_asyncio (the source names
    asyncio, or imports what may use it), module_globals (what execute was given).
    """

    def __init__(self, source: str, file_name: str = "program.py", last_expression: bool = False) -> None:
        self.file_name = file_name
        self.module_globals: Optional[Dict[str, Any]] = None
        self._source_lines: Optional[List[str]] = None
        self.source = _as_python_reads(source)
        _refuse_bad_text(self.source, file_name)
        try:
            self._parts = _compile(self.source, file_name, last_expression)
        except SyntaxError as error:
            _place(error, self.source, file_name)
            raise
        self.is_async = any(part.is_async for part in self._parts)
        self.uses_asyncio = may_need_asyncio(self.source, [part.code for part in self._parts])

    def execute(self, module_globals: Dict[str, Any]) -> Any:
        """Run the program in the dict of its module, __main__.

        Return its value, or ABSENT if no return was executed; if is_async, a
        coroutine that gives the same.
        """
        self.module_globals = module_globals
        self._introduce(module_globals)
        if self.is_async:
            return _run_async(self._parts, module_globals)
        value: Any = ABSENT
        for part in self._parts:
            value = eval(part.code, module_globals)
            if not part.returns:
                value = ABSENT
        return _last_value(value)

    def line(self, number: int) -> Optional[str]:
        """Return a line of the source by its number, from 1 on; None if there is none."""
        if self._source_lines is None:
            self._source_lines = _lines(self.source)
        return self._source_lines[number - 1] if 0 < number <= len(self._source_lines) else None

    def _introduce(self, module_globals: Dict[str, Any]) -> None:
        """Give the module what Python's import system would, its source included."""
        module_globals["__file__"] = self.file_name
        module_globals["__loader__"] = SourceLoader(self.source)
        module_globals.setdefault("__name__", "__main__")
        for name in ("__doc__", "__package__"):
            module_globals.setdefault(name, None)
        if module_globals.get("__spec__") is None:
            module_globals["__spec__"] = _specification(self.file_name, module_globals["__loader__"])
        for part in self._parts:
            if part.document is not None:
                module_globals["__doc__"] = part.document
            if part.annotated:
                module_globals.setdefault("__annotations__", {})
        # Warnings are shown without asking the loader. Where linecache is there
        # already, which a preload can cause, it gets the lines at once.
        linecache = _sys.modules.get("linecache")
        if linecache is not None:
            lines = [line + "\n" for line in _lines(self.source)]
            linecache.cache[self.file_name] = (len(self.source), None, lines, self.file_name)


def _specification(file_name: str, loader: SourceLoader) -> Any:
    """Return the __spec__ of a program. That of a script is None.

    Without one, multiprocessing's spawn executes the file of __main__ in each new
    process, and there is no file: a pool would start processes without end.
    """
    kind: Any = type(_sys.__spec__)
    specification = kind("__main__", loader, origin=file_name)
    specification.has_location = True
    return specification


class SourceLoader:
    """Gives a program's source to linecache, inspect and traceback when they ask for it."""

    def __init__(self, source: str) -> None:
        self._source = source

    def get_source(self, name: Optional[str] = None) -> str:
        """Return the program's source, whatever the name."""
        return _SourceText(self._source)

    def is_package(self, name: Optional[str] = None) -> bool:
        """Return False: a program has no submodules."""
        return False


class _SourceText(str):
    """Source that is split where Python ends lines of code.

    linecache splits what a loader gives with str.splitlines, which also ends lines
    at form feeds and other separators. All later lines would have a wrong number.
    """

    def splitlines(self, keepends: bool = False) -> List[str]:
        lines = _lines(self)
        return [line + "\n" for line in lines] if keepends else lines


def _lines(source: str) -> List[str]:
    lines = str(source).split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


async def _run_async(parts: List[Part], module_globals: Dict[str, Any]) -> Any:
    value: Any = ABSENT
    for part in parts:
        value = eval(part.code, module_globals)
        if part.is_async:
            value = await value
        if not part.returns:
            value = ABSENT
    return _last_value(value)


def _last_value(value: Any) -> Any:
    """Return what the program's last part gave, taking a last expression's value out of its list."""
    if type(value) is list and len(value) == 2 and value[0] is ABSENT:
        return ABSENT if value[1] is None else value[1]
    return value


def _as_python_reads(source: str) -> str:
    if source.startswith(_BYTE_ORDER_MARK):
        source = source[1:]
    if "\r" in source:
        source = source.replace("\r\n", "\n").replace("\r", "\n")
    return source


def _compile(source: str, file_name: str, last_expression: bool) -> List[Part]:
    """Compile source in the cheapest way that is right for it.

    A program without a return at its top level is an ordinary module. One with a
    return at the start of a line is a module up to there, and a function from
    there on; most are so, with a return at their end. Else all is a function.
    """
    if last_expression and ends_with_expression(source, file_name):
        return [compile_body(source, file_name, 0, ABSENT, last_expression=True)]
    if "return" not in source:
        return [_compile_module(source, file_name)]
    with quiet() as warnings:
        steps, parts = _compile_returning(source, file_name)
    if warnings.seen:
        parts = [step() for step in steps]  # once more, so that each warning is shown once
    return parts


def _compile_returning(source: str, file_name: str) -> Tuple[List[Callable[[], Part]], List[Part]]:
    """Return the steps that compile source, and what they gave."""
    start = _return_at_line_start(source)
    head = source if start < 0 else source[:start]
    module: Optional[Part] = None
    try:
        module = _compile_module(head, file_name)
    except SyntaxError:
        # A return further in; or the split was not between two statements; or an
        # error of the program, which comes again without this one as its context.
        pass

    def whole() -> Part:
        return compile_body(source, file_name, 0, ABSENT)

    if module is None:
        return [whole], [whole()]

    def first() -> Part:
        return _compile_module(head, file_name)

    if start < 0:
        return [first], [module]
    # The lines before are left empty, so that the rest keeps its line numbers.
    tail = "\n" * head.count("\n") + source[start:]
    flags = module.code.co_flags & FUTURE_MASK

    def rest() -> Part:
        part = compile_statement(tail, file_name, flags)
        return part if part is not None else compile_body(tail, file_name, flags, ABSENT)

    return [first, rest], [module, rest()]


def _compile_module(source: str, file_name: str) -> Part:
    flags = _ALLOW_TOP_LEVEL_AWAIT if "await" in source or "async" in source else 0
    code = compile(source, file_name, "exec", flags, dont_inherit=True)
    return Part(code, False, False, None)


def _return_at_line_start(source: str) -> int:
    """Return where the first line that begins with `return` starts, or -1."""
    start = 0 if source.startswith("return") else source.find("\nreturn") + 1
    while source.startswith("return", start):
        after = start + len("return")
        following = source[after : after + 1]
        if following == "" or not ("_" + following).isidentifier():
            return start
        start = source.find("\nreturn", start) + 1
        if start == 0:
            break
    return -1


def _refuse_bad_text(source: str, file_name: str) -> None:
    """Raise SyntaxError for what some versions of compile() raise other errors for."""
    position = source.find("\0")
    if position >= 0:
        message = "source code string cannot contain null bytes"
    else:
        try:
            source.encode()
            return
        except UnicodeEncodeError as error:
            position = error.start
        message = "source code string cannot contain a lone surrogate"
    number = source.count("\n", 0, position)
    line = source.split("\n", number + 1)[number]
    column = position - (source.rfind("\n", 0, position) + 1)
    line = line.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    raise SyntaxError(message, (file_name, number + 1, column + 1, line))


def _place(error: SyntaxError, source: str, file_name: str) -> None:
    """Complete the place that a SyntaxError names.

    Python takes the text from a file of that name if there is one, so it is always
    set. Errors that are found after parsing have no text, and count bytes.
    """
    if error.filename == "<fstring>":  # what Python 3.9 calls the inside of an f-string
        error.filename = file_name
    lines = _lines(source)
    number = error.lineno
    if error.filename != file_name or number is None or not 0 < number <= len(lines):
        return
    if error.text is not None and str(error.msg).startswith("f-string:"):
        return  # up to Python 3.11 the text and the column are those of the inside alone
    in_bytes = error.text is None
    text = lines[number - 1]
    error.text = text + "\n"
    if in_bytes and error.offset is not None and error.offset > 0 and not text.isascii():
        error.offset = _characters(text, error.offset - 1) + 1
        end = getattr(error, "end_offset", None)  # from Python 3.10 on
        if end is not None and end > 0 and getattr(error, "end_lineno") == number:
            setattr(error, "end_offset", _characters(text, end - 1) + 1)


def _characters(text: str, count: int) -> int:
    """Return how many characters the first count bytes of text's UTF-8 are."""
    return len(text.encode("utf-8", "replace")[:count].decode("utf-8", "ignore"))
