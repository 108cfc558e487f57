"""Events bound to the rules of a trace clause: the observations that an execution of the model has to explain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from assay.grammar.kernel import TracePlan, TraceRule
from assay.grammar.values import Value
from assay.traces.event import Event, Field, LogPosition, ProcessRun
from assay.traces.observe.field_values import FieldMismatchError, OutOfRangeError, decode
from assay.traces.patterns.template_fields import LineFields
from assay.traces.table.event_selection import Selection
from assay.traces.table.statement_keys import StatementKeys, named_by

Condition = Callable[[TraceRule, Mapping[str, Value]], bool]
"""Whether a rule's ``if`` holds for the values of its fields (by the names of their binders)."""


@dataclass(slots=True, eq=False)
class Observation:
    """An event as one rule sees it. ``bound`` maps the rule's binders to values, ``values`` the event's fields. It is never changed."""

    event: Event
    rule: TraceRule
    bound: Mapping[str, Value]
    values: tuple[tuple[str, Value], ...]

    @property
    def pinned(self) -> bool:
        """Whether the event is an action, not a mere observation of the state."""
        return bool(self.rule.steps)


@dataclass(frozen=True, slots=True)
class Misfit:
    """An event that states a value which the model does not have."""

    event: Event
    rule: TraceRule
    field: str
    text: str


@dataclass(frozen=True, slots=True)
class Unread:
    """Events of one kind that carry nothing for this model, with the reason."""

    kind: str
    reason: str
    count: int
    example: LogPosition


@dataclass(frozen=True, slots=True)
class Bound:
    """A log as seen by a trace clause; each event is in exactly one of the four."""

    observations: tuple[Observation, ...]
    misfits: tuple[Misfit, ...]
    ignored: tuple[Unread, ...]
    unmapped: tuple[Unread, ...]

    @property
    def tally(self) -> BindingTally:
        """How many events and fields that is, and what is said of each other event."""
        used = len({id(observation.event) for observation in self.observations}) + len(self.misfits)
        fields = sum(len(observation.values) for observation in self.observations)
        return BindingTally(used, fields, self.misfits, self.ignored, self.unmapped)


@dataclass(frozen=True, slots=True)
class BindingTally:
    """How the events of a log, or of a part of it, were bound: how many were used, and how many of their fields were compared."""

    used: int = 0
    fields: int = 0
    misfits: tuple[Misfit, ...] = ()
    ignored: tuple[Unread, ...] = ()
    unmapped: tuple[Unread, ...] = ()


def sum_of(tallies: Sequence[BindingTally]) -> BindingTally:
    """The tally of all parts. An example is that of the first part that has one."""
    return BindingTally(
        sum(each.used for each in tallies),
        sum(each.fields for each in tallies),
        tuple(misfit for each in tallies for misfit in each.misfits),
        _merged(each.ignored for each in tallies),
        _merged(each.unmapped for each in tallies),
    )


def _merged(groups: Iterable[Sequence[Unread]]) -> tuple[Unread, ...]:
    """The counts of several groups by kind and reason."""
    found: dict[tuple[str, str], Unread] = {}
    for each in (unread for group in groups for unread in group):
        key = each.kind, each.reason
        found[key] = replace(found[key], count=found[key].count + each.count) if key in found else each
    return tuple(sorted(found.values(), key=lambda unread: (unread.kind, unread.reason)))


NO_RULE = "no rule of the trace clause speaks of it"
NO_CONDITION = "no rule's fields and condition fit"


def fields_of(event: Event) -> dict[str, Field]:
    """The event's fields, and those that every event has: the node's name, the process run's, and that of the run before it if there was one."""
    fields = event.fields.read() if isinstance(event.fields, LineFields) else event.fields
    run = event.run
    given = {"node": run.node, "run": str(run), **fields}
    if run.number > 1 and given["node"] is not None:
        given.setdefault("previous_run", str(ProcessRun(run.node, run.number - 1)))
    return given


def observe(event: Event, rule: TraceRule, condition: Condition) -> Observation | Misfit | None:
    """The event as the rule sees it; None if the rule does not speak of it."""
    return None if rule.event != event.kind else _seen(event, rule, _stated(fields_of(event), rule, condition))


class _OutOfRange(NamedTuple):
    """A field whose value the model does not have, and why."""

    field: str
    text: str


