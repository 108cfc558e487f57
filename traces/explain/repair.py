"""The smallest change of the log after which more of it can be explained.

A wrong value may be noticed long after it was written, and a later, correct line may be the one without an explanation.
So every repair is ranked by how far the search gets with it, then by its size. The blame goes to the line that the best
repair changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.explain.blame import Suspect
from assay.traces.explain.repair_candidates import Candidate, candidates
from assay.traces.properties.execution import hidden_steps, reordering
from assay.traces.search.dfs import Limits, TraceSearch
from assay.traces.search.path import SearchPath

LOOKAHEAD = 40
"""How many items beyond the failure a repair is tried on."""

WINDOW = 1_000.0
"""How far from the order of time, in milliseconds, the continuation is searched."""

FIRST_NODES, SECOND_NODES = 100, 400
"""How many nodes the search may visit to see whether a repair helps at all, and then how far."""


@dataclass(frozen=True, slots=True)
class ChosenRepair:
    """A repair, how many items are explained with it, and the path that explains them."""

    candidate: Candidate
    reach: int
    path: SearchPath | None
    complete: bool
    """Whether all items that were asked for are explained."""


def best_repair(
    search: TraceSearch, deepest: Sequence[SearchPath], ranked: Sequence[Suspect], budget: int
) -> ChosenRepair | None:
    """The repair with which the search gets furthest; of equal ones the smallest. None if none helps.

    Repairs are tried by size. Once one gets as far as anyone looks, larger ones are not tried.
    """
    failed = deepest[0].read
    best: ChosenRepair | None = None
    for _, group in groupby(sorted(candidates(search, deepest, ranked), key=_size), key=_size):
        for candidate in group:
            if _try(candidate, failed + 1, FIRST_NODES, budget).reach <= failed:
                continue
            chosen = _try(candidate, failed + LOOKAHEAD, SECOND_NODES, budget)
            best = chosen if best is None else min(best, chosen, key=_preference)
        if best is not None and best.complete:
            return best
    return best


def _size(candidate: Candidate) -> tuple[int, int]:
    return candidate.size[:2]


def _preference(chosen: ChosenRepair) -> tuple[float, ...]:
    """Furthest first, then the smallest change, then the fewest assumptions."""
    kind, change, distance = chosen.candidate.size
    path = chosen.path
    hidden = sum(hidden_steps(path).values()) if path is not None else 0
    return (-chosen.reach, kind, change, hidden, reordering(path) if path is not None else 0.0, distance)


def _try(candidate: Candidate, enough: int, nodes: int, budget: int) -> ChosenRepair:
    """How far a search with this many nodes gets with a repair."""
    limits = Limits(budget, nodes, window=WINDOW)
    finding = candidate.search.run(list(candidate.start), limits, enough - candidate.gain)
    deepest = max(finding.deepest, key=lambda path: path.read, default=None)
    reach = 0 if deepest is None else deepest.read + candidate.gain
    return ChosenRepair(candidate, min(reach, enough), deepest, finding.path is not None)
