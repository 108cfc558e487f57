"""The module that a spec refines, as a kernel of its own: its parameters bound by the spec, its bounds and ghosts left
out.

A parameter of the abstract module has the value that the refinement gives. Else, in a module that both sides use, it
has the concrete side's. Else it has the value of this module's parameter of the same name, else its default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Span
from assay.grammar.elaborate.modules.find_parameters import FreeParameter, Slots, find_slots
from assay.grammar.elaborate.modules.module_tree import ModuleFile, ModuleTree
from assay.grammar.elaborate.modules.parameter_overrides import Bindings, Supplied
from assay.grammar.elaborate.scopes.scope import Entity, ModuleEntity, Scope, SortEntity, ValueEntity
from assay.grammar.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from assay.grammar.elaborate.modules.module_instances import Units

Build: TypeAlias = "Callable[[ModuleTree, Slots, Bindings, Diagnostics], tuple[kernel.Kernel, Units]]"
"""The last pass, for another module than the top one."""

NAMED_FROM_OUTSIDE = ("type", "enum", "record", "variant")


@dataclass(frozen=True, slots=True)
class Abstraction:
    """An abstract module as a kernel, and the module instances that it consists of."""

    kernel: kernel.Kernel
    units: Units


def abstraction(
    module: ModuleFile,
    given: Mapping[str, syntax.Binding],
    units: Units,
    build: Build,
    place: Span,
    diagnostics: Diagnostics,
) -> Abstraction | None:
    """The abstract module with its parameters bound; ``given`` are the refinement's bindings, by the names that it
    uses."""
    # The abstract module is the top of a tree of its own, with its own instances of what it uses.
    tree = ModuleTree(module, {}, {})
    slots = find_slots(tree)
    supplied = dict(_supplied(slots, given, units))
    missing = [slot.shown for slot in slots.all if slot.qualified not in supplied and slot.declaration.default is None]
    if missing:
        names = ", ".join(f"`{name}`" for name in missing)
        what = f"the refinement does not say what the parameter {names} of `{module.name}` is"
        diagnostics.error("E525", place, what, "bind it as an instance does: `name = value`")
        return None
    inside = Diagnostics()
    made, made_units = build(tree, slots, Bindings(supplied=supplied), inside)
    here = [each for each in inside.items if each.span.file == place.file]
    diagnostics.items.extend(here or inside.items)  # what is wrong with a binding makes more wrong behind it
    if here:
        return None
    return Abstraction(_bare(made), made_units)


def _supplied(slots: Slots, given: Mapping[str, syntax.Binding], units: Units) -> Iterator[tuple[str, Supplied]]:
    top = units.by_prefix[""]
    explicit = {slot.qualified: binding.value for name, binding in given.items() for slot in slots.find(name)}
    for slot in slots.all:
        name = slot.declaration.name
        prefix = units.shared.get(slot.module) if slot.prefix.count(".") <= 1 else None
        if slot.qualified in explicit:
            yield slot.qualified, Supplied(explicit[slot.qualified], top.scope)
        elif prefix is not None:
            yield slot.qualified, Supplied(syntax.Ref(name, span=name.span), units.by_prefix[prefix].scope)
        elif _offers(top.scope, slot):
            yield slot.qualified, Supplied(syntax.Ref(name, span=name.span), top.scope)


def _offers(scope: Scope, slot: FreeParameter) -> bool:
    """Whether a name of this module denotes the same kind of parameter."""
    found = scope.find(slot.name)
    is_set = slot.declaration.type is None and not slot.declaration.size
    return len(found) == 1 and isinstance(found[0], SortEntity if is_set else ValueEntity)


def names_of(units: Units) -> dict[str, tuple[Entity, ...]]:
    """What a mapping may name of the abstract module: its types and variants, with and without the module's name."""
    own = units.by_prefix[""].own
    found = {name: own[name] for name, maker in own.makers.items() if maker.kind in NAMED_FROM_OUTSIDE}
    module = units.by_prefix[""].module
    inside = ModuleEntity(Scope(module.name, found), module.tree.span)
    # With the module's name before it, a variant is told from one of this module that is called the same.
    return {module.stem: (inside,), **{name: (entity,) for name, entity in found.items()}}


def prefixes_in_common(abstract: Units, concrete: Units) -> dict[str, str]:
    """The module instances that both sides share: the prefix on the abstract side, and on this one."""
    shared = {**abstract.shared, abstract.tree.top: ""}
    return {prefix: concrete.shared[module] for module, prefix in shared.items() if module in concrete.shared}


# --------------------------------------------------------------------------------------------- what is left out


def _bare(made: kernel.Kernel) -> kernel.Kernel:
    """Initial states and steps alone, without bounds, ghosts and properties."""
    ghosts = {variable.name for variable in made.variables if variable.ghost}
    # A bound limits the model and not the system, so a concrete step need not respect those of the abstract side.
    init = kernel.Init(_without(made.init.body, ghosts), _whens(made.init.conditions), span=made.init.span)
    actions = [
        replace(action, body=_without(_unbounded(action.body), ghosts), fairness=None) for action in made.actions
    ]
    return replace(
        made,
        variables=tuple(variable for variable in made.variables if not variable.ghost),
        init=init,
        actions=tuple(actions),
        properties=(),
        terminal=(),
        scenarios=(),
        accepted_bounds=frozenset(),
        shows=(),
        traces=(),
        refinements=(),
        fair_together=(),
    )


def _whens(guards: tuple[kernel.Guard, ...]) -> tuple[kernel.Guard, ...]:
    return tuple(guard for guard in guards if guard.kind == "when")


def _unbounded(body: tuple[kernel.Statement, ...]) -> tuple[kernel.Statement, ...]:
    return tuple(each for each in body if not (isinstance(each, kernel.Guard) and each.kind == "bound"))


def _without(body: tuple[kernel.Statement, ...], ghosts: set[str]) -> tuple[kernel.Statement, ...]:
    """The statements without the assignments to ghosts."""
    kept: list[kernel.Statement] = []
    for each in body:
        match each:
            case kernel.Assign(variable=variable) if variable in ghosts:
                continue
            case kernel.If(then=then, otherwise=otherwise):
                kept.append(replace(each, then=_without(then, ghosts), otherwise=_without(otherwise, ghosts)))
            case kernel.For(body=inner):
                kept.append(replace(each, body=_without(inner, ghosts)))
            case _:
                kept.append(each)
    return tuple(kept)
