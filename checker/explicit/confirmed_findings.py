"""What an engine found, as the reference evaluator confirms it: for each property the first place that decides it.

An engine says where something is to be found; the finding is made here, by evaluating every property that is still open
at that place. The oracle keeps its own account of its findings (``checker/reference/property_monitor.py``): only the
evaluator is common to both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from assay.checker.interpreter.actions.action import ActionMeaning, Arguments
from assay.checker.interpreter.actions.outcome import Stuck
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.property_meaning import PropertyMeaning, property_meaning
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.options import SearchOptions
from assay.checker.refinement.mapping import BeyondError, OutsideError, Refined
from assay.checker.report import State, Step
from assay.checker.results.show_instance import show_initial, show_instance
from assay.checker.search_interface.finding import DEADLOCK, DEFINED, PropertyFinding
from assay.grammar.diagnostics.diagnostic import Span

EVALUATED = {"invariant", "lemma", "reachable", "transition"}
"""The kinds of properties that are decided by their value in a state or on a step."""


class ConfirmedFindings:
    """The decided properties by name in ``found``, those without value somewhere in ``undefined``, undecidable
    refinements in ``beyond``.

    A property is evaluated until it is decided, and not after that. One that has no value at a place is looked at again
    at later places.
    """

    def __init__(self, model: Model, options: SearchOptions) -> None:
        self.found: dict[str, PropertyFinding] = {}
        self.undefined: dict[str, PropertyFinding] = {}
        self.beyond: dict[str, PropertyFinding] = {}
        self.refinements = {r.name: Refined(model, r) for r in model.kernel.refinements if options.selects(r.name)}
        selected = [p for p in model.kernel.properties if p.kind in EVALUATED and options.selects(p.name)]
        meanings = [property_meaning(each, model.scope) for each in selected]
        self._wanted = [each for each in meanings if each.node.kind == "reachable"]
        self._of_states = [each for each in meanings if each.node.kind in {"invariant", "lemma"}]
        self._of_steps = {each.node.name: each for each in meanings if each.node.kind == "transition"}
        self.asks_steps = bool(self._of_steps)
        """Whether any property is one of steps."""
        self._init = model.kernel.init
        self._ends = [(each.label, model.meaning(each.condition)) for each in model.kernel.terminal]

    @property
    def violated(self) -> set[str]:
        """The names of what is violated: all that was decided, but for what was to be reached."""
        return self.found.keys() - {each.node.name for each in self._wanted}

    # ---------------------------------------------------------------------------------------- confirm at a place

    def confirm_state(self, number: int, state: State) -> None:
        """Evaluate the open invariants, lemmas and reachables in a state, in this order."""
        frame, place = Frame(state), PropertyFinding(number)
        self._evaluate(self._of_states, frame, place, decided=False)
        # After the invariants, as in the reference search: the order decides what is reported as undefined first.
        if self._wanted:
            self._evaluate(self._wanted, frame, place, decided=True)

    def confirm_step(self, number: int, state: State, step: Step) -> None:
        """Evaluate the open transition properties on a step from a state."""
        self._evaluate(self._of_steps.values(), Frame(step.state, state), PropertyFinding(number, step), decided=False)

    def _evaluate(
        self, properties: Iterable[PropertyMeaning], frame: Frame, place: PropertyFinding, *, decided: bool
    ) -> None:
        """Note which properties are false here, or (``decided``) true."""
        for each in properties:
            name = each.node.name
            if name in self.found:
                continue
            try:
                conjunct = each.first_false(frame)
            except Undefined as undefined:
                self._note_without_value(name, place, undefined, f"{each.node.kind} `{name}`")
                continue
            # An invariant is decided where some conjunct is false, a `reachable` where none is.
            if decided == (conjunct is None):
                self.found[name] = replace(place, conjunct=conjunct)

    def confirm_abstract_start(self, number: int, state: State) -> None:
        """See whether an initial state is one of each refined module."""
        place = PropertyFinding(number)
        self._confirm_refined(place, lambda refined: refined.begins_well(state))

    def confirm_abstract_step(self, number: int, state: State, step: Step) -> None:
        """See whether a step from a state is one of each refined module."""
        self._confirm_refined(PropertyFinding(number, step), lambda refined: refined.goes_well(state, step))

    def _confirm_refined(self, place: PropertyFinding, holds: Callable[[Refined], bool]) -> None:
        for name, refined in self.refinements.items():
            if name in self.found:
                continue
            try:
                is_refined = holds(refined)
            # No abstract state has such a value, which is a violation. One beyond the size of the abstract model leaves
            # it open.
            except OutsideError:
                is_refined = False
            except BeyondError as error:
                self.beyond.setdefault(name, replace(place, undefined=str(error)))
                continue
            except Undefined as undefined:
                self._note_without_value(name, place, undefined, f"the mapping of `{name}`")
                continue
            if not is_refined:
                self.found[name] = place

    def is_terminal(self, number: int, state: State) -> bool:
        """Whether the system may stop in a state; a terminal condition without value is noted, and is none that
        holds."""
        frame = Frame(state)
        for label, holds in self._ends:
            try:
                if holds(frame):
                    return True
            except Undefined as undefined:
                self._note(number, undefined.message, undefined.span, f"terminal `{label}`")
        return False

    def confirm_deadlock(self, number: int, state: State) -> None:
        """Note a state without steps, unless the system may stop in it."""
        if not self.is_terminal(number, state):
            self.note_deadlock(number)

    # -------------------------------------------------------------------------------------- a decided property again

    def is_of_steps(self, name: str) -> bool:
        """Whether a property is one of steps: a transition property or a refinement."""
        return name in self._of_steps or name in self.refinements

    def violation_in(self, name: str, number: int, state: State) -> PropertyFinding | None:
        """How an invariant or lemma is false in a state; None if it holds there, or has no value (which violates
        ``defined`` alone)."""
        watched = next(each for each in self._of_states if each.node.name == name)
        return _false_at(watched, Frame(state), PropertyFinding(number))

    def decided_in(self, name: str, number: int, state: State) -> PropertyFinding | None:
        """How an invariant or lemma is false in a state, or a reachable true; else None, as ``violation_in``."""
        wanted = next((each for each in self._wanted if each.node.name == name), None)
        if wanted is None:
            return self.violation_in(name, number, state)
        try:
            return PropertyFinding(number) if wanted.first_false(Frame(state)) is None else None
        except Undefined:
            return None

    def violation_on(self, name: str, number: int, state: State, step: Step) -> PropertyFinding | None:
        """How a step from a state violates a transition property or a refinement; None if it does not, or that is not
        known."""
        place = PropertyFinding(number, step)
        if name not in self.refinements:
            return _false_at(self._of_steps[name], Frame(step.state, state), place)
        try:
            return None if self.refinements[name].goes_well(state, step) else place
        except OutsideError:
            return place
        except (BeyondError, Undefined):
            return None

    # ------------------------------------------------------------------------------------------------ note

    def note_undefined(self, finding: PropertyFinding) -> None:
        """Remember what violates ``defined``, if it is the first."""
        self.found.setdefault(DEFINED, finding)

    def note_stuck(self, number: int, action: ActionMeaning, arguments: Arguments, stuck: Stuck) -> None:
        """Remember an instance of an action that has no value in a state, if nothing was undefined before."""
        shown = show_instance(action.node, arguments, stuck.picks)
        self._note(number, stuck.message, stuck.span, f"the action `{shown}`")

    def note_stuck_initial(self, stuck: Stuck) -> None:
        """Remember that an initial state has no value, if nothing was undefined before."""
        self._note(-1, stuck.message, stuck.span, f"the {show_initial(self._init, stuck.picks)}")

    def note_deadlock(self, number: int) -> None:
        """Remember a state in which the system must stop and may not, if it is the first."""
        self.found.setdefault(DEADLOCK, PropertyFinding(number))

    def _note(self, number: int, message: str, span: Span | None, subject: str) -> None:
        self.note_undefined(PropertyFinding(number, undefined=message, span=span, subject=subject))

    def _note_without_value(self, name: str, place: PropertyFinding, undefined: Undefined, subject: str) -> None:
        # Noted twice: the property has no value here, and that alone violates `defined`.
        finding = replace(place, undefined=undefined.message, span=undefined.span, subject=subject)
        self.undefined.setdefault(name, finding)
        self.note_undefined(finding)


def _false_at(watched: PropertyMeaning, frame: Frame, place: PropertyFinding) -> PropertyFinding | None:
    try:
        conjunct = watched.first_false(frame)
    except Undefined:
        return None
    return None if conjunct is None else replace(place, conjunct=conjunct)
