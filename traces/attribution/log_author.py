"""The process run that wrote a log, as the author of its events: it adds node, broker and session to their fields."""

from __future__ import annotations

from collections.abc import Mapping

from assay.traces.event import Event, Field, LogRecord, ProcessRun
from assay.traces.patterns.template_fields import FieldLayout, LineFields
from assay.traces.store.matched_record import MatchedRecord

Owners = Mapping[str, tuple[ProcessRun, int | None]]
"""The process run that owned each session, and its broker id if that is known."""


class Author:
    """One process run as the author of its lines.

    ``broker`` is None if it is not known; with ``unknown``, the run is not known either.
    """

    def __init__(self, run: ProcessRun, broker: int | None, owners: Owners, *, unknown: bool) -> None:
        self.run, self._broker, self._owners = run, broker, owners
        self._place: dict[str, Field] = {"node": None, "run": None} if unknown else {"node": str(run)}
        self._added_fields: dict[tuple[str | None, bool], dict[str, Field]] = {}

    def is_like(self, other: Author) -> bool:
        """Whether both add the same fields to lines that name no session, and were written in none."""
        return (self.run, self._broker, self._place) == (other.run, other._broker, other._place)

    def owner(self, session: str | None) -> tuple[ProcessRun, int | None] | None:
        """The owner of a session, if it is known."""
        return None if session is None else self._owners.get(session)

    def events_of(self, match: MatchedRecord, session: str | None, stream: str) -> list[Event]:
        """The events of a record, with the node, the broker and the session added where they are known."""
        record, run = match.record, self.run
        return [
            Event(each.pattern.kind, each.pattern.name, self._complete(each.fields, session), record, run, stream)
            for each in match.matches
        ]

    def event_of(self, field_layout: FieldLayout, record: LogRecord, session: str | None, stream: str) -> Event:
        """One event of a record whose events are all distinct."""
        pattern = field_layout.pattern
        return Event(
            pattern.kind, pattern.name, self._fields(field_layout, record.message, session), record, self.run, stream
        )

    def added_fields(self, field_layout: FieldLayout, session: str | None) -> Mapping[str, Field] | None:
        """The fields that are added to those of a message; None if they depend on a session that the message names."""
        names = field_layout.fields
        if "session" in names or "owner_session" in names:
            return None
        # The result depends on nothing else, so that all events of a session share one dictionary.
        key = session, "broker" in names
        added_fields = self._added_fields.get(key)
        if added_fields is None:
            added_fields = self._added_fields[key] = self._author_fields(session, names_broker=key[1])
            self._add_owner(added_fields)
        return added_fields

    def _fields(self, field_layout: FieldLayout, message: str, session: str | None) -> Mapping[str, Field]:
        """The fields of a message and the added ones."""
        added_fields = self.added_fields(field_layout, session)
        return (
            self._complete(field_layout.read(message), session)
            if added_fields is None
            else LineFields(field_layout, message, added_fields)
        )

    def _complete(self, logged: Mapping[str, Field], session: str | None) -> dict[str, Field]:
        """All fields of a line. If the line names a session, the owner of that session is added."""
        fields = {
            **logged,
            **self._author_fields(session if "session" not in logged else None, names_broker="broker" in logged),
        }
        self._add_owner(fields)
        return fields

    def _author_fields(self, session: str | None, *, names_broker: bool) -> dict[str, Field]:
        """The fields that are added to a line: the session, if one is given, and the broker, if the line does not name
        it.
        """
        more = dict(self._place)
        if self._broker is not None and not names_broker:
            more["broker"] = self._broker
        if session is not None:
            more["session"] = session
        return more

    def _add_owner(self, fields: dict[str, Field]) -> None:
        """Name the process behind a session that another process's line names (ZooKeeper's, or that of a broker which
        was refused a node).
        """
        session = fields.get("owner_session", fields.get("session"))
        if not isinstance(session, str) or session not in self._owners:
            return
        owner, owner_broker = self._owners[session]
        # A process that names its own session needs no owner. One that was refused a node by its own session does.
        if owner == self.run and "owner_session" not in fields:
            return
        fields["owner"] = str(owner)
        if owner_broker is not None:
            fields["owner_broker"] = owner_broker
        if "owner_session" in fields:
            fields["holder"] = _holder(owner, owner_broker, self.run)


def _holder(owner: ProcessRun, broker: int | None, run: ProcessRun) -> str:
    """Who holds a ZooKeeper node that this run was refused, in an operator's words."""
    if owner == run:
        return "an earlier session of this very process"
    if owner.node == run.node:
        return f"an earlier run of this very broker ({owner})"
    return str(owner) if broker is None else f"broker {broker} (process {owner})"
