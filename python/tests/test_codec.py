"""Tests of the codec: values as canonical JSON text and back, and that its two paths agree.

Run with any Python from 3.9 on: python3 -m unittest test_codec test_codec_refusal test_codec_limits
"""

from __future__ import annotations

import json
import random
import struct
import sys
import unittest
from pathlib import Path
from typing import Any, List, Tuple
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from thirdrail_child import codec, codec_fast, codec_numbers, codec_read, codec_strings  # noqa: E402
from thirdrail_child.codec import DOUBLE, EXACT, NotLossless, decode, encode, encode_string, string_size  # noqa: E402
from thirdrail_child.codec_walk import walk  # noqa: E402

LARGEST = 1.7976931348623157e308

# value, its text in the exact profile, its text in the double profile or the reason why there is none.
NUMBERS: List[Tuple[object, str, str]] = [
    (0, "0", "0"),
    (-0, "0", "0"),
    (True, "true", "true"),
    (-1, "-1", "-1"),
    (2**53 - 1, "9007199254740991", "9007199254740991"),
    (-(2**53), "-9007199254740992", "-9007199254740992"),
    (2**53 + 1, "9007199254740993", "not exactly representable"),
    (-(2**53 + 1), "-9007199254740993", "not exactly representable"),
    (2**60, "1152921504606846976", "1152921504606846976"),
    (2**64, "18446744073709551616", "18446744073709551616"),
    (2**64 - 1, "18446744073709551615", "not exactly representable"),
    (10**22, "1" + "0" * 22, "1" + "0" * 22),
    (10**23, "1" + "0" * 23, "not exactly representable"),
    (2**1023, str(2**1023), str(2**1023)),
    (2**1024 - 2**971, str(2**1024 - 2**971), str(2**1024 - 2**971)),
    (2**1024 - 1, str(2**1024 - 1), "not exactly representable"),
    (2**1024, str(2**1024), "not exactly representable"),
    (10**400, "1" + "0" * 400, "not exactly representable"),
    (0.0, "0.0", "0"),
    (-0.0, "-0.0", "negative zero"),
    (5.0, "5.0", "5"),
    (-5.0, "-5.0", "-5"),
    (0.5, "0.5", "0.5"),
    (98.6, "98.6", "98.6"),
    (1e-4, "0.0001", "0.0001"),
    (1e-5, "1e-05", "0.00001"),
    (-1.5e-5, "-1.5e-05", "-0.000015"),
    (1e-6, "1e-06", "0.000001"),
    (1.25e-6, "1.25e-06", "0.00000125"),
    (1e-7, "1e-07", "1e-7"),
    (1.5e-7, "1.5e-07", "1.5e-7"),
    (-3.5e-9, "-3.5e-09", "-3.5e-9"),
    (1e-10, "1e-10", "1e-10"),
    (5e-324, "5e-324", "5e-324"),
    (123456789.0, "123456789.0", "123456789"),
    (1e15, "1000000000000000.0", "1000000000000000"),
    (1e16, "1e+16", "10000000000000000"),
    (123456789012345680.0, "1.2345678901234568e+17", "123456789012345680"),
    (1e21, "1e+21", "1000000000000000000000"),
    (1e300, "1e+300", str(int(1e300))),
    (LARGEST, "1.7976931348623157e+308", str(int(LARGEST))),
    (float("nan"), "non-finite", "non-finite"),
    (float("inf"), "non-finite", "non-finite"),
    (float("-inf"), "non-finite", "non-finite"),
]

# A string and the size of its canonical text.
STRING_SIZES: List[Tuple[str, int]] = [
    ("", 2),
    ("a", 3),
    ("\0", 8),
    ("\x1f", 8),
    ("\b", 4),
    ("\t", 4),
    ("\n", 4),
    ("\f", 4),
    ("\r", 4),
    ('"', 4),
    ("\\", 4),
    ("\x7f", 3),
    ("/", 3),
    ("<>&", 5),
    ("\u2028", 5),
    ("é", 4),
    ("中", 5),
    ("😀", 6),
    ("\ud800", 8),
    ("\udfff", 8),
    ("\ud83d\ude00", 6),
    ("\ude00\ud83d", 14),
    ("\ud83d\ud83d\ude00", 12),
    ("p\udfffq", 10),
]


