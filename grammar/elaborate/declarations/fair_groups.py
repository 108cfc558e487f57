"""``fair: a, b``: fairness of the event that one of several actions happens."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note
from assay.grammar.elaborate.declarations.bare_action_names import action_named
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.rewrite import with_fresh_binders
from assay.grammar.elaborate.scopes.scope import ActionEntity


def fair_groups(
    top: Unit, actions: Mapping[str, kernel.Action], steps: Collection[str], diagnostics: Diagnostics
) -> tuple[kernel.FairTogether, ...]:
    """The groups of the top module; mistakes are reported as E408."""
    found = (_group(each, top, actions, steps, diagnostics) for each in top.declared(syntax.FairGroup))
    return tuple(each for each in found if each is not None)


def _group(
    group: syntax.FairGroup,
    top: Unit,
    actions: Mapping[str, kernel.Action],
    steps: Collection[str],
    diagnostics: Diagnostics,
) -> kernel.FairTogether | None:
    members: dict[str, tuple[str, ...]] = {}
    domains: dict[str, kernel.Expr] = {}
    fine = _once(group.fairness.per, diagnostics)
    for path in group.actions:
        entity = action_named(path, top.scope, diagnostics)
        problem = "" if entity is None else _problem(entity, path, members, steps)
        if entity is None or problem:
            fine = False
            if problem:
                diagnostics.error("E408", path.span, problem)
            continue
        names = _per(group.fairness.per, entity, actions[entity.name], path, domains, diagnostics)
        fine = fine and names is not None
        members[entity.name] = names or ()
    return kernel.FairTogether(group.fairness.strong, tuple(members.items()), span=group.span) if fine else None


def _once(names: tuple[syntax.Name, ...], diagnostics: Diagnostics) -> bool:
    first: dict[str, syntax.Name] = {}
    for name in names:
        if name.text in first:
            note = Note("first named here", first[name.text].span)
            diagnostics.error("E408", name.span, f"`{name.text}` is named twice", note)
        first.setdefault(name.text, name)
    return len(first) == len(names)


def _problem(entity: ActionEntity, path: syntax.DottedName, before: Collection[str], steps: Collection[str]) -> str:
    if entity.index is not None:
        return f"`{path}` belongs to an array of instances, whose actions are fair each by themselves"
    if entity.name in before:
        return f"`{path}` is listed twice"
    return "" if entity.name in steps else f"`{path}` is no step of this system, so it never happens"


def _per(
    wanted: tuple[syntax.Name, ...],
    entity: ActionEntity,
    action: kernel.Action,
    path: syntax.DottedName,
    domains: dict[str, kernel.Expr],
    diagnostics: Diagnostics,
) -> tuple[str, ...] | None:
    """The kernel's names of the parameters of an action that the group is fair per; None after an error."""
    named = {name: each for (name, _), each in zip(entity.parameters, action.parameters, strict=True)}
    found: list[str] = []
    for name in wanted:
        if name.text not in named:
            note = Note("the action is declared here", entity.span)
            diagnostics.error("E408", path.span, f"`{path}` has no parameter `{name.text}`", note)
            return None
        parameter = named[name.text]
        # In each action the binders of a domain got names of their own, which make no difference here.
        domain = with_fresh_binders(parameter.domain, Fresh())
        # Fair per `b` means one obligation for each value of `b`. With two domains it would not be clear for which.
        if domains.setdefault(name.text, domain) != domain:
            what = f"`{name.text}` of `{path}` ranges over other values than that of the actions before it"
            diagnostics.error("E408", path.span, what, Note("the action is declared here", entity.span))
            return None
        found.append(parameter.binder.name)
    return tuple(found)
