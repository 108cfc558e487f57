"""Finds what is missing from a set of logs: an unexplained step may be due to a log that was not read."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import islice, product
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from assay.traces.attribution.causality import ORDER_UNKNOWN
from assay.traces.attribution.colocated_zookeeper import KIND as SHARED
from assay.traces.attribution.run_events import Traits
from assay.traces.diagnosis.clock_against_server import APART
from assay.traces.diagnosis.cluster_ids import cluster_spans, simultaneous
from assay.traces.event import Event, Field, LogPosition, Notice, ProcessRun
from assay.traces.input.events.json_lines import UNREAD_EVENT
from assay.traces.input.file_reader import CUT_OFF, NO_LOGGER
from assay.traces.input.lines.trouble_tally import TROUBLE_LEVELS
from assay.traces.input.rotation import MISSING_PART
from assay.traces.input.tied_lines import UNORDERED_TIES
from assay.traces.log_reader import LogReading
from assay.traces.patterns.pattern import START_ROLES
from assay.traces.patterns.rule_files import rule_file
from assay.traces.result import LogViolation, TraceVerdict, Validation
from assay.traces.table.event_table import EventTable, traits
from assay.traces.table.statement_ids import EveryKind

T = TypeVar("T")

KIND = "missing logs"
BEFORE = "missing beginning"
UNREAD_BROKER = "missing broker"
UNLOGGED_BROKER = "missing registration"
UNREAD_LOG = "missing log"
SILENCED = "fell silent"
EXPLAINED = "every line has an explanation, and logs are missing"
"""What an answer rests on where logs are missing."""
UNCOMPARED = "the ends of lines are missing, and what these would tell was compared with nothing"
"""What an answer rests on where it is known of which steps lines tell whose end is missing."""
# One line alone may be the very mistake that is looked for; a node that is really missing is mentioned many times.
WITNESSES = 2
# Fields are decoded in blocks of this size, only until there are enough witnesses.
_AT_ONCE = 16
NEAR = 1_000
"""By this many milliseconds clocks, and lines about one fact, may differ."""
STEPS_CUT_OFF = "steps cut off"
"""The kind of notices about records that are known but for their end, and tell of steps."""
UNREAD = frozenset(
    {
        *("unreadable", "damaged file", "expansion limit", "unsupported compression", "nested archive", "binary file"),
        *(
            "record too long",
            "zero bytes",
            "beginning cut off",
            "lines left out",
            "no such time",
            NO_LOGGER,
            STEPS_CUT_OFF,
            UNREAD_EVENT,
        ),
        *("interleaved nodes", "node unknown", SHARED, SILENCED),
    }
)
"""Kinds of input notices that mean: something logged was not read, or was read as another process's."""
HARMLESS = frozenset({"beginning cut off", SILENCED})
"""Of these, those that a log shows that begins or ends in mid-life: no other line is hidden by it."""
LINES_UNREAD = frozenset({UNREAD_LOG, MISSING_PART}) | UNREAD - HARMLESS
"""Kinds of notices that mean: a node that has logs wrote lines that were not read."""


def gaps(reading: LogReading) -> list[Notice]:
    """What lines mention and the logs do not hold: process starts, whole brokers, elections, files; each with its
    evidence.

    Logs of two clusters at one time look like gaps too: what lines of one report has no explanation in the other.
    """
    apart = simultaneous(cluster_spans(reading))
    return [
        *apart,
        *_lost_starts(reading),
        *_silent_brokers(reading),
        *_lost_installations(reading),
        *_silent_loggers(reading),
        *_only_warnings(reading),
        *_ended_loggers(reading),
        *_lost_between(reading),
        *_lost_returns(reading),
        *_silent_owners(reading),
    ]


