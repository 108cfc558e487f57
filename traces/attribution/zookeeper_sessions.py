"""Which process owned a ZooKeeper session, and in which session a process was when it wrote a line.

The ids join: the broker's client, the broker's registration and the ZooKeeper server print the same number, which the
reader has brought to one spelling. The session is left out between the end of one and the beginning of the next. It is
also left out where two files of a process could only be ordered by equal timestamps.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.attribution.node_files import Section
from assay.traces.patterns.match import PatternMatch
from assay.traces.patterns.pattern import JOINED
from assay.traces.store.matched_record import MatchedRecord
from assay.traces.store.record_block import Numbers

_SESSION_ROLES = ("session start", "session end")


@dataclass(frozen=True, slots=True)
class Sessions:
    """The session in which each record of a log was written, as an index into ``names``."""

    names: list[str | None]
    numbers: Numbers

    def __getitem__(self, at: int) -> str | None:
        return self.names[int(self.numbers[at])]


class SessionTimeline:
    """The sessions of one process run, as its own lines report them."""

    def __init__(self) -> None:
        self._times = np.empty(0, np.int64)
        self._states: list[str | None] = [None]
        self._places: dict[str, tuple[list[int], list[str | None]]] = {}
        self._joined: dict[tuple[object, ...], str] = {}

    def learn(self, sections: Iterable[Section]) -> set[str]:
        """Take in the records of a run, those of one log in order; returns the sessions that the run owned."""
        changes: list[tuple[int, str | None]] = []
        owned: set[str] = set()
        for stream, positions, matches in sections:
            for at in matches.with_roles(*_SESSION_ROLES):
                match = matches[at]
                for known, session in self._states_in(match):
                    # `states` has one entry more than there are positions: the first is that before any report, where
                    # none is known.
                    own_positions, states = self._places.setdefault(stream, ([], [None]))
                    own_positions.append(int(positions[at]))
                    states.append(session)
                    if match.record.time is not None:
                        changes.append((match.record.time, session))
                    owned |= {known} if known is not None else set()
        # By time alone, and stable: two changes in one millisecond of a log keep the order of their lines.
        changes.sort(key=lambda change: change[0])
        self._times = np.array([time for time, _ in changes], np.int64)
        self._states = [None, *(state for _, state in changes)]
        return owned

    def of(self, section: Section) -> Sessions:
        """The session of the process when it wrote each record; None where that cannot be determined."""
        found, changed = self._by_latest_report(section), False
        if self._joined:
            for at in section.matches.with_roles(JOINED):
                keys = (_join_key(finding) for finding in section.matches[at].matches if finding.pattern.joins)
                name = next((self._joined[key] for key in keys if key in self._joined), found[at])
                # Copied before the first change: without reports the array is a broadcast of one zero, which cannot be
                # written.
                if not changed:
                    found, changed = Sessions(found.names, found.numbers.copy()), True
                found.names.append(name)
                found.numbers[at] = len(found.names) - 1
        return found

    def _by_latest_report(self, section: Section) -> Sessions:
        """The session by the latest report: by position in a log that reports sessions, by time in the others."""
        # In its own log positions are exact, and times need not be: two lines may have one time.
        own = self._places.get(section.stream)
        if own is not None:
            positions, states = own
            return Sessions(list(states), np.searchsorted(positions, section.positions, side="right"))
        if not len(self._times):
            return Sessions(list(self._states), np.broadcast_to(np.zeros(1, np.int64), len(section.matches)))
        times = section.matches.times
        before, upto = (np.searchsorted(self._times, times, side=side) for side in ("left", "right"))
        # A report with the very same timestamp, in another log, may have come before or after the record: no session.
        return Sessions(list(self._states), np.where(before == upto, before, 0))

    def _states_in(self, match: MatchedRecord) -> list[tuple[str | None, str | None]]:
        """The session changes that a record reports: the session that it names as the process's own, and the one that
        holds from then on.
        """
        found: list[tuple[str | None, str | None]] = []
        for finding in match.matches:
            role = finding.pattern.role
            if role not in _SESSION_ROLES:
                continue
            value = finding.fields.get("session")
            session = value if isinstance(value, str) else None
            if role == "session end":
                found.append((session, None))
            elif session is not None:
                found.append((session, session))
                if finding.pattern.joins:
                    self._joined[_join_key(finding)] = session
        return found


def _join_key(finding: PatternMatch) -> tuple[object, ...]:
    """The values that lines of one session have in common; empty for a pattern without ``joins``."""
    return tuple(finding.fields.get(name) for name in finding.pattern.joins)
