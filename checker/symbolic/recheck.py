"""The second opinion: whether statements are inductive and imply a property, asked of Z3 in the second encoding.

Every answer that is not a plain "no counterexample" is no: a time-out, a construct outside the theory, and a counterexample that may be
one of the second encoding alone, since it has more steps than the system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import z3

from assay.checker.symbolic.theory import Reading, Values
from assay.checker.symbolic.theory_step import TheoryStep, any_state, first_state, step_of
from assay.checker.symbolic.theory_values import Domain, OutsideTheoryError
from assay.grammar import kernel as k

RLIMIT = 200_000_000
"""Z3's own measure of work, the same on every machine, that one question may take."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why statements were not confirmed: what was asked, the number of the statement if it was about one, and what Z3 said."""

    where: str
    statement: int | None
    why: str

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


class SecondOpinion:
    """Statements about one kernel; with ``open_sorts`` the sets of those names may have any size, and bounds are no guards."""

    def __init__(self, kernel: k.Kernel, open_sorts: frozenset[str] = frozenset(), rlimit: int = RLIMIT) -> None:
        self._kernel = kernel
        self._domain = Domain(open_sorts)
        self._open = bool(open_sorts)
        self._rlimit = rlimit
        self._now, self._typed = any_state(self._domain, kernel.variables, "")
        self._steps: list[TheoryStep] = []

    def inductive(self, statements: Sequence[k.Expr]) -> Doubt | None:
        """Why it is not certain that the statements hold initially and are kept together by every step; None if it is."""
        try:
            return self._not_first(statements) or self._not_kept(statements)
        except OutsideTheoryError as error:
            return Doubt(str(error.span) if error.span.file else "encoding", None, f"{error.what} is outside the theory")

    def failing(self, statements: Sequence[k.Expr]) -> set[int] | Doubt:
        """The numbers of the statements that fail in an initial state or after a step from a state with all of them."""
        try:
            failed = {at for at in range(len(statements)) if self._not_first(statements, [at]) is not None}
            held = self._held(statements)
            for step in self._all_steps():
                for at in range(len(statements)):
                    if at not in failed and self._fails(held, step, statements[at]) is not None:
                        failed.add(at)
            return failed
        except OutsideTheoryError as error:
            return Doubt(str(error.span) if error.span.file else "encoding", None, f"{error.what} is outside the theory")

    def implies(self, statements: Sequence[k.Expr], prop: k.Property) -> Doubt | None:
        """Why it is not certain that the statements imply a property of states, or of steps from such states; None if it is."""
        try:
            held = self._held(statements)
            if prop.kind != "transition":
                return self._asked(held, self._denied(prop, self._now, None), "the property", None)
            for step in self._all_steps():
                denied = self._denied(prop, step.after, self._now)
                doubt = self._asked([*held, *step.conditions], denied, f"the property after `{step.action}`", None)
                if doubt is not None:
                    return doubt
            return None
        except OutsideTheoryError as error:
            return Doubt(str(error.span) if error.span.file else "encoding", None, f"{error.what} is outside the theory")

    def _denied(self, prop: k.Property, now: Values, before: Values | None) -> Any:
        holds = z3.And([Reading(self._domain, now, before).read(c.condition) for c in prop.conjuncts])
        return holds if prop.kind == "reachable" else z3.Not(holds)

    def _held(self, statements: Sequence[k.Expr]) -> list[Any]:
        return [*self._typed, *(self._says(each, self._now) for each in statements)]

    def _says(self, statement: k.Expr, values: Values) -> Any:
        return Reading(self._domain, values).read(statement)

    def _all_steps(self) -> list[TheoryStep]:
        if not self._steps:
            actions = [self._kernel.action(name) for name in self._kernel.next]
            self._steps = [
                step_of(self._domain, self._kernel, each, self._now, bounded=not self._open) for each in actions
            ]
        return self._steps

    def _not_first(self, statements: Sequence[k.Expr], which: Sequence[int] | None = None) -> Doubt | None:
        first = first_state(self._domain, self._kernel)
        for at in range(len(statements)) if which is None else which:
            denied = z3.Not(self._says(statements[at], first.after))
            doubt = self._asked(list(first.conditions), denied, "an initial state", at)
            if doubt is not None:
                return doubt
        return None

    def _not_kept(self, statements: Sequence[k.Expr]) -> Doubt | None:
        held = self._held(statements)
        for step in self._all_steps():
            for at, each in enumerate(statements):
                doubt = self._fails(held, step, each, at)
                if doubt is not None:
                    return doubt
        return None

    def _fails(self, held: list[Any], step: TheoryStep, statement: k.Expr, at: int | None = None) -> Doubt | None:
        denied = z3.Not(self._says(statement, step.after))
        return self._asked([*held, *step.conditions], denied, f"a step of `{step.action}`", at)

    def _asked(self, held: Sequence[Any], denied: Any, where: str, at: int | None) -> Doubt | None:
        solver = z3.Solver()
        solver.set("rlimit", self._rlimit)
        solver.set("random_seed", 0)
        solver.add(*held, denied)
        answer = solver.check()
        if answer == z3.unsat:
            return None
        why = "it does not hold there" if answer == z3.sat else f"Z3 gave up ({solver.reason_unknown()})"
        return Doubt(where, at, why)


