"""Suggestions: which known name was probably meant by an unknown one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

_CLOSE = 0.72
LONGEST = 100
"""Longer names are not compared, since that takes time quadratic in their length. Two of a log may fill a line each."""


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most similar to a misspelt name, or None if none is close.

    A name that differs only in case is always taken. Ties go to the first in alphabetical order, so that the answer is
    the same in every run. Names of one or two letters resemble everything, so they are never suggested for another
    spelling; nor are names of more than ``LONGEST`` characters.
    """
    folded = name.casefold()
    best: tuple[float, str] | None = None
    for candidate in sorted(set(candidates) - {name}):
        likeness = _likeness(folded, candidate.casefold())
        if likeness >= _CLOSE and (best is None or likeness > best[0]):
            best = (likeness, candidate)
    return None if best is None else best[1]


def _likeness(name: str, candidate: str) -> float:
    if name == candidate:
        # More than any ratio, so that a name with other capitals comes before all that is merely similar.
        return 2.0
    if min(len(name), len(candidate)) < 3 or max(len(name), len(candidate)) > LONGEST:
        return 0.0
    # The ratio of two texts depends on which is the first. Without `autojunk=False` letters that are frequent in a long
    # name would not count.
    return max(SequenceMatcher(None, a, b, autojunk=False).ratio() for a, b in ((name, candidate), (candidate, name)))


def either(words: list[str]) -> str:
    """What may stand somewhere, as a phrase: of many the first ones."""
    if len(words) > 6:
        words = [*words[:5], "something similar"]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]
