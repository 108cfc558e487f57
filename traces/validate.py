"""A log against a model: bind, order, search, explain every mismatch, and say how much was checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from assay.grammar import kernel as k
from assay.grammar.load import Loaded
from assay.grammar.values import Value
from assay.traces.atoms import Writer
from assay.traces.binding import Bound, Misfit, Unread, bind
from assay.traces.conduct import DEFAULT_OPTIONS, Accepted, Options, Undecided, conclude
from assay.traces.events import Event, Notice
from assay.traces.join import Joined, Joiner
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
    Counts,
    EventMeaning,
    FailedPart,
    Repair,
    SliceResult,
    TraceVerdict,
    Validation,
    Violation,
)

NOTHING_USED = "no event of the log is used by the trace clause: nothing was checked"
NO_CHAIN = "not checked: no execution was found for what all slices share"
NO_INITIAL_STATE = "the model has no initial state"


@dataclass(slots=True)
class _Findings:
    """What is known so far."""

    violations: list[Violation] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
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
    run = None if findings.path is None else execution(model, findings.path)
    checks = kill_rate(search, options) if options.mutants and run is not None and not findings.violations else None
    joined = Joined((), _not_joined(event for events in parts.slices.values() for event in events), 0)
    if divided is not None and findings.path is not None:
        joined = Joiner(divided, plan, model, findings.path, writer).join(parts.slices)
        findings.violations += [_misfit(misfit) for misfit in joined.bound.misfits]
    findings.violations += [violation for result in joined.results for violation in result.violations]
    unread = _merged(bound.ignored, joined.bound.ignored)
    properties = broken_properties(model, run) if run is not None else ()
    return Validation(
        verdict=_verdict(bound, findings, joined.results),
        reason=_reason(bound, findings, joined.results),
        kernel=kernel,
        clause=plan.name,
        counts=_counts(bound, joined, len(events), sum(len(seen.values) for seen in compared)),
        ignored=unread,
        unmapped=_merged(bound.unmapped, joined.bound.unmapped),
        hidden=_hidden(findings, joined.results),
        reordering=reordering(findings.path) if findings.path else 0.0,
        violations=tuple(findings.violations),
        properties=(*properties, *(broken for result in joined.results for broken in result.properties)),
        notices=tuple(findings.notices),
        explanations=_explanations(events, explain),
        execution=run,
        kill_rate=checks,
        visited=model.visited + joined.visited,
        seconds=perf_counter() - begun,
        slices=joined.results,
        relaxed=divided.relaxed if divided is not None else (),
    )


def _not_joined(events: Iterable[Event]) -> Bound:
    """The events of slices where nothing was found for them to be joined on."""
    counts: dict[str, Unread] = {}
    for event in events:
        first = counts.get(event.kind)
        place = event.record.place if first is None else first.example
        counts[event.kind] = Unread(event.kind, NO_CHAIN, 1 if first is None else first.count + 1, place)
    return Bound((), (), tuple(counts.values()), ())


def _merged(*groups: Sequence[Unread]) -> tuple[Unread, ...]:
    """The counts of several groups by kind and reason."""
    found: dict[tuple[str, str], Unread] = {}
    for each in (unread for group in groups for unread in group):
        key = each.kind, each.reason
        found[key] = replace(found[key], count=found[key].count + each.count) if key in found else each
    return tuple(sorted(found.values(), key=lambda unread: (unread.kind, unread.reason)))


def _hidden(findings: _Findings, results: Sequence[SliceResult]) -> Mapping[str, int]:
    counts = hidden_steps(findings.path) if findings.path else Counter()
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


def _verdict(bound: Bound, findings: _Findings, results: Sequence[SliceResult]) -> TraceVerdict:
    if findings.violations:
        return TraceVerdict.INCONSISTENT
    if not bound.observations:
        return TraceVerdict.VACUOUS
    open_ = findings.path is None or any(result.verdict is TraceVerdict.INCONCLUSIVE for result in results)
    return TraceVerdict.INCONCLUSIVE if open_ else TraceVerdict.CONSISTENT


def _reason(bound: Bound, findings: _Findings, results: Sequence[SliceResult]) -> str | None:
    if not bound.observations and not findings.violations:
        return NOTHING_USED
    undecided = [result for result in results if result.verdict is TraceVerdict.INCONCLUSIVE]
    if findings.reason is not None or not undecided:
        return findings.reason
    more = f", and {len(undecided) - 1} more slices like it" if len(undecided) > 1 else ""
    return f"{undecided[0].name}: {undecided[0].reason}{more}"


def _counts(bound: Bound, joined: Joined, read: int, compared: int) -> Counts:
    """``compared`` is the number of fields of shared lines that the model was asked about."""
    both = bound, joined.bound
    used = sum(each.used + len(each.misfits) for each in both)
    fields = compared + sum(len(observation.values) for observation in joined.bound.observations)
    ignored = sum(unread.count for each in both for unread in each.ignored)
    unmapped = sum(unread.count for each in both for unread in each.unmapped)
    return Counts(max(read, used + ignored + unmapped), used, ignored, unmapped, fields)


def _explanations(events: Sequence[Event], explain: Callable[[Event], str | None] | None) -> tuple[EventMeaning, ...]:
    if explain is None:
        return ()
    return tuple(EventMeaning(event, text) for event in events if (text := explain(event)) is not None)
