"""Compiles source whose top level returns a value, with the meaning of a module.

Python has no such thing, so the source becomes the body of a function, and the
function's code is then made to run in a module's dict. Each difference between
the two is taken away: every name is declared global, annotated names are stored
as a module stores them, the docstring and the names of nested functions are put
right, and as_module_code does the rest. Nodes keep their positions.
"""

from __future__ import annotations

# The first compile() of a process makes the types of _ast, which takes more than a
# millisecond. Imported here, they are there before there is a program.
import _ast

from _symtable import symtable as _symtable  # type: ignore[import]

from thirdrail_child.compiling import END_CONSTANT, Part, as_module_code, code_in, quiet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional

_CO_FUTURE_ANNOTATIONS = 0x1000000

_NAME = "<module>"

# Not an identifier, so no program can have a name like it.
_STAR = "<star>"

_SUITES = ("body", "orelse", "finalbody", "handlers", "cases")

# A return statement can stand behind a function's head if no other statement
# follows on its line. The head is put on the line before, so that the statement
# keeps its place.
_HEAD = "def __program__():\\\n"
_HEAD_NAME = "__program__"


def compile_statement(text: str, file_name: str, flags: int) -> Optional[Part]:
    """Compile text that begins, after empty lines, with a return statement.

    Return None where only compile_body is sure to be right: if the statement binds
    a name, or does not compile, or there are warnings, which must come once. What
    follows the statement can't be reached, but has to be correct. The most frequent
    program returns at its end, and this is a quarter of the work for it.
    """
    if ":=" in text or ";" in text or "yield" in text:
        return None
    lines = len(text) - len(text.lstrip("\n"))
    before, statement = text[: max(lines - 1, 0)], text[lines:]
    move = -1 if lines == 0 else 0  # there is no line before the first
    may_await = "await" in text or "async" in text
    with quiet() as warnings:
        for head in (_HEAD, "async " + _HEAD) if may_await else (_HEAD,):
            try:
                code = compile(before + head + statement, file_name, "exec", flags, dont_inherit=True)
            except SyntaxError:
                continue
            if warnings.seen:
                break
            return Part(as_module_code(code_in(code), _HEAD_NAME, move=move), True, False, None)
    return None


def ends_with_expression(text: str, file_name: str) -> bool:
    """Tell whether the last statement of text is an expression. False if it doesn't parse."""
    with quiet():
        try:
            tree = compile(text, file_name, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
        except SyntaxError:
            return False
    return bool(tree.body) and isinstance(tree.body[-1], _ast.Expr)


def compile_body(text: str, file_name: str, flags: int, end: object, last_expression: bool = False) -> Part:
    """Compile text as a module whose top level may return.

    flags are compile()'s, for future features that are on already. The code
    returns end when its last line was reached without a return; with
    last_expression, a list of end and the last statement's value.
    """
    tree = compile(text, file_name, "exec", _ast.PyCF_ONLY_AST | flags, dont_inherit=True)
    body: List[Any] = tree.body
    names = _top_level_names(text, file_name)
    _refuse_yield(body, text, file_name)
    is_async = ("await" in text or "async" in text) and _find(body, _is_await) is not None
    if last_expression:
        _return_last(body)
    docstring = _docstring(body)
    first = 0 if docstring is None else 1
    futures = _futures(body, first)
    lazy = bool(flags & _CO_FUTURE_ANNOTATIONS) or _asks_for_annotations(futures)
    annotated = _rewrite(body, lazy)
    if names:
        body.insert(first, _at_line_1(_ast.Global(names=names)))
    last = body[-1] if body else _at_line_1(_ast.Pass())
    body.append(_copy_place(_ast.Return(value=_copy_place(_ast.Constant(value=END_CONSTANT), last)), last))
    module_code = compile(_wrap(body, futures, is_async), file_name, "exec", flags, dont_inherit=True)
    code = code_in(module_code)
    document = code.co_consts[0] if docstring is not None else None
    return Part(as_module_code(code, _NAME, end), True, annotated, document)


def _return_last(body: List[Any]) -> None:
    """Turn the last statement, an expression, into a return of END_CONSTANT and its value."""
    last = body[-1]
    # A list of two is never folded into one constant, so the mark is found in it.
    mark = _copy_place(_ast.Constant(value=END_CONSTANT), last)
    pair = _copy_place(_ast.List(elts=[mark, last.value], ctx=_ast.Load()), last)
    body[-1] = _copy_place(_ast.Return(value=pair), last)


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
    return isinstance(node, (_ast.Yield, _ast.YieldFrom))


def _is_await(node: Any) -> bool:
    if isinstance(node, _ast.comprehension):
        return bool(node.is_async)
    return isinstance(node, (_ast.Await, _ast.AsyncFor, _ast.AsyncWith))


def _find(nodes: List[Any], wanted: Any) -> Optional[Any]:
    """Return the first node that the top level itself evaluates and that is wanted."""
    stack = nodes[::-1]
    while stack:
        node = stack.pop()
        if wanted(node):
            return node
        fields = node._fields
        if isinstance(node, _ast.Lambda) or _is_scope(node):
            fields = [field for field in fields if field not in ("body", "type_params")]
        for field in reversed(fields):
            child = getattr(node, field, None)
            if type(child) is list:
                stack.extend(item for item in reversed(child) if hasattr(item, "_fields"))
            elif hasattr(child, "_fields"):
                stack.append(child)
    return None


def _is_scope(node: Any) -> bool:
    return isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef))


