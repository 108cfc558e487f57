"""Blocks as the expressions that they stand for."""

from __future__ import annotations

from collections.abc import Sequence

from assay.grammar import syntax
from assay.grammar.diagnostics.diagnostic import Span


def plain(expr: syntax.BlockValue | syntax.BlockIf | syntax.BlockQuantified) -> syntax.Expr:
    """The expression that a block stands for."""
    match expr:
        case syntax.BlockValue(lines):
            return _joined(lines, expr.span)
        case syntax.BlockQuantified(kind, binders, body):
            return syntax.Quantified(kind, binders, body, span=expr.span)
        case syntax.BlockIf(branches, otherwise):
            *before, (condition, value) = branches
            if otherwise is None:
                # Without `else` the whole is true where no branch is taken.
                result: syntax.Expr = syntax.Binary("implies", condition, value, span=expr.span)
            else:
                result = syntax.IfThenElse(condition, value, otherwise, span=expr.span)
            for condition, value in reversed(before):
                result = syntax.IfThenElse(condition, value, result, span=expr.span)
            return result


def _joined(lines: Sequence[syntax.LetLine | syntax.Conjunct], span: Span) -> syntax.Expr:
    """The conjunction of the lines; a ``let`` reaches over those below it."""
    values: list[syntax.Expr] = []
    for at, line in enumerate(lines):
        if isinstance(line, syntax.LetLine):
            # The lines below stand inside of the `let`, so they are joined there and the loop ends.
            below = _joined(lines[at + 1 :], span)
            values.append(syntax.LetIn(line.name, line.value, below, span=line.span.to(below.span)))
            break
        values.append(line.condition)
    return values[0] if len(values) == 1 else syntax.Junction("and", tuple(values), span=span)
