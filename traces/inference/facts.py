"""Reads facts off lines about things that were never logged, and makes inferred events of them
(docs/design/inferred-events.md).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import inf
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from assay.traces.event import INFERRED, INFERRED_AT, Event, Field, LogPosition, LogRecord, Notice, ProcessRun
from assay.traces.log_reader import LogReading
from assay.traces.patterns.pattern import RUNNING_ROLES
from assay.traces.patterns.rule_files import rule_file
from assay.traces.store.packed_records import NEVER
from assay.traces.table.statement_ids import EveryKind

NEAR = 1_000
"""Milliseconds between two lines about one change of the members."""


class Fact(NamedTuple):
    """A fact that lines report, and the first line that does."""

    event: Event
    time: int

    def get(self, field: str) -> Field:
        """The value of a field of the fact; None if it has none."""
        return self.event.fields.get(field)


class UnloggedRegistration(NamedTuple):
    """A registration that was not logged, in the given incarnation of the cluster; ``session`` is None if it is
    unknown.
    """

    incarnation: int
    number: int
    member: Field
    node: str
    session: str | None
    time: int
    place: LogPosition
    is_within: bool = False
    """Whether the run started, and opened the session, in the logs."""


class UntimedEvent(NamedTuple):
    """An inferred event before its time is adjusted to its stream."""

    kind: str
    fields: Mapping[str, Field]
    time: int
    place: LogPosition
    text: str


def all_facts(reading: LogReading, names: frozenset[str]) -> list[Fact]:
    """The distinct facts that lines report in some fields, by the time of the first report."""
    events = reading.events
    statements = events.statements(EveryKind(names | {"run"}))
    never = np.iinfo(np.int64).max
    times = np.where(events.times == NEVER, never, events.times.astype(np.int64))
    # Events stand statement by statement, so `reduceat` gives the least time of each. It refuses an empty array.
    first = np.minimum.reduceat(times[statements.order], statements.begins[:-1]) if len(times) else times
    rows = zip(events.at(statements.examples), first.tolist(), strict=True)
    return sorted((Fact(event, time) for event, time in rows if event.pattern and time != never), key=_time)


def _time(fact: Fact) -> int:
    return fact.time


def unregistered_members(reading: LogReading) -> list[tuple[Field, Fact]]:
    """The members that a line shows to be new, and whose registration since they were new last was not logged.

    Every line counts, also one that says what an earlier one said: a member may come more than once.
    """
    own = data()["member"]
    entered: dict[Field, list[int]] = defaultdict(list)
    for event in reading.of_kinds({*own["entered"], *own["tried"]}):
        entered[event.fields.get(own["name"])].append(event.record.time or 0)
    listing = reading.of_patterns(lambda pattern: not pattern.fields.keys().isdisjoint(own["new"]))
    found: list[tuple[Field, Fact]] = []
    since: dict[Field, float] = {}
    for fact in sorted((Fact(each, each.record.time or 0) for each in listing), key=_time):
        # A field of another form, such as a damaged one, lists nobody.
        held = [each for name in own["new"] if isinstance(each := fact.get(name), tuple)]
        for member in (each for members in held for each in members):
            # Only registrations since it was new last: a member that left and came again registered twice.
            if not any(since.get(member, -inf) < time <= fact.time + NEAR for time in entered[member]):
                found.append((member, fact))
            since[member] = fact.time + NEAR
    return found


def session_around(reading: LogReading, run: str, time: int) -> tuple[str | None, bool]:
    """The session of a process run at a time, and whether it was opened before; None if lines name none. A client
    connects again in the session that it has, so the next connection counts where no earlier one is read.
    """
    own = data()["member"]
    every = (each for each in reading.of_kinds({own["opens"], *own["lost"]}) if str(each.run) == run)
    ordered = sorted(every, key=lambda event: event.record.time or 0)
    before = [each for each in ordered if (each.record.time or 0) <= time]
    # First the last line before the time, then the first one after it.
    for event in (*before[-1:], *ordered[len(before) : len(before) + 1]):
        session = event.fields.get(own["session"])
        if event.kind == own["opens"] and isinstance(session, str):
            return session, event in before
    return None, False


def stream(name: str, events: Sequence[UntimedEvent], node: str = INFERRED) -> Iterator[Event]:
    """Inferred events as one stream. Times are lowered so that none is later than those after it.

    They are guesses, unless ``node`` is ``INFERRED_AT``.
    """
    run = ProcessRun(node, 1)
    # The order of a stream is certain and its times are guesses, so times give way.
    latest = np.minimum.accumulate([event.time for event in events][::-1])[::-1].tolist() if events else []
    for event, time in zip(events, latest, strict=True):
        record = LogRecord(event.place, time, "INFO", "", None, event.text)
        yield Event(event.kind, "", event.fields, record, run, f"{INFERRED} {name}")


def untold_events(reading: LogReading) -> Iterator[Event]:
    """What processes did by the lines that they wrote, and did not tell because a logger is set to warnings.

    A process whose prelude is there has started. One that started and registered opened a session before, also where
    no line of it tells so, as with ``log4j.logger.org.apache.zookeeper=WARN``. Each has a stream of its own.
    """
    own = data()["member"]
    # The first prelude line of each run wins: a dict keeps what was put in last.
    preludes = {event.run: event for event in reversed(list(reading.of_role("process prelude")))}
    running = {event.run for event in reading.of_role(*RUNNING_ROLES)}
    for run, event in preludes.items():
        if run not in running and own["name"] in event.fields:
            before = {"previous_run": str(ProcessRun(run.node, run.number - 1))} if run.number > 1 else {}
            start = started(str(run), event.fields[own["name"]], event.record.time or 0, event.record.place, before)
            yield from stream(f"start of {run}", [start], INFERRED_AT)
    told = {event.run for event in reading.of_kinds({own["opens"]})}
    begun = running | preludes.keys()
    lines: dict[ProcessRun, list[Event]] = defaultdict(list)
    for event in reading.of_kinds({*own["entered"], *own["tried"], *own["lost"], *_contests()}):
        # A process one of whose lines tells of a session logs all of them: then nothing is supposed.
        if event.run in begun and event.run not in told:
            lines[event.run].append(event)
    told_later = _sessions_told_later(reading) if lines else {}
    for run, events in lines.items():
        ordered = sorted(events, key=lambda event: event.record.time or 0)
        # Sessions without times were tried at any time: a repeated controller epoch took 53 s to find instead of 15.
        yield from stream(f"sessions of {run}", list(_sessions(str(run), ordered, told_later)), INFERRED_AT)


def started(
    node: str, member: Field, time: int, place: LogPosition, more: Mapping[str, Field] = MappingProxyType({})
) -> UntimedEvent:
    """A process started; ``more`` are further fields of the event."""
    own = data()["member"]
    text = f"supposed: {node} started as {own['name']} {member}"
    return UntimedEvent(own["starts"], {"node": node, own["name"]: member, **more}, time, place, text)


def opened(node: str, session: Field, time: int, place: LogPosition) -> UntimedEvent:
    """A process opened a session."""
    own = data()["member"]
    text = f"supposed: {node} opened the session {session}"
    return UntimedEvent(own["opens"], {"node": node, own["session"]: session}, time, place, text)


def ended(node: str, time: int, place: LogPosition) -> UntimedEvent:
    """A process heard that its session had ended."""
    text = f"supposed: {node} heard that its session had ended"
    return UntimedEvent(data()["member"]["ends"], {"node": node}, time, place, text)


def _contests() -> frozenset[str]:
    """The events in which a process took part in an election; up to Kafka 1.0 it does before it registers."""
    return frozenset({*data()["coordinator"]["held"], *data()["coordinator"]["known"]})


def _sessions_told_later(reading: LogReading) -> dict[LogPosition, Field]:
    """The sessions of registrations as later lines name them, by the places of the registrations.

    The process names its session when that ends, and another process is refused because the session holds the node.
    """
    own = data()["member"]
    last: dict[Field, Event] = {}
    found: dict[LogPosition, Field] = {}
    lines = reading.of_kinds({*own["entered"], *own["tried"], *own["lost"]})
    for event in sorted(lines, key=lambda event: event.record.time or 0):
        member, session = event.fields.get(own["name"]), event.fields.get(own["session"])
        if event.kind in own["entered"]:
            last[member] = event
            continue
        entered = last.get(member)
        if entered is not None and event.kind in own["lost"]:
            session = session if event.run == entered.run else None
        else:
            session = event.fields.get(own["owner"])
        if entered is not None and session is not None:
            found.setdefault(entered.record.place, session)
    return found


def _sessions(run: str, events: Sequence[Event], told_later: Mapping[LogPosition, Field]) -> Iterator[UntimedEvent]:
    """The sessions in which a process registered or tried to, each from the first line of the attempt on."""
    own = data()["member"]
    current: Field = None
    attempt: Event | None = None
    for count, event in enumerate(events, 1):
        if event.kind in own["lost"]:
            current = None
            continue
        registers = event.kind in {*own["entered"], *own["tried"]}
        if registers or current is None:
            attempt = attempt or event
        if not registers or attempt is None:
            continue
        named = event.fields.get(own["session"]) or told_later.get(event.record.place)
        if named is None and event.kind not in own["entered"]:
            continue  # the line that says how the attempt ended comes next
        if named is None or named != current:
            time, place = attempt.record.time or 0, attempt.record.place
            if current is not None:
                yield ended(run, time, place)
            # A name that no log has: ids of ZooKeeper are hexadecimal.
            current = named or f"session {count} of {run}"
            yield opened(run, current, time, place)
        attempt = None


@cache
def data() -> Mapping[str, Any]:
    """Which facts are read off which lines (``patterns/rules/inferred_events.toml``)."""
    return rule_file("inferred_events.toml")


def inference_notices(events: Sequence[Event]) -> list[Notice]:
    """Notices about how much was inferred."""
    if not events:
        return []
    counts = Counter(event.kind for event in events)
    listed = ", ".join(f"{count} {_in_words(kind)}" for kind, count in sorted(counts.items()))
    text = f"it is supposed that this came before the lines, which rest on it: {listed}"
    return [Notice(INFERRED, events[0].record.place, text)]


def _in_words(kind: str) -> str:
    """``broker node created`` for the kind ``BrokerNodeCreated``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).lower()
