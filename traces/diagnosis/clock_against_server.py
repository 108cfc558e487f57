"""Compares each node's clock with that of the server whose times its lines repeat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.durations import difference_in_words, duration_in_words
from assay.traces.event import Event, LogPosition, Notice
from assay.traces.log_reader import LogReading

APART = "clocks apart"
"""The kind of notice about a clock so far from the others that the order of times is wrong."""

BEHIND = 1_000
AHEAD = 60_000
"""Milliseconds. A line is written after the fact, so a clock that is behind is certainly behind. Ahead is believed only
beyond a minute on every line.
"""


@dataclass(frozen=True, slots=True)
class ClockEstimate:
    """How a node's clock compares with that of the server whose times its lines repeat.

    A line is written after the fact, so the clock is ahead by at most ``at_most`` milliseconds. That is the least
    difference, over ``lines`` lines, between a line's time and the repeated server time. ``place`` is that line. A
    negative number is how far the clock is behind, at least.
    """

    at_most: int
    lines: int
    place: LogPosition

    def describe(self, node: str) -> str:
        """The estimate for a node in words."""
        if self.at_most < 0:
            behind = _words(self.at_most, f"is behind by at least {duration_in_words(-self.at_most)}")
            return f"the clock of {node} {behind}: this line is older than what it reports"
        ahead = _words(self.at_most, f"is ahead by up to {duration_in_words(self.at_most)}")
        return f"the clock of {node} {ahead}, or its lines are late by that"


def _words(milliseconds: int, otherwise: str) -> str:
    words = difference_in_words(milliseconds)
    return f"shows another time zone, {words}" if words.startswith("UTC") else otherwise


def estimates(reading: LogReading) -> dict[str, ClockEstimate]:
    """The estimates by node; none for nodes whose lines repeat no server time."""
    found: dict[str, ClockEstimate] = {}
    for event, own, other in repeated(reading):
        # A time in whole seconds may mean their last millisecond: `at_most` has to stay an upper bound.
        node, late = event.run.node, own + event.record.resolution - 1 - other
        here = ClockEstimate(late, 1, event.record.place)
        before = found.get(node, here)
        least = min(here, before, key=lambda each: each.at_most)
        lines = before.lines + 1 if node in found else 1
        found[node] = ClockEstimate(least.at_most, lines, least.place)
    return found


def repeated(reading: LogReading) -> Iterator[tuple[Event, int, int]]:
    """The lines that repeat a server's time, each with its own time and the server's."""
    for event in reading.of_patterns(lambda pattern: pattern.clock is not None):
        other, own = event.fields.get(reading.catalogue.pattern(event.pattern).clock or ""), event.record.time
        if own is not None and isinstance(other, int):
            yield event, own, other


def far_apart(known: Mapping[str, ClockEstimate]) -> Iterator[Notice]:
    """Notices about clocks so far off that their times order nothing. If all nodes are equally far off, the server's
    clock is wrong.
    """
    # Compared with the others, too: where all clocks are behind by the same, it is the server's that is ahead.
    most = max((clock.at_most for clock in known.values()), default=0)
    behind = {node for node, clock in known.items() if clock.at_most < -BEHIND and most - clock.at_most > BEHIND}
    least = min((clock.at_most for node, clock in known.items() if node not in behind), default=0)
    for node, clock in known.items():
        if node in behind or clock.at_most - least > AHEAD:
            yield Notice(APART, clock.place, clock.describe(node))
