"""Module instances ("units"): the top module, one shared instance of each used module, and every ``instance``, with
their scopes.

A unit of an array ``r[p: T]`` is elaborated once with its index as a local named ``p``. This is the canonical unit,
from which kernel actions and properties are made. It is elaborated again for every other index expression with which a
member is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import partial

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.elaborate.expressions.dispatch import elaborate_type
from assay.grammar.elaborate.modules.bind_parameters import declare_parameters
from assay.grammar.elaborate.modules.declare import declare_names
from assay.grammar.elaborate.modules.find_parameters import Slots, shared_modules
from assay.grammar.elaborate.modules.module_instance import ArrayIndex, Unit
from assay.grammar.elaborate.modules.module_tree import ModuleFile, ModuleTree
from assay.grammar.elaborate.modules.parameter_domains import index_values
from assay.grammar.elaborate.modules.parameter_overrides import Bindings, Supplied
from assay.grammar.elaborate.scopes.scope import ArrayEntity, ModuleEntity, Scope, ValueEntity
from assay.grammar.elaborate.scopes.symbol_tables import ExportedNames, OwnNames, UsedNames
from assay.grammar.elaborate.scopes.type_relations import ERROR, ErrorType, mentions, type_text
from assay.grammar.lazy_dataclass import dataclass


@dataclass(slots=True, eq=False)
class Units:
    """All units of a spec; ``by_prefix`` holds the canonical ones, the top module's first."""

    tree: ModuleTree
    slots: Slots
    bindings: Bindings
    diagnostics: Diagnostics
    by_prefix: dict[str, Unit] = field(default_factory=dict)
    at_index: dict[tuple[str, kernel.Expr], Unit] = field(default_factory=dict)
    _shared: dict[ModuleFile, str] = field(default_factory=dict)

    def build(self) -> Unit:
        """Make every unit; returns the top module's."""
        self._shared = shared_modules(self.tree)
        return self._make(self.tree.top, "", {}, None, canonical=True)

    @property
    def shared(self) -> Mapping[ModuleFile, str]:
        """The prefixes of the modules with a shared instance; known after ``build``."""
        return self._shared

    def canonical(self) -> tuple[Unit, ...]:
        """Every unit once."""
        return tuple(self.by_prefix.values())

    def unit(self, prefix: str, index: kernel.Expr | None) -> Unit:
        """The unit with that prefix; of an array, the one at that index."""
        canonical = self.by_prefix[prefix]
        if index is None or canonical.index is None or canonical.index.expr == index:
            return canonical
        root = self.by_prefix[canonical.index.root]
        self._instance_at(root, index)
        return self.at_index[prefix, index]

    def _make(
        self,
        module: ModuleFile,
        prefix: str,
        given: Mapping[str, Supplied],
        index: ArrayIndex | None,
        *,
        canonical: bool,
    ) -> Unit:
        own = OwnNames(self.diagnostics)
        uses = [d for d in module.tree.declarations if isinstance(d, syntax.Use) and str(d.path) in module.imports]
        tables: list[Mapping[str, object]] = []
        # The list is filled below: a scope must exist before the modules that it uses are made.
        used = UsedNames(tables)  # type: ignore[arg-type]
        unit = Unit(module, prefix, own, Scope(module.name, own, used, for_log=self.bindings.from_log), index)
        if canonical:
            self.by_prefix[prefix] = unit
        elif index is not None:
            self.at_index[prefix, index.expr] = unit
        # Of two equal names the first that is declared keeps its meaning. So modules come first, then parameters.
        for use in uses:
            self._use(use, unit, tables)
        tables.extend(declare_parameters(unit, given, self.slots, self.bindings, self._top(unit)))
        declare_names(unit, self.diagnostics)
        for declaration in module.tree.declarations:
            if isinstance(declaration, syntax.Instance) and str(declaration.path) in module.imports:
                self._instance(declaration, unit, canonical)
        return unit

    def _top(self, unit: Unit) -> Unit:
        return self.by_prefix.get("", unit)

    def _use(self, use: syntax.Use, unit: Unit, tables: list[Mapping[str, object]]) -> None:
        module = unit.module.imports[str(use.path)]
        prefix = self._shared[module]
        # Whoever comes first makes the one instance that all users share.
        shared = self.by_prefix.get(prefix) or self._make(module, prefix, {}, None, canonical=True)
        name = use.alias or use.path.parts[-1]
        unit.own.declare(name, "module", lambda: ModuleEntity(shared.scope, name.span))
        tables.append(ExportedNames(shared.own, shared.used_modules))

    def _instance(self, declaration: syntax.Instance, owner: Unit, canonical: bool) -> None:
        module = owner.module.imports[str(declaration.path)]
        self._check_bindings(declaration, module)
        if declaration.index is None:
            given = _supplied(declaration, owner.scope)
            inner = self._make(
                module, f"{owner.prefix}{declaration.name.text}.", given, owner.index, canonical=canonical
            )
            owner.own.declare(declaration.name, "instance", lambda: ModuleEntity(inner.scope, declaration.name.span))
        # A variable of an array is a map from one index: there is no place for a second one.
        elif owner.index is not None:
            what = "an array of instances cannot stand inside an array of instances"
            self.diagnostics.error(
                "E316", declaration.name.span, what, "make it one array over a record of both indices"
            )
        else:
            self._array(declaration, declaration.index, owner, module)

    def _array(self, declaration: syntax.Instance, field_: syntax.Field, owner: Unit, module: ModuleFile) -> None:
        type_ = elaborate_type(field_.type, owner.scope, self.diagnostics)
        if index_values(type_) is None and not mentions(type_, ErrorType):
            what = f"{type_text(type_)} cannot index an array of instances"
            self.diagnostics.error(
                "E317",
                field_.type.span,
                what,
                "an index is an element of a set parameter, a boolean, a range, or a plain enum",
            )
            type_ = ERROR
        prefix = f"{owner.prefix}{declaration.name.text}."
        # Where actions and properties of the array are made, this name is taken first. So no other local gets it.
        local = kernel.Local(type_, field_.name.text, span=field_.name.span)
        index = ArrayIndex(field_.name.text, type_, local, prefix)
        root = self._make(
            module, prefix, _supplied(declaration, _with_index(owner.scope, index, field_)), index, canonical=True
        )
        root.array = (declaration, owner)
        # A unit is made for an index when a member is first used there: few of many indices ever occur in a spec.
        entity = ArrayEntity(type_, partial(self._scope_at, root), declaration.name.span)
        owner.own.declare(declaration.name, "instance", lambda: entity)

    def _scope_at(self, root: Unit, index: kernel.Expr) -> Scope:
        return self._instance_at(root, index).scope

    def _instance_at(self, root: Unit, expr: kernel.Expr) -> Unit:
        """The unit of an array at one index, made once for each index expression."""
        # Places take no part in the equality of expressions. So `r[b]` written twice in an action is one unit.
        if (root.prefix, expr) not in self.at_index:
            assert root.array is not None
            assert root.index is not None
            declaration, owner = root.array
            index = ArrayIndex(root.index.name, root.index.type, expr, root.prefix)
            given = _supplied(declaration, _with_index(owner.scope, index, declaration.index))
            self._make(root.module, root.prefix, given, index, canonical=False)
        return self.at_index[root.prefix, expr]

    def _check_bindings(self, declaration: syntax.Instance, module: ModuleFile) -> None:
        """Check that an instance binds parameters that the module has, each once."""
        known = {d.name.text for d in module.tree.declarations if isinstance(d, syntax.Param)}
        first: dict[str, syntax.Binding] = {}
        for binding in declaration.bindings:
            name = str(binding.name)
            if name not in known:
                guess = did_you_mean(name, known)
                offer = f"its parameters are {', '.join(sorted(known))}" if known else "it has no parameters"
                advice = f"did you mean `{guess}`?" if guess else offer
                self.diagnostics.error(
                    "E306", binding.name.span, f"module `{module.name}` has no parameter `{name}`", advice
                )
            elif name in first:
                note = Note("first bound here", first[name].name.span)
                self.diagnostics.error("E309", binding.name.span, f"`{name}` is bound twice in this instance", note)
            first.setdefault(name, binding)


def _supplied(declaration: syntax.Instance, scope: Scope) -> dict[str, Supplied]:
    return {str(binding.name): Supplied(binding.value, scope) for binding in declaration.bindings}


def _with_index(scope: Scope, index: ArrayIndex, declared: syntax.Field | None) -> Scope:
    assert declared is not None
    return scope.bind(index.name, ValueEntity(index.expr, declared.name.span))
