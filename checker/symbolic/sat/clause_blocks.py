"""Gates written as clauses once, and used many times: a use adds an offset to the numbers of the variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from pysat.solvers import Solver

from assay.checker.aig.graph import Gates
from assay.checker.symbolic.sat.limited_solve import solve_limited
from assay.checker.symbolic.sat.tseitin import Clauses
from assay.grammar.lazy_dataclass import dataclass

ENGINE = "glucose4"
"""Of the solvers in python-sat that keep a budget of conflicts, the fastest on windows of recordings."""

TRUE, FALSE = 1, -1
"""The solver's literals of the constants."""

Literals = Sequence[int]
Array = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ClauseBlock:
    """The clauses of some literals of a graph, with variables from 1 on.

    ``clauses`` are grouped by their length, a row each. ``inputs`` are the nodes that stand for something outside,
    ``variables`` their variables, and ``roots`` the literals that were asked for.
    """

    clauses: tuple[Array, ...]
    inputs: tuple[int, ...]
    variables: Array
    roots: Array
    count: int


def block_of(gates: Gates, roots: Literals) -> ClauseBlock:
    """The clauses that define some literals of a graph."""
    writer = Clauses(gates)
    found = [writer.literal(each) for each in roots]
    # Rows of one length are an array, whose variables are renamed at one blow when the block is used.
    by_length: dict[int, list[list[int]]] = {}
    for clause in writer.take():
        by_length.setdefault(len(clause), []).append(clause)
    # Node 0 is the constant, which every block shares.
    inputs = [(node, abs(v)) for node, v in writer.variables.items() if node and gates.is_input(node)]
    return ClauseBlock(
        tuple(np.array(each, np.int32) for each in by_length.values()),
        tuple(node for node, _ in inputs),
        np.array([v for _, v in inputs], np.int32),
        np.array(found, np.int32),
        writer.count,
    )


PROPAGATIONS = 150_000_000
"""How many literals the solver may propagate in one question, some 40 seconds at worst. A conflict in a large formula
takes ten times as long as in a small one. The solver looks at it when it restarts.
"""


class UnansweredError(Exception):
    """The solver came to no answer within its budget of conflicts, or of propagations."""


class BlockFormula:
    """Clauses for a solver in this process. Variable 1 is true. Budgets are conflicts and propagations, so that answers
    do not depend on the machine."""

    def __init__(self, conflicts: int) -> None:
        self.count = 1
        self.clauses = 0
        self.renew(conflicts)
        self._model: list[int] = []
        self._solver = Solver(ENGINE)
        self.add([TRUE])

    def close(self) -> None:
        """Free the solver's memory."""
        self._solver.delete()

    def renew(self, conflicts: int) -> None:
        """Give the next questions a new budget."""
        self._left = conflicts
        self._literals = PROPAGATIONS

    def fresh(self) -> int:
        """A new variable."""
        self.count += 1
        return self.count

    def add(self, clause: Iterable[int]) -> None:
        """Add a clause."""
        self.clauses += 1
        self._solver.add_clause(list(clause))

    def place(self, block: ClauseBlock, given: Mapping[int, int]) -> list[int]:
        """Use a block: the literals of its roots. ``given`` are the literals of its inputs; others are new."""
        # Variable v of the block becomes `count - 1 + v`. Variable 1 is the constant true in both.
        names = np.arange(self.count - 1, self.count + block.count, dtype=np.int32)
        names[1] = TRUE
        self.count += block.count
        for node, variable in zip(block.inputs, block.variables.tolist(), strict=True):
            if node in given:
                names[variable] = given[node]
        for part in block.clauses:
            self.clauses += len(part)
            self._solver.append_formula((np.sign(part) * names[np.abs(part)]).tolist(), no_return=True)
        found: list[int] = (np.sign(block.roots) * names[np.abs(block.roots)]).tolist()
        return found

    def any_of(self, literals: Sequence[int]) -> int:
        """A literal that is true if one of these is."""
        # Constants are folded here: a gate about them would cost the solver a variable and clauses that say nothing.
        useful = [each for each in literals if each != FALSE]
        if TRUE in useful or not useful:
            return TRUE if useful else FALSE
        if len(useful) == 1:
            return useful[0]
        whole = self.fresh()
        self.add([-whole, *useful])
        for each in useful:
            self.add([whole, -each])
        return whole

    def all_of(self, literals: Sequence[int]) -> int:
        """A literal that is true if all of these are."""
        return -self.any_of([-each for each in literals])

    def solve(self, assumptions: Sequence[int]) -> bool:
        """Whether the clauses have a model under the assumptions. Raises ``UnansweredError``."""
        before = self._solver.accum_stats()
        self._solver.conf_budget(max(1, self._left))
        self._solver.prop_budget(max(1, self._literals))
        answer = solve_limited(self._solver, assumptions)
        if answer is None:
            # Nothing is left for the next question either: until the budget is renewed, each gets the least there is.
            self._left = self._literals = 0
            raise UnansweredError
        if answer:
            self._model = self._solver.get_model() or []
        after = self._solver.accum_stats()
        # The solver counts over its whole life, so only the difference is this question's.
        self._left -= after["conflicts"] - before["conflicts"]
        self._literals -= after["propagations"] - before["propagations"]
        return answer

    def core(self) -> set[int]:
        """The assumptions that the last refutation used."""
        return set(self._solver.get_core() or ())

    def values(self, literals: Sequence[int]) -> list[bool]:
        """The values of literals in the last model: that of the last question that had one."""
        model = self._model
        # A variable that is newer than the model counts as false: nothing in the model depends on it.
        return [(model[abs(each) - 1] > 0) == (each > 0) if abs(each) <= len(model) else each < 0 for each in literals]
