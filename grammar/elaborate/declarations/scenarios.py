"""Scenarios: runs of named elements. A scenario with an element that this model lacks is kept, with the reason why it
cannot be run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.grammar import kernel, syntax
from assay.grammar.diagnostics.diagnostic import Diagnostics, Note, Span
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.elaborate.expressions.action_references import ActionReference
from assay.grammar.elaborate.expressions.dispatch import action_reference, elaborate_condition
from assay.grammar.elaborate.modules.module_instance import Unit
from assay.grammar.elaborate.scopes.fresh_names import Fresh
from assay.grammar.elaborate.scopes.rewrite import pieces
from assay.grammar.elaborate.scopes.scope import ActionEntity
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class StepReader:
    """The possible steps of a scenario or a trace clause. They are the kernel's actions, with those in the step
    relation, and those that a clause reports.
    """

    actions: Mapping[str, kernel.Action]
    next: tuple[str, ...]
    diagnostics: Diagnostics
    reported: frozenset[str] = frozenset()

    def check(self, entity: ActionEntity, span: Span) -> None:
        """Report an action that is not in the step relation: a run with it would be a run of another system."""
        if entity.name not in self.next:
            what = f"`{entity.name}` is not a step of the system"
            self.diagnostics.error("E503", span, what, Note("it is declared here", entity.span), "add it to `next:`")

    def check_observed(self, entity: ActionEntity, span: Span) -> None:
        """Warn of an observed action that is not in the step relation: results about the system do not cover it.

        No warning is given for an action that the clause reports where it occurs: its author knows that it is outside
        the system.
        """
        if entity.name not in self.next and entity.name not in self.reported:
            what = f"`{entity.name}` is observed in logs, but is not a step of the system, so checking never takes it"
            declared = Note("it is declared here", entity.span)
            self.diagnostics.warning(
                "E513",
                span,
                what,
                declared,
                "add it to `next:` if the properties are to hold with it, or say with `report` what it is",
            )

    def call(self, found: ActionReference, span: Span) -> kernel.ActionCall:
        """The kernel's call. Without parentheses every argument is any value."""
        given = found.arguments if found.arguments is not None else (None,) * len(found.entity.parameters)
        return kernel.ActionCall(found.entity.name, given, span=span)


@dataclass(frozen=True, slots=True)
class Scenarios:
    """Makes the kernel's scenarios. ``elements`` are names that some model or default gives to elements of sets."""

    unit: Unit
    steps: StepReader
    elements: frozenset[str]
    diagnostics: Diagnostics

    def elaborate(self) -> Iterator[kernel.Scenario]:
        """All scenarios of the top module."""
        for declaration in self.unit.declared(syntax.Scenario):
            missing = self._missing(declaration)
            made: tuple[kernel.Do | kernel.Refuse | kernel.Expect, ...] = ()
            if missing is None:
                made = tuple(self._steps(declaration))
            yield kernel.Scenario(declaration.name.text, made, declaration.doc, missing, span=declaration.span)

    def _missing(self, declaration: syntax.Scenario) -> str | None:
        """Why the scenario cannot be run in this model, if an element is missing."""
        for name in refs(declaration):
            # A name that no model and no default gives to an element is a mistake, which elaboration reports as
            # unknown.
            if name.text in self.elements and not self.unit.scope.find(name.text):
                return f"this model has no element `{name.text}`"
        return None

    def _steps(self, declaration: syntax.Scenario) -> Iterator[kernel.Do | kernel.Refuse | kernel.Expect]:
        scope = self.unit.scope.allowing(name_symmetric=True)
        fresh = Fresh()
        for step in declaration.steps:
            match step:
                case syntax.Do(action=action):
                    call = self._call(action, fresh)
                    if call is not None:
                        yield kernel.Do(call, span=step.span)
                case syntax.Refuse(action=action, label=label):
                    call = self._call(action, fresh)
                    if call is not None:
                        yield kernel.Refuse(call, self._label(call, label), span=step.span)
                case syntax.Expect(condition=condition):
                    found = elaborate_condition(condition, scope.allowing(enabled=True), self.diagnostics, fresh)
                    yield kernel.Expect(found.expr, span=step.span)
                case _:
                    raise AssertionError(f"{step.span}: a step that no scenario has")

    def _call(self, action: syntax.Expr, fresh: Fresh) -> kernel.ActionCall | None:
        scope = self.unit.scope.allowing(name_symmetric=True)
        found = action_reference(action, scope, self.diagnostics, fresh)
        if found is None:
            return None
        entity = found.entity
        self.steps.check(entity, action.span)
        # Without parentheses every argument would be any value, which a scenario has to say with `_`.
        if entity.parameters and not isinstance(action, syntax.Call):
            names = ", ".join(name for name, _ in entity.parameters)
            self.diagnostics.error("E504", action.span, f"`{entity.name}` needs its arguments here: ({names})")
        return self.steps.call(found, action.span)

    def _label(self, call: kernel.ActionCall, label: syntax.DottedName | None) -> str | None:
        """The label after ``by``: that of a ``when`` line of the action."""
        # After an error in its body an action may be missing here.
        if label is None or call.action not in self.steps.actions:
            return None
        guards = [s for s in self.steps.actions[call.action].body if isinstance(s, kernel.Guard)]
        kinds = {guard.label: guard.kind for guard in guards}
        name = str(label)
        # A bound is never the reason why a step is refused: outside of the model it may well happen.
        if kinds.get(name) == "bound":
            what = f"`{name}` is a bound: a limit of the model refuses nothing"
            self.diagnostics.error("E505", label.span, what, "name a `when` line")
        elif name not in kinds:
            labels = [guard.label for guard in guards if guard.kind == "when"]
            guess = did_you_mean(name, labels)
            known = f"its guards are {', '.join(labels)}" if labels else "it has no guards"
            what = f"`{call.action}` has no guard labelled `{name}`"
            self.diagnostics.error("E505", label.span, what, f"did you mean `{guess}`?" if guess else known)
        return name


def refs(node: object) -> Iterator[syntax.Name]:
    """Every plain name that occurs as an expression in a piece of syntax."""
    return (piece.name for piece in pieces(node) if isinstance(piece, syntax.Ref))