_Stated = tuple[Mapping[str, Value], tuple[tuple[str, Value], ...]] | _OutOfRange | None
"""What fields state, as a rule sees it: values by binder and by field; or what is out of range; None if the rule does not speak of them."""


def _seen(event: Event, rule: TraceRule, stated: _Stated) -> Observation | Misfit | None:
    match stated:
        case None:
            return None
        case _OutOfRange(field, text):
            return Misfit(event, rule, field, text)
        case bound, values:
            return Observation(event, rule, bound, values)


def _stated(given: Mapping[str, Field], rule: TraceRule, condition: Condition) -> _Stated:
    for field in rule.fields:
        if field.field not in given:
            return None
    values: list[tuple[str, Value]] = []
    bound: dict[str, Value] = {}
    for field in rule.fields:
        try:
            value = decode(given[field.field], field.binder.type)
        except FieldMismatchError:
            return None
        except OutOfRangeError as error:
            return _OutOfRange(field.field, str(error))
        values.append((field.field, value))
        bound[field.binder.name] = value
    return (bound, tuple(values)) if condition(rule, bound) else None


_View = tuple[TraceRule, _Stated]
"""A rule, and what it sees in an event."""


class RuleView(NamedTuple):
    """An event by its position, as one rule sees it: the place of that view among the event's, and the view, of what is in the model."""

    at: int
    order: int
    view: _View

    @property
    def rule(self) -> TraceRule:
        """The rule."""
        return self.view[0]

    @property
    def stated(self) -> tuple[Mapping[str, Value], tuple[tuple[str, Value], ...]]:
        """What the event states, by the rule's binders and by its own fields."""
        stated = self.view[1]
        assert stated is not None
        assert not isinstance(stated, _OutOfRange)
        return stated

    @property
    def values(self) -> tuple[tuple[str, Value], ...]:
        """What the event states, by its fields."""
        return self.stated[1]


class Read(NamedTuple):
    """What a clause sees in each statement that it speaks of, by the statement's number, and the tally of all events."""

    views: Mapping[int, tuple[_View, ...]]
    tally: BindingTally


STATEMENTS_KEPT = 1 << 16
"""How many statements are remembered."""


class EventBinder:
    """Binds events to the rules of a clause. What many lines state alike is read and decoded once."""

    def __init__(self, plan: TracePlan, condition: Condition) -> None:
        self._rules = rules_by_kind(plan)
        self._reasons = {known.event: known.reason for known in plan.ignored}
        self._condition = condition
        self._keys = StatementKeys(named_by(plan.rules))
        self._known: dict[Hashable, tuple[_View, ...]] = {}

    def bind(self, events: Iterable[Event]) -> Bound:
        """All observations of the events, in the order of the events; of one event in the order of the rules."""
        observations: list[Observation] = []
        misfits: list[Misfit] = []
        ignored, unmapped = _Counter(), _Counter()
        for event in events:
            rules = self._rules.get(event.kind)
            views = () if rules is None else self._views(event, rules)
            if views:
                seen = [found for rule, stated in views if (found := _seen(event, rule, stated)) is not None]
                fitting = [found for found in seen if isinstance(found, Observation)]
                observations += fitting
                misfits += [] if fitting else [found for found in seen if isinstance(found, Misfit)][:1]
            elif event.kind in self._reasons:
                ignored.add(event, self._reasons[event.kind])
            elif rules is not None:
                ignored.add(event, NO_CONDITION)
            else:
                unmapped.add(event, NO_RULE)
        return Bound(tuple(observations), tuple(misfits), ignored.result(), unmapped.result())

    def read(self, events: Selection) -> Read:
        """What the clause sees in each statement of the events, and how many of them that is."""
        views: dict[int, tuple[_View, ...]] = {}
        misfits: list[Misfit] = []
        ignored, unmapped = _Counter(), _Counter()
        used = fields = 0
        for number, stated in events.stated().items():
            example, count = stated.example, stated.times
            rules = self._rules.get(example.kind)
            seen = () if rules is None else self._views(example, rules)
            fitting = tuple(view for view in seen if not isinstance(view[1], _OutOfRange))
            if fitting:
                views[number] = fitting
                used += count
                fields += count * sum(len(rule.fields) for rule, _ in fitting)
            elif seen:
                misfits += self.misfits(events.at(np.flatnonzero(events.numbers == number)))
            elif example.kind in self._reasons:
                ignored.add(example, self._reasons[example.kind], count)
            elif rules is not None:
                ignored.add(example, NO_CONDITION, count)
            else:
                unmapped.add(example, NO_RULE, count)
        tally = BindingTally(used + len(misfits), fields, tuple(misfits), ignored.result(), unmapped.result())
        return Read(views, tally)

    def thinned(self, events: Selection, read: Read) -> list[Observation]:
        """What the events are without those that state the same of one write as an earlier one, and no action (NOTE(equal lines))."""
        return observed(events, chosen(events, read))

    def misfits(self, events: Iterable[Event]) -> list[Misfit]:
        """The values of these events that the model does not have, of each event the first, whatever else of it fits."""
        found: list[Misfit] = []
        for event in events:
            views = self._views(event, self._rules.get(event.kind, ()))
            seen = (_seen(event, rule, stated) for rule, stated in views)
            found += [each for each in seen if isinstance(each, Misfit)][:1]
        return found

    def _views(self, event: Event, rules: Sequence[TraceRule]) -> tuple[_View, ...]:
        """What the rules see that speak of an event."""
        key = self._keys.of(event)
        if key is None:
            return self._seen_by(event, rules)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= STATEMENTS_KEPT:
                self._known.clear()
            found = self._known[key] = self._seen_by(event, rules)
        return found

    def _seen_by(self, event: Event, rules: Sequence[TraceRule]) -> tuple[_View, ...]:
        given = fields_of(event)
        views = ((rule, _stated(given, rule, self._condition)) for rule in rules)
        return tuple(view for view in views if view[1] is not None)


