"""Conditions that TLC would split into several ways to take one step.

Among the conjuncts of an action TLC follows every disjunct and every witness of an existential quantifier. Each that is
true is a step of its own, and each is evaluated, even if an earlier one was written to protect it
(docs/design/protected-guards.md). ``Holds`` makes a single boolean of the condition.
"""

from __future__ import annotations

from assay.checker.tla.expressions.formula import Formula, enclosed
from assay.checker.tla.expressions.scope import TlaScope
from assay.grammar import kernel as k


def asked(condition: k.Expr, scope: TlaScope) -> Formula:
    """The condition as a conjunct of an action or of the initial states."""
    made = scope.formula(condition)
    # Only where it matters: a module is read by people, and most conditions are no choice.
    return as_one(made, scope) if _has_ways(condition) else made


def as_one(condition: Formula, scope: TlaScope) -> Formula:
    """A formula that TLC evaluates to a boolean, without following its parts."""
    return enclosed(f"{scope.parts.use('Holds')}(", condition, ")")


def _has_ways(expr: k.Expr) -> bool:
    """Whether TLC would find a choice in the expression. It takes these operators apart, and no others."""
    match expr:
        case k.Logic(_, "or") | k.Quantified(_, "exists"):
            return True
        case k.Logic(_, "and", parts):
            return any(map(_has_ways, parts))
        case k.Logic(_, "implies", (_, then)):
            return _has_ways(then)
        # A `forall` is a conjunction for TLC, so what its body chooses is a choice of the step.
        case k.Quantified(_, _, _, _, body) | k.LetIn(_, _, _, body):
            return _has_ways(body)
        case k.IfThenElse(_, _, then, otherwise):
            return _has_ways(then) or _has_ways(otherwise)
        case _:
            return False
