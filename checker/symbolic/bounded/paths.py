"""Paths of a system, asked of a SAT solver for increasing lengths, from the initial states or from any state."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from assay.checker.aig.graph import Gates
from assay.checker.symbolic.bounded.unroll import UnrolledSystem
from assay.checker.symbolic.encode.initial import Bits, is_initial
from assay.checker.symbolic.encode.transition_system import System
from assay.checker.symbolic.encode.verdict import Cube, Unsafe
from assay.checker.symbolic.sat.incremental import GateSolver


def shortest_run(system: System, initial: Sequence[Bits], wanted: int, expired: Callable[[], bool]) -> Unsafe:
    """A shortest run to a state with the wanted literal, which must exist. Raises ``OutOfBudgetError``."""
    paths = Paths.from_initial(system, initial, wanted, expired)
    try:
        while not paths.found():
            paths.extend()
        return Unsafe(*paths.path())
    finally:
        paths.close()


class Paths:
    """Paths of increasing length. Only the last state of each may have the wanted literal."""

    def __init__(self, system: System, wanted: int, expired: Callable[[], bool]) -> None:
        self.gates = Gates()
        self.first = self.gates.inputs(len(system.state))
        self._wanted = wanted
        self._frames = UnrolledSystem(system, self.first, self.gates)
        self._solver = GateSolver(self.gates, expired)

    @classmethod
    def from_initial(cls, system: System, initial: Sequence[Bits], wanted: int, expired: Callable[[], bool]) -> Paths:
        """Paths that begin in one of these rows."""
        paths = cls(system, wanted, expired)
        paths.require(is_initial(paths.gates, paths.first, sorted(set(initial))))
        return paths

    def close(self) -> None:
        """Free the solver."""
        self._solver.close()

    def at(self, literals: Sequence[int]) -> list[int]:
        """Literals of the system, read at the last state."""
        return self._frames.at(len(self._frames.frames) - 1, literals)

    def require(self, literal: int) -> None:
        """Keep only paths on which a literal of their gates is true."""
        self._solver.add([self._solver.literal(literal)])

    def exclude(self, cube: Cube) -> None:
        """Keep the last state out of a cube."""
        state = self._frames.frames[-1]
        self._solver.add(self._solver.literal(state[abs(each) - 1] ^ (each > 0)) for each in cube)

    def tell_apart(self, one: int, other: int, positions: Sequence[int]) -> None:
        """Require two states to differ in some position."""
        a, b = self._frames.frames[one], self._frames.frames[other]
        self.require(self.gates.any_of(self.gates.differ(a[at], b[at]) for at in positions))

    def found(self) -> bool:
        """Whether there is a path whose last state has the wanted literal."""
        return self._solver.solve([self._solver.literal(self.at([self._wanted])[0])])

    def extend(self) -> None:
        """Add a step: the last state so far must not have the wanted literal."""
        self.require(self.at([self._wanted])[0] ^ 1)
        self._frames.extend()

    def rows(self) -> list[Bits]:
        """The states of the path that was found."""
        return self._frames.rows(self._values)

    def path(self) -> tuple[Bits, tuple[tuple[bool, ...], ...]]:
        """The first state of the path that was found, and the choice in each of its states, including the last."""
        steps = range(len(self._frames.frames))
        return self.rows()[0], tuple(tuple(self._values(self._frames.choice(at))) for at in steps)

    def _values(self, inputs: Sequence[int]) -> list[bool]:
        return self._solver.values([self._solver.literal(each) for each in inputs])
