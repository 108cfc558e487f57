"""Measures outages: for how long the conditions held that the trace clause measures, and which events it notes.

What is measured and noted is text of the spec (``measure``, ``note``), evaluated on the execution that explains the
log; nothing here knows its meaning. Durations are bounds: at least so long, whatever the lines leave open, and at most
so long.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf

from assay.checker.interpreter.compiled_model import Model as Meanings
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.traverse import variables_of
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.report import State
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Atom, Value
from assay.traces.attribution.attribution import RunStream
from assay.traces.event import Event, Field, Remark
from assay.traces.impact.change_points import ConditionChanges, SharedChanges
from assay.traces.impact.step_times import Endings, TimedState, changes, merged, spans, timeline
from assay.traces.observe.binding import observe
from assay.traces.observe.decomposition import split
from assay.traces.observe.field_values import FieldMismatchError, OutOfRangeError, decode
from assay.traces.observe.observation import Observation
from assay.traces.result import Execution, Impact, SliceResult, Spell, TraceVerdict, Validation
from assay.traces.slices.slice_answer import SliceAnswer
from assay.traces.table.event_selection import Selection
from assay.traces.table.statement_keys import EVERY_SLICE

Interval = tuple[TimedState, TimedState | None]
"""The state from which on a condition holds, and the one from which on it does not. None if it holds to the end of the
log.
"""


@dataclass(frozen=True, slots=True)
class FieldStatement:
    """The value of a field from a line's time on."""

    time: float
    value: Value


@dataclass(frozen=True, slots=True)
class Basis:
    """What measuring needs of a whole log; it can be sent to the process that holds a slice's events.

    ``spans`` gives the first and last line of each process run (milliseconds since the epoch); ``settings`` gives
    fields that no line reports.
    """

    kernel: k.Kernel
    plan: k.TracePlan
    execution: Execution
    spans: Mapping[str, tuple[float, float]]
    settings: Mapping[str, Field]


def basis(
    kernel: k.Kernel,
    clause: str,
    execution: Execution | None,
    streams: Iterable[RunStream],
    settings: Mapping[str, Field],
) -> Basis | None:
    """The basis for all streams of a log; None if there is no execution, or the clause measures and notes nothing."""
    plan = next((each for each in kernel.traces if each.name == clause), None)
    if plan is None or execution is None or not (plan.measures or plan.noted):
        return None
    return Basis(kernel, plan, execution, spans(streams), settings)


def with_impact(validation: Validation, meter: Meter, slices: Iterable[SliceAnswer], since: int | None) -> Validation:
    """The answer with the measures of the shared state and of the slices, without what ended before ``since``."""
    found = [*meter.of_shared(), *(impact for each in slices for impact in each.impact)]
    kept = (each if since is None else _from(each, float(since)) for each in found)
    return replace(validation, impact=tuple(each for each in kept if each.spells or each.unstated))


