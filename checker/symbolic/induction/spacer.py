"""Spacer, Z3's engine for inductive invariants, on the same gates: a cross-check of IC3 and k-induction by other code.

It finds clauses over bits and equalities of bits. These become cubes, and then a certificate as those of IC3 do.
Reference: Komuravelli, Gurfinkel, Chaki, "SMT-based model checking for recursive programs", 2014.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from threading import Thread
from typing import Any

import z3

from assay.checker.symbolic.bounded.paths import shortest_run
from assay.checker.symbolic.encode.initial import Bits
from assay.checker.symbolic.encode.transition_system import System
from assay.checker.symbolic.encode.verdict import Cube, Safe, Unsafe
from assay.checker.symbolic.sat.incremental import OutOfBudgetError

POLL = 0.05
MOST_CUBES = 2_000
"""An invariant of more cubes is given up: each equality in a clause doubles its number of cubes."""


class Spacer:
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
        self._initial = initial
        self._wanted = wanted
        self._expired = expired
        self._positions = system.cone(wanted)
        self._context = z3.Context()
        self._terms: dict[int, Any] = {0: z3.BoolVal(False, self._context)}
        self._engine = z3.Fixedpoint(ctx=self._context)
        self._engine.set(engine="spacer")
        bit = z3.BoolSort(self._context)
        self._reached = z3.Function("reached", *[bit] * len(self._positions), bit)
        self._engine.register_relation(self._reached)
        self._asked = self._rules([cube for cube in known if self._is_inside(cube)])

    def run(self) -> Safe | Unsafe:
        """Run Z3. Raises ``OutOfBudgetError`` if it gives up, or time is over."""
        answer = self._query()
        if answer == z3.sat:
            # Spacer shows that a run exists. Its own trace is over the bits of the cone, and need not be the shortest.
            return shortest_run(self._system, self._initial, self._wanted, self._expired)
        if answer == z3.unknown:
            raise OutOfBudgetError(f"Z3 gave up ({self._engine.reason_unknown()})")
        return Safe(tuple(self._cubes()), 0)

    def _query(self) -> Any:
        """The answer, computed in another thread, so that the time limit can be watched."""
        answers: list[Any] = []

        def ask() -> None:
            try:
                answers.append(self._engine.query(self._asked))
            except z3.Z3Exception:  # interrupted, or more than it can do
                answers.append(z3.unknown)

        thread = Thread(target=ask, daemon=True)
        thread.start()
        try:
            while thread.is_alive():
                thread.join(POLL)
                if thread.is_alive() and self._expired():
                    raise OutOfBudgetError("the time limit was reached")
        finally:
            # A context of Z3 serves one thread at a time, so nothing may use this one before the query has ended.
            while thread.is_alive():
                self._context.interrupt()
                thread.join(POLL)
        return answers[0]

    # ------------------------------------------------------------------------------------------- the question

    def _rules(self, known: Sequence[Cube]) -> Any:
        """Add the rules of reachability; returns the condition to query."""
        system = self._system
        for at, literal in enumerate((*system.state, *system.choice)):
            self._terms[literal >> 1] = z3.Bool(f"bit {at}", self._context)
        self._engine.declare_var(*(self._terms[literal >> 1] for literal in (*system.state, *system.choice)))
        self._write([*(system.after[at] for at in self._positions), self._wanted])
        for row in sorted({tuple(row[at] for at in self._positions) for row in self._initial}):
            self._engine.fact(self._reached(*(z3.BoolVal(bool(bit), self._context) for bit in row)))
        # What is known to be unreachable is no source of a step, so that Z3 need not find it again.
        outside = [z3.Not(z3.And([self._term(system.state[abs(p) - 1] ^ (p < 0)) for p in cube])) for cube in known]
        here = z3.And([self._reached(*(self._term(system.state[at]) for at in self._positions)), *outside])
        self._engine.rule(self._reached(*(self._term(system.after[at]) for at in self._positions)), here)
        return z3.And(here, self._term(self._wanted))

    def _is_inside(self, cube: Cube) -> bool:
        return {abs(literal) - 1 for literal in cube} <= set(self._positions)

    def _write(self, roots: Sequence[int]) -> None:
        gates = self._system.gates
        for node in gates.cone(roots):
            if node not in self._terms:
                self._terms[node] = z3.And(self._term(gates.left[node]), self._term(gates.right[node]))

    def _term(self, literal: int) -> Any:
        term = self._terms[literal >> 1]
        return z3.Not(term) if literal & 1 else term

    # ------------------------------------------------------------------------------------------- the invariant

    def _cubes(self) -> Iterator[Cube]:
        """The cubes that the invariant excludes."""
        found = 0
        # For Z3 level -1 stands for all levels: what holds there is the invariant.
        for clause in _parts(self._engine.get_cover_delta(-1, self._reached), z3.is_and):
            for cube in self._denied(clause):
                found += 1
                if found > MOST_CUBES:
                    raise OutOfBudgetError(f"it takes more than {MOST_CUBES:,} statements")
                yield cube

    def _denied(self, clause: Any) -> Iterator[Cube]:
        """Cubes of what violates a clause: one for each way in which its equalities can fail."""
        ways = [list(self._fails(part)) for part in _parts(clause, z3.is_or)]
        for chosen in product(*ways):
            literals = {literal for some in chosen for literal in some}
            # A cube with a literal and its negation holds no state.
            if not any(-literal in literals for literal in literals):
                yield tuple(sorted(literals, key=abs))

    def _fails(self, part: Any, *, holds: bool = False) -> Iterator[tuple[int, ...]]:
        """The ways in which a part of a clause is false (or ``holds``), as literals of a cube."""
        if z3.is_not(part):
            yield from self._fails(part.arg(0), holds=not holds)
        elif z3.is_var(part):
            position = self._positions[z3.get_var_index(part)] + 1
            yield (position if holds else -position,)
        elif z3.is_true(part) or z3.is_false(part):
            if z3.is_true(part) == holds:
                yield ()
        elif z3.is_eq(part):
            for value in (True, False):
                for left in self._fails(part.arg(0), holds=value):
                    for right in self._fails(part.arg(1), holds=value == holds):
                        yield (*left, *right)
        else:
            raise OutOfBudgetError(f"its invariant has a part that is no clause ({part.decl().name()})")


def _parts(term: Any, joins: Callable[[Any], bool]) -> list[Any]:
    return [inner for each in term.children() for inner in _parts(each, joins)] if joins(term) else [term]
