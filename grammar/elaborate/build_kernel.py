"""The last pass: a tree of modules and the bindings of its parameters become one kernel."""

from __future__ import annotations

from collections.abc import Iterator

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note
from assay.grammar.elaborate.declarations.actions import ActionElaborator
from assay.grammar.elaborate.declarations.assumptions import check_assumptions
from assay.grammar.elaborate.declarations.bare_action_names import action_named
from assay.grammar.elaborate.declarations.fair_groups import fair_groups
from assay.grammar.elaborate.declarations.initial import Initial
from assay.grammar.elaborate.declarations.properties import (
    PropertyElaborator,
    accepted_bounds,
    elaborate_shows,
    elaborate_view,
)
from assay.grammar.elaborate.declarations.refinement import Refinements, property_name
from assay.grammar.elaborate.declarations.scenarios import Scenarios, StepReader
from assay.grammar.elaborate.declarations.trace_clauses import Traces
from assay.grammar.elaborate.expressions.dispatch import check_definition
from assay.grammar.elaborate.modules.bind_parameters import written_elements
from assay.grammar.elaborate.modules.declare import report_repeated, variable_type
from assay.grammar.elaborate.modules.find_parameters import Slots
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.modules.module_instances import Units
from assay.grammar.elaborate.modules.module_tree import ModuleTree
from assay.grammar.elaborate.modules.parameter_overrides import Bindings, models_of
from assay.grammar.elaborate.scopes.scope import FunctionEntity, SortEntity, StateEntity, ValueEntity
from assay.grammar.elaborate.scopes.type_relations import parts
from assay.grammar.elaborate.steps.enabledness import written_out
from assay.grammar.kernel.types import BagType, MapType, SeqType, SetType, Sort, Type
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Configuration:
    """What to make of a tree: the chosen model, the bindings, and whether scenarios and refinements are wanted (not for
    a log)."""

    model: syntax.ModelBlock | None
    bindings: Bindings
    scenarios: bool = True


def build_kernel(
    tree: ModuleTree, slots: Slots, configuration: Configuration, diagnostics: Diagnostics
) -> kernel.Kernel:
    """The kernel. It is complete only if no error was recorded."""
    return build_with_units(tree, slots, configuration, diagnostics)[0]


def _abstract(
    tree: ModuleTree, slots: Slots, bindings: Bindings, diagnostics: Diagnostics
) -> tuple[kernel.Kernel, Units]:
    """The kernel of a module that another one refines, and its units."""
    return build_with_units(tree, slots, Configuration(None, bindings, scenarios=False), diagnostics)


def build_with_units(
    tree: ModuleTree, slots: Slots, configuration: Configuration, diagnostics: Diagnostics
) -> tuple[kernel.Kernel, Units]:
    """The kernel, and the units whose scopes know the names of its modules."""
    units = Units(tree, slots, configuration.bindings, diagnostics)
    top = units.build()
    for unit in units.canonical():
        _check_declarations(unit, diagnostics)
    check_assumptions(units, diagnostics)
    declared = ActionElaborator(units, diagnostics)
    # Before all that names actions: scenarios, trace clauses, fairness and accepted bounds look into their bodies.
    actions = declared.elaborate()
    variables = tuple(variable for unit in units.canonical() for variable in _variables(unit))
    properties = PropertyElaborator(diagnostics)
    steps = StepReader({action.name: action for action in actions}, top_steps(top, diagnostics), diagnostics)
    report_repeated((model.name for model in models_of(tree.top)), "model", diagnostics)
    # A generator. Where scenarios are not wanted, as for a log, it is never asked, and no abstract module is built.
    refinements = Refinements(units, steps, variables, _abstract, diagnostics).elaborate()
    made = kernel.Kernel(
        name=tree.top.name,
        model=configuration.model.name.text if configuration.model else None,
        sorts=tuple(_sorts(units)),
        parameters=tuple(_parameters(units)),
        variables=variables,
        init=Initial(units, diagnostics).elaborate(),
        actions=actions,
        next=steps.next,
        properties=(*(p for unit in units.canonical() for p in properties.of_unit(unit)), *_refinement_properties(top)),
        terminal=tuple(t for unit in units.canonical() for t in properties.terminal(unit) if unit.is_top),
        scenarios=_scenarios(units, top, steps, configuration, diagnostics),
        accepted_bounds=_accepted(top, configuration.model, actions, variables, diagnostics),
        shows=elaborate_shows(top, diagnostics),
        view=elaborate_view(top, diagnostics),
        traces=tuple(Traces(top, units, steps, diagnostics).elaborate()),
        refinements=tuple(refinements) if configuration.scenarios else (),
        fair_together=fair_groups(top, {action.name: action for action in actions}, steps.next, diagnostics),
        span=tree.top.tree.span,
    )
    # Last of all: what `enabled` means is made of the bodies of actions.
    return written_out(made, diagnostics), units


