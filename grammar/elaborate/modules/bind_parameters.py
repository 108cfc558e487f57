"""Binding parameters: the elements of a set parameter, and the value of a value parameter.

Of several bindings the strongest counts: that of an ``instance``; else a log's; else ``--set``; else the model's; else
the default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from assay.grammar import kernel, syntax
from assay.grammar.elaborate.expressions.dispatch import elaborate_expression, elaborate_type
from assay.grammar.elaborate.modules.find_parameters import Slots
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.modules.parameter_overrides import (
    LARGEST_SET,
    Bindings,
    Supplied,
    element_names,
    generated_names,
    models_of,
)
from assay.grammar.elaborate.scopes.erroneous import erroneous, failed
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.rewrite import nodes, rewritten
from assay.grammar.elaborate.scopes.scope import AtomEntity, Entity, SortEntity, ValueEntity
from assay.grammar.elaborate.scopes.type_relations import ERROR, parts, type_text
from assay.grammar.elaborate.types.constant_folding import folded, lies_in
from assay.grammar.kernel.types import INT, AtomType, Sort, Type
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Atom


def declare_parameters(
    unit: Unit, given: Mapping[str, Supplied], slots: Slots, bindings: Bindings, top: Unit
) -> Iterator[Mapping[str, Entity]]:
    """Put a unit's parameters and the elements of its sets into its table. Yields tables of elements whose name several
    sets have."""
    names = {param.name.text: unit.prefix + param.name.text for param in unit.declared(syntax.Param)}
    supplied = {
        name: bindings.supplied[qualified] for name, qualified in names.items() if qualified in bindings.supplied
    }
    binder = _Binder(unit, {**supplied, **given}, slots, bindings, top)
    sets = [param for param in unit.declared(syntax.Param) if param.type is None and not param.size]
    for param in unit.declared(syntax.Param):
        if param.type is not None or param.size:
            unit.own.declare(param.name, "parameter", partial(binder.value, param))
    elements = [binder.declare_sort(param) for param in sets]
    # After the parameters, so that of an element and a parameter of one name the parameter keeps it.
    yield from _declare_elements(unit, elements)


@dataclass(frozen=True, slots=True)
class _Binder:
    unit: Unit
    given: Mapping[str, Supplied]
    slots: Slots
    bindings: Bindings
    top: Unit

    def declare_sort(self, param: syntax.Param) -> dict[str, AtomEntity]:
        """Declare a set parameter; returns the elements that the spec may name."""
        sort = self._sort(param)
        self.unit.own.declare(param.name, "parameter", lambda: SortEntity(sort, param.name.span))
        # The elements of a set that the instance got from its owner are names in the owner's module.
        shared = self.given.get(param.name.text) is not None
        return {} if shared else self._elements(param, sort)

    def _elements(self, param: syntax.Param, sort: Sort) -> dict[str, AtomEntity]:
        writable = set(written_elements(param, self.top))
        found = {}
        for position, name in enumerate(sort.elements):
            if name in writable:
                const = kernel.Const(AtomType(sort), Atom(sort.name, position, name), span=param.name.span)
                found[name] = AtomEntity(const, sort, param.name.span)
        return found

    def _sort(self, param: syntax.Param) -> Sort:
        name = param.name.text
        if name in self.given:
            return self._sort_of_owner(param, self.given[name])
        qualified = self.unit.prefix + name
        # Every parameter that no instance binds is among the slots.
        shown = next(slot.shown for slot in self.slots.all if slot.qualified == qualified)
        if qualified in self.bindings.sorts:
            return Sort(shown, tuple(self.bindings.sorts[qualified]), param.symmetric)
        value = self.bindings.values.get(qualified, param.default)
        if value is None:
            self._unbound(param, f"{shown}=3")
            return Sort(shown, (), param.symmetric)
        names = element_names(param, value, self.unit.own.diagnostics) or ()
        return Sort(shown, tuple(element.text for element in names), param.symmetric)

    def _sort_of_owner(self, param: syntax.Param, given: Supplied) -> Sort:
        # Read in the scope of the owner: the name on the right of `Node = Node` is the owner's.
        found = elaborate_expression(given.value, given.scope.allowing(state=False), self.unit.own.diagnostics, Fresh())
        if isinstance(found, kernel.TypeDomain) and isinstance(found.of, AtomType):
            sort = found.of.sort
            if sort.symmetric and not param.symmetric:
                what = f"`{sort.name}` is symmetric and `{param.name.text}` is not, so the module may order or name its elements"
                self.unit.own.diagnostics.error(
                    "E318", given.value.span, what, "declare both or none of them `symmetric`"
                )
            return sort
        if not failed(found):
            what = f"`{param.name.text}` is a set parameter: it is bound to a set parameter of this module"
            self.unit.own.diagnostics.error("E311", given.value.span, what)
        return Sort(param.name.text, (), param.symmetric)

    def value(self, param: syntax.Param) -> Entity:
        """The entity of a value parameter."""
        type_ = (
            elaborate_type(param.type, self.unit.scope, self.unit.own.diagnostics) if param.type is not None else INT
        )
        expr = self._value(param, type_)
        return ValueEntity(expr, param.name.span, param.size)

    def _value(self, param: syntax.Param, type_: Type) -> kernel.Expr:
        diagnostics, qualified = self.unit.own.diagnostics, self.unit.prefix + param.name.text
        symmetric = next((sort for sort in _sorts_in(type_) if sort.symmetric), None)
        if symmetric is not None:
            what = f"no parameter may hold an element of the symmetric set {symmetric.name}"
            diagnostics.error("E319", param.name.span, what, f"declare {symmetric.name} without `symmetric`")
            return erroneous(param.name.span)
        if qualified in self.bindings.sizes:
            return kernel.Const(type_, self.bindings.sizes[qualified], span=param.name.span)
        source = self._source(param)
        if source is None:
            self._unbound(param, f"{qualified}=…")
            return erroneous(param.name.span)
        scope = source.scope.allowing(state=False, size=param.size, ghost=False, name_symmetric=False)
        expr = elaborate_expression(source.value, scope, diagnostics, self.unit.fresh(), type_)
        return _settled(param, type_, expr, self.unit)

    def _source(self, param: syntax.Param) -> Supplied | None:
        """The binding of the parameter, and the scope in which it is read."""
        qualified = self.unit.prefix + param.name.text
        if param.name.text in self.given:
            return self.given[param.name.text]
        if qualified in self.bindings.values:
            # A model is written in the top module and read there, also where it binds a parameter of a used module.
            scope = self.top.scope if qualified in self.bindings.from_model else self.unit.scope
            return Supplied(self.bindings.values[qualified], scope)
        return None if param.default is None else Supplied(param.default, self.unit.scope)

    def _unbound(self, param: syntax.Param, example: str) -> None:
        what = f"the parameter `{param.name.text}` is not bound"
        self.unit.own.diagnostics.error(
            "E313", param.name.span, what, f"give it a default, choose a model that binds it, or add `--set {example}`"
        )


def _settled(param: syntax.Param, type_: Type, expr: kernel.Expr, unit: Unit) -> kernel.Expr:
    """The bound value as a constant; in an array of instances it may depend on the index, and on nothing else."""
    if failed(expr) or type_ == ERROR:
        return erroneous(expr.span)
    # Its range is asked for below, where the message names the parameter.
    bare = expr.operand if isinstance(expr, kernel.Checked) else expr
    diagnostics = unit.own.diagnostics
    if any(isinstance(node, kernel.Local) for node in nodes(bare)) and unit.index is not None:
        return expr
    # A part of a value that is out of its range has no value. Without the checks it is seen that nothing else is wrong.
    found = folded(bare) or folded(rewritten(bare, _unchecked))
    if found is None:
        diagnostics.error("E314", expr.span, f"the value of `{param.name.text}` is not a constant")
        return erroneous(expr.span)
    if folded(bare) is None or not lies_in(found.value, type_):
        shown = found.value if isinstance(found.value, int) else "this value"
        what = f"`{param.name.text}` is {type_text(type_)}, and {shown} lies outside"
        diagnostics.error("E315", expr.span, what)
        return erroneous(expr.span)
    return kernel.Const(type_, found.value, span=expr.span)


def _unchecked(node: kernel.Node) -> kernel.Node:
    return node.operand if isinstance(node, kernel.Checked) else node


def _declare_elements(unit: Unit, elements: list[dict[str, AtomEntity]]) -> Iterator[Mapping[str, Entity]]:
    """Elements whose name only one set has become names of the module. If several sets have it, each use of it is
    ambiguous."""
    names = [name for table in elements for name in table]
    for table in elements:
        for name, entity in table.items():
            if names.count(name) == 1:
                unit.own.declare(
                    syntax.Name(name, span=entity.span), "element of a set parameter", partial(_same, entity)
                )
        yield {name: entity for name, entity in table.items() if names.count(name) > 1}


def _same(entity: Entity) -> Entity:
    return entity


def written_elements(param: syntax.Param, top: Unit) -> Iterator[str]:
    """The names that the spec itself gives to elements: in the default, and in the models of the top module.

    Only these can be named in the spec. The names of elements that ``--set`` or a log gives are never taken for names
    of the spec.
    """
    values = [param.default] if param.default is not None else []
    for model in models_of(top.module):
        values.extend(b.value for b in model.bindings if b.name.parts[-1].text == param.name.text)
    for value in values:
        match value:
            # A number out of bounds is reported where it is bound, and must not make names without end.
            case syntax.IntLit(count) if count > 0:
                yield from generated_names(param.name.text, min(count, LARGEST_SET))
            case syntax.SetDisplay(items):
                yield from (item.name.text for item in items if isinstance(item, syntax.Ref))
            case _:
                pass


def _sorts_in(type_: Type) -> Iterator[Sort]:
    if isinstance(type_, AtomType):
        yield type_.sort
    for part in parts(type_):
        yield from _sorts_in(part)
