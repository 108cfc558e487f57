"""The search for an execution of what all slices share: binding, order, and from which beginning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded
from assay.traces.attribution.run_events import LogEvents
from assay.traces.event import Event
from assay.traces.explain.blame import violation_of
from assay.traces.explain.failed_atoms import ConditionPrinter
from assay.traces.explain.mismatch import explain_and_continue
from assay.traces.explain.mismatch_findings import MismatchFindings
from assay.traces.native_replay import threshold
from assay.traces.observe.binding import EventBinder
from assay.traces.observe.binding_tally import BindingTally
from assay.traces.observe.decomposition import Split, split
from assay.traces.observe.model_size import Needs, NeedsOfEvents, adapt_clause, kernel_for, trace_plan
from assay.traces.observe.slice_assignment import SlicedEvents, sliced, unsliced
from assay.traces.options import DEFAULT_OPTIONS, Options
from assay.traces.properties.plausibility import absurdity
from assay.traces.search.dfs import TraceSearch
from assay.traces.search.next_items import TraceHeads
from assay.traces.search.stuttering import compared_events
from assay.traces.search.transition_system import TraceModel
from assay.traces.slices.slice_context import Joint, joint
from assay.traces.table.event_table import fields_read
from assay.traces.table.statement_keys import EVERY_SLICE
from assay.traces.windows.window_model import LogPart

if TYPE_CHECKING:
    from assay.traces.incremental.incremental_recheck import Retrial
    from assay.traces.windows.ask import WindowExplained


@dataclass(frozen=True, slots=True)
class SharedValidation:
    """What all slices share, searched for an execution: the model and the clause, how events were bound, and what was
    found.

    ``tally`` counts the fields of shared lines that were compared with the model. ``joint`` is None where the clause
    has no slices, or where no shared execution was found.
    """

    kernel: k.Kernel
    plan: k.TracePlan
    parts: SlicedEvents
    divided: Split | None
    tally: BindingTally
    search: TraceSearch
    findings: MismatchFindings
    joint: Joint | None
    writer: ConditionPrinter
    absurd: str | None
    """Why what the execution rests on is absurd, if it is: then it explains nothing."""

    def retrial(self, options: Options) -> Retrial | None:
        """The log, prepared for validation with changes; None if no execution explains what all slices share."""
        if self.findings.path is None:
            return None
        from assay.traces.incremental.incremental_recheck import Retrial  # noqa: PLC0415 - few ask for it

        return Retrial(self.search, self.joint, self.parts, self.writer, options)


MOST_BEGINNINGS = 3
"""How often a log is searched again from another beginning."""


def check(
    loaded: Loaded, events: Sequence[Event], *, clause: str | None = None, options: Options = DEFAULT_OPTIONS
) -> SharedValidation:
    """The search of :func:`validate_shared`, if need be from another beginning than birth (docs/design/windows.md)."""
    found = check_from(loaded, events, clause, options, None)
    for _ in range(MOST_BEGINNINGS):
        if found.findings.beginning is None:
            break
        # A generator: each beginning costs a whole search.
        begun = (check_from(loaded, events, clause, options, each) for each in found.findings.beginning.beginnings())
        again = next((each for each in begun if _is_further(each)), None)
        if again is None:
            break
        found = again
    return found


def _is_further(found: SharedValidation) -> bool:
    """Whether a search from another beginning has an answer, or a beginning that it may go on from."""
    findings = found.findings
    # An execution that rests on something absurd is no answer, so the next beginning is tried.
    if findings.path is not None:
        return found.absurd is None
    return findings.beginning is not None or any(each.contradiction is not None for each in findings.violations)


def check_from(
    loaded: Loaded,
    events: Sequence[Event],
    clause: str | None,
    options: Options,
    beginning: WindowExplained | None,
) -> SharedValidation:
    """The search from one beginning; None is the birth of the system."""
    # The model, as large as the log and the beginning need.
    slicing = trace_plan(loaded.kernel, clause).slicing
    names = fields_read(trace_plan(loaded.kernel, clause))
    parts = unsliced(events, names) if slicing is None else sliced(slicing, events, names, lacking=options.partial)
    needed = [*_needs(parts, trace_plan(loaded.kernel, clause)), *(() if beginning is None else (beginning.needs(),))]
    kernel, plan = kernel_for(loaded, needed, len(parts), clause)
    plan = adapt_clause(plan, options)
    divided = None if plan.slicing is None else split(kernel, plan.slicing)
    model = TraceModel(kernel, plan) if divided is None else TraceModel(divided.kernel, divided.plan_of_shared(plan))
    # The lines in its terms, and in their partial order.
    read = EventBinder(model.plan, model.applies, plan).read(parts.shared)
    compared = compared_events(model, parts.shared, read)
    initial = None
    if beginning is not None:
        # Another beginning stands for what was inferred.
        compared, initial = compared.without_inferred(), [model.number(beginning.state_in(model))]
    search = TraceSearch(model, TraceHeads(compared), initial=initial)
    writer = ConditionPrinter(loaded.sources)
    # Logs of Kafka need them not: it counts for majorities alone, which are easier among the few of a window.
    elements = {each.name: each.elements for each in model.kernel.sorts} if model.plan.begins_anywhere else {}
    log = LogPart(loaded, model.plan, options, parts.shared.table, elements=elements)
    findings = MismatchFindings()
    # Without a line there is nothing to search; slices alone still need the initial state.
    if compared.streams or parts.slices:
        findings = explain_and_continue(search, writer, options, log)
    # In front: a value that the model does not have is wrong whatever the search found behind it.
    findings.violations[:0] = [violation_of(misfit) for misfit in read.tally.misfits]
    # What slices are held against, and what the execution rests on.
    joined = None
    if beginning is not None and findings.path is not None:
        findings.rests_on = (beginning.words(),)
        # Slices may have begun before the log, too.
        options = replace(options, begun=True)
    if divided is not None and findings.path is not None:
        joined = joint(divided, plan, model, findings.path, writer, options, loaded)
    fields = sum(len(item.observation.values) for item in compared.items)
    tally = replace(read.tally, fields=fields)
    absurd = absurdity(model, findings.path, supposed=bool(findings.rests_on or findings.unlogged.rests_on))
    return SharedValidation(kernel, plan, parts, divided, tally, search, findings, joined, writer, absurd)


def _needs(parts: SlicedEvents, plan: k.TracePlan) -> Iterable[Needs]:
    """What all events need of the model.

    Events that were read from a file of events hardly ever repeat; their statements are examined in columns, not one by
    one.
    """
    table = parts.shared.table
    if len(table) < threshold.WORTH_IT or any(isinstance(part, LogEvents) for part in table.parts):
        needing = NeedsOfEvents(plan)
        return parts.distinct((plan.name, plan.rules), needing)
    from assay.traces.native_replay.encode_lines import KindsOfEvents, needed  # noqa: PLC0415 - it loads the compiler

    more = {} if plan.slicing is None else {EVERY_SLICE: plan.slicing.sort.elements[0]}
    return [needed(list(KindsOfEvents(table, more).logged(plan.rules)), plan.rules)]
