"""The parts of a joint action: another action's lines, elaborated in its own module, with arguments for its
parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Note
from assay.grammar.elaborate.declarations.statements import Body, elaborate_body
from assay.grammar.elaborate.expressions.dispatch import action_reference
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.modules.parameter_domains import parameter_domain
from assay.grammar.elaborate.scopes.erroneous import failed
from assay.grammar.elaborate.scopes.labels import place_label
from assay.grammar.elaborate.scopes.rewrite import with_fresh_binders
from assay.grammar.elaborate.scopes.scope import ActionEntity, ValueEntity
from assay.grammar.kernel.types import BOOL

if TYPE_CHECKING:
    from assay.grammar.elaborate.modules.module_instances import Units

Declared = Mapping[str, tuple[Unit, syntax.Action | syntax.JointAction]]


def add_part(part: syntax.Expr, body: Body, units: Units, declared: Declared, above: tuple[str, ...]) -> None:
    """Add the lines of one part; ``above`` are the joint actions being elaborated, outermost first."""
    scope = body.scope.allowing(ghost=False)
    found = action_reference(part, scope, body.diagnostics, body.fresh)
    if found is None:
        return
    entity = found.entity
    # The index of an array comes first among the arguments, and is no parameter of the declaration.
    offset = 0 if entity.index is None else 1
    arguments = None if found.arguments is None else found.arguments[offset:]
    # By its kernel name, which tells instances of one module apart.
    if entity.name in above:
        circle = " -> ".join([*above[above.index(entity.name) :], entity.name])
        body.diagnostics.error("E409", part.span, f"a joint action cannot be a part of itself: {circle}")
        return
    if entity.parameters and (arguments is None or not isinstance(part, syntax.Call)):
        names = ", ".join(name for name, _ in entity.parameters)
        declared_here = Note("it is declared here", entity.span)
        body.diagnostics.error("E410", part.span, f"`{entity.name}` needs its arguments here: ({names})", declared_here)
        return
    home, declaration = declared[entity.name]
    # At the index that the part names: its variables are then read and assigned there.
    unit = units.unit(home.prefix, entity.index)
    inner = Body(unit.scope.allowing(ghost=False), body.diagnostics, body.fresh, body.labels.of_part(entity.name))
    # A part sees by `new` what the parts before it assign, for all of them are one step.
    inner.know_updates(None if body.after is None else body.after.inside(inner.updates))
    _bind_arguments(entity, arguments or (), declaration, unit, inner, part)
    if isinstance(declaration, syntax.Action):
        elaborate_body(declaration.body, inner)
    else:
        for deeper in declaration.parts:
            add_part(deeper, inner, units, declared, (*above, entity.name))
    # Head and updates apart, so that the guards of all parts precede the updates of all parts.
    body.head.extend(inner.head)
    body.updates.extend(inner.updates)


def _bind_arguments(
    entity: ActionEntity,
    arguments: tuple[kernel.Expr | None, ...],
    declaration: syntax.Action | syntax.JointAction,
    unit: Unit,
    inner: Body,
    part: syntax.Expr,
) -> None:
    for parameter, argument in zip(declaration.parameters, arguments, strict=False):
        if argument is None:
            inner.diagnostics.error(
                "E410", part.span, f"every argument of `{entity.name}` is given here; `_` stands only in trace clauses"
            )
            continue
        value = _named(parameter, argument, inner)
        inner.scope = inner.scope.bind(parameter.name.text, ValueEntity(value, parameter.name.span))
        _add_domain_guard(parameter, value, unit, inner, part)


def _named(parameter: syntax.ActionParameter, argument: kernel.Expr, inner: Body) -> kernel.Expr:
    """The expression for the argument: itself if it is a name or a constant, else a local that is computed once."""
    if failed(argument) or isinstance(argument, kernel.Local | kernel.Const):
        return argument
    # Bound once, or an expression such as `last(log[b])` would be copied to each place that reads the parameter.
    local = kernel.Local(argument.type, inner.fresh(parameter.name.text), span=parameter.name.span)
    inner.head.append(kernel.Let(local, argument, span=argument.span))
    return local


def _add_domain_guard(
    parameter: syntax.ActionParameter, value: kernel.Expr, unit: Unit, inner: Body, part: syntax.Expr
) -> None:
    """Add a guard for a parameter whose domain is smaller than a type: the argument must be one of its values."""
    # By itself the part takes values of this domain alone. Here the argument may be any value of the type.
    found = parameter_domain(parameter, unit, inner.diagnostics)
    domain = found.within or found.domain
    if isinstance(domain, kernel.TypeDomain) or failed(domain, value):
        return
    # The domain was elaborated by itself. In the joint action its binders must not have the names of others.
    member = kernel.Member(BOOL, value, with_fresh_binders(domain, inner.fresh), False, span=part.span)
    label = inner.labels.given(syntax.Name(f"{parameter.name.text} of {place_label(part.span)}", span=part.span))
    inner.head.append(kernel.Guard("when", label, member, span=part.span))
