"""Tests of what the codec refuses: that it does, where it says the value is, and what it says to write instead."""

from __future__ import annotations

import array
import asyncio
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import pathlib
import re
import sys
import unittest
import uuid
from pathlib import Path
from typing import Any, List, NamedTuple, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from thirdrail_child.codec import DOUBLE, EXACT, NotLossless, OverBudget, encode  # noqa: E402

# No message may be longer than this, whatever is refused and wherever it is.
MESSAGE_LIMIT = 2048


def named(module: str, name: str, *bases: type) -> Any:
    """Return an instance of a new class that says it is module's: the packages themselves need not be installed."""
    return type(name, bases, {"__module__": module})()


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


class Point(NamedTuple):
    x: int


@dataclasses.dataclass
class Order:
    id: int = 1


class D(dict):  # type: ignore[type-arg]
    pass


class L(list):  # type: ignore[type-arg]
    pass


class S(str):
    pass


class I(int):  # noqa: E742
    pass


class F(float):
    pass


class Plain:
    pass


# A value, what is said that it is, and what is said to return.
REFUSED: List[Tuple[Any, str, str]] = [
    ((1, 2), "a tuple", "return list(x)"),
    (Point(1), "Point", "return ._asdict() or list(x)"),
    ({1}, "a set", "return sorted(x) or list(x)"),
    (frozenset(), "a frozenset", "return sorted(x) or list(x)"),
    (b"x", "a bytes", "return .decode() or .hex()"),
    (bytearray(b"x"), "a bytearray", "return .decode() or .hex()"),
    (memoryview(b"x"), "a memoryview", "return .tolist() or .hex()"),
    (1j, "a complex", "return [x.real, x.imag]"),
    (range(3), "a range", "return list(x)"),
    ((n for n in [1]), "a generator", "return list(x)"),
    (map(str, ()), "a map", "return list(x)"),
    (zip([1]), "a zip", "return [list(item) for item in x]"),
    ({}.keys(), "a dict_keys", "return list(x)"),
    ({}.items(), "a dict_items", "return dict(x)"),
    (iter([]), "a list_iterator", "return a dict of the values"),
    (..., "an ellipsis", "return None"),
    (len, "a builtin_function_or_method", "call it with ()"),
    (lambda: 1, "a function", "call it with ()"),
    ([].append, "a builtin_function_or_method", "call it with ()"),
    (functools.partial(len), "a functools.partial", "call it with ()"),
    (Plain, "a type", "return .__name__"),
    (sys, "a module", "return a dict of the values"),
    (ValueError("x"), "a ValueError", "return str(x) or repr(x)"),
    (datetime.datetime(2024, 1, 1), "a datetime.datetime", "return .isoformat()"),
    (datetime.date(2024, 1, 1), "a datetime.date", "return .isoformat()"),
    (datetime.time(1), "a datetime.time", "return .isoformat()"),
    (datetime.timedelta(1), "a datetime.timedelta", "return .total_seconds()"),
    (decimal.Decimal("1.5"), "a decimal.Decimal", "return str(x) or float(x)"),
    (fractions.Fraction(1, 2), "a fractions.Fraction", "return str(x) or float(x)"),
    (Colour.RED, "Colour", "return .value or .name"),
    (Level.LOW, "Level, a subclass of int", "return int(x)"),
    (Order(), "Order", "return dataclasses.asdict(x)"),
    (pathlib.Path("."), "a pathlib.", "return str(x)"),
    (uuid.UUID(int=1), "a uuid.UUID", "return str(x)"),
    (collections.deque([1]), "a collections.deque", "return list(x)"),
    (collections.OrderedDict(), "a collections.OrderedDict, a subclass of dict", "return dict(x)"),
    (collections.defaultdict(int), "a collections.defaultdict, a subclass of dict", "return dict(x)"),
    (collections.Counter(), "a collections.Counter, a subclass of dict", "return dict(x)"),
    (collections.UserDict(), "a collections.UserDict", "return dict(x)"),
    (array.array("i"), "an array.array", "return .tolist()"),
    (re.compile("x"), "a re.Pattern", "return .pattern"),
    (D(a=1), "D, a subclass of dict", "return dict(x)"),
    (L([1]), "L, a subclass of list", "return list(x)"),
    (S("x"), "S, a subclass of str", "return str(x)"),
    (I(1), "I, a subclass of int", "return int(x)"),
    (F(1), "F, a subclass of float", "return float(x)"),
    (Plain(), "Plain", "return a dict of the values"),
    (named("numpy", "float64", named("numpy", "generic").__class__, float), "a numpy.float64, a subclass of float", "return .item()"),
    (named("numpy", "int64", named("numpy", "generic").__class__), "a numpy.int64", "return .item()"),
    (named("numpy", "ndarray"), "a numpy.ndarray", "return .tolist()"),
    (named("pandas.core.frame", "DataFrame"), "a pandas.core.frame.DataFrame", 'return .to_dict("records")'),
    (named("pandas", "DataFrame"), "a pandas.DataFrame", 'return .to_dict("records")'),
    (named("pandas.core.series", "Series"), "a pandas.core.series.Series", "return .tolist()"),
    (named("pandas._libs.missing", "NAType"), "a pandas._libs.missing.NAType", "return None"),
]

