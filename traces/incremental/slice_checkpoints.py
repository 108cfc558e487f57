"""Checks one slice of a growing log from the last checkpoint that new lines leave valid.

The answer is the one that a check of all lines would give: docs/design/slice-checkpoints.md says when a checkpoint
stays valid. Where anything is wrong, or a version is missing, the slice is checked as a whole instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, replace
from math import inf
from typing import Any

import numpy as np

from assay.checker.interpreter.values.sort_occurrence import mentions
from assay.checker.jit.array_ops import distinct
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Remark
from assay.traces.incremental.log_diff import Grown
from assay.traces.observe.binding import observe, views_to_check
from assay.traces.observe.binding_tally import BindingTally, Unread
from assay.traces.observe.observation import Observation
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.result import SliceResult
from assay.traces.slices.slice_answer import SliceAnswer
from assay.traces.slices.slice_lines import slice_item
from assay.traces.slices.slice_validator import Joiner
from assay.traces.slices.versions.findings import WIDTHS, Gap, SliceFindings, SliceQuery
from assay.traces.slices.versions.first_update import FirstWrite
from assay.traces.slices.versions.out_of_order import out_of_order_lines
from assay.traces.slices.versions.version_check import SliceCheck
from assay.traces.slices.versions.version_history import (
    Frontier,
    UnversionedLine,
    VersionedUpdate,
    VersionHistory,
    VersionNode,
    entries,
    number_of,
)
from assay.traces.store.record_block import Numbers
from assay.traces.table.event_selection import Selection

# Of three one may be the beginning: a slice with one update began anew each time.
POINTS = 4
"""How many checkpoints are kept: later lines may belong to the last update, or be a little older than it."""

_VIEWS = 8
"""Bits for the rank of a view among the views of one event."""


@dataclass(frozen=True, slots=True)
class PathCounts:
    """The hidden steps and remarks on a path to a search node, on which no property is violated."""

    hidden: Mapping[str, int]
    remarks: tuple[Remark, ...]


@dataclass(slots=True)
class SliceCheckpoint:
    """A checkpoint: where a check was after an update.

    ``time`` is the latest line time so far, ``until`` the latest possible time of any such fact (milliseconds).
    ``rest`` are the lines not consumed. ``skips``: some version was skipped. ``ways`` is keyed by the frontier's
    nodes.

    Paths to the frontier are cut to what a resumed check reads: what follows the last update, and its version.
    """

    number: float
    time: float
    until: float
    rest: list[OrderedObservation]
    frontier: Frontier
    last: int | None
    waiting: tuple[UnversionedLine, ...]
    gaps: tuple[Gap, ...]
    skips: bool
    missing: tuple[int, ...]
    unplaced: tuple[VersionedUpdate, ...]
    begun: OrderedObservation | None
    passed_over: tuple[OrderedObservation, ...]
    narrowed: bool
    visited: int
    ways: IdentityMemo[VersionNode, PathCounts] = field(default_factory=IdentityMemo)

    def __reduce__(self) -> tuple[Callable[..., SliceCheckpoint], tuple[object, ...]]:
        """Identities differ in another process, so ``ways`` is pickled in the order of the frontier."""
        ways = [self.ways.get(node) for node in self.frontier]
        return _point_of, (*(getattr(self, each.name) for each in fields(self)[:-1]), ways)

    def settle(self) -> None:
        """Drop everything that a resumed check does not read."""
        kept = tuple(map(_trimmed, self.frontier))
        ways = ((new, self.ways.get(old)) for new, old in zip(kept, self.frontier, strict=True))
        self.ways = IdentityMemo((node, way) for node, way in ways if way is not None)
        self.frontier = kept
        self.gaps = tuple(
            replace(gap, before=tuple(replace(each, before=None) for each in gap.before)) for gap in self.gaps
        )


def _point_of(*given: Any) -> SliceCheckpoint:
    *others, ways = given
    found = SliceCheckpoint(*others)
    rows = zip(found.frontier, ways, strict=True)
    found.ways = IdentityMemo((node, way) for node, way in rows if way is not None)
    return found


def _trimmed(node: VersionNode) -> VersionNode:
    """The path to a node from the last update on; the update keeps its version only."""
    if node.before is None or isinstance(node.entry, VersionedUpdate):
        entry = VersionedUpdate(node.entry.number, ()) if isinstance(node.entry, VersionedUpdate) else node.entry
        return replace(node, before=None, entry=entry)
    return replace(node, before=_trimmed(node.before))


@dataclass(slots=True)
class BindingCounts:
    """How the events of a slice were bound so far. Each unused kind comes with the order of its example."""

    used: int = 0
    fields: int = 0
    ignored: dict[tuple[str, str], tuple[int, Unread]] = field(default_factory=dict)
    unmapped: dict[tuple[str, str], tuple[int, Unread]] = field(default_factory=dict)

    def tally(self) -> BindingTally:
        """The counts as a tally."""
        ignored, unmapped = (tuple(own[key][1] for key in sorted(own)) for own in (self.ignored, self.unmapped))
        return BindingTally(self.used, self.fields, (), ignored, unmapped)


class SliceProgress:
    """The state of the check of one growing slice."""

    def __init__(self) -> None:
        self.names: Numbers = np.empty(0, np.int64)
        self.until = -inf
        self.started: bool | None = None
        self._first = FirstWrite()
        self._counts = BindingCounts()
        self._points: list[SliceCheckpoint] = []
        self._items = 0

    def answer(self, joiner: Joiner, name: str, events: Selection, grown: Grown, before: float) -> SliceAnswer | None:
        """The answer about all events of the slice; None if only a check of the whole can give it.

        For lines before the time ``before`` the shared execution is what it was last time. After None the progress is
        useless and must be dropped. Slices that are searched as logs of their own have no checkpoints
        (docs/design/slice-search.md).
        """
        if joiner.joint.is_searched_by_itself:
            return None
        fresh = np.flatnonzero(grown.fresh[events.positions] if len(self.names) else np.ones(len(events), np.bool_))
        if self.started is not None and not self._continues(events, grown, fresh):
            return None
        items = self._learn(joiner, events, grown, fresh)
        if items is None:
            return None
        self._first = self._first.with_lines(joiner.model, items)
        started = joiner.joint.is_begun(events, self._first)
        # What came first in the slice was judged otherwise before, so that no checkpoint is one of this check.
        if self.started not in (None, started):
            return None
        self.names, self.started = grown.names[events.positions], started
        point = self._point_before(joiner, items, before)
        return None if point is None else self._go_on(joiner, name, point)

    def stands(self, names: Numbers, before: float) -> bool:
        """Whether the last answer is still right for events with these names, given that the shared state is the same
        before a time.
        """
        return np.array_equal(names, self.names) and (before == inf or self.until < before)

    def move_to(self, joiner: Joiner, rules: IdentityMemo[k.TraceRule, k.TraceRule], grown: frozenset[str]) -> bool:
        """Move to another kernel in which slices are the same (docs/design/kernel-extension.md).

        ``rules`` maps an old rule to the new one. False if a line has other values in the new kernel.
        """
        moved = IdentityMemo[OrderedObservation, OrderedObservation]()
        lines = [
            line
            for point in self._points
            for line in (*point.rest, *(unversioned.line for unversioned in point.waiting))
        ]
        for line in lines:
            if line not in moved:
                seen = _seen_again(line.observation, rules[line.observation.rule], joiner, grown)
                if seen is None:
                    return False
                moved[line] = replace(line, observation=seen)
        for point in self._points:
            point.rest = [moved[line] for line in point.rest]
            point.waiting = tuple(replace(unversioned, line=moved[unversioned.line]) for unversioned in point.waiting)
        return True

    def _continues(self, events: Selection, grown: Grown, fresh: Numbers) -> bool:
        """Whether the events that are not new are those of the last time, in the same order."""
        names = np.delete(grown.names[events.positions], fresh)
        return np.array_equal(names, self.names)

    # ------------------------------------------------------------------------------------------------- what is new

    def _learn(
        self, joiner: Joiner, events: Selection, grown: Grown, fresh: Numbers
    ) -> list[OrderedObservation] | None:
        """The new observations, without those that repeat an earlier line of their version
        (docs/design/equal-lines.md).

        None if a line that was left out as a repetition would be the earliest one now.
        """
        new = events.some(fresh)
        read = joiner.binder.read(new)
        restated = self._restated(events, fresh)
        if read.tally.misfits or restated is None:
            return None
        self._count(new, grown, read.tally)
        ordered = sorted(views_to_check(new, read, restated), key=lambda each: each[:2])
        positions = np.array(sorted({each.at for each in ordered}), np.int64)
        made = dict(zip(positions.tolist(), new.at(positions), strict=True))
        orders = dict(zip(positions.tolist(), grown.orders(new.positions[positions]), strict=True))
        items = []
        for each in ordered:
            seen = Observation(made[each.at], each.rule, each.logged[0], each.values)
            items.append(slice_item(orders[each.at] << _VIEWS | each.order, seen))
        return items

    def _restated(self, events: Selection, fresh: Numbers) -> set[int] | None:
        """The new statements that earlier events of the slice made too; None if a new event makes one at an earlier
        time.
        """
        numbers, ends = events.numbers, events.ends
        old = np.delete(numbers, fresh)
        # Of equal statements the earliest counts. If a new line is that, what was left out before was the wrong one.
        again = distinct(numbers[fresh][np.isin(numbers[fresh], old)])
        if len(again) and ends[fresh].min() <= np.delete(ends, fresh).max():
            order = np.lexsort((np.arange(len(numbers)), ends, numbers))
            first = order[np.searchsorted(numbers[order], again)]
            if np.isin(first, fresh).any():
                return None
        return set(again.tolist())

    def _count(self, new: Selection, grown: Grown, tally: BindingTally) -> None:
        counts = self._counts
        counts.used += tally.used
        counts.fields += tally.fields
        for known, more in ((counts.ignored, tally.ignored), (counts.unmapped, tally.unmapped)):
            for each in more:
                key, order = (each.kind, each.reason), _order_of(each, new, grown)
                first, before = known.get(key, (order, replace(each, count=0)))
                example = each.example if order < first else before.example
                known[key] = min(first, order), replace(each, count=before.count + each.count, example=example)

    # -------------------------------------------------------------------------------------------------- the check

    def _point_before(
        self, joiner: Joiner, items: Sequence[OrderedObservation], before: float
    ) -> SliceCheckpoint | None:
        """The last checkpoint that new lines, and changes of the shared state after ``before``, leave valid; new lines
        are added to it.
        """
        self.until = max([self.until, *(item.latest for item in items)])
        if not self._items:
            self._items = len(items)
            self._points = [_beginning(joiner, items)]
            return self._points[0]
        self._items += len(items)
        first = min((item.time for item in items), default=inf)
        numbers = (number_of(joiner.model, item) for item in items)
        lowest = min((number for number in numbers if number is not None), default=inf)
        while self._points:
            # The last one first: the later a checkpoint, the less has to be checked again.
            point = self._points[-1]
            # A skipped version may have been made anywhere on the timeline, so any change of the timeline may move it.
            agreed = -inf if point.skips and before != inf else before
            # Later lines, higher versions, the same positions for all lines so far: nothing before it can change.
            if point.time < first and point.number < lowest and point.until < agreed:
                for each in self._points:
                    each.rest += items
                return point
            self._points.pop()
        return None

    def _go_on(self, joiner: Joiner, name: str, point: SliceCheckpoint) -> SliceAnswer | None:
        """The answer by a check from a checkpoint on; None if something is wrong, which only a whole check can
        explain.
        """
        joiner.forget()
        history = VersionHistory(joiner.model, joiner.joint.split, joiner.joint.chain, joiner.views, WIDTHS[0])
        check = self._check(joiner, history, point)
        if check is None:
            return None
        points, found, skips = check
        # Only a whole check can explain a mismatch, and only a wider beam can confirm one.
        if found.violations or (history.narrowed and found.is_open) or not self._items:
            return None
        counts = _counts_to_end(joiner, history, found, point)
        if counts is None:
            return None
        self._points = [*self._points, *points][-POINTS:]
        _store_counts(joiner, self._points, found.node, point)
        for each in points:
            each.settle()
        # From now on any change of the shared state may matter, whatever its time.
        if skips:
            self.until = inf
        verdict, reason = found.verdict, found.reason
        result = SliceResult(name, verdict, reason, self._counts.used, (), (), counts.hidden, None, counts.remarks)
        return SliceAnswer(result, self._counts.tally(), history.visited)

    def _check(
        self, joiner: Joiner, history: VersionHistory, point: SliceCheckpoint
    ) -> tuple[list[SliceCheckpoint], SliceFindings, bool] | None:
        """The checkpoints made, the findings, and whether versions were skipped."""
        assert self.started is not None, "the events were looked at"
        asked = SliceQuery(started=self.started, partial=joiner.joint.partial, one_is_enough=True, explained=False)
        check = SliceCheck(history, joiner.blamer, point.rest, asked)
        _resume(check, point)
        if out_of_order_lines(history.model, check.lines, check.late):
            return None
        todo = entries(history.model, check.lines, check.late)
        points: list[SliceCheckpoint] = []
        time, until, skips = point.time, point.until, point.skips
        for at, entry in enumerate(todo):
            skips = skips or _skips(check, entry)
            check.take(entry, todo[at + 1 :])
            if check.found.violations:
                return None
            lines = entry.lines if isinstance(entry, VersionedUpdate) else (entry.line,)
            time, until = max(time, *(each.time for each in lines)), max(until, *(each.latest for each in lines))
            if isinstance(entry, VersionedUpdate):
                points.append(_point(check, entry, (time, until), _behind(todo[at + 1 :]), skips=skips))
        return points, check.finish(()), skips


def _seen_again(seen: Observation, rule: k.TraceRule, joiner: Joiner, grown: frozenset[str]) -> Observation | None:
    """The observation of the same event by the same rule of another kernel."""
    if not any(mentions(field.binder.type, grown) for field in rule.fields):
        return replace(seen, rule=rule)
    found = observe(seen.event, rule, joiner.model.applies)
    return found if isinstance(found, Observation) else None


def _order_of(unread: Unread, new: Selection, grown: Grown) -> int:
    """The order of the example event."""
    of_kind = np.flatnonzero(new.of_kind(unread.kind))
    rows = zip(of_kind.tolist(), new.at(of_kind), strict=True)
    at = next(at for at, event in rows if event.record.place == unread.example)
    return grown.orders(new.positions[[at]])[0]


def _beginning(joiner: Joiner, items: Sequence[OrderedObservation]) -> SliceCheckpoint:
    """The checkpoint before all lines."""
    begin = VersionHistory(joiner.model, joiner.joint.split, joiner.joint.chain, joiner.views, WIDTHS[0]).begin
    ways = IdentityMemo((node, PathCounts({}, ())) for node in begin)
    # In the order of the table, as a check of all lines has them.
    rest = sorted(items, key=lambda item: item.index)
    return SliceCheckpoint(-inf, -inf, -inf, rest, begin, None, (), (), False, (), (), None, (), False, 0, ways)


def _resume(check: SliceCheck, point: SliceCheckpoint) -> None:
    """Set a check to a checkpoint."""
    check.frontier, check.last = point.frontier, point.last
    check.waiting, check.gaps = list(point.waiting), list(point.gaps)
    found, history = check.found, check.history
    found.missing, found.unplaced, found.begun = list(point.missing), list(point.unplaced), point.begun
    found.passed_over = list(point.passed_over)
    history.narrowed, history.visited = point.narrowed, point.visited


def _skips(check: SliceCheck, entry: VersionedUpdate | UnversionedLine) -> bool:
    """Whether versions before an update are missing from the log."""
    expected = 0 if check.last is None else check.last + 1
    unknown = check.last is None and not check.started
    return isinstance(entry, VersionedUpdate) and entry.number > expected and not unknown


def _point(
    check: SliceCheck,
    write: VersionedUpdate,
    times: tuple[float, float],
    rest: list[OrderedObservation],
    *,
    skips: bool,
) -> SliceCheckpoint:
    """The checkpoint after an update."""
    found, history = check.found, check.history
    return SliceCheckpoint(
        number=write.number,
        time=times[0],
        until=times[1],
        rest=rest,
        frontier=check.frontier,
        last=check.last,
        waiting=tuple(check.waiting),
        gaps=tuple(check.gaps),
        skips=skips,
        missing=tuple(found.missing),
        unplaced=tuple(found.unplaced),
        begun=found.begun,
        passed_over=tuple(found.passed_over),
        narrowed=history.narrowed,
        visited=history.visited,
    )


def _behind(ahead: Sequence[VersionedUpdate | UnversionedLine]) -> list[OrderedObservation]:
    """The lines of the observations that follow."""
    return [line for entry in ahead for line in (entry.lines if isinstance(entry, VersionedUpdate) else (entry.line,))]


def _counts_to_end(
    joiner: Joiner, history: VersionHistory, found: SliceFindings, point: SliceCheckpoint
) -> PathCounts | None:
    """The hidden steps and remarks on the path to the end.

    None if a property is violated on it, or may be violated before the checkpoint.
    """
    if found.missing or found.unplaced:  # properties are not checked on such an execution, nor on one that continues it
        return None
    # Not from the beginning: the steps before the checkpoint were counted when it was made.
    nodes = _since(point, found.node)
    if nodes[0] not in point.ways:
        return None
    if joiner.properties.broken(joiner.execution(history, nodes)):
        return None
    return _onward(joiner, point.ways[nodes[0]], nodes[1:])


def _since(point: SliceCheckpoint, end: VersionNode) -> list[VersionNode]:
    """The nodes up to the end, from the last one with known counts at the checkpoint; all nodes if there is none."""
    nodes: list[VersionNode] = []
    for node in end.backwards():
        nodes.append(node)
        if node in point.ways:
            break
    return nodes[::-1]


def _onward(joiner: Joiner, counts: PathCounts, nodes: Sequence[VersionNode]) -> PathCounts:
    """The counts extended by some nodes."""
    hidden = Counter(counts.hidden)
    hidden.update(taken.action for node in nodes for taken in node.hidden)
    return PathCounts(hidden, (*counts.remarks, *joiner.remarks(nodes)))


def _store_counts(joiner: Joiner, points: Sequence[SliceCheckpoint], end: VersionNode, begin: SliceCheckpoint) -> None:
    """Store at each checkpoint the counts of the path through it."""
    nodes = _since(begin, end)
    counts = begin.ways[nodes[0]]
    at = IdentityMemo((node, number) for number, node in enumerate(nodes))
    for point in points:
        if point is not begin:
            number = max((at[node] for node in point.frontier if node in at), default=None)
            if number is not None:
                point.ways[nodes[number]] = _onward(joiner, counts, nodes[1 : number + 1])
