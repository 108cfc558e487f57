"""The targets of assignments as written: which variables a block changes, and whether they are all ghosts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.grammar import syntax
from assay.grammar.elaborate.expressions.name_resolution import is_namespace
from assay.grammar.elaborate.scopes.scope import Scope, StateEntity


def root(target: syntax.Expr, scope: Scope) -> syntax.Expr:
    """The variable that contains the target: a name, or a member of a module or instance."""
    while isinstance(target, syntax.Index | syntax.Attr):
        if isinstance(target, syntax.Attr) and is_namespace(target.base, scope):
            return target
        target = target.base
    return target


def is_ghost(target: syntax.Expr, scope: Scope) -> bool:
    """Whether a target is a ghost variable of this module, or a part of one."""
    base = root(target, scope)
    # A variable of another module cannot be assigned (E406), whatever it is.
    entity = scope.own.get(base.name.text) if isinstance(base, syntax.Ref) else None
    return isinstance(entity, StateEntity) and entity.ghost


def only_ghosts(statements: Iterable[syntax.ActionLine], scope: Scope) -> bool:
    """Whether only ghost variables are assigned; the condition around the statements may then read ghosts too."""
    return all(is_ghost(target, scope) for target in targets(statements))


def targets(statements: Iterable[syntax.ActionLine]) -> Iterator[syntax.Expr]:
    """The targets of all assignments, including those in nested blocks."""
    for statement in statements:
        match statement:
            case syntax.Assign(target=target):
                yield target
            case syntax.If(branches=branches, otherwise=otherwise):
                for _, block in branches:
                    yield from targets(block)
                yield from targets(otherwise)
            case syntax.For(body=body):
                yield from targets(body)
            case syntax.ActionMatch(cases=cases, otherwise=rest):
                for case in cases:
                    yield from targets(case.body)
                yield from targets(rest or ())
            case _:
                pass
