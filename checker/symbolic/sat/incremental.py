"""An incremental SAT solver in this process, for many small questions. A budget of conflicts makes every answer
reproducible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pysat.solvers import Solver

from assay.checker.aig.graph import Gates
from assay.checker.symbolic.sat.limited_solve import solve_limited
from assay.checker.symbolic.sat.tseitin import Clauses

ENGINE = "minisat22"
"""For small questions by the hundred thousand: of the solvers in python-sat this one has the least overhead
per call."""
CONFLICTS = 2_000_000
"""A question that needs more conflicts is given up."""
SLICE = 20_000
"""After so many conflicts the time limit is checked."""


class OutOfBudgetError(Exception):
    """A question took more conflicts than allowed, or time is over."""


class GateSolver:
    """A solver over the gates of one graph. ``expired`` is called before each question, and regularly during a long
    one."""

    def __init__(self, gates: Gates, expired: Callable[[], bool] = lambda: False) -> None:
        self._expired = expired
        self._clauses = Clauses(gates)
        self._solver = Solver(ENGINE)

    def close(self) -> None:
        """Free the solver's memory."""
        self._solver.delete()

    def literal(self, literal: int) -> int:
        """The solver's literal of a literal of the graph."""
        found: int = self._clauses.literal(literal)
        return found

    def fresh(self) -> int:
        """A new variable that stands for no gate."""
        return self._clauses.fresh()

    def add(self, clause: Iterable[int]) -> None:
        """Add a clause of the solver's literals."""
        self._flush()
        self._solver.add_clause(list(clause))

    def solve(self, assumptions: Sequence[int]) -> bool:
        """Whether the clauses have a model under the assumptions. Raises ``OutOfBudgetError``."""
        self._flush()
        given = list(assumptions)
        # A solver keeps what it has learnt from one slice to the next.
        for _ in range(CONFLICTS // SLICE):
            if self._expired():
                raise OutOfBudgetError("the time limit was reached")
            self._solver.conf_budget(SLICE)
            answer = solve_limited(self._solver, given)
            if answer is not None:
                return answer
        raise OutOfBudgetError(f"a question took more than {CONFLICTS:,} conflicts")

    def _flush(self) -> None:
        for clause in self._clauses.take():
            self._solver.add_clause(clause)

    def values(self, literals: Sequence[int]) -> list[bool]:
        """The values of solver literals in the last model."""
        model = self._solver.get_model()
        # A variable beyond the model is in no clause, and counts as false.
        return [(model[abs(each) - 1] > 0) == (each > 0) if abs(each) <= len(model) else each < 0 for each in literals]

    def core(self) -> set[int]:
        """The assumptions that the last refutation used."""
        return set(self._solver.get_core() or ())
