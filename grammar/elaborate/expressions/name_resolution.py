"""What names, dotted names and indexed instances denote, and what may be read where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Note
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.rewrite import with_fresh_binders
from assay.grammar.elaborate.scopes.scope import (
    ActionEntity,
    ArrayEntity,
    AtomEntity,
    Entity,
    FunctionEntity,
    FunctionParameter,
    ModuleEntity,
    Scope,
    SortEntity,
    StateEntity,
    TypeEntity,
    ValueEntity,
    VariantEntity,
    span_of,
)
from assay.grammar.elaborate.scopes.type_relations import ErrorType, is_sized, type_text, without_option
from assay.grammar.elaborate.types.coercion import convert
from assay.grammar.identity_memo import IdentitySet
from assay.grammar.kernel.types import BOOL, EnumType, RecordType, SetType, Type, VariantType
from assay.grammar.parsing.other_languages import known_elsewhere


def find(name: syntax.Name, cx: Context) -> Entity | None:
    """What a plain name denotes. Reports an unknown or an ambiguous name."""
    found = distinct(cx.scope.find(name.text))
    if len(found) == 1:
        return found[0]
    # No reserved word: what a spec declares under this name comes first. As a value it is the set of both.
    if not found and name.text == "bool":
        return TypeEntity(BOOL, name.span)
    if not found:
        unknown(name, cx.scope.names(), cx)
        return None
    # Several modules may have a variant of one name. Which is meant, the wanted type tells later (`choose_variant`).
    variants = [entity for entity in found if isinstance(entity, VariantEntity)]
    if len(variants) == len(found):
        candidates = dict.fromkeys(candidate for entity in variants for candidate in entity.candidates)
        return VariantEntity(tuple(candidates), variants[0].span)
    notes = [Note("it may be this one", span_of(entity)) for entity in found]
    cx.error(
        "E102",
        name.span,
        f"`{name.text}` is offered by several modules",
        *notes,
        "write the module's name and a dot before it",
    )
    return None


def distinct(found: Iterable[Entity]) -> tuple[Entity, ...]:
    """The entities without those that were met twice."""
    return tuple(IdentitySet(found))


def unknown(name: syntax.Name, names: Iterable[str], cx: Context) -> kernel.Expr:
    """Report a name that denotes nothing."""
    return cx.error("E101", name.span, f"unknown name `{name.text}`", *advice_on(name.text, names))


def advice_on(name: str, names: Iterable[str]) -> list[str]:
    """A suggestion for a name that denotes nothing: one of ``names``, or the counterpart of another language's name."""
    guess, elsewhere = did_you_mean(name, names), known_elsewhere(name)
    meant = [f"did you mean `{guess}`?"] if guess else []
    return [*meant, f"write {elsewhere}"] if elsewhere else meant


def is_namespace(expr: syntax.Expr, scope: Scope) -> bool:
    """Whether an expression is a module, an instance or an array of instances, so that a dot after it accesses a
    member."""
    match expr:
        case syntax.Ref(name):
            found = scope.find(name.text)
            # All of them: if one is a value, `x.f` reads a field.
            return bool(found) and all(isinstance(entity, ModuleEntity | ArrayEntity) for entity in found)
        case syntax.Attr(base, name):
            inner = _quiet_namespace(base, scope)
            return inner is not None and isinstance(inner.own.get(name.text), ModuleEntity | ArrayEntity)
        case syntax.Index(base, _):
            return is_namespace(base, scope)
        case _:
            return False


def _quiet_namespace(expr: syntax.Expr, scope: Scope) -> Scope | None:
    """The module scope without elaborating indices; enough to see which of its members are modules."""
    entity = _quiet_entity(expr.base if isinstance(expr, syntax.Index) else expr, scope)
    if isinstance(expr, syntax.Index):
        # Any index will do: members have the same names in all instances of an array.
        return entity.at(kernel.Local(entity.index, "any")) if isinstance(entity, ArrayEntity) else None
    return entity.scope if isinstance(entity, ModuleEntity) else None


def _quiet_entity(expr: syntax.Expr, scope: Scope) -> Entity | None:
    match expr:
        case syntax.Ref(name):
            return next(iter(scope.find(name.text)), None)
        case syntax.Attr(base, name):
            inner = _quiet_namespace(base, scope)
            return None if inner is None else inner.own.get(name.text)
        case _:
            return None