def chosen(events: Selection, read: Read, restated: Container[int] = ()) -> list[RuleView]:
    """Which of the events :meth:`Binder.thinned` keeps; what the ``restated`` statements say of a write was stated before them."""
    found: list[RuleView] = []
    for number, earliest in events.earliest().items():
        every: list[int] | None = None
        for order, view in enumerate(read.views.get(number, ())):
            rule = view[0]
            if rule.steps or rule.at is None:
                every = np.flatnonzero(events.numbers == number).tolist() if every is None else every
                found += (RuleView(at, order, view) for at in every)
            elif number not in restated:
                found.append(RuleView(earliest, order, view))
    return found


def rules_by_kind(plan: TracePlan) -> dict[str, list[TraceRule]]:
    """The rules of a clause by the kind of events that they speak of, in their order."""
    rules: dict[str, list[TraceRule]] = {}
    for rule in plan.rules:
        rules.setdefault(rule.event, []).append(rule)
    return rules


def bind(plan: TracePlan, events: Iterable[Event], condition: Condition) -> Bound:
    """The observations that events are; see :meth:`Binder.bind`."""
    return EventBinder(plan, condition).bind(events)


def changed(observation: Observation, field: str, value: Value, text: Field) -> Observation:
    """The same observation of an event that states another value in one field."""
    values = tuple((name, value if name == field else old) for name, old in observation.values)
    bound = {entry.binder.name: dict(values)[entry.field] for entry in observation.rule.fields}
    event = replace(observation.event, fields={**observation.event.fields, field: text})
    return replace(observation, event=event, bound=bound, values=values)


def observed(events: Selection, chosen: Iterable[RuleView]) -> list[Observation]:
    """Observations of some events, in the order of these."""
    ordered = sorted(chosen, key=lambda each: each[:2])
    positions = np.array(sorted({each.at for each in ordered}), np.int64)
    groups = groupby(ordered, key=itemgetter(0))
    return [
        Observation(event, each.rule, each.stated[0], each.values)
        for event, (_, group) in zip(events.at(positions), groups, strict=True)
        for each in group
    ]


class _Counter:
    """Counts events by kind and reason, and remembers the first place of each."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.places: dict[tuple[str, str], LogPosition] = {}

    def add(self, event: Event, reason: str, count: int = 1) -> None:
        key = (event.kind, reason)
        self.counts[key] += count
        self.places.setdefault(key, event.record.place)

    def result(self) -> tuple[Unread, ...]:
        return tuple(Unread(*key, count, self.places[key]) for key, count in sorted(self.counts.items()))
