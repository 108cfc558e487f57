"""A log against a model: bind, order, search, explain every mismatch, and say how much was checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from assay.grammar import kernel as k
from assay.grammar.load import Loaded
from assay.traces.atoms import Writer
from assay.traces.binding import Bound, Unread, bind
from assay.traces.conduct import DEFAULT_OPTIONS, Options
from assay.traces.events import Event
from assay.traces.join import Joined, Joiner
from assay.traces.mismatch import Findings, proceed, violation_of
from assay.traces.mutants import kill_rate
from assay.traces.order import order
from assay.traces.plan import sized_kernel, strict, trace_plan
from assay.traces.replay import broken_properties, execution, hidden_steps, reordering
from assay.traces.retrial import Retrial
from assay.traces.search.explore import Search
from assay.traces.search.frontier import Frontier
from assay.traces.search.model import Model
from assay.traces.slices import SlicedEvents, sliced
from assay.traces.slicing import Split, split
from assay.traces.validation import (
    Counts,
    EventMeaning,
    SliceResult,
    TraceVerdict,
    Validation,
)

NOTHING_USED = "no event of the log is used by the trace clause: nothing was checked"
NO_CHAIN = "not checked: no execution was found for what all slices share"


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
    found = check(loaded, events, clause=clause, options=options)
    bound, joined, findings = found.bound, found.joined, found.findings
    run = None if findings.path is None else execution(found.search.model, findings.path)
    asked = found.retrial(options) if options.mutants and not findings.violations else None
    properties = broken_properties(found.search.model, run) if run is not None else ()
    return Validation(
        verdict=_verdict(bound, findings, joined.results),
        reason=_reason(bound, findings, joined.results),
        kernel=found.kernel,
        clause=found.plan.name,
        counts=_counts(bound, joined, len(events)),
        ignored=_merged(bound.ignored, joined.bound.ignored),
        unmapped=_merged(bound.unmapped, joined.bound.unmapped),
        hidden=_hidden(findings, joined.results),
        reordering=reordering(findings.path) if findings.path else 0.0,
        violations=tuple(findings.violations),
        properties=(*properties, *(broken for result in joined.results for broken in result.properties)),
        notices=(),
        explanations=_explanations(events, explain),
        execution=run,
        kill_rate=kill_rate(asked, options) if asked is not None else None,
        visited=found.search.model.visited + joined.visited,
        seconds=perf_counter() - begun,
        slices=joined.results,
        relaxed=found.divided.relaxed if found.divided is not None else (),
    )


@dataclass(frozen=True, slots=True)
class Checked:
    """A log that was searched for an execution: the model and the clause, what was found of what is shared, and of the slices.

    ``divided`` and ``joiner`` are None where the clause has no slices, or nothing was found for them to be joined on.
    """

    kernel: k.Kernel
    plan: k.TracePlan
    parts: SlicedEvents
    divided: Split | None
    bound: Bound
    search: Search
    findings: Findings
    joiner: Joiner | None
    joined: Joined
    writer: Writer

    def retrial(self, options: Options) -> Retrial | None:
        """The log to be asked about again with changes; None if no execution explains all that slices share."""
        if self.findings.path is None:
            return None
        return Retrial(self.search, self.joiner, self.parts, self.writer, options)


def check(
    loaded: Loaded, events: Sequence[Event], *, clause: str | None = None, options: Options = DEFAULT_OPTIONS
) -> Checked:
    """The search of :func:`validate`, and the check of the slices."""
    slicing = trace_plan(loaded.kernel, clause).slicing
    parts = SlicedEvents(tuple(events), {}) if slicing is None else sliced(slicing, events)
    kernel, plan = sized_kernel(loaded, parts.all, clause)
    if options.skew is not None:
        plan = replace(plan, ordering=replace(plan.ordering, skew=options.skew))
    if options.strict:
        plan = strict(plan)
    divided = None if plan.slicing is None else split(kernel, plan.slicing)
    model = Model(kernel, plan) if divided is None else Model(divided.kernel, divided.plan_of_shared(plan))
    bound = bind(model.plan, parts.shared, model.applies)
    search = Search(model, Frontier(order(bound.observations, plan.ordering)))
    writer = Writer(loaded.sources)
    findings = proceed(search, writer, options) if bound.observations else Findings()
    findings.violations[:0] = [violation_of(misfit) for misfit in bound.misfits]
    joiner = None
    joined = Joined((), _not_joined(event for events in parts.slices.values() for event in events), 0)
    if divided is not None and findings.path is not None:
        joiner = Joiner(divided, plan, model, findings.path, writer)
        joined = joiner.join(parts.slices)
        findings.violations += [violation_of(misfit) for misfit in joined.bound.misfits]
    findings.violations += [violation for result in joined.results for violation in result.violations]
    return Checked(kernel, plan, parts, divided, bound, search, findings, joiner, joined, writer)


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


def _hidden(findings: Findings, results: Sequence[SliceResult]) -> Mapping[str, int]:
    counts = hidden_steps(findings.path) if findings.path else Counter()
    for result in results:
        counts.update(result.hidden)
    return counts


def _verdict(bound: Bound, findings: Findings, results: Sequence[SliceResult]) -> TraceVerdict:
    if findings.violations:
        return TraceVerdict.INCONSISTENT
    if not bound.observations:
        return TraceVerdict.VACUOUS
    open_ = findings.path is None or any(result.verdict is TraceVerdict.INCONCLUSIVE for result in results)
    return TraceVerdict.INCONCLUSIVE if open_ else TraceVerdict.CONSISTENT


def _reason(bound: Bound, findings: Findings, results: Sequence[SliceResult]) -> str | None:
    if not bound.observations and not findings.violations:
        return NOTHING_USED
    undecided = [result for result in results if result.verdict is TraceVerdict.INCONCLUSIVE]
    if findings.reason is not None or not undecided:
        return findings.reason
    more = f", and {len(undecided) - 1} more slices like it" if len(undecided) > 1 else ""
    return f"{undecided[0].name}: {undecided[0].reason}{more}"


def _counts(bound: Bound, joined: Joined, read: int) -> Counts:
    both = bound, joined.bound
    used = sum(each.used + len(each.misfits) for each in both)
    fields = sum(len(observation.values) for each in both for observation in each.observations)
    ignored = sum(unread.count for each in both for unread in each.ignored)
    unmapped = sum(unread.count for each in both for unread in each.unmapped)
    return Counts(max(read, used + ignored + unmapped), used, ignored, unmapped, fields)


def _explanations(events: Sequence[Event], explain: Callable[[Event], str | None] | None) -> tuple[EventMeaning, ...]:
    if explain is None:
        return ()
    return tuple(EventMeaning(event, text) for event in events if (text := explain(event)) is not None)
