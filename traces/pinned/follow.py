"""A log followed line by line by compiled rules, where its clause lets it: each line says which action happened, with which arguments.

What is accepted so is an execution as a search finds one. Where anything else turns up, a line that cannot come, a broken property, a value that the model does not have, an
action that chooses, nothing is said, and the log is asked about as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.checker.layout.encode import UnfitError as NoCodeError
from assay.checker.layout.row import Rows
from assay.checker.native.rule_steps import Lines, RuleProgram, RuleSteps, rule_program
from assay.checker.native.unsupported import UnsupportedError
from assay.grammar import kernel as k
from assay.grammar.diagnostics import SpecError
from assay.grammar.load import Loaded
from assay.traces.binding import NO_CONDITION, NO_RULE, Tally, Unread
from assay.traces.conduct import NEAR, Options
from assay.traces.decode import OutOfRangeError
from assay.traces.event_table import EventTable
from assay.traces.events import Event
from assay.traces.pinned.execution import FollowedExecution
from assay.traces.pinned.queue import NoOrderError, Queue, queue
from assay.traces.pinned.statements import KindsOfEvents, Stated, needed, packed
from assay.traces.plan import adapted, kernel_for, trace_plan
from assay.traces.readers.stretch import Numbers
from assay.traces.replay import Properties
from assay.traces.search.model import Model
from assay.traces.validation import Execution

WORTH_IT = 4_096
"""From so many events on compiled rules pay: to make them takes some tenths of a second where they are not in the cache."""

_NOT_SO = UnsupportedError, SpecError, OutOfRangeError, NoCodeError, NoOrderError


@dataclass(frozen=True, slots=True)
class Followed:
    """A log that was followed to its end: the sized kernel, the clause's name, how its events were bound, and the execution. ``reordering`` is that of ``replay``."""

    kernel: k.Kernel
    clause: str
    tally: Tally
    execution: Execution
    reordering: float
    visited: int


def follow(loaded: Loaded, events: Sequence[Event], clause: str | None, options: Options) -> Followed | None:
    """The log followed to its end; None where it is for a search to say."""
    plan = trace_plan(loaded.kernel, clause)
    if plan.slicing is not None or options.mutants or options.partial:
        return None
    try:
        return _follow(loaded, events, clause, options)
    except _NOT_SO:
        return None


def _follow(loaded: Loaded, events: Sequence[Event], clause: str | None, options: Options) -> Followed | None:
    listed = list(events)
    kinds = KindsOfEvents(listed)
    rules = trace_plan(loaded.kernel, clause).rules
    stated = list(kinds.stated(rules))
    kernel, sized = kernel_for(loaded, [needed(stated, rules)], len(events), clause)
    plan = adapted(sized, options)
    asked = [plan.rules[each.rule] for each in stated]
    program = rule_program(kernel, asked)
    model = Model(kernel, plan)
    if len(model.initial) != 1 or model.overflowed or not asked:
        return None
    steps = RuleSteps(program)
    positions, lines = _lines(stated, asked, program, steps)
    if not len(positions):
        return None
    found = queue(listed, positions, lines, plan.ordering)
    initial = model.states[model.initial[0]]
    if Properties(model, kernel.properties).broken(Execution(initial, ())):
        return None
    if not _walk(steps, program.layout.pack(initial), found):
        return None
    execution = FollowedExecution(model, asked, steps, found, EventTable.of(events))
    fields = np.array([len(rule.fields) for rule in asked])
    tally = _tally(kinds, plan, listed, positions, int(fields[lines.rules].sum()))
    return Followed(kernel, plan.name, tally, execution, _reordering(found), len(found))


def _lines(
    stated: Sequence[Stated], rules: Sequence[k.TraceRule], program: RuleProgram, steps: RuleSteps
) -> tuple[Numbers, Lines]:
    """The lines of which rules speak, in the order of their events, those of one event in the order of the rules; with the positions of their events."""
    parts: list[tuple[Numbers, Numbers, Rows]] = []
    for at, (each, rule) in enumerate(zip(stated, rules, strict=True)):
        positions, rows = packed(each, rule, program.stated[at], program.stated_words)
        if rule.condition is not None:
            speaks = steps.applies(at, rows)
            positions, rows = positions[speaks], rows[speaks]
        parts.append((positions, np.full(len(positions), at, np.int32), rows))
    positions, numbers, rows = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort((numbers, positions))
    return positions[order], Lines(numbers[order], rows[order], np.zeros(len(order), np.uint8))


def _walk(steps: RuleSteps, row: Rows, waiting: Queue) -> bool:
    """Follow all lines, each as soon as it can come; whether that leads to the end."""
    at = 0
    while True:
        at = steps.follow(row, waiting.lines, at, len(waiting))
        if at == len(waiting):
            return True
        if at < 0:
            return False
        other = next((each for each in waiting.others(at, NEAR[0]) if _can_come(steps, row, waiting, each)), None)
        if other is None:
            return False
        waiting.bring_forward(other, at)


def _can_come(steps: RuleSteps, row: Rows, waiting: Queue, place: int) -> bool:
    """Whether a line can come in a state; if so and a property is broken then, it is found when the line is followed."""
    after = steps.follow(row.copy(), waiting.lines, place, place + 1)
    return after != place


def _reordering(found: Queue) -> float:
    """The most, in milliseconds, by which a line was read after one that is later and changed the state."""
    changed = np.where(found.lines.changes.astype(np.bool_), found.times, -np.inf)
    before = np.concatenate([[-np.inf], np.maximum.accumulate(changed)[:-1]])
    return max(0.0, float((before - found.times).max()))


def _tally(kinds: KindsOfEvents, plan: k.TracePlan, events: Sequence[Event], used: Numbers, fields: int) -> Tally:
    reasons = {known.event: known.reason for known in plan.ignored}
    spoken = {rule.event for rule in plan.rules}
    is_used = np.zeros(len(events), np.bool_)
    is_used[used] = True
    ignored, unmapped = list[Unread](), list[Unread]()
    for kind, positions in sorted(kinds.positions.items()):
        others = positions[~is_used[positions]]
        if not len(others):
            continue
        reason = reasons.get(kind, NO_CONDITION if kind in spoken else NO_RULE)
        unread = Unread(kind, reason, len(others), events[int(others[0])].record.place)
        (unmapped if reason == NO_RULE else ignored).append(unread)
    return Tally(int(is_used.sum()), fields, (), tuple(ignored), tuple(unmapped))
