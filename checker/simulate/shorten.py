"""Shorter walks to what random walks found: steps are left out, and the others followed again by the reference evaluator.

Steps that have nothing to do with a violation make up most of a random walk. Halves, quarters and so on are left out
first, then single steps, until none can be left out. This is delta debugging (Zeller, Hildebrandt, "Simplifying and
isolating failure-inducing input", 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.checker.interpreter.compiled_model import Model
from assay.checker.report import State, Step, Trace
from assay.checker.results.reorder_trace import taken_again

MOST_STEPS = 20_000
"""How many steps are followed for one walk before it is left as it is then: about a second's work."""

Ends = Callable[[State], bool]
"""Whether a walk may end in a state, because it shows there what it has to show."""


def shortened(model: Model, trace: Trace, ends: Ends, is_due: Callable[[], bool]) -> Trace:
    """The walk without steps that can be left out; it ends in the first state that ``ends``, as the given one does in
    its last. What is asked for takes long: once it ``is_due``, or took too long, the shortest walk so far is given."""
    return _Shortening(model, trace.steps[0], ends, is_due).run(trace.steps[1:])


class _Shortening:
    def __init__(self, model: Model, start: Step, ends: Ends, is_due: Callable[[], bool]) -> None:
        self._model = model
        self._start = start
        self._ends = ends
        self._is_due = is_due
        self._left = MOST_STEPS

    def run(self, steps: Sequence[Step]) -> Trace:
        # Steps that change nothing are left out at once.
        kept = self._followed(steps) or tuple(steps)
        size = len(kept)
        while size and not self._is_over():
            shorter = self._without_one(kept, size)
            if shorter is None:
                size //= 2
            else:
                kept = shorter
                # Of one size as long as that helps: what was needed before may be needless now.
                size = min(size, len(kept))
        return Trace((self._start, *kept))

    def _is_over(self) -> bool:
        return self._left <= 0 or self._is_due()

    def _without_one(self, steps: Sequence[Step], size: int) -> tuple[Step, ...] | None:
        """The walk without some part of that many steps, if one can be left out; the first parts are tried first."""
        for at in range(0, len(steps), size):
            found = None if self._is_over() else self._followed([*steps[:at], *steps[at + size :]])
            if found is not None and len(found) < len(steps):
                return found
        return None

    def _followed(self, steps: Sequence[Step]) -> tuple[Step, ...] | None:
        """The steps that can be taken one after the other, up to the first state that ends the walk."""
        state, done = self._start.state, list[Step]()
        if self._ends(state):
            # The initial state shows it already.
            return ()
        for step in steps:
            self._left -= 1
            after = taken_again(self._model, state, step)
            # A step that depended on one that was left out, or that now changes nothing, is left out too.
            if after is None or after == state:
                continue
            done.append(Step(step.action, step.arguments, step.picks, after))
            if self._ends(after):
                return tuple(done)
            state = after
        return None
