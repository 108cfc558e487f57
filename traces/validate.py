"""Validate a log against a model: bind, order, search, explain every mismatch, and count what was checked.

The work is three pure functions: what all slices share, the answer about each slice (``slice_validator``), and the
conclusion. Each takes values that can be sent to another process, so that slices can be validated wherever their events
are.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

from assay.grammar.load import Loaded
from assay.traces.event import Event
from assay.traces.explain.blame import violation_of
from assay.traces.gc_control import frozen_heap, trim_heap
from assay.traces.native_replay import threshold
from assay.traces.observe.binding_tally import Unread, total_of
from assay.traces.observe.model_size import has_calls, trace_plan
from assay.traces.observe.slice_assignment import sliced
from assay.traces.options import DEFAULT_OPTIONS, Options
from assay.traces.result import (
    BrokenProperty,
    EventCounts,
    EventMeaning,
    LogViolation,
    ProductAnswer,
    SliceResult,
    TraceVerdict,
    Validation,
)
from assay.traces.shared_answer import SharedAnswer, answer_of_calls, answer_of_replay, answer_of_search
from assay.traces.shared_search import SharedValidation, check
from assay.traces.slices.guided_search import guide
from assay.traces.slices.process_pool import Finish, answer_all, unchecked
from assay.traces.slices.product_search import check_whole
from assay.traces.slices.slice_answer import SliceAnswer
from assay.traces.slices.slice_context import Joint
from assay.traces.stop import StopRequest, stopped
from assay.traces.table.event_selection import Selection
from assay.traces.table.event_table import EventTable, fields_read

if TYPE_CHECKING:
    from assay.traces.native_replay.compiled_replay import ReplayedLog

NOTHING_USED = "no event of the log is used by the trace clause: nothing was checked"
FEW_LINES = 2_000
"""In a log of at most this many events, all slices are searched together without being asked, where that may decide."""

LITTLE_HELD = "more events were supposed, of which no line tells, than lines were held against what others determine"
NOTHING_HELD = "no line was held against what other lines determine: each is explained by what was supposed for it"
INFERRED_BEFORE = "what came before the logs was supposed"

SMALL_SEARCH = 2_000
"""The garbage of a search that visited at most so many nodes waits for the next collection."""


def validate(
    loaded: Loaded,
    events: Sequence[Event],
    *,
    clause: str | None = None,
    options: Options = DEFAULT_OPTIONS,
    explain: Callable[[Event], str | None] | None = None,
) -> Validation:
    """Whether some execution of the model explains the events; raises SpecError if the clause cannot be used.

    The sets and size parameters of the spec are made as large as the events need. ``explain`` returns what an event
    means, or None where that needs no words. Events of one stream must be in the order of their file.

    The clause may leave the delay of a line without a limit. Then "no execution" is a claim about executions that
    depart from the order of the lines' times by at most ten seconds.
    """
    begun = perf_counter()
    shared, slices = validate_shared(loaded, events, clause=clause, options=options, explain=explain)
    found = validate_slices(shared, slices, options.jobs)
    whole = validate_product(loaded, shared, slices, found, clause, options)
    return conclude(shared, found, perf_counter() - begun, whole)


def validate_shared(
    loaded: Loaded,
    events: Sequence[Event],
    *,
    clause: str | None = None,
    options: Options = DEFAULT_OPTIONS,
    explain: Callable[[Event], str | None] | None = None,
    levels: Container[str] | None = None,
) -> tuple[SharedAnswer, Mapping[str, Selection]]:
    """The answer about what all slices share, and the events of each slice; the arguments are those of
    :func:`validate`.

    If ``levels`` are given, only events of these log levels are explained in words.
    """
    if has_calls(loaded, clause):
        from assay.traces.calls.decide import decide  # noqa: PLC0415 - few clauses are about calls

        return answer_of_calls(
            decide(loaded, events, clause, options), events, _explanations(events, explain, levels)
        ), {}
    with frozen_heap():
        # Where each line names its step nothing is searched. A replay that does not reach the end decides nothing.
        followed = _followed(loaded, events, clause, options)
        # A replay to the end is an execution as good as one that a search finds.
        if followed is not None:
            return answer_of_replay(followed, len(events), _explanations(events, explain, levels)), {}
        found = check(loaded, events, clause=clause, options=options)
    answer = answer_of_search(found, len(events), options, _explanations(events, explain, levels))
    # Copies of a log that is rejected itself would all be rejected.
    if options.mutants and not answer.violations and not stopped():
        answer = _with_kill_rate(answer, found, options)
    slices = found.parts.slices
    # Freed before the collection below: the search holds most of the memory of a log.
    del found
    if answer.visited > SMALL_SEARCH:
        # The caches of a search are cyclic, and reference counts alone do not free them.
        gc.collect(2 if gc.isenabled() else 0)
    trim_heap(len(events))
    return answer, slices


def _with_kill_rate(answer: SharedAnswer, found: SharedValidation, options: Options) -> SharedAnswer:
    """The answer with the share of changed logs that are rejected, unless a slice is inconsistent."""
    asked = found.retrial(options)
    if asked is None or _violated(validate_slices(answer, found.parts.slices, options.jobs)):
        return answer
    from assay.traces.incremental.kill_rate import kill_rate  # noqa: PLC0415 - few ask for it

    return replace(answer, kill_rate=kill_rate(asked, options))


def _followed(loaded: Loaded, events: Sequence[Event], clause: str | None, options: Options) -> ReplayedLog | None:
    """A large log replayed by compiled code to its end."""
    if len(events) < threshold.WORTH_IT:
        return None
    from assay.traces.native_replay.compiled_replay import replay_log  # noqa: PLC0415 - it loads the compiler

    return replay_log(loaded, events, clause, options)


def validate_slices(
    shared: SharedAnswer,
    slices: Mapping[str, Sequence[Event]],
    jobs: int = 1,
    finish: Finish | None = None,
) -> list[SliceAnswer]:
    """The answers about all slices, each passed through ``finish`` with its events, by ``jobs`` processes; none without
    a shared execution.
    """
    if shared.joint is None:
        return []
    with frozen_heap():
        selected = {name: events for name, events in slices.items() if isinstance(events, Selection)}
        # Only selections of a table can be replayed: with anything else among them all go the usual way.
        followed = _replayed(shared.joint, selected) if len(selected) == len(slices) else {}
    others = {name: events for name, events in slices.items() if name not in followed}
    found = {each.result.name: each for each in answer_all(shared.joint, others, jobs, finish)}
    for name, answer in followed.items():
        found[name] = answer if finish is None else finish(answer, slices[name])
    return [found[name] for name in slices]


def _replayed(joint: Joint, slices: Mapping[str, Selection]) -> Mapping[str, SliceAnswer]:
    if sum(map(len, slices.values())) < threshold.WORTH_IT:
        return {}
    from assay.traces.native_replay.compiled_slices import replay_slices  # noqa: PLC0415 - it loads the compiler

    try:
        return replay_slices(joint, slices)
    except StopRequest:
        return {name: unchecked(name, events, f"not checked: {stopped()}") for name, events in slices.items()}


ALLOWS_LESS = "mismatches of slices are mismatches of the whole, which allows no more"
LACKS_LINES = "lines are missing, and no search decides what they said"


def validate_product(
    loaded: Loaded,
    shared: SharedAnswer,
    slices: Mapping[str, Selection],
    answers: Sequence[SliceAnswer],
    clause: str | None,
    options: Options,
) -> ProductAnswer | None:
    """The answer about all slices together, if it is asked for, or if it decides what the shared execution leaves open
    in a small log.

    None if it is not needed, if there are no slices, or if there is no shared execution and no line is the cause.
    """
    # Only a slice that fits under another order of the shared steps can be decided by searching that order, too.
    may_decide = shared.read <= FEW_LINES and any(each.result.reordered for each in answers)
    if not (options.whole or may_decide):
        return None
    if (why := stopped()) is not None:
        return ProductAnswer(TraceVerdict.INCONCLUSIVE, why) if options.whole else None
    # The whole allows no more executions than its parts: what they refute, it refutes.
    if shared.violations or _violated(answers):
        return ProductAnswer(TraceVerdict.INCONSISTENT, ALLOWS_LESS) if options.whole else None
    if shared.joint is None or not slices:
        return None
    lacking = next((each.result for each in answers if each.result.lacking), None)
    if options.partial or lacking is not None:
        name = "" if lacking is None else f"{lacking.name}: "
        return ProductAnswer(TraceVerdict.INCONCLUSIVE, f"{name}{LACKS_LINES}") if options.whole else None
    slicing = shared.joint.split.slicing
    # All slices are selections of one table.
    table = next(iter(slices.values())).table
    parts = sliced(slicing, table, fields_read(trace_plan(loaded.kernel, clause)), lacking=options.partial)
    results = [each.result for each in answers]
    known = None if shared.execution is None else guide(shared.joint, shared.execution, results)
    found = check_whole(loaded, parts, clause, options, known)
    return found if options.whole or _is_searched(found) else None


def conclude(
    shared: SharedAnswer, answers: Sequence[SliceAnswer], seconds: float, whole: ProductAnswer | None = None
) -> Validation:
    """The answer about a whole log. It is made of the answers about what is shared, about each slice (in the order of
    the slices), and about all together.
    """
    tally = total_of([shared.tally, *(each.tally for each in answers)])
    results = tuple(_decided(each.result, whole) for each in answers)
    unread = [each for each in tally.unmapped if each.needed]
    checked = shared.checked or any(each.tally.used for each in answers)
    violations = (*shared.violations, *_violated(answers), *(whole.violations if whole is not None else ()))
    broken = _all_broken(shared, results, whole)
    rests_on = _rests_on(shared, results)
    lines_held = _held(shared, answers)
    # Of a log from birth every line is held against what came before, so that its count does not matter.
    held = bool(lines_held or (shared.held is None and not rests_on))
    count = sum(each.count for each in unread)
    verdict = _verdict(shared, violations, results, whole, checked=checked, unread=count, broken=broken)
    reason = _reason(
        shared, violations, results, whole, checked=checked, unread=reason_of_unread(violations, unread), held=held
    )
    # The verdict comes last, since an answer is vacuous or open only if it would be consistent otherwise.
    if verdict is TraceVerdict.CONSISTENT and not held:
        verdict = TraceVerdict.VACUOUS
    elif verdict is TraceVerdict.CONSISTENT and shared.supposed > lines_held:
        verdict, reason = TraceVerdict.INCONCLUSIVE, f"{LITTLE_HELD}: {shared.supposed:,} against {lines_held:,}"
    return Validation(
        verdict=verdict,
        reason=reason,
        kernel=shared.kernel,
        clause=shared.clause,
        counts=EventCounts.of(tally, shared.read),
        ignored=tally.ignored,
        unmapped=tally.unmapped,
        hidden=_hidden(shared, results),
        reordering=shared.reordering,
        violations=violations,
        properties=broken,
        notices=(),
        explanations=shared.explanations,
        execution=shared.execution,
        kill_rate=shared.kill_rate,
        visited=shared.visited + sum(each.visited for each in answers),
        seconds=seconds,
        slices=results,
        # A search of all slices together has checked these guards after all.
        relaxed=() if _is_searched(whole) else shared.relaxed,
        whole=whole,
        rests_on=rests_on,
        held=lines_held,
    )


def reason_of_unread(violations: Sequence[LogViolation], unread: Sequence[Unread]) -> str | None:
    """Why an answer is open if lines that a rule needs could not be read."""
    if violations or not unread:
        return None
    first = min(unread, key=lambda each: (each.example.file, each.example.line))
    count = sum(each.count for each in unread)
    lines = "1 line that a rule is about was" if count == 1 else f"{count:,} lines that rules are about were"
    return f"{lines} not understood: {first.example}: {first.kind}: {first.reason}"


def _rests_on(shared: SharedAnswer, results: Sequence[SliceResult]) -> tuple[str, ...]:
    """What the explanation supposes without a line; of slices the first, and how many more."""
    found = [(each.name, each.rests_on) for each in results if each.rests_on is not None]
    more = f", and {len(found) - 1:,} more like it" if len(found) > 1 else ""
    return (*shared.rests_on, *(f"{name}: {text}{more}" for name, text in found[:1]))


def _held(shared: SharedAnswer, answers: Sequence[SliceAnswer]) -> int:
    """How many lines were held against what others determine. Of a log from birth these are all; of a slice that begins
    before its log, all but the line that it begins with."""
    own = shared.tally.used if shared.held is None else shared.held
    return own + sum(each.held for each in answers)


def _is_searched(whole: ProductAnswer | None) -> bool:
    """Whether the search over all slices together was conclusive."""
    return whole is not None and whole.lines > 0 and whole.verdict is not TraceVerdict.INCONCLUSIVE


def _decided(result: SliceResult, whole: ProductAnswer | None) -> SliceResult:
    """The answer about a slice; an execution of all slices together decides it where the slice alone is undecided."""
    if whole is None or whole.verdict is not TraceVerdict.CONSISTENT or result.verdict is not TraceVerdict.INCONCLUSIVE:
        return result
    return replace(result, verdict=TraceVerdict.CONSISTENT, reason=None)


def _all_broken(
    shared: SharedAnswer, results: Sequence[SliceResult], whole: ProductAnswer | None
) -> tuple[BrokenProperty, ...]:
    """The properties that are broken: those of slices, and of the product those that no slice breaks."""
    found = (*shared.properties, *(broken for result in results for broken in result.properties))
    names = {broken.name for broken in found}
    return (*found, *(broken for broken in (whole.properties if whole is not None else ()) if broken.name not in names))


def _violated(answers: Sequence[SliceAnswer]) -> list[LogViolation]:
    """The violations of slices, with those events that contradict their own rule."""
    misfits = [violation_of(misfit) for each in answers for misfit in each.tally.misfits]
    return [*misfits, *(violation for each in answers for violation in each.result.violations)]


def _hidden(shared: SharedAnswer, results: Sequence[SliceResult]) -> Mapping[str, int]:
    """How often each hidden step occurs."""
    counts = Counter(shared.hidden)
    for result in results:
        counts.update(result.hidden)
    return counts


def _verdict(
    shared: SharedAnswer,
    violations: Sequence[LogViolation],
    results: Sequence[SliceResult],
    whole: ProductAnswer | None,
    *,
    checked: bool,
    unread: int,
    broken: Sequence[BrokenProperty],
) -> TraceVerdict:
    """The verdict, by precedence: a violation, nothing checked, something undecided, a broken property, consistent."""
    if violations:
        return TraceVerdict.INCONSISTENT
    if not checked:
        return TraceVerdict.VACUOUS
    open_ = (
        not shared.explained
        or shared.reason is not None
        or (whole is not None and whole.verdict is TraceVerdict.INCONCLUSIVE)
        or any(result.verdict is TraceVerdict.INCONCLUSIVE for result in results)
        or unread > 0
    )
    if open_:
        return TraceVerdict.INCONCLUSIVE
    return TraceVerdict.VIOLATED if broken else TraceVerdict.CONSISTENT


def _reason(
    shared: SharedAnswer,
    violations: Sequence[LogViolation],
    results: Sequence[SliceResult],
    whole: ProductAnswer | None,
    *,
    checked: bool,
    unread: str | None,
    held: bool,
) -> str | None:
    """Why the verdict is what it is; None where it speaks for itself."""
    if not checked and not violations:
        return f"{NOTHING_USED}; {unread}" if unread else NOTHING_USED
    undecided = [result for result in results if result.verdict is TraceVerdict.INCONCLUSIVE]
    if shared.reason is not None:
        return shared.reason
    if unread is not None:
        return unread
    if violations:  # why other slices are undecided does not explain the violation
        return None
    if not undecided and not held and (whole is None or whole.reason is None):
        return NOTHING_HELD
    if not undecided:
        return whole.reason if whole is not None and whole.verdict is TraceVerdict.INCONCLUSIVE else None
    more = {0: "", 1: ", and one more slice like it"}.get(
        len(undecided) - 1, f", and {len(undecided) - 1} more slices like it"
    )
    return f"{undecided[0].name}: {undecided[0].reason}{more}"


def _explanations(
    events: Sequence[Event], explain: Callable[[Event], str | None] | None, levels: Container[str] | None
) -> tuple[EventMeaning, ...]:
    """What events mean, in words, for those of the given log levels."""
    if explain is None:
        return ()
    explained = events if levels is None else EventTable.of(events).events_where(lambda traits: traits.level in levels)
    return tuple(EventMeaning(event, text) for event in explained if (text := explain(event)) is not None)
