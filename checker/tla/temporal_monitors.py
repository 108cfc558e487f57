"""Temporal properties by auxiliary variables, for what TLC does not check as written: ``until``, kept values,
``occurs`` anywhere.

Every temporal subformula gets a boolean variable that foretells whether it holds from now on (Kesten and Pnueli, 2005;
docs/design/tla-temporal-monitors.md). Where ``occurs`` is foretold, a clock changes at every moment, because stuttering
steps must be visible there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from typing import assert_never

from assay.checker.interpreter.expressions.traverse import locals_of, variables_of
from assay.checker.liveness.translate import is_temporal
from assay.checker.tla.expressions.collections import elements
from assay.checker.tla.expressions.formula import (
    PREFIX,
    TIGHT,
    Formula,
    branch,
    compare,
    conjunction,
    disjunction,
    implication,
    negation,
    quantified,
    row,
)
from assay.checker.tla.expressions.known_types import elements_fit
from assay.checker.tla.expressions.scope import ModuleNeeds, TlaScope
from assay.checker.tla.expressions.temporal import NoCounterpartError, call
from assay.checker.tla.expressions.types import definition, type_set
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import InTime, expression
from assay.grammar.lazy_dataclass import dataclass

CLOCK = "clock"


@dataclass(frozen=True, slots=True)
class TlaMonitor:
    """A property by auxiliary variables: the lines of a module that extends that of the system, and the names in them.

    ``Begin`` constrains the initial values of ``variables`` (given with their sets), ``Watch`` each step. ``formula``
    is the property, to be checked on behaviours that satisfy both.
    """

    formula: str
    variables: dict[str, str]
    definitions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a subformula stands: its scope, and the bound names with their domains."""

    scope: TlaScope
    bound: tuple[tuple[str, Formula], ...] = ()

    def within(self, name: str, of: Formula, scope: TlaScope) -> _Place:
        return _Place(scope, (*self.bound, (name, of)))


@dataclass(slots=True)
class _Testers:
    """The auxiliary variables so far: their initial values, their step conditions, and what must hold
    infinitely often."""

    parts: ModuleNeeds
    variables: dict[str, str] = field(default_factory=dict)
    watch: list[Formula] = field(default_factory=list)
    fulfilled: list[Formula] = field(default_factory=list)
    ticks: bool = False

    def formula(self, expr: k.Expr, at: _Place) -> Formula:
        """The expression, temporal or not, as a formula over the state and the auxiliary variables."""
        if not is_temporal(expr):
            return at.scope.formula(expr)
        node = expression(expr)
        match node:
            case k.Not(_, operand):
                return negation(self.formula(operand, at))
            case k.Logic(_, op, operands):
                return self._logic(op, [self.formula(operand, at) for operand in operands])
            case k.Quantified(_, kind, binder, domain, body):
                return self._quantified(kind, binder, domain, body, at)
            case k.LetIn(_, binder, value, body):
                name, inner = at.scope.bind(binder, fits=True)
                values = self._values(binder)
                # A LET would be evaluated anew in each state; a quantified name keeps the value of this one.
                kept = compare(at.scope.formula(value), "=", Formula(name))
                then = self.formula(body, at.within(name, values, inner))
                # For all and not for some: the same, since exactly one value fits, but TLC asks it without a choice.
                return quantified("\\A", name, values, implication(kept, then))
            case k.IfThenElse(_, condition, then_, otherwise):
                return branch(*(self.formula(part, at) for part in (condition, then_, otherwise)))
            case k.Temporal() | k.ActionAtom():
                return self._in_time(node, at)
            case _:
                raise AssertionError(f"{expr.span}: a temporal formula inside {type(expr).__name__}")

    @staticmethod
    def _logic(op: str, operands: Sequence[Formula]) -> Formula:
        if op == "implies":
            return implication(*operands)
        return (conjunction if op == "and" else disjunction)(operands)

    def _quantified(self, kind: str, binder: k.Local, domain: k.Expr, body: k.Expr, at: _Place) -> Formula:
        over = elements(domain, at.scope)
        # A set that may change is replaced by the whole type: which variable foretells must not depend on the state.
        closed = not (variables_of(domain) or locals_of(domain))
        name, inner = at.scope.bind(binder, fits=not closed or elements_fit(domain, at.scope.fitting))
        values = over if closed else self._values(binder)
        made = self.formula(body, at.within(name, values, inner))
        join, sign = (implication, "\\A") if kind == "forall" else (lambda a, b: conjunction([a, b]), "\\E")
        return quantified(sign, name, values, made if closed else join(compare(Formula(name), "\\in", over), made))

    def _values(self, binder: k.Local) -> Formula:
        if isinstance(binder.type, t.IntType):
            raise NoCounterpartError(f"`{binder.name}` may be any integer, of which TLC cannot keep one", binder.span)
        return type_set(binder.type, self.parts)

    # ------------------------------------------------------------------------------------------------- testers

    def _in_time(self, node: InTime, at: _Place) -> Formula:
        match node:
            case k.Temporal(_, "leads_to", (premise, conclusion)):
                # `p leads_to q` is `always (p implies eventually q)`.
                later = self._temporal("eventually", [self.formula(conclusion, at)], at)
                return self._temporal("always", [implication(self.formula(premise, at), later)], at)
            case k.Temporal(_, op, operands):
                return self._temporal(op, [self.formula(operand, at) for operand in operands], at)
            case k.ActionAtom(_, "enabled"):
                return at.scope.formula(node)
            case k.ActionAtom(_, _, action, arguments):
                step = call(action, arguments, at.scope)
                # Stuttering steps are invisible in TLA+; the clock makes the moments of such a run visible.
                self.ticks = True
                # An action that leaves the state as it is does not count as occurring, as in assay.
                return self._foretold("occurs", conjunction([step, Formula("vars' # vars", PREFIX)]), at)
            case _:
                assert_never(node)

    def _temporal(self, op: str, operands: Sequence[Formula], at: _Place) -> Formula:
        """The variable that foretells whether ``op`` of the operands holds from now on."""
        last = operands[-1]

        def now(then: Formula) -> Formula:
            if op == "always":
                return conjunction([last, then])
            return disjunction([last, conjunction([operands[0], then]) if op == "until" else then])

        bound, name = self._variable(op, [each.text for each in operands], at)
        here, then = _applied(name, bound), _applied(f"{name}'", bound)
        self.watch.append(compare(Formula(name), "=", _tabled(bound, now(then))))
        # Step conditions alone would let a foretold `eventually` be put off for ever.
        again = Formula(f"[]<>({compare(here, '=', last).text})", PREFIX)
        for each, values in reversed(bound):
            again = quantified("\\A", each, values, again)
        self.fulfilled.append(again)
        return here

    def _foretold(self, wish: str, step: Formula, at: _Place) -> Formula:
        """The variable that foretells whether the next step satisfies a condition."""
        bound, name = self._variable(wish, [step.text], at)
        self.watch.append(compare(Formula(name), "=", _tabled(bound, step)))
        return _applied(name, bound)

    def _variable(self, wish: str, texts: Sequence[str], at: _Place) -> tuple[list[tuple[str, Formula]], str]:
        """A new variable, and the bound names that it depends on: those that occur in the texts."""
        # A variable that depends on fewer names is a smaller function, and TLC has fewer states.
        bound = [each for each in at.bound if any(re.search(rf"\b{each[0]}\b", text) for text in texts)]
        # A name that formulas of other variables mention must be that of no other variable.
        name = self.parts.names.local(f"{wish}_{len(self.variables) + 1}", {*self.variables, *at.scope.around})
        domain = " \\X ".join(each.within(TIGHT) for _, each in bound)
        self.variables[name] = f"[{domain} -> BOOLEAN]" if bound else "BOOLEAN"
        # TLC has to list the values after a step before `Watch` can exclude some of them.
        self.watch.append(_is_one(f"{name}'", self.variables[name]))
        return bound, name


