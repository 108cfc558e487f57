"""Sessions of other ZooKeeper clients in a broker's process, such as an authorizer's (KIP-11).

The lines of ZooKeeper's client library name a session, not the client. The model knows the broker's own session alone:
lines of the others are left out, and a notice counts them. So are those of a second broker that writes the same file,
as long as no line of it names a broker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assay.traces.attribution.node_files import Section
from assay.traces.event import Notice, ProcessRun
from assay.traces.patterns.match import PatternMatch
from assay.traces.store.matched_record import MatchedRecord

SOON_MS = 60_000
"""By this many milliseconds after the broker's session the sessions of the other clients of its process begin."""
_ROLES = ("session client", "session start", "session state", "session end")


class _Step(NamedTuple):
    """What a line tells of a session; ``client`` is the name of a client that is not the broker's own.

    ``owner`` is the session that owns the node which this one wants. ``certain`` is whether only the broker's own
    client writes such a line.
    """

    role: str
    session: str | None
    client: str | None
    owner: str | None
    certain: bool
    time: int


def broker_sessions_only(
    runs: Mapping[ProcessRun, list[Section]], notices: list[Notice]
) -> dict[ProcessRun, list[Section]]:
    """The records of process runs without those that tell of other clients' sessions."""
    return {run: _own_sessions_only(sections, notices) for run, sections in runs.items()}


def _own_sessions_only(sections: list[Section], notices: list[Notice]) -> list[Section]:
    steps = _steps(sections)
    others = _other_sessions(steps)
    named = any(each.client is not None for each in steps)
    return _without(others, sections, notices) if others or named else sections


def _without(others: set[str], sections: list[Section], notices: list[Notice]) -> list[Section]:
    """The records of one run that tell of none of some sessions."""
    left: list[Section] = []
    for section in sections:
        matches = section.matches
        told = [at for at in matches.with_roles(*_ROLES) if _tells_of(matches[at], others)]
        if told:
            text = f"lines of ZooKeeper sessions of another client, such as an authorizer's, are not checked: {len(told):,}"
            notices.append(Notice("other sessions", matches[told[0]].record.place, text))
            keep = np.delete(np.arange(len(matches)), told)
            left.append(Section(section.stream, section.positions[keep], matches.take(keep)))
        else:
            left.append(section)
    return left


def _tells_of(match: MatchedRecord, others: set[str]) -> bool:
    return all(each.fields.get("session") in others or each.fields.get("client") is not None for each in match.matches)


def _steps(sections: Sequence[Section]) -> list[_Step]:
    """What the lines of a run tell of sessions, in the order of time."""
    found = [
        _step(finding, match.record.time or 0)
        for _, _, matches in sections
        for at in matches.with_roles(*_ROLES, "registration")
        for match in [matches[at]]
        for finding in match.matches
        if finding.pattern.role is not None
    ]
    return sorted(found, key=lambda step: step.time)


def _step(finding: PatternMatch, time: int) -> _Step:
    fields = finding.fields

    def text(name: str) -> str | None:
        return str(fields[name]) if fields.get(name) is not None else None

    certain = not fields.keys().isdisjoint({"broker", "owner_session"})
    return _Step(finding.pattern.role or "", text("session"), text("client"), text("owner_session"), certain, time)


def _other_sessions(steps: Sequence[_Step]) -> set[str]:
    """The sessions that are not the broker's own.

    Lines about nodes that the broker creates say which is its own. Those in which a client by name opens or closes one
    say which is another's. Otherwise a session is another client's if it begins soon after the broker's, which lasts,
    or after another one's end.
    """
    # First what lines say for certain, then the order of times for the sessions of which no line says it.
    own = {session for each in steps if each.certain for session in (each.session, each.owner) if session is not None}
    others = _sessions_by_client(steps) - own
    lasting: str | None = None
    begun = 0
    registered = told_apart = reopens = False
    for at, (role, session, client, _, certain, time) in enumerate(steps):
        if role == "registration" or (certain and session == lasting):
            registered = True
        elif role == "session start" and session is not None and session not in others and session != lasting:
            # A second session while the first lasts: the process has two clients, or the end of the first was not read.
            soon = time - begun <= SOON_MS or reopens
            if lasting is None or session in own or not soon or (registered and _registers_next(steps, at)):
                # The one that lasted never registered a broker, so that it was not the broker's own.
                others |= {lasting} if lasting is not None and lasting not in own and not registered else set()
                lasting, registered, begun = session, certain, time
            else:
                others.add(session)
                reopens = False
        elif role == "session end" and client is None:
            # The client opens a new session by itself, so the next one may be its own, however late it begins.
            if session in others:
                told_apart = reopens = True
            elif session == lasting or (session is None and not told_apart):
                lasting = None
            elif session is None:
                told_apart = False  # the client of a session that the line before it names
    # A line about the broker's own nodes is certain, whatever the order of times made of the session.
    return others - own


def _sessions_by_client(steps: Sequence[_Step]) -> set[str]:
    """The sessions of clients that are named right before, as no other client is at work at the time."""
    found: set[str] = set()
    clients: set[str | None] = set()
    for role, session, client, _, certain, _ in steps:
        if role == "session client":
            clients.add(client)
        elif role in {"session start", "session end"} and session is not None and not certain:
            if clients and None not in clients:
                found.add(session)
            clients = set()
    return found


def _registers_next(steps: Sequence[_Step], at: int) -> bool:
    """Whether the broker registers in the session that begins at a step: the end of the one before was not logged."""
    later = (each.role for each in steps[at + 1 :] if each.role in {"registration", "session start", "session end"})
    return next(later, None) == "registration"
