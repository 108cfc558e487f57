"""The answer about one slice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event, Remark
from assay.traces.observe.binding_tally import BindingTally
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.result import Impact, SliceResult, TraceVerdict


@dataclass(frozen=True, slots=True)
class SliceAnswer:
    """The answer about one slice: how its events were bound, the number of visited states, and its measures
    (``outages.Meter``).
    """

    result: SliceResult
    tally: BindingTally
    visited: int
    impact: tuple[Impact, ...] = ()

    @property
    def held(self) -> int:
        """How many lines were held against what others determine. A line with which a slice begins before its log does
        not count, nor do those that writes without lines explain.
        """
        supposed = 0 if self.result.rests_on is None else 1 + len(self.result.unexplained)
        return max(0, self.tally.used - supposed)


def remarks_on(plan: k.TracePlan, steps: Iterable[tuple[str | None, Event | None]]) -> Iterator[Remark]:
    """Remarks on the steps of actions that the clause reports, each an action with a line at or after it."""
    rules = {each.action: each for each in plan.reported}
    for action, event in steps:
        if action in rules and event is not None:
            yield Remark(rules[action].severity, rules[action].text, event)


def created_again(result: SliceResult, items: Iterable[OrderedObservation]) -> SliceResult:
    """The answer about a slice whose lines contradict each other, unless they are of two slices of one name."""
    places = ", ".join(str(each.observation.event.record.place) for each in items)
    reason = (
        f"{places} contradict each other, unless it was deleted and created again between them, which no line tells"
    )
    return replace(result, verdict=TraceVerdict.INCONCLUSIVE, reason=reason, violations=(), properties=())


def explained_by_the_unlogged(result: SliceResult) -> SliceResult:
    """The answer about a slice whose lines that fit nothing known a window explains."""
    places = list(dict.fromkeys(str(each.record.place) for each in result.unexplained))
    more = f" and {len(places) - 1} more lines are" if len(places) > 2 else " and one more line are"
    reported = f"{places[0]}{more if len(places) > 1 else ' is'} explained by writes of which no line tells"
    rests_on = reported if result.rests_on is None else f"{result.rests_on}, and {reported}"
    return replace(result, verdict=TraceVerdict.CONSISTENT, reason=None, rests_on=rests_on)
