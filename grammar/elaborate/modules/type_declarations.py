"""Elaboration of types, for the passes that read declarations."""

from __future__ import annotations

from assay.grammar import syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics
from assay.grammar.elaborate.expressions.dispatch import elaborate
from assay.grammar.elaborate.expressions.type_expressions import check_storable, type_in
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.scope import Scope
from assay.grammar.elaborate.scopes.type_relations import ERROR, ErrorType, type_text
from assay.grammar.kernel.types import Type

__all__ = ["ERROR", "ErrorType", "check_storable", "elaborate_type", "type_text"]


def elaborate_type(type_expr: syntax.TypeExpr, scope: Scope, diagnostics: Diagnostics) -> Type:
    """The kernel type. After an error it contains ``ErrorType``, which suppresses follow-up errors."""
    return type_in(type_expr, Context(scope, diagnostics, Fresh(), elaborate))
