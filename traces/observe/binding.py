"""Binds events to the rules of a trace clause: the observations that an execution of the model has to explain.

Each event ends in exactly one of four groups. Some rule observes it, or it holds a value that the model does not have
(a misfit). Or the clause ignores it, or no rule is about its kind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from textwrap import shorten
from typing import NamedTuple

import numpy as np

from assay.grammar.elaborate.scopes.type_relations import type_text
from assay.grammar.identity_memo import IdentitySet
from assay.grammar.kernel import EventField, TracePlan, TraceRule
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.event import Event, Field, Opaque
from assay.traces.observe.binding_tally import BindingTally, Misfit, Unread
from assay.traces.observe.field_values import FieldMismatchError, OutOfRangeError, decode
from assay.traces.observe.observation import Observation, fields_of, rules_by_kind
from assay.traces.table.event_selection import Selection
from assay.traces.table.event_table import Positions
from assay.traces.table.statement_keys import EVERY_SLICE, StatementKeys, named_by

Condition = Callable[[TraceRule, Mapping[str, Value]], bool]
"""Decides whether a rule's ``if`` holds for the values of its fields, which are given by the names of their binders."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A log as one trace clause sees it; each event is in exactly one of the four groups."""

    observations: tuple[Observation, ...]
    misfits: tuple[Misfit, ...]
    ignored: tuple[Unread, ...]
    unmapped: tuple[Unread, ...]

    @property
    def tally(self) -> BindingTally:
        """How many events and fields were used, with the misfits and the unused events."""
        # By identity: an event that several rules observe counts once, and so do two events that are equal.
        used = len(IdentitySet(observation.event for observation in self.observations)) + len(self.misfits)
        fields = sum(len(observation.values) for observation in self.observations)
        return BindingTally(used, fields, self.misfits, self.ignored, self.unmapped)


NO_RULE = "no rule of the trace clause speaks of it"
NO_CONDITION = "no rule's fields and condition fit"

READ_BY_CLAUSE = frozenset({"events", "text"})
"""Catalogues in whose logs a rule's fields are those that the clause declares: a line that lacks one is a mistake.

The fields of Kafka's lines differ by version, and a rule is about the lines that have them.
"""


def undecoded(plan: TracePlan, event: Event, rules: Sequence[TraceRule]) -> str | None:
    """Why no rule can read an event that some rule is about; None if one can, whether its condition holds or not."""
    if plan.catalogue not in READ_BY_CLAUSE:
        return None
    given = fields_of(event)
    reasons: list[str] = []
    for rule in rules:
        wrong = next((text for field in rule.fields if (text := _unreadable(given, field)) is not None), None)
        if wrong is None:
            return None
        # Only if no rule can read it: another rule of the same kind may be about lines with other fields.
        reasons.append(wrong)
    return reasons[0] if reasons else None


def _unreadable(given: Mapping[str, Field], field: EventField) -> str | None:
    """Why a field of a rule cannot be read; None if it can, or if it is out of range."""
    if field.field == EVERY_SLICE and EVERY_SLICE not in given:
        return "it lacks what names its slice"
    if field.field not in given:
        return f"it has no `{field.field}`"
    value = given[field.field]
    try:
        decode(value, field.binder.type)
    except FieldMismatchError:
        what = (
            str(value)
            if isinstance(value, Opaque)
            else f"is {shorten(as_written(value), 60)}, which is no {type_text(field.binder.type)}"
        )
        return f"its `{field.field}` cannot be read: {what}"
    except OutOfRangeError:
        return None
    return None


def as_written(value: Field) -> str:
    """The value of a field as JSON has it."""

    def other(part: object) -> object:
        return dict(part) if isinstance(part, Mapping) else str(part)

    return json.dumps(value, ensure_ascii=False, default=other)


def observe(event: Event, rule: TraceRule, condition: Condition) -> Observation | Misfit | None:
    """The event as one rule sees it; None if the rule is about another kind, lacks a field, or its condition does not
    hold.
    """
    return None if rule.event != event.kind else _seen(event, rule, _logged(fields_of(event), rule, condition))


class _OutOfRange(NamedTuple):
    """A field with a value that the model does not have, and the reason."""

    field: str
    text: str


_Logged = tuple[Mapping[str, Value], tuple[tuple[str, Value], ...]] | _OutOfRange | None
"""What a rule sees in an event's fields: values by binder and by field. It may instead be the field that is out of
range. None if the rule does not apply.
"""


def _seen(event: Event, rule: TraceRule, logged: _Logged) -> Observation | Misfit | None:
    match logged:
        case None:
            return None
        case _OutOfRange(field, text):
            return Misfit(event, rule, field, text)
        case bound, values:
            return Observation(event, rule, bound, values)


