"""Validation of the part of the logs that a user asks for, with what was noticed about the input.

Like validation itself it has three parts: what all slices share, each slice, and the conclusion. The first and the last
are here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial as bound
from math import inf
from textwrap import shorten
from time import perf_counter
from typing import NamedTuple

from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded
from assay.traces import scope as window
from assay.traces.diagnosis.clock_against_server import estimates, far_apart
from assay.traces.diagnosis.clock_correction import in_step
from assay.traces.diagnosis.duplicate_broker_ids import duplicates
from assay.traces.diagnosis.late_start import TRIED, beginnings, later, left_out, since
from assay.traces.diagnosis.missing_logs import (
    BEFORE,
    LINES_UNREAD,
    UNLOGGED_BROKER,
    UNREAD_BROKER,
    UNREAD_LOG,
    fallen_silent,
    gaps,
    not_read,
    weighed,
    with_gaps,
)
from assay.traces.diagnosis.node_settings import configured, protocol_versions
from assay.traces.diagnosis.unnamed_events import with_names
from assay.traces.event import Event, Notice, Remark
from assay.traces.explain.lost_line import lost_lines
from assay.traces.gc_control import trim_heap
from assay.traces.impact.outages import Basis, Meter, basis, with_impact
from assay.traces.inference.facts import Fact, inference_notices
from assay.traces.inference.kraft_events import events_of_members, unlogged_members
from assay.traces.inference.zookeeper_events import supposed_events
from assay.traces.input.rotation import MISSING_PART
from assay.traces.input.tied_lines import UNORDERED_TIES
from assay.traces.log_reader import LogReading, UnmappedLines
from assay.traces.observe.binding import READ_BY_CLAUSE
from assay.traces.observe.binding_tally import Unread
from assay.traces.observe.model_size import trace_plan
from assay.traces.observe.observation import rules_by_kind
from assay.traces.options import Options
from assay.traces.result import ProductAnswer, TraceVerdict, Validation
from assay.traces.shared_answer import SharedAnswer
from assay.traces.slices.slice_answer import SliceAnswer, remarks_on
from assay.traces.stop import stopped
from assay.traces.table.event_selection import Selection
from assay.traces.table.event_table import EventTable
from assay.traces.trouble.assembly import trouble_in_scope, trouble_of, with_execution
from assay.traces.trouble.finding import NO_TROUBLE, Trouble
from assay.traces.validate import (
    INFERRED_BEFORE,
    conclude,
    validate_product,
    validate_shared,
    validate_slices,
)

LONGEST_EXAMPLE = 100
UNTOLD = "starts and sessions were supposed, of which no line tells: loggers are set to warnings"
"""What an answer rests on where processes tell of what they did, and not of what that takes."""
OF_BROKERS = frozenset({BEFORE, UNREAD_BROKER, UNREAD_LOG, MISSING_PART, UNLOGGED_BROKER})
"""Missing logs for which the hidden steps of a clause with ``supposes`` do not compensate."""
UNMEASURED = Notice("impact", None, "for how long what held is not measured, because logs are missing")
WORTH_WORDS = frozenset({"WARN", "ERROR", "FATAL", ""})


@dataclass(frozen=True, slots=True)
class AnswerScope:
    """What the answer concerns: an interval of time (milliseconds since the epoch), topics, and the ids of accepted
    findings.
    """

    since: int | None = None
    until: int | None = None
    topics: tuple[str, ...] = ()
    known: Sequence[str] | None = None

    def renamed(self, name: Callable[[str], str]) -> AnswerScope:
        """The same scope for logs whose topics have other names."""
        return replace(self, topics=tuple(map(name, self.topics)))


WHOLE_ANSWER = AnswerScope()


@dataclass(frozen=True, slots=True)
class InputRemarks:
    """What accompanies the answer: notices, lines that no pattern describes, what is missing, processes with a
    duplicate id, and what lines of trouble tell.
    """

    notices: tuple[Notice, ...]
    unmapped: tuple[UnmappedLines, ...]
    missing: tuple[Notice, ...]
    duplicates: tuple[Remark, ...]
    trouble: Trouble = NO_TROUBLE


def validate_in_scope(
    loaded: Loaded,
    reading: LogReading,
    options: Options,
    clause: str | None = None,
    scope: AnswerScope = WHOLE_ANSWER,
    *,
    supported: bool = True,
) -> Validation:
    """The answer about a log, with what was noticed while it was read.

    Logs that no model supports are not validated.
    """
    begun = perf_counter()
    # First of all: everything below compares times of different nodes.
    reading = with_corrected_clocks(reading, options)
    shared, slices, beside = validate_shared_in_scope(loaded, reading, options, clause, scope, supported=supported)
    # Freed before processes for slices are forked: what is known of statements here was for what all slices share.
    reading.memory.forget()
    trim_heap(len(reading.events))
    asked = outage_basis(shared, reading, beside)
    meter = None if asked is None else Meter(asked)
    found = validate_slices(shared, slices, options.jobs, None if meter is None else meter.measured)
    whole = validate_product(loaded, shared, slices, found, clause, _search_options(options, reading, beside.missing))
    answer = assemble_answer(shared, found, beside, scope, perf_counter() - begun, meter, whole)

    def is_explained(lost: Sequence[Event]) -> bool:
        # Only the verdict is wanted, so no mismatch is explained.
        asked = replace(options, mismatches=0)
        again, parts, _ = validate_shared_in_scope(loaded, reading, asked, clause, scope, lost=lost)
        return _is_explained(again, parts, {each.result.name for each in found if each.result.violations}, options.jobs)

    return _unless_one_line_was_lost(answer, shared, is_explained)


MOST_EVENTS = 20_000
"""In logs of more events no lost line is looked for: the log is validated again for each."""


def _unless_one_line_was_lost(
    answer: Validation, shared: SharedAnswer, ask: Callable[[Sequence[Event]], bool]
) -> Validation:
    """The answer, inconclusive if one lost line of what slices share explains what is wrong with slices."""
    # What lines alone show needs no shared state, so that no lost line of it can be an excuse.
    sure = any(each.certain or each.contradiction is not None for each in answer.violations)
    if answer.verdict is not TraceVerdict.INCONSISTENT or sure or shared.violations or shared.read > MOST_EVENTS:
        return answer
    for lost in lost_lines(shared.kernel, shared.clause, answer.violations):
        if stopped() is None and ask(lost):
            record = lost[0].record
            reason = f"explained if one line before {record.place} was lost: {record.message}"
            return replace(answer, verdict=TraceVerdict.INCONCLUSIVE, reason=reason)
    return answer


def _is_explained(shared: SharedAnswer, slices: Mapping[str, Selection], first: Container[str], jobs: int) -> bool:
    """Whether a log has no mismatches; some slices are asked first."""
    if shared.violations or shared.joint is None:
        return False
    # Slices with a mismatch first: one that keeps it answers the question.
    for chosen in (True, False):
        asked = {name: events for name, events in slices.items() if (name in first) is chosen}
        if any(each.result.violations for each in validate_slices(shared, asked, jobs)):
            return False
    return True


def with_corrected_clocks(reading: LogReading, options: Options) -> LogReading:
    """The logs with corrected times, unless the user has set the clock skew."""
    return in_step(reading) if options.skew is None else reading


def outage_basis(shared: SharedAnswer, reading: LogReading, beside: InputRemarks) -> Basis | None:
    """What outages are measured with; None where nothing is to be measured, or where logs are missing."""
    # How long an outage lasted hangs on each line; with a gap both bounds would be guesses.
    if beside.missing:
        return None
    return basis(shared.kernel, shared.clause, shared.execution, reading.streams, configured(reading))


def validate_shared_in_scope(
    loaded: Loaded,
    reading: LogReading,
    options: Options,
    clause: str | None,
    scope: AnswerScope,
    *,
    supported: bool = True,
    lost: Sequence[Event] = (),
) -> tuple[SharedAnswer, Mapping[str, Selection], InputRemarks]:
    """The answer about what all slices share, the events of each slice, and what accompanies the answer.

    ``lost`` are events of lines that are supposed to have been lost.
    """
    reading = replace(reading, notices=weighed(reading.notices, _steps(loaded, clause)))
    unregistered = unlogged_members(reading) if options.supposes else {}
    read = {member for node in reading.nodes for member in node.brokers}
    unheard = [] if _is_foreign(loaded, clause) else gaps(reading)
    parts = (each for each in reading.notices if each.kind == MISSING_PART)
    missing = (*parts, *unheard, *(_unregistered(member, each.fact, read) for member, each in unregistered.items()))
    known = _search_options(options, reading, missing)
    ask = bound(_validate_in_scope, loaded, options=known, clause=clause, scope=scope, supported=supported, lost=lost)
    # The whole log first: a later beginning is looked for only where that has no explanation.
    found = ask(reading)
    if known.partial and supported:
        found = _from_later(reading, found, known, ask)
    # Where no log is missing nothing came before the first lines, though later ones may not have been read.
    is_whole = not missing and not found.shared.rests_on
    return (
        replace(found.shared, held=None) if is_whole else found.shared,
        found.slices,
        InputRemarks(
            (*reading.notices, *fallen_silent(reading), *far_apart(estimates(reading)), *found.notices),
            reading.unmapped,
            missing,
            tuple(duplicates(reading)),
            trouble_of(reading),
        ),
    )


def _steps(loaded: Loaded, clause: str | None) -> frozenset[str]:
    """The kinds of events that tell of steps, and are no mere conditions on the state."""
    rules = trace_plan(loaded.kernel, clause).rules
    return frozenset(rule.event for rule in rules if rule.steps or rule.at is not None)


def _is_foreign(loaded: Loaded, clause: str | None) -> bool:
    """Whether a clause is about another system, whose events may have names of events of Kafka by chance."""
    plans = [plan for plan in loaded.kernel.traces if clause in (None, plan.name)]
    return bool(plans) and all(plan.catalogue in READ_BY_CLAUSE for plan in plans)


class _SharedPart(NamedTuple):
    """An answer about what slices share, the events of each slice, and notices about the events."""

    shared: SharedAnswer
    slices: Mapping[str, Selection]
    notices: list[Notice]


def _validate_in_scope(
    loaded: Loaded,
    reading: LogReading,
    options: Options,
    clause: str | None,
    scope: AnswerScope,
    *,
    supported: bool,
    lost: Sequence[Event] = (),
) -> _SharedPart:
    """Validate what slices share, for the events in scope and those that have to be inferred because
    logs are missing.
    """
    events, left = _in_scope(reading.events if supported else [], scope)
    more = list(lost)
    if options.partial and options.supposes and supported:
        more += events_of_members(reading, unlogged_members(reading))
    elif supported:
        more += _inferred_events(loaded, reading, clause, scope, whole=not options.partial)
    shared, slices = validate_shared(
        loaded,
        EventTable((*EventTable.of(events).parts, more), reading.memory) if more else events,
        clause=clause,
        options=options,
        explain=reading.explain,
        levels=WORTH_WORDS,
    )
    why = INFERRED_BEFORE if options.partial else UNTOLD
    return _SharedPart(_without_inferred(shared, len(more), why), slices, [*left, *inference_notices(more)])


def _without_inferred(shared: SharedAnswer, count: int, why: str) -> SharedAnswer:
    """The answer without counting the inferred events on which it rests, for the reason given."""
    if not count:
        return shared
    tally = replace(shared.tally, used=shared.tally.used - count)
    rests_on = (*shared.rests_on, why)
    return replace(shared, read=shared.read - count, tally=tally, rests_on=rests_on, supposed=shared.supposed + count)


def _from_later(
    reading: LogReading, found: _SharedPart, options: Options, ask: Callable[..., _SharedPart]
) -> _SharedPart:
    """The answer that was ``found`` about all of the logs. If only a part has an explanation, it is the answer about
    what follows the beginning of a later file.

    Why: docs/design/late-start.md.
    """
    if any(each.contradiction is not None for each in found.shared.violations):
        return found  # whatever lines before these would tell, they contradict each other
    begun = beginnings(reading)
    stuck = found.shared.stuck
    for tried in range(TRIED):
        time = None if stuck is None or stopped() else later(begun, stuck, tried)
        if time is None:
            return found
        kept = since(reading, time)
        again = ask(kept, options=replace(options, first=True))  # an answer with a mismatch is not used
        stuck = again.shared.stuck
        if stuck is None and again.shared.checked:
            notice = left_out(reading, kept, time, [each.event for each in found.shared.violations])
            # `first` was for this search alone: slices are checked as was asked.
            joint = again.shared.joint and replace(again.shared.joint, first=options.first)
            return again._replace(
                shared=replace(again.shared, reason=again.shared.reason or notice.text, joint=joint),
                notices=[notice, *again.notices],
            )
    return found


def _unregistered(member: int, fact: Fact, read: Container[int]) -> Notice:
    """A notice about a broker of which nothing was read, or whose registration no line had reported by then."""
    place = fact.event.record.place
    if member not in read:
        return Notice(UNREAD_BROKER, place, f"broker {member} holds replicas, and none of its logs was read")
    return Notice(UNLOGGED_BROKER, place, f"broker {member} is there, and no line before tells that it registered")


def _search_options(options: Options, reading: LogReading, missing: Sequence[Notice]) -> Options:
    """The options for logs that lack this."""
    # Lines that could not be read count as missing, too: they may be what a later line rests on.
    lost = (*missing, *not_read(reading.notices))
    partial = any(notice.kind in OF_BROKERS for notice in lost) if options.supposes else bool(lost)
    begun = partial and all(notice.kind in (BEFORE, UNLOGGED_BROKER) for notice in lost)
    late = float(max(beginnings(reading), default=-inf)) if partial else -inf
    lossy = any(notice.kind in LINES_UNREAD for notice in lost)
    versions = protocol_versions(reading)
    holes = _nodes_of(reading, [each.place.file for each in missing if each.kind == MISSING_PART and each.place])
    tied = any(notice.kind == UNORDERED_TIES for notice in reading.notices)
    known = replace(options, versions=versions, partial=partial, lossy=lossy, holes=holes, tied=tied)
    return replace(known, begun=begun, late=late)


def _nodes_of(reading: LogReading, files: Sequence[str]) -> frozenset[str]:
    """The nodes to which some files belong."""
    if not files:
        return frozenset()
    first = ((stream.run.node, next(iter(stream.events), None)) for stream in reading.streams)
    return frozenset(node for node, event in first if event is not None and event.record.place.file in files)


def _inferred_events(
    loaded: Loaded, reading: LogReading, clause: str | None, scope: AnswerScope, *, whole: bool
) -> list[Event]:
    """The events that have to be inferred for incomplete logs; of ``whole`` ones, what no logger tells."""
    kinds = rules_by_kind(trace_plan(loaded.kernel, clause))
    every = supposed_events(reading, kinds, whole=whole)
    return [each for each in every if scope.until is None or (each.record.time or 0) <= scope.until]


def assemble_answer(
    shared: SharedAnswer,
    slices: Sequence[SliceAnswer],
    beside: InputRemarks,
    scope: AnswerScope,
    seconds: float,
    meter: Meter | None,
    whole: ProductAnswer | None = None,
) -> Validation:
    """The answer about the log, from those about its parts and about all slices together."""
    concluded = conclude(shared, slices, seconds, whole)
    remarks = (*beside.duplicates, *_remarks(shared))
    of_slices = (remark for each in concluded.slices for remark in each.remarks)
    # The execution first: it may tell a known bug or lost records that no line of trouble names.
    trouble = with_execution(beside.trouble, (*remarks, *of_slices))
    trouble = trouble_in_scope(trouble, scope.since, scope.until, scope.topics)
    found = replace(concluded, notices=beside.notices, remarks=remarks, trouble=trouble)
    found = with_names(with_gaps(_with_unread(found, beside.unmapped), list(beside.missing)))
    # Findings are left out last: `with_gaps` weighs them all against what is missing.
    found = window.answer_since(found, scope.since) if scope.since is not None else found
    found = window.without_known(found, scope.known) if scope.known is not None else found
    if beside.missing:
        found = replace(found, notices=(*found.notices, UNMEASURED))
    return found if meter is None else with_impact(found, meter, slices, scope.since)


def _remarks(shared: SharedAnswer) -> Iterator[Remark]:
    """Occurrences, in what all slices share, of actions that the clause reports."""
    if shared.joint is not None and shared.execution is not None:
        yield from remarks_on(shared.joint.plan, ((step.action, step.event) for step in shared.execution.steps))


def _in_scope(events: Sequence[Event], scope: AnswerScope) -> tuple[Sequence[Event], list[Notice]]:
    """The events to validate, and notices that count the others."""
    left: list[Notice] = []
    if scope.until is not None:
        events, late = window.events_until(events, scope.until)
        left += late
    if scope.topics:
        events, others = window.events_of_topics(events, scope.topics)
        left += others
    return events, left


def _with_unread(validation: Validation, unmapped: Sequence[UnmappedLines]) -> Validation:
    """The answer, with the protocol lines that no pattern describes counted by logger; no events came of them."""
    first: dict[str, UnmappedLines] = {}
    for lines in unmapped:
        first.setdefault(lines.logger, lines)
    totals: Counter[str] = Counter()
    for lines in unmapped:
        totals[lines.logger] += lines.count
    unread = tuple(
        Unread(logger, f"such as `{shorten(first[logger].text, LONGEST_EXAMPLE)}`", count, first[logger].place)
        for logger, count in totals.most_common()
    )
    counts, more = validation.counts, totals.total()
    counts = replace(counts, read=counts.read + more, unmapped=counts.unmapped + more)
    return replace(validation, counts=counts, unmapped=(*validation.unmapped, *unread))
