"""Calls: of functions, whose bodies are expanded, and of records and variants, which are constructed."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

from assay.grammar import kernel, syntax
from assay.grammar.current_work import doing
from assay.grammar.diagnostics.diagnostic import Note
from assay.grammar.elaborate.expressions.arguments import arranged
from assay.grammar.elaborate.expressions.locals import check_new
from assay.grammar.elaborate.expressions.name_resolution import choose_variant, describe
from assay.grammar.elaborate.expressions.type_expressions import type_in
from assay.grammar.elaborate.functions.passed import call_parameter, function_parameter, passed
from assay.grammar.elaborate.functions.recursion import calls_of_itself, deepest, without_end
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.scope import (
    Entity,
    FunctionEntity,
    FunctionParameter,
    Scope,
    TypeEntity,
    ValueEntity,
    VariantEntity,
    present,
    span_of,
)
from assay.grammar.elaborate.scopes.type_relations import erased
from assay.grammar.elaborate.types.coercion import convert, fits
from assay.grammar.elaborate.types.domains import longest
from assay.grammar.kernel.types import FieldType, RecordType, SeqType, Type


def is_callable(entity: Entity) -> bool:
    """Whether a name denotes something that takes arguments and has a value."""
    return isinstance(entity, FunctionEntity | FunctionParameter | VariantEntity) or (
        isinstance(entity, TypeEntity) and entity.record is not None
    )


def call_entity(entity: Entity, expr: syntax.Call, cx: Context, hint: Type | None) -> kernel.Expr:
    """Elaborate a call of what a name denotes."""
    match entity:
        case FunctionEntity():
            return _call_function(entity, expr, cx, hint)
        case FunctionParameter():
            return call_parameter(entity, expr, cx) or erroneous(expr.span)
        case VariantEntity():
            return _make_variant(entity, expr, cx, hint)
        case TypeEntity(RecordType() as record):
            return _make_record(record, expr, cx)
        case _:
            message = f"{describe(entity)} cannot be called"
            return cx.error("E103", expr.function.span, message, Note("it is declared here", span_of(entity)))


def _make_record(record: RecordType, expr: syntax.Call, cx: Context) -> kernel.Expr:
    items = payload(record.name, record.fields, expr, cx)
    return erroneous(expr.span) if items is None else kernel.MakeRecord(record, items, span=expr.span)


def _make_variant(entity: VariantEntity, expr: syntax.Call, cx: Context, hint: Type | None) -> kernel.Expr:
    choice = choose_variant(entity, expr, cx, hint)
    if choice is None:
        return erroneous(expr.span)
    enum, variant = choice
    items = payload(variant.name, variant.fields, expr, cx)
    return erroneous(expr.span) if items is None else kernel.MakeVariant(enum, variant.name, items, span=expr.span)


def payload(name: str, fields: tuple[FieldType, ...], expr: syntax.Call, cx: Context) -> tuple[kernel.Expr, ...] | None:
    """The values of the fields in order, each within its field's range; None after an error."""
    given = arranged(name, [field.name for field in fields], expr, cx)
    if given is None:
        return None
    inner = cx.timeless()
    items = tuple(
        convert(inner.attempt(value, field.type), field.type, cx.diagnostics, put=True)
        for value, field in zip(given, fields, strict=True)
    )
    return None if failed(*items) else items


MOST_EXPANSIONS = 4_000
"""The most calls in one declaration, including those inside of functions. A chain of functions that each call the next
one twice doubles the text at every level."""


def _call_function(entity: FunctionEntity, expr: syntax.Call, cx: Context, hint: Type | None) -> kernel.Expr:
    function = entity.declaration
    depth = sum(called is function for called in _around(entity, cx))
    deepest = _deepest(entity, expr, cx) if depth else 0
    if deepest is None:
        return erroneous(expr.span)
    if depth > deepest and function.result is not None:
        return without_end(type_in(function.result, cx.within(entity.home)), expr)
    # Counted for the whole declaration, which shares one supply of names.
    cx.fresh.expansions += 1
    if cx.fresh.expansions > MOST_EXPANSIONS:
        return _expanded_too_often(function, expr, cx)
    parameters = [p for p in function.parameters if p.name.text not in entity.given]
    arguments = arranged(function.name.text, [parameter.name.text for parameter in parameters], expr, cx)
    if arguments is None:
        return erroneous(expr.span)
    return _expanded(entity, list(zip(parameters, arguments, strict=True)), expr, cx, hint, recursive=depth > 0)


def _around(entity: FunctionEntity, cx: Context) -> tuple[syntax.Def, ...]:
    """The functions inside which one is called."""
    return cx.scope.calls if entity.calls is None else entity.calls


def _deepest(entity: FunctionEntity, expr: syntax.Call, cx: Context) -> int | None:
    """How many calls may be inside one another, of a function that calls itself; None after an error."""
    function, around = entity.declaration, cx.scope.calls
    start = next(at for at, called in enumerate(around) if called is function)
    alone = all(called is function for called in around[start:])
    direct = alone and any(call is expr for call in calls_of_itself(function))
    # However often a function of the circle calls itself on the way, the circle is told once.
    names = [name for name, _ in groupby([*(called.name.text for called in around[start:]), function.name.text])]
    circle = "" if alone else " -> ".join(names)
    return deepest(function, cx.within(entity.home), direct=direct, circle=circle)


