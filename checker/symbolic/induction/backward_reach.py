"""Backward reachability by cubes: all states from which a wanted literal can be reached.

The complement of the cubes is inductive if it contains the initial states: a step into one of the cubes begins in one
of them. This turns a property proved by k-induction, which only considers the last k states of a run, into an ordinary
invariant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from assay.checker.symbolic.encode.transition_system import System
from assay.checker.symbolic.encode.verdict import Cube, signed
from assay.checker.symbolic.induction.lifting import Lifting
from assay.checker.symbolic.sat.incremental import GateSolver, OutOfBudgetError

MOST_CUBES = 2_000
"""An invariant of more cubes is unreadable, and its confirmation takes too long."""


def cubes_before(
    system: System, wanted: int, known: Sequence[Cube] = (), expired: Callable[[], bool] = lambda: False
) -> tuple[Cube, ...]:
    """Cubes of all states outside the ``known`` ones that have the wanted literal, or from which steps lead to such a
    state.

    Raises ``OutOfBudgetError`` if there are too many, or at ``expired``.
    """
    search = _Backwards(system, wanted, known, expired)
    try:
        return tuple(search.cubes())
    finally:
        search.close()


class _Backwards:
    def __init__(self, system: System, wanted: int, known: Sequence[Cube], expired: Callable[[], bool]) -> None:
        self._positions = system.cone(wanted)
        self._solver = GateSolver(system.gates, expired)
        self._lifting = Lifting(system, self._positions, wanted, expired)
        self._now = {at: self._solver.literal(bit) for at, bit in enumerate(system.state)}
        self._next = {at: self._solver.literal(system.after[at]) for at in self._positions}
        self._choice = [self._solver.literal(each) for each in system.choice]
        self._wanted = self._solver.literal(wanted)
        self._found = 0
        self._solver.add([self._solver.literal(system.canonical)])
        for cube in known:
            self._exclude(cube)

    def close(self) -> None:
        self._solver.close()
        self._lifting.close()

    def cubes(self) -> Iterator[Cube]:
        """The cubes, nearest states first."""
        level = list(self._cubes_of(self._wanted, self._lifting.that_is_wanted))
        while level:
            yield from level
            level = list(self._cubes_leading_into(level))

    def _cubes_leading_into(self, level: Sequence[Cube]) -> Iterator[Cube]:
        # A flag that is true forces the step into its cube. The other direction is not needed: some flag is asked for.
        entered = {cube: self._solver.fresh() for cube in level}
        for cube, there in entered.items():
            for literal in cube:
                self._solver.add([-there, signed(self._next, literal)])
        some = self._solver.fresh()
        self._solver.add([-some, *entered.values()])

        def lifted(state: Cube, choice: Sequence[bool]) -> Cube:
            flags = self._solver.values(list(entered.values()))
            into = next(cube for cube, there in zip(entered, flags, strict=True) if there)
            return self._lifting.that_leads_into(into, state, choice)

        yield from self._cubes_of(some, lifted)

    def _cubes_of(self, condition: int, lifted: Callable[[Cube, Sequence[bool]], Cube]) -> Iterator[Cube]:
        while self._solver.solve([condition]):
            values = self._solver.values([self._now[at] for at in self._positions])
            state = tuple(at + 1 if value else -at - 1 for at, value in zip(self._positions, values, strict=True))
            cube = lifted(state, self._solver.values(self._choice))
            self._found += 1
            if self._found > MOST_CUBES:
                raise OutOfBudgetError(f"it takes more than {MOST_CUBES:,} statements")
            self._exclude(cube)
            yield cube

    def _exclude(self, cube: Cube) -> None:
        self._solver.add(-signed(self._now, literal) for literal in cube)
