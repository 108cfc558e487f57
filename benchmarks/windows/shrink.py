"""A smaller case of which the same is said: whole files are left out first, then lines by halves, quarters and so on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .cases import Case
from .recordings import Entry, Files

Pairs = list[tuple[str, Entry]]
"""Entries with the paths of their files."""


class _Budget:
    """Asks about smaller cases, so many times."""

    def __init__(self, case: Case, holds: Callable[[Case], bool], left: int) -> None:
        self._case, self._holds = case, holds
        self.left = left

    def held(self, files: Files) -> bool:
        """Whether the same is said of these files; no, where nothing is left to ask with."""
        kept = [(path, entries) for path, entries in files if entries]
        if not kept or self.left <= 0:
            return False
        self.left -= 1
        return self._holds(self._case.with_files(kept))


def shrink(case: Case, holds: Callable[[Case], bool], budget: int) -> Case:
    """A smaller case for which ``holds`` is true, which is asked so often at most."""
    asked = _Budget(case, holds, budget)
    files = case.files
    for path, _ in case.files:
        fewer = [each for each in files if each[0] != path]
        if asked.held(fewer):
            files = fewer
    pairs = [(path, each) for path, entries in files for each in entries]
    # A simple form of ddmin (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002).
    parts = 2
    while len(pairs) > 1 and asked.left > 0:
        size = max(1, len(pairs) // parts)
        fewer_pairs = _without_parts(pairs, size, asked)
        if size == 1 and len(fewer_pairs) == len(pairs):
            break
        pairs = fewer_pairs
        parts = min(len(pairs), parts * 2)
    return case.with_files(_in_files(pairs), " (shrunk)")


def _without_parts(pairs: Pairs, size: int, asked: _Budget) -> Pairs:
    """What is left when each part of that size that is not needed has gone."""
    low = 0
    while low < len(pairs) and asked.left > 0:
        fewer = pairs[:low] + pairs[low + size :]
        if fewer and asked.held(_in_files(fewer)):
            pairs = fewer
        else:
            low += size
    return pairs


def _in_files(pairs: Sequence[tuple[str, Entry]]) -> Files:
    grouped: dict[str, list[Entry]] = {}
    for path, each in pairs:
        grouped.setdefault(path, []).append(each)
    return list(grouped.items())