def _expanded_too_often(function: syntax.Def, expr: syntax.Call, cx: Context) -> kernel.Expr:
    """Report too many expansions once: every enclosing call comes to this place as well."""
    if cx.fresh.expansions > MOST_EXPANSIONS + 1:
        return erroneous(expr.span)
    message = f"`{function.name.text}` and the functions that it calls stand for too much text to be written out"
    return cx.error("E115", expr.span, message, "bind a value that is used several times with `let`")


def function_scope(entity: FunctionEntity, cx: Context) -> Scope:
    """The scope of a function's body without its parameters: its module's scope, with the permissions of the call's
    place."""
    # Whether elements of a symmetric set may be named depends on where the text stands, all else on where it is called.
    allowed = replace(cx.scope.permissions, name_symmetric=entity.home.permissions.name_symmetric)
    return replace(entity.home, permissions=allowed, calls=(*_around(entity, cx), entity.declaration))


def _expanded(
    entity: FunctionEntity,
    arguments: list[tuple[syntax.Field, syntax.Expr]],
    expr: syntax.Call,
    cx: Context,
    hint: Type | None,
    *,
    recursive: bool,
) -> kernel.Expr:
    """One ``LetIn`` for each argument around the body; of functions as arguments nothing remains."""
    # The place of the outermost call: inside of it the user sees no other one.
    home = replace(cx.within(function_scope(entity, cx)), site=cx.site or expr.span)
    scope, bound = home.scope, []
    # Arguments that the function got when it was passed on.
    for name, local in entity.given.items():
        scope = scope.bind(name, ValueEntity(local, local.span))
    for parameter, argument in arguments:
        check_new(parameter.name, home.within(scope))
        if isinstance(parameter.type, syntax.FunctionType):
            found = passed(parameter, argument, cx, home)
            if found is None:
                return erroneous(expr.span)
            scope = scope.bind(parameter.name.text, found[0])
            bound += found[1]
            continue
        declared = type_in(parameter.type, home)
        value = _argument(argument, declared, cx, put=recursive)
        if failed(value):
            return erroneous(expr.span)
        # Outside a recursion the range of a parameter is not enforced, so an argument may need a wider local.
        kind = _outgrown(declared, value) if fits(value.type, declared) else value.type
        local = kernel.Local(kind, cx.fresh(parameter.name.text), span=parameter.span)
        scope = scope.bind(parameter.name.text, ValueEntity(local, parameter.span))
        bound.append((local, value))
    body = _body(entity, home.within(scope), hint)
    if failed(body):
        return erroneous(expr.span)
    for local, value in reversed(bound):
        body = kernel.LetIn(body.type, local, value, body, span=expr.span)
    return body


def _outgrown(declared: Type, value: kernel.Expr) -> Type:
    """The type of a parameter for a value, whose capacity may be larger: a fold takes as many steps as it says."""
    if not isinstance(declared, SeqType) or declared.capacity is None:
        return declared
    most = longest(value)
    return declared if most is not None and most <= declared.capacity else replace(declared, capacity=most)


def _argument(argument: syntax.Expr, declared: Type, cx: Context, *, put: bool) -> kernel.Expr:
    """The value of an argument; ``put``: within the ranges of its type, as inside a recursion."""
    # The levels of a recursion are counted by the values of its parameters' types (`recursion.deepest`). So its
    # arguments must keep the ranges, or a value might come back deeper than the last level.
    wanted = declared if put else erased(declared)
    return convert(cx.timeless().attempt(argument, erased(declared)), wanted, cx.diagnostics, put=put)


def _body(entity: FunctionEntity, cx: Context, hint: Type | None) -> kernel.Expr:
    function = entity.declaration
    doing(f"the definition `{function.name.text}` was translated")
    if function.result is None:
        return cx.infer(function.body, hint)
    result = type_in(function.result, cx)
    return convert(cx.attempt(function.body, result), result, cx.diagnostics)


def check_function(entity: FunctionEntity, cx: Context) -> None:
    """Report the mistakes in a function even if it is never called. What its callers may not do is not known here."""
    allowed = replace(
        cx.scope.permissions, state=True, ghost=True, size=True, old=True, new=present, enabled=True, temporal=True
    )
    caller = cx.within(replace(entity.home, permissions=allowed))
    home = caller.within(function_scope(entity, caller))
    known: list[tuple[str, Type]] = []
    function = entity.declaration
    for parameter in function.parameters:
        check_new(parameter.name, home)
        name = parameter.name.text
        if isinstance(parameter.type, syntax.FunctionType):
            home = home.within(home.scope.bind(name, function_parameter(parameter, home)))
            continue
        local = kernel.Local(type_in(parameter.type, home), cx.fresh(name), span=parameter.span)
        known.append((name, local.type))
        home = home.within(home.scope.bind(name, ValueEntity(local, parameter.span)))
    if any(True for _ in calls_of_itself(function)):
        if deepest(function, home, direct=True) is None or function.result is None:
            return
        # In its own body the function is some value of its result type. To expand it would have no end here: only a
        # call tells how deep it goes.
        own = FunctionParameter(function.name.text, tuple(known), type_in(function.result, home), function.span)
        home = home.within(home.scope.bind(function.name.text, own))
    _body(entity, home, None)
