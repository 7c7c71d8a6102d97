"""Compiles source whose top level returns a value, with the meaning of a module.

Python has no such thing, so the source becomes the body of a function, and the
function's code is then made to run in a module's dict. Each difference between
the two is taken away: every name is declared global, annotated names are stored
as a module stores them, the docstring and the names of nested functions are put
right, and CO_OPTIMIZED and CO_NEWLOCALS are cleared, so that locals() is the
module's dict. Nodes keep their positions.
"""

from __future__ import annotations

import sys as _sys
from _ast import (
    AnnAssign,
    Assign,
    AsyncFor,
    AsyncFunctionDef,
    AsyncWith,
    Await,
    ClassDef,
    Constant,
    Expr,
    FunctionDef,
    Global,
    ImportFrom,
    Lambda,
    Load,
    Module,
    Name,
    Pass,
    Return,
    Store,
    Subscript,
    Yield,
    YieldFrom,
    arguments,
    comprehension,
)
from _ast import PyCF_ONLY_AST as _ONLY_AST
from _symtable import symtable as _symtable

from thirdrail_child.compiling import FUTURE_MASK, Part, quiet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any, Dict, List, Optional

_CodeType = type((lambda: 0).__code__)

_CO_OPTIMIZED = 0x1
_CO_NEWLOCALS = 0x2
_CO_NESTED = 0x10
_CO_FUTURE_ANNOTATIONS = 0x1000000

_NAME = "<module>"
_NESTED_PREFIX = _NAME + ".<locals>."

# A constant that the code holds in the place of Part's end marker.
_END_CONSTANT = b"\0thirdrail: the end of the program\0"

# Not an identifier, so no program can have a name like it.
_STAR = "<star>"

_SCOPES = (FunctionDef, AsyncFunctionDef, ClassDef)
_SUITES = ("body", "orelse", "finalbody", "handlers", "cases")

_PYTHON_3_11 = _sys.version_info >= (3, 11)
_PYTHON_3_12 = _sys.version_info[:2] == (3, 12)


def compile_returning(text: str, file_name: str, flags: int, end: object) -> Part:
    """Compile text as a module whose top level may return.

    flags are compile()'s, for future features that are on already. The code
    returns end when its last line was reached without a return.
    """
    tree = compile(text, file_name, "exec", _ONLY_AST | flags, dont_inherit=True)
    body: List[Any] = tree.body  # type: ignore[attr-defined]
    names = _top_level_names(text, file_name)
    _refuse_yield(body, text, file_name)
    is_async = ("await" in text or "async" in text) and _find(body, _is_await) is not None
    docstring = _docstring(body)
    first = 0 if docstring is None else 1
    futures = _futures(body, first)
    lazy = bool(flags & _CO_FUTURE_ANNOTATIONS) or _asks_for_annotations(futures)
    annotated = _rewrite(body, lazy)
    if names:
        body.insert(first, _at_line_1(Global(names=names)))
    last = body[-1] if body else _at_line_1(Pass())
    body.append(_copy_place(Return(value=_copy_place(Constant(value=_END_CONSTANT), last)), last))
    module_code = compile(_wrap(body, futures, is_async), file_name, "exec", flags, dont_inherit=True)
    code = next(item for item in module_code.co_consts if type(item) is _CodeType)
    document = code.co_consts[0] if docstring is not None else None
    return Part(_as_module_code(code, end), True, annotated, document)


def _top_level_names(text: str, file_name: str) -> List[str]:
    """Return each name of the top level, found by Python's own analysis of scopes.

    It also raises what a module's scopes do not allow and a function's do.
    """
    with quiet():
        return list(_symtable(text, file_name, "exec").symbols)


def _refuse_yield(body: List[Any], text: str, file_name: str) -> None:
    node = _find(body, _is_yield) if "yield" in text else None
    if node is None:
        return
    line = text.split("\n")[node.lineno - 1]
    place = (file_name, node.lineno, len(line.encode()[: node.col_offset].decode()) + 1, line)
    raise SyntaxError("'yield' outside function", place)


def _is_yield(node: Any) -> bool:
    return isinstance(node, (Yield, YieldFrom))


def _is_await(node: Any) -> bool:
    if isinstance(node, comprehension):
        return bool(node.is_async)
    return isinstance(node, (Await, AsyncFor, AsyncWith))


def _find(nodes: List[Any], wanted: Any) -> Optional[Any]:
    """Return the first node that the top level itself evaluates and that is wanted."""
    stack = nodes[::-1]
    while stack:
        node = stack.pop()
        if wanted(node):
            return node
        fields = node._fields
        if isinstance(node, (Lambda, *_SCOPES)):
            fields = [field for field in fields if field not in ("body", "type_params")]
        for field in reversed(fields):
            child = getattr(node, field, None)
            if type(child) is list:
                stack.extend(item for item in reversed(child) if hasattr(item, "_fields"))
            elif hasattr(child, "_fields"):
                stack.append(child)
    return None


def _docstring(body: List[Any]) -> Optional[str]:
    if body and isinstance(body[0], Expr) and isinstance(body[0].value, Constant):
        value = body[0].value.value
        if type(value) is str:
            return value
    return None


def _futures(body: List[Any], first: int) -> List[Any]:
    """Return the `from __future__` lines that stand where they may."""
    end = first
    while end < len(body) and isinstance(body[end], ImportFrom) and body[end].module == "__future__":
        end += 1
    return body[first:end]


def _asks_for_annotations(futures: List[Any]) -> bool:
    return any(alias.name == "annotations" for node in futures for alias in node.names)


