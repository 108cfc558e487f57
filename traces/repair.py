"""The smallest change of the log after which it can be explained further.

A wrong value may be noticed long after it was written, and a later, true line may be the one that cannot be explained. So every
repair is judged by how far the search gets with it, then by how small it is; the blame goes to the line that the best repair changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.traces.blame import Suspect
from assay.traces.candidates import Candidate, candidates
from assay.traces.replay import hidden_steps, reordering
from assay.traces.search.explore import Limits, Search
from assay.traces.search.path import Path

LOOKAHEAD = 40
"""How many items beyond the failure a repair is tried on."""

WINDOW = 1_000.0
"""How far from the order of time, in milliseconds, the trace is sought to go on."""

FIRST_NODES, SECOND_NODES = 60, 300
"""How many nodes the search may visit to see whether a repair helps at all, and then how far."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A repair, how many items are accounted for with it, and the path that does so."""

    candidate: Candidate
    reach: int
    path: Path | None


def best_repair(search: Search, deepest: Sequence[Path], ranked: Sequence[Suspect], budget: int) -> Chosen | None:
    """The repair that lets the trace go on furthest, the smallest of those that go equally far; None if none helps."""
    failed = deepest[0].read
    tried = (_try(one, failed + 1, FIRST_NODES, budget) for one in candidates(search, deepest, ranked))
    helpful = [one.candidate for one in tried if one.reach > failed]
    judged = [_try(one, failed + LOOKAHEAD, SECOND_NODES, budget) for one in helpful]
    return min(judged, key=_preference, default=None)


def _preference(chosen: Chosen) -> tuple[float, ...]:
    """The furthest first, then the smallest change, then the one that assumes least."""
    kind, change, distance = chosen.candidate.size
    path = chosen.path
    hidden = sum(hidden_steps(path).values()) if path is not None else 0
    return (-chosen.reach, kind, change, hidden, reordering(path) if path is not None else 0.0, distance)


def _try(candidate: Candidate, enough: int, nodes: int, budget: int) -> Chosen:
    """How far a search of so many nodes gets with a repair."""
    finding = candidate.search.run(list(candidate.start), Limits(budget, nodes, window=WINDOW), enough - candidate.gain)
    deepest = max(finding.deepest, key=lambda path: path.read, default=None)
    reach = 0 if deepest is None else deepest.read + candidate.gain
    return Chosen(candidate, min(reach, enough), deepest)