def reference_string(text: str) -> bytes:
    """Return text as canonical JSON, one code point at a time, as DESIGN 4 says it."""
    short = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
    out: List[str] = []
    position = 0
    while position < len(text):
        character = text[position]
        position += 1
        if character in short:
            out.append(short[character])
        elif character < " ":
            out.append(f"\\u{ord(character):04x}")
        elif "\ud800" <= character <= "\udbff" and "\udc00" <= text[position : position + 1] <= "\udfff":
            out.append(chr(0x10000 + ((ord(character) - 0xD800) << 10) + ord(text[position]) - 0xDC00))
            position += 1
        elif "\ud800" <= character <= "\udfff":
            out.append(f"\\u{ord(character):04x}")
        else:
            out.append(character)
    return ('"' + "".join(out) + '"').encode()


def same(one: object, other: object) -> bool:
    """Tell whether two values are the same in type, order and every bit, without recursion."""
    pending: List[Tuple[Any, Any]] = [(one, other)]
    while pending:
        a, b = pending.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, float):
            if struct.pack("<d", a) != struct.pack("<d", b):
                return False
        elif isinstance(a, list):
            if len(a) != len(b):
                return False
            pending.extend(zip(a, b))
        elif isinstance(a, dict):
            if list(a) != list(b):
                return False
            pending.extend(zip(a.values(), b.values()))
        elif a != b:
            return False
    return True


class Values:
    """Random values, mostly ordinary ones."""

    def __init__(self, seed: int, odd: bool) -> None:
        self.random = random.Random(seed)
        self.odd = odd

    def string(self) -> str:
        pick = self.random.random()
        if pick < 0.5:
            return self.random.choice(["", "a", "id", "name", "v1.0, or 2.0]", "x" * 300, "e-05", "tab\t", "quote\"back\\"])
        pools = ["abc.0,]}", "\0\x01\x1f\n\r\t\b\f\"\\/\x7f", "éß", "中文\u2028", "😀🎉"] + (["\ud83d\ude00\udfff"] if self.odd else [])
        return "".join(self.random.choice(self.random.choice(pools)) for _ in range(self.random.randrange(12)))

    def number(self) -> object:
        pick = self.random.randrange(8)
        if pick < 3:
            return self.random.randrange(-1000, 1000)
        if pick == 3:
            return self.random.randrange(-(2**53), 2**53)
        if pick == 4:
            return self.random.randrange(-100, 100) / 4
        if pick == 5:
            return self.random.uniform(-1, 1)
        if not self.odd:
            return float(self.random.randrange(1, 100))
        if pick == 6:
            return self.random.choice([-1, 1]) * self.random.getrandbits(self.random.choice([54, 64, 1023, 1100, 3000, 15_000]))
        return struct.unpack("<d", self.random.getrandbits(64).to_bytes(8, "little"))[0]

    def value(self, depth: int) -> object:
        pick = self.random.randrange(10)
        if depth and pick < 3:
            return [self.value(depth - 1) for _ in range(self.random.randrange(7))]
        if depth and pick < 6:
            return {self.string(): self.value(depth - 1) for _ in range(self.random.randrange(7))}
        if pick < 7:
            return self.random.choice([None, True, False])
        return self.number() if pick < 9 else self.string()


def attempt(encoder: Any, *arguments: Any) -> object:
    """Return what encoder gives, or its refusal as text."""
    try:
        return encoder(*arguments)
    except NotLossless as refusal:
        return str(refusal)


