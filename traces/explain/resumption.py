"""How a search goes on after a finding: without a line, or with the change of the log that its repair proposes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.explain.failed_atoms import ConditionPrinter
from assay.traces.observe.partial_order import OrderedObservation, action_of
from assay.traces.result import Blame, LogViolation, Repair

if TYPE_CHECKING:
    from assay.traces.event import Event
    from assay.traces.search.dfs import TraceSearch
    from assay.traces.search.driver import Rejected, Undecided
    from assay.traces.search.path import SearchPath
    from assay.traces.windows.slice_window import WindowRefuted

CONTRADICTORY = "no execution explains all of these lines, and without any one of them there is one"
UNEXPLAINED = "no execution explains this line, whatever the others are"


@dataclass(frozen=True, slots=True)
class Resumption:
    """A violation, and the path and the streams with which the search goes on."""

    violation: LogViolation
    search: TraceSearch
    start: tuple[SearchPath, ...]
    is_near: bool = True
    """Whether its repair keeps lines near the order of their times: it does not doubt the clocks, or only by little."""
    is_lost: bool = False
    """Whether a line that is missing explains it, and several lines miss it."""
    is_another_value: bool = False
    """Whether another value in one line explains it, and no line that is missing does."""


def left_out(search: TraceSearch, resumption: Resumption) -> list[OrderedObservation]:
    """The lines that the search goes on without."""
    kept = {item.index for item in resumption.search.frontier.order.items}
    return [item for item in search.frontier.order.items if item.index not in kept]


def leave_out(search: TraceSearch, item: OrderedObservation) -> TraceSearch:
    """The search without a line."""
    order = search.frontier.order
    items = order.streams[item.stream].items
    return search.with_order(order.with_items(item.stream, (*items[: item.position], *items[item.position + 1 :])))


def without_rest(search: TraceSearch, resumption: Resumption) -> Resumption:
    """The resumption without what else the lines say that it leaves out, as far as that is not read yet. Each of it
    would be searched for anew, with no execution, and be another finding about the line."""
    # By place, not by event: one line may be several events, or several observations of one.
    gone = {each.observation.event.record.place for each in left_out(search, resumption)}
    order = resumption.search.frontier.order
    for number, stream in enumerate(order.streams):
        read = max((path.node.cursors[number] for path in resumption.start), default=0)
        later = (each for each in stream.items[read:] if each.observation.event.record.place not in gone)
        kept = (*stream.items[:read], *later)
        if len(kept) < len(stream.items):
            order = order.with_items(number, kept)
    if order is resumption.search.frontier.order:
        return resumption
    return replace(resumption, search=resumption.search.with_order(order))


def first_failed(search: TraceSearch, ended: Rejected | Undecided) -> OrderedObservation | None:
    """The line that comes next where a search ended, by its time."""
    cursors = ended.deepest[0].node.cursors
    due = search.frontier.heads(cursors).items or search.frontier.next_in_streams(cursors)
    return min(due, key=lambda item: (item.time, item.index), default=None)


def is_known(refuted: WindowRefuted, found: Sequence[LogViolation]) -> bool:
    """Whether an earlier finding says that these lines contradict each other."""
    places = {str(each.observation.event.record.place) for each in refuted.items}
    known = (each.contradiction for each in found if each.contradiction is not None)
    return any(places == {str(event.record.place) for event in each.events} for each in known)


def _is_among(event: Event, items: Sequence[OrderedObservation]) -> bool:
    return any(each.observation.event.record.place == event.record.place for each in items)


def with_window(
    search: TraceSearch,
    start: Sequence[SearchPath],
    conclusion: Rejected | Undecided,
    refuted: WindowRefuted,
    resumption: Resumption | None,
    writer: ConditionPrinter,
) -> Resumption:
    """The violation with the lines that contradict each other. A repair that blames none of them shows how to go on,
    unless it doubts the clocks. In a log without an order by times a search goes astray. Else one of them is left out.
    That clocks differ by a little is said all the same.
    """
    from assay.traces.explain.contradiction import (  # noqa: PLC0415 - few need it, and it reads rules of sentences
        contradiction_of,
        least_confirmed,
    )

    contradiction = contradiction_of(refuted, search.model.kernel, writer)
    onward = resumption
    # With doubted clocks C1 with a broker epoch that fell took 87 CPU-seconds, and without the line 7.6.
    if onward is None or onward.violation.repair.kind == "clock":
        lines = least_confirmed(refuted.items, search.frontier.order.items)
        # Without the line that fewest others confirm: it is the likeliest to be wrong, whichever was noticed.
        onward = _without_one(search, start, lines) or _without_failed(search, conclusion, lines)
        if resumption is not None and resumption.is_near:
            onward = replace(onward, violation=resumption.violation)
    is_blamed = _is_among(onward.violation.event, refuted.items)
    violation = onward.violation if is_blamed else of_contradictory(refuted.items)
    return without_rest(search, replace(onward, violation=replace(violation, contradiction=contradiction)))


def _without_one(
    search: TraceSearch, start: Sequence[SearchPath], lines: Sequence[OrderedObservation]
) -> Resumption | None:
    """The search begins again without the first of some lines that was not read where it began; None if all were."""
    for each in lines:
        # What the starts have read already can no longer be left out.
        if each.position >= max(path.node.cursors[each.stream] for path in start):
            others = [other for other in lines[::-1] if other is not each]
            return Resumption(of_contradictory([*others, each]), leave_out(search, each), tuple(start))
    return None


def _without_failed(
    search: TraceSearch, conclusion: Rejected | Undecided, lines: Sequence[OrderedObservation]
) -> Resumption:
    """The search goes on where it ended, without the line that it does not explain."""
    failed = first_failed(search, conclusion)
    search = search if failed is None else leave_out(search, failed)
    return Resumption(of_contradictory(lines[::-1]), search, conclusion.deepest[:1])


def without_last(
    search: TraceSearch, conflict: Sequence[OrderedObservation], start: Sequence[SearchPath]
) -> Resumption:
    """Lines that contradict each other are blamed together. The last one is left out, and the search begins again."""
    return Resumption(of_contradictory(conflict), leave_out(search, conflict[-1]), tuple(start))


def of_contradictory(conflict: Sequence[OrderedObservation]) -> LogViolation:
    """The violation of lines that contradict each other, the last one first."""
    *others, last = conflict
    blames = [Blame(each.observation.event, action_of(each), ()) for each in (last, *others)]
    places = ", ".join(str(each.place) for each in blames)
    text = f"{CONTRADICTORY} ({places}); the first is left out" if others else f"{UNEXPLAINED}; it is left out"
    return LogViolation(blames[0].event, blames[0].action, tuple(blames), Repair("drop", text, blames[0].event))
