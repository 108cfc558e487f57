"""Reads single expressions in the names of a loaded spec, as ``assay eval`` and the stepper need them."""

from __future__ import annotations

from assay.grammar import kernel
from assay.grammar.diagnostics.diagnostic import Diagnostics, Severity
from assay.grammar.elaborate.expressions.dispatch import elaborate_expression
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.kernel.types import Type
from assay.grammar.load import Loaded, UnusableSpecError, units_of
from assay.grammar.parsing.parse import parse_expression

EXPRESSION = "expression"
"""The name of the file in diagnostics about the text of an expression."""


class ExpressionReader:
    """The names of a spec's top module; an expression may use all of them, ``old``, and elements of its sets."""

    def __init__(self, loaded: Loaded) -> None:
        # Elements of a symmetric set have names here: nothing is searched, so nothing depends on them.
        self._scope = units_of(loaded)[0].scope.allowing(old=True, name_symmetric=True, size=True)

    def read(self, text: str, expected: Type | None = None) -> kernel.Expr:
        """The typed expression, as a value of a type if one is expected. Raises ``UnusableSpecError`` with every mistake,
        whose ``sources`` hold the text."""
        parsed = parse_expression(text, EXPRESSION)
        if parsed.expression is None:
            raise UnusableSpecError(parsed.diagnostics, {EXPRESSION: text})
        diagnostics = Diagnostics()
        # Fresh names for each text: binders have to be unique within one expression only.
        expr = elaborate_expression(parsed.expression, self._scope, diagnostics, Fresh(), expected)
        if any(each.severity is Severity.ERROR for each in diagnostics):
            raise UnusableSpecError(tuple(diagnostics), {EXPRESSION: text})
        return expr
