"""Actions and joint actions: from declarations to kernel actions.

A joint action ``one(b) & m.two(b)`` consists of the guards, lets and picks of its parts in their order, then the
updates of all parts. The parameters of a part are replaced by the arguments. All updates read the same state, so the
order of the parts only decides which guard comes first.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from assay.grammar import kernel, syntax
from assay.grammar.current_work import doing
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.elaborate.declarations.assignment_conflicts import check_single_assignment
from assay.grammar.elaborate.declarations.joint_actions import add_part
from assay.grammar.elaborate.declarations.statements import Body, elaborate_body
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.modules.parameter_domains import ParameterDomain, parameter_domain, whole_domain
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.labels import ActionLabels
from assay.grammar.elaborate.scopes.rewrite import with_fresh_binders
from assay.grammar.elaborate.steps.next_values import NextValues
from assay.grammar.kernel.types import BOOL
from assay.grammar.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from assay.grammar.elaborate.modules.module_instances import Units

ActionDeclaration = syntax.Action | syntax.JointAction


@dataclass(slots=True)
class ActionElaborator:
    """The actions of all units by their kernel names, each with the unit that declares it."""

    units: Units
    diagnostics: Diagnostics
    declared: dict[str, tuple[Unit, ActionDeclaration]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for unit in self.units.canonical():
            for declaration in unit.module.tree.declarations:
                if isinstance(declaration, ActionDeclaration):
                    # Of two actions with one name the first counts, as in the module's table, and E301 was reported.
                    self.declared.setdefault(unit.prefix + declaration.name.text, (unit, declaration))

    def elaborate(self) -> tuple[kernel.Action, ...]:
        """Every action of every unit."""
        return tuple(self.elaborate_one(unit, declaration) for unit, declaration in self.declared.values())

    def elaborate_one(self, unit: Unit, declaration: ActionDeclaration) -> kernel.Action:
        """An action of a unit."""
        doing(f"the action `{declaration.name.text}` was translated")
        fresh = Fresh()
        body = Body(unit.scope.allowing(ghost=False), self.diagnostics, fresh, ActionLabels(self.diagnostics))
        # The list itself is handed over: `new(x)` reads what was assigned so far when it is elaborated.
        body.know_updates(NextValues((body.updates,)))
        # The index is the first parameter of each action of an array. Calls, mappings and fairness count on that.
        parameters = _index_parameter(unit, fresh)
        parameters += _parameters(declaration, unit, body)
        doc: str | None = None
        if isinstance(declaration, syntax.Action):
            doc = declaration.doc
            elaborate_body(declaration.body, body)
        else:
            name = unit.prefix + declaration.name.text
            for part in declaration.parts:
                add_part(part, body, self.units, self.declared, (name,))
        statements = (*body.head, *body.updates)
        # Over all parts together: two of a joint action may assign one place.
        check_single_assignment(statements, self._array_variables(), self.diagnostics)
        fairness = self._fairness(declaration, unit, parameters)
        name = unit.prefix + declaration.name.text
        return kernel.Action(name, tuple(parameters), statements, fairness, doc, span=declaration.span)

    def _array_variables(self) -> frozenset[str]:
        arrays = (unit for unit in self.units.canonical() if unit.index is not None)
        return frozenset(unit.prefix + variable.name.text for unit in arrays for variable in unit.state)

    def _fairness(
        self, declaration: ActionDeclaration, unit: Unit, parameters: list[kernel.Parameter]
    ) -> kernel.Fairness | None:
        """The kernel's fairness. In an array each instance is fair by itself, so the index is added to ``per``."""
        fairness = declaration.fairness
        if fairness is None:
            return None
        offset = 1 if unit.index else 0
        names = {p.name.text: parameters[offset + at].binder.name for at, p in enumerate(declaration.parameters)}
        per = [parameters[0].binder.name] if unit.index else []
        seen: dict[str, syntax.Name] = {}
        for name in fairness.per:
            if name.text not in names:
                guess = did_you_mean(name.text, names)
                offer = f"its parameters are {', '.join(names)}" if names else "it has no parameters"
                advice = f"did you mean `{guess}`?" if guess else offer
                what = f"`{declaration.name.text}` has no parameter `{name.text}`"
                self.diagnostics.error("E408", name.span, what, advice)
            elif name.text in seen:
                note = Note("first named here", seen[name.text].span)
                self.diagnostics.error("E408", name.span, f"`{name.text}` is named twice", note)
            else:
                per.append(names[name.text])
            seen.setdefault(name.text, name)
        return kernel.Fairness(fairness.strong, tuple(per), span=fairness.span)


def _index_parameter(unit: Unit, fresh: Fresh) -> list[kernel.Parameter]:
    if unit.index is None:
        return []
    local = kernel.Local(unit.index.type, fresh(unit.index.name), span=unit.index.expr.span)
    return [kernel.Parameter(local, whole_domain(unit.index.type, local.span).domain, span=local.span)]


def _parameters(declaration: ActionDeclaration, unit: Unit, body: Body) -> list[kernel.Parameter]:
    domains = [parameter_domain(p, unit, body.diagnostics) for p in declaration.parameters]
    # All parameters get their names before a domain does: answers show the names of parameters as they are written.
    bound = [body.bind(p.name, found.item) for p, found in zip(declaration.parameters, domains, strict=True)]
    made = []
    for parameter, found, local in zip(declaration.parameters, domains, bound, strict=True):
        add_membership(found, local, parameter.name.text, body)
        domain = with_fresh_binders(found.domain, body.fresh)
        made.append(kernel.Parameter(local, domain, span=parameter.span))
    return made


def add_membership(found: ParameterDomain, value: kernel.Expr, name: str, body: Body) -> None:
    """Add a guard that the value is in a domain that depends on the index of an array."""
    if found.within is not None:
        within = with_fresh_binders(found.within, body.fresh)
        member = kernel.Member(BOOL, value, within, False, span=value.span)
        label = body.labels.given(syntax.Name(name, span=value.span))
        body.head.append(kernel.Guard("when", label, member, span=value.span))
