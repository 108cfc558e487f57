"""The expression in place of one that has an error."""

from __future__ import annotations

from assay.grammar import kernel
from assay.grammar.diagnostics.diagnostic import Span
from assay.grammar.elaborate.scopes.type_relations import ERROR, ErrorType, mentions


def erroneous(span: Span) -> kernel.Expr:
    """A placeholder for an expression in which an error was reported."""
    return kernel.Const(ERROR, None, span=span)


def failed(*expressions: kernel.Expr) -> bool:
    """Whether an error was reported in any of the expressions."""
    return any(mentions(expression.type, ErrorType) for expression in expressions)