def resolve(expr: syntax.Expr, cx: Context) -> Entity | None:
    """The entity that a name or a dotted name denotes; None after an error. The expression is a Ref, or an Attr of a
    namespace."""
    match expr:
        case syntax.Ref(name):
            return find(name, cx)
        case syntax.Attr(base, name):
            scope = namespace(base, cx)
            if scope is None:
                return None
            # Its own names alone: what a module uses is no part of what it offers.
            entity = scope.own.get(name.text)
            if entity is None:
                unknown(name, scope.own, cx)
            return entity
        case _:
            cx.error("E103", expr.span, "a name is wanted here")
            return None


def namespace(expr: syntax.Expr, cx: Context) -> Scope | None:
    """The scope of a module, an instance, or one instance of an array; None after an error."""
    if isinstance(expr, syntax.Index):
        return _instance(expr, cx)
    entity = resolve(expr, cx)
    match entity:
        case None:
            return None
        case ModuleEntity(scope):
            return scope
        case ArrayEntity(index):
            cx.error(
                "E103",
                expr.span,
                f"this is an array of instances: write one of them with its {type_text(index)} in brackets",
            )
            return None
        case _:
            cx.error(
                "E103", expr.span, f"{describe(entity)} has no members", Note("it is declared here", span_of(entity))
            )
            return None


def _instance(expr: syntax.Index, cx: Context) -> Scope | None:
    entity = resolve(expr.base, cx)
    if entity is None:
        return None
    if not isinstance(entity, ArrayEntity):
        cx.error("E103", expr.base.span, f"{describe(entity)} is not an array of instances")
        return None
    # There is no instance outside of the index's type, so such an index is undefined.
    key = convert(cx.infer(expr.key, entity.index), entity.index, cx.diagnostics, put=True)
    return None if failed(key) else entity.at(key)


def qualified(path: syntax.DottedName) -> syntax.Expr:
    """A dotted name as an expression."""
    first, *rest = path.parts
    expr: syntax.Expr = syntax.Ref(first, span=first.span)
    for part in rest:
        expr = syntax.Attr(expr, part, span=expr.span.to(part.span))
    return expr


def describe(entity: Entity) -> str:
    """The kind of an entity, for messages."""
    match entity:
        case SortEntity():
            return "a set parameter"
        case AtomEntity():
            return "an element of a set parameter"
        case ValueEntity():
            return "a value"
        case StateEntity():
            return "a state variable"
        case TypeEntity():
            return "a type"
        case VariantEntity():
            return "a variant"
        case FunctionEntity() | FunctionParameter():
            return "a function"
        case ActionEntity():
            return "an action"
        case ModuleEntity():
            return "a module"
        case ArrayEntity():
            return "an array of instances"
        case _:
            assert_never(entity)


def read(entity: Entity, expr: syntax.Expr, cx: Context, hint: Type | None) -> kernel.Expr:
    """The value of an entity whose name is used as an expression."""
    match entity:
        case SortEntity(sort):
            domain = kernel.atom_domain(sort)
            return kernel.TypeDomain(domain.type, domain.of, span=expr.span)
        case AtomEntity():
            return _read_atom(entity, expr, cx)
        case ValueEntity():
            return _read_value(entity, expr, cx)
        case StateEntity():
            return _read_state(entity, expr, cx)
        case TypeEntity(type_):
            return _read_type(type_, expr, cx)
        case VariantEntity():
            return _read_variant(entity, expr, cx, hint)
        case FunctionEntity() | FunctionParameter() | ActionEntity() | ModuleEntity() | ArrayEntity():
            return cx.error(
                "E103", expr.span, f"{describe(entity)} is not a value", Note("it is declared here", span_of(entity))
            )
        case _:
            assert_never(entity)


def _read_atom(entity: AtomEntity, expr: syntax.Expr, cx: Context) -> kernel.Expr:
    if entity.sort.symmetric and not cx.scope.permissions.name_symmetric:
        sort = entity.sort.name
        message = f"the elements of the symmetric set {sort} have no names outside scenarios and bindings"
        return cx.forbidden("E106", expr.span, message, f"quantify over {sort}, or declare it without `symmetric`")
    return kernel.Const(entity.expr.type, entity.expr.value, span=expr.span)


