"""The smallest change of the log after which more of it can be explained.

A wrong value may be noticed long after it was written, and a later, correct line may be the one without an explanation.
So every repair is ranked by how far the search gets with it, then by its size. The blame goes to the line that the best
repair changes.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import groupby

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.explain.alignment import before, cheapest_alignment
from assay.traces.explain.blame import Suspect
from assay.traces.explain.repair_candidates import (
    ADDED,
    CHANGED,
    LEFT_OUT,
    SUSPECTS_TRIED,
    SWAPPED,
    Candidate,
    SingleRepairs,
    candidates,
    dropped_at,
    values_nearby,
)
from assay.traces.observe.partial_order import files_tell_order
from assay.traces.observe.reported_actions import rare_actions, reported_actions
from assay.traces.properties.execution import hidden_steps, reordering
from assay.traces.search.dfs import Limits, TraceSearch
from assay.traces.search.path import SearchPath

LOOKAHEAD = 40
"""How many items beyond the failure a repair is tried on."""

WINDOW = 1_000.0
"""How far from the order of time, in milliseconds, the continuation is searched."""

SEVERAL = 2
"""So many lines have to miss a lost one; of one alone it is likelier that it is wrong itself."""

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
    every = sorted(candidates(search, deepest, ranked), key=_size)
    for _, group in groupby(every, key=_size):
        for candidate in group:
            # A repair that does not explain even the failed line is found out with few nodes; most candidates end here.
            if _try(candidate, failed + 1, FIRST_NODES, budget).reach <= failed:
                continue
            chosen = _try(candidate, failed + LOOKAHEAD, SECOND_NODES, budget)
            best = chosen if best is None else min(best, chosen, key=_preference)
        # Groups come by size, so no later repair can be smaller.
        if best is not None and best.complete:
            return _with_exchange(best, every, failed + LOOKAHEAD, budget)
    return _cheaper(search, deepest, ranked, budget, best)


def is_missed_by_others(
    chosen: ChosenRepair, search: TraceSearch, deepest: Sequence[SearchPath], ranked: Sequence[Suspect], budget: int
) -> bool:
    """Whether a line that is missing explains what no line that is wrong does: several lines miss it."""
    # Items are compared by identity, and a dictionary keeps them by rank, as a set would not.
    blocked = list(dict.fromkeys(each.item for each in ranked))[:SUSPECTS_TRIED]
    if chosen.candidate.size[0] != ADDED or len(blocked) < SEVERAL:
        return False
    added = chosen.candidate.start[0].move
    rare = rare_actions(search.model.plan)  # a rare event explains nearly anything
    if added is None or any(each.action in rare for each in added.taken):
        return False
    enough = deepest[0].read + LOOKAHEAD
    paths = ((next(each.path for each in ranked if each.item is item), item) for item in blocked)
    without = (_try(dropped_at(search, path, item), enough, SECOND_NODES, budget) for path, item in paths)
    return all(each.reach < chosen.reach for each in without)


def is_another_value(
    chosen: ChosenRepair, search: TraceSearch, deepest: Sequence[SearchPath], ranked: Sequence[Suspect], budget: int
) -> bool:
    """Whether another value in one line explains what no missing line does, unless that is of a rare event."""
    if chosen.candidate.size[0] != CHANGED:
        return False
    plan = search.model.plan
    lines = reported_actions(plan).keys() - rare_actions(plan)
    added = (each for each in candidates(search, deepest, ranked) if each.size[0] == ADDED and _is_of(each, lines))
    enough = deepest[0].read + LOOKAHEAD
    return all(_try(each, enough, SECOND_NODES, budget).reach < chosen.reach for each in added)


def _is_of(candidate: Candidate, actions: Set[str]) -> bool:
    """Whether a candidate adds steps of these actions alone."""
    move = candidate.start[0].move
    return move is not None and all(each.action in actions for each in move.taken)


def _with_exchange(best: ChosenRepair, every: Sequence[Candidate], enough: int, budget: int) -> ChosenRepair:
    """A repair by one line more or less, with the exchange of two lines that explains as much, if there is one."""
    repair = best.candidate.repair
    if best.candidate.size[0] not in {ADDED, LEFT_OUT}:
        return best
    others = (each for each in every if each.size[0] == SWAPPED and _try(each, enough, SECOND_NODES, budget).complete)
    other = next(others, None)
    if other is None or other.repair.event is None:
        return best
    place = other.repair.event.record.place
    text = f"{repair.text}; or {other.repair.text.replace('the line', str(place), 1)}"
    return replace(best, candidate=replace(best.candidate, repair=replace(repair, text=text)))


def _cheaper(
    search: TraceSearch,
    deepest: Sequence[SearchPath],
    ranked: Sequence[Suspect],
    budget: int,
    best: ChosenRepair | None,
) -> ChosenRepair | None:
    """The first repair of the cheapest alignment, where several repairs are needed; ``best`` if it is as cheap to go on
    from that. Of Kafka's logs none is looked for: their hidden steps are too many.
    """
    if not files_tell_order(search.model.plan):
        return best
    enough, values, item = deepest[0].read + LOOKAHEAD, values_nearby(ranked), ranked[0].item
    found = cheapest_alignment(SingleRepairs(search, values, item), before(deepest), enough, budget)
    if found is None or found.first is None:
        return best
    if best is not None:
        candidate = best.candidate
        # A fair comparison: the cost of the single repair includes what still has to be repaired after it.
        onward = SingleRepairs(candidate.search, values, candidate.item)
        left = cheapest_alignment(onward, candidate.start, enough - candidate.gain, budget)
        if left is not None and candidate.cost + left.cost <= found.cost:
            return best
    return _try(found.first, enough, SECOND_NODES, budget)


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
    # A line that is left out is not in this search's order any more, and counts as explained by the repair.
    reach = 0 if deepest is None else deepest.read + candidate.gain
    return ChosenRepair(candidate, min(reach, enough), deepest, finding.path is not None)
