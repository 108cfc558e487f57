"""The properties of a model, monitored state by state and step by step; for each, the first place where it
was decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.property_meaning import PropertyMeaning, property_meaning
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.options import SearchOptions
from assay.checker.refinement.mapping import BeyondError, OutsideError, Refined
from assay.checker.report import State, Step
from assay.checker.search_interface.finding import DEADLOCK, DEFINED, PropertyFinding
from assay.grammar import kernel as k
from assay.grammar.current_work import doing
from assay.grammar.identity_memo import IdentitySet


class Watch:
    """Looks at every new state and every step. ``found`` maps a property's name to its finding, ``undefined`` to one
    about an undefined value."""

    def __init__(self, model: Model, options: SearchOptions) -> None:
        self.found: dict[str, PropertyFinding] = {}
        self.undefined: dict[str, PropertyFinding] = {}
        self.evaluated = IdentitySet[k.Expr]()
        self.nonempty = IdentitySet[k.Expr]()
        self._model = model
        selected = [p for p in model.kernel.properties if options.selects(p.name)]
        self.invariants = [self._watched(p) for p in selected if p.kind in {"invariant", "lemma"}]
        self.transitions = [self._watched(p) for p in selected if p.kind == "transition"]
        self.reachables = [self._watched(p) for p in selected if p.kind == "reachable"]
        self.refinements = {r.name: Refined(model, r) for r in model.kernel.refinements if options.selects(r.name)}
        self.beyond: dict[str, PropertyFinding] = {}
        """Refinements that cannot be judged everywhere, because a mapped value exceeds what the abstract side models."""
        self._terminal = [(c, model.meaning(c.condition)) for c in model.kernel.terminal]

    def _watched(self, node: k.Property) -> PropertyMeaning:
        # Only properties record which quantifiers were empty: a guard claims nothing about the model.
        scope = replace(self._model.scope, evaluated=self.evaluated, nonempty=self.nonempty)
        return property_meaning(node, scope)

    def is_of_steps(self, name: str) -> bool:
        """Whether a property is about steps."""
        return any(watched.node.name == name for watched in self.transitions)

    def refines_badly(self, name: str, place: PropertyFinding, state: State) -> PropertyFinding | None:
        """The finding at a state or step that the refined module does not have, whether or not one was found before."""
        assert place.step is not None
        try:
            return None if self.refinements[name].goes_well(state, place.step) else place
        except OutsideError:
            return place
        except (BeyondError, Undefined):
            return None  # reported through ``beyond`` and ``undefined``

    def again(self, name: str, place: PropertyFinding, frame: Frame) -> PropertyFinding | None:
        """The finding at a place where a property is false, whether or not one was found before; None where it is not
        false."""
        watched = next(each for each in (*self.invariants, *self.transitions) if each.node.name == name)
        try:
            false = watched.first_false(frame)
        except Undefined:
            return None  # an undefined property violates `defined`, not itself
        return None if false is None else replace(place, conjunct=false)

    def see_state(self, number: int, state: State) -> None:
        """Check invariants, lemmas and reachables in a new state."""
        frame = Frame(state)
        for watched in self.invariants:
            if watched.node.name not in self.found:
                self._look(watched, frame, PropertyFinding(number), wanted=False)
        for watched in self.reachables:
            if watched.node.name not in self.found:
                self._look(watched, frame, PropertyFinding(number), wanted=True)

    def see_step(self, number: int, state: State, step: Step) -> None:
        """Check transition properties on a step from a state."""
        for watched in self.transitions:
            # A decided property costs nothing in later states, and its first place stays the one that is told.
            if watched.node.name not in self.found:
                self._look(watched, Frame(step.state, state), PropertyFinding(number, step), wanted=False)

    def see_initial(self, number: int, state: State) -> None:
        """Check that an initial state is initial in each refined module."""
        for name, refined in self.refinements.items():
            if name not in self.found:
                self._refine(name, PropertyFinding(number), lambda refined=refined: refined.begins_well(state))  # type: ignore[misc]

    def see_refined(self, number: int, state: State, step: Step) -> None:
        """Check that a step from a state is a step of each refined module."""
        for name, refined in self.refinements.items():
            if name not in self.found:
                place = PropertyFinding(number, step)
                self._refine(name, place, lambda refined=refined: refined.goes_well(state, step))  # type: ignore[misc]

    def _refine(self, name: str, place: PropertyFinding, holds: Callable[[], bool]) -> None:
        try:
            refined = holds()
        except BeyondError as beyond:
            self.beyond.setdefault(name, replace(place, undefined=str(beyond)))
        except OutsideError:
            self.found[name] = place
        except Undefined as undefined:
            self._note_no_value(name, place, undefined, f"the mapping of `{name}`")
        else:
            if not refined:
                self.found[name] = place

    def _note_no_value(self, name: str, place: PropertyFinding, undefined: Undefined, subject: str) -> None:
        finding = replace(place, undefined=undefined.message, span=undefined.span, subject=subject)
        # The first one counts in both maps. The property itself stays undecided: it is `defined` that is violated.
        self.undefined.setdefault(name, finding)
        self.found.setdefault(DEFINED, finding)

    def _look(self, watched: PropertyMeaning, frame: Frame, place: PropertyFinding, *, wanted: bool) -> None:
        name = watched.node.name
        doing(f"the {watched.node.kind} `{name}` was evaluated")
        try:
            false = watched.first_false(frame)
        except Undefined as undefined:
            self._note_no_value(name, place, undefined, f"{watched.node.kind} `{name}`")
            return
        if (false is None) is wanted:
            self.found[name] = replace(place, conjunct=false)

    def is_terminal(self, number: int, state: State) -> bool:
        """Whether the system may stop in this state."""
        frame = Frame(state)
        # Each line is an alternative of its own: one without a value keeps no other one from being true.
        for conjunct, holds in self._terminal:
            try:
                if holds(frame):
                    return True
            except Undefined as undefined:
                subject = f"terminal `{conjunct.label}`"
                self.note_undefined(
                    PropertyFinding(number, undefined=undefined.message, span=undefined.span, subject=subject)
                )
        return False

    def note_undefined(self, finding: PropertyFinding) -> None:
        """Keep a violation of ``defined``, if it is the first."""
        self.found.setdefault(DEFINED, finding)

    def note_deadlock(self, number: int) -> None:
        """Keep a state without successor, if it is the first."""
        self.found.setdefault(DEADLOCK, PropertyFinding(number))
