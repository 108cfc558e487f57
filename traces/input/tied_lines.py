"""In which order the lines of one millisecond stand in a file.

``tac`` and Loki reverse all lines. A search that sorts by time alone (Kibana) leaves those of equal time as they were
written. Where its index has several shards they stand in any order. Kinds of lines that follow each other at different
times tell which it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from assay.grammar.identity_memo import IdentityMemo
from assay.traces.store.matched_record import MatchedRecord
from assay.traces.store.packed_records import PackedRecords
from assay.traces.store.record_block import Numbers
from assay.traces.store.record_layouts import RecordLayout

UNORDERED_TIES = "lines in no order"
"""The kind of a notice that lines of one time were put into the order that is usual."""

SAMPLE = 2_000
"""Of so many records of each log it is determined whether lines of one time are in order."""

NEAR_LINES, NEAR_MS = 6, 1_000
"""Lines at most so many lines and milliseconds apart tell which kind of lines comes first."""

SEEN = 3
"""So often a kind must have come before another one."""

TURNED = 0.1
"""At most so often, as a share of that, it may have come after it."""

PAIRS, TIES = 5, 3
"""So many pairs of kinds must have so many ties each, in logs that are judged."""

WRONG, TURNED_PAIRS = 0.2, 0.6
"""From this share of wrong ties on a pair counts as turned, and from that share of turned pairs on the ties have no order.
Of natural logs up to 0.31 of the pairs are turned, of shuffled ones at least 0.78 (21 and 7 recordings).
"""


class UsualOrder:
    """Which kinds of lines come before which others in some logs."""

    def __init__(self, logs: Sequence[PackedRecords]) -> None:
        codes: dict[str, int] = {}
        self._kinds = IdentityMemo((matches, _numbered(matches, codes)) for matches in logs)
        self._logs = logs
        self._adjacent = self._counted([1])
        self._near: dict[tuple[int, int], int] = {}

    def is_kept(self, logs: Iterable[PackedRecords]) -> bool:
        """Whether lines of one millisecond stand in the usual order, as far as it is known; else they stand in none."""
        # By pairs, not by ties: in a natural log one pair may stand in the other order a hundred times.
        known = [wrong for wrong in self._ties(logs) if len(wrong) >= TIES]
        turned = sum(sum(wrong) >= WRONG * len(wrong) for wrong in known)
        return len(known) < PAIRS or turned < TURNED_PAIRS * len(known)

    def is_reversed(self, logs: Iterable[PackedRecords]) -> bool:
        """Whether lines of one millisecond stand in the reverse of the usual order."""
        known = self._ties(logs)
        return sum(2 * sum(wrong) > len(wrong) for wrong in known) > len(known) / 2

    def _ties(self, logs: Iterable[PackedRecords]) -> list[list[bool]]:
        """For each pair of kinds with a usual order, of each tie of them whether it stands the other way."""
        ties: dict[tuple[int, int], list[bool]] = {}
        for matches in logs:
            # Within a second any kind may come before any other, so whole seconds tell nothing.
            if not (matches.known_times % 1_000).any():
                continue
            pairs, gaps = _pairs(matches.times, self._kinds[matches], 1)
            for one, other in pairs[gaps == 0].tolist():
                for pair in ((one, other), (other, one)):
                    if _is_usual(self._adjacent, *pair):
                        ties.setdefault(pair, []).append(pair != (one, other))
        return list(ties.values())

    def positions(self, matches: PackedRecords) -> Numbers:
        """The positions of the records, those of one millisecond in the usual order. Where none is known they stay."""
        before = self._near = self._near or self._counted(range(1, NEAR_LINES + 1))
        kinds = self._kinds[matches].tolist()
        found: list[int] = []
        # Only lines of one time change places: the order of times stays as the file has it.
        for group in np.split(np.arange(len(matches)), np.flatnonzero(np.diff(matches.times)) + 1):
            rest = group.tolist()
            while rest:
                # Where lines are in a circle the first one of the file breaks it.
                free = (at for at in rest if not any(_is_usual(before, kinds[each], kinds[at]) for each in rest))
                found.append(next(free, rest[0]))
                rest.remove(found[-1])
        return np.array(found, np.int64)

    def _counted(self, distances: Iterable[int]) -> dict[tuple[int, int], int]:
        """How often a kind of lines came so many lines before another one, at a different time."""
        found: dict[tuple[int, int], int] = {}
        for distance in distances:
            for matches in self._logs:
                pairs, gaps = _pairs(matches.times, self._kinds[matches], distance)
                # As single numbers: to sort rows takes ten times as long.
                codes, counts = np.unique((pairs @ [1 << 32, 1])[(gaps > 0) & (gaps <= NEAR_MS)], return_counts=True)
                for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
                    pair = divmod(code, 1 << 32)
                    found[pair] = found.get(pair, 0) + count
        return found


def _numbered(matches: PackedRecords, codes: dict[str, int]) -> Numbers:
    """A number for each record by the patterns that it matches; new ones are added to ``codes``."""
    names = matches.evaluate(_patterns_of_match, _patterns_of_layout, np.object_)
    return np.array([codes.setdefault(name, len(codes)) for name in names.tolist()], np.int64)


def _patterns_of_match(match: MatchedRecord) -> str:
    return " ".join(each.pattern.name for each in match.matches)


def _patterns_of_layout(layout: RecordLayout) -> str:
    return " ".join(each.pattern.name for each in layout.template_match.field_layouts)


def _pairs(times: Numbers, kinds: Numbers, distance: int) -> tuple[Numbers, Numbers]:
    """The kinds of lines so many lines apart that are of different kinds, and the milliseconds between them."""
    differ = kinds[:-distance] != kinds[distance:]
    pairs = np.stack((kinds[:-distance], kinds[distance:]), axis=1)
    return pairs[differ], (times[distance:] - times[:-distance])[differ]


def _is_usual(before: dict[tuple[int, int], int], one: int, other: int) -> bool:
    count = before.get((one, other), 0)
    return count >= SEEN and before.get((other, one), 0) <= TURNED * count
