"""Divides the events under one slice name into incarnations: a topic that is deleted and created again keeps its
name.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from assay.checker.jit.array_ops import distinct
from assay.grammar.kernel import Slicing
from assay.traces.event import Event, Field, ProcessRun
from assay.traces.patterns.rule_files import rule_file
from assay.traces.store.packed_records import NEVER
from assay.traces.store.record_block import Numbers
from assay.traces.table.event_selection import Selection

Instant = tuple[int, int]
"""The time of a line in milliseconds, and its offset in its file, which orders lines of equal time."""

Reports = list[tuple[Instant, str]]
"""Identities, each with the instant of a line that reports it."""


_END = int(np.iinfo(np.int64).max)

EARLIER = 2_000
"""By how many milliseconds lines of other nodes may be earlier than the line that reports the creation. That line
itself comes after the fact.
"""


def incarnations(slicing: Slicing, events: Selection, own: int, *, lacking: bool = True) -> list[Numbers]:
    """The positions, among a slice's events, of the events of each incarnation, in the order in which they began.

    The first ``own`` events are the slice's own; the others belong to its group and may concern other slices. Where
    logs are ``lacking``, the line that reports a creation may be missing.
    """
    if slicing.identity is not None:
        return _by_identity(slicing.identity, events, own, lacking=lacking)
    if slicing.since is None:
        return [np.arange(len(events))] if len(events) else []
    return _by_beginning(slicing.since, events, own, lacking=lacking)


def _by_beginning(since: str, events: Selection, own: int, *, lacking: bool) -> list[Numbers]:
    """The events of each incarnation, by the times of the lines that report a creation, or that show one whose report
    is missing.

    Lines well before the first creation belong to an incarnation whose creation was not logged. The log begins later,
    or a controller that started found the slice new.
    """
    starts = distinct(_times_of(events, since))
    if lacking:
        mine_alone = events.some(np.arange(own))
        starts = _with_deleted(_with_announced(starts, mine_alone), mine_alone)
        starts = _with_renewals(starts, mine_alone)
    return _by_starts(starts, events, own)


def _by_starts(starts: Numbers, events: Selection, own: int) -> list[Numbers]:
    """The events of each incarnation, by the times at which they began."""
    times = events.times
    mine = times[:own]
    first = int(min(mine[mine != NEVER], default=NEVER))
    # A margin, not a comparison: other nodes log the first requests slightly before the creation is logged.
    if len(starts) and NEVER != first < starts[0] - EARLIER:
        starts = np.concatenate([[first], starts])
    parts = np.maximum(0, np.searchsorted(starts, times, side="right") - 1)
    if (times == NEVER).any():  # such a line is of the life of the line before it
        known = np.maximum.accumulate(np.where(times == NEVER, -1, np.arange(len(times))))
        parts = np.where(known < 0, 0, parts[known])
    return _divided(parts, max(1, len(starts)))


class _Renewal(NamedTuple):
    """Kinds of lines that say that a slice is new to their process, by the field that is then none (``births.toml``).
    Another field has a number that rises as long as the slice exists.
    """

    kinds: list[str]
    absent: str
    number: str


@cache
def _renewals() -> tuple[_Renewal, ...]:
    return tuple(_Renewal(**each) for each in rule_file("births.toml")["renewal"])


def _with_announced(starts: Numbers, own: Selection) -> Numbers:
    """The times of creations, and of those that are announced and not reported before the next one is announced."""
    kinds = [each["kind"] for each in rule_file("births.toml")["announced"]]
    announced = distinct(np.concatenate([_times_of(own, kind) for kind in kinds]))
    report = np.append(starts, _END)[np.searchsorted(starts, announced)]
    return distinct(np.concatenate([starts, announced[report >= np.append(announced[1:], _END)]]))


def _with_deleted(starts: Numbers, own: Selection) -> Numbers:
    """The times of creations, and of those that no line reports.

    There a process says that the slice is deleted, and then states what is not of the same life (``births.toml``).
    """
    rule = rule_file("births.toml")["deletion"]
    deleted = [each for line in rule["lines"] for each in _of_line(own, **line)]
    found: list[int] = starts.tolist()
    lines = [each for each in own.of_kinds(rule["kinds"]) if each.record.time is not None] if deleted else []
    while ends := [end for each in deleted if (end := _back(*each, lines, found, rule["with"])) is not None]:
        # Other nodes may have been told of the creation shortly before this one.
        last = max(time for time, _ in deleted if time < min(ends))
        found.append(max(last + 1, min(ends) - EARLIER))
    return np.array(sorted(found), np.int64)


def _of_line(own: Selection, kind: str, field: str | None = None, value: Field = None) -> Iterator[tuple[int, str]]:
    """When which nodes logged lines of a kind in which a field has a value."""
    for event in own.of_kinds({kind}):
        if event.record.time is not None and (field is None or event.fields.get(field) == value):
            yield event.record.time, event.run.node


def _back(
    at: int, node: str, lines: Iterable[Event], starts: Iterable[int], numbers: Mapping[str, Sequence[str]]
) -> int | None:
    """When a node that spoke of a deletion first states what contradicts the lines before it, if those are of the same
    life. With each of the ``numbers``, which never fall, goes the value of some fields.
    """
    begin = max((each for each in starts if each <= at), default=0)
    end = min((each - EARLIER for each in starts if each > at), default=_END)
    known: dict[str, tuple[int, Event]] = {}
    found: list[int] = []
    for event in lines:
        time = event.record.time or 0
        stated = {name: value for name in numbers if isinstance(value := event.fields.get(name), int)}
        for name, value in stated.items():
            highest, other = known.get(name, (value, event))
            if begin <= time < at:
                known[name] = (value, event) if value >= highest else (highest, other)
            elif at < time < end and event.run.node == node:
                again = value == highest and _differ(event, other, numbers[name])
                found += [time] if value < highest or again else []
    return min(found, default=None)


def _differ(event: Event, other: Event, names: Iterable[str]) -> bool:
    """Whether two lines state different values of some field."""
    pairs = ((event.fields.get(name), other.fields.get(name)) for name in names)
    return any(None not in pair and pair[0] != pair[1] for pair in pairs)


def _times_of(events: Selection, kind: str) -> Numbers:
    """The times of the events of a kind, as far as they are known."""
    known: Numbers = events.times[events.of_kind(kind) & (events.times != NEVER)]
    return known


def _with_renewals(starts: Numbers, own: Selection) -> Numbers:
    """The times of creations, and of those that no line reports. There a process logs again that the slice is new to
    it, with a number that it had logged or a lower one. No creation was reported in between, and no other process goes
    on from the number that it had.
    """
    found: list[int] = starts.tolist()
    for rule in _renewals():
        lines = [(event.record.time, event) for event in own.of_kinds(rule.kinds) if event.record.time is not None]
        # Lines of one millisecond come in the order of their file.
        lines.sort(key=lambda each: (each[0], each[1].record.place.offset))
        known: dict[ProcessRun, tuple[int, int]] = {}
        fresh: list[int] = []
        for time, event in lines:
            number, before = event.fields.get(rule.number), known.get(event.run)
            if not isinstance(number, int):
                continue
            known[event.run] = time, number
            if event.fields.get(rule.absent) is not None:
                continue
            fresh.append(time)
            # New to a process that just started, or in a later epoch, or after a creation that a line reports: that is
            # ordinary.
            if before is None or number > before[1] or any(before[0] < start <= time for start in found):
                continue
            if not _goes_on(rule, lines, time):
                # Other nodes may have been told of the creation shortly before this one.
                found.append(min(each for each in fresh if each > max(before[0], time - EARLIER)))
    return np.array(sorted(found), np.int64)


def _goes_on(rule: _Renewal, lines: Iterable[tuple[int, Event]], at: int) -> bool:
    """Whether a process names, in its first line after a time, the number of its last line before it. Then what it
    knows of the slice was not created again. Lines are in the order of their times.
    """
    last: dict[ProcessRun, object] = {}
    for time, event in lines:
        if time < at:
            last[event.run] = event.fields.get(rule.number)
        elif event.run in last and event.fields.get(rule.absent) == last.pop(event.run) is not None:
            return True
    return False


def _divided(parts: Numbers, count: int) -> list[Numbers]:
    """The positions of each part, without empty parts."""
    found = [np.flatnonzero(parts == number) for number in range(count)]
    return [part for part in found if len(part)]


def _by_identity(field: str, events: Selection, own: int, *, lacking: bool) -> list[Numbers]:
    """The events of each identity (a topic id).

    A line without an identity belongs to the last one that its process reported, or else to the latest one reported
    anywhere. Where another process has reported a later one since, it may belong to either, for a line may be lost: it
    is held against neither. A group line with an identity that the slice's own lines never report belongs to other
    slices of the group.
    """
    logged = events.values_of(field)
    identities = {str(value) for value in logged[:own] if value is not None}
    every = {str(value) for value in logged if value is not None}
    if every == identities and len(every) < 2:
        # Most lines state no identity: those that do may be missing.
        starts = _with_deleted(np.empty(0, np.int64), events.some(np.arange(own))) if lacking else np.empty(0, np.int64)
        return _by_starts(starts, events, own)
    reported = _ReportedIdentities(field, events)
    ages = {name: number for number, name in enumerate(reported.in_order(identities))}
    parts = np.full(len(events), -1)
    for at, event in enumerate(events):
        identity = reported.of(event)
        if identity in ages or identity is None or not ages:
            # Without any identity all events are of one incarnation.
            parts[at] = ages.get(identity or "", 0)
        if identity is not None and reported.is_overtaken(event, identity):
            parts[at] = -1
    return [np.flatnonzero(parts == number) for number in range(max(1, len(ages)))]


class _ReportedIdentities:
    """When each identity was reported: in each log file of a process, by each process, and by any process."""

    def __init__(self, field: str, events: Iterable[Event]) -> None:
        self._field = field
        self._by_log: dict[tuple[ProcessRun, str], Reports] = {}
        self._by_run: dict[ProcessRun, Reports] = {}
        self._first: dict[str, Instant] = {}
        for event in events:
            value = event.fields.get(field)
            if value is None:
                continue
            identity, at = str(value), _instant(event)
            self._by_log.setdefault(event.log, []).append((at, identity))
            self._by_run.setdefault(event.run, []).append((at, identity))
            self._first[identity] = min(at, self._first.get(identity, at))
        for logged in (*self._by_log.values(), *self._by_run.values()):
            logged.sort()
        self._births: Reports = sorted((at, identity) for identity, at in self._first.items())

    def in_order(self, identities: Iterable[str]) -> list[str]:
        """Identities by the instant at which they were first reported."""
        return sorted(identities, key=lambda identity: (self._first[identity], identity))

    def of(self, event: Event) -> str | None:
        """The identity of an event. If nothing was reported before the event it is the first identity; None if there is
        none at all.
        """
        value = event.fields.get(self._field)
        if value is not None:
            return str(value)
        before = (self._by_log.get(event.log, []), self._by_run.get(event.run, []), self._births)
        found = (_last(reports, _instant(event)) for reports in before)
        return next(
            (identity for identity in found if identity is not None), self._births[0][1] if self._births else None
        )

    def is_overtaken(self, event: Event, identity: str) -> bool:
        """Whether a later identity than the one of an event, which states none, was reported anywhere before it."""
        if event.fields.get(self._field) is not None:
            return False
        latest = _last(self._births, _instant(event))
        return latest is not None and self._first[latest] > self._first[identity]


def _instant(event: Event) -> Instant:
    return event.record.time or 0, event.record.place.offset


def _last(reports: Reports, at: Instant) -> str | None:
    """The identity that was reported last at or before an instant."""
    number = bisect_right(reports, at, key=lambda entry: entry[0])
    return reports[number - 1][1] if number else None