class Numbers(unittest.TestCase):
    """Each number under each profile: alone, in a small container (looked at one by one), and in a large one (surveyed)."""

    def check(self, value: object, numbers: str, expected: str) -> None:
        for before, after in ((0, 0), (1, 1), (2000, 1)):
            container: Any = [7] * before + [value] + [7] * after if before else value
            if not (expected[-1].isdigit() or expected == "true"):
                with self.assertRaises(NotLossless) as caught:
                    encode(container, numbers, 1 << 20)
                self.assertIn(expected, str(caught.exception))
                self.assertIn("lossless JSON", str(caught.exception))
                continue
            text = "[" + "7," * before + expected + ",7" * after + "]" if before else expected
            self.assertEqual(encode(container, numbers, len(text)), text.encode())
            self.assertEqual(encode(container, numbers, None), text.encode())
            with self.assertRaises(codec.OverBudget):
                encode(container, numbers, len(text) - 1)

    def test_exact(self) -> None:
        for value, exact, _ in NUMBERS:
            with self.subTest(exact):
                self.check(value, EXACT, exact)

    def test_double(self) -> None:
        for value, exact, double in NUMBERS:
            with self.subTest(exact):
                self.check(value, DOUBLE, double)

    def test_every_double_comes_back(self) -> None:
        bits = random.Random(3)
        floats = [struct.unpack("<d", bits.getrandbits(64).to_bytes(8, "little"))[0] for _ in range(20_000)]
        floats += [10.0**power * sign for power in range(-323, 309) for sign in (1, -1)]
        floats = [number for number in floats if number - number == 0]
        self.assertTrue(same(decode(encode(floats, EXACT, None), EXACT), floats))
        back = decode(encode(floats, DOUBLE, None), DOUBLE)
        assert isinstance(back, list)
        self.assertEqual([float(number) for number in back], floats)
        for number, sent in zip(floats, back):
            self.assertIs(type(sent), int if number.is_integer() else float)

    def test_points_in_strings_are_data(self) -> None:
        for text in ("1.0,", "2.0]", "3.0}", "x.0,.0]"):
            value = [{"n": 1.0, "s": text, text: [2.0]}] * 100
            expected = json.dumps([{"n": 1, "s": text, text: [2]}] * 100, separators=(",", ":")).encode()
            self.assertEqual(encode(value, DOUBLE, None), expected)

    def test_long_integers(self) -> None:
        for number in (10**512, 10**512 - 1, 10**5000 + 7, -(7**30_000), 3**100_000, 10**60_000, 10**60_000 - 1):
            data = encode([number], EXACT, None)
            self.assertEqual(decode(data, EXACT), [number])
            self.assertEqual(decode(b" " + data, EXACT), [number])
        self.assertEqual(encode(10**20_000, EXACT, None), b"1" + b"0" * 20_000)
        self.assertEqual(encode([-(10**60_000) + 1], EXACT, None), b"[-" + b"9" * 60_000 + b"]")

    def test_long_integers_without_decimal(self) -> None:
        number = -(7**70_000)
        fast = encode(number, EXACT, None)
        with mock.patch.object(codec_numbers, "_decimal_context", lambda: None):
            self.assertEqual(encode(number, EXACT, None), fast)

    def test_digits_at_least(self) -> None:
        for number in [0, 1, -1, 9, 10, 99, 100] + [10**power + delta for power in (3, 20, 600) for delta in (-1, 0, 1)]:
            bound = codec_numbers.digits_at_least(number)
            self.assertLessEqual(bound, len(str(number)))
            self.assertGreaterEqual(bound, len(str(number)) - 1)

    def test_fits_double(self) -> None:
        bits = random.Random(4)
        for _ in range(5000):
            number = bits.getrandbits(bits.randrange(1, 1100)) >> bits.randrange(60) << bits.randrange(60)
            try:
                expected = int(float(number)) == number
            except OverflowError:
                expected = False
            self.assertEqual(codec_numbers.fits_double(number), expected, number)


class Strings(unittest.TestCase):
    """Canonical text and sizes of strings."""

    def test_sizes(self) -> None:
        for text, size in STRING_SIZES:
            with self.subTest(ascii(text)):
                self.assertEqual(len(encode_string(text)), size)
                self.assertEqual(string_size(text, size), size)
                self.assertGreaterEqual(string_size(text, size - 1), size)
                self.assertEqual(encode(text, EXACT, size), reference_string(text))
                with self.assertRaises(codec.OverBudget):
                    encode(text, EXACT, size - 1)
                self.assertEqual(encode({text: [text]}, EXACT, None), b"{%s:[%s]}" % ((reference_string(text),) * 2))

    def test_every_code_point(self) -> None:
        text = "".join(map(chr, range(0x10000))) + "".join(map(chr, range(0x10000, 0x110000, 251)))
        expected = reference_string(text)
        self.assertEqual(encode_string(text), expected)
        self.assertEqual(encode(text, EXACT, None), expected)
        self.assertEqual(encode([text], EXACT, None), b"[" + expected + b"]")
        self.assertEqual(string_size(text, 1 << 30), len(expected))
        self.assertEqual(decode(expected, EXACT), codec_strings.fold(text))

    def test_pairs_across_pieces(self) -> None:
        for shift in range(3):
            text = "x" * shift + "\ud83d\ude00" * codec_strings.LONG_STRING
            expected = b'"' + b"x" * shift + "😀".encode() * codec_strings.LONG_STRING + b'"'
            self.assertEqual(encode_string(text), expected)
            self.assertEqual(encode([text], EXACT, len(expected) + 2), b"[" + expected + b"]")
            self.assertEqual(string_size(text, 1 << 30), len(expected))
        alone = "\ud83d" * (codec_strings.LONG_STRING + 5)
        self.assertEqual(encode_string(alone), b'"' + b"\\ud83d" * len(alone) + b'"')

    def test_without_json_module(self) -> None:
        text = "".join(map(chr, range(0x3000)))
        self.assertEqual(codec_strings._quote_by_table(text), codec_strings.quote(text))

    def test_a_subclass_can_not_hide_its_text(self) -> None:
        class Liar(str):
            def __len__(self) -> int:
                return 0

            def __str__(self) -> str:
                return ""

            def __getitem__(self, _: Any) -> str:
                return ""

        self.assertEqual(encode_string(Liar("abc")), b'"abc"')
        self.assertGreater(string_size(Liar("a" * 100), 50), 50)


