"""The second opinion: whether statements are inductive and imply a property, asked of Z3 in the second encoding.

Every answer other than "unsatisfiable" counts as no: a time-out, a construct outside the theory, and a counterexample.
That may exist in the second encoding alone, which has more steps than the system.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import z3

from assay.checker.interpreter.expressions.traverse import variables_of
from assay.checker.symbolic.certificate.candidates import written
from assay.checker.symbolic.smt.collections import Values
from assay.checker.symbolic.smt.definedness import StepNeeds, has_value
from assay.checker.symbolic.smt.encode import SmtEncoder
from assay.checker.symbolic.smt.transition import TheoryStep, any_state, cuts_of, first_state, more_than, step_of
from assay.checker.symbolic.smt.values import Domain, OutsideTheoryError, TooLateError
from assay.grammar import kernel as k
from assay.grammar.elaborate.scopes.type_relations import mentions
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass

RLIMIT = 200_000_000
"""Z3's measure of work (the same on every machine) that one question may take."""


NUMBERS = 10
"""By how much less work a question about sizes may take: what follows from their laws is found soon or never."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why statements were not confirmed: the question, the number of the statement if it was about one, and Z3's
    reason."""

    where: str
    statement: int | None
    why: str
    is_answered: bool = False
    """Whether Z3 has a counterexample, so that other statements may help."""

    def __str__(self) -> str:
        return f"{self.where}: {self.why}"


NO_ENCODING = (OutsideTheoryError, TooLateError, z3.Z3Exception)


def _no_encoding(error: OutsideTheoryError | TooLateError | z3.Z3Exception) -> Doubt:
    if isinstance(error, TooLateError):
        return Doubt("encoding", None, "the time limit was reached")
    if isinstance(error, OutsideTheoryError):
        return Doubt(str(error.span) if error.span.file else "encoding", None, f"{error.what} is outside the theory")
    return Doubt("encoding", None, f"Z3 refuses it ({error})")