def _logged(given: Mapping[str, Field], rule: TraceRule, condition: Condition) -> _Logged:
    # All fields are looked for before any is read: a rule that lacks one does not apply, whatever the others hold.
    for field in rule.fields:
        if field.field not in given:
            return None
    values: list[tuple[str, Value]] = []
    bound: dict[str, Value] = {}
    for field in rule.fields:
        try:
            value = decode(given[field.field], field.binder.type)
        # Another form means another kind of line (no rule); out of range means a line that the model cannot explain.
        except FieldMismatchError:
            return None
        except OutOfRangeError as error:
            return _OutOfRange(field.field, str(error))
        values.append((field.field, value))
        bound[field.binder.name] = value
    return (bound, tuple(values)) if condition(rule, bound) else None


_View = tuple[TraceRule, _Logged]
"""A rule, and what it sees in an event."""


class RuleView(NamedTuple):
    """One rule's view of an event that is given by its position. ``order`` is the rank of the view among those of the
    event.

    The view holds values of the model: it is never out of range.
    """

    at: int
    order: int
    view: _View

    @property
    def rule(self) -> TraceRule:
        """The rule whose view it is."""
        return self.view[0]

    @property
    def logged(self) -> tuple[Mapping[str, Value], tuple[tuple[str, Value], ...]]:
        """The event's values, by the rule's binders and by the event's own field names."""
        logged = self.view[1]
        assert logged is not None
        assert not isinstance(logged, _OutOfRange)
        return logged

    @property
    def values(self) -> tuple[tuple[str, Value], ...]:
        """The event's values by its field names."""
        return self.logged[1]


class Read(NamedTuple):
    """What a clause sees in each distinct statement, by the statement's number, and the tally of all events."""

    views: Mapping[int, tuple[_View, ...]]
    tally: BindingTally


STATEMENTS_KEPT = 1 << 16
"""How many decoded statements a binder keeps before it starts again with an empty table."""


class EventBinder:
    """Binds events to the rules of a clause. Equal statements of many lines are read and decoded once."""

    def __init__(self, plan: TracePlan, condition: Condition, whole: TracePlan | None = None) -> None:
        """``whole`` is the clause of which ``plan`` is the part about what all slices share."""
        self._plan = plan
        self._rules = rules_by_kind(plan)
        self._of_slices = rules_by_kind(whole) if whole is not None and whole.catalogue in READ_BY_CLAUSE else {}
        self._reasons = {known.event: known.reason for known in plan.ignored}
        self._condition = condition
        # By the fields that some rule names: events that differ elsewhere are one statement to this clause.
        self._keys = StatementKeys(named_by(plan.rules))
        self._known: dict[Hashable, tuple[_View, ...]] = {}

    def bind(self, events: Iterable[Event]) -> Bound:
        """All observations of the events, in the order of the events; those of one event in the order of the rules."""
        observations: list[Observation] = []
        misfits: list[Misfit] = []
        ignored, unmapped = _Counter(), _Counter()
        for event in events:
            rules = self._rules.get(event.kind)
            views = () if rules is None else self._views(event, rules)
            if views:
                seen = [found for rule, logged in views if (found := _seen(event, rule, logged)) is not None]
                fitting = [found for found in seen if isinstance(found, Observation)]
                observations += fitting
                # A misfit only where no rule fits, because each event is in one group.
                misfits += [] if fitting else [found for found in seen if isinstance(found, Misfit)][:1]
            else:
                self._count_unused(event, 1, ignored, unmapped)
        return Bound(tuple(observations), tuple(misfits), ignored.result(), unmapped.result())

    def read(self, events: Selection) -> Read:
        """What the clause sees in each distinct statement of the events, with the tally of all events. No observation
        is made yet.
        """
        views: dict[int, tuple[_View, ...]] = {}
        misfits: list[Misfit] = []
        ignored, unmapped = _Counter(), _Counter()
        used = fields = 0
        for number, logged in events.statement_counts().items():
            example, count = logged.example, logged.times
            rules = self._rules.get(example.kind)
            seen = () if rules is None else self._views(example, rules)
            fitting = tuple(view for view in seen if not isinstance(view[1], _OutOfRange))
            if fitting:
                views[number] = fitting
                # Counted by repetitions, for the report speaks of events and not of distinct statements.
                used += count
                fields += count * sum(len(rule.fields) for rule, _ in fitting)
            # No rule fits, and some has a value out of range: each event is a misfit with a place of its own.
            elif seen:
                misfits += self.misfits(events.at(np.flatnonzero(events.numbers == number)))
            else:
                self._count_unused(example, count, ignored, unmapped)
        tally = BindingTally(used + len(misfits), fields, tuple(misfits), ignored.result(), unmapped.result())
        return Read(views, tally)

    def _count_unused(self, example: Event, count: int, ignored: _Counter, unmapped: _Counter) -> None:
        """Count events that no rule reads."""
        rules = self._rules.get(example.kind) or self._of_slices.get(example.kind)
        if example.kind in self._reasons:
            ignored.add(example, self._reasons[example.kind], count)
        elif rules is None:
            unmapped.add(example, NO_RULE, count)
        elif (reason := undecoded(self._plan, example, rules)) is not None:
            unmapped.add(example, reason, count, needed=True)
        else:
            ignored.add(example, NO_CONDITION, count)

    def without_repetitions(self, events: Selection, read: Read) -> list[Observation]:
        """The observations of the events without repetitions of one version (docs/design/equal-lines.md).

        An event is left out if an earlier one makes the same statement about the same version and the rule names no
        action.
        """
        return observations_of(events, views_to_check(events, read))

    def misfits(self, events: Iterable[Event]) -> list[Misfit]:
        """The first misfit of each of these events, even where another rule fits the event."""
        found: list[Misfit] = []
        for event in events:
            views = self._views(event, self._rules.get(event.kind, ()))
            seen = (_seen(event, rule, logged) for rule, logged in views)
            found += [each for each in seen if isinstance(each, Misfit)][:1]
        return found

    def _views(self, event: Event, rules: Sequence[TraceRule]) -> tuple[_View, ...]:
        """The views of the rules on an event, from the table if the same statement was decoded before."""
        key = self._keys.of(event)
        if key is None:
            return self._seen_by(event, rules)
        found = self._known.get(key)
        if found is None:
            # Cleared whole: keeping an order of eviction would cost more than decoding again.
            if len(self._known) >= STATEMENTS_KEPT:
                self._known.clear()
            found = self._known[key] = self._seen_by(event, rules)
        return found

    def _seen_by(self, event: Event, rules: Sequence[TraceRule]) -> tuple[_View, ...]:
        given = fields_of(event)
        views = ((rule, _logged(given, rule, self._condition)) for rule in rules)
        return tuple(view for view in views if view[1] is not None)


