"""The answer about what all slices share, made of calls, of a compiled replay, or of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event
from assay.traces.explain.mismatch_findings import MismatchFindings
from assay.traces.observe.binding_tally import BindingTally, counted_as_ignored, total_of
from assay.traces.options import Options
from assay.traces.properties.execution import PropertyChecker, execution, hidden_steps, reordering
from assay.traces.properties.plausibility import held_lines
from assay.traces.result import BrokenProperty, EventMeaning, Execution, KillRate, LogViolation
from assay.traces.slices.slice_context import Joint

if TYPE_CHECKING:
    from assay.traces.calls.decide import CallsAnswer
    from assay.traces.native_replay.compiled_replay import ReplayedLog
    from assay.traces.search.transition_system import TraceModel
    from assay.traces.shared_search import SharedValidation

NO_TIMELINE = "not checked: no execution was found for what all slices share"


@dataclass(frozen=True, slots=True)
class SharedAnswer:
    """The answer about what all slices share. ``joint`` is the context for validating slices, if one was found.

    ``read`` counts all events; ``checked`` is whether any was used, ``explained`` whether an execution was found.
    ``tally`` also counts the events of slices that could not be validated. ``supposed`` is the number of inferred
    events on which the answer rests; ``rests_on`` says what else it rests on. ``held`` counts the lines that were held
    against what others determine. It is None where all were, because nothing came before. ``stuck`` is the time of the
    first line without an explanation, or the time that the search reached.
    """

    kernel: k.Kernel
    clause: str
    read: int
    checked: bool
    explained: bool
    tally: BindingTally
    reason: str | None = None
    violations: tuple[LogViolation, ...] = ()
    properties: tuple[BrokenProperty, ...] = ()
    hidden: Mapping[str, int] = field(default_factory=dict)
    reordering: float = 0.0
    execution: Execution | None = None
    kill_rate: KillRate | None = None
    visited: int = 0
    explanations: tuple[EventMeaning, ...] = ()
    relaxed: tuple[tuple[str, str], ...] = ()
    joint: Joint | None = None
    supposed: int = 0
    rests_on: tuple[str, ...] = ()
    held: int | None = None
    stuck: float | None = None


def answer_of_search(
    found: SharedValidation, read: int, options: Options, explanations: tuple[EventMeaning, ...]
) -> SharedAnswer:
    """The answer of a search among ``read`` events, whether it found an execution or not."""
    findings, model = found.findings, found.search.model
    run = None if findings.path is None else execution(model, findings.path)
    # Each event is counted once: with a shared execution those of slices are counted where slices are validated.
    unjoined = BindingTally() if found.joint is not None else _unjoined(found.parts.slices)
    return SharedAnswer(
        kernel=found.kernel,
        clause=found.plan.name,
        read=read,
        checked=bool(found.search.frontier.order.streams),
        explained=findings.path is not None,
        tally=total_of([found.tally, unjoined]),
        reason=findings.reason or found.absurd,
        violations=tuple(findings.violations),
        # Without an execution no state is known, so no property can be said to be false.
        properties=PropertyChecker(model, model.kernel.properties).broken(run) if run is not None else (),
        hidden=hidden_steps(findings.path) if findings.path else {},
        reordering=reordering(findings.path) if findings.path else 0.0,
        execution=run,
        visited=model.visited,
        explanations=explanations,
        relaxed=found.divided.relaxed if found.divided is not None else (),
        joint=found.joint,
        stuck=findings.stuck,
        supposed=findings.unlogged.supposed,
        rests_on=(*findings.rests_on, *findings.unlogged.rests_on),
        held=_held_where_open(model, findings, options),
    )


def _held_where_open(model: TraceModel, findings: MismatchFindings, options: Options) -> int | None:
    """How many lines were held against what others determine; None if nothing came before the log."""
    if not (options.partial or findings.rests_on or findings.unlogged.rests_on):
        return None
    return held_lines(model, findings.path) if findings.path else 0


def _unjoined(slices: Mapping[str, Sequence[Event]]) -> BindingTally:
    """The events of slices, counted as ignored, where no shared execution was found."""
    return counted_as_ignored((event for events in slices.values() for event in events), NO_TIMELINE)


def answer_of_calls(
    found: CallsAnswer, events: Sequence[Event], explanations: tuple[EventMeaning, ...]
) -> SharedAnswer:
    """The answer about a log of calls, which has no slices: calls are divided by themselves."""
    return SharedAnswer(
        kernel=found.kernel,
        clause=found.plan.name,
        read=len(events),
        checked=found.tally.used > 0,
        explained=found.explained,
        tally=found.tally,
        reason=found.reason,
        violations=tuple(found.violations),
        properties=tuple(found.properties),
        hidden=found.hidden,
        execution=found.execution,
        visited=found.visited,
        explanations=explanations,
    )


def answer_of_replay(found: ReplayedLog, read: int, explanations: tuple[EventMeaning, ...]) -> SharedAnswer:
    """The answer about a log whose lines could be replayed to their end."""
    return SharedAnswer(
        kernel=found.kernel,
        clause=found.clause,
        read=read,
        checked=True,
        explained=True,
        tally=found.tally,
        hidden=found.hidden,
        reordering=found.reordering,
        execution=found.execution,
        visited=found.visited,
        explanations=explanations,
    )
