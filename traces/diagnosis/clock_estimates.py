"""How the clocks of nodes stand to the one of the server whose times their lines repeat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.traces.event import Event, LogPosition, Notice
from assay.traces.log_reader import LogReading

APART = "clocks apart"
"""The kind of notice about a clock that is so far from the others that the order of times is wrong."""

BEHIND = 1_000
AHEAD = 60_000
"""Milliseconds. A line is written after what it reports, so that a clock that is behind is so for certain; that each line of a node is a minute late is another clock."""


@dataclass(frozen=True, slots=True)
class ClockEstimate:
    """How a node's clock stands to the one of the server whose times its lines repeat.

    A line is written after what it reports, so the clock is ahead by at most ``at_most`` milliseconds: the least by which one of ``lines`` lines
    follows, by the node's clock, what it reports by the server's. ``place`` is that line. A negative number is how far the clock is behind, at least.
    """

    at_most: int
    lines: int
    place: LogPosition

    def told(self, node: str) -> str:
        """What that says of a node's clock, in words."""
        if self.at_most < 0:
            return f"the clock of {node} is behind by at least {-self.at_most:,} ms: this line is older than what it reports"
        return f"the clock of {node} is ahead by up to {self.at_most:,} ms, or its lines are late by that"


def estimates(reading: LogReading) -> dict[str, ClockEstimate]:
    """What is known of the clocks, by node; nothing of those whose lines repeat no other's time."""
    found: dict[str, ClockEstimate] = {}
    for event, own, other in repeated(reading):
        node, late = event.run.node, own + event.record.resolution - 1 - other
        here = ClockEstimate(late, 1, event.record.place)
        before = found.get(node, here)
        least = min(here, before, key=lambda each: each.at_most)
        lines = before.lines + 1 if node in found else 1
        found[node] = ClockEstimate(least.at_most, lines, least.place)
    return found


def repeated(reading: LogReading) -> Iterator[tuple[Event, int, int]]:
    """The lines that repeat another clock's time, each with its own time and with that."""
    for event in reading.of_shapes(lambda shape: shape.clock is not None):
        other, own = event.fields.get(reading.catalogue.shape(event.shape).clock or ""), event.record.time
        if own is not None and isinstance(other, int):
            yield event, own, other


def far_apart(known: Mapping[str, ClockEstimate]) -> Iterator[Notice]:
    """The clocks that are so far from another that their times put nothing in order. Where all are as far from the server's, it is the server's that is wrong."""
    most = max((clock.at_most for clock in known.values()), default=0)
    behind = {node for node, clock in known.items() if clock.at_most < -BEHIND and most - clock.at_most > BEHIND}
    least = min((clock.at_most for node, clock in known.items() if node not in behind), default=0)
    for node, clock in known.items():
        if node in behind or clock.at_most - least > AHEAD:
            yield Notice(APART, clock.place, clock.told(node))
