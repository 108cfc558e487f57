"""``refines``: what can be checked of a refinement without running it.

The abstract module exists and its variables and actions are mapped; the expressions are well formed over this module's state.
Whether the mapping is a refinement is for an engine to say: the kernel keeps the property's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics import Diagnostics, Note, Span
from assay.grammar.elaborate.context import Context, Fresh
from assay.grammar.elaborate.expressions import elaborate, elaborate_expression
from assay.grammar.elaborate.locals import declare
from assay.grammar.elaborate.modules import ModuleFile
from assay.grammar.elaborate.references import action_named
from assay.grammar.elaborate.unit import Unit
from assay.grammar.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Refinements:
    """Makes the refinement properties of the top module."""

    unit: Unit
    diagnostics: Diagnostics

    def elaborate(self) -> Iterator[kernel.Property]:
        """One property for each ``refines``."""
        for declaration in self.unit.declared(syntax.Refines):
            abstract = self.unit.module.imports.get(str(declaration.path))
            if abstract is not None:
                self._check_variables(declaration, abstract)
                for mapping in declaration.actions:
                    self._check_action(mapping, abstract)
            yield kernel.Property(f"refines {declaration.path}", "refinement", (), None, span=declaration.span)

    def _check_variables(self, declaration: syntax.Refines, abstract: ModuleFile) -> None:
        wanted = {variable.name.text for variable in variables_of(abstract)}
        first: dict[str, syntax.Binding] = {}
        for binding in declaration.variables:
            name = str(binding.name)
            if name not in wanted:
                self._unknown(binding.name.span, name, wanted, "state variable", abstract)
            elif name in first:
                note = Note("first mapped here", first[name].span)
                self.diagnostics.error("E511", binding.name.span, f"`{name}` is mapped twice", note)
            first.setdefault(name, binding)
            elaborate_expression(binding.value, self.unit.scope, self.diagnostics, Fresh())
        missing = [name for name in wanted if name not in first]
        if missing:
            names = ", ".join(f"`{name}`" for name in sorted(missing))
            what = f"the refinement does not say what {names} of `{abstract.name}` is"
            self.diagnostics.error(
                "E512", declaration.path.span, what, "map every abstract variable: `name = expression`"
            )

    def _check_action(self, mapping: syntax.ActionMapping, abstract: ModuleFile) -> None:
        scope, fresh = self.unit.scope, Fresh()
        function, arguments = _call(mapping.action)
        entity = action_named(function, scope, self.diagnostics)
        if entity is None:
            return
        if len(arguments) != len(entity.parameters):
            what = f"`{entity.name}` has {len(entity.parameters)} parameters, {len(arguments)} names given"
            self.diagnostics.error("E510", mapping.action.span, what)
            return
        for argument, (_, type_) in zip(arguments, entity.parameters, strict=True):
            if isinstance(argument.value, syntax.Ref) and argument.name is None:
                _, scope = declare(argument.value.name, type_, Context(scope, self.diagnostics, fresh, elaborate))
            else:
                self.diagnostics.error(
                    "E510", argument.span, "on the left side, each argument is a new name for a parameter"
                )
        if mapping.abstract is None:
            return
        target, values = _call(mapping.abstract)
        counts = {action.name.text: len(action.parameters) for action in actions_of(abstract)}
        name = str(target)
        if name not in counts:
            self._unknown(target.span, name, set(counts), "action", abstract)
        elif counts[name] != len(values):
            what = f"`{name}` of `{abstract.name}` has {counts[name]} parameters, {len(values)} arguments given"
            self.diagnostics.error("E510", mapping.abstract.span, what)
        for value in values:
            elaborate_expression(value.value, scope, self.diagnostics, fresh)

    def _unknown(self, span: Span, name: str, known: set[str], kind: str, abstract: ModuleFile) -> None:
        guess = did_you_mean(name, known)
        offer = f"it has {', '.join(sorted(known))}" if known else f"it has no {kind}s"
        advice = f"did you mean `{guess}`?" if guess else offer
        self.diagnostics.error("E510", span, f"`{abstract.name}` has no {kind} `{name}`", advice)


def variables_of(module: ModuleFile) -> Iterator[syntax.StateVariable]:
    """The variables of a file that are no ghosts."""
    for declaration in module.tree.declarations:
        if isinstance(declaration, syntax.State):
            yield from (variable for variable in declaration.variables if not variable.ghost)


def actions_of(module: ModuleFile) -> Iterator[syntax.Action | syntax.JointAction]:
    """The actions of a file."""
    for declaration in module.tree.declarations:
        if isinstance(declaration, syntax.Action | syntax.JointAction):
            yield declaration


def _call(expr: syntax.Expr) -> tuple[syntax.Path, tuple[syntax.Arg, ...]]:
    """An action as written: its dotted name and the arguments."""
    match expr:
        case syntax.Call(function=function, arguments=arguments):
            return _path(function), arguments
        case _:
            return _path(expr), ()


def _path(expr: syntax.Expr) -> syntax.Path:
    match expr:
        case syntax.Attr(base=base, name=name):
            return syntax.Path((*_path(base).parts, name), span=expr.span)
        case syntax.Ref(name=name):
            return syntax.Path((name,), span=expr.span)
        case _:
            return syntax.Path((syntax.Name("?", span=expr.span),), span=expr.span)
