"""The mistakes in declarations that were edited, against names that were known before: milliseconds after a key.

Nothing else of a spec depends on the body of an action, but for joint actions, or on that of a property. So while such
bodies alone change, only these are elaborated anew, in the scopes that there were.
"""

from __future__ import annotations

from assay.grammar import syntax
from assay.grammar.diagnostics.diagnostic import Diagnostic, Diagnostics
from assay.grammar.elaborate.declarations.actions import ActionElaborator
from assay.grammar.elaborate.declarations.properties import PropertyElaborator
from assay.grammar.elaborate.modules.module_instances import Units


def recheck(units: Units, edited: syntax.Module) -> tuple[Diagnostic, ...] | None:
    """What is wrong in the edited declarations of the top module; None if more changed than bodies."""
    top = units.canonical()[0]
    before = top.module.tree.declarations
    if len(before) != len(edited.declarations):
        return None
    changed = [(old, new) for old, new in zip(before, edited.declarations, strict=True) if old != new]
    if not all(_is_body(old, new) for old, new in changed):
        return None
    diagnostics = Diagnostics()
    actions, properties = ActionElaborator(units, diagnostics), PropertyElaborator(diagnostics)
    for _, new in changed:
        if isinstance(new, syntax.Action):
            actions.elaborate_one(top, new)
        elif isinstance(new, syntax.Property):
            properties.elaborate_one(top, new)
    return tuple(diagnostics)


def _is_body(old: syntax.Declaration, new: syntax.Declaration) -> bool:
    """Whether two declarations differ in what no other declaration reads."""
    match old, new:
        case syntax.Action(), syntax.Action():
            return (old.name, old.parameters) == (new.name, new.parameters)
        case syntax.Property(), syntax.Property():
            return (old.name, old.kind) == (new.name, new.kind)
        case _:
            return False
