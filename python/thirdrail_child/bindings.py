"""The host's functions as the program sees them: namespaces of coroutine functions.

A call is sent when its coroutine starts. Its reply settles a future of the event
loop that made the call; where no loop runs, the call itself is yielded to the
driver of the program's own coroutine (driver.py), and no loop is needed at all.
"""

from __future__ import annotations

from sys import modules as _modules

from thirdrail_child.channel import Channel, ChannelClosed
from thirdrail_child.codec import NotLossless as _NotLossless
from thirdrail_child.codec import decode as _decode
from thirdrail_child.codec import encode as _encode
from thirdrail_child.codec import encode_string as _encode_string
from thirdrail_child.handles import opener as _opener

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Generator, List, Optional, Set, Tuple, Type

    from thirdrail_child.protocol import Namespace as NamespaceFrame

_REPLY_PREFIX = 256
# How many functions a message names.
_LISTED = 50


def running_loop() -> Any:
    """Return the event loop that runs in this thread, or None. Never imports asyncio."""
    events = _modules.get("asyncio.events")
    return None if events is None else events._get_running_loop()


class Pending:
    """One call that waits for its reply."""

    __slots__ = ("id", "label", "loop", "future", "settled", "given_up", "value", "message", "_calls")

    def __init__(self, calls: Calls, id: int, label: str) -> None:
        self._calls = calls
        self.id = id
        self.label = label
        self.loop: Any = None
        self.future: Any = None
        self.settled = False
        self.given_up = False  # its caller no longer waits
        self.value: Any = None
        self.message: Optional[str] = None

    def settle(self, value: Any, message: Optional[str]) -> None:
        """Take the reply, in whatever thread it was read."""
        if self.given_up:
            return
        self.value = value
        self.message = message
        self.settled = True
        if self.loop is None:
            return
        if self.loop is running_loop():
            self._wake()
            return
        try:
            self.loop.call_soon_threadsafe(self._wake)
        except RuntimeError:
            pass  # the loop was closed: nobody waits any more

    def _wake(self) -> None:
        if not self.future.done():
            self.future.set_result(None)

    def __await__(self) -> Generator[Any, Any, None]:
        if self.settled:
            return
        if self.loop is None:
            yield self
            return
        self._calls.watch(self.loop)
        yield from self.future


class Calls:
    """The calls in flight, and the way of their replies."""

    def __init__(self, channel: Channel, numbers: str) -> None:
        self._channel = channel
        self._numbers = numbers
        self._next_id = 0
        self._pending: Dict[int, Pending] = {}
        self._watching: Set[Any] = set()
        self.labels: Set[str] = set()  # the names of all functions, as the program writes them
        self.code: Any = None  # what their coroutines run
        channel.on_lines = self.receive
        channel.waiting = self._pending
        channel.stand_in = _too_large

    def waiting(self) -> List[str]:
        """Return the names of the calls whose callers still wait for a reply."""
        return [pending.label for pending in list(self._pending.values()) if not pending.given_up]

    def start(self, label: str, global_name: str, name: str, arguments: Any) -> Pending:
        """Send a call. NotLossless if the arguments can't cross."""
        args = _encode(arguments, self._numbers, None, f"{label} argument")
        return self._channel.send_call(lambda: self._frame(label, global_name, name, args))

    def _frame(self, label: str, global_name: str, name: str, args: bytes) -> Tuple[bytes, Pending]:
        pending = Pending(self, self._next_id, label)
        pending.loop = running_loop()
        if pending.loop is not None:
            pending.future = pending.loop.create_future()
        frame = b'{"type":"call","id":%d,"global":%b,"name":%b,"args":%b}\n' % (
            pending.id,
            _encode_string(global_name),
            _encode_string(name),
            args,
        )
        # Not before there is a frame, for which memory may be lacking: the host
        # waits for each number.
        self._next_id += 1
        self._pending[pending.id] = pending
        return frame, pending

    def receive(self) -> None:
        """Settle the calls whose replies have arrived, without waiting."""
        with self._channel.section:
            for line in self._channel.take_lines():
                self._settle(line)

    def wait(self, pending: Pending) -> None:
        """Block until a call is settled. For a thread in which no loop runs."""
        while not pending.settled:
            # A loop of another thread may read our reply: then only looking helps.
            self._channel.wait(50 if self._watching else None)
            self.receive()

    def watch(self, loop: Any) -> None:
        """Have a loop read replies, from its first call until it is closed."""
        if loop not in self._watching:
            for other in list(self._watching):
                if other.is_closed():
                    self._watching.discard(other)
            self._watching.add(loop)
            loop.add_reader(self._channel.fileno(), self._readable, loop)

    def _readable(self, loop: Any) -> None:
        try:
            self.receive()
        except ChannelClosed:
            # The host is gone: this process ends with it, there is nothing to wait for.
            loop.remove_reader(self._channel.fileno())

    def _settle(self, line: bytes) -> None:
        try:
            frame = _decode(line, self._numbers)
        except MemoryError:
            frame = _decode(_too_large(line[:_REPLY_PREFIX], len(line)), self._numbers)
        except ValueError:
            return
        if type(frame) is not dict or frame.get("type") != "reply":
            return
        id = frame.get("id")
        if type(id) is not int:
            return
        pending = self._pending.pop(id, None)
        if pending is None:
            return
        if frame.get("ok") is True and "value" in frame:
            pending.settle(frame["value"], None)
        else:
            text = frame.get("message")
            pending.settle(None, text if type(text) is str else "the call was rejected")


