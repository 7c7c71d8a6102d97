"""Tests of the codec's bounds: time and memory that follow the budget and not the value, and any state that a program leaves.

What could end the process, or takes a memory limit, runs in a fresh interpreter.
"""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
import unittest
from pathlib import Path
from typing import Any, Callable, List, Tuple

ROOT = str(Path(__file__).resolve().parent.parent)
sys.path.insert(0, ROOT)

from thirdrail_child.codec import DOUBLE, EXACT, OverBudget, decode, encode, string_size  # noqa: E402

MIB = 1 << 20

# Set a limit on address space, as a run has it: what the process has now and more megabytes.
LIMITED = """
import resource
def limit(mebibytes):
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + mebibytes * 2**20,) * 2)
"""


def run(program: str, timeout: float = 600) -> str:
    """Run program in a fresh interpreter, with the codec's names imported, and return what it printed."""
    source = f"import sys\nsys.path.insert(0, {ROOT!r})\nfrom thirdrail_child.codec import *\n{LIMITED}\n{program}"
    done = subprocess.run([sys.executable, "-I", "-c", source], capture_output=True, text=True, timeout=timeout)
    if done.returncode:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def peak(action: Callable[[], object]) -> int:
    """Return the most memory that Python allocated during action, in bytes beyond what it had before."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# What is over a small budget by structure or length alone. Each is made anew, since some are large.
OVER: List[Tuple[str, Callable[[], object], int]] = [
    ("list of zeros", lambda: [0] * 3_000_000, 64),
    ("list of zeros within", lambda: {"a": [[0] * 3_000_000]}, 64),
    ("dict of millions", lambda: dict.fromkeys(map(str, range(1_000_000))), 64),
    ("dict within", lambda: [dict.fromkeys(map(str, range(1_000_000)))], 64),
    ("long string", lambda: "z" * 100_000_000, 1024),
    ("long string within", lambda: {"a": ["z" * 100_000_000]}, 1024),
    ("controls", lambda: "\0" * (40 * MIB), 1024),
    ("controls by counting", lambda: "\0" * 8_000_000, 16 * MIB),
    ("controls within", lambda: ["\0" * 8_000_000], 16 * MIB),
    ("controls in a key", lambda: {"\0" * 8_000_000: 1}, 16 * MIB),
    ("surrogates", lambda: "\ud800" * 1_000_000, 2 * MIB),
    ("key of controls", lambda: {"\0" * 200: 1}, 1024),
    ("huge int", lambda: 1 << 40_000_000, 64),
    ("huge ints within", lambda: [1, {"n": -(1 << 40_000_000)}], 64),
    ("no budget left for a string", lambda: ["a"], 4),
    ("null", lambda: None, 3),
]


class Budgets(unittest.TestCase):
    """Over-budget values are refused before they cost."""

    def test_over(self) -> None:
        for title, make, budget in OVER:
            value = make()
            for numbers in (EXACT, DOUBLE):
                with self.subTest(f"{title}, {numbers}"):

                    def attempt() -> None:
                        with self.assertRaises(OverBudget) as caught:
                            encode(value, numbers, budget)
                        self.assertEqual(caught.exception.limit, budget)
                        self.assertGreater(caught.exception.size, budget)
                        self.assertIn(str(budget), str(caught.exception))
                        self.assertIn(str(caught.exception.size), str(caught.exception))

                    # Far below the text, and below the value: about what the budget allows, and the pieces in work.
                    self.assertLess(peak(attempt), 4 * budget + 6 * MIB)

    def test_sizes_without_a_copy(self) -> None:
        text = "\0" * (8 * MIB)
        self.assertLess(peak(lambda: self.assertEqual(string_size(text, 1 << 40), 48 * MIB + 2)), 4 * MIB)
        self.assertLess(peak(lambda: self.assertGreater(string_size(text, 100), 100)), MIB)

    def test_bookkeeping_is_by_depth(self) -> None:
        wide = [0] * 1_000_000
        self.assertLess(peak(lambda: encode(wide, EXACT, 2_000_001)), 8 * MIB)
        wide.append("\udc00")  # type: ignore[arg-type]
        self.assertLess(peak(lambda: encode(wide, EXACT, 2_000_020)), 8 * MIB)

    def test_shared_beyond_the_budget(self) -> None:
        value: Any = [0] * 1000
        for _ in range(40):
            value = [value] * 1000
        with self.assertRaises(OverBudget):
            encode(value, EXACT, MIB)
        self.assertLess(peak(lambda: self.assertRaises(OverBudget, encode, value, EXACT, MIB)), 64 * MIB)

    def test_five_million_in_384_mib(self) -> None:
        program = "limit(384); value = [0] * 5_000_000; data = encode(value, NUMBERS, 20 * 2**20); print(decode(data, NUMBERS) == value)"
        for numbers in (EXACT, DOUBLE):
            self.assertEqual(run(program.replace("NUMBERS", repr(numbers))), "True\n")

    def test_a_string_with_one_wide_character(self) -> None:
        program = 'limit(384); print(len(encode(["x" * 10_000_000 + "😀"] * 4, EXACT, None)))'
        self.assertEqual(run(program), "40000029\n")

    def test_shared_without_end(self) -> None:
        program = """
