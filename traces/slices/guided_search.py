"""Guides the product search: it first tries the order in which the shared and the slice executions were found.

The order is a hint and excludes no execution (docs/design/guided-search.md).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise
from math import inf

from assay.checker.report import State
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Atom, FrozenMap, Value
from assay.traces.event import LogPosition
from assay.traces.observe.partial_order import OrderedObservation, PartialOrder
from assay.traces.result import ExecutedStep, Execution, SliceResult
from assay.traces.search.dfs import Limits, SearchResult, TraceSearch
from assay.traces.search.next_items import TraceHeads, advanced
from assay.traces.search.path import Move, SearchNode, SearchPath
from assay.traces.search.transition_system import Taken, TraceModel
from assay.traces.slices.slice_context import Joint
from assay.traces.table.statement_keys import EVERY_SLICE

HEADS = 20
"""How many of the items that may come next are tried at most."""

Key = tuple[str | None, LogPosition]
"""The slice, if any, and the place of a line."""

Rank = tuple[float, ...]

UNKNOWN: Rank = (inf,)


@dataclass(frozen=True, slots=True)
class Guide:
    """The rank of each line in the known executions, the hidden steps right before it, and its slice's state after
    it.
    """

    ranks: dict[Key, Rank] = field(default_factory=dict)
    hidden: dict[Key, tuple[ExecutedStep, ...]] = field(default_factory=dict)
    after: dict[Key, State] = field(default_factory=dict)

    def add(self, name: str | None, run: Execution, ranks: Iterable[Rank]) -> None:
        """Add the execution of a slice, or the shared one; ``ranks`` are those of its steps."""
        before: list[ExecutedStep] = []
        for step, rank in zip(run.steps, ranks, strict=True):
            # A hidden step belongs to the line before which it was taken: that is when the guide repeats it.
            if step.event is None:
                before += [step] if step.action is not None else []
                continue
            key = name, step.event.record.place
            self.ranks[key], self.after[key] = rank, step.state
            if before:
                self.hidden[key] = tuple(before)
                before = []


def guide(joint: Joint, shared: Execution, slices: Iterable[SliceResult]) -> Guide:
    """The guide from the shared execution and those of slices."""
    seen = joint.seen
    found = Guide()
    # `begins[n]` is the shared step with which the n-th state of the timeline begins: both drop what no slice sees.
    begins, last = [0.0], _visible(shared.initial, seen)
    for number, step in enumerate(shared.steps, 1):
        now = _visible(step.state, seen)
        if now != last:
            begins.append(float(number))
            last = now
    found.add(None, shared, ((float(number),) for number in range(1, len(shared.steps) + 1)))
    states = [_visible(state, seen) for state in joint.chain.states]
    for each in slices:
        if each.execution is not None:
            found.add(each.name, each.execution, _of_slice(each.execution, states, begins, seen))
    return found


class GuidedSearch(TraceSearch):
    """A search that reads items by rank and tries the guide's hidden steps first."""

    def __init__(self, model: TraceModel, order: PartialOrder, own: Sequence[int], known: Guide) -> None:
        super().__init__(model, TraceHeads(guided(order, known.ranks)))
        self._own = tuple(own)
        self._known = known

    def successors(self, path: SearchPath, limits: Limits, finding: SearchResult) -> Iterator[SearchPath]:
        """The successors by rank, of the first ``HEADS`` items: what is not found so, the product search looks for."""
        del finding
        node = path.node
        for item in self.frontier.heads(node.cursors).items[:HEADS]:
            cursors, key = advanced(node.cursors, item), _key(item)
            for steps, state in self._before(item, key, node.state):
                ways = self.model.consume(item, state)
                for after, taken in sorted(
                    ways, key=lambda option: not self._agrees(item, option[0], self._known.after.get(key))
                ):
                    move = Move(steps, item, taken)
                    yield self.take_ample_steps(path.then(move, SearchNode(cursors, after, 0)), limits)

    def _before(self, item: OrderedObservation, key: Key, state: int) -> Iterator[tuple[tuple[Taken, ...], int]]:
        """The guide's hidden steps before the item, and no hidden steps."""
        slice_ = _slice_of(item)
        steps: list[Taken] = []
        now = state
        for each in self._known.hidden.get(key, ()):
            assert each.action is not None
            wanted = tuple(_in_place(value, slice_) for _, value in each.arguments)
            found = self.model.call(each.action, wanted, now)
            taken = min(found, key=lambda option: not self._agrees(item, option.state, each.state), default=None)
            # In the product a step may not be possible yet; what comes after it in the guide would not fit either.
            if taken is None:
                break
            steps.append(taken)
            now = taken.state
        if steps:
            yield tuple(steps), now
        # Always tried, after the guide's steps: the guide is a hint and excludes nothing.
        yield (), state

    def _agrees(self, item: OrderedObservation, state: int, wanted: State | None) -> bool:
        """Whether the item's slice is in the state of its own execution."""
        slice_ = _slice_of(item)
        if wanted is None or slice_ is None:
            return True
        pairs = ((self.model.states[state][at], wanted[at]) for at in self._own)
        return all(
            # A slice's own model has one element of the slicing set, so each of its maps has one value.
            isinstance(mine, FrozenMap) and isinstance(its, FrozenMap) and mine[slice_] == next(iter(its.values()))
            for mine, its in pairs
        )