class Shapes(unittest.TestCase):
    """Containers."""

    def test_sizes(self) -> None:
        self.assertEqual(encode([1, "x", None], EXACT, 12), b'[1,"x",null]')
        with self.assertRaises(codec.OverBudget) as caught:
            encode([1, "x", None], EXACT, 11)
        self.assertEqual((caught.exception.limit, caught.exception.size), (11, 12))
        self.assertEqual(encode("a" * 32766, EXACT, 32768), b'"' + b"a" * 32766 + b'"')

    def test_empty(self) -> None:
        for value in ([], {}, [[]], [{}], {"": {}}, {"": []}, [[], {}, [[]]], [[]] * 2000, {"a": [], "b": {}}):
            text = json.dumps(value, separators=(",", ":")).encode()
            self.assertEqual(encode(value, EXACT, len(text)), text)
            self.assertEqual(walk(value, False, len(text), "result"), text)

    def test_shared(self) -> None:
        shared = [1]
        self.assertEqual(encode([shared, shared, {"k": shared}], EXACT, None), b'[[1],[1],{"k":[1]}]')
        self.assertEqual(walk([shared, shared, {"k": shared}], False, None, "result"), b'[[1],[1],{"k":[1]}]')

    def test_wide(self) -> None:
        for value in ([0] * 300_000, {str(n): n for n in range(100_000)}, {"rows": [{"n": n} for n in range(5000)], "of": 5000}):
            text = json.dumps(value, separators=(",", ":")).encode()
            self.assertEqual(encode(value, EXACT, len(text)), text)
            with self.assertRaises(codec.OverBudget):
                encode(value, EXACT, len(text) - 1)
            self.assertTrue(same(decode(text, EXACT), value))

    def test_each_width_around_a_slice(self) -> None:
        for width in (0, 1, codec_fast._SLICE - 1, codec_fast._SLICE, codec_fast._SLICE + 1, 2 * codec_fast._SLICE):
            for value in (["x" * 40] * width, {"a": ["x" * 40] * width, "b": "y" * 2000}, {str(n): ["x" * 40] for n in range(width)}):
                text = json.dumps(value, separators=(",", ":")).encode()
                self.assertEqual(encode(value, EXACT, len(text)), text)

    def test_deep(self) -> None:
        for depth in (1, 62, 63, 64, 65, 1000, 12_000, 100_000):
            value: Any = None
            for level in range(depth):
                value = [value, 1.5] if level % 2 else {"k": value}
            data = encode(value, EXACT, None)
            back = decode(data, EXACT)
            self.assertTrue(same(back, value))
            self.assertEqual(encode(back, EXACT, len(data)), data)


class Paths(unittest.TestCase):
    """The fast and the careful path give the same."""

    def test_encoders_agree(self) -> None:
        for seed in range(150):
            value = [Values(seed, odd=seed % 2 == 0).value(5) for _ in range(1 + seed % 5 * 20)]
            for numbers in (EXACT, DOUBLE):
                fast, careful = attempt(encode, value, numbers, None), attempt(walk, value, numbers == DOUBLE, None, "result")
                self.assertEqual(fast, careful, seed)
                if isinstance(careful, bytes):
                    self.assertEqual(encode(value, numbers, len(careful)), careful)
                    with self.assertRaises(codec.OverBudget):
                        encode(value, numbers, len(careful) - 1)
                    with self.assertRaises(codec.OverBudget):
                        walk(value, numbers == DOUBLE, len(careful) - 1, "result")

    def test_the_fast_path_is_taken(self) -> None:
        for seed in range(1, 100, 2):
            value = [Values(seed, odd=False).value(4) for _ in range(200)]
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
            self.assertEqual(codec_fast.encode_ordinary(value, False, len(text), "result"), text)

    def test_exact_agrees_with_json(self) -> None:
        for seed in range(1, 200, 2):
            value = Values(seed, odd=False).value(6)
            self.assertEqual(encode(value, EXACT, None), json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())

    def test_without_json_module(self) -> None:
        values = [Values(seed, odd=False).value(5) for seed in range(40)]
        expected = encode(values, DOUBLE, None)
        with mock.patch.object(codec_fast, "_encoder", None), mock.patch.object(codec, "_scan", None):
            self.assertEqual(encode(values, DOUBLE, None), expected)
            self.assertTrue(same(decode(encode(values, EXACT, None), EXACT), values))
            scanners: Any = {"scan_scalar": codec_read._scan_scalar, "scan_string": codec_read._scan_string}
            with mock.patch.multiple(codec_read, **scanners):
                self.assertTrue(same(decode(encode(values, EXACT, None), EXACT), values))

    def test_round_trip(self) -> None:
        for seed in range(1, 300, 2):
            value = Values(seed, odd=False).value(6)
            self.assertTrue(same(decode(encode(value, EXACT, None), EXACT), value))
            self.assertTrue(same(codec_read.read(encode(value, EXACT, None).decode()), value))


