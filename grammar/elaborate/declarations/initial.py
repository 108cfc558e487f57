"""Initial states: the initial values of variables, and ``init:`` blocks.

An array of instances is initialized for every index: values in one loop, picks one index after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note
from assay.grammar.elaborate.declarations.assignment_conflicts import check_single_assignment
from assay.grammar.elaborate.declarations.changed_variables import root, targets
from assay.grammar.elaborate.declarations.statements import Body, elaborate_body
from assay.grammar.elaborate.expressions.dispatch import elaborate_domain, elaborate_expression
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.modules.module_instances import Units
from assay.grammar.elaborate.modules.parameter_domains import index_values
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.labels import ActionLabels, place_label
from assay.grammar.elaborate.scopes.scope import Scope, StateEntity
from assay.grammar.elaborate.scopes.type_relations import ErrorType, mentions
from assay.grammar.elaborate.types.coercion import convert
from assay.grammar.lazy_dataclass import dataclass


@dataclass(slots=True)
class Initial:
    """The initial states while they are elaborated."""

    units: Units
    diagnostics: Diagnostics
    fresh: Fresh = field(default_factory=Fresh)
    body: list[kernel.Statement] = field(default_factory=list)
    conditions: list[kernel.Guard] = field(default_factory=list)

    def elaborate(self) -> kernel.Init:
        """The initial states of all units together."""
        for unit in self.units.canonical():
            self._check_complete(unit)
            # At each index by itself: a start may depend on the index, through a parameter of the module.
            for each in self._instances(unit):
                self._starts(each)
                for block in each.declared(syntax.Init):
                    self._block(block, each)
        return kernel.Init(tuple(self.body), tuple(self.conditions))

    def _instances(self, unit: Unit) -> Iterator[Unit]:
        """The unit itself; of an array, the unit at every index."""
        if unit.index is None:
            yield unit
        elif not mentions(unit.index.type, ErrorType):
            for value in index_values(unit.index.type) or ():
                yield self.units.unit(unit.prefix, kernel.Const(unit.index.type, value, span=unit.index.expr.span))

    def _check_complete(self, unit: Unit) -> None:
        """Every variable has an initial value, or is assigned in ``init:``; none has both."""
        # As written, for every instance alike: so it is asked once for the unit.
        assigned = {name.text: name for block in unit.declared(syntax.Init) for name in _assigned(block.body, unit)}
        for variable in unit.state:
            name = variable.name.text
            if variable.start is None and name not in assigned:
                advice = f"write `{name}: T = value` or `{name}: T in set`, or assign it in `init:`"
                self.diagnostics.error("E411", variable.name.span, f"`{name}` has no initial value", advice)
            if variable.start is not None and name in assigned:
                note = Note("its start is given here", variable.name.span)
                self.diagnostics.error("E412", assigned[name].span, f"`{name}` has a start already", note)

    def _starts(self, unit: Unit) -> None:
        for variable in unit.state:
            entity = unit.own.get(variable.name.text)
            if variable.value is None or not isinstance(entity, StateEntity):
                continue
            scope = unit.scope.allowing(state=False, ghost=False, initial=True)
            if variable.start == "=":
                value = elaborate_expression(variable.value, scope, self.diagnostics, self.fresh, entity.type)
            else:
                value = self._chosen(variable, scope, entity)
            # In an array each instance starts its own entry of the map.
            path = (kernel.AtKey(entity.index),) if entity.index is not None else ()
            label = place_label(variable.span)
            self.body.append(kernel.Assign(label, entity.variable, path, value, entity.type, span=variable.span))

    def _chosen(self, variable: syntax.StateVariable, scope: Scope, entity: StateEntity) -> kernel.Expr:
        """A pick among the elements of ``in S``, as the variable's type."""
        assert variable.value is not None
        domain, item = elaborate_domain(variable.value, scope, self.diagnostics, self.fresh)
        local = kernel.Local(item, self.fresh(variable.name.text), span=variable.name.span)
        self.body.append(kernel.Pick(local, domain, span=variable.span))
        return erroneous(local.span) if failed(local) else convert(local, entity.type, self.diagnostics)

    def _block(self, block: syntax.Init, unit: Unit) -> None:
        """Picks and assignments read no state; conditions read the state that they make, and may name the picks."""
        choices = [s for s in block.body if isinstance(s, syntax.Pick | syntax.Let)]
        updates = [s for s in block.body if isinstance(s, syntax.Assign | syntax.If | syntax.For | syntax.ActionMatch)]
        body = Body(
            unit.scope.allowing(state=False, ghost=False, initial=True),
            self.diagnostics,
            self.fresh,
            ActionLabels(self.diagnostics),
        )
        elaborate_body([*choices, *updates], body)
        arrays = frozenset(unit.prefix + v.name.text for v in unit.state) if unit.index else frozenset()
        check_single_assignment(body.updates, arrays, self.diagnostics)
        self.body += [*body.head, *body.updates]
        # The picks were handed over above: what is in the head from now on are the guards.
        body.head.clear()
        body.scope = body.scope.allowing(state=True, initial=False)
        elaborate_body([s for s in block.body if isinstance(s, syntax.Guard)], body)
        self.conditions += [guard for guard in body.head if isinstance(guard, kernel.Guard)]


def _assigned(statements: Iterable[syntax.ActionLine], unit: Unit) -> Iterator[syntax.Name]:
    """The names of the variables that a block assigns."""
    for target in targets(statements):
        base = root(target, unit.scope)
        if isinstance(base, syntax.Ref):
            yield base.name