def _wrap(body: List[Any], futures: List[Any], is_async: bool) -> Module:
    """Return a module that holds the function.

    The `from __future__` lines stand twice: before the function, where they are
    obeyed, and in it, where they are executed. The compiler takes the second
    ones since their line is not below the first ones.
    """
    none = arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    make = AsyncFunctionDef if is_async else FunctionDef
    function = make(name=_NAME, args=none, body=body, decorator_list=[], type_params=[])
    return Module(body=[*futures, _at_line_1(function)], type_ignores=[])


def _rewrite(body: List[Any], lazy: bool) -> bool:
    """Rewrite, in place, the statements that a function doesn't allow.

    Return whether the module has annotations.
    """
    annotated: List[Any] = []
    suites = [body]
    while suites:
        suite = suites.pop()
        kept: List[Any] = []
        for node in suite:
            if isinstance(node, AnnAssign):
                annotated.append(node)
                kept.extend(_plain_assignment(node, lazy))
                continue
            if isinstance(node, Global):
                continue
            if isinstance(node, ImportFrom) and node.names[0].name == "*":
                # Python looks for the star in two places: where scopes are
                # analysed, by the name that is bound, and where code is made,
                # by the name that is imported. So this is a real star import.
                node.names[0].asname = _STAR
            elif not isinstance(node, _SCOPES):
                for field in _SUITES:
                    inner = getattr(node, field, None)
                    if type(inner) is list and inner:
                        suites.append(inner)
            kept.append(node)
        suite[:] = kept or [_copy_place(Pass(), suite[0])] if suite else []
    if lazy and annotated:
        _write_as_text(annotated)
    return bool(annotated)


def _plain_assignment(node: AnnAssign, lazy: bool) -> List[Any]:
    """Return what a module does for an annotated assignment, step by step."""
    steps: List[Any] = []
    target = node.target
    if node.value is not None:
        steps.append(_copy_place(Assign(targets=[target], value=node.value), node))
    elif not isinstance(target, Name):
        parts = [target.value] if not isinstance(target, Subscript) else [target.value, target.slice]
        steps.extend(_copy_place(Expr(value=part), node) for part in parts)
    if node.simple:
        assert isinstance(target, Name)
        table = _copy_place(Name(id="__annotations__", ctx=Load()), node)
        key = _copy_place(Constant(value=target.id), node)
        entry = _copy_place(Subscript(value=table, slice=key, ctx=Store()), node)
        store = _copy_place(Assign(targets=[entry], value=node.annotation), node)
        node.store = store  # type: ignore[attr-defined]
        steps.append(store)
    elif not lazy:
        steps.append(_copy_place(Expr(value=node.annotation), node))
    return steps


def _write_as_text(annotated: List[Any]) -> None:
    """Turn annotations into their text, as `from __future__ import annotations` does.

    Only the compiler can write them so. It is given a module that has nothing but
    the annotations, each under its number.
    """
    stored = [node for node in annotated if node.simple]
    body = []
    for number, node in enumerate(stored):
        name = _copy_place(Name(id=str(number), ctx=Store()), node)
        body.append(_copy_place(AnnAssign(target=name, annotation=node.annotation, value=None, simple=1), node))
    tree = Module(body=body, type_ignores=[])
    code = compile(tree, _NAME, "exec", _CO_FUTURE_ANNOTATIONS, dont_inherit=True)
    names: Dict[str, Any] = {"__builtins__": {}, "__annotations__": {}}
    exec(code, names)
    for number, node in enumerate(stored):
        text = names["__annotations__"][str(number)]
        node.store.value = _copy_place(Constant(value=text), node.annotation)


def _at_line_1(node: Any) -> Any:
    node.lineno = node.end_lineno = 1
    node.col_offset = node.end_col_offset = 0
    return node


def _copy_place(node: Any, source: Any) -> Any:
    node.lineno, node.col_offset = source.lineno, source.col_offset
    node.end_lineno, node.end_col_offset = source.end_lineno, source.end_col_offset
    return node


def _as_module_code(code: CodeType, end: object) -> CodeType:
    """Return the function's code as code that runs in a module's dict."""
    changes: Dict[str, Any] = {
        "co_flags": code.co_flags & ~(_CO_OPTIMIZED | _CO_NEWLOCALS | _CO_NESTED),
        "co_consts": tuple(_unnested(item, end) for item in code.co_consts),
    }
    if _PYTHON_3_11:
        changes["co_qualname"] = _NAME
    if _PYTHON_3_12 and (code.co_varnames or code.co_cellvars):
        # The variables of inlined comprehensions. This version writes them back
        # into the dict of locals, or deletes them there, by their names.
        changes["co_varnames"] = tuple("." + name for name in code.co_varnames)
        changes["co_cellvars"] = tuple("." + name for name in code.co_cellvars)
    return code.replace(**changes)


def _unnested(item: Any, end: object) -> Any:
    """Return a constant of the code with the names that it has in a module."""
    if type(item) is bytes:
        return end if item == _END_CONSTANT else item
    if type(item) is str:
        return item[len(_NESTED_PREFIX) :] if item.startswith(_NESTED_PREFIX) else item
    if type(item) is not _CodeType:
        return item
    if _PYTHON_3_11:
        if not item.co_qualname.startswith(_NESTED_PREFIX):
            return item
        inner = tuple(_unnested(each, end) if type(each) is _CodeType else each for each in item.co_consts)
        return item.replace(co_consts=inner, co_qualname=item.co_qualname[len(_NESTED_PREFIX) :])
    if item.co_name[:1] != "<":
        return item
    return item.replace(co_consts=tuple(_unnested(each, end) for each in item.co_consts))
