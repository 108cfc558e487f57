"""A log against a model: bind, order, search, explain every mismatch, and say how much was checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from assay.grammar import kernel as k
from assay.grammar.load import Loaded
from assay.grammar.values import Value
from assay.traces.atoms import Writer
from assay.traces.binding import Bound, Misfit, bind
from assay.traces.conduct import DEFAULT_OPTIONS, Accepted, Options, Undecided, conclude
from assay.traces.events import Event, Notice
from assay.traces.mismatch import explain_mismatch
from assay.traces.mutants import kill_rate
from assay.traces.order import order
from assay.traces.plan import sized_kernel
from assay.traces.replay import broken_properties, execution, hidden_steps, reordering
from assay.traces.search.explore import Search
from assay.traces.search.frontier import Frontier
from assay.traces.search.model import Model
from assay.traces.search.path import Path
from assay.traces.validation import (
    Blame,
    Counts,
    EventMeaning,
    FailedPart,
    Repair,
    TraceVerdict,
    Validation,
    Violation,
)

NOTHING_USED = "no event of the log is used by the trace clause: nothing was checked"
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
    kernel, plan = sized_kernel(loaded, events, clause)
    if options.skew is not None:
        plan = replace(plan, ordering=replace(plan.ordering, skew=options.skew))
    model = Model(kernel, plan)
    bound = bind(plan, events, lambda rule, values: _applies(model, rule, values))
    findings = _Findings(violations=[_misfit(misfit) for misfit in bound.misfits])
    search = Search(model, Frontier(order(bound.observations, plan.ordering)))
    if bound.observations:
        _conduct(search, Writer(loaded.sources), options, findings)
    run = None if findings.path is None else execution(model, findings.path)
    checks = kill_rate(search, options) if options.mutants and run is not None and not findings.violations else None
    return Validation(
        verdict=_verdict(bound, findings),
        reason=_reason(bound, findings),
        kernel=kernel,
        clause=plan.name,
        counts=_counts(bound, len(events)),
        ignored=bound.ignored,
        unmapped=bound.unmapped,
        hidden=hidden_steps(findings.path) if findings.path else {},
        reordering=reordering(findings.path) if findings.path else 0.0,
        violations=tuple(findings.violations),
        properties=broken_properties(model, run) if run is not None else (),
        notices=tuple(findings.notices),
        explanations=_explanations(events, explain),
        execution=run,
        kill_rate=checks,
        visited=model.visited,
        seconds=perf_counter() - begun,
    )


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


def _verdict(bound: Bound, findings: _Findings) -> TraceVerdict:
    if findings.violations:
        return TraceVerdict.INCONSISTENT
    if not bound.observations:
        return TraceVerdict.VACUOUS
    return TraceVerdict.CONSISTENT if findings.path is not None else TraceVerdict.INCONCLUSIVE


def _reason(bound: Bound, findings: _Findings) -> str | None:
    return findings.reason if bound.observations or findings.violations else NOTHING_USED


def _counts(bound: Bound, read: int) -> Counts:
    used = bound.used + len(bound.misfits)
    fields = sum(len(observation.values) for observation in bound.observations)
    ignored, unmapped = (sum(each.count for each in group) for group in (bound.ignored, bound.unmapped))
    return Counts(read, used, ignored, unmapped, fields)


def _explanations(events: Sequence[Event], explain: Callable[[Event], str | None] | None) -> tuple[EventMeaning, ...]:
    if explain is None:
        return ()
    return tuple(EventMeaning(event, text) for event in events if (text := explain(event)) is not None)
