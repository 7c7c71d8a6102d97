"""Writes what a model gets to read of the exception that ended its program.

It is Python's usual traceback, but of the program's own frames only: none of ours,
none of libraries, no paths of the host. It never fails, whatever the exception is,
never changes the exception, and its size and the work for it are bounded.
"""

from __future__ import annotations

from thirdrail_child.cutting import cut_ends, cut_middle, without_surrogates
from thirdrail_child.frames import frame_lines, source_lines
from thirdrail_child.inspection import (
    Questions,
    SyntaxPlace,
    class_name,
    earlier,
    import_path,
    members,
    notes,
    traceback_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, List, Optional, Tuple

    from thirdrail_child.program import Program

    # Says what to write instead, given an exception and its text.
    Help = Callable[[BaseException, Optional[str]], Optional[str]]

# The most that a message has, as a JSON string in bytes. The host holds to it too.
MESSAGE_BYTES = 32 << 10

# Characters of an exception's text: of the last one, which says what happened, and of others.
_LAST_TEXT = 32 << 10
_OTHER_TEXT = 4 << 10
_NOTE_TEXT = 4 << 10

_FILE_NAME = 200

# Of a chain, the oldest links and the newest. Longer ones are followed up to a bound.
_OLDEST_LINKS = 4
_NEWEST_LINKS = 12
_LINKS_FOLLOWED = 10_000

# Of exception groups, as Python shows them: how many members, how deep.
_GROUP_MEMBERS = 15
_GROUP_DEPTH = 10

# The most exceptions in one report, and of those in groups that get help.
_EXCEPTIONS = 200
_HELPS = 3

_CAUSE = "The above exception was the direct cause of the following exception:"
_CONTEXT = "During handling of the above exception, another exception occurred:"


def describe(exception: BaseException, program: Optional[Program], help: Optional[Help] = None) -> str:
    """Return the text for an exception that a program ended with.

    program is None if it could not be compiled: then there are no frames to show.
    The text is at most MESSAGE_BYTES long as a JSON string.
    """
    try:
        text = "\n".join(_Report(program, help).write(exception))
    except BaseException:
        text = _least(exception)
    return cut_middle(without_surrogates(text), MESSAGE_BYTES)


def _least(exception: BaseException) -> str:
    try:
        return class_name(exception)
    except BaseException:
        return "an exception that can't be shown"


class _Report:
    """One text about an exception, with those that led to it."""

    def __init__(self, program: Optional[Program], help: Optional[Help]) -> None:
        self._program = program
        self._helper = help
        self._questions = Questions()
        self._left = _EXCEPTIONS
        self._helps_left = _HELPS
        self._group_is_open = False

    def write(self, exception: BaseException) -> List[str]:
        """Return the lines about an exception and all that belongs to it."""
        return self._chain(exception, 0)

    def _chain(self, exception: BaseException, depth: int) -> List[str]:
        """Return the lines about an exception after those that led to it. depth is that of groups."""
        links, left_out = _links(exception)
        lines: List[str] = []
        for position, (link, is_cause) in enumerate(links):
            if position == _OLDEST_LINKS and left_out:
                lines += _indented(["", f"[{left_out} more exceptions of this chain are left out here]"], depth)
            if position > 0:
                lines += _indented(["", _CAUSE if is_cause else _CONTEXT, ""], depth)
            lines += self._one(link, depth, position == len(links) - 1)
        return lines

    def _one(self, exception: BaseException, depth: int, is_last: bool) -> List[str]:
        """Return the lines about one exception, and those in it if it is a group."""
        self._left -= 1
        is_endless = type(exception) is RecursionError
        lines = frame_lines(traceback_of(exception), self._program, is_endless)
        inside = members(exception)
        if lines:
            kind = "Traceback" if inside is None else "Exception Group Traceback"
            lines.insert(0, f"{kind} (most recent call last):")
        has_header = bool(lines)
        lines += self._end(exception, is_last, depth)
        if inside is None:
            return _indented(lines, depth)
        shown = _indented(lines, max(depth, 1))
        if depth == 0 and has_header:
            shown[0] = "  + " + lines[0]
        return shown + self._members(inside, max(depth, 1))

    def _members(self, inside: List[BaseException], depth: int) -> List[str]:
        """Return the lines about the exceptions in a group."""
        if depth > _GROUP_DEPTH:
            return _indented(["[groups inside this one are left out]"], depth)
        lines: List[str] = []
        for position, member in enumerate(inside):
            is_over = position >= _GROUP_MEMBERS or self._left <= 0
            title = "..." if is_over else str(position + 1)
            fork = "+-" if position == 0 else "  "
            lines.append(f"{'  ' * depth}{fork}+---------------- {title} ----------------")
            self._group_is_open = True
            if is_over:
                more = len(inside) - position
                lines += _indented([f"[{more} more exceptions are left out here]"], depth + 1)
                break
            lines += self._chain(member, depth + 1)
        # The innermost of the groups that end here draws the line for all.
        if self._group_is_open:
            lines.append("  " * (depth + 1) + "+------------------------------------")
            self._group_is_open = False
        return lines

    def _end(self, exception: BaseException, is_last: bool, depth: int) -> List[str]:
        """Return the lines that say what the exception is: its name, text, notes and help."""
        name = class_name(exception)
        limit = _LAST_TEXT if is_last and depth == 0 else _OTHER_TEXT
        lines: List[str] = []
        if issubclass(type(exception), SyntaxError):
            place = SyntaxPlace(exception)  # type: ignore[arg-type]
            message = place.message and cut_ends(place.message, limit)
            lines = _syntax_lines(place, self._program)
        else:
            message = self._questions.text(exception, limit)
            message = message and _without_path(message, import_path(exception))
        lines.append(f"{name}: {message}" if message else name)
        for note in notes(exception):
            lines.append(self._questions.text(note, _NOTE_TEXT) or "")
        if is_last:
            lines += self._help(exception, message)
        return lines

    def _help(self, exception: BaseException, message: Optional[str]) -> List[str]:
        """Return the line that says what to write instead, if there is one. Help is never worth the message."""
        if self._helper is None or self._helps_left == 0:
            return []
        try:
            hint = self._helper(exception, message)
        except BaseException:
            return []
        if not hint:
            return []
        self._helps_left -= 1
        return [f"help: {hint}"]


def _links(exception: BaseException) -> Tuple[List[Tuple[BaseException, bool]], int]:
    """Return the chain that ends in exception, oldest first, and how many are left out of it.

    With each goes whether the one before it is its direct cause.
    """
    chain: List[Tuple[BaseException, bool]] = []
    seen = set()
    link: Optional[BaseException] = exception
    while link is not None and id(link) not in seen and len(chain) < _LINKS_FOLLOWED:
        seen.add(id(link))
        before, is_cause = earlier(link)
        chain.append((link, is_cause))
        link = before
    chain.reverse()
    left_out = len(chain) - _OLDEST_LINKS - _NEWEST_LINKS
    if left_out > 0:
        del chain[_OLDEST_LINKS : _OLDEST_LINKS + left_out]
    return chain, max(left_out, 0)


def _indented(texts: List[str], depth: int) -> List[str]:
    """Return the lines of texts, behind the margin that shows how deep in groups they are."""
    margin = "  " * depth + "| " if depth else ""
    return [margin + line for text in texts for line in text.split("\n")]


def _syntax_lines(place: SyntaxPlace, program: Optional[Program]) -> List[str]:
    """Return the lines that show where a SyntaxError is."""
    if place.line is None:
        return []
    file_name = place.file_name or "<string>"
    if program is None or file_name != program.file_name:
        file_name = file_name.rpartition("/")[2]  # a path may be the host's
    lines = [f'  File "{cut_ends(file_name, _FILE_NAME)}", line {place.line}']
    text = place.text
    if text is None or not text.strip():
        return lines
    text = text.rstrip("\n")
    start = end = 0
    if place.offset is not None and place.offset > 0:
        start = min(place.offset - 1, len(text))
        end = start + 1
        if place.end_line is not None and place.end_line != place.line:
            end = len(text)
        elif place.end_offset is not None:
            end = max(place.end_offset - 1, end)
        # Where the error is the missing end of the line, the caret is behind it.
        end = max(min(end, len(text)), start + 1)
    return lines + source_lines(text, start, end)


def _without_path(message: str, path: str) -> str:
    """Return an ImportError's text without the path of the module, which may be the host's."""
    end = f" ({path})"
    return message[: -len(end)] if path and message.endswith(end) else message
