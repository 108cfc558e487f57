"""Inferred events of a ZooKeeper cluster: what must have happened before the logs begin, or in logs that are missing.

Sessions, registrations and elections are inferred from later lines (``patterns/rules/inferred_events.toml``). They have
streams of their own, in the order of their numbers; their times are guesses. An answer that rests on them is
inconclusive at best (docs/design/inferred-events.md).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from math import inf
from operator import itemgetter
from typing import NamedTuple

from assay.traces.diagnosis.inference import NEAR, Guess, Said, all_said, data, stream
from assay.traces.diagnosis.inferred_kraft_events import events_of_quorum
from assay.traces.diagnosis.missing_logs import lost_starts
from assay.traces.event import INFERRED, Event, Field, LogPosition, Notice, ProcessRun
from assay.traces.log_reader import LogReading

APART = 10_000
"""A lower number this many milliseconds after a higher one means that the cluster began anew; less may be due to
clocks.
"""


def supposed_events(reading: LogReading, kinds: Container[str]) -> list[Event]:
    """The inferred events of these kinds, which are those of a trace clause."""
    if data()["member"]["starts"] in kinds:
        return [event for event in _Supposing(reading).events() if event.kind in kinds]
    if data()["quorum"]["found"] in kinds:
        return [event for event in events_of_quorum(reading) if event.kind in kinds]
    return []


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


class _Entry(NamedTuple):
    """A registration that was not logged, in the given incarnation of the cluster; ``session`` is None if it is
    unknown.
    """

    life: int
    number: int
    member: Field
    node: str
    session: str | None
    time: int
    place: LogPosition


class _Supposing:
    """All events that are inferred from one reading."""

    def __init__(self, reading: LogReading) -> None:
        self._reading = reading
        self._member, self._reign = own, reign = data()["member"], data()["reign"]
        names = {own["name"], own["session"], own["number"], *own["maps"], *own["new"]}
        names |= {reign[name] for name in ("winner", "holder", "term")}
        self._said = all_said(reading, frozenset(names))
        self._begin = self._said[0].time if self._said else 0
        self._of_run: dict[ProcessRun, list[Said]] = defaultdict(list)
        for said in self._said:
            self._of_run[said.event.run].append(said)
        self._with_maps = [said for said in self._said if any(True for _ in self._maps(said))]
        self._with_new = [said for said in self._said if any(said.get(name) for name in self._member["new"])]
        self._lost = {run: first for run, first in lost_starts(reading) if own["name"] in first.fields}
        self._lives = self._beginnings()

    def _beginnings(self) -> list[int]:
        """The times at which the cluster began anew: versions and epochs never fall within one incarnation."""
        found = [self._begin]
        most: dict[str, tuple[int, int]] = {}
        for said in self._said:
            entered, held = said.event.kind in self._member["entered"], said.event.kind in self._reign["held"]
            term = said.get(self._reign["term"]) if held else None
            for what, number, telling in (
                *((("number", number, entered)) for number in self._numbers_in(said)),
                *((("term", term, True),) if isinstance(term, int) else ()),
            ):
                known, since = most.get(what, (number, said.time))
                if telling and number < known and said.time > since + APART:
                    found.append(said.time)
                    most = {}
                if number >= known or not most:
                    most[what] = number, said.time
        return found

    def _life(self, time: int) -> int:
        """The incarnation of the cluster at a time."""
        return bisect_right(self._lives, time, lo=1) - 1

    def events(self) -> Iterator[Event]:
        """All inferred events, stream by stream."""
        starts = [(run, first) for run, first in self._lost.items() if not self._was_in(run)]
        for run, first in starts:
            yield from stream(f"start of {run}", list(self._start(run, first)))
        yield from stream("members", [guess for entry in self._entries for guess in self._entered(entry)])
        for node, guesses in self._again().items():
            yield from stream(f"members again {node}", guesses)
        yield from stream("reigns", list(self._reigns()))

    # ------------------------------------------------------------------------------------------------- registrations

    def _first_of_session(self, run: ProcessRun) -> Said | None:
        """The first line of a run that was written in a session, or names one."""
        return next((said for said in self._of_run[run] if isinstance(said.get(self._member["session"]), str)), None)

    def _own_entry(self, run: ProcessRun) -> Said | None:
        """The first line of a run about its registration, or an attempt at it."""
        kinds = {*self._member["entered"], *self._member["tried"]}
        return next((said for said in self._of_run[run] if said.event.kind in kinds), None)

    def _was_in(self, run: ProcessRun) -> bool:
        """Whether a run was registered before its logs begin: it had a session before the one in which it registers."""
        own, first = self._own_entry(run), self._first_of_session(run)
        if own is None or first is None or first.time >= own.time:
            return own is None
        entered = own.get(self._member["session"])
        return (
            first.event.kind != self._member["opens"]
            if entered is None
            else first.get(self._member["session"]) != entered
        )

    def _start(self, run: ProcessRun, first: Event) -> Iterator[Guess]:
        """What came before the logs of a run that was not registered yet."""
        time, said = first.record.time or self._begin, self._first_of_session(run)
        yield self._started(str(run), first.fields[self._member["name"]], time, first.record.place)
        if said is None or said.event.kind != self._member["opens"]:
            session = self._session_of(run) or f"session of {run}"
            yield self._opened(str(run), session, time, first.record.place)

    def _started(self, node: str, member: Field, time: int, place: LogPosition) -> Guess:
        text = f"supposed: {node} started as {self._member['name']} {member}"
        return Guess(self._member["starts"], {"node": node, self._member["name"]: member}, time, place, text)

    def _opened(self, node: str, session: Field, time: int, place: LogPosition) -> Guess:
        text = f"supposed: {node} opened the session {session}"
        return Guess(self._member["opens"], {"node": node, self._member["session"]: session}, time, place, text)

    def _entered(self, entry: _Entry) -> Iterator[Guess]:
        own = self._member
        session = entry.session or f"session of {entry.node} with {entry.number}"
        yield self._started(entry.node, entry.member, entry.time, entry.place)
        yield self._opened(entry.node, session, entry.time, entry.place)
        fields = {"node": entry.node, own["name"]: entry.member, own["number"]: entry.number, own["session"]: session}
        text = f"supposed: {entry.node} registered {own['name']} {entry.member} with {entry.number}"
        yield Guess(own["enters"], fields, entry.time, entry.place, text)

    @cached_property
    def _entries(self) -> list[_Entry]:
        """The registrations that were not logged, in the order of their numbers."""
        untold = self._untold_entries()
        found: list[_Entry] = []
        unknown: list[_Entry] = []
        for run, first in self._lost.items():
            # A run none of whose lines has a time that can be is not known to have been in the cluster at any.
            if not self._was_in(run) or not self._of_run.get(run):
                continue
            member, life = first.fields[self._member["name"]], self._life(self._of_run[run][0].time)
            later = min((n for said in self._of_run[run] if isinstance(n := self._number_in(said), int)), default=None)
            until = self._next_run(run)
            numbers = [
                n
                for (of, who, n), said in untold.items()
                if (of, who) == (life, member) and (later is None or n < later) and said.time < until
            ]
            began = self._since(life) if run.number == 1 else first.record.time or self._since(life)
            if not numbers:
                number = 0 if run.number == 1 else self._number_at(life, began)
                entry = _Entry(life, number, member, str(run), self._session_of(run), began, first.record.place)
                (found if number else unknown).append(entry)
                continue
            key = life, member, max(numbers)
            entry = self._entry(key, untold.pop(key), str(run), self._session_of(run))
            found.append(entry if run.number == 1 else entry._replace(time=max(entry.time, began)))
        found += [self._entry(key, said, self._node_of(key[1]), None) for key, said in untold.items()]
        unknown += self._unseen([*found, *unknown])
        return sorted([*self._numbered(unknown), *found], key=lambda entry: entry[:2])

    def _again(self) -> dict[str, list[Guess]]:
        """The registrations that a second term of a controller needs: its first term ended with its session, logged or
        not.
        """
        every, holders = self._all_reigns
        before: dict[tuple[int, Field], Said] = {}
        found: dict[str, list[Guess]] = defaultdict(list)
        for key, said in sorted(every.items(), key=itemgetter(0)):
            member = holders[key]
            last = before.get((key[0], member))
            if last is not None and not self._is_back(member, last.time, said.time):
                node = self._run_of(member, said.time)
                found[node] += self._entered_again(node, member, len(found[node]), said)
            before[key[0], member] = said
        return found

    def _is_back(self, member: Field, begin: int, end: int) -> bool:
        """Whether a member is known to have registered, or tried to, between two times."""
        kinds = {*self._member["entered"], *self._member["tried"]}
        own = (said for said in self._said if said.event.kind in kinds and said.get(self._member["name"]) == member)
        times = [*(said.time for said in own), *(entry.time for entry in self._entries if entry.member == member)]
        return any(begin < time <= end + NEAR for time in times)

    def _entered_again(self, node: str, member: Field, count: int, said: Said) -> Iterator[Guess]:
        own, time, place = self._member, said.time, said.event.record.place
        text = f"supposed: {node} heard that its session had ended"
        yield Guess(own["ends"], {"node": node}, time, place, text)
        yield self._opened(node, f"session {count} of {node} before {place}", time, place)
        text = f"supposed: {node} registered {own['name']} {member} again"
        yield Guess(own["enters_next"], {"node": node, own["name"]: member}, time, place, text)

    def _unseen(self, known: Sequence[_Entry]) -> Iterator[_Entry]:
        """The registrations of members that were present, or elected, before any known registration of theirs."""
        own = self._member
        since = {(entry.life, entry.member): entry.time for entry in reversed(known)}
        for said in self._said:
            if said.event.kind in own["entered"]:
                since.setdefault((self._life(said.time), said.get(own["name"])), said.time)
        for member, said in self._there():
            life = self._life(said.time)
            if since.get((life, member), said.time + NEAR + 1) > said.time + NEAR:
                since[life, member] = said.time
                place = said.event.record.place
                yield _Entry(life, 0, member, self._node_of(member), None, self._since(life), place)

    def _there(self) -> Iterator[tuple[Field, Said]]:
        """Members that lines show as present: they are listed, or were elected without a logged registration."""
        for said in self._said:
            held = said.get(self._member["lists"].get(said.event.kind, ""))
            yield from ((member, said) for member in (held if isinstance(held, tuple) else ()))
        yield from ((holder, said) for _, _, holder, said in self._untold_reigns)

    def _since(self, life: int) -> int:
        return max(self._begin, self._lives[life])

    def _entry(self, key: tuple[int, Field, int], said: Said, node: str, session: str | None) -> _Entry:
        life, member, number = key
        time = self._guessed(key, said)
        return _Entry(life, number, member, node, session, time, said.event.record.place)

    def _session_of(self, run: ProcessRun) -> str | None:
        said = self._first_of_session(run)
        session = None if said is None else said.get(self._member["session"])
        return session if isinstance(session, str) else None

    def _numbered(self, entries: Sequence[_Entry]) -> Iterator[_Entry]:
        """Registrations without a known number: they are taken as the first of their incarnation, if a number is
        free.
        """
        least: dict[int, int] = {}
        for said in self._said:
            for number in self._numbers_in(said):
                least[self._life(said.time)] = min(number, least.get(self._life(said.time), number))
        taken: Counter[int] = Counter()
        for entry in entries:
            taken[entry.life] += 1
            if taken[entry.life] < least.get(entry.life, len(entries) + 1):
                yield entry._replace(number=taken[entry.life])

    def _next_run(self, run: ProcessRun) -> float:
        """The time of the first line of the node's next run."""
        later = self._of_run.get(ProcessRun(run.node, run.number + 1))
        return later[0].time if later else inf

    def _number_at(self, life: int, time: int) -> int:
        """The least free number under which a member may have registered at a time; 0 if there is none."""
        stated = [
            (said.time, n) for said in self._said if self._life(said.time) == life for n in self._numbers_in(said)
        ]
        least = max((n for at, n in stated if at <= time), default=0) + 1
        return least if all(n > least for at, n in stated if at > time) else 0

    def _numbers_in(self, said: Said) -> list[int]:
        """The registration numbers that a line holds."""
        numbers = [number for held in self._maps(said) for number in held.values()]
        return [number for number in (*numbers, self._number_in(said)) if isinstance(number, int)]

    def _number_in(self, said: Said) -> Field:
        """The registration number in a line about a registration."""
        telling = said.event.kind in (*self._member["entered"], *self._member["stated"])
        return said.get(self._member["number"]) if telling else None

    def _untold_entries(self) -> dict[tuple[int, Field, int], Said]:
        """The registrations that lines mention and none reports, each with its first mention."""
        own = self._member
        told = {(self._life(said.time), said.get(own["name"]), said.get(own["number"])) for said in self._told_entries}
        found: dict[tuple[int, Field, int], Said] = {}
        for said in self._said:
            pairs = [pair for held in self._maps(said) for pair in held.items()]
            if said.event.kind in own["stated"]:
                pairs.append((said.get(own["name"]), said.get(own["number"])))
            for member, number in pairs:
                key = self._life(said.time), member, number
                if isinstance(number, int) and key not in told:
                    found.setdefault((key[0], member, number), said)
        return found

    def _maps(self, said: Said) -> Iterator[Mapping[Field, Field]]:
        for name in self._member["maps"]:
            held = said.get(name)
            if isinstance(held, Mapping):
                yield held

    def _guessed(self, key: tuple[int, Field, int], said: Said) -> int:
        """The guessed time of a registration: before the logs begin, unless it was seen to be new, or absent, later.

        Others may have registered before it under lower numbers, and a controller registers again after its term.
        """
        life, member, number = key
        if any(self._is_new(member, each) and abs(each.time - said.time) <= NEAR for each in self._with_new):
            return said.time
        before = (
            *(each for each in self._with_maps if any(held.get(member) != number for held in self._maps(each))),
            *(each for each in self._told_entries if self._life(each.time) == life and self._is_below(each, number)),
            *self._ends_of_reigns(life, member),
        )
        return max((each.time for each in before if each.time < said.time), default=self._begin - 1) + 1

    def _ends_of_reigns(self, life: int, member: Field) -> Iterator[Said]:
        """The first mention of each controller term after a member's own: its session had ended by then."""
        every, holders = self._all_reigns
        of_life = sorted(key for key in every if key[0] == life)
        yield from (every[after] for key, after in pairwise(of_life) if holders[key] == member)

    def _is_below(self, said: Said, number: int) -> bool:
        own = said.get(self._member["number"])
        return isinstance(own, int) and own < number

    @cached_property
    def _told_entries(self) -> list[Said]:
        return [said for said in self._said if said.event.kind in self._member["entered"]]

    def _is_new(self, member: Field, said: Said) -> bool:
        return any(isinstance(held := said.get(name), tuple) and member in held for name in self._member["new"])

    def _run_of(self, member: Field, time: int) -> str:
        """The process run that was this member at a time: the last run of its node that had begun."""
        own = {node.name for node in self._reading.nodes if member in node.brokers}
        begun = {run: said[0].time for run, said in self._of_run.items() if said and run.node in own}
        running = [run for run, first in begun.items() if first <= time + NEAR]
        return str(max(running, key=lambda run: begun[run])) if running else self._node_of(member)

    def _node_of(self, member: Field) -> str:
        """The node that ran as this member, preferably one whose logs begin after its start."""
        nodes = [node.name for node in self._reading.nodes if member in node.brokers]
        lost = {run.node for run in self._lost}
        return next((node for node in nodes if node in lost), next(iter(nodes), f"{self._member['name']} {member}"))

    # ---------------------------------------------------------------------------------------------- controller terms

    def _reigns(self) -> Iterator[Guess]:
        """The elections that were not logged, and the epochs reached before the first logged election."""
        own, (every, _) = self._reign, self._all_reigns
        untold = {(life, term): holder for life, term, holder, _ in self._untold_reigns}
        first = min(every, default=None)
        for (life, term), said in sorted(every.items(), key=itemgetter(0)):
            time, place = self._begin if (life, term) == first else said.time, said.event.record.place
            if term > 1 and (life, term - 1) not in every:
                fields: dict[str, Field] = {own["term"]: term - 1}
                yield Guess(own["reached"], fields, time, place, f"supposed: {own['term']} {term - 1} was reached")
            if (life, term) in untold:
                yield from self._elected(
                    self._run_of(untold[life, term], said.time), untold[life, term], term, time, place
                )

    @property
    def _untold_reigns(self) -> Iterator[tuple[int, int, Field, Said]]:
        """The controller terms without a logged election, each with the controller and its first mention."""
        every, holders = self._all_reigns
        for (life, term), said in sorted(every.items(), key=itemgetter(0)):
            if said.event.kind not in self._reign["held"]:
                yield life, term, holders[life, term], said

    @cached_property
    def _all_reigns(self) -> tuple[dict[tuple[int, int], Said], dict[tuple[int, int], Field]]:
        """The first mention of each controller epoch of each incarnation, and the controllers."""
        own = self._reign
        held: dict[tuple[int, int], Said] = {}
        every: dict[tuple[int, int], Said] = {}
        for said in self._said:
            term = said.get(own["term"])
            if isinstance(term, int) and said.event.kind in own["held"]:
                held.setdefault((self._life(said.time), term), said)
            elif isinstance(term, int) and term > 0 and said.event.kind in own["spoken"]:
                every.setdefault((self._life(said.time), term), said)
        every |= held
        holders = {key: said.get(own["winner"] if key in held else own["holder"]) for key, said in every.items()}
        for said, holder in self._acting():
            key = self._acting_for(said, holder, every, holders)
            if key is not None and key not in held and (key not in every or said.time < every[key].time):
                every[key], holders[key] = said, holder
        return every, holders

    def _acting(self) -> Iterator[tuple[Said, Field]]:
        """Lines that name the controller without its epoch."""
        for said in self._said:
            if said.event.kind in self._reign["acting"]:
                yield said, said.get(self._member["name"])
            elif said.event.kind in self._reign["known"]:
                yield said, said.get(self._reign["winner"])

    def _acting_for(
        self,
        said: Said,
        holder: Field,
        every: Mapping[tuple[int, int], Said],
        holders: Mapping[tuple[int, int], Field],
    ) -> tuple[int, int] | None:
        """The epoch in which a controller must have been elected before a line: one of its own, or a free one. None if
        there is neither.
        """
        life = self._life(said.time)
        own = [key for key in every if key[0] == life and holders[key] == holder]
        if any(every[key].time <= said.time + NEAR for key in own):
            return self._another(said, holder, every, holders) if said.event.kind in self._reign["known"] else None
        later = [key for key in every if key[0] == life and every[key].time > said.time]
        coming = min(later, default=None)
        if coming is None or coming in own:
            return coming
        before = life, coming[1] - 1
        return before if before not in every and before[1] > 0 else None

    def _another(
        self,
        said: Said,
        holder: Field,
        every: Mapping[tuple[int, int], Said],
        holders: Mapping[tuple[int, int], Field],
    ) -> tuple[int, int] | None:
        """The epoch of a second term of a former controller that a line shows as controller again; None if none is
        needed.
        """
        life = self._life(said.time)
        of_life = [key for key in every if key[0] == life]
        if any(holders[key] == holder for key in of_life if abs(every[key].time - said.time) <= NEAR):
            return None
        _, last = max(key for key in of_life if every[key].time <= said.time + NEAR)
        following = life, last + 1
        is_open = holders[life, last] != holder and holders.get(following, holder) == holder
        return following if is_open else None

    def _elected(self, node: str, winner: Field, term: int, time: int, place: LogPosition) -> Iterator[Guess]:
        own = self._reign
        fields: dict[str, Field] = {"node": node, own["winner"]: winner, own["term"]: term, own["version"]: term}
        yield Guess(own["wins"], fields, time, place, f"supposed: {node} was elected for {own['term']} {term}")
        yield Guess(own["reads"], {"node": node}, time, place, f"supposed: {node} has read who is there")
