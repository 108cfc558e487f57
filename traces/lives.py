"""The lives of a slice under one name: which events belong to which, when it began anew."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from assay.grammar.kernel import Slicing
from assay.traces.events import Event, ProcessRun

Instant = tuple[int, int]
"""When a line was written, and its offset in its file, which orders lines of one time."""

Stated = list[tuple[Instant, str]]
"""Identities, each with the instant at which a line stated it."""


def lives(slicing: Slicing, own: Sequence[Event], of_group: Iterable[Event]) -> list[list[Event]]:
    """The events of each life of a slice, in the order in which they began: its own, and those of its group that concern it."""
    if slicing.identity is not None:
        return _by_identity(slicing.identity, own, of_group)
    return _by_beginning(slicing.since, [*own, *of_group])


def _by_beginning(since: str | None, events: Sequence[Event]) -> list[list[Event]]:
    """The events of each time that the slice began anew, by the times of the lines that say so."""
    starts = sorted({time for e in events if e.kind == since and (time := e.record.time) is not None})
    parts: list[list[Event]] = [[] for _ in range(max(1, len(starts)))]
    last = 0
    for event in events:
        time = event.record.time
        last = last if time is None else max(0, bisect_right(starts, time) - 1)
        parts[last].append(event)
    return [part for part in parts if part]


def _by_identity(field: str, own: Sequence[Event], of_group: Iterable[Event]) -> list[list[Event]]:
    """The events of each identity. A line that states none is of the one that its process stated last, or else that was the latest anywhere.

    Of the group's lines, those of an identity that the slice's own lines never state belong to others of the group.
    """
    events = [*own, *of_group]
    identities = {str(value) for event in own if (value := event.fields.get(field)) is not None}
    told = _Told(field, events)
    ages = {name: number for number, name in enumerate(told.in_order(identities))}
    parts: list[list[Event]] = [[] for _ in range(max(1, len(ages)))]
    for event in events:
        identity = told.of(event)
        if identity in ages or identity is None or not ages:
            parts[ages.get(identity or "", 0)].append(event)
    return parts


class _Told:
    """Which identity was stated when: in each log of a process, by each process, and by any."""

    def __init__(self, field: str, events: Iterable[Event]) -> None:
        self._field = field
        self._by_log: dict[tuple[ProcessRun, str], Stated] = {}
        self._by_run: dict[ProcessRun, Stated] = {}
        self._first: dict[str, Instant] = {}
        for event in events:
            value = event.fields.get(field)
            if value is None:
                continue
            identity, at = str(value), _instant(event)
            self._by_log.setdefault((event.run, event.sequence), []).append((at, identity))
            self._by_run.setdefault(event.run, []).append((at, identity))
            self._first[identity] = min(at, self._first.get(identity, at))
        for stated in (*self._by_log.values(), *self._by_run.values()):
            stated.sort()
        self._births: Stated = sorted((at, identity) for identity, at in self._first.items())

    def in_order(self, identities: Iterable[str]) -> list[str]:
        """Identities, the one that was stated first before the others."""
        return sorted(identities, key=lambda identity: (self._first[identity], identity))

    def of(self, event: Event) -> str | None:
        """The identity of an event: the first one known where nothing was stated before it; None if there is none at all."""
        value = event.fields.get(self._field)
        if value is not None:
            return str(value)
        before = (self._by_log.get((event.run, event.sequence), []), self._by_run.get(event.run, []), self._births)
        found = (_last(stated, _instant(event)) for stated in before)
        return next(
            (identity for identity in found if identity is not None), self._births[0][1] if self._births else None
        )


def _instant(event: Event) -> Instant:
    return event.record.time or 0, event.record.place.offset


def _last(stated: Stated, at: Instant) -> str | None:
    """What was stated last at or before an instant."""
    number = bisect_right(stated, at, key=lambda entry: entry[0])
    return stated[number - 1][1] if number else None
