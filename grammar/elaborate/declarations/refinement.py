"""``refines``: the mapping of variables and actions, typed, with the abstract module as a kernel of its own.

An abstract variable of a module that both sides share is mapped to itself by default. Whether the mapping is a
refinement is for an engine to decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note, Span
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.elaborate.declarations.bare_action_names import action_named
from assay.grammar.elaborate.declarations.scenarios import StepReader
from assay.grammar.elaborate.expressions.dispatch import elaborate, elaborate_expression
from assay.grammar.elaborate.expressions.locals import declare
from assay.grammar.elaborate.modules.abstract_module import (
    Abstraction,
    Build,
    abstraction,
    names_of,
    prefixes_in_common,
)
from assay.grammar.elaborate.modules.find_parameters import find_slots
from assay.grammar.elaborate.modules.module_tree import ModuleFile, ModuleTree
from assay.grammar.elaborate.scopes.context import Context
from assay.grammar.elaborate.scopes.erroneous import erroneous
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.scope import Scope
from assay.grammar.elaborate.scopes.symbol_tables import LayeredNames
from assay.grammar.elaborate.types.coercion import convert
from assay.grammar.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from assay.grammar.elaborate.modules.module_instances import Units


@dataclass(frozen=True, slots=True)
class Refinements:
    """Makes the refinements of the top module."""

    units: Units
    steps: StepReader
    variables: tuple[kernel.Variable, ...]
    build: Build
    diagnostics: Diagnostics

    def elaborate(self) -> Iterator[kernel.Refinement]:
        """One for each ``refines`` whose mapping has no mistake."""
        top = self.units.by_prefix[""]
        for declaration in top.declared(syntax.Refines):
            module = top.module.imports.get(str(declaration.path))
            if module is None:
                continue
            given = _parameters(declaration, module)
            found = abstraction(module, given, self.units, self.build, declaration.path.span, self.diagnostics)
            if found is not None:
                mapping = Mapped(self, declaration, found, frozenset(given))
                yield mapping.refinement(top.scope)


def property_name(declaration: syntax.Refines) -> str:
    """The name under which a refinement is a property."""
    return f"refines {declaration.path}"


def _parameters(declaration: syntax.Refines, module: ModuleFile) -> dict[str, syntax.Binding]:
    """The bindings of parameters of the abstract module among those of its variables."""
    slots = find_slots(ModuleTree(module, {}, {}))
    return {str(binding.name): binding for binding in declaration.variables if slots.find(str(binding.name))}


@dataclass(frozen=True, slots=True)
class Mapped:
    """One refinement while it is elaborated; ``parameters`` are the names that are bound as parameters."""

    of: Refinements
    declaration: syntax.Refines
    abstract: Abstraction
    parameters: frozenset[str]
    first: dict[str, Span] = field(default_factory=dict)

    @property
    def diagnostics(self) -> Diagnostics:
        """The collector of mistakes."""
        return self.of.diagnostics

    @property
    def name(self) -> str:
        """The abstract module's name."""
        return self.abstract.kernel.name

    def refinement(self, scope: Scope) -> kernel.Refinement:
        """The refinement; it is complete only if no error was recorded."""
        # Names of the abstract module come last: a mapping's right side is an expression over this module's state.
        inside = replace(scope, used=LayeredNames(scope.used, names_of(self.abstract.units)))
        values = self._values(inside)
        actions = tuple(self._actions(inside))
        name = property_name(self.declaration)
        return kernel.Refinement(name, self.abstract.kernel, values, actions, span=self.declaration.span)

    # ------------------------------------------------------------------------------------------- variables

    def _values(self, scope: Scope) -> tuple[kernel.Expr, ...]:
        written = self._written()
        same = {variable.name: variable for variable in self.of.variables}
        common = prefixes_in_common(self.abstract.units, self.of.units)
        found: list[kernel.Expr] = []
        missing: list[str] = []
        for variable in self.abstract.kernel.variables:
            # What the mapping says comes first, also of a variable that both sides share.
            duplicate = same.get(_renamed(variable.name, common))
            if variable.name in written:
                value = written[variable.name].value
                found.append(elaborate_expression(value, scope, self.diagnostics, Fresh(), variable.type))
            elif duplicate is not None:
                # The ranges of its type may differ on the two sides, where parameters do.
                read = kernel.StateVar(duplicate.type, duplicate.name, span=self.declaration.span)
                found.append(convert(read, variable.type, self.diagnostics))
            else:
                missing.append(variable.name)
                found.append(erroneous(self.declaration.span))
        self._report_missing(missing)
        return tuple(found)

    def _written(self) -> Mapping[str, syntax.Binding]:
        known = [variable.name for variable in self.abstract.kernel.variables]
        written: dict[str, syntax.Binding] = {}
        for binding in self.declaration.variables:
            name = str(binding.name)
            if name in self.first:
                note = Note("first mapped here", self.first[name])
                self.diagnostics.error("E511", binding.name.span, f"`{name}` is mapped twice", note)
            elif name not in self.parameters and name not in known:
                self._unknown(binding.name.span, name, known, "state variable")
            self.first.setdefault(name, binding.name.span)
            written.setdefault(name, binding)
        return written

    def _report_missing(self, missing: list[str]) -> None:
        if missing:
            names = ", ".join(f"`{name}`" for name in sorted(missing))
            what = f"the refinement does not say what {names} of `{self.name}` is"
            advice = "map every abstract variable: `name = expression`"
            self.diagnostics.error("E512", self.declaration.path.span, what, advice)

    # --------------------------------------------------------------------------------------------- actions

    def _actions(self, scope: Scope) -> Iterator[kernel.ActionMapping]:
        first: dict[str, Span] = {}
        for mapping in self.declaration.actions:
            action, named = self._action(mapping, scope)
            if action is None:
                continue
            if action.name in first:
                note = Note("first mapped here", first[action.name])
                self.diagnostics.error("E511", mapping.action.span, f"`{action.name}` is mapped twice", note)
            first.setdefault(action.name, mapping.action.span)
            bound = self._parameters(mapping, action, named, scope)
            if bound is not None:
                yield self._mapping(mapping, action.name, *bound)

    def _action(
        self, mapping: syntax.ActionMapping, scope: Scope
    ) -> tuple[kernel.Action | None, tuple[syntax.Arg, ...]]:
        """The action that is mapped, and what its parameters are called."""
        function, arguments = _call(mapping.action)
        entity = action_named(function, scope, self.diagnostics)
        if entity is None:
            return None, ()
        # An action that is no step never happens, so to map it would say nothing.
        self.of.steps.check(entity, mapping.action.span)
        return self.of.steps.actions.get(entity.name), arguments

    def _parameters(
        self, mapping: syntax.ActionMapping, action: kernel.Action, named: tuple[syntax.Arg, ...], scope: Scope
    ) -> tuple[tuple[kernel.Local, ...], Scope, Fresh] | None:
        if len(named) != len(action.parameters):
            what = f"`{action.name}` has {len(action.parameters)} parameters, {len(named)} names given"
            advice = ["the index of an array of instances comes first"] if "." in action.name else []
            self.diagnostics.error("E510", mapping.action.span, what, *advice)
            return None
        fresh, locals_ = Fresh(), []
        for argument, parameter in zip(named, action.parameters, strict=True):
            if isinstance(argument.value, syntax.Ref) and argument.name is None:
                context = Context(scope, self.diagnostics, fresh, elaborate)
                local, scope = declare(argument.value.name, parameter.binder.type, context)
            elif isinstance(argument.value, syntax.Wildcard):
                local = kernel.Local(parameter.binder.type, fresh("_"), span=argument.span)
            else:
                what = "on the left side, each argument is a new name for a parameter, or `_`"
                self.diagnostics.error("E510", argument.span, what)
                return None
            locals_.append(local)
        return tuple(locals_), scope, fresh

    def _mapping(
        self,
        mapping: syntax.ActionMapping,
        action: str,
        parameters: tuple[kernel.Local, ...],
        scope: Scope,
        fresh: Fresh,
    ) -> kernel.ActionMapping:
        words = {each.word for each in mapping.counterparts if isinstance(each, syntax.Unnamed)}
        calls = [self._counterpart(e, scope, fresh) for e in mapping.counterparts if not isinstance(e, syntax.Unnamed)]
        return kernel.ActionMapping(
            action,
            parameters,
            tuple(call for call in calls if call is not None),
            stutters="stutter" in words,
            anything="any" in words,
            span=mapping.span,
        )

    def _counterpart(self, expr: syntax.Expr, scope: Scope, fresh: Fresh) -> kernel.ActionCall | None:
        # Read as text and not looked up: it names an action of the abstract module, and this one may have its name too.
        target, values = _call(expr)
        name, actions = str(target), {action.name: action for action in self.abstract.kernel.actions}
        if name not in actions:
            self._unknown(target.span, name, list(actions), "action")
            return None
        if name not in self.abstract.kernel.next:
            what = f"`{name}` is not among the steps of `{self.name}`"
            self.diagnostics.error("E526", target.span, what, "map to an action of its `next:`")
        parameters = actions[name].parameters
        if len(parameters) != len(values):
            what = f"`{name}` of `{self.name}` has {len(parameters)} parameters, {len(values)} arguments given"
            self.diagnostics.error("E510", expr.span, what)
            return None
        arguments = [
            None
            if isinstance(given.value, syntax.Wildcard)
            else elaborate_expression(given.value, scope, self.diagnostics, fresh, parameter.binder.type)
            for given, parameter in zip(values, parameters, strict=True)
        ]
        return kernel.ActionCall(name, tuple(arguments), span=expr.span)

    def _unknown(self, span: Span, name: str, known: list[str], kind: str) -> None:
        guess = did_you_mean(name, known)
        offer = f"it has {', '.join(sorted(known))}" if known else f"it has no {kind}s"
        advice = f"did you mean `{guess}`?" if guess else offer
        self.diagnostics.error("E510", span, f"`{self.name}` has no {kind} `{name}`", advice)


def _renamed(name: str, common: Mapping[str, str]) -> str:
    """The concrete name of a variable of the abstract side; the empty string if its module is not shared."""
    known = [prefix for prefix in common if name.startswith(prefix)]
    if not known:
        return ""
    # The longest one: below the prefix `log.` there may be an instance `log.epochs.`, which has a counterpart of its
    # own.
    prefix = max(known, key=len)
    return common[prefix] + name.removeprefix(prefix)


def _call(expr: syntax.Expr) -> tuple[syntax.DottedName, tuple[syntax.Arg, ...]]:
    """An action as written: its dotted name and the arguments."""
    match expr:
        case syntax.Call(function=function, arguments=arguments):
            return _path(function), arguments
        case _:
            return _path(expr), ()


def _path(expr: syntax.Expr) -> syntax.DottedName:
    match expr:
        case syntax.Attr(base=base, name=name):
            return syntax.DottedName((*_path(base).parts, name), span=expr.span)
        case syntax.Ref(name=name):
            return syntax.DottedName((name,), span=expr.span)
        case _:
            return syntax.DottedName((syntax.Name("?", span=expr.span),), span=expr.span)
