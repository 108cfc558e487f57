"""The broker that wrote a line of a file of several brokers, where the line itself does not state it.

Most lines begin with the part of the process that wrote them, and its id: `[RaftManager id=102] …`. The
registration of a broker names both its id and its session. A start belongs to the broker whose session begins next
after it, and which wrote nothing in between. Starts at one time may be exchanged: no line tells them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice, pairwise
from typing import NamedTuple

from assay.traces.event import Field
from assay.traces.patterns.rule_files import rule_file
from assay.traces.store.matched_record import MatchedRecord
from assay.traces.store.packed_records import PackedRecords


@cache
def _prefix() -> re.Pattern[str]:
    return re.compile("|".join(rule_file("writers.toml")["prefixes"]))


def named_in_prefix(message: str) -> frozenset[int]:
    """The id of the node with whose part a message begins: 102 of `[RaftManager id=102] Completed transition …`."""
    found = _prefix().match(message)
    return frozenset() if found is None else frozenset({int(found[found.lastindex or 0])})


class _Need(NamedTuple):
    """A broker that started between two positions."""

    until: int
    since: int
    broker: int


def inferred_writers(matches: PackedRecords, writers: Sequence[frozenset[int]]) -> dict[int, int]:
    """The brokers that wrote records without ``writers``, by the positions of the records."""
    naming = matches.with_roles("session start", "session state", "session end")
    of_session = {
        session: broker for at in naming for session, broker in _sessions(matches[at]) if isinstance(broker, int)
    }
    found = {
        at: of_session[session]
        for at in naming
        if not writers[at]
        for session, _ in _sessions(matches[at])
        if session in of_session
    }
    # A line that names two brokers as its writer, as a damaged one does, is no evidence of either.
    known = {at: min(own) for at, own in enumerate(writers) if len(own) == 1} | found
    needs = list(_starts(matches, known))
    begun = _assigned(needs, [at for at in matches.with_roles("process start") if not writers[at]])
    # A prelude (`Registered kafka:type=kafka.Log4jController MBean`) stands before the start that was just assigned.
    before = [_Need(at, need.since, need.broker) for need, at in begun]
    preludes = [at for at in matches.with_roles("process prelude") if not writers[at]]
    announced = {at: need.broker for need, at in (*begun, *_assigned(before, preludes))}
    told = _told_preludes(matches, known, [at for at in preludes if at not in announced])
    return found | announced | told


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


def _told_preludes(matches: PackedRecords, writers: dict[int, int], preludes: Sequence[int]) -> dict[int, int]:
    """The brokers that wrote preludes, by the lines with which a node starts its parts and which name it.

    The prelude is the first line of a process, so it stands where the node wrote nothing. Of several such places since
    its last start the longest silence counts.
    """
    starts, times = set(matches.with_roles("process start", "process running")), matches.times
    since: dict[int, list[int]] = {}
    begun: dict[int, set[str]] = {}
    found: dict[int, int] = {}
    for at in sorted(writers):
        own = since.setdefault(writers[at], [-1])
        own.append(at)
        if at in starts:
            message, before = matches[at].record.message, begun.setdefault(writers[at], set())
            if not before or message in before:  # the same line again is of the next run
                silent = sorted(pairwise(own), key=lambda two: two[0] >= 0 and times[two[0]] - times[two[1]])
                free = (p for low, high in silent for p in reversed(preludes) if low < p < high and p not in found)
                found.update(dict.fromkeys(islice(free, 1), writers[at]))
                since[writers[at]], begun[writers[at]] = [at], {message}
            before.add(message)
    return found


def _assigned(needs: Sequence[_Need], places: Sequence[int]) -> list[tuple[_Need, int]]:
    """The first place that is left for each need, the earliest need first."""
    left = list(places)
    found: list[tuple[_Need, int]] = []
    # Needs are sorted by `until`, their first field: who must have started earliest takes a place first.
    for need in sorted(needs):
        # After the broker's last line before it, for a start stands where the broker wrote nothing.
        at = next((each for each in left if need.since < each < need.until), None)
        if at is not None:
            left.remove(at)
            found.append((need, at))
    return found


def needs_writer(match: MatchedRecord) -> bool:
    """Whether a record is of a kind that says something of its node; others are understood without a known writer."""
    return not all(each.pattern.kind in _unneeded() for each in match.matches)


@cache
def _unneeded() -> frozenset[str]:
    return frozenset(rule_file("writers.toml")["unneeded"])
