"""Where the execution of what is shared is a guess: no line tells when a hidden step came, so slices may need it to have come at another time.

docs/design/uncertain-intervals.md: What a hidden step writes was written before by some other step, and is again later. Between these two, if lines tell of both,
the hidden step may have come at any time; before the first and after the second all executions agree in it, and what slices may do
there does not depend on the guess. So a slice is asked for again with the guess left open there and nowhere else: the rest of it is as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.checker.interpreter.compiled_model import Model as Meanings
from assay.checker.report import State
from assay.grammar import kernel as k
from assay.grammar.values import FrozenMap
from assay.traces.search.transition_system import Taken
from assay.traces.slices.timeline.shared_timeline import Chain

Cell = tuple[int, object]
"""A variable by its position, and the key in it, or None for the whole of it."""


def unsure(chain: Chain) -> tuple[bool, ...]:
    """For each position whether the guess of a hidden step makes a difference there."""
    changed = [frozenset[Cell]()]
    changed += (frozenset(_changed(*pair)) for pair in zip(chain.states, chain.states[1:], strict=False))
    found = [False] * len(chain.states)
    for at in chain.guessed:
        for cell in changed[at]:
            low = next((i for i in range(at - 1, 0, -1) if cell in changed[i] and i not in chain.guessed), 0)
            later = range(at + 1, len(found))
            high = next((i for i in later if cell in changed[i] and i not in chain.guessed), len(found))
            found[low:high] = [True] * (high - low)
    return tuple(found)


def _changed(one: State, other: State) -> Iterator[Cell]:
    """The cells in which two states differ."""
    for at, (old, new) in enumerate(zip(one, other, strict=True)):
        if old is new or old == new:
            continue
        if isinstance(old, FrozenMap) and isinstance(new, FrozenMap):
            yield from ((at, key) for key in {*old, *new} if old.get(key) != new.get(key))
        else:
            yield at, None


class Outside:
    """The rules that hold where nothing is guessed: steps of a kernel without some guards that the kernel with them has too."""

    def __init__(self, kernel: k.Kernel, chain: Chain) -> None:
        self._meanings = Meanings(kernel, bounded=False, remember=True)
        self.unsure = unsure(chain)

    def allows(self, position: int, state: State, steps: Sequence[Taken], states: Sequence[State]) -> bool:
        """Whether steps are possible one after another at a position; ``states`` are by the numbers that the steps have."""
        if self.unsure[position]:
            return True
        for taken in steps:
            ways = self._meanings.actions[taken.action].false_guards(
                state, tuple(value for _, value in taken.arguments)
            )
            if not any(all(guard.is_bound for guard in way) for way in ways):
                return False
            state = states[taken.state]
        return True