import thirdrail_child.codec_survey
thirdrail_child.codec_survey._NO_BUDGET = 1 << 20  # the survey gives up early, and the walk goes on
value = []
for _ in range(60):
    value = [value, value]
limit(8)
try:
    encode(value, EXACT, None)
except MemoryError:
    print("MemoryError")
"""
        self.assertEqual(run(program), "MemoryError\n")


class Depth(unittest.TestCase):
    """Depth is no limit, whatever the recursion limit and the stack are."""

    DEEP = """
def deep(depth, value=None):
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value
"""

    def test_a_million_levels(self) -> None:
        program = """
value = deep(1_000_000)
data = encode(value, EXACT, None)
back = decode(data, EXACT)
del value
print(len(data), encode(back, EXACT, len(data)) == data)
"""
        self.assertEqual(run(self.DEEP + program), "4000004 True\n")

    def test_raised_recursion_limit(self) -> None:
        program = """
sys.setrecursionlimit(10_000_000)
data = encode([deep(200_000)] + [[]] * 5000, EXACT, None)
print(encode(decode(data, EXACT), EXACT, None) == data)
"""
        self.assertEqual(run(self.DEEP + program), "True\n")

    def test_small_stack_of_a_thread(self) -> None:
        program = """
import threading
sys.setrecursionlimit(100_000)
threading.stack_size(256 * 1024)
data = encode(deep(20_000), EXACT, None)
kept = []  # CPython 3.13 itself overflows a small stack when it frees a deep value, so that is left to the main thread
def work():
    kept.append(decode(data, EXACT))
    print(encode(kept[0], EXACT, None) == data)
    print(encode(decode(encode(deep(60), EXACT, None), EXACT), EXACT, None) == encode(deep(60), EXACT, None))
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
        self.assertEqual(run(self.DEEP + program), "True\nTrue\n")

    def test_little_stack_left(self) -> None:
        program = """
value = {"a": [[[[[[1] * 2000]]]]]}
data = encode(value, EXACT, None)
results = set()
def down():
    try:
        results.add(encode(value, EXACT, None))
        results.add(encode(decode(data, EXACT), EXACT, None))
        down()
    except RecursionError:
        pass
down()
print(results == {data})
"""
        self.assertEqual(run(program), "True\n")


