"""A log followed line by line by compiled rules, where its clause lets it: each line says which action happened, with which arguments.

What is accepted so is an execution as a search finds one. Where anything else turns up, a line that cannot come, a broken property, a value that the model does not have, an
action that chooses, nothing is said, and the log is asked about as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from assay.checker.layout.encode import UnfitError as NoCodeError
from assay.checker.native.functions.trace_rules import RuleSteps, rule_program
from assay.checker.native.llvm.unsupported import UnsupportedError
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import Loaded
from assay.traces.event import Event
from assay.traces.native_replay.encode_lines import KindsOfEvents, needed
from assay.traces.native_replay.lazy_execution import FollowedExecution
from assay.traces.native_replay.linear_order import NoOrderError, Queue, queue
from assay.traces.native_replay.run import lines_of, tally_of, walk
from assay.traces.observe.binding import BindingTally
from assay.traces.observe.field_values import OutOfRangeError
from assay.traces.observe.model_size import adapted, kernel_for, trace_plan
from assay.traces.options import Options
from assay.traces.properties.execution import PropertyChecker
from assay.traces.result import Execution
from assay.traces.search.transition_system import TraceModel
from assay.traces.table.event_table import EventTable

WORTH_IT = 4_096
"""From so many events on compiled rules pay: to make them takes some tenths of a second where they are not in the cache."""

NOT_SO = UnsupportedError, SpecError, OutOfRangeError, NoCodeError, NoOrderError


@dataclass(frozen=True, slots=True)
class Followed:
    """A log that was followed to its end: the sized kernel, the clause's name, how its events were bound, and the execution. ``reordering`` is that of ``replay``."""

    kernel: k.Kernel
    clause: str
    tally: BindingTally
    execution: Execution
    reordering: float
    visited: int


def follow(loaded: Loaded, events: Sequence[Event], clause: str | None, options: Options) -> Followed | None:
    """The log followed to its end; None where it is for a search to say."""
    plan = trace_plan(loaded.kernel, clause)
    table = EventTable.of(events)
    if (
        plan.slicing is not None
        or options.mutants
        or options.partial
        or not leave_nothing_open(loaded.kernel, plan, table)
    ):
        return None
    try:
        return _follow(loaded, table, clause, options)
    except NOT_SO:
        return None


def leave_nothing_open(kernel: k.Kernel, plan: k.TracePlan, events: EventTable) -> bool:
    """Whether a line of each kind that occurs says which action happened, with all arguments, or is none. (To ask that of the kinds takes no events, of which there may be millions.)"""
    kinds = {traits.kind for traits in events.traits()}
    return all(_is_pinned(kernel, rule) for rule in plan.rules if rule.event in kinds)


def _is_pinned(kernel: k.Kernel, rule: k.TraceRule) -> bool:
    calls = [call for step in rule.steps for call in step]
    if len(calls) > 1 or any(None in call.arguments for call in calls):
        return False
    return not any(isinstance(each, k.Pick) for call in calls for each in kernel.action(call.action).body)


def _follow(loaded: Loaded, events: EventTable, clause: str | None, options: Options) -> Followed | None:
    listed = list(events)
    kinds = KindsOfEvents(listed)
    rules = trace_plan(loaded.kernel, clause).rules
    stated = list(kinds.stated(rules))
    kernel, sized = kernel_for(loaded, [needed(stated, rules)], len(events), clause)
    plan = adapted(sized, options)
    asked = [plan.rules[each.rule] for each in stated]
    program = rule_program(kernel, asked, kernel.properties)
    model = TraceModel(kernel, plan)
    if len(model.initial) != 1 or model.overflowed or not asked:
        return None
    steps = RuleSteps(program)
    positions, lines = lines_of(stated, asked, program, steps)
    if not len(positions):
        return None
    found = queue(listed, positions, lines, plan.ordering)
    initial = model.states[model.initial[0]]
    if PropertyChecker(model, kernel.properties).broken(Execution(initial, ())):
        return None
    if not walk(steps, program.layout.pack(initial), found, 0, len(found)):
        return None
    execution = FollowedExecution(model, asked, steps, found, partial(events.at, found.positions))
    fields = np.array([len(rule.fields) for rule in asked])
    tally = tally_of(kinds, plan, listed, positions, int(fields[lines.rules].sum()))
    return Followed(kernel, plan.name, tally, execution, _reordering(found), len(found))


def _reordering(found: Queue) -> float:
    """The most, in milliseconds, by which a line was read after one that is later and changed the state."""
    changed = np.where(found.lines.changes.astype(np.bool_), found.times, -np.inf)
    before = np.concatenate([[-np.inf], np.maximum.accumulate(changed)[:-1]])
    return max(0.0, float((before - found.times).max()))