def with_gaps(validation: Validation, missing: list[Notice]) -> Validation:
    """The answer in view of missing logs: neither a mismatch nor its absence is a proof then."""
    others = (each for each in missing if each not in validation.notices)
    answer = replace(validation, notices=(*validation.notices, *others))
    first_wrong = min((each.event.record.time or 0 for each in validation.violations), default=0)
    doubtful = [
        *not_read(validation.notices),
        *_undecoded(validation),
        *(each for each in validation.notices if each.kind in (APART, UNORDERED_TIES)),
    ]
    unread = [each for each in doubtful if _may_matter(each, validation, first_wrong)]
    if (reason := _why_open(validation, missing)) is not None:
        return replace(answer, verdict=TraceVerdict.INCONCLUSIVE, reason=reason)
    ends = [each for each in doubtful if each.kind == STEPS_CUT_OFF]
    if ends and validation.verdict is TraceVerdict.CONSISTENT:
        answer = replace(answer, rests_on=(*answer.rests_on, f"{UNCOMPARED}: {_first_of(ends)}"))
    if missing and validation.verdict is TraceVerdict.CONSISTENT:
        return replace(answer, rests_on=(*answer.rests_on, f"{EXPLAINED}: {_first_of(missing, place=False)}"))
    # No missing line excuses lines that contradict each other whatever else happened.
    sure = any(each.certain or _by_lines_alone(each) for each in validation.violations)
    if not (missing or unread) or validation.verdict is not TraceVerdict.INCONSISTENT or sure:
        return answer
    first = (missing or unread)[0]
    what = "clocks differ" if first.kind == APART else "logs are missing"
    what = "lines were not read" if first.kind == UNREAD_EVENT else what
    what = "the order of lines is not known" if first.kind == UNORDERED_TIES else what
    reason = f"{what}, which may be why not every line has an explanation: {_first_of([*missing, *unread], place=not missing)}"
    reason = reason if validation.reason is None else f"{reason}; {validation.reason}"
    return replace(answer, verdict=TraceVerdict.INCONCLUSIVE, reason=reason)


def _why_open(validation: Validation, missing: Sequence[Notice]) -> str | None:
    """Why an answer without a mismatch is open: lines that may be events were not read, or what came before them is not
    known.
    """
    consistent = validation.verdict is TraceVerdict.CONSISTENT
    unread = [each for each in validation.notices if each.kind == UNREAD_EVENT]
    if unread and consistent and not missing:
        return f"lines that may be events were not read: {_first_of(unread)}"
    unordered = [each for each in validation.notices if each.kind == ORDER_UNKNOWN]
    if unordered and consistent:
        return f"what came before some lines is not known: {_first_of(unordered)}"
    lost = [each for each in not_read(validation.notices) if each.kind not in HARMLESS | {STEPS_CUT_OFF}]
    empty = validation.verdict is TraceVerdict.VACUOUS and validation.counts.used > 0  # what was not read may say more
    if lost and (missing or validation.rests_on) and (consistent or empty):
        return f"lines that may be events were not read: {_first_of(lost)}"
    return None


def _first_of(notices: Sequence[Notice], *, place: bool = True) -> str:
    """The first of some notices, with its place if it is asked for, and how many more there are."""
    first, *others = notices
    where = f"{first.place}: " if place and first.place is not None else ""
    more = f", and {len(others):,} more" if others else ""
    return f"{where}{first.text}{more}"


def _may_matter(notice: Notice, validation: Validation, first_wrong: int) -> bool:
    """Whether what was not read may be why a line has no explanation. Without times the order of a file is known."""
    if notice.since is not None:
        return notice.since - NEAR <= first_wrong
    places = [each.event.record.place for each in validation.violations if each.event.record.time is None]
    place = notice.place
    return place is None or not places or any(place.file != each.file or place.line < each.line for each in places)


def _by_lines_alone(violation: LogViolation) -> bool:
    """Whether lines contradict each other whatever else happened. Of calls that is so only if all of them were read."""
    return violation.contradiction is not None and not violation.contradiction.calls


def _undecoded(validation: Validation) -> Iterator[Notice]:
    """Notices about events that a rule is about and that could not be decoded."""
    for each in validation.unmapped:
        if each.needed:
            yield Notice(UNREAD_EVENT, each.example, f"{each.kind}: {each.reason}", each.since)


def weighed(notices: Iterable[Notice], steps: Container[str]) -> tuple[Notice, ...]:
    """The notices, those about records without a logger by whether they may tell of ``steps``.

    No other event has to be read for later lines to have an explanation.
    """
    return tuple(_weighed(each, any(kind in steps for kind in each.told)) for each in notices)


def _weighed(notice: Notice, telling: bool) -> Notice:
    if notice.kind == NO_LOGGER and notice.told and not telling:
        return replace(notice, kind=CUT_OFF)
    return replace(notice, kind=STEPS_CUT_OFF) if notice.kind == CUT_OFF and telling else notice


def not_read(notices: Iterable[Notice]) -> list[Notice]:
    """The notices that say that something logged was not read."""
    return [notice for notice in notices if notice.kind in UNREAD]


