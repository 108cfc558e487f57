"""Events bound to the rules of a trace clause: the observations that an execution of the model has to explain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from assay.grammar.kernel import TracePlan, TraceRule
from assay.grammar.values import Value
from assay.traces.decode import OutOfRangeError, UnfitError, decode
from assay.traces.events import Event, Field, Place
from assay.traces.shapes.form import LineFields

Condition = Callable[[TraceRule, Mapping[str, Value]], bool]
"""Whether a rule's ``if`` holds for the values of its fields (by the names of their binders)."""


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """An event as one rule sees it. ``bound`` maps the rule's binders to values, ``values`` the event's fields."""

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
    example: Place


@dataclass(frozen=True, slots=True)
class Bound:
    """A log as seen by a trace clause; each event is in exactly one of the four."""

    observations: tuple[Observation, ...]
    misfits: tuple[Misfit, ...]
    ignored: tuple[Unread, ...]
    unmapped: tuple[Unread, ...]

    @property
    def tally(self) -> Tally:
        """How many events and fields that is, and what is said of each other event."""
        used = len({id(observation.event) for observation in self.observations}) + len(self.misfits)
        fields = sum(len(observation.values) for observation in self.observations)
        return Tally(used, fields, self.misfits, self.ignored, self.unmapped)


@dataclass(frozen=True, slots=True)
class Tally:
    """How the events of a log, or of a part of it, were bound: how many were used, and how many of their fields were compared."""

    used: int = 0
    fields: int = 0
    misfits: tuple[Misfit, ...] = ()
    ignored: tuple[Unread, ...] = ()
    unmapped: tuple[Unread, ...] = ()


def sum_of(tallies: Sequence[Tally]) -> Tally:
    """The tally of all parts. An example is that of the first part that has one."""
    return Tally(
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


OF_THE_FILE = frozenset({"node", "run"})
"""The fields that every event has: they come from where a line stands, not from what it says."""

EVERY_SLICE = "slice"
"""The field that every event of a slice has: the element of the slicing set that stands for the slice at hand."""

_ABSENT = object()
NO_RULE = "no rule of the trace clause speaks of it"
NO_CONDITION = "no rule's fields and condition fit"


def fields_of(event: Event) -> dict[str, Field]:
    """The event's fields, and those that every event has: the node's name and the process run's."""
    fields = event.fields.read() if isinstance(event.fields, LineFields) else event.fields
    return {"node": event.run.node, "run": str(event.run), **fields}


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
    if any(field.field not in given for field in rule.fields):
        return None
    values: list[tuple[str, Value]] = []
    for field in rule.fields:
        try:
            values.append((field.field, decode(given[field.field], field.binder.type)))
        except UnfitError:
            return None
        except OutOfRangeError as error:
            return _OutOfRange(field.field, str(error))
    bound = {field.binder.name: value for field, (_, value) in zip(rule.fields, values, strict=True)}
    return (bound, tuple(values)) if condition(rule, bound) else None


class _Statements:
    """What events state, as rules see it. What many lines of one shape state alike is decoded once."""

    def __init__(self, condition: Condition) -> None:
        self._condition = condition
        self._known: dict[tuple[object, ...], _Stated] = {}

    def of(self, event: Event, rules: Iterable[TraceRule]) -> Iterator[Observation | Misfit]:
        """The event as the rules see it that speak of it."""
        given = fields_of(event)
        for rule in rules:
            found = _seen(event, rule, self._stated(event.shape, given, rule))
            if found is not None:
                yield found

    def _stated(self, shape: str, given: Mapping[str, Field], rule: TraceRule) -> _Stated:
        """The fields of a shape have one type each, so that equal values are the same; in events without a shape ``1`` may be ``true``."""
        key = (shape, id(rule), *(given.get(field.field, _ABSENT) for field in rule.fields))
        try:
            return self._known[key]
        except KeyError:
            found = _stated(given, rule, self._condition)
            if shape:
                self._known[key] = found
            return found
        except TypeError:  # a mapping is among the fields
            return _stated(given, rule, self._condition)


def bind(plan: TracePlan, events: Iterable[Event], condition: Condition) -> Bound:
    """All observations of the events, in the order of the events; of one event in the order of the rules."""
    rules: dict[str, list[TraceRule]] = {}
    for rule in plan.rules:
        rules.setdefault(rule.event, []).append(rule)
    reasons = {known.event: known.reason for known in plan.ignored}
    observations: list[Observation] = []
    misfits: list[Misfit] = []
    ignored, unmapped = _Counter(), _Counter()
    statements = _Statements(condition)
    for event in events:
        seen = list(statements.of(event, rules[event.kind])) if event.kind in rules else []
        observations += [found for found in seen if isinstance(found, Observation)]
        if seen:
            if not any(isinstance(found, Observation) for found in seen):
                misfits += [found for found in seen if isinstance(found, Misfit)][:1]
        elif event.kind in reasons:
            ignored.add(event, reasons[event.kind])
        elif event.kind in rules:
            ignored.add(event, NO_CONDITION)
        else:
            unmapped.add(event, NO_RULE)
    return Bound(tuple(observations), tuple(misfits), ignored.result(), unmapped.result())


def changed(observation: Observation, field: str, value: Value, text: Field) -> Observation:
    """The same observation of an event that states another value in one field."""
    values = tuple((name, value if name == field else old) for name, old in observation.values)
    bound = {entry.binder.name: dict(values)[entry.field] for entry in observation.rule.fields}
    event = replace(observation.event, fields={**observation.event.fields, field: text})
    return replace(observation, event=event, bound=bound, values=values)


class _Counter:
    """Counts events by kind and reason, and remembers the first place of each."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.places: dict[tuple[str, str], Place] = {}

    def add(self, event: Event, reason: str) -> None:
        key = (event.kind, reason)
        self.counts[key] += 1
        self.places.setdefault(key, event.record.place)

    def result(self) -> tuple[Unread, ...]:
        return tuple(Unread(*key, count, self.places[key]) for key, count in sorted(self.counts.items()))
