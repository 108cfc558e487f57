"""Lifting: from one state that a solver found to many, the part of it that suffices for the step or the literal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from assay.checker.symbolic.encode.transition_system import System
from assay.checker.symbolic.encode.verdict import Cube, signed
from assay.checker.symbolic.sat.incremental import GateSolver


class Lifting:
    """Lifts states of ``positions`` that step into a cube, or have the literal ``wanted`` of the system."""

    def __init__(
        self, system: System, positions: Sequence[int], wanted: int, expired: Callable[[], bool] = lambda: False
    ) -> None:
        self._solver = GateSolver(system.gates, expired)
        self._now = {at: self._solver.literal(system.state[at]) for at in positions}
        self._next = {at: self._solver.literal(system.after[at]) for at in positions}
        self._choice = [self._solver.literal(each) for each in system.choice]
        self._wanted = self._solver.literal(wanted)

    def close(self) -> None:
        """Free the solver."""
        self._solver.close()

    def that_is_wanted(self, state: Cube, choice: Sequence[bool]) -> Cube:
        """A part of a state that suffices for the wanted literal."""
        return self._part(state, choice, [-self._wanted])

    def that_leads_into(self, cube: Cube, state: Cube, choice: Sequence[bool]) -> Cube:
        """A part of a state that suffices for the step into the cube."""
        return self._part(state, choice, [-signed(self._next, literal) for literal in cube])

    def _part(self, state: Cube, choice: Sequence[bool], elsewhere: Iterable[int]) -> Cube:
        """The part without which the step could satisfy the clause ``elsewhere``."""
        act = self._solver.fresh()
        self._solver.add([-act, *elsewhere])
        # The next state is a function of state and choice. So with the choice fixed there is no other end, and the core
        # of that refutation says which bits of the state matter.
        fixed = [c if value else -c for c, value in zip(self._choice, choice, strict=True)]
        names = {signed(self._now, literal): literal for literal in state}
        if self._solver.solve([act, *fixed, *names]):
            raise AssertionError("a state that the solver found does not lead where it says")
        core = self._solver.core()
        self._solver.add([-act])
        return tuple(names[each] for each in names if each in core)