def fallen_silent(reading: LogReading) -> Iterator[Notice]:
    """Notices about leaders that logged nothing from the order to stop on (``patterns/rules/missing_logs.toml``).

    A mismatch that rests on their silence is no proof that a rule was broken.
    """
    known = _data()["silenced"]
    moves: dict[ProcessRun, list[Event]] = defaultdict(list)
    for event in reading.of_kinds({known["signal"], *known["moves"]}):
        moves[event.run].append(event)
    for run, events in moves.items():
        before, last = events[-2:-1], events[-1]
        # Log4j 2 stops its appenders at the signal, by a shutdown hook of its own: what Kafka does then has no line.
        if last.kind == known["signal"] and before and before[0].kind in known["leads"]:
            yield Notice(SILENCED, last.record.place, known["text"].format(run=run), last.record.time)


def lost_starts(reading: LogReading) -> Iterator[tuple[ProcessRun, Event]]:
    """The broker processes without a logged start, with their first event that names a broker.

    If no line of a process names one, the first line that only brokers write is given. Processes beside which lines of
    an unknown author were read are left out.
    """
    first: dict[ProcessRun, Event] = {}
    for stream in reading.streams:
        if stream.run not in first:
            telling = (event for event in stream.events if event.pattern and "broker" in event.fields)
            first |= {event.run: event for event in islice(telling, 1)}
    for event in reading.of_kinds(frozenset(_data()["begun"]["events"])):
        if event.fields.get("node", "") is not None:
            first.setdefault(event.run, event)
    begun = list(reading.of_role(*START_ROLES))
    started = {event.run for event in begun}
    unowned = {_folder(event.run) for event in begun if event.fields.get("node", "") is None}
    yield from ((run, event) for run, event in first.items() if run not in started and _folder(run) not in unowned)


def _lost_starts(reading: LogReading) -> Iterator[Notice]:
    for run, event in lost_starts(reading):
        yield Notice(BEFORE, event.record.place, f"the logs of {run} begin after its start")


def _folder(run: ProcessRun) -> str:
    """The node's name without the broker, where several brokers wrote one file."""
    return run.node.rpartition("/")[0]


def _silent_brokers(reading: LogReading) -> Iterator[Notice]:
    """Notices about nodes that other nodes' lines name (``patterns/rules/missing_logs.toml``) and that have no logs."""
    read, names = set(_known(reading)), frozenset(_fields_that_name())
    reported = _Reported(reading, names)
    saying: dict[int, list[int]] = defaultdict(list)
    for number, named in enumerate(reported.each("named", _named_by_line)):
        for broker in named - read:
            saying[broker].append(number)
    for broker, numbers in sorted(saying.items()):
        places = reported.witnesses(numbers)
        if len(places) >= WITNESSES:
            yield Notice(KIND, places[0], f"broker {broker} is spoken of, and none of its logs was read")


def _lost_installations(reading: LogReading) -> Iterator[Notice]:
    """Notices about controllers that acted in more epochs than their logs hold elections for."""
    known = _data()["installed"]
    actor, term, named = known["actor"], known["term"], frozenset(known["spoken"])
    reported = _Reported(reading, frozenset({actor, term}))
    saying: dict[tuple[Field, Field], list[int]] = defaultdict(list)
    for number, acted in enumerate(reported.each("acted", _acting_in(actor, term, named))):
        if acted is not None:
            saying[acted].append(number)
    acting = {
        key: reported.witnesses(numbers)
        for key, numbers in sorted(saying.items(), key=lambda each: reported.first(each[1]))
    }
    held = Counter(event.fields[known["winner"]] for event in reading.of_kinds(known["events"]))
    # For example lines of a controller in the epochs 3, 5 and 8, and two lines of elections that it won.
    terms = Counter(who for (who, _), places in acting.items() if len(places) >= WITNESSES)
    for broker in _known(reading):
        if held[broker] < terms[broker]:
            place = next(places[0] for (who, _), places in acting.items() if who == broker)
            yield Notice(BEFORE, place, known["text"].format(broker=broker, terms=terms[broker], held=held[broker]))


def _acting_in(actor: str, term: str, named: Container[str]) -> Callable[[Event], tuple[Field, Field] | None]:
    """A function that reads from a line who acted in which epoch."""

    def of(event: Event) -> tuple[Field, Field] | None:
        logged = bool(event.pattern) and event.kind in named and actor in event.fields
        logged = logged and isinstance(event.fields.get(term), int)
        return (event.fields[actor], event.fields[term]) if logged else None

    return of


