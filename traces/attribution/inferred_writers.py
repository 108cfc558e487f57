"""The broker that wrote a line of a file of several brokers, where the line names a session or a start, and no broker.

The registration of a broker names both its id and its session. A start belongs to the broker whose session begins next
after it, and which wrote nothing in between. Starts at one time may be exchanged: no line tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assay.traces.event import Field
from assay.traces.store.matched_record import MatchedRecord
from assay.traces.store.packed_records import PackedRecords


class _Need(NamedTuple):
    """A broker that started between two positions."""

    until: int
    since: int
    broker: int


def inferred_writers(matches: PackedRecords, writers: Sequence[frozenset[int]]) -> dict[int, int]:
    """The brokers that wrote records without ``writers``, by the positions of the records."""
    told = matches.with_roles("session start", "session state", "session end")
    of_session = {
        session: broker for at in told for session, broker in _sessions(matches[at]) if isinstance(broker, int)
    }
    found = {
        at: of_session[session]
        for at in told
        if not writers[at]
        for session, _ in _sessions(matches[at])
        if session in of_session
    }
    needs = list(_starts(matches, {at: min(own) for at, own in enumerate(writers) if len(own) == 1} | found))
    begun = _assigned(needs, [at for at in matches.with_roles("process start") if not writers[at]])
    # A prelude (`Registered kafka:type=kafka.Log4jController MBean`) stands before the start that was just assigned.
    before = [_Need(at, need.since, need.broker) for need, at in begun]
    announced = _assigned(before, [at for at in matches.with_roles("process prelude") if not writers[at]])
    return found | {at: need.broker for need, at in (*begun, *announced)}


def _sessions(match: MatchedRecord) -> Iterator[tuple[str, Field]]:
    """The sessions that a record names as the process's own, each with the broker if it is named, too."""
    for each in match.matches:
        session = each.fields.get("session")
        if isinstance(session, str):
            yield session, each.fields.get("broker")


def _starts(matches: PackedRecords, writers: dict[int, int]) -> Iterator[_Need]:
    """The starts that there must have been: of each broker before a session that does not follow an expired one."""
    # `session_of` has "" for a broker without a session so far, and None after one that expired.
    last: dict[int, int] = {}
    session_of: dict[int, str | None] = {}
    for at in sorted(writers):
        broker, roles = writers[at], matches[at].roles
        opened = next((session for session, _ in _sessions(matches[at])), None) if "session start" in roles else None
        if opened is not None and opened != session_of.get(broker, ""):
            if session_of.get(broker, "") is not None:
                yield _Need(at, last.get(broker, -1), broker)
            session_of[broker] = opened
        if "session end" in roles and any(each.pattern.kind == "SessionExpired" for each in matches[at].matches):
            session_of[broker] = None  # the client opens the next one by itself
        last[broker] = at


def _assigned(needs: Sequence[_Need], places: Sequence[int]) -> list[tuple[_Need, int]]:
    """The first place that is left for each need, the earliest need first."""
    left = list(places)
    found: list[tuple[_Need, int]] = []
    # Needs are sorted by `until`, their first field: who must have started earliest takes a place first.
    for need in sorted(needs):
        at = next((each for each in left if need.since < each < need.until), None)
        if at is not None:
            left.remove(at)
            found.append((need, at))
    return found
