"""Replays all slices of a log in one go by compiled rules, where each line names its action.

It applies where a slice sees nothing shared that ever changes: many orders of a shop, or one lock of many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from assay.checker.native.trace_rules import RuleSteps, rule_program
from assay.grammar import kernel as k
from assay.traces.native_replay.compiled_replay import NOT_SO, every_line_names_action
from assay.traces.native_replay.encode_lines import KindsOfEvents
from assay.traces.native_replay.hidden_steps import HiddenSteps, hidden_rules
from assay.traces.native_replay.lazy_execution import LazyExecution, ReplayedLines
from assay.traces.native_replay.linear_order import EventsOfSlices, LineQueue, line_queue
from assay.traces.native_replay.run import encoded_lines, replay, tally_of
from assay.traces.observe.binding_tally import BindingTally
from assay.traces.properties.execution import PropertyChecker, speaks_of
from assay.traces.result import Execution, SliceResult, TraceVerdict
from assay.traces.search.transition_system import TraceModel
from assay.traces.slices.slice_answer import SliceAnswer
from assay.traces.slices.slice_context import Joint
from assay.traces.table.event_selection import Selection, SliceField
from assay.traces.table.statement_keys import EVERY_SLICE


def replay_slices(joint: Joint, slices: Mapping[str, Selection]) -> dict[str, SliceAnswer]:
    """The answers of those slices that were replayed to their ends; the other slices are left to the search."""
    if not _is_simple(joint):
        return {}
    try:
        return dict(_answers(joint, slices))
    except NOT_SO:
        return {}


def _is_simple(joint: Joint) -> bool:
    """Whether slices see nothing shared that changes, have no versions, and no action of theirs is reported in
    answers.
    """
    numbered = any(rule.at is not None for rule in joint.plan.rules)
    return joint.is_searched_by_itself and not joint.past.steps and not numbered and not joint.plan.reported


def _answers(joint: Joint, slices: Mapping[str, Selection]) -> Iterator[tuple[str, SliceAnswer]]:
    stands_for = joint.split.slicing.sort.elements[0]
    own = _events_of(slices, SliceField(stands_for))
    kernel, plan = joint.split.kernel, joint.split.plan_of_slices(joint.plan)
    if own is None or not every_line_names_action(kernel, plan, own.table):
        return
    # Without the mark of their slice: its field is given once for all events, instead of in a copy of each.
    events = list(own.table.at(own.positions))
    names = {kernel.variables[at].name for at in joint.split.own}
    properties = [each for each in kernel.properties if speaks_of(each, names)]
    logged = list(KindsOfEvents(events, {EVERY_SLICE: stands_for}).logged(plan.rules))
    rules = [plan.rules[each.rule] for each in logged]
    model = TraceModel(kernel, plan)
    more = hidden_rules(model)
    program = rule_program(kernel, [*rules, *more], properties)
    if len(model.initial) != 1 or model.overflowed or not rules:
        return
    initial = model.states[model.initial[0]]
    if PropertyChecker(model, properties).broken(Execution(initial, ())):
        return
    steps = RuleSteps(program)
    positions, lines = encoded_lines(logged, rules, program, steps)
    waiting = line_queue(own.table, positions, lines, plan, rules, own)
    row = program.layout.pack(initial)
    unseen = HiddenSteps(model, program, more, len(rules)) if more else None
    replayed = ReplayedLines(model, rules, steps, waiting, unseen)
    counts = _Counts(own, waiting, rules, plan)
    bounds = np.searchsorted(own.owners[waiting.positions], np.arange(len(slices) + 1)).astype(np.int64)
    # One call for all slices, each from the initial row. Only slices that stopped are followed again, one by one.
    reached = steps.follow_each(row, waiting.lines, bounds).tolist()
    for number, (name, begin, end) in enumerate(zip(slices, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
        if begin == end:
            continue
        at_once = reached[number] == end
        if at_once or (reached[number] >= 0 and replay(steps, row.copy(), waiting, begin, end, unseen)):
            events_of_slice = partial(own.events, waiting.positions[begin:end])
            run, tally = LazyExecution(replayed, events_of_slice, begin), counts.of(number)
            hidden = {} if at_once else replayed.hidden(begin, end)
            yield name, SliceAnswer(_result(name, tally.used, run, hidden), tally, end - begin)


def _events_of(slices: Mapping[str, Selection], mark: SliceField) -> EventsOfSlices | None:
    """The events of all slices; None if some event belongs to several."""
    positions = np.concatenate([each.positions for each in slices.values()])
    owners = np.repeat(np.arange(len(slices)), [len(each) for each in slices.values()])
    order = np.argsort(positions, kind="stable")
    positions = positions[order]
    # An event of a group is in several slices; the compiled loop gives each line one owner.
    if (np.diff(positions) == 0).any():
        return None
    return EventsOfSlices(next(iter(slices.values())).table, positions, owners[order], mark)


class _Counts:
    """How the events of each slice were bound."""

    def __init__(
        self, own: EventsOfSlices, waiting: LineQueue, rules: Sequence[k.TraceRule], plan: k.TracePlan
    ) -> None:
        owners = own.owners
        fields = np.array([len(rule.fields) for rule in rules])[waiting.lines.rules]
        count = int(owners.max()) + 1
        self._own, self._plan = own, plan
        self._is_used = np.zeros(len(owners), np.bool_)
        self._is_used[waiting.positions] = True
        self._fields = np.bincount(owners[waiting.positions], fields, count)
        self._places = np.argsort(owners, kind="stable")
        self._ends = np.cumsum(np.bincount(owners, minlength=count))

    def of(self, number: int) -> BindingTally:
        """The tally of one slice."""
        begin, end = self._ends[number - 1] if number else 0, self._ends[number]
        used, fields = self._is_used[self._places[begin:end]], int(self._fields[number])
        if used.all():
            return BindingTally(len(used), fields)
        events = list(self._own.events(self._places[begin:end]))
        return tally_of(KindsOfEvents(events), self._plan, events, np.flatnonzero(used), fields)


def _result(name: str, used: int, run: LazyExecution, hidden: Mapping[str, int]) -> SliceResult:
    return SliceResult(name, TraceVerdict.CONSISTENT, None, used, (), (), hidden, run, ())
