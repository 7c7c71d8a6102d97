"""Compare codec with json on the same documents, in the same run: python3 bench_codec.py [repeats].

Each line is a ratio: the time that json takes, divided by the time that codec takes with all its checks (above 1: codec is faster).
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from time import process_time
from typing import Any, Callable, List, Sequence

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from thirdrail_child.codec import DOUBLE, EXACT, decode, encode  # noqa: E402

NAMES = ["Ada", "Grace", "Zoë", "Łukasz", "王伟", "Анна", "Bob", "Marie-Claire d'Été"]


def record(number: int, random_numbers: random.Random) -> Any:
    """Return one record of the mixed document."""
    return {
        "id": number,
        "name": random_numbers.choice(NAMES) + str(number),
        "score": random_numbers.random() * 100,
        "ratio": random_numbers.choice([0.5, 1.0, 2.25, 1 / 3]),
        "active": number % 2 == 0,
        "parent": None if number % 3 else number // 3,
        "tags": [random_numbers.choice(["red", "green", "blue", "näive"]) for _ in range(number % 5)],
        "address": {
            "street": f"{number} Main St",
            "zip": f"{number % 99999:05d}",
            "at": [random_numbers.uniform(-90, 90), random_numbers.uniform(-180, 180)],
        },
    }


def mixed_document(records: int) -> Any:
    """Return a document of mixed records, the same one each time."""
    random_numbers = random.Random(1)
    return [record(number, random_numbers) for number in range(records)]


def best_times(functions: Sequence[Callable[[], object]], repeats: int, calls: int) -> List[float]:
    """Return the least CPU time of one call of each function, in seconds. They take turns, so that all meet the same machine."""
    best = [float("inf")] * len(functions)
    for _ in range(repeats):
        for index, function in enumerate(functions):
            start = process_time()
            for _ in range(calls):
                function()
            best[index] = min(best[index], (process_time() - start) / calls)
    return best


def compare(title: str, document: Any, repeats: int, calls: int = 1) -> None:
    """Print the ratios for one document."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    data = text.encode("utf-8", "backslashreplace")  # a lone surrogate as JSON spells it
    functions: List[Callable[[], object]] = [
        lambda: json.dumps(document),
        lambda: json.dumps(document, ensure_ascii=False, separators=(",", ":")),
        lambda: encode(document, EXACT, 1 << 30),
        lambda: encode(document, DOUBLE, 1 << 30),
        lambda: json.loads(data),
        lambda: decode(data, EXACT),
    ]
    dumps, compact, exact, double, loads, read = best_times(functions, repeats, calls)
    print(
        f"{title:24s} {len(data):8d} B  encode exact {dumps / exact:.2f} double {dumps / double:.2f} (of compact UTF-8 json.dumps: "
        f"{compact / exact:.2f} {compact / double:.2f}; {exact * 1e6:.1f} us)  decode {loads / read:.2f} ({read * 1e6:.1f} us)"
    )


def main() -> None:
    """Print the ratios for documents of several kinds."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print("Python", sys.version.split()[0])
    compare("mixed records", mixed_document(42_000), repeats)
    compare("mixed, few", mixed_document(20), repeats, 100)
    compare("small argument", {"query": "select 1 from users", "limit": 10, "tags": ["a", "b"], "exact": True, "to": None}, repeats, 2000)
    compare("zeros", [0] * 1_000_000, repeats)
    compare("floats", [number / 7 for number in range(300_000)], repeats)
    compare("short strings", [f"string {number}" for number in range(300_000)], repeats)
    compare("one long string", "Zoë likes \"quotes\"\n" * 200_000, repeats)
    compare("lone surrogate (careful)", mixed_document(2_000) + ["\udc80"], repeats)


if __name__ == "__main__":
    main()
