"""``assume``: conditions on parameters, checked as soon as these are bound."""

from __future__ import annotations

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics
from assay.grammar.elaborate.declarations.scenarios import refs
from assay.grammar.elaborate.expressions.dispatch import elaborate_condition
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.modules.module_instances import Units
from assay.grammar.elaborate.modules.parameter_domains import index_values
from assay.grammar.elaborate.scopes.erroneous import failed
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.scope import SortEntity, ValueEntity
from assay.grammar.elaborate.types.constant_folding import constant


def check_assumptions(units: Units, diagnostics: Diagnostics) -> None:
    """Report every assumption that the parameters violate; in an array, for any instance."""
    for unit in units.canonical():
        for declaration in unit.declared(syntax.Assume):
            if unit.index is None:
                _check(declaration, unit, diagnostics)
            else:
                for value in index_values(unit.index.type) or ():
                    # With the index as a constant the condition has a value for each instance.
                    index = kernel.Const(unit.index.type, value, span=unit.index.expr.span)
                    _check(declaration, units.unit(unit.prefix, index), diagnostics)


def _check(declaration: syntax.Assume, unit: Unit, diagnostics: Diagnostics) -> None:
    scope = unit.scope.allowing(state=False, ghost=False, size=True)
    condition = elaborate_condition(declaration.condition, scope, diagnostics, Fresh()).expr
    if failed(condition):
        return
    value = constant(condition)
    if value is None:
        diagnostics.error("E321", declaration.span, "this assumption cannot be computed from the parameters")
    elif value is False:
        diagnostics.error(
            "E320", declaration.span, "the parameters do not satisfy this assumption", *_bound(declaration, unit)
        )


def _bound(declaration: syntax.Assume, unit: Unit) -> list[str]:
    """The parameters that the assumption mentions, with their values."""
    said = []
    for name in dict.fromkeys(name.text for name in refs(declaration)):
        # Only what was bound explains why the condition fails. Functions and types in it say nothing by themselves.
        for entity in unit.scope.find(name):
            match entity:
                case SortEntity(sort):
                    said.append(f"{name} = {{{', '.join(sort.elements)}}}")
                case ValueEntity(kernel.Const(value=bool() as truth)):
                    said.append(f"{name} = {str(truth).lower()}")
                case ValueEntity(kernel.Const(value=int() as number)):
                    said.append(f"{name} = {number}")
                case _:
                    pass
    return [", ".join(said)] if said else []
