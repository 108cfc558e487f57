"""The shared timeline: the states of the shared execution as slices see them, and the positions that a line can have.

Clocks bound the position of a line from above. A thread that writes, logs and goes on bounds it from both sides, by its
shared lines before and after (docs/design/shared-timeline.md).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate, zip_longest
from math import inf
from operator import attrgetter

from assay.checker.report import State
from assay.grammar.kernel import TracePlan
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event, ProcessRun
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.path import SearchPath
from assay.traces.search.transition_system import TraceModel

Thread = tuple[ProcessRun, int]
"""A process run, and the number of a group of events that one of its threads writes."""


@dataclass(frozen=True, slots=True)
class Mate:
    """A shared line of a thread: its ``time``, and by when it and all earlier ones were certainly ``written``.

    ``before`` is the lowest position before the fact of this or a later line, ``after`` the highest after that of this
    or an earlier one.
    """

    time: float
    written: float
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Chain:
    """The states by position, without steps that change nothing which slices read; and when each began at the earliest.

    The positions in ``uncertain`` come from hidden steps, whose time no line gives. Those in ``lines`` come from the
    step of a line, which was read and not inferred.
    """

    states: tuple[State, ...]
    earliest: tuple[float, ...]
    mates: dict[Thread, list[Mate]]
    skew: int
    uncertain: frozenset[int] = frozenset()
    lines: frozenset[int] = frozenset()

    def latest_at(self, time: float) -> int:
        """The last position that can lie before a line of this time."""
        return max(0, bisect_right(self.earliest, time + self.skew) - 1)

    def between(self, thread: Thread, time: float, latest: float) -> tuple[int, int]:
        """The positions between a thread's lines before and after a line that was written between two times."""
        mates = self.mates.get(thread, [])
        first = bisect_left(mates, time, key=attrgetter("written"))
        end = bisect_right(mates, latest, first, key=attrgetter("time"))
        low = mates[first - 1].after if first else 0
        high = mates[end].before if end < len(mates) else len(self.states) - 1
        # Lines of a thread may contradict each other; the range is never empty, and the check says what is wrong.
        return low, max(low, high)


def thread_of(event: Event, plan: TracePlan) -> Thread | None:
    """The thread that wrote a line, if the clause names threads."""
    return next(((event.run, i) for i, kinds in enumerate(plan.threads) if event.kind in kinds), None)


def chain(model: TraceModel, path: SearchPath, plan: TracePlan, seen: Iterable[int]) -> Chain:
    """The timeline of an accepted path; ``seen`` are the variables that slices read."""
    kept = frozenset(seen)
    blank = model.states[path.root.node.state]

    def visible(state: State) -> State:
        # What no slice reads keeps its first value, so that more positions are equal and are evaluated once.
        return tuple(value if i in kept else blank[i] for i, value in enumerate(state))

    states, earliest = [visible(blank)], [float("-inf")]
    mates: dict[Thread, list[Mate]] = defaultdict(list)
    uncertain: set[int] = set()
    lines: set[int] = set()
    for move in path.moves():
        before = len(states) - 1
        # Never below the position before: `latest_at` looks for a time by bisection.
        time = earliest[-1] if move.item is None else max(earliest[-1], move.item.earliest)
        for taken in move.hidden:
            # No line bounds a hidden step, so it may have come right after the step before it.
            _extend(states, earliest, visible(model.states[taken.state]), earliest[-1])
        uncertain |= set(range(before + 1, len(states)))
        before = len(states) - 1
        for taken in move.taken:
            _extend(states, earliest, visible(model.states[taken.state]), time)
        if move.item is not None and not move.item.observation.event.is_inferred:
            lines |= set(range(before + 1, len(states)))
        thread = None if move.item is None else thread_of(move.item.observation.event, plan)
        if move.item is not None and thread is not None:
            mates[thread].append(_mate(move.item, before, len(states) - 1))
    ordered = {thread: _by_time(own) for thread, own in mates.items()}
    return Chain(tuple(states), tuple(earliest), ordered, plan.ordering.skew, frozenset(uncertain), frozenset(lines))


def _mate(item: OrderedObservation, before: int, after: int) -> Mate:
    return Mate(item.time, item.time + item.observation.event.record.resolution - 1, before, after)


def _by_time(mates: Iterable[Mate]) -> list[Mate]:
    """The lines of a thread by time, each with the position bounds from those before and after it."""
    ordered = sorted(mates, key=attrgetter("time"))
    written = accumulate((mate.written for mate in ordered), max)
    after = accumulate((mate.after for mate in ordered), max)
    before = list(accumulate((mate.before for mate in reversed(ordered)), min))[::-1]
    rows = zip(ordered, written, before, after, strict=True)
    return [Mate(mate.time, done, low, high) for mate, done, low, high in rows]


def _extend(states: list[State], earliest: list[float], state: State, time: float) -> None:
    # What slices do not see takes no time for them: fewer positions are fewer things to try.
    if state != states[-1]:
        states.append(state)
        earliest.append(time)


def agree_before(one: Chain, other: Chain) -> float:
    """Before which time lines have the same positions and states in both timelines; ``inf`` if always.

    Only positions that the clocks allow count for a line (docs/design/shared-timeline.md), so bounds behind them make
    no difference.
    """
    if one == other:
        return inf
    pairs = zip(
        zip(one.states, one.earliest, strict=True), zip(other.states, other.earliest, strict=True), strict=False
    )
    shorter = min(len(one.states), len(other.states))
    common = next((at for at, (mine, its) in enumerate(pairs) if mine != its), shorter)
    # Without a common beginning nothing is the same, and another skew moves every line.
    if one.skew != other.skew or not common:
        return -inf
    until = min((chain.earliest[common] for chain in (one, other) if common < len(chain.earliest)), default=inf)
    threads = one.mates.keys() | other.mates.keys()
    reported = (_mates_agree_before(one.mates.get(t, []), other.mates.get(t, []), common - 1) for t in threads)
    return min([until - one.skew, *reported])


def _mates_agree_before(mine: list[Mate], its: list[Mate], last: int) -> float:
    """The same for the bounds from lines of threads, up to the last common position."""
    time = -inf
    for one, other in zip_longest(mine, its):
        if _limit(one, last) != _limit(other, last):
            return time
        if (
            one is None
            or other is None
            or (one.time, one.written, one.after) != (other.time, other.written, other.after)
        ):
            return min(mate.time for mate in (one, other) if mate is not None)
        time = one.time
    return inf


def _limit(mate: Mate | None, last: int) -> int:
    """The last position of a line before this one."""
    return last if mate is None else min(mate.before, last)
