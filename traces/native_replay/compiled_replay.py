"""Replays a whole log by compiled rules, if the clause names an action with all its arguments for every line.

An execution found here is one as the search finds it. In any other case there is no answer, and the log is searched.
Such are a line that is not enabled, a violated property, a value that the model does not have, and an action that
picks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from assay.checker.layout.encode import UnfitError as NoCodeError
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.native.trace_rules import RuleSteps, rule_program
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded
from assay.traces.event import Event
from assay.traces.native_replay.encode_lines import KindsOfEvents, needed
from assay.traces.native_replay.hidden_steps import HiddenSteps, hidden_rules
from assay.traces.native_replay.lazy_execution import LazyExecution, ReplayedLines
from assay.traces.native_replay.linear_order import LineQueue, NoOrderError, line_queue
from assay.traces.native_replay.run import encoded_lines, replay, tally_of
from assay.traces.observe.binding_tally import BindingTally
from assay.traces.observe.field_values import OutOfRangeError
from assay.traces.observe.model_size import adapt_clause, kernel_for, trace_plan
from assay.traces.options import Options
from assay.traces.properties.execution import PropertyChecker
from assay.traces.result import Execution
from assay.traces.search.transition_system import TraceModel
from assay.traces.table.event_table import EventTable

NOT_SO = UnsupportedError, SpecError, OutOfRangeError, NoCodeError, NoOrderError
"""The errors that mean: this log is not for compiled replay."""


@dataclass(frozen=True, slots=True)
class ReplayedLog:
    """A log that was replayed to its end: the sized kernel, the clause's name, the tally of its events, and the
    execution. The last field says how often each hidden action was assumed.

    ``reordering`` is as in ``traces.properties.execution.reordering``, in milliseconds.
    """

    kernel: k.Kernel
    clause: str
    tally: BindingTally
    execution: Execution
    reordering: float
    visited: int
    hidden: Mapping[str, int]


def replay_log(loaded: Loaded, events: Sequence[Event], clause: str | None, options: Options) -> ReplayedLog | None:
    """The log replayed to its end; None where the search has to decide."""
    plan = trace_plan(loaded.kernel, clause)
    table = EventTable.of(events)
    if (
        plan.slicing is not None
        or options.mutants
        or options.partial
        or not every_line_names_action(loaded.kernel, plan, table)
    ):
        return None
    try:
        return _replay(loaded, table, clause, options)
    except NOT_SO:
        return None


def every_line_names_action(kernel: k.Kernel, plan: k.TracePlan, events: EventTable) -> bool:
    """Whether every line that some rule is about names one of some actions with all its arguments, or is a pure
    observation.

    It is asked of the kinds of events that occur and not of the events, of which there may be millions.
    """
    kinds = {traits.kind for traits in events.traits()}
    return all(_names_its_action(kernel, rule) for rule in plan.rules if rule.event in kinds)


def _names_its_action(kernel: k.Kernel, rule: k.TraceRule) -> bool:
    calls = [call for step in rule.steps for call in step]
    if len(rule.steps) > 1 or any(None in call.arguments for call in calls):
        return False
    # Replay keeps one state. An action that picks leads to several, and the first need not be the right one.
    return not any(isinstance(each, k.Pick) for call in calls for each in kernel.action(call.action).body)


def _replay(loaded: Loaded, events: EventTable, clause: str | None, options: Options) -> ReplayedLog | None:
    kinds = KindsOfEvents(events)
    rules = trace_plan(loaded.kernel, clause).rules
    logged = list(kinds.logged(rules))
    kernel, sized = kernel_for(loaded, [needed(logged, rules)], len(events), clause)
    plan = adapt_clause(sized, options)
    asked = [plan.rules[each.rule] for each in logged]
    model = TraceModel(kernel, plan)
    more = hidden_rules(model)
    program = rule_program(kernel, [*asked, *more], kernel.properties)
    if len(model.initial) != 1 or model.overflowed or not asked:
        return None
    steps = RuleSteps(program)
    positions, lines = encoded_lines(logged, asked, program, steps)
    if not len(positions):
        return None
    found = line_queue(events, positions, lines, plan, asked)
    initial = model.states[model.initial[0]]
    # Compiled rules check properties after each line, so the initial state is left to this.
    if PropertyChecker(model, kernel.properties).broken(Execution(initial, ())):
        return None
    unseen = HiddenSteps(model, program, more, len(asked)) if more else None
    if not replay(steps, program.layout.pack(initial), found, 0, len(found), unseen):
        return None
    replayed = ReplayedLines(model, asked, steps, found, unseen)
    execution = LazyExecution(replayed, partial(events.at, found.positions))
    fields = np.array([len(rule.fields) for rule in asked])
    tally = tally_of(kinds, plan, events, positions, int(fields[lines.rules].sum()))
    hidden = replayed.hidden(0, len(found))
    return ReplayedLog(kernel, plan.name, tally, execution, _reordering(found), len(found), hidden)


def _reordering(found: LineQueue) -> float:
    """By how many milliseconds, at most, a line was read after a later line that changed the state."""
    # The lowest bit says whether a line changed the state (`EncodedLines`); a line that did not may stand anywhere.
    changed = np.where((found.lines.changes & 1).astype(np.bool_), found.times, -np.inf)
    before = np.concatenate([[-np.inf], np.maximum.accumulate(changed)[:-1]])
    return max(0.0, float((before - found.times).max()))
