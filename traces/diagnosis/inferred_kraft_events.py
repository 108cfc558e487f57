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
from math import inf
from typing import NamedTuple

from assay.traces.diagnosis.inference import NEAR, Guess, Said, all_said, data, stream
from assay.traces.diagnosis.missing_logs import lost_starts
from assay.traces.event import Event, Field
from assay.traces.log_reader import LogReading
from assay.traces.store.packed_records import NEVER
from assay.traces.table.event_table import EventTable, traits


def events_of_quorum(reading: LogReading) -> Iterator[Event]:
    """All inferred events, stream by stream."""
    supposing = _Supposing(reading)
    yield from stream("reigns", list(supposing.reigns()))
    for guess in supposing.voters():
        yield from stream(guess.text, [guess])
    yield from stream("rules", list(supposing.rules()))
    for guess in supposing.unread():
        yield from stream(guess.text, [guess])
    for member in supposing.members:
        yield from stream(f"member {member}", list(supposing.entries(member)))


class Untold(NamedTuple):
    """A member that was there before any line reports its registration: its first evidence, and whether it was active
    by then.
    """

    said: Said
    active: bool


def untold_members(reading: LogReading) -> dict[int, Untold]:
    """Such members, from brokers' logs alone."""
    own = data()["quorum"]
    there: dict[int, Said] = {}
    first: dict[str, dict[Field, int]] = {"registered": {}, "activated": {}}
    for said in all_said(reading, frozenset({own["listed"], own["name"]})):
        kind, member = said.event.kind, said.get(own["name"])
        if kind in (*own["entered"], *own["stated"]):
            first["registered"].setdefault(member, said.time)
        if kind in own["activated"]:
            first["activated"].setdefault(member, said.time)
        listed = said.get(own["listed"])
        shown = listed if isinstance(listed, tuple) else ()
        for each in (*shown, *((member,) if kind in own["present"] else ())):
            if isinstance(each, int):
                there.setdefault(each, said)
    return {
        each: Untold(said, first["activated"].get(each, inf) >= first["registered"].get(each, inf) - NEAR)
        for each, said in sorted(there.items())
        if said.time < first["registered"].get(each, inf) - NEAR
    }


def events_of_members(reading: LogReading, untold: Mapping[int, Untold]) -> Iterator[Event]:
    """Inferred registrations and an inferred leader, before the logs of the brokers begin.

    While a member is not known to be active, hidden steps of the model may still activate it.
    """
    own = data()["quorum"]
    yield from stream("reigns", list(_Supposing(reading).first_reign()))
    begin = min((each.said.time for each in untold.values()), default=0)
    for member, (said, active) in untold.items():
        place, name = said.event.record.place, {own["name"]: member}
        registered = f"supposed: {own['name']} {member} was registered"
        guesses = [Guess(own["enters"], {**name, own["number"]: 1}, begin, place, registered)]
        if active:
            guesses.append(Guess(own["is_active"], name, begin, place, f"supposed: {own['name']} {member} was active"))
        yield from stream(f"member {member}", guesses)


def _spans(reading: LogReading, logger: str) -> dict[int, tuple[int, int]]:
    """For each voter the time span that is covered by the logs of a logger of this name, or below it."""
    found: dict[int, tuple[int, int]] = {}
    voters = {node.name: node.brokers for node in reading.nodes}
    for log in reading.streams:
        times = EventTable.of(log.events).times
        stated = times[times != NEVER]
        if len(stated) and any(each.logger.startswith(logger) for each in traits(log.events)):
            for voter in voters.get(log.run.node, ()):
                begin, end = found.get(voter, (int(stated.min()), 0))
                found[voter] = min(begin, int(stated.min())), max(end, int(stated.max()))
    return found


