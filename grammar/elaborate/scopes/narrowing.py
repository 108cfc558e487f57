"""Optional values that a condition has shown to be present: they have their plain type where that is certain."""

from __future__ import annotations

from dataclasses import replace

from assay.grammar import kernel
from assay.grammar.elaborate.scopes.rewrite import bound_names, reads_state
from assay.grammar.elaborate.scopes.scope import Scope, ValueEntity
from assay.grammar.kernel.types import OptionType


def narrowed(expr: kernel.Expr, scope: Scope) -> kernel.Expr:
    """The value itself, where an optional expression is known to be present."""
    if not scope.narrowed or not isinstance(expr.type, OptionType):
        return expr
    # Found by equality, in which places take no part: `m[k]` is the same value wherever it is written.
    present = scope.narrowed.get(expr)
    return expr if present is None else replace(present, span=expr.span)


def widened(expr: kernel.Expr) -> kernel.Expr:
    """The optional expression that ``narrowed`` replaced; a presence test may be repeated."""
    # Of `T??` the present value is optional itself, and a test of it is about that one.
    return expr.operand if isinstance(expr, kernel.Unwrap) and not isinstance(expr.type, OptionType) else expr


def known_present(expr: kernel.Expr, scope: Scope) -> Scope:
    """The scope in which an optional expression is known to be present.

    An expression with binders of its own is not narrowed: each copy of it has other names, so none would be recognised.
    """
    if not isinstance(expr.type, OptionType) or bound_names(expr):
        return scope
    return scope.narrow(expr, kernel.Unwrap(expr.type.item, expr, span=expr.span))


def narrowings_only(scope: Scope, outer: Scope) -> Scope:
    """What of ``scope`` may leave a negation: known presence, but no pattern variable.

    A known presence of a pattern variable's value is kept, because it is keyed by the expression that the variable
    stands for.
    """
    return replace(outer, narrowed=scope.narrowed)


def at_another_moment(scope: Scope) -> Scope:
    """The scope without what is known of the current state only."""
    # What depends on locals alone is as present at the other moment as it is now.
    kept = {key: value for key, value in scope.narrowed.items() if not reads_state(key)}
    return replace(scope, narrowed=kept)


def state_dependent(scope: Scope) -> dict[str, ValueEntity]:
    """The locals that stand for expressions over the current state: pattern variables."""
    return {
        name: entity
        for name, entity in scope.locals.items()
        if isinstance(entity, ValueEntity) and not isinstance(entity.expr, kernel.Local) and reads_state(entity.expr)
    }