def _silent_loggers(reading: LogReading) -> Iterator[Notice]:
    """Notices about nodes whose acts are logged and whose results are not, because these have loggers of their own."""
    loggers: dict[str, set[str]] = defaultdict(set)
    for stream in reading.streams:
        loggers[stream.run.node] |= {each.logger for each in traits(stream.events)}
    for known in _data()["written"]:
        # For example lines by which a broker became leader, and none of `state.change.logger`.
        prefixes = _prefixes(known)
        first: dict[str, LogPosition] = {}
        for event in reading.of_kinds(known["events"]):
            first.setdefault(event.run.node, event.record.place)
        for node, place in first.items():
            if not any(logger.startswith(prefixes) for logger in loggers[node]):
                yield Notice(UNREAD_LOG, place, known["text"].format(node=node))


def _only_warnings(reading: LogReading) -> Iterator[Notice]:
    """Notices about nodes whose lines are all warnings or errors: lines of lower levels report what a node does."""
    first: dict[str, LogPosition] = {}
    below: set[str] = set()
    for stream in reading.streams:
        found = [each for each in traits(stream.events) if each.pattern]
        if any(each.level not in TROUBLE_LEVELS for each in found):
            below.add(stream.run.node)
        elif found:
            first.setdefault(stream.run.node, stream.events[0].record.place)
    for node, place in first.items():
        if node not in below:
            yield Notice(UNREAD_LOG, place, f"of {node} warnings and errors were read, and nothing of a lower level")


def _ended_loggers(reading: LogReading) -> Iterator[Notice]:
    """Notices about nodes that wrote with a logger beside some acts, and beside others not: those before or after some
    time. The beginning of a file is missing, the end, or a part of it.
    """
    of_node: dict[str, list[Sequence[Event]]] = defaultdict(list)
    for stream in reading.streams:
        of_node[stream.run.node].append(stream.events)
    for (node, parts), known in product(of_node.items(), _data()["beside"]):
        events = EventTable(parts)
        acts = events.positions_where(partial(_is_of_kind, frozenset(known["events"])))
        reported = events.positions_where(partial(_is_of_logger, _prefixes(known)))
        # For example fetchers were added, and from some time on no line of `state.change.logger` is near such a line.
        early, later = _lonely(events.times_at(acts), np.sort(events.times_at(reported)))
        for lonely, kind in ((early, BEFORE), (later, MISSING_PART)):
            if len(lonely) >= WITNESSES:
                place = next(events.at(acts[lonely[:1]])).record.place
                yield Notice(kind, place, known["text"].format(node=node))


def _lost_between(reading: LogReading) -> Iterator[Notice]:
    """Notices about processes without a line between two others: a stretch is missing where others of the log have it.

    Where none has, its logger is not logged (``untold_events``).
    """
    for known in _data()["between"]:
        # For example a process started and registered, and no line of it tells of a session with ZooKeeper.
        begun, has = (_runs_with(reading, known[name]) for name in ("begins", "between"))
        none = begun.keys().isdisjoint(has)
        text = known.get("alone" if none else "text")
        for run, event in _runs_with(reading, known["later"]).items() if text else ():
            if run in begun and run not in has and event.record.place != begun[run].record.place:
                yield Notice(BEFORE if none else MISSING_PART, event.record.place, text.format(run=run))


def _lost_returns(reading: LogReading) -> Iterator[Notice]:
    """Notices about nodes that were elected again after another node, and whose logs have no line of a restart or a new
    session. A search for words left such lines out.
    """
    known = _data()["again"]
    told = {run.node for run in _runs_with(reading, known["between"])}
    acts = sorted(reading.of_kinds(frozenset(known["events"])), key=lambda event: event.record.time or 0)
    left, before = set[str](), ""
    for event in acts:
        node = event.run.node
        if node != before:
            left.add(before)
            if node in left and node not in told:
                told.add(node)
                yield Notice(MISSING_PART, event.record.place, known["text"].format(node=node))
        before = node


def _runs_with(reading: LogReading, kinds: Iterable[str]) -> dict[ProcessRun, Event]:
    """The process runs that have an event of one of these kinds, with the last one."""
    return {event.run: event for event in reading.of_kinds(frozenset(kinds))}


def _is_of_kind(kinds: Container[str], line: Traits) -> bool:
    return line.kind in kinds


def _is_of_logger(prefixes: tuple[str, ...], line: Traits) -> bool:
    return line.logger.startswith(prefixes)