# A dict key that is not a str, and how it is named.
KEYS: List[Tuple[Any, str]] = [
    (7, "(int) 7"),
    (10**500, "(int),"),
    (None, "(NoneType) None"),
    (True, "(bool) True"),
    (1.5, "(float) 1.5"),
    (float("nan"), "(float) nan"),
    ((1, 2), "(tuple),"),
    (b"a", "(bytes),"),
    (S("a"), "S),"),
    (Colour.RED, "Colour),"),
]


class RefusalCase(unittest.TestCase):
    """A test case that encodes what must be refused."""

    def refusal(self, value: object, numbers: str = EXACT, budget: Any = None, place: str = "result") -> str:
        with self.assertRaises(NotLossless) as caught:
            encode(value, numbers, budget, place)
        message = str(caught.exception)
        self.assertIn("lossless JSON", message)
        self.assertLessEqual(len(message.encode()), MESSAGE_LIMIT)
        self.assertTrue(message.startswith(place))
        return message


class Refusals(RefusalCase):
    """Each refusal, alone and within containers of every size, with and without a budget."""

    def test_types(self) -> None:
        for value, what, instead in REFUSED:
            with self.subTest(what):
                message = self.refusal(value)
                self.assertIn(" is ", message)
                self.assertIn(what, message)
                self.assertIn(instead, message)
                self.assertEqual(self.refusal({"rows": [1, 2, {"when": value}]}), message.replace("result", 'result["rows"][2]["when"]'))
                self.assertEqual(self.refusal([0] * 5000 + [value], budget=1 << 20), message.replace("result", "result[5000]"))
                for numbers in (EXACT, DOUBLE):
                    with self.assertRaises(OverBudget):
                        encode([value] + ["x" * 100], numbers, 64)
                    with self.assertRaises(OverBudget):
                        encode(["x" * 100] + [value], numbers, 64)

    def test_the_words(self) -> None:
        when = datetime.datetime(2024, 1, 1)
        self.assertEqual(
            self.refusal({"rows": [{}, {"when": when}]}),
            'result["rows"][1]["when"] is a datetime.datetime, which is not lossless JSON; return .isoformat()',
        )
        self.assertEqual(
            self.refusal({"when": when}, place="db.query argument"),
            'db.query argument["when"] is a datetime.datetime, which is not lossless JSON; pass .isoformat()',
        )

    def test_forgotten_await(self) -> None:
        async def call() -> None:
            pass

        coroutine = call()
        self.assertIn("write `await` in front", self.refusal([coroutine]))
        coroutine.close()
        loop = asyncio.new_event_loop()
        self.assertIn("write `await` in front", self.refusal([loop.create_future()]))
        loop.close()

    def test_keys(self) -> None:
        for key, named_key in KEYS:
            with self.subTest(named_key):
                for others in (0, 3000):
                    value: Any = {str(n): n for n in range(others)}
                    value.update({key: "a", "1": "b"})
                    message = self.refusal({"a": [value]})
                    self.assertIn('result["a"][0] has a non-string dict key (', message)
                    self.assertIn(named_key, message)
                    with self.assertRaises(OverBudget):
                        encode([value, "x" * 60_000], EXACT, 50_000)
        self.assertIn('result["a"]', self.refusal({"a": {7: (1, 2)}}))

    def test_keys_that_would_merge(self) -> None:
        pair, character = "\ud83d\ude00", "😀"
        for one, other in ((pair, character), (character, pair), (pair + character, character + pair)):
            self.assertIn("two dict keys that are the same", self.refusal([{one: 1, other: 2}]))
            with self.assertRaises(OverBudget):
                encode([{one: 1, other: "x" * 100}], EXACT, 64)
        self.assertEqual(encode({pair: 1, "\ud83d": 2, "\ude00": 3}, EXACT, None), '{"😀":1,"\\ud83d":2,"\\ude00":3}'.encode())

    def test_cycles(self) -> None:
        loop: List[Any] = []
        loop.append(loop)
        twice: List[Any] = []
        twice += [twice, {"again": [twice]}]
        members: Any = {"list": [0, {}]}
        members["list"][1]["back"] = members
        for value, place in ((loop, "result[0]"), (twice, "result[0]"), (members, 'result["list"][1]["back"]')):
            for budget in (None, 64, 1 << 20):
                self.assertTrue(self.refusal(value, budget=budget).startswith(place + " is a circular reference"))
        with self.assertRaises(OverBudget):
            encode([loop, "x" * 100], EXACT, 64)

    def test_numbers(self) -> None:
        self.assertIn("result[1] is nan, a non-finite float", self.refusal([0, float("nan")]))
        self.assertIn("return None or a string", self.refusal(float("inf")))
        self.assertIn("negative zero", self.refusal([1] * 200_000 + [[-0.0]], DOUBLE))
        self.assertIn('result["n"] is 9007199254740993, not exactly representable', self.refusal({"n": 2**53 + 1}, DOUBLE))
        self.assertIn("is an int of 400000 bits, not exactly", self.refusal(2**400_000 - 1, DOUBLE))

    def test_over_budget_wins(self) -> None:
        for value in (float("nan"), -0.0, 2**53 + 1, (1,), {1: 2}):
            for wide in ([value] + [0] * 40, [0] * 40 + [value], [[value], "x" * 80], {"a": value, "b": "x" * 80}, [value] * 100):
                with self.assertRaises(OverBudget):
                    encode(wide, DOUBLE, 64)
        with self.assertRaises(OverBudget):
            encode(10**400, DOUBLE, 64)