def _refinement_properties(top: Unit) -> Iterator[kernel.Property]:
    """That the module refines another one is a property too, so that it can be selected and has a result."""
    for each in top.declared(syntax.Refines):
        yield kernel.Property(property_name(each), "refinement", (), None, span=each.span)


def _check_declarations(unit: Unit, diagnostics: Diagnostics) -> None:
    """Make every entry of the unit's table, so that mistakes in unused declarations are found too."""
    for name in tuple(unit.own):
        entity = unit.own[name]
        if isinstance(entity, FunctionEntity):
            check_definition(entity, diagnostics)
    # In another module than the top one `next:` has no meaning, and its names are checked nevertheless.
    nexts = list(unit.declared(syntax.Next))
    if not unit.is_top:
        for declaration in nexts:
            for path in declaration.actions:
                action_named(path, unit.scope, diagnostics)


def _variables(unit: Unit) -> Iterator[kernel.Variable]:
    for variable in unit.state:
        entity = unit.own.get(variable.name.text)
        # Of two variables with one name the table has the first, and E301 was reported for the second.
        if isinstance(entity, StateEntity) and entity.span == variable.name.span:
            yield kernel.Variable(entity.variable, variable_type(entity), variable.ghost, span=variable.span)


def _sorts(units: Units) -> Iterator[Sort]:
    """The set parameters that are bound from outside, each once."""
    for slot in units.slots.all:
        # After an error, as for an array in an array, a slot may belong to a unit that was not made.
        entity = units.by_prefix[slot.prefix].own.get(slot.name) if slot.prefix in units.by_prefix else None
        if isinstance(entity, SortEntity):
            yield entity.sort


def _parameters(units: Units) -> Iterator[kernel.BoundParameter]:
    for slot in units.slots.all:
        unit = units.by_prefix.get(slot.prefix)
        entity = None if unit is None else unit.own.get(slot.name)
        span = slot.declaration.name.span
        if isinstance(entity, SortEntity):
            yield kernel.BoundParameter(slot.shown, entity.sort, False, span=span)
        elif isinstance(entity, ValueEntity) and isinstance(entity.expr, kernel.Const):
            yield kernel.BoundParameter(slot.shown, entity.expr.value, entity.size, entity.expr.type, span=span)


def top_steps(top: Unit, diagnostics: Diagnostics) -> tuple[str, ...]:
    """The actions of the step relation: those that ``next:`` lists, else all actions of the top module."""
    lists = list(top.declared(syntax.Next))
    if not lists:
        # Actions of other modules are no steps by themselves: a top module says with joint actions when they happen.
        return tuple(
            d.name.text for d in top.module.tree.declarations if isinstance(d, syntax.Action | syntax.JointAction)
        )
    found: dict[str, syntax.DottedName] = {}
    for path in (path for declaration in lists for path in declaration.actions):
        entity = action_named(path, top.scope, diagnostics)
        if entity is None:
            continue
        if entity.name in found:
            note = Note("first listed here", found[entity.name].span)
            diagnostics.error("E413", path.span, f"`{path}` is listed twice", note)
        found.setdefault(entity.name, path)
    return tuple(found)


def _scenarios(
    units: Units, top: Unit, steps: StepReader, configuration: Configuration, diagnostics: Diagnostics
) -> tuple[kernel.Scenario, ...]:
    if not configuration.scenarios:
        return ()
    elements = frozenset(
        name
        for unit in units.canonical()
        for param in unit.declared(syntax.Param)
        if param.type is None and not param.size
        for name in written_elements(param, top)
    )
    return tuple(Scenarios(top, steps, elements, diagnostics).elaborate())


def _accepted(
    top: Unit,
    model: syntax.ModelBlock | None,
    actions: tuple[kernel.Action, ...],
    variables: tuple[kernel.Variable, ...],
    diagnostics: Diagnostics,
) -> frozenset[str]:
    bounds = [s.label for a in actions for s in a.body if isinstance(s, kernel.Guard) and s.kind == "bound"]
    capacities = [variable.name for variable in variables if _has_capacity(variable.type)]
    for other in models_of(top.module):
        # Models that were not chosen are checked as well, so that a wrong label is found before somebody chooses them.
        if other is not model:
            accepted_bounds(other.accepted, bounds, capacities, diagnostics)
    chosen = model.accepted if model is not None else ()
    return accepted_bounds([*top.declared(syntax.AcceptBounds), *chosen], bounds, capacities, diagnostics)


def _has_capacity(type_: Type) -> bool:
    limited = isinstance(type_, SetType | MapType | SeqType | BagType) and type_.capacity is not None
    return limited or any(map(_has_capacity, parts(type_)))