class Meter:
    """Evaluates the measures and notes of a clause."""

    def __init__(self, basis: Basis) -> None:
        kernel, plan, written = basis.kernel, basis.plan, basis.spans
        self.begin = min((first for first, _ in written.values()), default=0.0)
        self.end = max((last for _, last in written.values()), default=0.0)
        self.plan = plan
        self.settings = basis.settings
        self.meanings = Meanings(kernel, bounded=False, remember=True)
        conditions = [*(each.condition for each in plan.measures), *(each.condition for each in plan.noted)]
        self._truths = IdentityMemo((each, self.meanings.meaning(each)) for each in conditions)
        self.places = {variable.name: at for at, variable in enumerate(kernel.variables)}
        self.own = () if plan.slicing is None else split(kernel, plan.slicing).own
        read = {self.places[name] for measure in plan.measures for name in variables_of(measure.condition)}
        self.every = timeline(basis.execution, plan.ordering, self.begin)
        self.late = list(changes(self.every, sorted(read - set(self.own))))
        self._condition_changes = IdentityMemo(
            (each, ConditionChanges(each.condition, self.places, self.own)) for each in plan.measures
        )
        # Killed right after its last line, or as late as the execution has it: the two bounds of a duration.
        self.early = Endings(self.meanings, plan.ends, written).early(self.late)
        self._timelines = SharedChanges(self.early), SharedChanges(self.late)

    def of_shared(self) -> Iterator[Impact]:
        """The measures that are about no slice."""
        for measure in self.plan.measures:
            if not measure.fields:
                truth = partial(self._holds_at, measure, {})
                early, late = (_intervals_of((m, truth(m)) for m in found) for found in (self.early, self.late))
                spells = self._spells(early, late)
                yield Impact(measure.name, measure.text, None, tuple(spells))

    def measured(self, answer: SliceAnswer, events: Sequence[Event]) -> SliceAnswer:
        """The answer about a slice with its measures, and a remark for each of its noted events."""
        result = self._noted(answer.result, events)
        # An execution of an undecided slice may be the wrong one, and its durations with it.
        open_ = result.verdict is TraceVerdict.INCONCLUSIVE
        return replace(answer, result=result, impact=() if open_ else tuple(self._of_slice(result, events)))

    def _of_slice(self, result: SliceResult, events: Sequence[Event]) -> Iterator[Impact]:
        if result.execution is None:
            return
        own = timeline(result.execution, self.plan.ordering, self.begin)
        for measure in self.plan.measures:
            given = [field for field in measure.fields if field.field != EVERY_SLICE]
            # No field names the slice: the measure is of what all slices share (`of_shared`).
            if len(given) == len(measure.fields):
                continue
            logged = {field.field: self._logged(field, events) for field in given}
            unstated = tuple(name for name, statements in logged.items() if not statements)
            if unstated:
                yield Impact(measure.name, measure.text, result.name, (), unstated)
                continue
            truth = partial(self._holds_at, measure, logged)
            spells = self._spells(*(self._intervals(measure, logged, shared, own, truth) for shared in self._timelines))
            yield Impact(measure.name, measure.text, result.name, tuple(spells))

    def _noted(self, result: SliceResult, events: Sequence[Event]) -> SliceResult:
        kinds = {note.event for note in self.plan.noted}
        own = [event for event in _of_kinds(events, kinds) if event.record.time is not None]
        # Noted events are rare; without any the states of both executions need not be merged.
        if not own or result.execution is None:
            return result
        # All states, not only changes that a measure reads: a note may read anything.
        states = list(merged(self.every, timeline(result.execution, self.plan.ordering, self.begin), self.own))
        times = [each.at for each in states]
        found = [
            Remark(note.severity, note.text.format_map(dict(seen.event.fields)), seen.event)
            for event in own
            for note in self.plan.noted
            if (seen := self._seen(note, event)) is not None
            and self._holds(note.condition, states[bisect_right(times, event.record.time or 0) - 1].state, seen.bound)
        ]
        return replace(result, remarks=(*result.remarks, *found))

    def _seen(self, note: k.Noted, event: Event) -> Observation | None:
        rule = k.TraceRule("", note.event, note.fields, None, (), None, None, span=note.span)
        seen = observe(event, rule, lambda _, __: True)
        return seen if isinstance(seen, Observation) else None

    def _logged(self, field: k.EventField, events: Sequence[Event]) -> list[FieldStatement]:
        """The values of a field over time: those that lines of the slice report, or else the configured one."""
        found: list[FieldStatement] = []
        for value, time in _values(field.field, events):
            if value is not None and time is not None:
                found += _decoded(value, field, float(time))
        setting = self.settings.get(field.field)
        # A line of the slice counts before a configuration, which is that of a whole node.
        if not found and setting is not None:
            found += _decoded(setting, field, self.begin)
        return sorted(found, key=lambda each: each.time)

    def _holds_at(self, measure: k.Measure, logged: Mapping[str, Sequence[FieldStatement]], moment: TimedState) -> bool:
        bound = {
            field.binder.name: self._element()
            if field.field == EVERY_SLICE
            else _latest(logged[field.field], moment.at)
            for field in measure.fields
        }
        return self._holds(measure.condition, moment.state, bound)

    def _element(self) -> Value:
        assert self.plan.slicing is not None
        sort = self.plan.slicing.sort
        return Atom(sort.name, 0, sort.elements[0])

    def _holds(self, condition: k.Expr, state: State, bound: Mapping[str, Value]) -> bool:
        try:
            # What has no value does not hold: an outage is told only where it is certain.
            return self._truths[condition](Frame(state, (), dict(bound))) is True
        except Undefined:
            return False

    def _intervals(
        self,
        measure: k.Measure,
        logged: Mapping[str, Sequence[FieldStatement]],
        shared: SharedChanges,
        own: Sequence[TimedState],
        truth: Callable[[TimedState], bool],
    ) -> Iterator[Interval]:
        """The intervals in which a measure's condition holds of a slice."""
        # Change points follow values of the state. They do not know of a setting that changes meanwhile.
        if any(len({each.value for each in statements}) > 1 for statements in logged.values()):
            read = [self.places[name] for name in variables_of(measure.condition)]
            return _intervals_of((m, truth(m)) for m in changes(merged(shared.moments, own, self.own), read))
        return _intervals_of(self._condition_changes[measure].of(shared, own, truth))

    def _spells(self, early: Iterable[Interval], late: Iterable[Interval]) -> Iterator[Spell]:
        """The outages: the longest possible intervals, each with the least time for which the condition certainly held
        in it.
        """
        certain = list(late)
        for begun, ended in early:
            until = self.end if ended is None else ended.at
            # All certain intervals in a possible one: where it was interrupted, only the sum of the parts is certain.
            inside = [
                (self.end if last is None else last.early) - first.late
                for first, last in certain
                if _meet(begun.at, until, first.at, inf if last is None else last.at)
            ]
            most = (self.end if ended is None else ended.late) - begun.early
            if until > begun.at and inside:
                # Without a certain interval inside, the condition may never have held: that is not reported.
                yield Spell(
                    begun.at,
                    until,
                    sum(max(0.0, each) for each in inside),
                    None if most == inf else most,
                    begun.event,
                    None if ended is None else ended.event,
                    lasting=ended is None,
                )