def _slice_of(item: OrderedObservation) -> Atom | None:
    found = next((value for field, value in item.observation.values if field == EVERY_SLICE), None)
    return found if isinstance(found, Atom) else None


def _key(item: OrderedObservation) -> Key:
    slice_ = _slice_of(item)
    return None if slice_ is None else slice_.name, item.observation.event.record.place


def _in_place(value: Value, slice_: Atom | None) -> Value:
    """A value of a slice's model in the product: the stand-in element becomes the slice itself."""
    return slice_ if isinstance(value, Atom) and slice_ is not None and value.sort == slice_.sort else value


def _visible(state: State, seen: Sequence[int]) -> tuple[object, ...]:
    return tuple(state[at] for at in seen)


def _of_slice(
    run: Execution, states: Sequence[tuple[object, ...]], begins: Sequence[float], seen: Sequence[int]
) -> Iterator[Rank]:
    """The ranks of a slice's steps: after the shared step of their position, in the order of the slice's execution."""
    position = 0
    for number, step in enumerate(run.steps):
        now = _visible(step.state, seen)
        # From the last position on: an execution never goes back on the timeline.
        position = next((at for at in range(position, len(states)) if states[at] == now), position)
        yield begins[min(position, len(begins) - 1)], float(number)


def guided(order: PartialOrder, known: Mapping[Key, Rank]) -> PartialOrder:
    """The order with ranks as times; unranked lines come last. No line comes after one that requires it."""
    every = [item for stream in order.streams for item in stream.items]
    wanted = {item.index: known.get(_key(item), UNKNOWN) for item in every}
    # An unranked line that a ranked one requires must not come last: the ranked one would wait for it.
    latest = _no_later(wanted, order)
    placed = sorted(every, key=lambda item: (latest[item.index], wanted[item.index], item.time, item.index))
    times = {item.index: float(number) for number, item in enumerate(placed)}
    streams = tuple(
        replace(stream, items=tuple(replace(item, time=times[item.index]) for item in stream.items))
        for stream in order.streams
    )
    return replace(order, streams=streams)


def _no_later(wanted: Mapping[int, Rank], order: PartialOrder) -> dict[int, Rank]:
    """The ranks, lowered so that no line ranks higher than a line that requires it."""
    before = {index: list(others) for index, others in order.requires.items()}
    for stream in order.streams:
        for one, after in pairwise(stream.items):
            before.setdefault(after.index, []).append(one.index)
    found = dict(wanted)
    changed = deque(sorted(found, key=lambda index: found[index]))
    while changed:
        index = changed.popleft()
        for other in before.get(index, ()):
            if found[other] > found[index]:
                found[other] = found[index]
                changed.append(other)
    return found
