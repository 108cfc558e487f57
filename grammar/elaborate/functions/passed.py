"""Functions as arguments of functions: ``every(live, is_up)``, ``every(live, is_newer(_, than))``.

A parameter of such a type is the name of the function that was passed, so nothing of it is left in the kernel.
"""

from __future__ import annotations

from dataclasses import replace

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Note
from assay.grammar.elaborate.expressions.arguments import arranged
from assay.grammar.elaborate.expressions.name_resolution import describe, is_namespace, resolve
from assay.grammar.elaborate.expressions.type_expressions import type_in
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import failed
from assay.grammar.elaborate.scopes.scope import Entity, FunctionEntity, FunctionParameter, span_of
from assay.grammar.elaborate.scopes.type_relations import ErrorType, erased, same, type_text
from assay.grammar.elaborate.types.coercion import convert
from assay.grammar.kernel.types import Type

Passed = FunctionEntity | FunctionParameter
Bound = list[tuple[kernel.Local, kernel.Expr]]
HOW = "pass the name of a `def`, or a call of one with `_` for each argument that is left open: `newer(_, epoch)`"


def function_parameter(parameter: syntax.Field, home: Context) -> FunctionParameter:
    """What stands for a function that is not known yet, of the type that the parameter states."""
    assert isinstance(parameter.type, syntax.FunctionType)
    types = tuple(type_in(each, home) for each in parameter.type.parameters)
    # With a blank in them: no argument can be given by such a name.
    names = tuple(f"argument {at}" for at in range(1, len(types) + 1))
    return FunctionParameter(
        parameter.name.text, tuple(zip(names, types, strict=True)), type_in(parameter.type.result, home), parameter.span
    )


def call_parameter(entity: FunctionParameter, expr: syntax.Call, cx: Context) -> kernel.Expr | None:
    """A call of a function that is not known: some value of its type. None after an error."""
    given = arranged(entity.name, [name for name, _ in entity.parameters], expr, cx)
    if given is None:
        return None
    inner = cx.timeless()
    values = [
        convert(inner.attempt(value, erased(type_)), erased(type_), cx.diagnostics)
        for value, (_, type_) in zip(given, entity.parameters, strict=True)
    ]
    return None if failed(*values) else kernel.Local(entity.result, cx.fresh(entity.name), span=expr.span)


def passed(parameter: syntax.Field, argument: syntax.Expr, cx: Context, home: Context) -> tuple[Passed, Bound] | None:
    """The function that an argument means, and the locals for those of its arguments that are given already.

    ``cx`` is the context of the call, ``home`` that of the function that is called. None after an error.
    """
    called = argument if isinstance(argument, syntax.Call) else None
    name = argument if called is None else called.function
    if not isinstance(name, syntax.Ref) and not (isinstance(name, syntax.Attr) and is_namespace(name.base, cx.scope)):
        cx.error("E218", argument.span, f"`{parameter.name.text}` is a function", HOW)
        return None
    entity = resolve(name, cx)
    if entity is None:
        return None
    if not isinstance(entity, Passed):
        note = Note("it is declared here", span_of(entity))
        cx.error("E218", argument.span, f"`{parameter.name.text}` is a function, this is {describe(entity)}", note, HOW)
        return None
    # It would be expanded inside of itself through a parameter, where nothing counts the levels.
    if isinstance(entity, FunctionEntity) and any(each is entity.declaration for each in cx.scope.calls):
        cx.error("E218", argument.span, "a function cannot be passed on while it is being called itself")
        return None
    bound: Bound = []
    if called is not None:
        open_ = _partly(entity, called, cx, bound)
        if open_ is None:
            return None
        entity = open_
    return (_as_declared(entity, cx), bound) if _fits(entity, parameter, argument, cx, home) else None


def parameters_of(entity: Passed, cx: Context) -> list[tuple[str, Type]]:
    """The parameters that are still open, with their types."""
    if isinstance(entity, FunctionParameter):
        return [*entity.parameters]
    # Types are read where the function is declared: here their names may mean something else.
    home = cx.within(entity.home)
    return [
        (p.name.text, type_in(p.type, home))
        for p in entity.declaration.parameters
        if p.name.text not in entity.given and not isinstance(p.type, syntax.FunctionType)
    ]


def _partly(entity: Passed, call: syntax.Call, cx: Context, bound: Bound) -> FunctionEntity | None:
    """The function with the arguments that are not ``_``."""
    if not isinstance(entity, FunctionEntity) or _takes_functions(entity):
        cx.error("E218", call.span, "only a `def` that takes no functions is passed with a part of its arguments", HOW)
        return None
    parameters = parameters_of(entity, cx)
    values = arranged(entity.declaration.name.text, [name for name, _ in parameters], call, cx)
    if values is None:
        return None
    given = dict(entity.given)
    inner = cx.timeless()
    for (name, type_), value in zip(parameters, values, strict=True):
        if isinstance(value, syntax.Wildcard):
            continue
        found = convert(inner.attempt(value, erased(type_)), erased(type_), cx.diagnostics)
        if failed(found):
            return None
        # Bound where the function is passed: the argument belongs to that place, and the body may read it many times.
        local = kernel.Local(found.type, cx.fresh(name), span=value.span)
        bound.append((local, found))
        given[name] = local
    return replace(entity, given=given)


def _takes_functions(entity: FunctionEntity) -> bool:
    return any(isinstance(p.type, syntax.FunctionType) for p in entity.declaration.parameters)


def _as_declared(entity: Passed, cx: Context) -> Passed:
    """The function as it is known here: what calls it is no part of a recursion inside it."""
    return replace(entity, calls=cx.scope.calls) if isinstance(entity, FunctionEntity) else entity


def _fits(entity: Passed, parameter: syntax.Field, argument: syntax.Expr, cx: Context, home: Context) -> bool:
    """Whether the function takes and gives what the parameter says; reports E218 otherwise."""
    wanted = function_parameter(parameter, home)
    have = [type_ for _, type_ in parameters_of(entity, cx)]
    types = [type_ for _, type_ in wanted.parameters]
    result = _result(entity, cx)
    fine = len(have) == len(types) and all(map(same, have, types)) and not _takes_functions_itself(entity)
    if fine and (result is None or same(result, wanted.result) or isinstance(result, ErrorType)):
        return True
    wants = (
        f"`{parameter.name.text}` is a function of ({', '.join(map(type_text, types))}) to {type_text(wanted.result)}"
    )
    found = f"this one takes ({', '.join(map(type_text, have))})"
    gives = "" if result is None else f" and gives {type_text(result)}"
    cx.error("E218", argument.span, f"{wants}; {found}{gives}", Note("it is declared here", span_of(entity)), HOW)
    return False


def _takes_functions_itself(entity: Entity) -> bool:
    return isinstance(entity, FunctionEntity) and _takes_functions(entity)


def _result(entity: Passed, cx: Context) -> Type | None:
    if isinstance(entity, FunctionParameter):
        return entity.result
    written = entity.declaration.result
    return None if written is None else type_in(written, cx.within(entity.home))