class Hostile(RefusalCase):
    """Objects that lie or that are huge."""

    def test_types_are_read_where_they_can_not_lie(self) -> None:
        called: List[str] = []

        class Meta(type):
            __name__ = "int"
            __module__ = "builtins"

            def __getattribute__(cls, name: str) -> Any:
                called.append(name)
                return type.__getattribute__(cls, name)

            def __hash__(cls) -> int:
                called.append("hash")
                return hash(int)

            def __eq__(cls, other: object) -> bool:
                called.append("eq")
                return True

            def __instancecheck__(cls, instance: object) -> bool:
                called.append("instance")
                return True

        class Liar(metaclass=Meta):
            __class__ = int  # type: ignore[assignment]

            def __getattribute__(self, name: str) -> Any:
                called.append(name)
                raise RuntimeError(name)

            def __repr__(self) -> str:
                called.append("repr")
                return "1"

            def __eq__(self, other: object) -> bool:
                called.append("eq")
                return True

            __hash__ = None  # type: ignore[assignment]

        class LyingInt(int, metaclass=Meta):
            pass

        for value, what in ((Liar(), "Liar"), (LyingInt(3), "LyingInt, a subclass of int")):
            called.clear()
            for container in (value, [value], [0] * 5000 + [value], {"a": {"b": value}}):
                self.assertIn(what + ", which", self.refusal(container))
            self.assertEqual([name for name in called if name != "instance"], [])

    def test_overridden_containers(self) -> None:
        class Hidden(dict):  # type: ignore[type-arg]
            def items(self) -> Any:
                return [("a", 1)]

            def __len__(self) -> int:
                return 0

        self.assertIn("Hidden, a subclass of dict", self.refusal([Hidden(secret=(1, 2))]))

    def test_bounded_messages(self) -> None:
        huge = "Q" * 70_000_000
        self.assertIn("QQQ…(69999940 characters)…QQQ", self.refusal(type(huge, (), {})()))
        self.assertIn("QQQ…(", self.refusal(type("C", (), {"__module__": huge})()))
        self.assertIn("QQQ…(", self.refusal({huge[:1_000_000]: {2}}))
        self.assertIn("non-string dict key", self.refusal({type(huge, (), {})(): 1}))
        self.refusal({"\0" * 100_000: {"\udc00" * 1000: {2}}})

    def test_modules_that_are_no_text(self) -> None:
        for module in (7, S("numpy"), None, object()):
            self.assertIn("is a C,", self.refusal(type("C", (), {"__module__": module})()))

    def test_deep_places(self) -> None:
        value: Any = {1, 2}
        for level in range(100_000):
            value = [value] if level % 3 else {f"key{level}": value}
        message = self.refusal(value)
        self.assertTrue(message.startswith('result["key99999"][0][0]["key99996"]'), message)
        self.assertIn("…(99984 more)…", message)
        self.assertIn('["key0"] is a set', message)


if __name__ == "__main__":
    unittest.main()
