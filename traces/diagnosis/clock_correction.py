"""Estimates by how much the clocks of nodes differ, from facts that several nodes report, and corrects the times of the
logs.

When a difference is believed, and which differences are left to the clause, is said in docs/design/clock-correction.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.diagnosis.clock_against_server import BEHIND, repeated
from assay.traces.event import Event, LogPosition, Notice
from assay.traces.log_reader import LogReading
from assay.traces.patterns.pattern import LinePattern
from assay.traces.patterns.rule_files import rule_file
from assay.traces.store.packed_records import NEVER
from assay.traces.store.record_block import Numbers
from assay.traces.table.event_table import Positions, in_columns
from assay.traces.table.statement_ids import EveryKind

CORRECTED = "clock corrected"
"""The kind of notice about a clock that differs and whose times were corrected."""

AGREEING = 500
"""Differences of occasions agree if they are within this many milliseconds."""

OCCASIONS = 3
PART = 3
"""The least number of occasions for a comparison of clocks, and one in how many of them has to agree."""

AT_ONCE = 1_000
"""Reports without a longer pause than this many milliseconds are one occasion."""

MANY = 200_000
SLICE = "topic", "partition"
"""With more events to compare than this, only some slices are compared, chosen by these fields."""

SERVER = "\0server"
"""Stands for a node: the server whose times lines repeat. No node has such a name."""


@dataclass(frozen=True, slots=True)
class Offset:
    """By how many milliseconds a node's clock is ahead of another's (negative: behind), on how many occasions, and the
    first of these.
    """

    ahead: int
    other: str
    occasions: int
    place: LogPosition

    def describe(self, node: str) -> str:
        """The offset of a node's clock in words."""
        how = f"{'ahead of' if self.ahead > 0 else 'behind'} that of {self.other} by about {abs(self.ahead):,} ms"
        return f"the clock of {node} is {how}, as {self.occasions} occasions show on which both logged the same: its times were put right"


class _Difference(NamedTuple):
    """By how much one clock is ahead of another, and on how many occasions."""

    ahead: float
    occasions: int


def in_step(reading: LogReading) -> LogReading:
    """The logs with corrected times, and a notice for each clock that differed (docs/design/clock-correction.md)."""
    found = offsets(reading)
    if not found:
        return reading
    streams = (
        replace(stream, events=in_columns(stream.events).shifted(-found[stream.run.node].ahead))
        if stream.run.node in found
        else stream
        for stream in reading.streams
    )
    notices = (Notice(CORRECTED, offset.place, offset.describe(node)) for node, offset in found.items())
    return replace(reading, streams=tuple(streams), notices=(*reading.notices, *notices))


def offsets(reading: LogReading) -> dict[str, Offset]:
    """The nodes whose clocks differ from those of most others, and by how much."""
    news = _news(reading)
    if len(news) < 2:
        return {}
    known = _compared([*news, SERVER], partial(_difference, news, _times_of_server(reading)))
    # Of equally usual clocks the first by name counts. The name of the server sorts before all others.
    usual = max(sorted(known), key=lambda node: _like(known, node))
    found: dict[str, Offset] = {}
    for node, own in known.items():
        ahead = round(own.ahead - known[usual].ahead)
        if abs(ahead) > BEHIND and node != SERVER:
            (first,) = reading.events.at(news[node].where[:1])
            reported = "ZooKeeper" if usual == SERVER else usual
            # The node from which the comparison starts has no occasions of its own: it counts those of the usual one.
            found[node] = Offset(ahead, reported, own.occasions or known[usual].occasions, first.record.place)
    return found


def _compared(nodes: Sequence[str], compare: Callable[[str, str], _Difference | None]) -> dict[str, _Difference]:
    """By how much each clock is ahead of the first node's, for nodes that can be compared with it directly or through
    others.
    """
    known = {nodes[0]: _Difference(0.0, 0)}
    asked = [nodes[0]]
    # `asked` grows meanwhile: breadth first, so a clock is compared through as few others as possible.
    for node in asked:
        for other in nodes:
            found = compare(node, other) if other not in known else None
            if found is not None:
                known[other] = _Difference(known[node].ahead + found.ahead, found.occasions)
                asked.append(other)
    return known


def _like(known: Mapping[str, _Difference], node: str) -> int:
    """How many clocks agree with a node's."""
    return sum(abs(other.ahead - known[node].ahead) <= BEHIND for other in known.values())


def _difference(
    news: Mapping[str, _Reported], server: Mapping[str, _Times], one: str, other: str
) -> _Difference | None:
    """By how much the other clock is ahead, if that is known."""
    if SERVER in (one, other):
        # The pairs hold the node's time and then the server's; asked from the server's side they are turned round.
        times = server.get(other if one == SERVER else one)
        pair = times if times is None or one != SERVER else times[::-1]
    else:
        mine, its = news[one], news[other]
        # The facts of a node are distinct (`_news`), as `assume_unique` needs.
        _, here, there = np.intersect1d(mine.what, its.what, assume_unique=True, return_indices=True)
        pair = mine.times[here], its.times[there]
    return None if pair is None else agreed(*pair)