def _read_value(entity: ValueEntity, expr: syntax.Expr, cx: Context) -> kernel.Expr:
    if entity.size:
        if not cx.scope.permissions.size:
            message = "a size parameter may occur only in type ranges and `bound` lines"
            advice = (
                "it is made as large as a log needs; a number that rules compare with is a parameter without `size`"
            )
            return cx.forbidden("E110", expr.span, message, Note("it is declared here", entity.span), advice)
        # Noted, so that a range that is made of it is `sized`.
        cx.sizes.append(expr.span)
    # A pattern variable stands for an expression, which is copied to each place that uses it.
    return replace(with_fresh_binders(entity.expr, cx.fresh), span=expr.span)


def _read_state(entity: StateEntity, expr: syntax.Expr, cx: Context) -> kernel.Expr:
    declared = Note("it is declared here", entity.span)
    if not cx.scope.permissions.state:
        message = f"the state variable `{entity.variable}` cannot be read here"
        name = expr.name.text if isinstance(expr, syntax.Ref) else "v"
        picked = f"where one start depends on another, choose first, in `init:`: `pick c in S`, then `{name} := c` and others from c"
        advice = [picked] if cx.scope.permissions.initial else []
        return cx.forbidden("E108", expr.span, message, declared, *advice)
    if entity.ghost and not cx.scope.permissions.ghost:
        message = (
            f"the ghost variable `{entity.variable}` may be read only in properties and in updates of ghost variables"
        )
        return cx.forbidden("E109", expr.span, message, declared)
    return with_fresh_binders(entity.read(expr.span), cx.fresh)


def _read_type(type_: Type, expr: syntax.Expr, cx: Context) -> kernel.Expr:
    if is_sized(type_):
        if not cx.scope.permissions.size:
            message = "the values of this type depend on a size parameter, so they may be named only in type ranges and `bound` lines"
            advice = "a parameter of an action takes all values of a type: `action a(x: T)`"
            return cx.forbidden("E110", expr.span, message, advice)
        cx.sizes.append(expr.span)
    return kernel.TypeDomain(SetType(type_), type_, span=expr.span)


def _read_variant(entity: VariantEntity, expr: syntax.Expr, cx: Context, hint: Type | None) -> kernel.Expr:
    choice = choose_variant(entity, expr, cx, hint)
    if choice is None:
        return erroneous(expr.span)
    enum, variant = choice
    if variant.fields:
        wanted = ", ".join(field.name for field in variant.fields)
        return cx.error("E205", expr.span, f"{variant.name} carries a payload: write {variant.name}({wanted})")
    return kernel.MakeVariant(enum, variant.name, (), span=expr.span)


def choose_variant(
    entity: VariantEntity, expr: syntax.Expr, cx: Context, hint: Type | None
) -> tuple[EnumType, VariantType] | None:
    """The enum, where several have a variant of that name: the one that the hint wants."""
    wanted = without_option(hint)
    for candidate in entity.candidates:
        if candidate[0] == wanted or len(entity.candidates) == 1:
            return candidate
    enums = " and ".join(enum.name for enum, _ in entity.candidates)
    variant = entity.candidates[0][1].name
    cx.error("E102", expr.span, f"{enums} both have a variant {variant}, and nothing here tells which is meant")
    return None


def field_index(record: Type, name: syntax.Name, cx: Context) -> int | None:
    """The position of a field of a record. Reports a value without such a field."""
    if isinstance(record, ErrorType):
        return None
    if not isinstance(record, RecordType) or record.is_tuple:
        advice = _no_fields_advice(record)
        cx.error("E105", name.span, f"{type_text(record)} has no fields, so no `{name.text}`", *advice)
        return None
    names = [field.name for field in record.fields]
    if name.text in names:
        return names.index(name.text)
    guess = did_you_mean(name.text, names)
    advice = [f"did you mean `{guess}`?"] if guess else [f"its fields are {', '.join(names)}"]
    cx.error("E105", name.span, f"the record {record.name} has no field `{name.text}`", *advice)
    return None


def _no_fields_advice(type_: Type) -> list[str]:
    if isinstance(without_option(type_), RecordType) and type_ != without_option(type_):
        return [
            "the value may be none here: test it with `!= none`, or match it with `is some(v)`, in a condition before"
        ]
    if isinstance(type_, RecordType):
        return ["the first value of a tuple t is `t[0]`, and `let (a, b) = t` gives names to all"]
    if isinstance(type_, EnumType):
        return ["the payload of a variant is read with a pattern: `x is Variant(field)`"]
    return []
