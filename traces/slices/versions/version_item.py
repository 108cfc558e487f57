"""The lines that state one number as one item of a search: a step that all of them allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.traces.explain.blame import Suspect, as_blame, obstacles_of
from assay.traces.explain.failed_atoms import ConditionPrinter
from assay.traces.explain.mismatch import BLAMES_KEPT, NO_REPAIR, resume, without_candidate
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.result import Blame, LogViolation, Repair
from assay.traces.search.dfs import TraceSearch
from assay.traces.search.driver import Rejected
from assay.traces.search.path import SearchPath
from assay.traces.search.transition_system import Consumed, TraceModel
from assay.traces.slices.versions.version_history import by_time


@dataclass(frozen=True, slots=True, eq=False)
class WrittenItem(OrderedObservation):
    """One of the lines that state one number; ``others`` are the rest of them, and say of the same step what they say. So many steps before it are
    told of by no line (``unseen``). Those of the lines with the indices ``late`` may have been written any time after it.
    """

    others: tuple[OrderedObservation, ...] = ()
    unseen: int = 0
    late: frozenset[int] = frozenset()


def has_several(item: OrderedObservation) -> bool:
    """Whether an item stands for several lines."""
    return isinstance(item, WrittenItem) and bool(item.others)


def is_late(line: OrderedObservation, item: OrderedObservation) -> bool:
    """Whether a line of an item may have been written any time after what it reports."""
    return isinstance(item, WrittenItem) and line.index in item.late


def lines_of(item: OrderedObservation) -> tuple[OrderedObservation, ...]:
    """All lines that an item stands for."""
    return (item, *item.others) if isinstance(item, WrittenItem) else (item,)


class WrittenModel(TraceModel):
    """A model in which a step that several lines report is one that all of them allow."""

    def at_once(self, item: OrderedObservation, state: int) -> Consumed:
        """The ways of an item by itself, without hidden steps or the other lines of its step."""
        return super()._consume(item, state)

    def agreed(self, item: OrderedObservation, state: int) -> Consumed:
        """The ways of an item that its other lines allow too, without hidden steps."""
        ways = self.at_once(item, state)
        for other in item.others if isinstance(item, WrittenItem) else ():
            if other.observation.pinned:
                ends = {after for after, _ in self.at_once(other, state)} if ways else set()
                ways = tuple(way for way in ways if way[0] in ends)
            else:
                ways = tuple(way for way in ways if self.at_once(other, way[0]))
        return ways

    def _consume(self, item: OrderedObservation, state: int) -> Consumed:
        return self.agreed(item, state)

    def _can_stay(self, item: OrderedObservation, state: int) -> bool:
        if isinstance(item, WrittenItem):
            return any(after == state for after, _ in self.consume(item, state))
        return super()._can_stay(item, state)


def mismatch(
    search: TraceSearch, rejected: Rejected, start: Sequence[SearchPath], writer: ConditionPrinter
) -> LogViolation:
    """Who is to blame where there is no execution: a line that says something else than the others of its step, or no step of what could come next."""
    for path in rejected.deepest:
        for item in search.frontier.heads(path.node.cursors).items:
            for odd in _odd_lines(search.model, item, path):
                blame = as_blame(odd, writer)
                return LogViolation(blame.event, blame.action, (blame,), Repair("none", NO_REPAIR, blame.event))
    again = resume(search, rejected, list(start), writer)
    if again is not None:
        return again.violation
    left = search.frontier.next_in_streams(rejected.deepest[0].node.cursors)
    requires = search.frontier.order.requires
    for item in left:
        if item.index in requires.get(item.index, ()):
            return _untimely(item)
    return without_candidate(search, rejected)


def _untimely(item: OrderedObservation) -> LogViolation:
    """The violation of a step whose lines contradict each other in when it was; the last of them is blamed first."""
    lines = sorted(lines_of(item), key=by_time, reverse=True)
    places = ", ".join(str(line.observation.event.record.place) for line in reversed(lines))
    text = f"{places} tell of one step, and the clause's order leaves no time for it"
    action = item.observation.rule.steps[0][0].action
    blame = tuple(Blame(line.observation.event, action, ()) for line in lines[:BLAMES_KEPT])
    return LogViolation(blame[0].event, action, blame, Repair("none", text, blame[0].event))


def _odd_lines(model: TraceModel, item: OrderedObservation, path: SearchPath) -> Iterator[Suspect]:
    """The lines of a step that disagree with it where the first says that it can come."""
    if not isinstance(item, WrittenItem) or not isinstance(model, WrittenModel):
        return
    for after, taken in model.at_once(item, path.node.state):
        for other in item.others:
            state = path.node.state if other.observation.pinned else after
            obstacles = min((each for _, each in obstacles_of(model, other, state)), key=len, default=[])
            if obstacles:
                yield Suspect(other, taken[-1].action if taken else "observe", tuple(obstacles), 0, path)
