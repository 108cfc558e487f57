"""Which process owned a ZooKeeper session, and in which session a process was when it wrote a line.

The ids join: the broker's client, the broker's registration and the ZooKeeper server print the same number (the reader
has made one spelling of them). Between the end of a session and the beginning of the next, and where two files of a
process would have to be ordered by time stamps that are equal, the session is left out.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from assay.traces.events import ProcessRun
from assay.traces.readers.records import Match

_STARTING_KINDS = frozenset({"BrokerNodeCreated", "RegistrationRefused", "ElectionRefused"})


class SessionTimeline:
    """The sessions of one process run, as its own lines tell them."""

    def __init__(self) -> None:
        self._times: list[int] = []
        self._states: list[str | None] = []
        self._places: dict[str, tuple[list[int], list[str | None]]] = {}
        self._by_registration: dict[tuple[object, object], str] = {}

    def learn(self, matches: Iterable[tuple[str, Match]]) -> set[str]:
        """Take in the records of a run, those of one file in order; returns the sessions that the run owned."""
        changes: list[tuple[int, str | None]] = []
        owned: set[str] = set()
        for file, match in matches:
            for known, session in self._states_in(match):
                offsets, states = self._places.setdefault(file, ([], []))
                offsets.append(match.record.place.offset)
                states.append(session)
                if match.record.time is not None:
                    changes.append((match.record.time, session))
                owned |= {known} if known is not None else set()
        changes.sort(key=lambda change: change[0])
        self._times = [time for time, _ in changes]
        self._states = [state for _, state in changes]
        return owned

    def at(self, file: str, match: Match) -> str | None:
        """The session of the process when it wrote a record; none if that cannot be told."""
        for finding in match.findings:
            key = (finding.fields.get("broker"), finding.fields.get("epoch"))
            if finding.shape.kind == "BrokerRegistered" and key in self._by_registration:
                return self._by_registration[key]
        if file in self._places:
            offsets, states = self._places[file]
            at = bisect_right(offsets, match.record.place.offset)
            return states[at - 1] if at else None
        time = match.record.time
        if time is None:
            return None
        before, upto = bisect_left(self._times, time), bisect_right(self._times, time)
        return self._states[before - 1] if before == upto and before > 0 else None

    def _states_in(self, match: Match) -> list[tuple[str | None, str | None]]:
        """What a record says of sessions: the one it names as the process's own, and the one that holds from now on."""
        found: list[tuple[str | None, str | None]] = []
        for finding in match.findings:
            session = finding.fields.get("session")
            if finding.shape.role == "session end":
                found.append((session if isinstance(session, str) else None, None))
            elif isinstance(session, str) and (
                finding.shape.role == "session start" or finding.shape.kind in _STARTING_KINDS
            ):
                found.append((session, session))
            if finding.shape.kind == "BrokerNodeCreated" and isinstance(session, str):
                self._by_registration[finding.fields["broker"], finding.fields["epoch"]] = session
        return found


