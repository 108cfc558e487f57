"""k-induction: no run of k steps from an initial state reaches a wanted state, and no wanted state has k unwanted ones
before it.

A shortest run to a wanted state visits no state twice, so only simple paths are considered. Constraints that states
differ are added where the solver found equal ones. References: Sheeran, Singh, Stålmarck, "Checking safety properties
using induction and a SAT-solver", 2000; Eén, Sörensson, "Temporal induction by incremental SAT solving", 2003.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from assay.checker.symbolic.bounded.paths import Paths
from assay.checker.symbolic.encode.initial import Bits
from assay.checker.symbolic.encode.transition_system import System
from assay.checker.symbolic.encode.verdict import Cube, Safe, Unsafe
from assay.checker.symbolic.induction.backward_reach import cubes_before
from assay.checker.symbolic.sat.incremental import OutOfBudgetError
from assay.grammar.lazy_dataclass import dataclass

LONGEST = 12
"""The longest paths considered: longer ones explain nothing to a reader, and take ever longer to find."""


@dataclass(frozen=True, slots=True)
class NotInductive:
    """A counterexample to induction: a path from ``first`` by ``choices`` whose last state alone violates something. It
    need not be reachable.

    ``why`` is the reason that no longer one was searched.
    """

    first: Bits
    choices: tuple[tuple[bool, ...], ...]
    why: str


class NoInvariantError(OutOfBudgetError):
    """A property is k-inductive, but no ordinary invariant could be made of that."""


class KInduction:
    """One run. ``known`` is an inductive set of cubes known to be unreachable, which help from the start."""

    def __init__(
        self,
        system: System,
        initial: Sequence[Bits],
        wanted: int,
        known: Sequence[Cube] = (),
        expired: Callable[[], bool] = lambda: False,
    ) -> None:
        self._system = system
        self._positions = system.cone(wanted)
        self._wanted = wanted
        self._known = tuple(known)
        self._expired = expired
        self._begun = Paths.from_initial(system, initial, wanted, expired)
        self._free = Paths(system, wanted, expired)
        self._free.require(self._free.at([system.canonical])[0])
        for cube in self._known:
            self._free.exclude(cube)

    def run(self) -> Safe | Unsafe | NotInductive:
        """Try increasing lengths. Raises ``OutOfBudgetError`` if the budget ends before there is anything to show."""
        try:
            return self._run()
        finally:
            self._begun.close()
            self._free.close()

    def _run(self) -> Safe | Unsafe | NotInductive:
        shown: tuple[Bits, tuple[tuple[bool, ...], ...]] | None = None
        why = "longer paths are not looked at"
        try:
            for length in range(LONGEST + 1):
                # In the order of k-induction: no run of this length from an initial state, and then no path of it from
                # any state.
                if self._begun.found():
                    return Unsafe(*self._begun.path())
                if not self._free_path():
                    return Safe(self._invariant(length), length)
                shown = self._free.path() if length else None  # a single state is no counterexample to induction
                self._extend()
        except NoInvariantError:
            raise
        except OutOfBudgetError as error:
            why = str(error)
            if shown is None:
                raise
        assert shown is not None
        return NotInductive(*shown, why)

    def _invariant(self, length: int) -> tuple[Cube, ...]:
        """Cubes of all states from which a wanted one is reached. Raises ``NoInvariantError``."""
        try:
            return cubes_before(self._system, self._wanted, self._known, self._expired)
        except OutOfBudgetError as error:
            raise NoInvariantError(f"it is {length}-inductive, but has no certificate: {error}") from None

    def _extend(self) -> None:
        self._begun.extend()
        self._free.extend()
        for cube in self._known_of_the_cone():
            self._free.exclude(cube)

    def _free_path(self) -> bool:
        """Whether a simple path from any state leads to a wanted one; states are compared on the cone of influence
        only."""
        while self._free.found():
            rows = self._free.rows()
            seen = [tuple(row[at] for at in self._positions) for row in rows]
            equal = next((pair for pair in combinations(range(len(seen)), 2) if seen[pair[0]] == seen[pair[1]]), None)
            if equal is None:
                return True
            # Paths need not repeat a state (only then does k-induction end for every finite system). Two states are
            # told apart when a path has repeated them: clauses for all pairs would be many more.
            self._free.tell_apart(*equal, self._positions)
        return False

    def _known_of_the_cone(self) -> Iterator[Cube]:
        """The known cubes that add no further part of the system to a path."""
        inside = set(self._positions)
        return (cube for cube in self._known if all(abs(literal) - 1 in inside for literal in cube))
