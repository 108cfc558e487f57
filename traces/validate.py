"""A log against a model: bind, order, search, explain every mismatch, and say how much was checked.

The work is three pure functions: what all slices share, the answer about each slice (``join.Joiner.of_slice``), and the conclusion. Each takes
values that can be sent to another process, so that slices can be answered wherever their events are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from assay.grammar import kernel as k
from assay.grammar.load import Loaded
from assay.grammar.values import Value
from assay.traces.atoms import Writer
from assay.traces.binding import Misfit, Tally, Unread, bind, sum_of
from assay.traces.conduct import DEFAULT_OPTIONS, Accepted, Options, Undecided, conclude
from assay.traces.events import Event
from assay.traces.join import Joiner, Joint, SliceAnswer, joint
from assay.traces.mismatch import explain_mismatch
from assay.traces.mutants import kill_rate
from assay.traces.order import order, stream_key
from assay.traces.plan import sized_kernel, trace_plan
from assay.traces.replay import broken_properties, execution, hidden_steps, reordering
from assay.traces.restatement import without_restatements
from assay.traces.search.explore import Search
from assay.traces.search.frontier import Frontier
from assay.traces.search.model import Model
from assay.traces.search.path import Path
from assay.traces.slices import SlicedEvents, sliced
from assay.traces.slicing import split
from assay.traces.validation import (
    Blame,
    BrokenProperty,
    Counts,
    EventMeaning,
    Execution,
    FailedPart,
    KillRate,
    Repair,
    SliceResult,
    TraceVerdict,
    Validation,
    Violation,
)

NOTHING_USED = "no event of the log is used by the trace clause: nothing was checked"
NO_CHAIN = "not checked: no execution was found for what all slices share"
NO_INITIAL_STATE = "the model has no initial state"


@dataclass(frozen=True, slots=True)
class SharedAnswer:
    """The answer about what all slices share, and what it takes to go on with them: ``joint``, if an execution was found.

    ``read`` counts all events; ``checked`` says whether any was used, ``explained`` whether an execution was found. ``tally`` counts also
    the events of slices that cannot be joined.
    """

    kernel: k.Kernel
    clause: str
    read: int
    checked: bool
    explained: bool
    tally: Tally
    reason: str | None
    violations: tuple[Violation, ...]
    properties: tuple[BrokenProperty, ...]
    hidden: Mapping[str, int]
    reordering: float
    execution: Execution | None
    kill_rate: KillRate | None
    visited: int
    explanations: tuple[EventMeaning, ...]
    relaxed: tuple[tuple[str, str], ...]
    joint: Joint | None


@dataclass(slots=True)
class _Findings:
    """What is known so far."""

    violations: list[Violation] = field(default_factory=list)
    reason: str | None = None
    path: Path | None = None


def validate(
    loaded: Loaded,
    events: Sequence[Event],
    *,
    clause: str | None = None,
    options: Options = DEFAULT_OPTIONS,
    explain: Callable[[Event], str | None] | None = None,
) -> Validation:
    """Whether some execution of the model explains the events; raises SpecError if the clause cannot be used.

    The sets and size parameters of the spec are made as large as the events need. ``explain`` says what an event means, or None where
    that needs no words. Events of one stream must be in the order of their file.
    Where the clause does not say within what time a line follows what it reports, "no execution" is said of the executions that depart from
    the order of the lines' times by at most ten seconds.
    """
    begun = perf_counter()
    shared, slices = validate_shared(loaded, events, clause=clause, options=options, explain=explain)
    return conclusion(shared, answer_slices(shared, slices), perf_counter() - begun)


def validate_shared(
    loaded: Loaded,
    events: Sequence[Event],
    *,
    clause: str | None = None,
    options: Options = DEFAULT_OPTIONS,
    explain: Callable[[Event], str | None] | None = None,
) -> tuple[SharedAnswer, Mapping[str, tuple[Event, ...]]]:
    """The answer about what all slices share, and the events of each slice; the arguments are those of :func:`validate`."""
    slicing = trace_plan(loaded.kernel, clause).slicing
    parts = SlicedEvents(tuple(events), {}) if slicing is None else sliced(slicing, events)
    kernel, plan = sized_kernel(loaded, parts.all, clause)
    if options.skew is not None:
        plan = replace(plan, ordering=replace(plan.ordering, skew=options.skew))
    divided = None if plan.slicing is None else split(kernel, plan.slicing)
    model = Model(kernel, plan) if divided is None else Model(divided.kernel, divided.plan_of_shared(plan))
    bound = bind(model.plan, parts.shared, lambda rule, values: _applies(model, rule, values))
    findings = _Findings(violations=[_misfit(misfit) for misfit in bound.misfits])
    compared = without_restatements(model.kernel, bound.observations, lambda seen: stream_key(seen, plan.ordering))
    search = Search(model, Frontier(order(compared, plan.ordering)))
    writer = Writer(loaded.sources)
    if bound.observations:
        _conduct(search, writer, options, findings)
    path = findings.path
    run = None if path is None else execution(model, path)
    joined = None if divided is None or path is None else joint(divided, plan, model, path, writer)
    unjoined = Tally() if joined is not None else _unjoined(parts.slices)
    answer = SharedAnswer(
        kernel=kernel,
        clause=plan.name,
        read=len(events),
        checked=bool(bound.observations),
        explained=path is not None,
        tally=sum_of([replace(bound.tally, fields=sum(len(seen.values) for seen in compared)), unjoined]),
        reason=findings.reason,
        violations=tuple(findings.violations),
        properties=broken_properties(model, run) if run is not None else (),
        hidden=hidden_steps(path) if path else {},
        reordering=reordering(path) if path else 0.0,
        execution=run,
        kill_rate=kill_rate(search, options)
        if options.mutants and run is not None and not findings.violations
        else None,
        visited=model.visited,
        explanations=_explanations(events, explain),
        relaxed=divided.relaxed if divided is not None else (),
        joint=joined,
    )
    return answer, parts.slices


def answer_slices(shared: SharedAnswer, slices: Mapping[str, Sequence[Event]]) -> list[SliceAnswer]:
    """The answers about all slices; none where nothing was found for them to be joined on."""
    if shared.joint is None:
        return []
    joiner = Joiner(shared.joint)
    return [joiner.of_slice(name, events) for name, events in slices.items()]


def conclusion(shared: SharedAnswer, answers: Sequence[SliceAnswer], seconds: float) -> Validation:
    """The answer about a whole log, of the answers about what is shared and about each slice, in the order of the slices."""
    tally = sum_of([shared.tally, *(each.tally for each in answers)])
    results = tuple(each.result for each in answers)
    misfits = [_misfit(misfit) for each in answers for misfit in each.tally.misfits]
    violations = (*shared.violations, *misfits, *(v for result in results for v in result.violations))
    return Validation(
        verdict=_verdict(shared, violations, results),
        reason=_reason(shared, violations, results),
        kernel=shared.kernel,
        clause=shared.clause,
        counts=_counts(tally, shared.read),
        ignored=tally.ignored,
        unmapped=tally.unmapped,
        hidden=_hidden(shared, results),
        reordering=shared.reordering,
        violations=violations,
        properties=(*shared.properties, *(broken for result in results for broken in result.properties)),
        notices=(),
        explanations=shared.explanations,
        execution=shared.execution,
        kill_rate=shared.kill_rate,
        visited=shared.visited + sum(each.visited for each in answers),
        seconds=seconds,
        slices=results,
        relaxed=shared.relaxed,
    )


def _unjoined(slices: Mapping[str, Sequence[Event]]) -> Tally:
    """The events of slices where nothing was found for them to be joined on."""
    counts: dict[str, Unread] = {}
    for event in (event for events in slices.values() for event in events):
        first = counts.get(event.kind)
        place = event.record.place if first is None else first.example
        counts[event.kind] = Unread(event.kind, NO_CHAIN, 1 if first is None else first.count + 1, place)
    return Tally(ignored=tuple(counts.values()))


def _hidden(shared: SharedAnswer, results: Sequence[SliceResult]) -> Mapping[str, int]:
    counts = Counter(shared.hidden)
    for result in results:
        counts.update(result.hidden)
    return counts


def _applies(model: Model, rule: k.TraceRule, values: Mapping[str, Value]) -> bool:
    return rule.condition is None or model.holds(rule.condition, values)


def _conduct(search: Search, writer: Writer, options: Options, findings: _Findings) -> None:
    """Search, and go on after every mismatch until the end, a cap, or the most mismatches that are reported."""
    start = search.begin(search.frontier.start)
    if not start:
        findings.reason = NO_INITIAL_STATE
    while start:
        conclusion = conclude(search, start, options)
        if isinstance(conclusion, Accepted):
            findings.path = conclusion.path
            return
        if isinstance(conclusion, Undecided):
            findings.reason = conclusion.reason
            return
        resumption = explain_mismatch(search, conclusion.deepest, writer)
        if resumption is None:
            findings.reason = "the lines have no order that the clause allows"
            return
        findings.violations.append(resumption.violation)
        if len(findings.violations) >= options.mismatches:
            findings.reason = f"more than {options.mismatches} mismatches; what follows was not checked"
            return
        search, start = resumption.search, list(resumption.start)


def _misfit(misfit: Misfit) -> Violation:
    """The violation that an event is whose value the model does not have."""
    part = FailedPart("type", misfit.rule.label, misfit.text, misfit.rule.span, ((misfit.field, misfit.text),), ())
    action = misfit.rule.steps[0][0].action if misfit.rule.steps else "observe"
    repair = Repair("drop", "the line is left out", misfit.event)
    return Violation(misfit.event, action, (Blame(misfit.event, action, (part,)),), repair)


def _verdict(shared: SharedAnswer, violations: Sequence[Violation], results: Sequence[SliceResult]) -> TraceVerdict:
    if violations:
        return TraceVerdict.INCONSISTENT
    if not shared.checked:
        return TraceVerdict.VACUOUS
    open_ = not shared.explained or any(result.verdict is TraceVerdict.INCONCLUSIVE for result in results)
    return TraceVerdict.INCONCLUSIVE if open_ else TraceVerdict.CONSISTENT


def _reason(shared: SharedAnswer, violations: Sequence[Violation], results: Sequence[SliceResult]) -> str | None:
    if not shared.checked and not violations:
        return NOTHING_USED
    undecided = [result for result in results if result.verdict is TraceVerdict.INCONCLUSIVE]
    if shared.reason is not None or not undecided:
        return shared.reason
    more = f", and {len(undecided) - 1} more slices like it" if len(undecided) > 1 else ""
    return f"{undecided[0].name}: {undecided[0].reason}{more}"


def _counts(tally: Tally, read: int) -> Counts:
    ignored = sum(unread.count for unread in tally.ignored)
    unmapped = sum(unread.count for unread in tally.unmapped)
    return Counts(max(read, tally.used + ignored + unmapped), tally.used, ignored, unmapped, tally.fields)


def _explanations(events: Sequence[Event], explain: Callable[[Event], str | None] | None) -> tuple[EventMeaning, ...]:
    if explain is None:
        return ()
    return tuple(EventMeaning(event, text) for event in events if (text := explain(event)) is not None)
