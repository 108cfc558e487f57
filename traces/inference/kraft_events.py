"""Inferred events of a KRaft quorum whose logs begin in mid-life: leaders and registered brokers
(docs/design/inferred-events.md).

A controller that starts reads the whole metadata log again and logs it line by line. What it logs about runs that do
not begin in the logs was so before them. Of these registrations the last one of each broker is its current one.

Where all logs of a voter are missing, its votes and the records that it wrote as leader are not inferred one by one.
That they are missing is an event of its own, and the spec says what may follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from math import inf
from typing import NamedTuple

from assay.traces.diagnosis.missing_logs import lost_starts
from assay.traces.event import Event, Field
from assay.traces.inference.facts import NEAR, Fact, UntimedEvent, all_facts, data, stream
from assay.traces.log_reader import LogReading
from assay.traces.store.packed_records import NEVER
from assay.traces.table.event_table import EventTable, traits


def events_of_quorum(reading: LogReading) -> Iterator[Event]:
    """All inferred events, stream by stream."""
    supposing = _Inference(reading)
    yield from stream("terms", list(supposing.unlogged_elections()))
    for event in supposing.voters():
        yield from stream(event.text, [event])
    yield from stream("rules", list(supposing.rules()))
    for event in supposing.unread():
        yield from stream(event.text, [event])
    for member in supposing.members:
        yield from stream(f"member {member}", list(supposing.entries(member)))


class UnloggedMember(NamedTuple):
    """A member that was there before any line reports its registration: its first evidence, and whether it was active
    by then.
    """

    fact: Fact
    active: bool


def unlogged_members(reading: LogReading) -> dict[int, UnloggedMember]:
    """Such members, from brokers' logs alone."""
    own = data()["quorum"]
    there: dict[int, Fact] = {}
    first: dict[str, dict[Field, int]] = {"registered": {}, "activated": {}}
    for fact in all_facts(reading, frozenset({own["listed"], own["name"]})):
        kind, member = fact.event.kind, fact.get(own["name"])
        if kind in (*own["entered"], *own["mentioned"]):
            first["registered"].setdefault(member, fact.time)
        if kind in own["activated"]:
            first["activated"].setdefault(member, fact.time)
        listed = fact.get(own["listed"])
        shown = listed if isinstance(listed, tuple) else ()
        for each in (*shown, *((member,) if kind in own["present"] else ())):
            if isinstance(each, int):
                there.setdefault(each, fact)
    return {
        each: UnloggedMember(fact, first["activated"].get(each, inf) >= first["registered"].get(each, inf) - NEAR)
        for each, fact in sorted(there.items())
        if fact.time < first["registered"].get(each, inf) - NEAR
    }


def events_of_members(reading: LogReading, unlogged: Mapping[int, UnloggedMember]) -> Iterator[Event]:
    """Inferred registrations and an inferred leader, before the logs of the brokers begin.

    While a member is not known to be active, hidden steps of the model may still activate it.
    """
    own = data()["quorum"]
    yield from stream("terms", list(_Inference(reading).first_coordinator()))
    # All of them were there before the first evidence of any, in whatever order they came.
    begin = min((each.fact.time for each in unlogged.values()), default=0)
    for member, (fact, active) in unlogged.items():
        place, name = fact.event.record.place, {own["name"]: member}
        registered = f"supposed: {own['name']} {member} was registered"
        events = [UntimedEvent(own["enters"], {**name, own["number"]: 1}, begin, place, registered)]
        if active:
            events.append(
                UntimedEvent(own["is_active"], name, begin, place, f"supposed: {own['name']} {member} was active")
            )
        yield from stream(f"member {member}", events)


def _spans(reading: LogReading, logger: str) -> dict[int, tuple[int, int]]:
    """For each voter the time span that is covered by the logs of a logger of this name, or below it."""
    found: dict[int, tuple[int, int]] = {}
    voters = {node.name: node.brokers for node in reading.nodes}
    for log in reading.streams:
        times = EventTable.of(log.events).times
        reported = times[times != NEVER]
        if len(reported) and any(each.logger.startswith(logger) for each in traits(log.events)):
            for voter in voters.get(log.run.node, ()):
                # Of several files of one voter the whole span: it wrote into one of them at any time of it.
                begin, end = found.get(voter, (int(reported.min()), 0))
                found[voter] = min(begin, int(reported.min())), max(end, int(reported.max()))
    return found


