"""Lines of a slice whose times do not tell which was first: times without milliseconds order no lines of two files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from assay.traces.event import Event
from assay.traces.observe.observation import Observation
from assay.traces.observe.partial_order import OrderedObservation, by_time
from assay.traces.result import LogViolation

ORDERS_TRIED = 32
"""How often a line is moved, from each of two orders."""


def unlogged_order(violations: Sequence[LogViolation], observations: Iterable[Observation]) -> str | None:
    """Why mismatches prove nothing, if each has a line without milliseconds and a line of another file at the same
    time.

    Updates have versions; other lines are ordered by their times only.
    """
    unversioned = [seen.event for seen in observations if seen.rule.at is None]
    shown: str | None = None
    for violation in violations:
        event = violation.event
        beside = next((other for other in unversioned if _are_of_one_time(event, other)), None)
        if beside is None:
            return None
        shown = shown or f"times do not tell which of {event.record.place} and {beside.record.place} was first"
    return shown


def moved_forward(lines: Sequence[OrderedObservation], event: Event) -> list[OrderedObservation] | None:
    """The lines in an order that times allow, too; None if they are in it already.

    Those of an event, and of its file before it, come before lines of other files at the same time.
    """
    lines = sorted(lines, key=by_time)
    last = max((at for at, line in enumerate(lines) if line.observation.event is event), default=-1)
    tied = [at for at in range(last) if _are_of_one_time(event, lines[at].observation.event)]
    if not tied:
        return None
    between = [lines[at] for at in range(tied[0], last + 1)]
    own = [line for line in between if line.observation.event.log == event.log]
    others = [replace(line, time=max(line.time, lines[last].time)) for line in between if line not in own]
    return _numbered([*lines[: tied[0]], *own, *others, *lines[last + 1 :]])


def without_versions_first(lines: Iterable[OrderedObservation]) -> list[OrderedObservation]:
    """The lines, those without a version before updates of the same time: what does not fit there yet is tried later."""
    return [
        replace(line, time=line.time - 0.5) if line.observation.rule.at is None and _is_coarse(line) else line
        for line in lines
    ]


def _numbered(lines: Iterable[OrderedObservation]) -> list[OrderedObservation]:
    """The lines in the order in which they are given."""
    return [replace(line, index=number, position=number) for number, line in enumerate(lines)]


def _is_coarse(line: OrderedObservation) -> bool:
    return line.observation.event.record.resolution > 1


def _are_of_one_time(one: Event, other: Event) -> bool:
    """Whether two lines of different files have one time, which is longer than a millisecond."""
    mine, its = one.record, other.record
    if mine.time is None or its.time is None or one.log == other.log:
        return False
    coarse = mine.resolution > 1 or its.resolution > 1
    return coarse and mine.time < its.time + its.resolution and its.time < mine.time + mine.resolution
