"""Whether a log shows the birth of a cluster, its first or another one: then a model's first state holds there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from assay.grammar.kernel import types as t
from assay.traces.event import Event, Field
from assay.traces.observe.partial_order import OrderedObservation, by_time
from assay.traces.patterns.rule_files import rule_file
from assay.traces.windows.window_model import LogPart

AT_ONCE = 2_000.0
"""Within so many milliseconds nothing is deleted and created again."""


@cache
def _births() -> dict[str, tuple[str, Field]]:
    """The field and the value at birth, by the kind of event."""
    return {each["kind"]: (each["field"], each["value"]) for each in rule_file("births.toml")["birth"]}


def shows_birth(events: Iterable[Event]) -> bool:
    """Whether the first event of some kind, by time, has the value that it has at birth alone."""
    first: dict[str, Event] = {}
    for event in events:
        if event.kind in _births() and not event.is_inferred and event.record.time is not None:
            known = first.setdefault(event.kind, event)
            if event.record.time < (known.record.time or 0):
                first[event.kind] = event
    return any(event.fields.get(_births()[kind][0]) == _births()[kind][1] for kind, event in first.items())


def begins_again(log: LogPart, items: Sequence[OrderedObservation]) -> bool:
    """Whether the last of some lines states a number of at most one, and an earlier line a higher one. No line of the
    log may name the system.

    A cluster that was created again explains that, in a model that knows of several. A line with the cluster's id would
    tell of it.
    """
    return any(low < high for low, high in _first_numbers(items)) and _is_unnamed(log)


def may_be_created_again(items: Sequence[OrderedObservation]) -> bool:
    """Whether the last of some lines of one slice has a number of at most one, after one that is no lower. That one
    lies well before it. Then another slice of that name may have begun between them.
    """
    *before, last = sorted(items, key=by_time)
    early = [each for each in before if last.time - each.time > AT_ONCE]
    return any(low <= high for low, high in _first_numbers([*early, last]))


def _first_numbers(items: Sequence[OrderedObservation]) -> Iterator[tuple[int, int]]:
    """The numbers of at most one that the last of some lines states, each with what an earlier line states instead."""
    *before, last = sorted(items, key=by_time)
    earlier = [(name, value) for each in before for name, value in each.observation.values if type(value) is int]
    for name, value in last.observation.values:
        if type(value) is int and value <= 1:
            yield from ((value, more) for known, more in earlier if name == known)


def _is_unnamed(log: LogPart) -> bool:
    """Whether the state holds one element of a set, such as the id of the cluster, and no line states which."""
    sorts = {each.type for each in log.loaded.kernel.variables if isinstance(each.type, t.AtomType)}
    kinds = {rule.event for rule in log.plan.rules if any(field.binder.type in sorts for field in rule.fields)}
    return bool(sorts) and not any(event.kind in kinds for event in log.events)
