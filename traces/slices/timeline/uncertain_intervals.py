"""Where the shared execution is uncertain: no line says when a hidden step came, so a slice may need it at another
time.

Between the steps before and after it that write the same cells, a hidden step may have come at any time. Elsewhere all
executions agree (docs/design/uncertain-intervals.md).
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
"""A variable by its position, and a key of it, or None for all of it."""


def unsure(chain: Chain) -> tuple[bool, ...]:
    """For each position whether the time of some hidden step matters there."""
    # Without intervals a partition of a 6 MB log with one uncertain step took more than ten minutes, with them 3 s.
    changed = [frozenset[Cell]()]
    changed += (frozenset(_changed(*pair)) for pair in zip(chain.states, chain.states[1:], strict=False))
    found = [False] * len(chain.states)
    for at in chain.uncertain:
        for cell in changed[at]:
            # Without such a step the time is open from the beginning on, or to the end.
            low = next((i for i in range(at - 1, 0, -1) if cell in changed[i] and i not in chain.uncertain), 0)
            later = range(at + 1, len(found))
            high = next((i for i in later if cell in changed[i] and i not in chain.uncertain), len(found))
            found[low:high] = [True] * (high - low)
    return tuple(found)


def _changed(one: State, other: State) -> Iterator[Cell]:
    """The cells in which two states differ."""
    for at, (old, new) in enumerate(zip(one, other, strict=True)):
        if old is new or old == new:
            continue
        if isinstance(old, FrozenMap) and isinstance(new, FrozenMap):
            # Key by key: a step about another broker does not settle when this broker's entry was written.
            yield from ((at, key) for key in {*old, *new} if old.get(key) != new.get(key))
        else:
            yield at, None


class Outside:
    """The guards that hold where nothing is uncertain: it checks steps of a kernel without some guards against the full
    kernel.
    """

    def __init__(self, kernel: k.Kernel, chain: Chain) -> None:
        self._meanings = Meanings(kernel, bounded=False, remember=True)
        self.unsure = unsure(chain)

    def allows(self, position: int, state: State, steps: Sequence[Taken], states: Sequence[State]) -> bool:
        """Whether the steps are possible one after another at a position; ``states`` are indexed by the numbers in the
        steps.
        """
        if self.unsure[position]:
            return True
        for taken in steps:
            ways = self._meanings.actions[taken.action].false_guards(
                state, tuple(value for _, value in taken.arguments)
            )
            # Bounds limit a search of the spec, never a log, so a step may fail them.
            if not any(all(guard.is_bound for guard in way) for way in ways):
                return False
            state = states[taken.state]
        return True
