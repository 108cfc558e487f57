"""Whether a log shows the birth of a cluster, its first or another one: then a model's first state holds there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from assay.grammar.kernel import types as t
from assay.traces.event import Event, Field, ProcessRun
from assay.traces.observe.partial_order import OrderedObservation, by_time
from assay.traces.patterns.catalogue import load_catalogue
from assay.traces.patterns.pattern import START_ROLES
from assay.traces.patterns.rule_files import rule_file
from assay.traces.windows.window_model import LogPart

AT_ONCE = 2_000.0
"""Within so many milliseconds nothing is deleted and created again."""

FIRST_LINES = 36
"""Among so many first lines of a log the birth of a cluster is looked for. A window about one of them begins with the
log, and so does one about a log that is no longer than a window.
"""


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


def begins_at_birth(items: Iterable[OrderedObservation]) -> bool:
    """Whether the first lines of a log show the birth of the cluster."""
    return shows_birth(each.observation.event for each in sorted(items, key=by_time)[:FIRST_LINES])


def begins_again(log: LogPart, items: Sequence[OrderedObservation]) -> bool:
    """Whether the cluster began again by the last of some lines. No line may name the system.

    Either that line states a number of at most one, and an earlier one a higher number. Of a number that is greater
    than one later lines say so too. Or a line of the log shows a birth between the two.

    A cluster that was created again explains that, in a model that knows of several. A line with the cluster's id would
    tell of it. A process has one cluster all its life, so its own lines do not count where its start was read. Where
    it was not, they may be of several processes.
    """
    *before, last = sorted(items, key=by_time)
    run = last.observation.event.run
    if any(each.observation.event.run == run for each in before) and _is_start_read(log, run):
        before = [each for each in before if each.observation.event.run != run]
    fallen = [(name, low, high) for name, low, high in _numbers_of(before, last) if low < high]
    # Numbers begin at 0 or 1. Any other fall counts only if the log never rises to the old number again.
    fell = any(low <= 1 or _stays_low(log, last, name, high) for name, low, high in fallen)
    return _is_unnamed(log) and (fell or _is_born_between(log, before, last))


def _is_born_between(log: LogPart, before: Sequence[OrderedObservation], last: OrderedObservation) -> bool:
    """Whether a line of the log shows a birth well after the first of some lines, and no later than the last."""
    first = min((each.time for each in before), default=last.time) + AT_ONCE
    births = (event.record.time or 0 for event in log.events if event.kind in _births() and shows_birth((event,)))
    return any(first < time <= last.time for time in births)


def _is_start_read(log: LogPart, run: ProcessRun) -> bool:
    """Whether a line says that a process starts; of a node in whose logs a stretch is missing, a later one may lack."""
    names = {each.name for each in load_catalogue().patterns if each.role in START_ROLES}
    return run.node not in log.options.holes and any(each.pattern in names and each.run == run for each in log.events)


def _stays_low(log: LogPart, line: OrderedObservation, name: str, high: int) -> bool:
    """Whether all lines from some time on state a lower number than a ``high`` one, a given line and others."""
    stated = [
        (event.record.time or 0, value, event.record.place)
        for event in log.events
        if not event.is_inferred and type(value := event.fields.get(name)) is int
    ]
    since = max((time for time, value, _ in stated if value >= high), default=0)
    return line.time > since and len({place for time, _, place in stated if time > since}) > 1


def may_be_created_again(items: Sequence[OrderedObservation], highest: int = 1) -> bool:
    """Whether the last of some lines of one slice has a number of at most ``highest``, after one that is no lower. That
    one lies well before it. Then another slice of that name may have begun between them.
    """
    *before, last = sorted(items, key=by_time)
    early = [each for each in before if last.time - each.time > AT_ONCE]
    return any(low <= min(high, highest) for _, low, high in _numbers_of(early, last))


def _numbers_of(before: Sequence[OrderedObservation], last: OrderedObservation) -> Iterator[tuple[str, int, int]]:
    """The numbers that a line states, by name, each with what an earlier line states instead."""
    earlier = [(name, value) for each in before for name, value in each.observation.values if type(value) is int]
    for name, value in last.observation.values:
        if type(value) is int:
            yield from ((name, value, other) for known, other in earlier if name == known)


def _is_unnamed(log: LogPart) -> bool:
    """Whether the state holds one element of a set, such as the id of the cluster, and no line states which."""
    sorts = {each.type for each in log.loaded.kernel.variables if isinstance(each.type, t.AtomType)}
    kinds = {rule.event for rule in log.plan.rules if any(field.binder.type in sorts for field in rule.fields)}
    return bool(sorts) and not any(event.kind in kinds for event in log.events)