def _prefixes(known: Mapping[str, Any]) -> tuple[str, ...]:
    """With what the names of a rule's loggers begin: one text or several."""
    begins = known["logger"]
    return tuple(begins) if isinstance(begins, list) else (begins,)


def _lonely(
    acts: npt.NDArray[np.int64], reported: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Which acts have no line within ``NEAR`` where others have one: those before all lines, and the others.

    All are times in milliseconds; the lines are sorted.
    """
    none = np.empty(0, np.intp)
    if not len(acts) or not len(reported):
        return none, none
    after = np.searchsorted(reported, acts - NEAR)
    # `after` is the first line that is not too early for the act. If even that one is too late, the act has none.
    near = (after < len(reported)) & (reported[np.minimum(after, len(reported) - 1)] <= acts + NEAR)
    if near.sum() < WITNESSES:
        return none, none
    return np.flatnonzero(~near & (after == 0)), np.flatnonzero(~near & (after > 0))


def _silent_owners(reading: LogReading) -> Iterator[Notice]:
    """Notices about processes that own what another one asked for and that have no logs."""
    known = _data()["refused"]
    refused = list(reading.of_kinds(known["events"]))
    if not refused:
        return
    opened = {event.fields.get(known["opened"]) for event in reading.of_kinds(known["opens"])}
    reported = _Reported(reading, frozenset({known["what"], "run"}))
    runs = {
        (event.fields.get(known["what"]), event.run)
        for _, event in reported.examples()
        if event.kind not in known["events"]
    }
    for event in refused:
        what = event.fields.get(known["what"])
        # For example `/brokers/ids/1` exists, and the session that owns it is of no process whose logs were read.
        others = any(each == what and run != event.run for each, run in runs)
        if not others and event.fields.get(known["owner"]) not in opened:
            yield Notice(KIND, event.record.place, known["text"].format(node=event.run.node, what=what))


def _known(reading: LogReading) -> list[int]:
    """The brokers with logs."""
    return sorted({broker for node in reading.nodes for broker in node.brokers})


def _named(event: Event) -> set[int]:
    """The nodes that a line names as part of the cluster, now or earlier."""
    found: list[Field] = []
    for known in _data()["named"]:
        if "among" not in known or not event.fields.keys().isdisjoint(known["among"]):
            found += [event.fields.get(name) for name in known["fields"]]
            for name in known["maps"]:
                held = event.fields.get(name)
                found += held if isinstance(held, Mapping) else ()
    return {broker for broker in found if isinstance(broker, int)}


def _named_by_line(event: Event) -> frozenset[int]:
    """The same for fields that a file states itself: none."""
    return frozenset(_named(event)) if event.pattern else frozenset()


@cache
def _data() -> Mapping[str, Any]:
    return rule_file("missing_logs.toml")


def _fields_that_name() -> Iterator[str]:
    """All fields by which a line can name nodes."""
    for known in _data()["named"]:
        yield from (*known.get("among", ()), *known["fields"], *known["maps"])


class _Reported:
    """The distinct facts that lines report in some fields, and where.

    Facts that files state themselves are left out.
    """

    def __init__(self, reading: LogReading, names: frozenset[str]) -> None:
        self._events = reading.events
        self._statements = self._events.statements(EveryKind(names))

    def each(self, what: str, make: Callable[[Event], T]) -> list[T]:
        """What ``make`` returns for each fact."""
        return self._events.map_statements(self._statements, what, make)

    def examples(self) -> Iterator[tuple[int, Event]]:
        """The number of each fact, and the first event that reports it."""
        for number, event in enumerate(self._events.at(self._statements.examples)):
            if event.pattern:
                yield number, event

    def first(self, numbers: Sequence[int]) -> int:
        """The position of the first line that reports one of these facts; the numbers themselves are in no order after
        a restart.
        """
        return int(self._statements.examples[numbers].min())

    def witnesses(self, numbers: Sequence[int]) -> list[LogPosition]:
        """The first line for each of these facts, without repetitions: as many lines as it takes."""
        found: list[LogPosition] = []
        positions = np.sort(np.concatenate([self._statements.positions(number) for number in numbers]))
        for begin in range(0, len(positions), _AT_ONCE):
            for event in self._events.at(positions[begin : begin + _AT_ONCE]):
                if event.record.place not in found[-1:]:
                    found.append(event.record.place)
                if len(found) == WITNESSES:
                    return found
        return found