def _docstring(body: List[Any]) -> Optional[str]:
    if body and isinstance(body[0], _ast.Expr) and isinstance(body[0].value, _ast.Constant):
        value = body[0].value.value
        if type(value) is str:
            return value
    return None


def _futures(body: List[Any], first: int) -> List[Any]:
    """Return the `from __future__` lines that stand where they may."""
    end = first
    while end < len(body) and isinstance(body[end], _ast.ImportFrom) and body[end].module == "__future__":
        end += 1
    return body[first:end]


def _asks_for_annotations(futures: List[Any]) -> bool:
    return any(alias.name == "annotations" for node in futures for alias in node.names)


def _wrap(body: List[Any], futures: List[Any], is_async: bool) -> _ast.Module:
    """Return a module that holds the function.

    The `from __future__` lines stand twice: before the function, where they are
    obeyed, and in it, where they are executed. The compiler takes the second
    ones since their line is not below the first ones.
    """
    none = _ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    make = _ast.AsyncFunctionDef if is_async else _ast.FunctionDef
    function = make(name=_NAME, args=none, body=body, decorator_list=[], type_params=[])
    return _ast.Module(body=[*futures, _at_line_1(function)], type_ignores=[])


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
            if isinstance(node, _ast.AnnAssign):
                annotated.append(node)
                kept.extend(_plain_assignment(node, lazy))
                continue
            if isinstance(node, _ast.Global):
                continue
            if isinstance(node, _ast.ImportFrom) and node.names[0].name == "*":
                # Python looks for the star in two places: where scopes are
                # analysed, by the name that is bound, and where code is made,
                # by the name that is imported. So this is a real star import.
                node.names[0].asname = _STAR
            elif not _is_scope(node):
                for field in _SUITES:
                    inner = getattr(node, field, None)
                    if type(inner) is list and inner:
                        suites.append(inner)
            kept.append(node)
        suite[:] = kept or [_copy_place(_ast.Pass(), suite[0])] if suite else []
    if lazy and annotated:
        _write_as_text(annotated)
    return bool(annotated)


def _plain_assignment(node: _ast.AnnAssign, lazy: bool) -> List[Any]:
    """Return what a module does for an annotated assignment, step by step."""
    steps: List[Any] = []
    target = node.target
    if node.value is not None:
        steps.append(_copy_place(_ast.Assign(targets=[target], value=node.value), node))
    elif not isinstance(target, _ast.Name):
        parts = [target.value] if not isinstance(target, _ast.Subscript) else [target.value, target.slice]
        steps.extend(_copy_place(_ast.Expr(value=part), node) for part in parts)
    if node.simple:
        assert isinstance(target, _ast.Name)
        table = _copy_place(_ast.Name(id="__annotations__", ctx=_ast.Load()), node)
        key = _copy_place(_ast.Constant(value=target.id), node)
        entry = _copy_place(_ast.Subscript(value=table, slice=key, ctx=_ast.Store()), node)
        store = _copy_place(_ast.Assign(targets=[entry], value=node.annotation), node)
        node.store = store  # type: ignore[attr-defined]
        steps.append(store)
    elif not lazy:
        steps.append(_copy_place(_ast.Expr(value=node.annotation), node))
    return steps


def _write_as_text(annotated: List[Any]) -> None:
    """Turn annotations into their text, as `from __future__ import annotations` does.

    Only the compiler can write them so. It is given a module that has nothing but
    the annotations, each under its number.
    """
    stored = [node for node in annotated if node.simple]
    body = []
    for number, node in enumerate(stored):
        name = _copy_place(_ast.Name(id=str(number), ctx=_ast.Store()), node)
        body.append(_copy_place(_ast.AnnAssign(target=name, annotation=node.annotation, value=None, simple=1), node))
    tree = _ast.Module(body=body, type_ignores=[])
    code = compile(tree, _NAME, "exec", _CO_FUTURE_ANNOTATIONS, dont_inherit=True)
    names: Dict[str, Any] = {"__builtins__": {}, "__annotations__": {}}
    exec(code, names)
    for number, node in enumerate(stored):
        text = names["__annotations__"][str(number)]
        node.store.value = _copy_place(_ast.Constant(value=text), node.annotation)


def _at_line_1(node: Any) -> Any:
    node.lineno = node.end_lineno = 1
    node.col_offset = node.end_col_offset = 0
    return node


def _copy_place(node: Any, source: Any) -> Any:
    node.lineno, node.col_offset = source.lineno, source.col_offset
    node.end_lineno, node.end_col_offset = source.end_lineno, source.end_col_offset
    return node
