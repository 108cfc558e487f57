"""The declarations of a module in its table of names: types, variants, functions, state variables and actions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note
from assay.grammar.elaborate.expressions.dispatch import elaborate_type
from assay.grammar.elaborate.expressions.type_expressions import check_storable
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.modules.parameter_domains import parameter_domain
from assay.grammar.elaborate.scopes.scope import (
    ActionEntity,
    Entity,
    FunctionEntity,
    StateEntity,
    TypeEntity,
    VariantEntity,
)
from assay.grammar.elaborate.scopes.type_relations import ERROR, ErrorType, mentions
from assay.grammar.kernel.types import EnumType, FieldType, RecordType, Type, VariantType


def declare_names(unit: Unit, diagnostics: Diagnostics) -> None:
    """Put everything but parameters and instances into the unit's table."""
    for declaration in unit.module.tree.declarations:
        match declaration:
            case syntax.TypeAlias(name=name):
                unit.own.declare(name, "type", partial(_alias, declaration, unit, diagnostics))
            case syntax.Enum(name=name):
                unit.own.declare(name, "enum", partial(_enum, declaration, unit, diagnostics))
            case syntax.RecordDeclaration(name=name):
                unit.own.declare(name, "record", partial(_record, declaration, unit, diagnostics))
            case syntax.Def(name=name):
                unit.own.declare(name, "function", partial(FunctionEntity, declaration, unit.scope))
            case syntax.StateBlock(variables=variables):
                for variable in variables:
                    unit.own.declare(variable.name, "state variable", partial(_variable, variable, unit, diagnostics))
            case syntax.Action(name=name) | syntax.JointAction(name=name):
                unit.own.declare(name, "action", partial(_action, declaration, unit, diagnostics))
            case _:
                pass
    # Last, so that of a variant and another declaration of one name the variant is reported.
    _declare_variants(unit, diagnostics)


def _alias(declaration: syntax.TypeAlias, unit: Unit, diagnostics: Diagnostics) -> Entity:
    return TypeEntity(elaborate_type(declaration.type, unit.scope, diagnostics), declaration.name.span)


def _enum(declaration: syntax.Enum, unit: Unit, diagnostics: Diagnostics) -> Entity:
    variants = tuple(VariantType(v.name.text, _fields(v.fields, unit, diagnostics)) for v in declaration.variants)
    type_ = EnumType(declaration.name.text, variants)
    return TypeEntity(ERROR if mentions(type_, ErrorType) else type_, declaration.name.span)


def _record(declaration: syntax.RecordDeclaration, unit: Unit, diagnostics: Diagnostics) -> Entity:
    type_ = RecordType(declaration.name.text, _fields(declaration.fields, unit, diagnostics))
    return TypeEntity(ERROR if mentions(type_, ErrorType) else type_, declaration.name.span)


def _fields(fields: tuple[syntax.Field, ...], unit: Unit, diagnostics: Diagnostics) -> tuple[FieldType, ...]:
    report_repeated((field.name for field in fields), "field", diagnostics)
    return tuple(FieldType(f.name.text, elaborate_type(f.type, unit.scope, diagnostics)) for f in fields)


def report_repeated(names: Iterable[syntax.Name], kind: str, diagnostics: Diagnostics) -> None:
    """Report every name that occurs earlier in the list."""
    first: dict[str, syntax.Name] = {}
    for name in names:
        if name.text in first:
            note = Note("first written here", first[name.text].span)
            diagnostics.error("E301", name.span, f"there is already a {kind} `{name.text}`", note)
        first.setdefault(name.text, name)


def _storable(expr: syntax.TypeExpr, unit: Unit, diagnostics: Diagnostics) -> Type:
    """The type as written, which variables must be able to have."""
    type_ = elaborate_type(expr, unit.scope, diagnostics)
    return type_ if check_storable(type_, expr.span, diagnostics) else ERROR


def _declare_variants(unit: Unit, diagnostics: Diagnostics) -> None:
    """Declare each variant once; several enums may have it, and then the expected type decides."""
    enums = list(unit.declared(syntax.Enum))
    by_name: dict[str, list[tuple[syntax.Enum, syntax.Name]]] = {}
    for enum in enums:
        report_repeated((variant.name for variant in enum.variants), "variant", diagnostics)
        # Reversed, so that of a variant that is repeated the first place remains.
        for name in {variant.name.text: variant.name for variant in reversed(enum.variants)}.values():
            by_name.setdefault(name.text, []).append((enum, name))
    for places in by_name.values():
        unit.own.declare(places[0][1], "variant", partial(_variant, places, unit))


def _variant(places: list[tuple[syntax.Enum, syntax.Name]], unit: Unit) -> Entity:
    candidates: list[tuple[EnumType, VariantType]] = []
    for enum, name in places:
        entity = unit.own.get(enum.name.text)
        if isinstance(entity, TypeEntity) and isinstance(entity.type, EnumType):
            candidates.extend((entity.type, variant) for variant in entity.type.variants if variant.name == name.text)
    # All enums with that variant have mistakes, which were reported. The error type keeps uses of the name quiet.
    if not candidates:
        return TypeEntity(ERROR, places[0][1].span)
    return VariantEntity(tuple(candidates), places[0][1].span)


def _variable(variable: syntax.StateVariable, unit: Unit, diagnostics: Diagnostics) -> Entity:
    type_ = _storable(variable.type, unit, diagnostics)
    index = unit.index.expr if unit.index else None
    return StateEntity(unit.prefix + variable.name.text, type_, variable.name.span, index, variable.ghost)


def _action(declaration: syntax.Action | syntax.JointAction, unit: Unit, diagnostics: Diagnostics) -> Entity:
    index = unit.index.expr if unit.index else None
    # The parameters alone: bodies are elaborated later, so an action may name others wherever they stand.
    parameters = tuple((p.name.text, parameter_domain(p, unit, diagnostics).item) for p in declaration.parameters)
    return ActionEntity(unit.prefix + declaration.name.text, parameters, declaration.name.span, index)


def variable_type(entity: StateEntity) -> Type:
    """The type of the kernel's variable: in an array of instances a map from the index."""
    read = entity.read(entity.span)
    return read.collection.type if entity.index is not None and isinstance(read, kernel.Lookup) else entity.type
