"""What an exception's traceback tells of where it came from, for the hints."""

from __future__ import annotations

from thirdrail_child.inspection import earlier, traceback_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Dict, Iterator, List, Optional, Tuple

    from thirdrail_child.program import Program
    from thirdrail_child.surroundings import Surroundings

_LINKS = 16
_FRAMES = 5000


class Scene:
    """One failure.

    Attributes: exception, program and surroundings as given; line, the text of the
    program's innermost line of the traceback; names, the program's globals.
    """

    __slots__ = ("exception", "line", "names", "program", "surroundings")

    def __init__(
        self, exception: BaseException, program: Optional[Program], surroundings: Optional[Surroundings]
    ) -> None:
        self.exception = exception
        self.program = program
        self.surroundings = surroundings
        self.line, _modules = self.place(exception)
        globals_of = program.module_globals if program is not None else None
        self.names: List[str] = [name for name in list(globals_of or ()) if type(name) is str]

    def functions(self) -> Dict[str, List[str]]:
        """Return the functions of each namespace."""
        return self.surroundings.functions if self.surroundings is not None else {}

    def callables(self) -> List[str]:
        """Return the namespaces that are functions themselves."""
        return self.surroundings.callables if self.surroundings is not None else []

    def errors(self) -> List[str]:
        """Return the names of the exception classes that the functions raise."""
        return self.surroundings.errors if self.surroundings is not None else []

    def source_of_values(self) -> str:
        """Return words for what gives a program values, "" if nothing does."""
        around = self.surroundings
        if around is None:
            return ""
        ways = ["`data`"] if around.has_data else []
        if around.a_function():
            ways.append(around.a_function())
        return " or ".join(ways)

    def links(self) -> Iterator[BaseException]:
        """Yield the exception and those that led to it."""
        link: Optional[BaseException] = self.exception
        for _ in range(_LINKS):
            if link is None:
                return
            yield link
            link, _is_cause = earlier(link)

    def place(self, exception: BaseException) -> Tuple[str, List[str]]:
        """Return the program's line that an exception passed last, and the modules that it passed below."""
        line = ""
        modules: List[str] = []
        entry = traceback_of(exception)
        for _ in range(_FRAMES):
            if entry is None:
                break
            frame = entry.tb_frame
            if self.program is not None and frame.f_code.co_filename == self.program.file_name:
                line, modules = self.program.line(entry.tb_lineno or 0) or "", []
            else:
                name = frame.f_globals.get("__name__")
                modules.append(name if type(name) is str else "")
            entry = entry.tb_next
        return line, modules
