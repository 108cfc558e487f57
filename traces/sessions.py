"""Which process owned a ZooKeeper session, and in which session a process was when it wrote a line.

The ids join: the broker's client, the broker's registration and the ZooKeeper server print the same number (the reader
has made one spelling of them). Between the end of a session and the beginning of the next, and where two files of a
process would have to be ordered by time stamps that are equal, the session is left out.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from assay.traces.identity import Line
from assay.traces.readers.reading import Match
from assay.traces.shapes.recognise import Finding

_OF_SESSIONS = ("session start", "session end")


class SessionTimeline:
    """The sessions of one process run, as its own lines tell them."""

    def __init__(self) -> None:
        self._times: list[int] = []
        self._states: list[str | None] = []
        self._places: dict[str, tuple[list[int], list[str | None]]] = {}
        self._joined: dict[tuple[object, ...], str] = {}

    def learn(self, lines: Iterable[Line]) -> set[str]:
        """Take in the records of a run, those of one log in order; returns the sessions that the run owned."""
        changes: list[tuple[int, str | None]] = []
        owned: set[str] = set()
        for stream, position, match in lines:
            for known, session in self._states_in(match):
                positions, states = self._places.setdefault(stream, ([], []))
                positions.append(position)
                states.append(session)
                if match.record.time is not None:
                    changes.append((match.record.time, session))
                owned |= {known} if known is not None else set()
        changes.sort(key=lambda change: change[0])
        self._times = [time for time, _ in changes]
        self._states = [state for _, state in changes]
        return owned

    def at(self, line: Line) -> str | None:
        """The session of the process when it wrote a record; none if that cannot be told."""
        for finding in line.match.findings:
            if finding.shape.joins and (key := _join_key(finding)) in self._joined:
                return self._joined[key]
        own = self._places.get(line.stream)
        if own is not None:
            positions, states = own
            at = bisect_right(positions, line.position)
            return states[at - 1] if at else None
        time = line.match.record.time
        if time is None:
            return None
        before, upto = bisect_left(self._times, time), bisect_right(self._times, time)
        return self._states[before - 1] if before == upto and before > 0 else None

    def _states_in(self, match: Match) -> list[tuple[str | None, str | None]]:
        """What a record says of sessions: the one it names as the process's own, and the one that holds from now on."""
        found: list[tuple[str | None, str | None]] = []
        for finding in match.findings:
            role = finding.shape.role
            if role not in _OF_SESSIONS:
                continue
            value = finding.fields.get("session")
            session = value if isinstance(value, str) else None
            if role == "session end":
                found.append((session, None))
            elif session is not None:
                found.append((session, session))
                if finding.shape.joins:
                    self._joined[_join_key(finding)] = session
        return found


def _join_key(finding: Finding) -> tuple[object, ...]:
    """The values that lines of one session have in common; empty where a shape names none."""
    return tuple(finding.fields.get(name) for name in finding.shape.joins)