class _Supposing:
    """All events that are inferred from one reading."""

    def __init__(self, reading: LogReading) -> None:
        self._own = own = data()["quorum"]
        fields = {own["name"], own["number"], own["run"], own["term"], own["winner"]}
        naming = {field for table in ("spoken", "acting", "names") for field in own[table].values()}
        self._said = all_said(reading, frozenset(fields | naming))
        self._begin = self._said[0].time if self._said else 0
        self._lost = {run for run, _ in lost_starts(reading)}
        self._read = {member for node in reading.nodes for member in node.brokers}
        self._commanding = _spans(reading, own["commanding"])

    # ---------------------------------------------------------------------------------------------- controller terms

    def reigns(self) -> Iterator[Guess]:
        """Candidacies that were not logged, and leaders whose election was not logged."""
        own, spoken, terms = self._own, self._spoken, self._terms
        lowest, unnamed = min(terms, default=2), self._unnamed
        found: dict[int, Guess] = {}
        if unnamed is not None and lowest > 1 and lowest not in spoken:
            found[lowest - 1] = self._found(unnamed[0], lowest - 1, self._begin, unnamed[1])
        for term, (holder, first) in spoken.items():
            found[term] = self._found(holder, term, self._begin if term == lowest else first.time, first)
        standing = (said for said in self._said if said.event.kind == own["stands"])
        stood = {(said.get(own["winner"]), said.get(own["term"])) for said in standing}
        for said in self._said:
            voter, won = said.get(own["winner"]), said.get(own["term"])
            if said.event.kind in own["held"] and isinstance(won, int) and (voter, won) not in stood:
                found.setdefault(won, self._stood(voter, won, said))
        yield from (found[term] for term in sorted(found))

    def first_reign(self) -> Iterator[Guess]:
        """The leader before the first term that brokers name."""
        lowest, unnamed = min(self._terms, default=2), self._unnamed
        if unnamed is not None and lowest > 1:
            yield self._found(unnamed[0], lowest - 1, self._begin, unnamed[1])

    def voters(self) -> Iterator[Guess]:
        """The term of each voter before its first line about a term: a candidate has moved to the next term itself."""
        own = self._own
        if next(iter(self._terms), 1) <= 1:  # the first term is logged
            return
        leading = {holder for holder, _ in self._spoken.values()}
        leading |= set() if self._unnamed is None else {self._unnamed[0]}
        first: dict[int, Said] = {}
        for said in self._said:
            voter = said.get(own["winner"])
            if said.event.kind in (*own["held"], *own["moves"]) and isinstance(voter, int):
                first.setdefault(voter, said)
        for voter, said in sorted(first.items(), key=lambda each: each[0]):
            term = said.get(own["term"])
            before = term - (said.event.kind in (own["stands"], *own["held"])) if isinstance(term, int) else 0
            if before > 0:
                fields: dict[str, Field] = {own["winner"]: voter, own["term"]: before}
                text = f"supposed: {voter} was in {own['term']} {before}"
                time = said.time if voter in leading else self._begin
                yield Guess(own["reached"], fields, time, said.event.record.place, text)

    def rules(self) -> Iterator[Guess]:
        """The feature levels in the first lines about them: assumed to have held before, because they hardly ever
        change.
        """
        told: dict[str, Said] = {}
        for said in self._said:
            if said.event.kind in self._own["rules"]:
                told.setdefault(said.event.kind, said)
        for kind, said in told.items():
            text = f"supposed: {kind} was as it is told later"
            yield Guess(kind, said.event.fields, self._begin, said.event.record.place, text)

    def unread(self) -> Iterator[Guess]:
        """An event for each voter whose votes were not read, and for each leader whose records were not read.

        If its log was read for all times at which it is said to lead, it wrote nothing then.
        """
        own = self._own
        led = dict(self._naming(own["spoken"], own["acting"]))
        named = {**led, **dict(self._naming(own["names"]))}
        for what, kinds, among in (
            ("votes", {*own["moves"], *own["held"]}, named),
            ("commands", {*own["commands"]}, led),
        ):
            told = {said.get(own["winner"]) for said in self._said if said.event.kind in kinds}
            for voter, said in sorted(among.items(), key=lambda each: each[0]):
                if voter not in told and not (what == "commands" and self._was_listened_to(voter)):
                    text = f"supposed: {what} of {own['winner']} {voter}, of which no line was read"
                    place = said.event.record.place
                    yield Guess(own[f"{what}_unread"], {own["winner"]: voter}, self._begin, place, text)

    def _was_listened_to(self, voter: int) -> bool:
        """Whether the log of a voter's records was read for all times at which it is said to lead."""
        begin, end = self._commanding.get(voter, (inf, -inf))
        times = [said.time for who, said in self._naming(self._own["spoken"], self._own["acting"]) if who == voter]
        return begin <= min(times) + NEAR and max(times) <= end + NEAR

    def _naming(self, *tables: Mapping[str, str]) -> Iterator[tuple[int, Said]]:
        """The voters that lines name, in the fields that the rules give for their kinds."""
        for said in self._said:
            for table in tables:
                voter = said.get(table.get(said.event.kind, ""))
                if isinstance(voter, int):
                    yield voter, said

    def _stood(self, voter: Field, term: int, said: Said) -> Guess:
        own = self._own
        text = f"supposed: {voter} stood for election in {own['term']} {term}"
        return Guess(own["stands"], {own["winner"]: voter, own["term"]: term}, said.time, said.event.record.place, text)

    def _found(self, holder: Field, term: int, time: int, said: Said) -> Guess:
        own = self._own
        fields: dict[str, Field] = {own["holder"]: holder, own["term"]: term}
        text = f"supposed: {holder} led in {own['term']} {term}"
        return Guess(own["found"], fields, time, said.event.record.place, text)

    @cached_property
    def _terms(self) -> dict[int, Said]:
        """The terms that lines name, each with the first such line."""
        own = self._own
        kinds = {*own["held"], *own["spoken"], *own["moves"], *own["asks"]}
        found: dict[int, Said] = {}
        for said in self._said:
            term = said.get(own["term"])
            if said.event.kind in kinds and isinstance(term, int):
                found.setdefault(term, said)
        return found

    @cached_property
    def _spoken(self) -> dict[int, tuple[Field, Said]]:
        """For each term whose election was not logged: the leader, and the first line that shows it."""
        own = self._own
        held = {said.get(own["term"]) for said in self._said if said.event.kind in own["held"]}
        found: dict[int, tuple[Field, Said]] = {}
        for said in self._said:
            term, holder = said.get(own["term"]), said.get(own["spoken"].get(said.event.kind, ""))
            if isinstance(term, int) and isinstance(holder, int) and term not in held and term > 0:
                found.setdefault(term, (holder, said))
        return found

    @cached_property
    def _unnamed(self) -> tuple[Field, Said] | None:
        """The leader before any election or known leader of some term, as shown by lines that name no term."""
        own = self._own
        known = {(said.get(own["winner"]), said.time) for said in self._said if said.event.kind in own["held"]}
        known |= {(holder, said.time) for holder, said in self._spoken.values()}
        for said in self._said:
            holder = said.get(own["acting"].get(said.event.kind, ""))
            if isinstance(holder, int) and not any(who == holder and time <= said.time + NEAR for who, time in known):
                return holder, said
        return None

    # ------------------------------------------------------------------------------------------------- registrations

    @property
    def members(self) -> list[int]:
        """The members that lines name."""
        own = self._own
        kinds = {*own["entered"], *own["stated"], *own["present"]}
        found = {said.get(own["name"]) for said in self._said if said.event.kind in kinds}
        return sorted(member for member in found if isinstance(member, int))

    def entries(self, member: int) -> Iterator[Guess]:
        """The last registration of a member before the logs begin, and later ones that were not logged."""
        own = self._own
        about = [said for said in self._said if said.get(own["name"]) == member]
        told = {n: said for said in reversed(about) if said.event.kind in own["entered"] for n in self._number(said)}
        written = {n for said in about if said.event.kind in own["entered"] for n in self._number(said)}
        written -= {n for n, said in told.items() if said.event.kind in own["again"]}
        begun = {said.get(own["run"]) for said in about if said.event.kind in own["begins"]}
        past = [n for n, said in told.items() if n not in written and said.get(own["run"]) not in begun]
        if member not in self._read:
            past = self._at_first(sorted(past), told, about[0].time, min(written, default=None))
        stated = {n: said for said in reversed(about) if said.event.kind in own["stated"] for n in self._number(said)}
        entered = min((said.time for n, said in told.items() if n not in past), default=None)
        early = [said for said in about if said.event.kind in own["present"]]
        early = [said for said in early if entered is None or said.time < entered - NEAR]
        heard = sorted(n for n in stated if n not in told and n > max(past, default=0))
        if not past and early and not any(entered is None or stated[n].time < entered for n in heard):
            heard = [1, *heard] if 1 not in told else heard
        for at, number in enumerate([*([max(past)] if past else []), *heard]):
            said = told.get(number) or stated.get(number) or early[0]
            run = said.get(own["run"]) if number in told else None
            time = self._begin if at == 0 else said.time
            yield self._entered(member, number, run, time, said)
            if at > 0 or self._is_active(about, entered):
                text = f"supposed: {own['name']} {member} was active"
                yield Guess(own["is_active"], {own["name"]: member}, time, said.event.record.place, text)

    def _at_first(self, numbers: list[int], told: Mapping[int, Said], spoken: int, written: int | None) -> list[int]:
        """Of the broker epochs of a member without logs, those that it had before its first evidence.

        A controller that reads the metadata log again logs them all at once.
        """
        found: list[int] = []
        for n in numbers:
            goes_on = told[n].time <= told[found[-1]].time + NEAR if found else spoken < told[n].time - NEAR
            if not goes_on or (written is not None and n > written):
                break
            found.append(n)
        return found

    def _number(self, said: Said) -> list[int]:
        number = said.get(self._own["number"])
        return [number] if isinstance(number, int) and number > 0 else []

    def _is_active(self, about: list[Said], entered: int | None) -> bool:
        """Whether a member was active when the logs begin: its own run says so, or the first change logged of it is a
        deactivation.
        """
        own = self._own
        before = [said for said in about if entered is None or said.time < entered - NEAR]
        changes = [said for said in before if said.event.kind in (*own["activates"], *own["deactivates"])]
        if changes:
            return changes[0].event.kind in own["deactivates"]
        return any(said.event.kind in own["present"] and said.event.run in self._lost for said in before)

    def _entered(self, member: int, number: int, run: Field, time: int, said: Said) -> Guess:
        own = self._own
        fields: dict[str, Field] = {own["name"]: member, own["number"]: number}
        fields |= {} if run is None else {own["run"]: run}
        text = f"supposed: {own['name']} {member} was registered with {number}"
        return Guess(own["enters"] if run is None else own["enters_as"], fields, time, said.event.record.place, text)
