"""k-induction: no run of k steps to a wanted state begins in an initial one, and none has k states before it that are not wanted.

A shortest run to a wanted state meets no state twice, so that only such paths need to be looked at; equal states are told apart where a
solver found some. References: Sheeran, Singh, Stålmarck, "Checking safety properties using induction and a SAT-solver", 2000; Eén, Sörensson,
"Temporal induction by incremental SAT solving", 2003.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from assay.checker.symbolic.bounded.paths import Paths
from assay.checker.symbolic.encode.initial import Bits
from assay.checker.symbolic.encode.transition_system import System
from assay.checker.symbolic.encode.verdict import Cube, Safe, Unsafe
from assay.checker.symbolic.induction.backward_reach import cubes_before
from assay.checker.symbolic.sat.incremental import OutOfBudgetError

LONGEST = 12
"""Paths of more steps than this are not looked at: who reads them learns nothing, and the search takes ever longer."""


@dataclass(frozen=True, slots=True)
class NotInductive:
    """A counterexample to induction: a path from a state ``first`` by ``choices``, whose last state alone is wanted. It need not be reachable.

    ``why`` says why no longer one was looked for.
    """

    first: Bits
    choices: tuple[tuple[bool, ...], ...]
    why: str


class NoInvariantError(OutOfBudgetError):
    """Something is k-inductive, but no ordinary invariant was made of that."""


class KInduction:
    """One run. ``known`` are cubes that are known to be unreachable together (an inductive set), which help from the start."""

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
        """Try with longer and longer paths; raises ``OutOfBudgetError`` if it ends before it found anything to show."""
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
                if self._begun.found():
                    return Unsafe(*self._begun.path())
                if not self._free_path():
                    return Safe(self._invariant(length), length)
                shown = self._free.path() if length else None  # a state by itself shows nothing
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
        """The states from which a wanted one is reached, all of them; raises ``NoInvariantError``."""
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
        """Whether there is a path from any state to a wanted one that meets no state twice, as far as the property can tell them apart."""
        while self._free.found():
            rows = self._free.rows()
            seen = [tuple(row[at] for at in self._positions) for row in rows]
            equal = next((pair for pair in combinations(range(len(seen)), 2) if seen[pair[0]] == seen[pair[1]]), None)
            if equal is None:
                return True
            self._free.tell_apart(*equal, self._positions)
        return False

    def _known_of_the_cone(self) -> Iterator[Cube]:
        """The known cubes that bring no further part of the system into a path."""
        inside = set(self._positions)
        return (cube for cube in self._known if all(abs(literal) - 1 in inside for literal in cube))