def _applied(name: str, bound: Sequence[tuple[str, Formula]]) -> Formula:
    return Formula(f"{name}[{', '.join(each for each, _ in bound)}]" if bound else name)


def _tabled(bound: Sequence[tuple[str, Formula]], body: Formula) -> Formula:
    if not bound:
        return Formula(f"({body.text})")
    ranges = ", ".join(f"{name} \\in {values.text}" for name, values in bound)
    return Formula(f"[{ranges} |-> {body.text}]")


def _is_one(name: str, values: str) -> Formula:
    return compare(Formula(name), "\\in", Formula(values))


def watched(node: k.Property, known: str, scope: TlaScope) -> TlaMonitor:
    """The monitor of a property, called ``known``. Raises ``NoCounterpartError``."""
    testers = _Testers(scope.parts)
    claim = conjunction([testers.formula(each.condition, _Place(scope)) for each in node.conjuncts])
    watch, fulfilled, steps = testers.watch, testers.fulfilled, "Next"
    if testers.ticks:
        testers.variables[CLOCK] = "{TRUE}"
        watch.append(Formula(f"{CLOCK}' = ~{CLOCK}", PREFIX))
        # The clock must go on, or a run that stands still would have no next moment.
        fulfilled.append(Formula("[]<><<Watch>>_watched", PREFIX))
        steps = "(Next \\/ UNCHANGED vars)"
    lines = [
        f"VARIABLES {', '.join(testers.variables)}",
        *definition("watched", row("<<", ["vars", *testers.variables], ">>")), "",
        *definition("Begin", conjunction([_is_one(*each) for each in testers.variables.items()])), "",
        *definition("Watch", conjunction(watch)), "",
        *definition("Fulfilled", conjunction(fulfilled)), "",
        *definition(known, implication(Formula("Fulfilled"), claim)), "",
        f"Moment == {steps} /\\ Watch", "",
    ]  # fmt: skip
    return TlaMonitor(known, testers.variables, tuple(lines))
