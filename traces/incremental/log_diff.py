"""Which events of a growing log are new. A log file counts as known as far as it begins with the lines that it had last
time.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from assay.traces.attribution.run_events import LogEvents
from assay.traces.event import Event
from assay.traces.store.record_block import Numbers
from assay.traces.table.event_table import EventTable

_ROOM = 1 << 64
"""The distance between the ranks of two logs, so that later logs fit between them."""
_NEXT = 1 << 20
_PLACES = 32
"""Bits for the position of an event in its log."""


class Grown(NamedTuple):
    """For each event of a table, a name that stays the same while the table grows, and whether the event is new.

    ``ranks`` and ``starts`` belong to the parts of the table.
    """

    names: Numbers
    fresh: npt.NDArray[np.bool_]
    ranks: Sequence[int]
    starts: Numbers

    def orders(self, positions: Numbers) -> list[int]:
        """A number for each position, by which events keep the order of the table however it grows."""
        parts = np.searchsorted(self.starts, positions, side="right") - 1
        places = positions - self.starts[parts]
        rows = zip(parts.tolist(), places.tolist(), strict=True)
        return [self.ranks[part] << _PLACES | place for part, place in rows]


class _Part(NamedTuple):
    """A log file as it was last time, the number that names its events, and its rank among all files."""

    events: Sequence[Event]
    number: int
    rank: int


class LogDiff:
    """Compares a table of events with the table of the last call."""

    def __init__(self) -> None:
        self._parts: dict[Hashable, _Part] = {}
        self._count = 0

    def take(self, table: EventTable) -> Grown | None:
        """What is new in the table; None if known logs changed their order, and everything has to start again."""
        keys = _keys(table.parts)
        ranks = self._ranks(keys)
        if any(first >= second for first, second in pairwise(ranks)):
            return None
        found: dict[Hashable, _Part] = {}
        names, fresh = [np.empty(0, np.int64)], [np.empty(0, np.bool_)]
        for key, rank, part in zip(keys, ranks, table.parts, strict=True):
            before = self._parts.get(key)
            known = 0 if before is None or not _continues(part, before.events) else len(before.events)
            if before is None or known < len(before.events):
                self._count += 1
            number = self._count if before is None or known < len(before.events) else before.number
            found[key] = _Part(part, number, rank)
            # A changed log gets a new number and so new names: nothing known of the old events is used for it.
            places = np.arange(len(part), dtype=np.int64)
            names.append(number << _PLACES | places)
            fresh.append(places >= known)
        self._parts = found
        starts = np.cumsum([0, *map(len, table.parts)])[:-1]
        return Grown(np.concatenate(names), np.concatenate(fresh), [each.rank for each in found.values()], starts)

    def _ranks(self, keys: Sequence[Hashable]) -> list[int]:
        """Ranks in increasing order, where known logs keep theirs."""
        ranks: list[int] = []
        later = [self._parts[key].rank if key in self._parts else None for key in keys]
        after = [0] * len(keys)
        last = 0
        for at in reversed(range(len(keys))):
            after[at] = last
            # The next known log behind each place, for a new one has to be ranked before it.
            last = later[at] or last
        rank = 0
        for known, bound in zip(later, after, strict=True):
            # At least half of the room between two known logs is left for later ones. With none left `take` gives up.
            room = _ROOM if not bound else min(_NEXT, (bound - rank) // 2)
            rank = known or rank + max(1, room)
            ranks.append(rank)
        return ranks


def _keys(parts: Sequence[Sequence[Event]]) -> list[Hashable]:
    """A key for each log; equal keys are numbered."""
    seen: dict[Hashable, int] = {}
    found: list[Hashable] = []
    for part in parts:
        key = part.key if isinstance(part, LogEvents) else _key_of(part)
        seen[key] = seen.get(key, 0) + 1
        found.append((key, seen[key]))
    return found


def _key_of(part: Sequence[Event]) -> Hashable:
    return (part[0].run, part[0].sequence) if part else ()


def _continues(part: Sequence[Event], before: Sequence[Event]) -> bool:
    if isinstance(part, LogEvents):
        return isinstance(before, LogEvents) and part.continues(before)
    return not isinstance(before, LogEvents) and list(part[: len(before)]) == list(before)
