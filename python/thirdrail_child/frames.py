"""Shows the program's own frames of a traceback, and places in lines of source."""

from __future__ import annotations

from thirdrail_child.cutting import cut_ends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Iterator, List, Optional, Tuple

    from thirdrail_child.program import Program

    # A frame's file, line and function.
    Place = Tuple[str, int, str]

# Of a deep stack, the places shown are this many outermost and innermost ones, and
# of one without end few: they repeat.
_OUTER, _INNER = 20, 40
_OUTER_OF_ENDLESS, _INNER_OF_ENDLESS = 2, 3

# As Python does: of frames in a row at the same place, three are shown.
_REPEATS_SHOWN = 3

# A longer line of source is shown around the place in it.
_LINE_LIMIT = 240
_BEFORE_PLACE = 100

_NAME_LIMIT = 200

# A column is looked up by walking the code from its start, not worth it in huge code.
_CARET_INSTRUCTIONS = 100_000


def frame_lines(
    traceback: Optional[TracebackType], program: Optional[Program], endless: bool = False
) -> List[str]:
    """Return the lines that show the program's frames of a traceback, outermost first."""
    if program is None:
        return []
    most_outer = _OUTER_OF_ENDLESS if endless else _OUTER
    most_inner = _INNER_OF_ENDLESS if endless else _INNER
    outer: List[Tuple[TracebackType, Place, int]] = []
    inner: List[Tuple[TracebackType, Place, int]] = []
    left_out = 0
    for run in _runs(traceback, program):
        if len(outer) < most_outer:
            outer.append(run)
            continue
        inner.append(run)
        if len(inner) > most_inner:
            left_out += inner.pop(0)[2]
    lines: List[str] = []
    for run in outer:
        lines.extend(_run_lines(*run, program))
    if left_out:
        lines.append(f"  [{left_out} more frames are left out here]")
    for run in inner:
        lines.extend(_run_lines(*run, program))
    return lines


def _runs(
    traceback: Optional[TracebackType], program: Program
) -> Iterator[Tuple[TracebackType, Place, int]]:
    """Yield each place of the program's frames once for all frames in a row that are there."""
    first: Optional[TracebackType] = None
    place: Optional[Place] = None
    count = 0
    while traceback is not None:
        entry, traceback = traceback, traceback.tb_next
        code = entry.tb_frame.f_code
        name = code.co_filename
        if name != program.file_name and not _is_of_program(name, entry, program):
            continue
        here = (name, entry.tb_lineno or 0, code.co_name)
        if first is not None and place is not None and here != place:
            yield first, place, count
            first = None
        if first is None:
            first, place, count = entry, here, 0
        count += 1
    if first is not None and place is not None:
        yield first, place, count


def _is_of_program(file_name: str, entry: TracebackType, program: Program) -> bool:
    """Report whether a frame of another file is of code that the program made, such as by exec."""
    return file_name == "<string>" or entry.tb_frame.f_globals is program.module_globals


def _run_lines(entry: TracebackType, place: Place, count: int, program: Program) -> List[str]:
    file_name, number, function = place
    lines = [f'  File "{_name(file_name)}", line {number}, in {_name(function)}']
    text = program.line(number) if file_name == program.file_name else None
    if text is not None and text.strip():
        start, end = _columns(entry, number, text)
        lines.extend(source_lines(text, start, end))
    shown = lines * min(count, _REPEATS_SHOWN)
    if count > _REPEATS_SHOWN:
        more = count - _REPEATS_SHOWN
        shown.append(f"  [Previous line repeated {more} more time{'' if more == 1 else 's'}]")
    return shown


def _name(name: str) -> str:
    return cut_ends(name, _NAME_LIMIT).replace("\n", " ")


def _columns(entry: TracebackType, number: int, text: str) -> Tuple[int, int]:
    """Return the start and end, in characters, of what was executing in the line; 0, 0 if it is all or unknown."""
    positions = getattr(entry.tb_frame.f_code, "co_positions", None)  # from Python 3.11 on
    index = entry.tb_lasti // 2
    if positions is None or not 0 <= index < _CARET_INSTRUCTIONS:
        return 0, 0
    for position in positions():
        if index == 0:
            break
        index -= 1
    else:
        return 0, 0
    line, end_line, start_byte, end_byte = position
    if line != number or start_byte is None or end_byte is None:
        return 0, 0
    encoded = text.encode("utf-8", "replace")
    start = len(encoded[:start_byte].decode("utf-8", "replace"))
    stripped = text.rstrip()
    end = len(stripped) if end_line != line else len(encoded[:end_byte].decode("utf-8", "replace"))
    whole = not text[:start].strip() and end >= len(stripped)
    return (0, 0) if whole else (start, min(end, len(stripped)))


def source_lines(text: str, start: int, end: int) -> List[str]:
    """Return a line of source, and carets below the characters from start to end if there are any.

    A long line is shown around the start.
    """
    text = text.rstrip()
    left = len(text) - len(text.lstrip())
    begin = left
    if len(text) - left > _LINE_LIMIT:
        begin = max(left, start - _BEFORE_PLACE)
    shown = text[begin : begin + _LINE_LIMIT]
    prefix = "..." if begin > left else ""
    suffix = "..." if begin + _LINE_LIMIT < len(text) else ""
    lines = [f"    {prefix}{shown}{suffix}"]
    start, end = start - begin, min(end - begin, len(shown) + 1)
    if 0 <= start < end:
        # Tabs stay tabs, so that the carets stand where they should.
        space = "".join(character if character.isspace() else " " for character in shown[:start])
        space += " " * (start - len(shown[:start]))
        lines.append(f"    {' ' * len(prefix)}{space}{'^' * (end - start)}")
    return lines
