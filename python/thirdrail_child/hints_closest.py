"""Finds the names that a wrong one was most likely meant to be."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable, List, Tuple

_SHOWN = 3
# Longer names are not compared, and no more of them than this.
_LONGEST = 60
_COMPARED = 3000


def closest(name: str, candidates: Iterable[str]) -> List[str]:
    """Return the few candidates that are nearly name, the nearest first.

    Near is a slip of the keys, another way to join the same words (getPage, get-page),
    the words in another order, or, farther off, a name that has all the words and more.
    """
    if not 0 < len(name) <= _LONGEST:
        return []
    words = _words(name)
    most = max(1, len(name) // 4)
    found: List[Tuple[int, str]] = []
    for number, candidate in enumerate(candidates):
        if number >= _COMPARED:
            break
        if type(candidate) is not str or not candidate or len(candidate) > _LONGEST or candidate == name:
            continue
        distance = _distance(name.lower(), candidate.lower(), most)
        if distance > most:
            others = _words(candidate)
            if others == words:
                distance = 0
            elif len(name) > 2 and len(candidate) > 2 and (others <= words or words <= others):
                distance = most + 1
            else:
                continue
        found.append((distance, candidate))
    nearest = min(found)[0] if found else 0
    # Weak ones are worth naming only where there is no better one.
    return [candidate for distance, candidate in sorted(found) if nearest > most or distance <= most][:_SHOWN]


def _words(name: str) -> "frozenset[str]":
    """Return the words that an identifier is made of, in lower case."""
    spaced = "".join(
        " " + letter if letter.isupper() and not name[max(0, at - 1) : at].isupper() else letter if letter.isalnum() else " "
        for at, letter in enumerate(name)
    )
    return frozenset(spaced.lower().split())


def _distance(one: str, other: str, most: int) -> int:
    """Return how many slips lie between two names: a letter missing, added, wrong, or two swapped.

    Beyond most, any larger number is returned.
    """
    if one == other:
        return 0
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: List[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
