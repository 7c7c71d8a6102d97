"""Content that stays with the host, such as images, as the program holds it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Generator, List, Optional, Set, Tuple

    from thirdrail_child.bindings import Calls

_open = open

# Where the end of a file's name is not the end of its content's type.
_EXTENSIONS = {"text/plain": "txt", "image/jpeg": "jpg", "image/svg+xml": "svg", "audio/mpeg": "mp3"}


class Saved:
    """A file that was written: a path, which may also be awaited."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return self.path

    def __str__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return repr(self.path)

    def __await__(self) -> Generator[Any, Any, str]:
        yield from ()
        return self.path


class Handle:
    """Content of a tool's result: .mime, .size in bytes, .save(path) and .read().

    Returned, alone or inside a list or dict, it reaches the client as content.
    """

    __slots__ = ("mime", "size", "name", "_marker", "_number", "_fetch")

    made = False  # so that the results of most programs need no walk

    def __init__(self, marker: str, content: Dict[str, Any], fetch: Callable[[Any], bytes]) -> None:
        self.mime = content.get("mime")
        self.size = content.get("size")
        self.name = content.get("name")
        self._marker = marker
        self._number = content[marker]
        self._fetch = fetch
        Handle.made = True

    def read(self) -> bytes:
        """Return the bytes."""
        return self._fetch(self._number)

    def save(self, path: Optional[str] = None) -> Saved:
        """Write the bytes to a file of the workspace. Return its path."""
        if path is None:
            kind = str(self.mime)
            path = self.name or f"content-{self._number}.{_EXTENSIONS.get(kind, kind.split('/')[-1])}"
            path = str(path).replace("/", "_")
        with _open(path, "wb") as file:
            file.write(self.read())
        return Saved(path)

    def __repr__(self) -> str:
        return f"<{self.mime}, {self.size} bytes; .save(path) writes it, return shows it>"


def opener(calls: Calls, global_name: str, marker: str) -> Callable[[Any], Any]:
    """Return the function that puts handles into the values of a namespace's replies."""

    def fetch(number: Any) -> bytes:
        from binascii import a2b_base64

        pending = calls.start(f"{global_name} content", global_name, marker, number)
        calls.wait(pending)
        if pending.message is not None:
            raise RuntimeError(pending.message)
        return a2b_base64(pending.value)

    def opened(value: Any) -> Any:
        if type(value) is dict and marker in value:
            return Handle(marker, value, fetch)
        if type(value) is list:
            for place, item in enumerate(value):
                if type(item) is dict and marker in item:
                    value[place] = Handle(marker, item, fetch)
        return value

    return opened


def closed(result: Any) -> Any:
    """Return a program's result with what stands for its handles, changed in place.

    Only lists and dicts are looked into: nothing else crosses anyway.
    """
    if not Handle.made:
        return result
    if type(result) is Handle:
        return _mark(result)
    stack: List[Any] = [result]
    seen: Set[int] = set()
    while stack:
        value = stack.pop()
        kind = type(value)
        if (kind is not list and kind is not dict) or id(value) in seen:
            continue
        seen.add(id(value))
        items: List[Tuple[Any, Any]] = list(enumerate(value) if kind is list else value.items())
        for key, item in items:
            if type(item) is Handle:
                value[key] = _mark(item)
            else:
                stack.append(item)
    return result


def _mark(handle: Handle) -> Dict[str, Any]:
    return {handle._marker: handle._number}
