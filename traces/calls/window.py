"""The shortest contradiction in a history that has no order: a window of it that no state of the object explains."""

from __future__ import annotations

from collections.abc import Sequence

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.calls.call import BoundCall
from assay.traces.calls.history import Effects, Refuted, linearize

MOST_EFFECTS = 4_000
"""Windows that begin in any state are asked about if the object has few states: as many effects are evaluated for it."""

FEW, IN_ALL = 3_000, 100_000
"""How many configurations are visited to see whether one window can be explained, and how many for all of them."""

MOST_LEARNT = 2_000
"""How many effects the model may be asked for more: those of a log that grows are new in each window."""

MOST_ASKED = 150
"""How often a window is asked about without some of its calls."""


@dataclass(frozen=True, slots=True)
class Window:
    """Calls that contradict each other, by their numbers, in the order of their beginnings.

    ``whatever``: they do in whatever state the object was before; else only from its initial state. ``others`` is how
    many further calls overlap them, and help as little if they took effect as if they did not.
    """

    calls: tuple[int, ...]
    others: int
    whatever: bool


def first_unexplained(calls: Sequence[BoundCall], effects: Effects, skew: int, until: int) -> int:
    """The first call whose return cannot be explained, of a history that has no order up to the return of ``until``.

    A search that looks ahead may name a later one: it gave up an order for a result that could no longer come.
    """
    # Without looking ahead the search reaches each return in turn, and the furthest one is the first without an order.
    if not effects.growth:
        return until
    ends = sorted(
        (end, at) for at, each in enumerate(calls) if each.call.returned and (end := each.call.end) is not None
    )
    known = [at for _, at in ends]
    low, high, most = 0, known.index(until), effects.count + MOST_LEARNT
    while low < high and effects.count < most:
        middle = (low + high) // 2
        kept, late = _up_to(calls, skew, known[middle])
        optional = frozenset(place for place, at in enumerate(kept) if at in late)
        own = [calls[at] for at in kept]
        found = linearize(own, effects, skew, None, optional, FEW, most - effects.count)
        low, high = (low, middle) if isinstance(found, Refuted) else (middle + 1, high)
    return known[high]


def _up_to(calls: Sequence[BoundCall], skew: int, until: int) -> tuple[list[int], set[int]]:
    """The calls that may matter to the return of a call, by their beginnings; and those of them that end later."""
    end = calls[until].call.end
    assert end is not None
    kept = [at for at, each in enumerate(calls) if each.call.begin is None or each.call.begin <= end + skew]
    kept.sort(key=lambda at: (calls[at].call.begin is not None, calls[at].call.begin or 0, at))
    return kept, {at for at in kept if _ends_after(calls[at], end + skew) and at != until}


def shortest_window(calls: Sequence[BoundCall], effects: Effects, skew: int, until: int) -> Window:
    """The shortest window of a history that was refuted at the return of the call ``until``."""
    kept, late = _up_to(calls, skew, until)
    everywhere = effects.states.everywhere(MOST_EFFECTS)
    asked = _Windows(calls, effects, skew, kept, late, everywhere)
    first = 0
    if everywhere is not None and asked.is_refuted(0):
        size = 1
        # Doubled from the end, then halved: most contradictions are short, and long windows cost the most to ask.
        while size < len(kept) and not asked.is_refuted(len(kept) - size):
            size *= 2
        first, behind = max(0, len(kept) - size), max(0, len(kept) - size // 2)
        while behind - first > 1:
            middle = (first + behind) // 2
            first, behind = (middle, behind) if asked.is_refuted(middle) else (first, middle)
        return asked.smallest(first, whatever=True)
    return _Windows(calls, effects, skew, kept, late, effects.states.initial).smallest(0, whatever=False)


def _ends_after(each: BoundCall, moment: int) -> bool:
    return not each.call.returned or each.call.end is None or each.call.end > moment


@dataclass(slots=True)
class _Windows:
    """Windows of a history that end with one return; each begins with the beginning of some call."""

    calls: Sequence[BoundCall]
    effects: Effects
    skew: int
    kept: Sequence[int]
    late: set[int]
    initial: int | None
    visited: int = 0
    learnt: int = 0

    def __post_init__(self) -> None:
        self.learnt = self.effects.count

    def within(self, first: int) -> tuple[list[int], set[int]]:
        """The calls that may take effect in the window from the beginning of a call on. Then those that may have done
        so before, or may do so later.
        """
        begin = self.calls[self.kept[first]].call.begin
        inside = [
            at
            for at in self.kept
            if begin is None or (end := self.calls[at].call.end) is None or end + self.skew >= begin
        ]
        rank = {at: place for place, at in enumerate(self.kept)}
        # Calls that began before the window may have taken effect before it, so that none of them is required in it.
        return inside, {at for at in inside if rank[at] < first or at in self.late}

    def is_refuted(self, first: int) -> bool:
        """Whether no state of the object explains the window."""
        inside, optional = self.within(first)
        return self._is_refuted(inside, optional)

    def _is_refuted(self, inside: Sequence[int], optional: set[int]) -> bool:
        places = frozenset(place for place, at in enumerate(inside) if at in optional)
        own = [self.calls[at] for at in inside]
        # No answer counts as not refuted: the window shown is then longer than it must be, and still a contradiction.
        if self.visited > IN_ALL or self.effects.count > self.learnt + MOST_LEARNT:
            return False
        found = linearize(own, self.effects, self.skew, self.initial, places, FEW, MOST_LEARNT)
        self.visited += found.visited
        return isinstance(found, Refuted)

    def smallest(self, first: int, *, whatever: bool) -> Window:
        """A window in which every call is needed. If one of them had no effect, or had it at another time, the others
        would be explained.
        """
        inside, optional = self.within(first)
        size, asked = max(1, len(inside) // 2), 0
        while size and asked < MOST_ASKED:
            needed = [at for at in inside if at not in optional]
            for begin in range(0, len(needed), size):
                fewer = optional | set(needed[begin : begin + size])
                asked += 1
                if asked <= MOST_ASKED and len(fewer) < len(inside) and self._is_refuted(inside, fewer):
                    optional = fewer
            # Halves of the calls first, then smaller groups, then single ones (as in delta debugging, Zeller 1999).
            size = 0 if size == 1 else max(1, size // 4)
        needed = [at for at in inside if at not in optional]
        return Window(tuple(needed), len(inside) - len(needed), whatever)
