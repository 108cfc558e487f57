"""What became of the events of a log when they were bound to rules: counts, misfits, and events without use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from assay.grammar.kernel import TraceRule
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event, LogPosition


@dataclass(frozen=True, slots=True)
class Misfit:
    """An event with a field value that the model's type does not have: no execution of the model can explain it."""

    event: Event
    rule: TraceRule
    field: str
    text: str


@dataclass(frozen=True, slots=True)
class Unread:
    """The events of one kind that this clause does not use: the reason, how many they are, and where the first of them
    is.

    If they are ``needed``, a rule is about them and could not read them; ``since`` is when the first was written.
    """

    kind: str
    reason: str
    count: int
    example: LogPosition
    needed: bool = False
    since: int | None = None


@dataclass(frozen=True, slots=True)
class BindingTally:
    """How the events of a log, or of a part of it, were bound. It says how many were used, and how many of their fields
    were compared with the model.
    """

    used: int = 0
    fields: int = 0
    misfits: tuple[Misfit, ...] = ()
    ignored: tuple[Unread, ...] = ()
    unmapped: tuple[Unread, ...] = ()


def counted_as_ignored(events: Iterable[Event], reason: str) -> BindingTally:
    """The tally of events that were not compared with the model, for this reason."""
    counts: dict[str, Unread] = {}
    for event in events:
        first = counts.get(event.kind)
        place = event.record.place if first is None else first.example
        counts[event.kind] = Unread(event.kind, reason, 1 if first is None else first.count + 1, place)
    return BindingTally(ignored=tuple(counts.values()))


def total_of(tallies: Sequence[BindingTally]) -> BindingTally:
    """The tally of several parts together. The example of an unused kind is that of the first part that has one."""
    return BindingTally(
        sum(each.used for each in tallies),
        sum(each.fields for each in tallies),
        tuple(misfit for each in tallies for misfit in each.misfits),
        _merged(each.ignored for each in tallies),
        _merged(each.unmapped for each in tallies),
    )


def _merged(groups: Iterable[Sequence[Unread]]) -> tuple[Unread, ...]:
    """The counts of several groups, added up by kind and reason."""
    found: dict[tuple[str, str], Unread] = {}
    for each in (unread for group in groups for unread in group):
        key = each.kind, each.reason
        found[key] = replace(found[key], count=found[key].count + each.count) if key in found else each
    # Sorted, so that the list does not depend on how the log was divided into parts.
    return tuple(sorted(found.values(), key=lambda unread: (unread.kind, unread.reason)))