def agreed(one: Numbers, other: Numbers) -> _Difference | None:
    """The difference of clocks on which the times agree at which two nodes report the same facts; None if there is
    none.
    """
    order = np.argsort(one, kind="stable")
    later, ends = (other - one)[order], np.flatnonzero(np.diff(one[order]) > AT_ONCE) + 1
    # One number for each occasion: a node that starts reports a hundred old facts at once.
    occasions = np.sort([float(np.median(own)) for own in np.split(later, ends) if len(own)])
    # For each occasion, how many others differ from it by no more than `AGREEING` upwards.
    counts = np.searchsorted(occasions, occasions + AGREEING, side="right") - np.arange(len(occasions))
    if counts.max(initial=0) < max(OCCASIONS, len(occasions) / PART):
        return None
    begin = int(counts.argmax())
    agreeing = occasions[begin : begin + counts[begin]]
    ahead, none = float(np.median(agreeing)), int((np.abs(occasions) <= AGREEING).sum())
    # A node that hears late differs by much, too. But its own acts it reports at once, as equal clocks would show.
    if abs(ahead) > BEHIND and none * 4 > len(agreeing):
        return None
    return _Difference(ahead, len(agreeing))


def _times_of_server(reading: LogReading) -> dict[str, _Times]:
    """The facts whose server time a line repeats: by each node's clock, and by the server's."""
    found: dict[str, list[tuple[int, int]]] = {}
    for event, own, other in repeated(reading):
        found.setdefault(event.run.node, []).append((own, other))
    return {node: (np.array(pairs)[:, 0], np.array(pairs)[:, 1]) for node, pairs in found.items()}


class _Reported(NamedTuple):
    """The facts that a node reports and others report too, by number: when it first does, and at which event."""

    what: Numbers
    times: Numbers
    where: Positions


_Times = tuple[Numbers, Numbers]


@dataclass(frozen=True, slots=True)
class _News:
    """Fields in which lines of different nodes report the same fact, and the kinds of their events; any kind if none is
    given.
    """

    fields: tuple[str, ...]
    kinds: frozenset[str] = frozenset()

    def may_be(self, pattern: LinePattern) -> bool:
        """Whether a line of a pattern can report such a fact. The author and the session are added to every line, so
        they do not count.
        """
        logged = pattern.fields.keys() | pattern.constants.keys() | {"broker", "session"}
        return logged.issuperset(self.fields) and (not self.kinds or pattern.kind in self.kinds)

    def fact(self, event: Event) -> tuple[object, ...] | None:
        """The fact that an event reports, if it is of this kind."""
        values = tuple(event.fields.get(name) for name in self.fields)
        return None if None in values or (self.kinds and event.kind not in self.kinds) else values


@cache
def _all_news() -> tuple[_News, ...]:
    content = rule_file("clocks.toml")
    return tuple(_News(tuple(each["fields"]), frozenset(each.get("kinds", ()))) for each in content["news"])


def _reported_by(event: Event) -> tuple[object, ...] | None:
    """The fact that a line reports: of several, the first kind."""
    found = ((number, news.fact(event)) for number, news in enumerate(_all_news() if event.pattern else ()))
    return next(((number, *reported) for number, reported in found if reported is not None), None)


def _asked(reading: LogReading) -> Positions:
    """The positions of events that can report shared facts; if they are many, those of some slices only."""
    pattern, events = reading.catalogue.pattern, reading.events
    found = events.positions_where(
        lambda own: bool(own.pattern) and any(news.may_be(pattern(own.pattern)) for news in _all_news())
    )
    if len(found) <= MANY:
        return found
    statements = events.statements(EveryKind(frozenset(SLICE)))
    of = [
        str(own)
        for own in events.map_statements(statements, SLICE, lambda event: [event.fields.get(name) for name in SLICE])
    ]
    # Sorted, so that the choice does not depend on the order of files. Events of no slice all stay.
    kept = set(sorted(set(of))[:: len(found) // MANY + 1]) | {str([None] * len(SLICE))}
    return found[np.array([own in kept for own in of], np.bool_)[statements.numbers[found]]]


def _news(reading: LogReading) -> dict[str, _Reported]:
    """The facts that each node reports; the node with the most comes first."""
    nodes = sorted({stream.run.node for stream in reading.streams})
    if len(nodes) < 2:
        return {}
    events, positions = reading.events.only(_asked(reading))
    statements = events.statements(EveryKind(frozenset(name for news in _all_news() for name in news.fields)))
    known: dict[object, int] = {None: -1}
    logged = events.map_statements(statements, "news", _reported_by)
    what = np.array([known.setdefault(each, len(known)) for each in logged], np.int32)[statements.numbers]
    telling = np.flatnonzero(what >= 0).astype(np.int32)
    what, times = what[telling], events.times_at(telling)
    sizes = [len(stream.events) for stream in reading.streams]
    node = np.repeat([nodes.index(stream.run.node) for stream in reading.streams], sizes)[positions][telling]
    # The last key sorts first: by node, then by fact, then by time.
    order = np.lexsort((times, what, node))
    order = order[times[order] != NEVER]
    # Of each node the first report of each fact: repetitions come at any later time.
    first = np.ones(len(order), np.bool_)
    first[1:] = (np.diff(what[order]) != 0) | (np.diff(node[order]) != 0)
    order = order[first]
    parts = [order[node[order] == number] for number in range(len(nodes))]
    found = {
        name: _Reported(what[own], times[own], positions[telling[own]])
        for name, own in zip(nodes, parts, strict=True)
        if len(own)
    }
    return dict(sorted(found.items(), key=lambda item: -len(item[1].what)))
