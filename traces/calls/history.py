"""A linearization of calls: whether there is an order in which each takes effect between its beginning and its end.

The arrays that ``wing_gong`` works on are made here, and its questions are answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from operator import is_not

import numpy as np
import numpy.typing as npt

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.calls.call import BoundCall
from assay.traces.calls.growth import Growth
from assay.traces.calls.object_states import ObjectStates
from assay.traces.calls.wing_gong import (
    ANSWER,
    ASKED,
    ASKS,
    BITS,
    COUNT,
    DEPTH,
    ENTRY,
    FOUND,
    FULL,
    FURTHEST,
    LEFT,
    LOOK_AHEAD,
    LOOKS,
    REACHED,
    REFUTED,
    STATE,
    UNKNOWN,
    put_effects,
    put_rows,
    search,
)

Words = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]

MOST_BYTES = 80_000_000
"""How large the rows of the memo may become; its hash table takes as much again."""

MOST_BYTES_OF_STATES = 120_000_000
"""How much the states of an object may take, and the effects in them, by a guess."""

BYTES_OF_EFFECT = 1_100
"""What an effect takes beside the items of the values in its state."""


@dataclass(frozen=True, slots=True)
class Linearized:
    """The calls in an order in which they may have taken effect; those that never did are left out."""

    order: tuple[int, ...]
    visited: int


@dataclass(frozen=True, slots=True)
class Refuted:
    """There is no such order up to the return of the call ``until``."""

    until: int
    visited: int


@dataclass(frozen=True, slots=True)
class GaveUp:
    """The memo was full, or the states took too much."""

    visited: int


Answer = Linearized | Refuted | GaveUp


class Effects:
    """The effects that are known, as a hash table for the machine code, and which results may still come."""

    def __init__(self, states: ObjectStates) -> None:
        """The calls of ``states`` are all that there are."""
        self.states, self.kinds = states, max(1, len(states.kinds))
        self.growth = Growth(states.model, [each.example.observation for each in states.kinds])
        self.ranges: Numbers = np.full((1 << 8, 2), -1, np.int64)
        self.keys: Words = np.zeros(1 << 10, np.uint64)
        self.afters: Numbers = np.zeros(1 << 10, np.int64)
        self.count = 0
        self._bytes, self._newest = 0, states.initial

    @property
    def are_full(self) -> bool:
        """Whether no more should be learnt."""
        return self._bytes > MOST_BYTES_OF_STATES

    @property
    def are_many(self) -> bool:
        """Whether another part had better begin without them."""
        return self._bytes > MOST_BYTES_OF_STATES // 2

    def learn(self, state: int, kind: int) -> int:
        """Ask the model for one effect, for which there is room then."""
        # Half of the slots stay free, because the compiled probe ends at a free one only.
        if 2 * (self.count + 1) > len(self.keys):
            keys, afters = np.zeros(4 * len(self.keys), np.uint64), np.zeros(4 * len(self.keys), np.int64)
            put_effects(keys, afters, self.keys, self.afters)
            self.keys, self.afters = keys, afters
        self.count += 1
        after = self.states.after(state, kind)
        self._newest = max(self._newest, after)
        self._bytes += BYTES_OF_EFFECT
        # To measure each state would take longer than the effect: one in 256 stands for the others.
        if self.count % 256 == 0:
            values = [
                value for number in self.states.states(self._newest) for value in self.states.model.states[number]
            ]
            self._bytes += 256 * sum(map(_bytes_of, values))
        return after

    @property
    def tables(self) -> tuple[Words, Numbers, Numbers]:
        """What the machine code reads."""
        return self.keys, self.afters, self.ranges

    def look(self, state: int) -> None:
        """Note which results may still come in a state."""
        if state >= len(self.ranges):
            more: Numbers = np.full((2 * state, 2), -1, np.int64)
            more[: len(self.ranges)] = self.ranges
            self.ranges = more
        self.ranges[state] = self.growth.range_of(self.states.states(state))


def linearize(
    calls: Sequence[BoundCall],
    effects: Effects,
    skew: int = 0,
    initial: int | None = None,
    optional: frozenset[int] = frozenset(),
    most: int = 1 << 40,
    most_learnt: int = 1 << 40,
) -> Answer:
    """Search an order of the calls.

    ``skew`` is by how much the clocks of two callers may differ. ``initial`` is the set of states at the beginning,
    by its number. The calls ``optional`` may have had no effect, too. At most ``most`` configurations are visited,
    and the model is asked for ``most_learnt`` effects.
    """
    found = _Search(calls, effects, skew, optional)
    return found.run(effects.states.initial if initial is None else initial, most, most_learnt)


class _Search:
    def __init__(self, calls: Sequence[BoundCall], effects: Effects, skew: int, optional: frozenset[int]) -> None:
        self.effects = effects
        kinds = [effects.states.kind(each) for each in calls]
        needed = [each.call.returned and at not in optional for at, each in enumerate(calls)]
        begins = [-inf if each.call.begin is None else each.call.begin for each in calls]
        ends = [_end(each, skew) if needed[at] else None for at, each in enumerate(calls)]
        # By their beginnings, so that calls that are open at one time have neighbouring bits: a window is narrow.
        order = sorted(range(len(calls)), key=lambda at: (begins[at], at))
        bits = _bits(order, needed)
        pure = effects.states.kinds
        columns = zip(kinds, bits, needed, _before(calls, order, kinds, bits, needed), strict=True)
        growth = effects.growth
        rows = [
            (kind, bit, need, before, pure[kind].changes_nothing, growth.ranks[kind], *growth.begins[kind])
            for kind, bit, need, before in columns
        ]
        self.calls: Numbers = np.array(rows, np.int64).reshape(-1, 8)
        self.entries, self.links = _entries(begins, ends)
        must = sum(needed)
        self.wide = _window([(begins[at], end) for at in order if (end := ends[at]) is not None])
        # Bits of optional calls have words of their own: the window of a configuration covers needed calls only. Of the
        # two words more `write_row` reads one beyond the window, and compiled code checks no bounds.
        self.first_optional = must // BITS + self.wide + 2
        more = (len(calls) - must) // BITS + 1 if must < len(calls) else 0
        self.taken: Words = np.zeros(self.first_optional + more, np.uint64)
        self.row: Words = np.zeros(2 + self.wide + more, np.uint64)
        for at, need in enumerate(needed):
            if not need:
                self.calls[at, 1] += BITS * self.first_optional - must
                if self.calls[at, 3] >= must:
                    self.calls[at, 3] += BITS * self.first_optional - must
        self.must = must

    def run(self, initial: int, most: int, most_learnt: int) -> Answer:
        """Search to the end."""
        registers: Numbers = np.zeros(10, np.int64)
        registers[[STATE, LEFT, FURTHEST, ANSWER]] = initial, self.must, -1, UNKNOWN
        registers[ENTRY] = self.links[len(self.entries), 1]
        # A row for each call taken: its entry, the state before, and the first call that was not taken then.
        stack: Numbers = np.zeros((len(self.calls) + 1, 3), np.int64)
        slots: Numbers = np.zeros(1 << 10, np.int64)
        rows: Words = np.zeros((1 << 9, len(self.row)), np.uint64)
        # However wide a row is, a short search of some configurations is always made.
        most = min(most, max(1 << 10, MOST_BYTES // self.row.nbytes))
        ahead = LOOK_AHEAD if self.effects.growth else 0
        sizes = (self.effects.kinds, self.wide, self.first_optional, self.must, most, ahead)
        history, learnt = (self.entries, self.links, self.calls), self.effects.count
        memo, table = (slots, rows, self.row), self.effects.tables
        go_on = search.bound(history, self.taken, stack, memo, table, registers, sizes)
        while True:
            if memo[1] is not rows or any(map(is_not, table, self.effects.tables)):  # they have grown
                memo, table = (slots, rows, self.row), self.effects.tables
                go_on = search.bound(history, self.taken, stack, memo, table, registers, sizes)
            said = go_on()
            count = int(registers[COUNT])
            match said:
                case _ if said == ASKS and (self.effects.are_full or self.effects.count - learnt >= most_learnt):
                    return GaveUp(count)
                case _ if said == ASKS:
                    registers[ANSWER] = self.effects.learn(int(registers[STATE]), int(registers[ASKED]))
                case _ if said == LOOKS:
                    self.effects.look(int(registers[REACHED]))
                case _ if said == FULL:
                    more: Words = np.zeros((2 * len(rows), len(self.row)), np.uint64)
                    more[:count] = rows[:count]
                    rows, slots = more, np.zeros(4 * len(rows), np.int64)
                    put_rows(slots, rows, count)
                case _ if said == FOUND:
                    return Linearized(tuple(self.entries[stack[: registers[DEPTH], 0], 0].tolist()), count)
                case _ if said == REFUTED:
                    return Refuted(int(self.entries[registers[FURTHEST], 0]), count)
                case _:
                    return GaveUp(count)


def _bytes_of(value: object) -> int:
    """About how much the references in a value take."""
    match value:
        case tuple() | frozenset():
            return 8 * len(value) + sum(map(_bytes_of, value))
        case Mapping():
            return 80 * len(value) + sum(map(_bytes_of, value.values()))
        case _:
            return 0


def _end(each: BoundCall, skew: int) -> float:
    return inf if each.call.end is None else each.call.end + skew


def _bits(order: Sequence[int], needed: Sequence[bool]) -> list[int]:
    """The bit of each call: those that must be taken first, in the order of their beginnings."""
    bits = [0] * len(order)
    for bit, at in enumerate([*(at for at in order if needed[at]), *(at for at in order if not needed[at])]):
        bits[at] = bit
    return bits


def _before(
    calls: Sequence[BoundCall], order: Sequence[int], kinds: Sequence[int], bits: Sequence[int], needed: Sequence[bool]
) -> list[int]:
    """The bit of the call that has to be taken before each, whatever the clocks say: the last one of its caller. Of
    equal calls that may have had no effect, the earlier one is taken first.
    """
    before = [-1] * len(order)
    last: dict[object, int] = {}
    for at in order:
        caller = calls[at].call.caller if needed[at] else kinds[at]
        if caller is not None:
            # A caller whose calls overlap, or whose times are not known, gives no order.
            if caller in last and (not needed[at] or _follows(calls[last[caller]], calls[at])):
                before[at] = bits[last[caller]]
            last[caller] = at
    return before


def _follows(one: BoundCall, other: BoundCall) -> bool:
    end, begin = one.call.end, other.call.begin
    return end is not None and begin is not None and end <= begin


def _entries(begins: Sequence[float], ends: Sequence[float | None]) -> tuple[Numbers, Numbers]:
    """The beginnings and returns in the order of time, with what ``wing_gong.search`` needs of each. Of equal times the
    beginnings come first, because such calls overlap.
    """
    moments = [(begin, 0, at) for at, begin in enumerate(begins)]
    moments += [(end, 1, at) for at, end in enumerate(ends) if end is not None]
    # A 0 marks a beginning and a 1 a return, so that of equal times beginnings come first.
    moments.sort()
    returns = {at: place for place, (_, is_return, at) in enumerate(moments) if is_return}
    rows = [(at, -2 if is_return else returns.get(at, -1)) for _, is_return, at in moments]
    size = len(moments)
    places = np.arange(size + 1)
    links = np.stack(((places - 1) % (size + 1), (places + 1) % (size + 1)), axis=1).astype(np.int64)
    return np.array(rows, np.int64).reshape(-1, 2), np.ascontiguousarray(links)


def _window(intervals: Sequence[tuple[float, float]]) -> int:
    """How many words hold all calls that may be taken while an earlier one is not: those that begin before it ends."""
    begins = np.array([begin for begin, _ in intervals])
    if not len(begins):
        return 1
    reach = np.searchsorted(begins, np.array([end for _, end in intervals]), side="right")
    return int((reach - np.arange(len(begins))).max()) // BITS + 1
