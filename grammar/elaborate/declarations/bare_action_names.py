"""Actions named without arguments, which stand for all instances of an array: in ``next:``, ``hidden`` and
refinements."""

from __future__ import annotations

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note
from assay.grammar.elaborate.expressions.name_resolution import advice_on, describe
from assay.grammar.elaborate.scopes.scope import ActionEntity, ArrayEntity, Entity, ModuleEntity, Scope, span_of


def action_named(path: syntax.DottedName, scope: Scope, diagnostics: Diagnostics) -> ActionEntity | None:
    """The action of that name; ``r.fetch`` of an array ``r`` is the action of all its instances. None after
    an error."""
    found: tuple[Entity, ...] = ()
    for position, part in enumerate(path.parts):
        # Only the first part is a name of this module. Each other one is looked up in what stands before its dot.
        found = scope.find(part.text) if position == 0 else _member(scope, part.text)
        if len(found) != 1:
            _report(part, found, scope, position, diagnostics)
            return None
        entity = found[0]
        if position == len(path.parts) - 1:
            break
        inside = _inside(entity)
        if inside is None:
            diagnostics.error(
                "E103", part.span, f"{describe(entity)} has no members", Note("it is declared here", span_of(entity))
            )
            return None
        scope = inside
    if isinstance(found[0], ActionEntity):
        return found[0]
    declared = Note("it is declared here", span_of(found[0]))
    diagnostics.error("E103", path.span, f"an action is wanted here, this is {describe(found[0])}", declared)
    return None


def _member(scope: Scope, name: str) -> tuple[Entity, ...]:
    # Members are what a module declares itself, and not what it uses.
    return (scope.own[name],) if name in scope.own else ()


def _inside(entity: Entity) -> Scope | None:
    match entity:
        case ModuleEntity(scope):
            return scope
        case ArrayEntity():  # which instance is meant makes no difference to the names of its members
            return entity.at(kernel.Local(entity.index, "any"))
        case _:
            return None


def _report(
    name: syntax.Name, found: tuple[Entity, ...], scope: Scope, position: int, diagnostics: Diagnostics
) -> None:
    if found:
        notes = [Note("it may be this one", span_of(entity)) for entity in found]
        advice = "write the module's name and a dot before it"
        diagnostics.error("E102", name.span, f"`{name.text}` is offered by several modules", *notes, advice)
        return
    advised = advice_on(name.text, scope.names() if position == 0 else scope.own)
    diagnostics.error("E101", name.span, f"unknown name `{name.text}`", *advised)
