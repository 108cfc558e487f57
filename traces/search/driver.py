"""Runs replay, search and SAT in turn until one decides: accepted with a path, rejected, or undecided with the
reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.options import Options
from assay.traces.search.deterministic_replay import step_through
from assay.traces.search.dfs import Limits, SearchResult, TraceSearch, wider
from assay.traces.search.path import SearchPath
from assay.traces.search.turned_ties import with_tie_turned

NEAR = (100.0, 1_000.0)
"""How far from the order of time, in milliseconds, an execution is searched first.

Nearly every log has an execution that is near this order, and a narrow search rarely leaves it.
"""

REACH = 10_000.0
"""How far it is searched at last if the clause sets no bound (``commit before line within``). A rejection holds for
this reach only.
"""

HANDOVERS = 10
"""How often the SAT solver may continue a search that a limit ended."""

OF_PARTIAL = 20
"""For logs with missing parts a search may visit this many times fewer nodes.

Where there is no execution it would visit all of them, and with parts missing a failed search proves nothing.
"""


@dataclass(frozen=True, slots=True)
class Accepted:
    """An execution explains all items."""

    path: SearchPath


@dataclass(frozen=True, slots=True)
class Rejected:
    """No execution explains all items; ``deepest`` are the paths that explain most.

    If the SAT solver decided it, ``conflict`` lists items that contradict each other, and ``deepest`` are the paths
    where the search gave up.
    """

    deepest: tuple[SearchPath, ...]
    conflict: tuple[OrderedObservation, ...] = ()
    latest: SearchPath | None = None
    """The path whose first unread item is latest. ``deepest`` may have read what comes much later."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """A limit or a hidden-step budget ended the search."""

    reason: str
    deepest: tuple[SearchPath, ...]
    latest: SearchPath | None = None
    """As for ``Rejected``."""


Conclusion = Accepted | Rejected | Undecided


def run(search: TraceSearch, beginnings: list[SearchPath], options: Options) -> Conclusion:
    """Decide whether an execution explains the trace: first by replay line by line, and by search if that does not
    reach the end.
    """
    # From several beginnings a replay would have to guess one, and its failure would say nothing of the others.
    for beginning in beginnings if len(beginnings) == 1 else ():
        stepped = step_through(search.model, search.frontier, beginning, NEAR[0])
        if stepped is not None:
            return Accepted(stepped)
    conclusion = first = search_with_budgets(search, beginnings, options)
    while options.tied and not isinstance(conclusion, Accepted):
        turned = with_tie_turned(search, conclusion.deepest[0], search.model.plan.hidden_limit)
        if turned is None:
            return first
        search, path = turned
        conclusion = search_with_budgets(search, [path], options)
    return conclusion


def search_with_budgets(search: TraceSearch, beginnings: list[SearchPath], options: Options) -> Conclusion:
    """Search within the clause's hidden-step budget, near the order of time first.

    A search with a larger budget runs only to tell whether the budget is the reason for a failure.
    """
    limits = Limits(search.model.plan.hidden_limit, options.nodes)
    if options.partial:
        nodes = max(1, options.nodes // OF_PARTIAL)
        limits = replace(limits, nodes=nodes, closure=nodes, hidden_per_node=1)
    # Where lines are missing, another state to go on from is found faster than hidden steps from the reached one.
    solver = options.solver and not options.partial
    bound = search.model.plan.ordering.commit_before_line
    ordered = len(search.frontier.order.streams) == 1  # then no window leaves an order out
    near = SearchResult()
    for window in (each for each in NEAR if not ordered and (bound is None or each < bound)):
        near = search.run(beginnings, replace(limits, window=window))
        if near.path is not None:
            return Accepted(near.path)
        # A wider window only adds nodes: after a limit it would hit the same limit.
        if near.why_stopped is not None:
            break
    # With a bound the clause itself says how late a line may be, so no reach has to be made up.
    limits = replace(limits, window=REACH if bound is None and not ordered else inf)
    conclusion = _far(search, beginnings, limits, solver=solver)
    if isinstance(conclusion, Accepted) or near.latest is None or conclusion.latest is None:
        return conclusion
    # A wide search that a limit ends may have come less far.
    deepest = max(conclusion.deepest, tuple(near.deepest), key=lambda each: each[0].read)
    latest = max(conclusion.latest, near.latest, key=search.progress)
    return replace(conclusion, deepest=deepest, latest=latest)


def _far(search: TraceSearch, beginnings: list[SearchPath], limits: Limits, *, solver: bool) -> Conclusion:
    """Search as far from the order of time as the clause allows."""
    first = search.run(beginnings, limits)
    if first.path is not None:
        return Accepted(first.path)
    if first.why_stopped is not None:
        return _past_cap(search, beginnings, limits, first) if solver else _stopped(first)
    if first.budget_reached:
        return _beyond_budget(search, beginnings, limits, first, solver=solver)
    return _nothing(search, first)


def _stopped(finding: SearchResult, *more: str) -> Undecided:
    return Undecided("; ".join((finding.why_stopped or "", *more)), tuple(finding.deepest), finding.latest)


def _contradiction(items: Sequence[OrderedObservation]) -> str:
    places = ", ".join(str(item.observation.event.record.place) for item in items)
    return f"{places} contradict each other" if len(items) > 1 else f"{places} has no explanation then"


def _past_cap(search: TraceSearch, beginnings: list[SearchPath], limits: Limits, stopped: SearchResult) -> Conclusion:
    """Continue a search that a limit ended with the SAT solver, as long as that makes progress
    (``traces.search.sat_fallback``).

    It answers ``Rejected`` only where the solver was asked about all executions from the beginning on.
    """
    from assay.traces.search import sat_fallback  # noqa: PLC0415 - few logs need the solver, which loads slowly

    found, starts = stopped, beginnings
    # From the beginning if the solver can reach beyond the obstacle: only then is its refusal one of all executions.
    # Else from one of the deepest nodes, whose refusal leaves other ones open.
    if (
        stopped.deepest[0].read > beginnings[0].read + sat_fallback.MOST_ITEMS
        or len({(each.node.cursors, each.node.hidden) for each in beginnings}) > 1
    ):
        starts = stopped.deepest[:1]
    for _ in range(HANDOVERS):
        items = sat_fallback.next_items(search, starts[0].node.cursors)
        answer = sat_fallback.solve_with_sat(search, starts, limits, items)
        if isinstance(answer, sat_fallback.Unanswered):
            return _stopped(found, answer.reason)
        if isinstance(answer, sat_fallback.Conflict):
            if starts is not beginnings or answer.unless is not None:
                unless = answer.unless or "but there may be another execution of what comes before"
                return _stopped(found, f"{_contradiction(answer.items)}, {unless}")
            return _contradicted(search, beginnings, limits, stopped, answer.items, answer.asked)
        found = search.run([answer], limits)
        if found.path is not None:
            return Accepted(found.path)
        if found.why_stopped is None:
            break
        starts = found.deepest[:1]
    return _stopped(stopped, "no execution was found by going on from one of several that a solver found")


def _contradicted(
    search: TraceSearch,
    beginnings: list[SearchPath],
    limits: Limits,
    stopped: SearchResult,
    items: Sequence[OrderedObservation],
    asked: Sequence[OrderedObservation],
) -> Conclusion:
    """Whether more hidden steps than the clause allows would resolve a contradiction among the items that the solver
    was asked about.
    """
    from assay.traces.search import sat_fallback  # noqa: PLC0415 - as above

    answer = sat_fallback.solve_with_sat(search, beginnings, replace(limits, hidden=wider(limits.hidden)), asked)
    match answer:
        case sat_fallback.Unanswered(reason):
            return _stopped(stopped, reason)
        case sat_fallback.Conflict(unless=None):
            return Rejected(tuple(stopped.deepest), answer.items)
        # Only a path through all that was asked shows that the budget was the reason.
        case SearchPath() if answer.read == beginnings[0].read + len(asked):
            return Undecided(_too_few(search, answer), tuple(stopped.deepest))
        case _:
            return _stopped(
                stopped, f"{_contradiction(items)}, unless more hidden steps than the clause allows happened"
            )


def _beyond_budget(
    search: TraceSearch, beginnings: list[SearchPath], limits: Limits, first: SearchResult, *, solver: bool
) -> Conclusion:
    def stopped(finding: SearchResult) -> Conclusion:
        return _past_cap(search, beginnings, limits, finding) if solver else _stopped(finding)

    wide = search.run(beginnings, replace(limits, hidden=wider(limits.hidden)))
    if wide.path is None:
        # The larger budget helps no line either, so the budget is not blamed. No still larger one is tried.
        return stopped(wide) if wide.why_stopped else _nothing(search, first)
    # The reductions may use more hidden steps than needed (docs/design/late-hidden-steps.md): ask once without them.
    exact = search.run(beginnings, replace(limits, reduced=False))
    if exact.path is not None:
        return Accepted(exact.path)
    if exact.why_stopped is not None:
        return stopped(exact)
    return Undecided(_too_few(search, wide.path), tuple(first.deepest))


def _too_few(search: TraceSearch, path: SearchPath) -> str:
    """The message for an execution that needs more hidden steps than the clause allows: how many, and where."""
    most, place, count = 0, "", 0
    for move in path.moves():
        count += len(move.hidden)
        if count > most and move.item is not None:
            most, place = count, str(move.item.observation.event.record.place)
        if move.item is not None and move.item.observation.names_action:
            count = 0
    budget = search.model.plan.hidden_limit
    return (
        f"the log can be explained only with {most} hidden steps before {place}; "
        f"the clause allows {budget} between two pinned events"
    )


def _nothing(search: TraceSearch, finding: SearchResult) -> Conclusion:
    # A step that overflowed was left out of the search, so its failure proves nothing.
    overflowed = sorted(search.model.overflowed)
    if overflowed:
        reason = f"the model is too small for the log: {', '.join(overflowed)} ran out"
        return Undecided(reason, tuple(finding.deepest), finding.latest)
    return Rejected(tuple(finding.deepest), latest=finding.latest)
