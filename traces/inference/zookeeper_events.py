"""Inferred events of a ZooKeeper cluster: what must have happened before the logs begin, or in logs that are missing.

Sessions, registrations and elections are inferred from later lines (``patterns/rules/inferred_events.toml``). They have
streams of their own, in the order of their numbers; their times are guesses. An answer that rests on them says
so (docs/design/inferred-events.md).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from math import inf
from operator import itemgetter

from assay.traces.diagnosis.missing_logs import lost_starts
from assay.traces.event import Event, Field, LogPosition, ProcessRun
from assay.traces.inference.coordinator_terms import CoordinatorTerms
from assay.traces.inference.facts import (
    NEAR,
    Fact,
    UnloggedRegistration,
    UntimedEvent,
    all_facts,
    data,
    ended,
    opened,
    session_around,
    started,
    stream,
    unregistered_members,
    untold_events,
)
from assay.traces.inference.kraft_events import events_of_quorum
from assay.traces.log_reader import LogReading

APART = 10_000
"""A lower number this many milliseconds after a higher one means that the cluster began anew; less may be due to
clocks.
"""


def supposed_events(reading: LogReading, kinds: Container[str], *, whole: bool = False) -> list[Event]:
    """The inferred events of these kinds, which are those of a trace clause; of ``whole`` logs, what no logger tells."""
    if data()["member"]["starts"] in kinds:
        events = untold_events(reading) if whole else _Inference(reading).events()
        return [event for event in events if event.kind in kinds]
    if data()["quorum"]["found"] in kinds and not whole:
        return [event for event in events_of_quorum(reading) if event.kind in kinds]
    return []


class _Inference:
    """All events that are inferred from one reading."""

    def __init__(self, reading: LogReading) -> None:
        self._reading = reading
        self._member, self._coordinator = own, coordinator = data()["member"], data()["coordinator"]
        names = {own["name"], own["session"], own["number"], *own["maps"], *own["new"]}
        names |= {coordinator[name] for name in ("winner", "holder", "term")}
        self._facts = all_facts(reading, frozenset(names))
        self._begin = self._facts[0].time if self._facts else 0
        self._of_run: dict[ProcessRun, list[Fact]] = defaultdict(list)
        for fact in self._facts:
            self._of_run[fact.event.run].append(fact)
        self._with_maps = [fact for fact in self._facts if any(True for _ in self._maps(fact))]
        self._with_new = [fact for fact in self._facts if any(fact.get(name) for name in self._member["new"])]
        self._lost = {run: first for run, first in lost_starts(reading) if own["name"] in first.fields}
        self._beginnings_of_incarnations = self._beginnings()
        self._terms = CoordinatorTerms(self._facts, self._incarnation_at)

    def _beginnings(self) -> list[int]:
        """The times at which the cluster began anew: versions and epochs never fall within one incarnation."""
        found = [self._begin]
        most: dict[str, tuple[int, int]] = {}
        for fact in self._facts:
            entered, held = fact.event.kind in self._member["entered"], fact.event.kind in self._coordinator["held"]
            term = fact.get(self._coordinator["term"]) if held else None
            for what, number, telling in (
                *((("number", number, entered)) for number in self._numbers_in(fact)),
                *((("term", term, True),) if isinstance(term, int) else ()),
            ):
                # Versions and epochs are two counts, each with its own maximum.
                known, since = most.get(what, (number, fact.time))
                # Only lines about a registration or an election show a fall: maps of epochs in other lines may be old.
                if telling and number < known and fact.time > since + APART:
                    found.append(fact.time)
                    # What was known is of the incarnation before, so the least line of the new one starts afresh.
                    most = {}
                if number >= known or not most:
                    most[what] = number, fact.time
        return found

    def _incarnation_at(self, time: int) -> int:
        """The incarnation of the cluster at a time."""
        return bisect_right(self._beginnings_of_incarnations, time, lo=1) - 1

    def events(self) -> Iterator[Event]:
        """All inferred events, stream by stream."""
        starts = [(run, first) for run, first in self._lost.items() if not self._was_in(run)]
        for run, first in starts:
            yield from stream(f"start of {run}", list(self._start(run, first)))
        yield from stream("members", [event for entry in self._entries for event in self._entered(entry)])
        again = self._found_new()
        for node, events in self._again().items():
            again[node] += events
        for node, events in again.items():
            yield from stream(f"members again {node}", sorted(events, key=lambda each: each.time))
        yield from stream("terms", list(self._unlogged_elections()))
        yield from untold_events(self._reading)

    def _first_of_session(self, run: ProcessRun) -> Fact | None:
        """The first line of a run that was written in a session, or names one."""
        return next((fact for fact in self._of_run[run] if isinstance(fact.get(self._member["session"]), str)), None)

    def _own_entry(self, run: ProcessRun) -> Fact | None:
        """The first line of a run about its registration, or an attempt at it."""
        kinds = {*self._member["entered"], *self._member["tried"]}
        return next((fact for fact in self._of_run[run] if fact.event.kind in kinds), None)

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

    def _start(self, run: ProcessRun, first: Event) -> Iterator[UntimedEvent]:
        """What came before the logs of a run that was not registered yet."""
        time, fact = first.record.time or self._begin, self._first_of_session(run)
        yield started(str(run), first.fields[self._member["name"]], time, first.record.place)
        if fact is None or fact.event.kind != self._member["opens"]:
            session = self._session_of(run) or f"session of {run}"
            yield opened(str(run), session, time, first.record.place)

    def _entered(self, entry: UnloggedRegistration) -> Iterator[UntimedEvent]:
        own = self._member
        # A session of its own, which no line names: what lines say of other sessions says nothing of it.
        session = entry.session or f"session of {entry.node} with {entry.number}"
        if not entry.is_within:
            yield started(entry.node, entry.member, entry.time, entry.place)
            yield opened(entry.node, session, entry.time, entry.place)
        fields = {"node": entry.node, own["name"]: entry.member, own["number"]: entry.number, own["session"]: session}
        text = f"supposed: {entry.node} registered {own['name']} {entry.member} with {entry.number}"
        yield UntimedEvent(own["enters"], fields, entry.time, entry.place, text)

    @cached_property
    def _entries(self) -> list[UnloggedRegistration]:
        """The registrations that were not logged, in the order of their numbers."""
        unlogged = self._unlogged_entries()
        found: list[UnloggedRegistration] = []
        unknown: list[UnloggedRegistration] = []
        for run, first in self._lost.items():
            # A run none of whose lines has a time that can be is not known to have been in the cluster at any.
            if not self._was_in(run) or not self._of_run.get(run):
                continue
            member, incarnation = first.fields[self._member["name"]], self._incarnation_at(self._of_run[run][0].time)
            later = min((n for fact in self._of_run[run] if isinstance(n := self._number_in(fact), int)), default=None)
            until = self._next_run(run)
            numbers = [
                n
                for (of, who, n), fact in unlogged.items()
                if (of, who) == (incarnation, member) and (later is None or n < later) and fact.time < until
            ]
            began = self._since(incarnation) if run.number == 1 else first.record.time or self._since(incarnation)
            if not numbers:
                number = 0 if run.number == 1 else self._number_at(incarnation, began)
                entry = UnloggedRegistration(
                    incarnation, number, member, str(run), self._session_of(run), began, first.record.place
                )
                (found if number else unknown).append(entry)
                continue
            # The highest is that of the session in which the log begins. Lower ones are of earlier sessions.
            key = incarnation, member, max(numbers)
            entry = self._entry(key, unlogged.pop(key), str(run), self._session_of(run))
            found.append(entry if run.number == 1 else entry._replace(time=max(entry.time, began)))
        # Runs whose start is in the logs need none supposed; only their registration was not logged.
        begun = {str(run) for run in self._of_run.keys() - self._lost.keys()}
        for key, fact in unlogged.items():
            node = self._run_of(key[1], fact.time)
            session, opened = session_around(self._reading, node, fact.time)
            found.append(self._entry(key, fact, node, session)._replace(is_within=opened and node in begun))
        unknown += self._unseen([*found, *unknown])
        return sorted([*self._numbered(unknown), *found], key=lambda entry: entry[:2])

    def _again(self) -> dict[str, list[UntimedEvent]]:
        """The registrations that a second term of a controller needs: its first term ended with its session, logged or
        not.
        """
        every, holders = self._terms.first, self._terms.holders
        before: dict[tuple[int, Field], Fact] = {}
        found: dict[str, list[UntimedEvent]] = defaultdict(list)
        for key, fact in sorted(every.items(), key=itemgetter(0)):
            member = holders[key]
            last = before.get((key[0], member))
            if last is not None and not self._is_back(member, last.time, fact.time):
                node = self._run_of(member, fact.time)
                found[node] += self._entered_again(node, member, len(found[node]), fact)
            before[key[0], member] = fact
        return found

    def _is_back(self, member: Field, begin: int, end: int) -> bool:
        """Whether a member is known to have registered, or tried to, between two times."""
        kinds = {*self._member["entered"], *self._member["tried"]}
        own = (fact for fact in self._facts if fact.event.kind in kinds and fact.get(self._member["name"]) == member)
        times = [*(fact.time for fact in own), *(entry.time for entry in self._entries if entry.member == member)]
        times += (fact.time for who, fact in self._new if who == member)
        return any(begin < time <= end + NEAR for time in times)

    @cached_property
    def _new(self) -> list[tuple[Field, Fact]]:
        """The members that a line shows to be new and whose registration was not logged, in logs without numbers. Up to
        Kafka 2.1 a controller logs no broker epochs.
        """
        return [] if self._with_maps else unregistered_members(self._reading)

    def _found_new(self) -> dict[str, list[UntimedEvent]]:
        """The registrations of members that a line shows to be new: of a node without logs, or of a run without a line
        of it."""
        found: dict[str, list[UntimedEvent]] = defaultdict(list)
        for member, fact in self._new:
            node, time, place = self._run_of(member, fact.time), fact.time, fact.event.record.place
            runs = [run for run in self._of_run if str(run) == node]
            session = f"session {len(found[node])} of {node} before {place}"
            if not runs and found[node]:
                found[node] += self._entered_again(node, member, len(found[node]), fact)
                continue
            if not runs:
                found[node].append(started(node, member, time, place))
            if not any(each.event.kind == self._member["opens"] for run in runs for each in self._of_run[run]):
                found[node].append(opened(node, session, time, place))
            text = f"supposed: {node} registered {self._member['name']} {member}"
            fields: dict[str, Field] = {"node": node, self._member["name"]: member}
            found[node].append(UntimedEvent(self._member["enters_next"], fields, time, place, text))
        return found

    def _entered_again(self, node: str, member: Field, count: int, fact: Fact) -> Iterator[UntimedEvent]:
        own, time, place = self._member, fact.time, fact.event.record.place
        yield ended(node, time, place)
        yield opened(node, f"session {count} of {node} before {place}", time, place)
        text = f"supposed: {node} registered {own['name']} {member} again"
        yield UntimedEvent(own["enters_next"], {"node": node, own["name"]: member}, time, place, text)

    def _unseen(self, known: Sequence[UnloggedRegistration]) -> Iterator[UnloggedRegistration]:
        """The registrations of members that were present, or elected, before any known registration of theirs."""
        own = self._member
        since = {(entry.incarnation, entry.member): entry.time for entry in reversed(known)}
        for fact in self._facts:
            if fact.event.kind in own["entered"]:
                since.setdefault((self._incarnation_at(fact.time), fact.get(own["name"])), fact.time)
        # Reversed, so that the first time at which a member is shown to be new is what stays.
        for member, fact in reversed(self._new):
            since[self._incarnation_at(fact.time), member] = fact.time
        for member, fact in self._there():
            incarnation = self._incarnation_at(fact.time)
            if since.get((incarnation, member), fact.time + NEAR + 1) > fact.time + NEAR:
                since[incarnation, member] = fact.time
                place = fact.event.record.place
                yield UnloggedRegistration(
                    incarnation, 0, member, self._node_of(member), None, self._since(incarnation), place
                )

    def _there(self) -> Iterator[tuple[Field, Fact]]:
        """Members that lines show as present: they are listed, or were elected without a logged registration."""
        for fact in self._facts:
            held = fact.get(self._member["lists"].get(fact.event.kind, ""))
            yield from ((member, fact) for member in (held if isinstance(held, tuple) else ()))
        yield from ((holder, fact) for _, _, holder, fact in self._terms.unlogged())

    def _since(self, incarnation: int) -> int:
        return max(self._begin, self._beginnings_of_incarnations[incarnation])

    def _entry(self, key: tuple[int, Field, int], fact: Fact, node: str, session: str | None) -> UnloggedRegistration:
        incarnation, member, number = key
        time = self._estimated_time(key, fact)
        return UnloggedRegistration(incarnation, number, member, node, session, time, fact.event.record.place)

    def _session_of(self, run: ProcessRun) -> str | None:
        fact = self._first_of_session(run)
        session = None if fact is None else fact.get(self._member["session"])
        return session if isinstance(session, str) else None

    def _numbered(self, entries: Sequence[UnloggedRegistration]) -> Iterator[UnloggedRegistration]:
        """Registrations without a known number: they are taken as the first of their incarnation, if a number is
        free.
        """
        least: dict[int, int] = {}
        for fact in self._facts:
            for number in self._numbers_in(fact):
                least[self._incarnation_at(fact.time)] = min(number, least.get(self._incarnation_at(fact.time), number))
        # Numbers are given from 1 on, below the least that a line holds: zxids and epochs only grow.
        taken: Counter[int] = Counter()
        for entry in entries:
            taken[entry.incarnation] += 1
            if taken[entry.incarnation] < least.get(entry.incarnation, len(entries) + 1):
                yield entry._replace(number=taken[entry.incarnation])

    def _next_run(self, run: ProcessRun) -> float:
        """The time of the first line of the node's next run."""
        later = self._of_run.get(ProcessRun(run.node, run.number + 1))
        return later[0].time if later else inf

    def _number_at(self, incarnation: int, time: int) -> int:
        """The least free number under which a member may have registered at a time; 0 if there is none."""
        reported = [
            (fact.time, n)
            for fact in self._facts
            if self._incarnation_at(fact.time) == incarnation
            for n in self._numbers_in(fact)
        ]
        # Above all that were seen by then, for a registration takes a higher number than any before.
        least = max((n for at, n in reported if at <= time), default=0) + 1
        return least if all(n > least for at, n in reported if at > time) else 0

    def _numbers_in(self, fact: Fact) -> list[int]:
        """The registration numbers that a line holds."""
        numbers = [number for held in self._maps(fact) for number in held.values()]
        return [number for number in (*numbers, self._number_in(fact)) if isinstance(number, int)]

    def _number_in(self, fact: Fact) -> Field:
        """The registration number in a line about a registration."""
        telling = fact.event.kind in (*self._member["entered"], *self._member["mentioned"])
        return fact.get(self._member["number"]) if telling else None

    def _unlogged_entries(self) -> dict[tuple[int, Field, int], Fact]:
        """The registrations that lines mention and none reports, each with its first mention."""
        own = self._member
        logged = {
            (self._incarnation_at(fact.time), fact.get(own["name"]), fact.get(own["number"]))
            for fact in self._logged_entries
        }
        found: dict[tuple[int, Field, int], Fact] = {}
        for fact in self._facts:
            pairs = [pair for held in self._maps(fact) for pair in held.items()]
            if fact.event.kind in own["mentioned"]:
                pairs.append((fact.get(own["name"]), fact.get(own["number"])))
            for member, number in pairs:
                key = self._incarnation_at(fact.time), member, number
                if isinstance(number, int) and key not in logged:
                    found.setdefault((key[0], member, number), fact)
        return found

    def _maps(self, fact: Fact) -> Iterator[Mapping[Field, Field]]:
        for name in self._member["maps"]:
            held = fact.get(name)
            if isinstance(held, Mapping):
                yield held

    def _estimated_time(self, key: tuple[int, Field, int], fact: Fact) -> int:
        """The guessed time of a registration: before the logs begin, unless it was seen to be new, or absent, later.

        Others may have registered before it under lower numbers, and a controller registers again after its term.
        """
        incarnation, member, number = key
        if any(self._is_new(member, each) and abs(each.time - fact.time) <= NEAR for each in self._with_new):
            return fact.time
        before = (
            *(each for each in self._with_maps if any(held.get(member) != number for held in self._maps(each))),
            *(
                each
                for each in self._logged_entries
                if self._incarnation_at(each.time) == incarnation and self._is_below(each, number)
            ),
            *self._ends_of_terms(incarnation, member),
        )
        return max((each.time for each in before if each.time < fact.time), default=self._begin - 1) + 1

    def _ends_of_terms(self, incarnation: int, member: Field) -> Iterator[Fact]:
        """The first mention of each controller term after a member's own: its session had ended by then."""
        every, holders = self._terms.first, self._terms.holders
        of_incarnation = sorted(key for key in every if key[0] == incarnation)
        yield from (every[after] for key, after in pairwise(of_incarnation) if holders[key] == member)

    def _is_below(self, fact: Fact, number: int) -> bool:
        own = fact.get(self._member["number"])
        return isinstance(own, int) and own < number

    @cached_property
    def _logged_entries(self) -> list[Fact]:
        return [fact for fact in self._facts if fact.event.kind in self._member["entered"]]

    def _is_new(self, member: Field, fact: Fact) -> bool:
        return any(isinstance(held := fact.get(name), tuple) and member in held for name in self._member["new"])

    def _run_of(self, member: Field, time: int) -> str:
        """The process run that was this member at a time: the last run of its node that had begun."""
        own = {node.name for node in self._reading.nodes if member in node.brokers}
        begun = {run: fact[0].time for run, fact in self._of_run.items() if fact and run.node in own}
        running = [run for run, first in begun.items() if first <= time + NEAR]
        return str(max(running, key=lambda run: begun[run])) if running else self._node_of(member)

    def _node_of(self, member: Field) -> str:
        """The node that ran as this member, preferably one whose logs begin after its start."""
        nodes = [node.name for node in self._reading.nodes if member in node.brokers]
        lost = {run.node for run in self._lost}
        return next((node for node in nodes if node in lost), next(iter(nodes), f"{self._member['name']} {member}"))

    def _unlogged_elections(self) -> Iterator[UntimedEvent]:
        """The elections that were not logged, and the epochs reached before the first logged election."""
        own, every = self._coordinator, self._terms.first
        unlogged = {(incarnation, term): holder for incarnation, term, holder, _ in self._terms.unlogged()}
        first = min(every, default=None)
        for (incarnation, term), fact in sorted(every.items(), key=itemgetter(0)):
            time, place = self._begin if (incarnation, term) == first else fact.time, fact.event.record.place
            if term > 1 and (incarnation, term - 1) not in every:
                fields: dict[str, Field] = {own["term"]: term - 1}
                yield UntimedEvent(
                    own["reached"], fields, time, place, f"supposed: {own['term']} {term - 1} was reached"
                )
            if (incarnation, term) in unlogged:
                yield from self._elected(
                    self._run_of(unlogged[incarnation, term], fact.time), unlogged[incarnation, term], term, time, place
                )

    def _elected(self, node: str, winner: Field, term: int, time: int, place: LogPosition) -> Iterator[UntimedEvent]:
        own = self._coordinator
        fields: dict[str, Field] = {"node": node, own["winner"]: winner, own["term"]: term, own["version"]: term}
        yield UntimedEvent(own["wins"], fields, time, place, f"supposed: {node} was elected for {own['term']} {term}")
        yield UntimedEvent(own["reads"], {"node": node}, time, place, f"supposed: {node} has read who is there")
