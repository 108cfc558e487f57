"""Targets of assignments: a variable, and the path to a part of it."""

from __future__ import annotations

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Note
from assay.grammar.elaborate.expressions.name_resolution import describe, field_index, is_namespace, resolve
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import failed
from assay.grammar.elaborate.scopes.scope import StateEntity, span_of
from assay.grammar.elaborate.scopes.type_relations import ErrorType, type_text
from assay.grammar.elaborate.types.coercion import convert
from assay.grammar.kernel.types import INT, MapType, RecordType, SeqType, Type
from assay.grammar.lazy_dataclass import dataclass

Step = kernel.AtKey | kernel.AtField


@dataclass(frozen=True, slots=True)
class AssignmentTarget:
    """A place in the state: ``path`` leads from the kernel's variable to it; the index of an array of instances comes
    first."""

    entity: StateEntity
    path: tuple[Step, ...]
    type: Type


def place(target: syntax.Expr, cx: Context) -> AssignmentTarget | None:
    """The place of an assignment; None after an error."""
    match target:
        case syntax.Index(base, key):
            return _entry(base, key, target, cx)
        case syntax.Attr(base, name) if not is_namespace(base, cx.scope):
            return _field(base, name, cx)
        case syntax.Ref() | syntax.Attr():
            return _variable(target, cx)
        case _:
            cx.error(
                "E021", target.span, "the left side of `:=` is a variable, one of its fields, or one of its entries"
            )
            return None


def _variable(target: syntax.Ref | syntax.Attr, cx: Context) -> AssignmentTarget | None:
    entity = resolve(target, cx)
    if entity is None:
        return None
    declared = Note("it is declared here", span_of(entity))
    if not isinstance(entity, StateEntity):
        cx.error("E407", target.span, f"{describe(entity)} cannot be assigned to, only a state variable can", declared)
        return None
    # Not in the module's own table means offered by a used one.
    if isinstance(target, syntax.Attr) or target.name.text not in cx.scope.own:
        cx.error(
            "E406",
            target.span,
            "a module's variables are assigned to by its own actions only",
            declared,
            "join an action of that module",
        )
        return None
    path = () if entity.index is None else (kernel.AtKey(entity.index, span=target.span),)
    return AssignmentTarget(entity, path, entity.type)


def _field(base: syntax.Expr, name: syntax.Name, cx: Context) -> AssignmentTarget | None:
    outer = place(base, cx)
    index = None if outer is None else field_index(outer.type, name, cx)
    if outer is None or index is None or not isinstance(outer.type, RecordType):
        return None
    return AssignmentTarget(
        outer.entity, (*outer.path, kernel.AtField(index, span=name.span)), outer.type.fields[index].type
    )


def _entry(base: syntax.Expr, key: syntax.Expr, target: syntax.Expr, cx: Context) -> AssignmentTarget | None:
    outer = place(base, cx)
    match outer:
        case None | AssignmentTarget(type=ErrorType()):
            return None
        case AssignmentTarget(type=MapType(key_type, value_type)):
            wanted, inner = key_type, value_type
        case AssignmentTarget(type=SeqType(item)):
            wanted, inner = INT, item
        case _:
            cx.error("E203", target.span, f"a map or a sequence has entries, {type_text(outer.type)} has not")
            return None
    # A partial map takes in the key that is assigned to. So the key lies in its range, as any part of the state.
    at = convert(cx.attempt(key, wanted), wanted, cx.diagnostics, put=True)
    return None if failed(at) else AssignmentTarget(outer.entity, (*outer.path, kernel.AtKey(at, span=key.span)), inner)