def _of_kinds(events: Sequence[Event], kinds: Container[str]) -> Iterable[Event]:
    """The events of some kinds."""
    return events.of_kinds(kinds) if isinstance(events, Selection) else (e for e in events if e.kind in kinds)


def _values(field: str, events: Sequence[Event]) -> Iterable[tuple[Field, int | None]]:
    """The values of a field, and when each was logged."""
    if isinstance(events, Selection):
        return events.timed_values(field)
    return ((event.fields.get(field), event.record.time) for event in events)


def _intervals_of(found: Iterable[tuple[TimedState, bool]]) -> Iterator[Interval]:
    """The intervals in which a condition is true."""
    begun: TimedState | None = None
    for moment, holds in found:
        if holds and begun is None:
            begun = moment
        elif not holds and begun is not None:
            yield begun, moment
            begun = None
    if begun is not None:
        yield begun, None


def _meet(begin: float, end: float, first: float, last: float) -> bool:
    """Whether two intervals overlap. One that begins and ends at the same time, by its lines, may lie at an edge."""
    return (first < end or last <= end) and (last > begin or first >= begin)


def _decoded(value: Field, field: k.EventField, time: float) -> Iterator[FieldStatement]:
    try:
        yield FieldStatement(time, decode(value, field.binder.type))
    except (FieldMismatchError, OutOfRangeError):
        return


def _latest(statements: Sequence[FieldStatement], time: float) -> Value:
    """The last value reported at or before a time, or else the first one."""
    known = [each for each in statements if each.time <= time]
    return (known or statements[:1])[-1].value


def _from(impact: Impact, begin: float) -> Impact:
    """The measure without outages that ended before a time."""
    return replace(impact, spells=tuple(each for each in impact.spells if each.end >= begin))