class SecondOpinion:
    """Statements about one kernel. With ``open_sorts`` the sets of those names may have any size, and bounds are no
    guards.

    ``rlimit`` is how much work each question may take; ``expired`` is called before each.
    """

    def __init__(
        self,
        kernel: k.Kernel,
        open_sorts: frozenset[str] = frozenset(),
        rlimit: int = RLIMIT,
        expired: Callable[[], bool] = lambda: False,
    ) -> None:
        self._kernel = kernel
        self._domain = Domain(open_sorts, expired)
        self._open = bool(open_sorts)
        self._rlimit = rlimit
        self._expired = expired
        self._now: Values = {}
        self._typed: list[Any] = []
        self._steps: list[TheoryStep] = []

    @property
    def asks_numbers(self) -> bool:
        """Whether sizes of open sets were read, about which only laws are known."""
        return self._domain.sizes.are_asked

    def inductive(self, statements: Sequence[k.Expr]) -> Doubt | None:
        """The doubt that the statements hold initially and are preserved together by every step; None if that is
        certain."""
        try:
            self._prepare()
            return self._not_first(statements) or self._not_kept(statements)
        except NO_ENCODING as error:
            return _no_encoding(error)

    def failing(self, statements: Sequence[k.Expr]) -> set[int] | Doubt:
        """The numbers of the statements that fail in an initial state or after a step from a state with all of them."""
        try:
            self._prepare()
            failed = {at for at in range(len(statements)) if self._not_first(statements, [at]) is not None}
            held = self._held(statements)
            for step in self._all_steps():
                # One solver for all statements after a step: what it learns of the step serves the next of them.
                solver = self._solver([*held, *step.conditions])
                # What has failed goes, whatever other steps make of it.
                asked = [at for at in range(len(statements)) if at not in failed]
                failed |= {at for at in asked if self._fails(solver, step, statements[at]) is not None}
            return failed
        except NO_ENCODING as error:
            return _no_encoding(error)

    def implies(self, statements: Sequence[k.Expr], prop: k.Property) -> Doubt | None:
        """The doubt that the statements imply a property of states, or of steps from such states; None if that is
        certain."""
        try:
            self._prepare()
            held = self._held(statements)
            # A property of states follows from the statements in any state that has them, so that no step is asked.
            if prop.kind != "transition":
                return self._asked(self._solver(held), self._denied(prop, self._now, None), "the property", None)
            for step in self._all_steps():
                denied = self._denied(prop, step.after, self._now)
                solver = self._solver([*held, *step.conditions])
                doubt = self._asked(solver, denied, f"the property after `{step.action}`", None)
                if doubt is not None:
                    return doubt
            return None
        except NO_ENCODING as error:
            return _no_encoding(error)

    def valued(self, statements: Sequence[k.Expr], properties: Sequence[k.Property]) -> Doubt | None:
        """The doubt that initial states, steps from states with the statements, and properties are defined; None if
        that is certain."""
        try:
            self._prepare()
            held = self._held(statements)
            return self._first_valued() or self._steps_valued(held) or self._properties_valued(held, properties)
        except NO_ENCODING as error:
            return _no_encoding(error)

    def never_cut(self, statements: Sequence[k.Expr], label: str) -> Doubt | None:
        """The doubt that the bound of a label cuts no step from a state with the statements; None if that is
        certain."""
        try:
            self._prepare()
            held = self._held(statements)
            for action, conditions in self._cuts(label):
                doubt = self._asked(self._solver(held), z3.And(conditions), f"a cut of `{action}`", None)
                if doubt is not None:
                    return doubt
            return None
        except NO_ENCODING as error:
            return _no_encoding(error)

    def _cuts(self, label: str) -> Iterator[tuple[str, Sequence[Any]]]:
        """For each way in which the bound of a label may cut an action: the action's name, and conditions that all hold
        then."""
        variable = next((v for v in self._kernel.variables if label == f"capacity of {v.name}"), None)
        if variable is not None:
            for step in self._all_steps():
                if variable.name in written(self._kernel, step.action):
                    self._refuse_sequences(step.action)
                    exceeds = more_than(self._domain, step.after[variable.name], variable.type)
                    yield step.action, (*step.conditions, exceeds)
            return
        actions = [self._kernel.action(name) for name in self._kernel.next]
        if all(g.label != label for a in actions for g in a.body if isinstance(g, k.Guard) and g.kind == "bound"):
            raise OutsideTheoryError("a capacity of what is no variable")
        for action in actions:
            for conditions in cuts_of(self._domain, self._kernel, action, self._now, label):
                yield action.name, conditions

    def _refuse_sequences(self, action: str) -> None:
        """Refuse an action that may exceed the capacity of a sequence: such a step is not encoded, though it may exceed
        another capacity too."""
        names = written(self._kernel, action)
        if any(mentions(each.type, t.SeqType) for each in self._kernel.variables if each.name in names):
            raise OutsideTheoryError("the capacity of a sequence")

    def _first_valued(self) -> Doubt | None:
        init = self._kernel.init
        needs = StepNeeds(self._domain, self._kernel, self._now, bounded=not self._open)
        needs.initial(init)
        solver = self._solver(needs.given)
        doubt = self._asked(solver, z3.Not(z3.And(needs.needs)), "the values of an initial state", None)
        if doubt is not None or not init.conditions:
            return doubt
        # Where it is asked whether the conditions have a value, they must not be assumed.
        first = first_state(self._domain, replace(self._kernel, init=replace(init, conditions=())))
        both = k.Logic(t.BOOL, "and", tuple(each.condition for each in init.conditions))
        known = has_value(SmtEncoder(self._domain, first.after), both)
        return self._asked(self._solver(first.conditions), z3.Not(known), "the conditions of an initial state", None)

    def _steps_valued(self, held: Sequence[Any]) -> Doubt | None:
        for name in self._kernel.next:
            needs = StepNeeds(self._domain, self._kernel, self._now, bounded=not self._open)
            needs.action(self._kernel.action(name))
            solver = self._solver([*held, *needs.given])
            doubt = self._asked(solver, z3.Not(z3.And(needs.needs)), f"the values of a step of `{name}`", None)
            if doubt is not None:
                return doubt
        return None

    def _properties_valued(self, held: Sequence[Any], properties: Sequence[k.Property]) -> Doubt | None:
        for prop in properties:
            where = f"the value of `{prop.name}`"
            steps = self._all_steps() if prop.kind == "transition" else [None]
            for step in steps:
                now, before = (self._now, None) if step is None else (step.after, self._now)
                reading = SmtEncoder(self._domain, now, before)
                known = z3.And([has_value(reading, each.condition) for each in prop.conjuncts])
                solver = self._solver([*held, *(() if step is None else step.conditions)])
                doubt = self._asked(solver, z3.Not(known), where, None)
                if doubt is not None:
                    return doubt
        return None

    def _denied(self, prop: k.Property, now: Values, before: Values | None) -> Any:
        holds = z3.And([SmtEncoder(self._domain, now, before).read(c.condition) for c in prop.conjuncts])
        # A `reachable` is unreachable, and that is what is proved of it.
        return holds if prop.kind == "reachable" else z3.Not(holds)

    def _prepare(self) -> None:
        """Make the symbolic state. A type outside the theory may prevent that."""
        if not self._typed:
            self._now, self._typed = any_state(self._domain, self._kernel.variables, "")
            # An empty list means that nothing was made yet, so it must not stay empty in a kernel without variables.
            self._typed.append(z3.BoolVal(True))

    def _held(self, statements: Sequence[k.Expr]) -> list[Any]:
        return [*self._typed, *(self._says(each, self._now) for each in statements)]

    def _says(self, statement: k.Expr, values: Values) -> Any:
        return SmtEncoder(self._domain, values).read(statement)

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
            doubt = self._asked(self._solver(first.conditions), denied, "an initial state", at)
            if doubt is not None:
                return doubt
        return None

    def _not_kept(self, statements: Sequence[k.Expr]) -> Doubt | None:
        held = self._held(statements)
        for step in self._all_steps():
            solver = self._solver([*held, *step.conditions])
            for at, each in enumerate(statements):
                doubt = self._fails(solver, step, each, at)
                if doubt is not None:
                    return doubt
        return None

    def _fails(self, solver: z3.Solver, step: TheoryStep, statement: k.Expr, at: int | None = None) -> Doubt | None:
        if not variables_of(statement) & written(self._kernel, step.action):
            return None  # none of its variables changes
        denied = z3.Not(self._says(statement, step.after))
        return self._asked(solver, denied, f"a step of `{step.action}`", at)

    def _solver(self, held: Sequence[Any]) -> z3.Solver:
        solver = z3.Solver()
        solver.set("rlimit", self._rlimit)
        # With a limit of work instead of time, the answer is the same in each run.
        solver.set("random_seed", 0)
        solver.add(*held)
        return solver

    def _asked(self, solver: z3.Solver, denied: Any, where: str, at: int | None) -> Doubt | None:
        # Before each question, since one of them may take as long as all before it.
        if self._expired():
            return Doubt(where, at, "the time limit was reached")
        solver.push()
        try:
            solver.add(denied)
            lawful = self._add_laws(solver)
            answer = solver.check()
        finally:
            solver.pop()
        if answer == z3.unsat:
            return None
        if lawful:
            # Laws are fewer than the truth about sets: not even `sat` is a counterexample then.
            why = "it does not follow from what is known about numbers of elements"
        else:
            why = "it does not hold there" if answer == z3.sat else f"Z3 gave up ({solver.reason_unknown()})"
        return Doubt(where, at, why, is_answered=answer == z3.sat or lawful)

    def _add_laws(self, solver: z3.Solver) -> bool:
        """Add the laws about the sizes that are mentioned; returns whether there are any.

        With them Z3 must not search models: that takes long, and a model would hardly ever have real sets.
        """
        if not self.asks_numbers:
            return False
        laws = self._domain.sizes.laws(solver.assertions())
        solver.set("rlimit", self._rlimit // NUMBERS if laws else self._rlimit)
        solver.set("mbqi", not laws)
        solver.add(*laws)
        return bool(laws)

    # ------------------------------------------------------------------------------------- what is needed

    def relevant(self, statements: Sequence[k.Expr], prop: k.Property) -> list[int]:
        """A subset of inductive statements that is still inductive and implies the property, from what refutations
        used."""
        # A core names assumptions only, so each statement is assumed under a mark of its own.
        marks = [z3.Bool(f"statement {at}") for at in range(len(statements))]
        held = [z3.Implies(mark, self._says(each, self._now)) for mark, each in zip(marks, statements, strict=True)]
        base = [*self._typed, *held]
        solvers = {step.action: self._solver([*base, *step.conditions]) for step in self._all_steps()}
        if prop.kind == "transition":
            asked = [(solvers[s.action], self._denied(prop, s.after, self._now)) for s in self._all_steps()]
        else:
            asked = [(self._solver(base), self._denied(prop, self._now, None))]
        kept: set[int] = set()
        new = {at for solver, denied in asked for at in self._used(solver, denied, marks)}
        while new:
            kept |= new
            found: set[int] = set()
            for at in new:
                for step in self._all_steps():
                    if variables_of(statements[at]) & written(self._kernel, step.action):
                        denied = z3.And(marks[at], z3.Not(self._says(statements[at], step.after)))
                        found |= self._used(solvers[step.action], denied, marks)
            new = found - kept
        return sorted(kept)

    def _used(self, solver: z3.Solver, denied: Any, marks: Sequence[Any]) -> set[int]:
        """The statements that a refutation used; all of them if there is none, so that nothing is wrongly left out."""
        solver.push()
        try:
            solver.add(denied)
            self._add_laws(solver)
            if solver.check(*marks) != z3.unsat:
                return set(range(len(marks)))
            core = {str(each) for each in solver.unsat_core()}
        finally:
            solver.pop()
        return {at for at, mark in enumerate(marks) if str(mark) in core}