class Programs(unittest.TestCase):
    """What a program changes in its interpreter does not change the codec."""

    def test_int_digits_limit(self) -> None:
        program = """
number = 7**20_000
plain = encode([number], EXACT, None)
for digits in (640, 0, 5000):
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(digits)
    assert encode([number], EXACT, None) == plain and decode(plain, EXACT) == [number]
    for small in (10**639, 10**640, 10**699):
        assert encode([small, -small], EXACT, None) == b"[1" + b"0" * (len(plain_digits(small)) - 1) + b",-" + plain_digits(small) + b"]"
        assert decode(encode(small, EXACT, None), EXACT) == small
    if hasattr(sys, "get_int_max_str_digits"):
        assert sys.get_int_max_str_digits() == digits
print("same")
"""
        helper = """
def plain_digits(power):
    digits = b""
    while power:
        power, digit = divmod(power, 10)
        digits = b"%d" % digit + digits
    return digits
"""
        self.assertEqual(run(helper + program), "same\n")

    def test_decimal_context(self) -> None:
        program = """
import decimal
number = 3**200_000
expected = encode(number, EXACT, None)
for context in (decimal.getcontext(), decimal.DefaultContext, decimal.BasicContext, decimal.ExtendedContext):
    context.prec = 2
    context.Emax = 5
    context.clamp = 1
    context.capitals = 0
    context.rounding = decimal.ROUND_UP
    for signal in context.traps:
        context.traps[signal] = True
decimal.setcontext(decimal.Context())
assert encode([-number, 1.2345678901234567], EXACT, None) == b"[-" + expected + b",1.2345678901234567]"
assert decode(b"[" + expected + b"]", EXACT) == [number]
assert not any(decimal.getcontext().flags.values())
print("same")
"""
        self.assertEqual(run(program), "same\n")

    def test_changed_modules(self) -> None:
        program = """
import json, codecs, _json, itertools, operator, io, _operator, _codecs
def broken(*args, **kwargs):
    raise RuntimeError("changed by the program")
for module in (json, codecs, _json, itertools, operator, io, _operator, _codecs):
    for name in list(vars(module)):
        if not name.startswith("__"):
            setattr(module, name, broken)
value = {"a": [1, 2.5, None, "\\ud800é\\ud83d\\ude00", {"b": []}] * 500, "n": 10**5000}
data = encode(value, EXACT, None)
assert encode(decode(data, EXACT), EXACT, len(data)) == data
assert encode(encode("x", DOUBLE, 3).decode(), DOUBLE, None)
print("works")
"""
        self.assertEqual(run(program), "works\n")

    def test_changed_builtins(self) -> None:
        # The child gives its modules a private copy of builtins; here the package is loaded as it does that.
        program = """
import builtins, types
package = types.ModuleType("thirdrail_child")
package.__path__ = sys.modules["thirdrail_child"].__path__
for name in [name for name in sys.modules if name.startswith("thirdrail_child.")]:
    path = sys.modules[name].__file__
    sys.modules.pop(name)
sys.modules["thirdrail_child"] = package
private = dict(vars(builtins))
loaded = {}
def load(name):
    module = types.ModuleType(name)
    module.__builtins__ = private
    sys.modules[name] = module
    with open(package.__path__[0] + "/" + name.rpartition(".")[2] + ".py") as file:
        exec(compile(file.read(), name, "exec", dont_inherit=True), module.__dict__)
    return module
for part in ("numbers", "strings", "refusal", "survey", "fast", "walk", "read"):
    load("thirdrail_child.codec_" + part)
codec = load("thirdrail_child.codec")
encode, decode, write = codec.encode, codec.decode, sys.stdout.write
names = [name for name in vars(builtins) if not name.startswith("__")]
remove = delattr
for name in names:
    remove(builtins, name)
value = {"a": [1, 2.5, None, "\\ud800", {"b": []}] * 500, "n": 10**5000, "d": [[[]]]}
data = encode(value, "exact", None)
write("True" if decode(data, "exact") == value else "False")
try:
    encode({"x": {1, 2}}, "double", 100)
except codec.NotLossless as refusal:
    write(refusal.args[0])
"""
        self.assertEqual(run(program), 'Trueresult["x"] is a set, which is not lossless JSON; return sorted(x) or list(x)')

    def test_imports(self) -> None:
        program = """
print(sorted(name for name in set(sys.modules) & {"json", "re", "typing", "decimal", "_decimal", "ast", "math"}))
"""
        source = f"import sys\nsys.path.insert(0, {ROOT!r})\nfrom thirdrail_child.codec import *\n{program}"
        done = subprocess.run([sys.executable, "-I", "-S", "-c", source], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), ("[]\n", ""))

    def test_values_that_threads_change(self) -> None:
        program = """
import threading
value = {"rows": [[n, str(n)] for n in range(20_000)]}
stop = []
def change():
    turn = 0
    while not stop:
        turn += 1
        rows = value["rows"]
        rows[turn % 20_000] = [(1, 2), float("nan"), {1: 2}, "x", [], rows][turn % 6]
        rows[(turn + 7) % 20_000] = 0
thread = threading.Thread(target=change)
thread.start()
import json
outcomes = 0
for turn in range(10):
    try:
        json.loads(encode(value, EXACT, 1 << 20))
        outcomes += 1
    except (NotLossless, OverBudget, RuntimeError):
        outcomes += 1
stop.append(1)
thread.join()
print(outcomes)
"""
        self.assertEqual(run(program), "10\n")


if __name__ == "__main__":
    unittest.main()