class _Inference:
    """All events that are inferred from one reading."""

    def __init__(self, reading: LogReading) -> None:
        self._own = own = data()["quorum"]
        fields = {own["name"], own["number"], own["run"], own["term"], own["winner"]}
        naming = {field for table in ("naming", "acting", "names") for field in own[table].values()}
        shown = own["shown"]
        self._facts = all_facts(reading, frozenset({*fields, *naming, *shown["empty"].values()}))
        self._begin = self._facts[0].time if self._facts else 0
        self._lost = {run for run, _ in lost_starts(reading)}
        # A build may call its version `unknown`.
        major = [int(version.partition(".")[0]) for version in reading.versions if version[:1].isdecimal()]
        self._oldest = min(major, default=shown["since"])
        self._read = {member for node in reading.nodes for member in node.brokers}
        self._commanding = _spans(reading, own["commanding"])

    # ---------------------------------------------------------------------------------------------- controller terms

    def unlogged_elections(self) -> Iterator[UntimedEvent]:
        """Candidacies that were not logged, and leaders whose election was not logged."""
        own, named, terms = self._own, self._named_holders, self._terms
        # Leaders before the first known epoch, leaders whose election has no line, and candidacies without a line.
        # Without any term the leader is supposed in the first one, so that the lowest known is the second.
        lowest, unnamed = min(terms, default=2), self._unnamed
        found: dict[int, UntimedEvent] = {}
        if unnamed is not None and lowest > 1 and lowest not in named:
            found[lowest - 1] = self._found(unnamed[0], lowest - 1, self._begin, unnamed[1])
        for term, (holder, first) in named.items():
            found[term] = self._found(holder, term, self._begin if term == lowest else first.time, first)
        standing = (fact for fact in self._facts if fact.event.kind == own["stands"])
        stood = {(fact.get(own["winner"]), fact.get(own["term"])) for fact in standing}
        for fact in self._facts:
            voter, won = fact.get(own["winner"]), fact.get(own["term"])
            if fact.event.kind in own["held"] and isinstance(won, int) and (voter, won) not in stood:
                found.setdefault(won, self._stood(voter, won, fact))
        yield from (found[term] for term in sorted(found))

    def first_coordinator(self) -> Iterator[UntimedEvent]:
        """The leader before the first term that brokers name."""
        lowest, unnamed = min(self._terms, default=2), self._unnamed
        if unnamed is not None and lowest > 1:
            yield self._found(unnamed[0], lowest - 1, self._begin, unnamed[1])

    def voters(self) -> Iterator[UntimedEvent]:
        """The term of each voter before its first line about a term: a candidate has moved to the next term itself."""
        own = self._own
        if next(iter(self._terms), 1) <= 1:  # the first term is logged
            return
        leading = {holder for holder, _ in self._named_holders.values()}
        leading |= set() if self._unnamed is None else {self._unnamed[0]}
        first: dict[int, Fact] = {}
        for fact in self._facts:
            voter = fact.get(own["winner"])
            if fact.event.kind in (*own["held"], *own["moves"]) and isinstance(voter, int):
                first.setdefault(voter, fact)
        for voter, fact in sorted(first.items(), key=lambda each: each[0]):
            term = fact.get(own["term"])
            # A candidate stands in the epoch after its own, as in Raft (KIP-595).
            before = term - (fact.event.kind in (own["stands"], *own["held"])) if isinstance(term, int) else 0
            if before > 0:
                fields: dict[str, Field] = {own["winner"]: voter, own["term"]: before}
                text = f"supposed: {voter} was in {own['term']} {before}"
                time = fact.time if voter in leading else self._begin
                yield UntimedEvent(own["reached"], fields, time, fact.event.record.place, text)

    def rules(self) -> Iterator[UntimedEvent]:
        """The feature levels in the first lines about them: assumed to have held before, because they hardly ever
        change.
        """
        logged: dict[str, Fact] = {}
        for fact in self._facts:
            if fact.event.kind in self._own["rules"]:
                logged.setdefault(fact.event.kind, fact)
        for kind, fact in logged.items():
            text = f"supposed: {kind} was as it is logged later"
            yield UntimedEvent(kind, fact.event.fields, self._begin, fact.event.record.place, text)
        shown = self._own["shown"]
        showing = (each for each in self._facts if each.get(shown["empty"].get(each.event.kind, "")) == ())
        for fact in islice(showing, self._oldest >= shown["since"]):
            text = f"supposed: {shown['rule']}, as a line shows"
            yield UntimedEvent(shown["rule"], shown["fields"], self._begin, fact.event.record.place, text)

    def unread(self) -> Iterator[UntimedEvent]:
        """An event for each voter whose votes were not read, and for each leader whose records were not read.

        If its log was read for all times at which it is said to lead, it wrote nothing then.
        """
        own = self._own
        led = dict(self._naming(own["naming"], own["acting"]))
        named = {**led, **dict(self._naming(own["names"]))}
        for what, kinds, among in (
            ("votes", {*own["moves"], *own["held"]}, named),
            ("commands", {*own["commands"]}, led),
        ):
            logged = {fact.get(own["winner"]) for fact in self._facts if fact.event.kind in kinds}
            for voter, fact in sorted(among.items(), key=lambda each: each[0]):
                if voter not in logged and not (what == "commands" and self._was_listened_to(voter)):
                    text = f"supposed: {what} of {own['winner']} {voter}, of which no line was read"
                    place = fact.event.record.place
                    yield UntimedEvent(own[f"{what}_unread"], {own["winner"]: voter}, self._begin, place, text)

    def _was_listened_to(self, voter: int) -> bool:
        """Whether the log of a voter's records was read for all times at which it is said to lead."""
        begin, end = self._commanding.get(voter, (inf, -inf))
        times = [fact.time for who, fact in self._naming(self._own["naming"], self._own["acting"]) if who == voter]
        return begin <= min(times) + NEAR and max(times) <= end + NEAR

    def _naming(self, *tables: Mapping[str, str]) -> Iterator[tuple[int, Fact]]:
        """The voters that lines name, in the fields that the rules give for their kinds."""
        for fact in self._facts:
            for table in tables:
                voter = fact.get(table.get(fact.event.kind, ""))
                if isinstance(voter, int):
                    yield voter, fact

    def _stood(self, voter: Field, term: int, fact: Fact) -> UntimedEvent:
        own = self._own
        text = f"supposed: {voter} stood for election in {own['term']} {term}"
        return UntimedEvent(
            own["stands"], {own["winner"]: voter, own["term"]: term}, fact.time, fact.event.record.place, text
        )

    def _found(self, holder: Field, term: int, time: int, fact: Fact) -> UntimedEvent:
        own = self._own
        fields: dict[str, Field] = {own["holder"]: holder, own["term"]: term}
        text = f"supposed: {holder} led in {own['term']} {term}"
        return UntimedEvent(own["found"], fields, time, fact.event.record.place, text)

    @cached_property
    def _terms(self) -> dict[int, Fact]:
        """The terms that lines name, each with the first such line."""
        own = self._own
        kinds = {*own["held"], *own["naming"], *own["moves"], *own["asks"]}
        found: dict[int, Fact] = {}
        for fact in self._facts:
            term = fact.get(own["term"])
            if fact.event.kind in kinds and isinstance(term, int):
                found.setdefault(term, fact)
        return found

    @cached_property
    def _named_holders(self) -> dict[int, tuple[Field, Fact]]:
        """For each term whose election was not logged: the leader, and the first line that shows it."""
        own = self._own
        held = {fact.get(own["term"]) for fact in self._facts if fact.event.kind in own["held"]}
        found: dict[int, tuple[Field, Fact]] = {}
        for fact in self._facts:
            term, holder = fact.get(own["term"]), fact.get(own["naming"].get(fact.event.kind, ""))
            if isinstance(term, int) and isinstance(holder, int) and term not in held and term > 0:
                found.setdefault(term, (holder, fact))
        return found

    @cached_property
    def _unnamed(self) -> tuple[Field, Fact] | None:
        """The leader before any election or known leader of some term, as shown by lines that name no term."""
        own = self._own
        known = {(fact.get(own["winner"]), fact.time) for fact in self._facts if fact.event.kind in own["held"]}
        known |= {(holder, fact.time) for holder, fact in self._named_holders.values()}
        for fact in self._facts:
            holder = fact.get(own["acting"].get(fact.event.kind, ""))
            if isinstance(holder, int) and not any(who == holder and time <= fact.time + NEAR for who, time in known):
                return holder, fact
        return None

    # ------------------------------------------------------------------------------------------------- registrations

    @property
    def members(self) -> list[int]:
        """The members that lines name."""
        own = self._own
        kinds = {*own["entered"], *own["mentioned"], *own["present"]}
        found = {fact.get(own["name"]) for fact in self._facts if fact.event.kind in kinds}
        return sorted(member for member in found if isinstance(member, int))

    def entries(self, member: int) -> Iterator[UntimedEvent]:
        """The last registration of a member before the logs begin, and later ones that were not logged."""
        own = self._own
        about = [fact for fact in self._facts if fact.get(own["name"]) == member]
        logged = {n: fact for fact in reversed(about) if fact.event.kind in own["entered"] for n in self._number(fact)}
        # `written`: a leader wrote these broker epochs while it logged. Others were replayed from the metadata log.
        written = {n for fact in about if fact.event.kind in own["entered"] for n in self._number(fact)}
        written -= {n for n, fact in logged.items() if fact.event.kind in own["again"]}
        begun = {fact.get(own["run"]) for fact in about if fact.event.kind in own["begins"]}
        # A replayed epoch of a run (by its incarnation id) that begins in the logs is not of the past.
        past = [n for n, fact in logged.items() if n not in written and fact.get(own["run"]) not in begun]
        if member not in self._read:
            past = self._at_first(sorted(past), logged, about[0].time, min(written, default=None))
        reported = {
            n: fact for fact in reversed(about) if fact.event.kind in own["mentioned"] for n in self._number(fact)
        }
        entered = min((fact.time for n, fact in logged.items() if n not in past), default=None)
        early = [fact for fact in about if fact.event.kind in own["present"]]
        early = [fact for fact in early if entered is None or fact.time < entered - NEAR]
        later_numbers = sorted(n for n in reported if n not in logged and n > max(past, default=0))
        if not past and early and not any(entered is None or reported[n].time < entered for n in later_numbers):
            later_numbers = [1, *later_numbers] if 1 not in logged else later_numbers
        # Of the past only the last registration counts: it took the place of those before.
        for at, number in enumerate([*([max(past)] if past else []), *later_numbers]):
            fact = logged.get(number) or reported.get(number) or early[0]
            run = fact.get(own["run"]) if number in logged else None
            time = self._begin if at == 0 else fact.time
            yield self._entered(member, number, run, time, fact)
            if at > 0 or self._is_active(about, entered):
                text = f"supposed: {own['name']} {member} was active"
                yield UntimedEvent(own["is_active"], {own["name"]: member}, time, fact.event.record.place, text)

    def _at_first(self, numbers: list[int], logged: Mapping[int, Fact], named: int, written: int | None) -> list[int]:
        """Of the broker epochs of a member without logs, those that it had before its first evidence.

        A controller that reads the metadata log again logs them all at once.
        """
        found: list[int] = []
        for n in numbers:
            goes_on = logged[n].time <= logged[found[-1]].time + NEAR if found else named < logged[n].time - NEAR
            if not goes_on or (written is not None and n > written):
                break
            found.append(n)
        return found

    def _number(self, fact: Fact) -> list[int]:
        number = fact.get(self._own["number"])
        return [number] if isinstance(number, int) and number > 0 else []

    def _is_active(self, about: list[Fact], entered: int | None) -> bool:
        """Whether a member was active when the logs begin: its own run says so, or the first change logged of it is a
        deactivation.
        """
        own = self._own
        before = [fact for fact in about if entered is None or fact.time < entered - NEAR]
        changes = [fact for fact in before if fact.event.kind in (*own["activates"], *own["deactivates"])]
        if changes:
            return changes[0].event.kind in own["deactivates"]
        return any(fact.event.kind in own["present"] and fact.event.run in self._lost for fact in before)

    def _entered(self, member: int, number: int, run: Field, time: int, fact: Fact) -> UntimedEvent:
        own = self._own
        fields: dict[str, Field] = {own["name"]: member, own["number"]: number}
        fields |= {} if run is None else {own["run"]: run}
        text = f"supposed: {own['name']} {member} was registered with {number}"
        return UntimedEvent(
            own["enters"] if run is None else own["enters_as"], fields, time, fact.event.record.place, text
        )
