"""The lines of one version as one item of a search: a step that agrees with all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.explain.blame import Suspect, as_blame, obstacles_of
from assay.traces.explain.failed_atoms import ConditionPrinter
from assay.traces.explain.mismatch import BLAMES_KEPT, NO_REPAIR, resume, without_candidate
from assay.traces.observe.partial_order import OrderedObservation, by_time
from assay.traces.result import Blame, LogViolation, Repair
from assay.traces.search.dfs import TraceSearch
from assay.traces.search.driver import Rejected
from assay.traces.search.path import SearchPath
from assay.traces.search.transition_system import Consumed, TraceModel


@dataclass(frozen=True, slots=True, eq=False)
class WrittenItem(OrderedObservation):
    """A merged observation: one of the lines of a version; ``others`` are the rest.

    ``unseen`` steps before it have no line. Lines with an index in ``late`` may have been written at any time after it.
    """

    others: tuple[OrderedObservation, ...] = ()
    unseen: int = 0
    late: frozenset[int] = frozenset()


def has_several(item: OrderedObservation) -> bool:
    """Whether an item stands for several lines."""
    return isinstance(item, WrittenItem) and bool(item.others)


def is_late(line: OrderedObservation, item: OrderedObservation) -> bool:
    """Whether a line of an item may have been written at any time after its fact."""
    return isinstance(item, WrittenItem) and line.index in item.late


def item_lines(item: OrderedObservation) -> tuple[OrderedObservation, ...]:
    """All lines of an item."""
    return (item, *item.others) if isinstance(item, WrittenItem) else (item,)


class WrittenModel(TraceModel):
    """A model in which a step with several lines must agree with all of them."""

    def at_once(self, item: OrderedObservation, state: int) -> Consumed:
        """The outcomes of an item's first line alone, without hidden steps."""
        return super()._consume(item, state)

    def agreed(self, item: OrderedObservation, state: int) -> Consumed:
        """The outcomes of an item that all its lines agree with, without hidden steps."""
        ways = self.at_once(item, state)
        for other in item.others if isinstance(item, WrittenItem) else ():
            if other.observation.names_action:
                ends = {after for after, _ in self.at_once(other, state)} if ways else set()
                ways = tuple(way for way in ways if way[0] in ends)
            else:
                ways = tuple(way for way in ways if self.at_once(other, way[0]))
        return ways

    def _consume(self, item: OrderedObservation, state: int) -> Consumed:
        return self.agreed(item, state)

    def _may_leave_unchanged(self, item: OrderedObservation, state: int) -> bool:
        # The base class asks the first line alone; here every line has to agree with the step back to the same state.
        if isinstance(item, WrittenItem):
            return any(after == state for after, _ in self.consume(item, state))
        return super()._may_leave_unchanged(item, state)


def mismatch(
    search: TraceSearch, rejected: Rejected, start: Sequence[SearchPath], writer: ConditionPrinter
) -> LogViolation:
    """The violation where there is no execution: a line that disagrees with the others of its update, or an item that
    cannot come next.
    """
    for path in rejected.deepest:
        for item in search.frontier.heads(path.node.cursors).items:
            for odd in _odd_lines(search.model, item, path):
                blame = as_blame(odd, writer)
                return LogViolation(blame.event, blame.action, (blame,), Repair("none", NO_REPAIR, blame.event))
    # No line is odd by itself: now the usual explanation, and last an update whose lines leave no time for it.
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
    """The violation of an update whose lines contradict each other on its time; the last line is blamed first."""
    lines = sorted(item_lines(item), key=by_time, reverse=True)
    places = ", ".join(str(line.observation.event.record.place) for line in reversed(lines))
    text = f"{places} tell of one step, and the clause's order leaves no time for it"
    action = item.observation.rule.steps[0][0].action
    blame = tuple(Blame(line.observation.event, action, ()) for line in lines[:BLAMES_KEPT])
    return LogViolation(blame[0].event, action, blame, Repair("none", text, blame[0].event))


def _odd_lines(model: TraceModel, item: OrderedObservation, path: SearchPath) -> Iterator[Suspect]:
    """The lines of an update that disagree with it where its first line is possible."""
    if not isinstance(item, WrittenItem) or not isinstance(model, WrittenModel):
        return
    for after, taken in model.at_once(item, path.node.state):
        for other in item.others:
            state = path.node.state if other.observation.names_action else after
            obstacles = min((each for _, each in obstacles_of(model, other, state)), key=len, default=[])
            if obstacles:
                yield Suspect(other, taken[-1].action if taken else "observe", tuple(obstacles), 0, path)