def views_to_check(events: Selection, read: Read, restated: Container[int] = ()) -> list[RuleView]:
    """The views that :meth:`EventBinder.without_repetitions` keeps.

    ``restated`` are statements that were seen before these events: they are not new.
    """
    found: list[RuleView] = []
    for number, earliest in events.earliest().items():
        every: list[int] | None = None
        for order, view in enumerate(read.views.get(number, ())):
            rule = view[0]
            # An action, or a line without a version, matters each time it occurs: every event is kept.
            if rule.steps or rule.at is None:
                every = np.flatnonzero(events.numbers == number).tolist() if every is None else every
                found += (RuleView(at, order, view) for at in every)
            elif number not in restated:
                found.append(RuleView(earliest, order, view))
    return found


def bind(plan: TracePlan, events: Iterable[Event], condition: Condition) -> Bound:
    """The observations of some events; see :meth:`EventBinder.bind`."""
    return EventBinder(plan, condition).bind(events)


def views_of(events: Selection, positions: Positions, read: Read) -> Iterator[RuleView]:
    """The views of the events at some places of a selection, as they are given."""
    views = read.views
    for at, number in zip(positions.tolist(), events.numbers[positions].tolist(), strict=True):
        for order, view in enumerate(views.get(number, ())):
            yield RuleView(at, order, view)


def observations_of(events: Selection, chosen: Iterable[RuleView]) -> list[Observation]:
    """The observations of some views, in the order of the events."""
    ordered = sorted(chosen, key=lambda each: each[:2])
    positions = np.array(sorted({each.at for each in ordered}), np.int64)
    groups = groupby(ordered, key=itemgetter(0))
    return [
        Observation(event, each.rule, each.logged[0], each.values)
        for event, (_, group) in zip(events.at(positions), groups, strict=True)
        for each in group
    ]


class _Counter:
    """Counts events by kind and reason, and keeps the first place of each."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], Unread] = {}

    def add(self, event: Event, reason: str, count: int = 1, *, needed: bool = False) -> None:
        known = self.found.get((event.kind, reason))
        if known is None:
            place, since = event.record.place, event.record.time if needed else None
            known = Unread(event.kind, reason, 0, place, needed, since)
        self.found[event.kind, reason] = replace(known, count=known.count + count)

    def result(self) -> tuple[Unread, ...]:
        return tuple(unread for _, unread in sorted(self.found.items(), key=itemgetter(0)))
