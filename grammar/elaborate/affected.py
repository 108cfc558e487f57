"""Which declarations of a module an edit may concern: those that were edited, and those that name what was declared there.

Declarations know each other by name. So one that has no word in common with what changed is as right or wrong as
before. Too many found only cost time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.grammar import syntax

_WORD = re.compile(r"[^\W\d]\w*")
_CARRIERS = (
    syntax.Def,
    syntax.TypeAlias,
    syntax.Enum,
    syntax.RecordDeclaration,
    syntax.Param,
    syntax.StateBlock,
    syntax.Use,
    syntax.Instance,
)
"""Declarations whose meaning others read by name. Of an action they read its parameters, unless they are joint."""


def affected(before: syntax.Module, old_text: str, after: syntax.Module, text: str) -> Iterator[syntax.Declaration]:
    """The declarations of ``after`` that an edit may concern, the nearest to it first; both with their texts."""
    old, new = _written(before, old_text), _written(after, text)
    edited = [each for written, each in new.items() if written not in old]
    yield from edited
    gone = [each for written, each in old.items() if written not in new]
    rest = [(each, frozenset(_WORD.findall(written))) for written, each in new.items() if written in old]
    names = _changed_names(gone, edited)
    # Joint actions are made of the bodies of their parts. So an edited body concerns them, and nobody else.
    joint = {each.name.text for each in (*gone, *edited) if isinstance(each, syntax.Action | syntax.JointAction)}
    # Changes are followed to a fixed point: a `def` that reads a changed type may have a new type itself.
    while names or joint:
        found = [(each, words) for each, words in rest if words & _read_by(each, names, joint)]
        rest = [(each, words) for each, words in rest if not words & _read_by(each, names, joint)]
        yield from (each for each, _ in found)
        joint = {each.name.text for each, _ in found if isinstance(each, syntax.Action | syntax.JointAction)}
        names = {name for each, words in found for name in _carried(each, names & words)}


def _written(module: syntax.Module, text: str) -> dict[str, syntax.Declaration]:
    # By its text, so that a declaration that an edit moved further down counts as it was.
    lines = text.split("\n")
    return {"\n".join(lines[each.span.line - 1 : each.span.end_line]): each for each in module.declarations}


def _read_by(declaration: syntax.Declaration, names: set[str], joint: set[str]) -> set[str]:
    return names | joint if isinstance(declaration, syntax.JointAction) else names


def _changed_names(gone: Sequence[syntax.Declaration], edited: Sequence[syntax.Declaration]) -> set[str]:
    """The names whose meaning an edit may have changed. An action whose body alone was edited has none."""
    heads = [{_head(each) for each in declarations} for declarations in (gone, edited)]
    # An action with the same name and parameters: only its body was edited, which nobody reads by name.
    kept = {head for head in heads[0] & heads[1] if head is not None}
    variables = [
        {variable for each in declarations if isinstance(each, syntax.StateBlock) for variable in each.variables}
        for declarations in (gone, edited)
    ]
    # One by one: of a long block that was edited most variables are as before.
    changed = {variable.name.text for variable in variables[0] ^ variables[1]}
    for each in (*gone, *edited):
        if not isinstance(each, syntax.StateBlock) and (_head(each) is None or _head(each) not in kept):
            changed |= set(declared_names(each))
    return changed


def _head(declaration: syntax.Declaration) -> object:
    """What others read of a declaration that they do not read whole."""
    match declaration:
        case syntax.Action(name=name, parameters=parameters) | syntax.JointAction(name=name, parameters=parameters):
            return "action", name.text, parameters
        case syntax.Property(name=name, kind=kind):
            return "property", None if name is None else name.text, kind
        case _:
            return None


def _carried(declaration: syntax.Declaration, through: set[str]) -> Iterator[str]:
    """The names whose meaning may change with that of names in the declaration."""
    if isinstance(declaration, syntax.StateBlock):
        # Those through which the block was found were followed in the round before.
        return (each.name.text for each in declaration.variables if each.name.text not in through)
    return declared_names(declaration) if isinstance(declaration, _CARRIERS) else iter(())


def declared_names(declaration: syntax.Declaration) -> Iterator[str]:
    """The names that a declaration puts into the module's table, and the fields and variants of its types."""
    match declaration:
        case syntax.StateBlock(variables=variables):
            yield from (variable.name.text for variable in variables)
        case syntax.Enum(name=name, variants=variants):
            yield name.text
            yield from (each.name.text for each in variants)
            yield from (field.name.text for each in variants for field in each.fields)
        case syntax.RecordDeclaration(name=name, fields=fields):
            yield name.text
            yield from (field.name.text for field in fields)
        case syntax.Use(path=path, alias=alias):
            yield (alias or path.parts[-1]).text
        case syntax.Param(name=name, default=default):
            yield name.text
            # The elements of a default are names of the module, too.
            if isinstance(default, syntax.SetDisplay):
                yield from (each.name.text for each in default.items if isinstance(each, syntax.Ref))
        case _:
            own = getattr(declaration, "name", None)
            if isinstance(own, syntax.Name):
                yield own.text
