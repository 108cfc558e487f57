"""New local names: binders, and the rule that no local name hides another name."""

from __future__ import annotations

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Note
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.scope import (
    ActionEntity,
    AtomEntity,
    Entity,
    Scope,
    StateEntity,
    ValueEntity,
    span_of,
)
from assay.grammar.kernel.types import Type

ADVICE = "choose another name"


def hidden_by(name: str, scope: Scope) -> Entity | None:
    """What a local of that name would hide: a local, or a name that the module itself declares.

    Elements of set parameters do not count, because a configuration may choose any names for them; nor do the names of
    used modules.
    """
    entity = scope.locals.get(name, scope.own.get(name))
    return None if isinstance(entity, AtomEntity) else entity


def check_new(name: syntax.Name, cx: Context, advice: str = ADVICE) -> None:
    """Report a local name that would hide another one."""
    entity = hidden_by(name.text, cx.scope)
    if entity is not None:
        cx.error(
            "E104",
            name.span,
            f"`{name.text}` is already in use here",
            Note("it is declared here", span_of(entity)),
            advice,
        )


def stays_visible(name: str, scope: Scope) -> bool:
    """Whether a field of an event may have the name of something else: of what is not read where the field is."""
    return name not in scope.locals and isinstance(scope.own.get(name), StateEntity | ActionEntity)


def declare(name: syntax.Name, type_: Type, cx: Context, advice: str = ADVICE) -> tuple[kernel.Local, Scope]:
    """A new local with a unique name, and the scope in which it is visible."""
    # After a report the name is bound all the same. Below it means the new value, as its author will have thought.
    check_new(name, cx, advice)
    local = kernel.Local(type_, cx.fresh(name.text), span=name.span)
    return local, cx.scope.bind(name.text, ValueEntity(local, name.span))


def define(name: syntax.Name, expr: kernel.Expr, cx: Context) -> Scope:
    """The scope in which a name stands for an expression, as a pattern variable does."""
    check_new(name, cx, f"a pattern binds new names: `=={name.text}` compares with the value of the name")
    return cx.scope.bind(name.text, ValueEntity(expr, name.span))