class Decode(unittest.TestCase):
    """Text from the host."""

    def test_values(self) -> None:
        cases: List[Tuple[bytes, object]] = [
            (b"null", None),
            (b" true ", True),
            (b"\n[ false , 1 ]\r\n", [False, 1]),
            (b'{ "a" : { } , "b" : [ ] }', {"a": {}, "b": []}),
            (b"3", 3),
            (b"3.0", 3.0),
            (b"-0", 0),
            (b"-0.0", -0.0),
            (b"1e2", 100.0),
            (b"1e-400", 0.0),
            (b"18446744073709551616", 2**64),
            (b'"\\ud83d\\ude00"', "😀"),
            (b'"\\ud800"', "\ud800"),
            (b'"\\udfff\\ud800x"', "\udfff\ud800x"),
            (b'"\\b\\t\\n\\f\\r\\"\\\\\\/\\u0000"', '\b\t\n\f\r"\\/\0'),
            ("\"é中😀\"".encode(), "é中😀"),
            (b'"123"', "123"),
            (b'{"":1}', {"": 1}),
        ]
        for text, value in cases:
            with self.subTest(text):
                self.assertTrue(same(decode(text, EXACT), value))
                self.assertTrue(same(codec_read.read(text.decode()), value))
                with mock.patch.multiple(codec_read, scan_scalar=codec_read._scan_scalar, scan_string=codec_read._scan_string):
                    self.assertTrue(same(codec_read.read(text.decode()), value))

    def test_not_json(self) -> None:
        for text in (b"", b" ", b"[", b"[1", b"[1,", b"[1,]", b"[,]", b"[1}", b'{"a"}', b'{"a":}', b'{"a":1,}', b"{1:2}", b"]", b"1 2",
                     b"NaN", b"[Infinity]", b"-Infinity", b"nul", b'"a', b'"\\', b"\xff", b'"\xed\xa0\x80"', b"+1", b"--1"):
            with self.subTest(text), self.assertRaises(ValueError):
                decode(text, EXACT)
            scanners: Any = {"scan_scalar": codec_read._scan_scalar, "scan_string": codec_read._scan_string}
            with self.subTest(text), mock.patch.multiple(codec_read, **scanners), mock.patch.object(codec, "_scan", None):
                with self.assertRaises(ValueError):
                    decode(text, EXACT)

    def test_long_string(self) -> None:
        text = 'x"\\\n' * (1 << 20)
        data = encode(text, EXACT, None)
        self.assertEqual(decode(data, EXACT), text)
        self.assertEqual(codec_read._scan_string(data.decode(), 1), (text, len(data)))

    def test_shallow(self) -> None:
        few = codec._FEW_BRACKETS
        for text, shallow in (
            ("[[]]", True),
            ("[" * few + "]" * few, True),
            ("[[1,{}]," * 100 + "0" + "]" * 100, False),
            ("[" + '["[",{"a":"{"}],' * few + "0]", True),
            ("[" + '"\\"[",' * few + "[]]", True),
            ("[" + '"\\\\","[",' * few + "[]]", True),
            ('["]",' * 500 + '["]"' + ',"["]' * 500 + "]", False),
            ("[" * 200 + '"' + "]" * 200 + '"' + "]" * 200, False),
        ):
            with self.subTest(text[:40]):
                self.assertEqual(codec._is_shallow(text.encode()), shallow)


if __name__ == "__main__":
    unittest.main()
