"""References to actions: ``a``, ``a(x, _)``, ``m.a(x)``, ``r[p].a(x)``."""

from __future__ import annotations

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Note
from assay.grammar.elaborate.expressions.arguments import arranged
from assay.grammar.elaborate.expressions.name_resolution import describe, resolve
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import failed
from assay.grammar.elaborate.scopes.scope import ActionEntity, Entity, span_of
from assay.grammar.elaborate.types.coercion import convert
from assay.grammar.kernel.types import Type
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ActionReference:
    """An action with its arguments.

    ``arguments`` are those of the kernel's action: the index of an array of instances comes first. An argument of None
    is any value (``_``); ``arguments`` itself is None if there were neither parentheses nor an index.
    """

    entity: ActionEntity
    arguments: tuple[kernel.Expr | None, ...] | None


def refer(expr: syntax.Expr, cx: Context) -> ActionReference | None:
    """The referenced action, each argument within the range of its parameter; None after an error."""
    called = expr if isinstance(expr, syntax.Call) else None
    entity = _action(expr if called is None else called.function, cx)
    if entity is None:
        return None
    if not isinstance(entity, ActionEntity):
        cx.error(
            "E103",
            expr.span,
            f"an action is wanted here, this is {describe(entity)}",
            Note("it is declared here", span_of(entity)),
        )
        return None
    index = () if entity.index is None else (entity.index,)
    # Without parentheses all arguments are left open. Of an array the index still says which instance is meant.
    if called is None:
        return ActionReference(entity, None if not index else (*index, *(None for _ in entity.parameters)))
    given = arranged(entity.name, [name for name, _ in entity.parameters], called, cx)
    if given is None:
        return None
    # Within their ranges, since an action has no instance for another value.
    arguments = [_argument(value, type_, cx) for value, (_, type_) in zip(given, entity.parameters, strict=True)]
    if failed(*(argument for argument in arguments if argument is not None)):
        return None
    return ActionReference(entity, (*index, *arguments))


def _action(expr: syntax.Expr, cx: Context) -> Entity | None:
    """What the name denotes; an action of the module is not hidden by a local of its name, which could not stand
    here."""
    own = cx.scope.own.get(expr.name.text) if isinstance(expr, syntax.Ref) else None
    return own if isinstance(own, ActionEntity) else resolve(expr, cx)


def _argument(expr: syntax.Expr, wanted: Type, cx: Context) -> kernel.Expr | None:
    if isinstance(expr, syntax.Wildcard):
        return None
    return convert(cx.attempt(expr, wanted), wanted, cx.diagnostics, put=True)