def _too_large(head: bytes, size: int) -> bytes:
    """Return the line that stands for a reply that this process has no memory for.

    The id is where our host writes it. Without one, nobody is told.
    """
    start = head.find(b'"id":')
    digits = head[start + 5 :].lstrip().split(b",", 1)[0].strip()
    if start < 0 or not digits.isdigit():
        return b"null"
    message = b"the reply of %d bytes does not fit in the program's memory" % size
    return b'{"type":"reply","id":%b,"ok":false,"message":"%b"}' % (digits, message)


def _split(label: str, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """Return a call's arguments as they are, for the host to bind.

    An ellipsis is what declarations write for what isn't given, so it isn't.
    """
    return [list(args), {name: value for name, value in kwargs.items() if value is not ...}]


def _argument_of(label: str, message: str) -> str:
    """Return a refusal with the place of the argument, not that in the list of both kinds."""
    start = f"{label} argument"
    return start + message[len(start) + len("[0]") :] if message.startswith((start + "[0]", start + "[1]")) else message


def _bind(label: str, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """Return the one JSON value that a call's arguments make."""
    if not args:
        return kwargs
    if kwargs or len(args) > 1:
        raise TypeError(
            f"{label}() takes either one positional value or keyword arguments: "
            f'write {label}({{"name": value, …}}) or {label}(name=value, …)'
        )
    return args[0]


def _label(global_name: str, name: str) -> str:
    """Return a function's name as the program writes it."""
    if name == "__call__":
        return global_name
    return f"{global_name}.{name}" if name.isidentifier() else f"{global_name}[{name!r}]"


def _binding(
    calls: Calls,
    global_name: str,
    name: str,
    error: Callable[[str], Exception],
    bind: Callable[[str, Tuple[Any, ...], Dict[str, Any]], Any],
    opened: Optional[Callable[[Any], Any]],
) -> Any:
    label = _label(global_name, name)

    async def binding(*args: Any, **kwargs: Any) -> Any:
        arguments = bind(label, args, kwargs)
        try:
            pending = calls.start(label, global_name, name, arguments)
        except _NotLossless as refusal:
            text = str(refusal)
            failure = error(_argument_of(label, text) if bind is _split else text)
        else:
            try:
                await pending
            finally:
                # The host still owes the reply, so the call stays among the pending.
                pending.given_up = True
            if pending.message is None:
                return pending.value if opened is None else opened(pending.value)
            failure = error(pending.message)
        raise failure from None

    calls.labels.add(label)
    calls.code = binding.__code__
    binding.__name__ = name
    binding.__qualname__ = label
    binding.__module__ = "__main__"
    return binding


def _error_class(name: str, member: str) -> Type[Exception]:
    """Make the class that a namespace's rejected calls raise."""

    def __init__(self: Exception, *args: Any) -> None:
        Exception.__init__(self, *args)
        if member not in self.__dict__:
            self.__dict__[member] = None

    return type(name, (Exception,), {"__module__": "__main__", "__init__": __init__})


def _error_factory(
    error_class: Optional[Type[Exception]], member: str, name: str
) -> Callable[[str], Exception]:
    if error_class is None:
        return RuntimeError
    kind = error_class

    def make(message: str) -> Exception:
        failure = kind(message)
        failure.__dict__[member] = name
        return failure

    return make


def _listed(functions: Dict[str, Any]) -> str:
    names = sorted(functions)
    shown = [name if name.isidentifier() else repr(name) for name in names[:_LISTED]]
    if len(names) > _LISTED:
        shown.append(f"and {len(names) - _LISTED} more")
    return ", ".join(shown) or "nothing"


def _namespace(global_name: str, functions: Dict[str, Any]) -> Any:
    """Make the object that the program calls functions on.

    Any name can be declared, also one like __class__, so what is declared comes
    before what every object has.
    """
    names = _listed(functions)

    class Namespace:
        __slots__ = ()

        def __getattribute__(self, name: str) -> Any:
            if name in functions:
                return functions[name]
            if name.startswith("__") and name.endswith("__"):
                return object.__getattribute__(self, name)
            raise AttributeError(f"{global_name} has no function {name!r}; it has: {names}")

        def __getitem__(self, name: str) -> Any:
            if type(name) is str and name in functions:
                return functions[name]
            raise KeyError(f"{global_name} has no function {name!r}; it has: {names}")

        def __dir__(self) -> List[str]:
            return sorted(functions)

        def __repr__(self) -> str:
            return f"<namespace {global_name}: {names}>"

    if "__call__" in functions:

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            return functions["__call__"](*args, **kwargs)

        setattr(Namespace, "__call__", call)
    Namespace.__module__ = "__main__"
    Namespace.__qualname__ = Namespace.__name__ = global_name
    return Namespace()


def seed(module_globals: Dict[str, Any], calls: Calls, namespaces: List[NamespaceFrame]) -> None:
    """Put the namespaces and their error classes among the program's globals."""
    classes: Dict[Tuple[str, str], Type[Exception]] = {}
    for namespace in namespaces:
        global_name = namespace["global"]
        declared = namespace.get("errorClass")
        error_class: Optional[Type[Exception]] = None
        member = ""
        if declared is not None:
            member = declared["memberNameProperty"]
            error_class = classes.get((declared["name"], member)) or _error_class(declared["name"], member)
            classes[declared["name"], member] = error_class
            module_globals[declared["name"]] = error_class
        bind = _split if namespace.get("splitArguments") is True else _bind
        marker = namespace.get("handles")
        opened = None if not marker else _opener(calls, global_name, marker)
        functions = {
            name: _binding(calls, global_name, name, _error_factory(error_class, member, name), bind, opened)
            for name in namespace["names"]
            if name != marker
        }
        module_globals[global_name] = _namespace(global_name, functions)
