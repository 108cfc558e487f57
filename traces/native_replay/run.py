"""Runs encoded lines through compiled rules, and counts which events were used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.checker.layout.row import Rows
from assay.checker.native.trace_rules import EncodedLines, RuleProgram, RuleSteps
from assay.grammar import kernel as k
from assay.traces.event import Event
from assay.traces.native_replay.encode_lines import EncodedStatements, KindsOfEvents, packed
from assay.traces.native_replay.hidden_steps import HiddenSteps
from assay.traces.native_replay.linear_order import LineQueue
from assay.traces.observe.binding import NO_CONDITION, NO_RULE, undecoded
from assay.traces.observe.binding_tally import BindingTally, Unread
from assay.traces.search.driver import NEAR
from assay.traces.store.record_block import Numbers


def encoded_lines(
    logged: Sequence[EncodedStatements], rules: Sequence[k.TraceRule], program: RuleProgram, steps: RuleSteps
) -> tuple[Numbers, EncodedLines]:
    """The lines that some rule is about, with the positions of their events.

    They are in the order of the events; those of one event are in the order of the rules.
    """
    parts: list[tuple[Numbers, Numbers, Rows]] = []
    for at, (each, rule) in enumerate(zip(logged, rules, strict=True)):
        positions, rows = packed(each, rule, program.logged[at], program.stated_words)
        if rule.condition is not None:
            speaks = steps.applies(at, rows)
            positions, rows = positions[speaks], rows[speaks]
        parts.append((positions, np.full(len(positions), at, np.int32), rows))
    positions, numbers, rows = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort((numbers, positions))
    return positions[order], EncodedLines(numbers[order], rows[order], np.zeros(len(order), np.uint8))


def replay(
    steps: RuleSteps, row: Rows, waiting: LineQueue, begin: int, end: int, unseen: HiddenSteps | None = None
) -> bool:
    """Replay the lines from ``begin`` to ``end``; whether the end was reached. ``row`` is changed in place.

    Where a line is not enabled, the first allowed other line that is enabled is taken before it. If there is none, the
    fewest hidden steps are taken after which the line itself is enabled.
    """
    at, last, left = begin, begin, 0 if unseen is None else unseen.limit
    while True:
        at = steps.follow(row, waiting.lines, at, end)
        if at == end:
            return True
        if at < 0:  # a property is violated: the search will find it again, and explain it
            return False
        # Another line before a hidden step: lines did happen, and a hidden step is only supposed.
        other = next(
            (each for each in waiting.alternatives(at, end, NEAR[0]) if _is_enabled(steps, row, waiting, each)), None
        )
        if other is not None:
            waiting.bring_forward(other, at)
            continue
        if unseen is None:
            return False
        # The limit is for hidden steps between two lines that name an action: lines that only observe do not renew it.
        if waiting.pins(last, at):
            left = unseen.limit
        taken = unseen.before(steps, row, waiting.lines, at, left)
        if taken is None:
            return False
        unseen.take(steps, row, taken)
        waiting.unseen[at] = taken
        last, left = at, left - len(taken)


def _is_enabled(steps: RuleSteps, row: Rows, waiting: LineQueue, place: int) -> bool:
    """Whether a line is enabled. A property that it would violate is found when the line is replayed."""
    after = steps.follow(row.copy(), waiting.lines, place, place + 1)
    return after != place


def tally_of(
    kinds: KindsOfEvents, plan: k.TracePlan, events: Sequence[Event], used: Numbers, fields: int
) -> BindingTally:
    """How the events of a log or slice were bound, given the positions of those that were used."""
    reasons = {known.event: known.reason for known in plan.ignored}
    named = {rule.event for rule in plan.rules}
    is_used = np.zeros(len(events), np.bool_)
    is_used[used] = True
    ignored, unmapped = list[Unread](), list[Unread]()
    for kind, positions in sorted(kinds.positions.items()):
        others = positions[~is_used[positions]]
        if not len(others):
            continue
        # A rule is about this kind and did not take these events: why is asked of each, since it may be a mistake in
        # them.
        if kind in named and kind not in reasons:
            wrong, kept = _undecoded(plan, kind, [events[at] for at in others.tolist()])
            unmapped += wrong
            ignored += kept
            continue
        unread = Unread(kind, reasons.get(kind, NO_RULE), len(others), events[int(others[0])].record.place)
        (ignored if kind in reasons else unmapped).append(unread)
    return BindingTally(int(is_used.sum()), fields, (), tuple(ignored), tuple(unmapped))


def _undecoded(plan: k.TracePlan, kind: str, events: Sequence[Event]) -> tuple[list[Unread], list[Unread]]:
    """Of events that rules are about and that none used: those that cannot be read, and those that no condition fits."""
    rules = [rule for rule in plan.rules if rule.event == kind]
    counts: dict[str | None, list[Event]] = {}
    for event in events:
        counts.setdefault(undecoded(plan, event, rules), []).append(event)
    wrong, kept = list[Unread](), list[Unread]()
    for reason, own in counts.items():
        first = own[0].record
        if reason is None:
            kept.append(Unread(kind, NO_CONDITION, len(own), first.place))
        else:
            wrong.append(Unread(kind, reason, len(own), first.place, needed=True, since=first.time))
    return wrong, kept
