"""The stepper: initial states, possible and refused steps, expressions, and a path with undo and redo."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from assay.checker.explain import explain, what_changed
from assay.checker.interpreter.actions.action import ActionMeaning, Arguments
from assay.checker.interpreter.actions.outcome import Cut, Stuck, Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.recursion_limit import each_deep
from assay.checker.interpreter.values.show import show_value
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.report import Explanation, State, Step, Trace
from assay.checker.results.deadlock_reason import describe_guard
from assay.checker.results.show_instance import show_initial, show_instance
from assay.checker.saved_traces.replay import replay
from assay.checker.saved_traces.saved_trace import SavedTrace, trace_from_json, trace_to_json
from assay.checker.saved_traces.trace_file import read_trace
from assay.checker.stepper.split_call import NoSuchStepError, split_call, split_picks
from assay.checker.stepper.steps import (
    EvaluatedExpression,
    PossibleStep,
    PropertyValue,
    RefusedGuard,
    RefusedStep,
)
from assay.grammar import kernel as k
from assay.grammar.diagnostics.suggest import did_you_mean
from assay.grammar.kernel.types import Type
from assay.grammar.load import Loaded, UnusableSpecError
from assay.grammar.values import Value

if TYPE_CHECKING:
    from assay.checker.stepper.expression_reader import ExpressionReader

Wanted = Mapping[str, Value]
"""Arguments by the names of an action's parameters; what is not named may be anything."""


MOST_PICKS = 10_000
"""Of so many combinations of picks the closest to being possible gives the reasons of a refusal."""

MOST_REFUSED = 1_000
"""Of so many instances the closest to being possible is the one that a refusal names: each is explained."""


class Stepper:
    """A path through a model, one step at a time.

    It begins in no state: ``begin`` takes an initial one. ``state`` is the last state of the path.
    """

    def __init__(self, loaded: Loaded, spec: str = "") -> None:
        self.loaded = loaded
        self.spec = spec or loaded.kernel.name
        self.model = Model(loaded.kernel)
        self._path: list[Step] = []
        self._undone: list[Step] = []
        self._reader: ExpressionReader | None = None
        self._expressions: dict[tuple[str, Type | None], k.Expr] = {}

    # ------------------------------------------------------------------------------------------------ the path

    @property
    def kernel(self) -> k.Kernel:
        """The kernel that is stepped through."""
        return self.loaded.kernel

    @property
    def state(self) -> State:
        """The state reached. Raises ``NoSuchStepError`` before ``begin``."""
        if not self._path:
            raise NoSuchStepError("no initial state is chosen yet")
        return self._path[-1].state

    @property
    def trace(self) -> Trace:
        """The path from its initial state."""
        return Trace(tuple(self._path))

    def initial_states(self) -> Iterator[PossibleStep]:
        """The initial states, lazily and in the order of the model; equal ones with other picks stand each by itself."""
        for outcome in self.model.init.outcomes():
            if isinstance(outcome, Successor):
                text = show_initial(self.kernel.init, outcome.picks)
                yield PossibleStep(Step(None, (), outcome.picks, outcome.state), text, ())

    def begin(self, number: int = 0) -> PossibleStep:
        """Begin a new path in the initial state of that number, counted from 0."""
        # `islice` refuses what is below zero or beyond the largest size.
        first = next(islice(self.initial_states(), number, None), None) if 0 <= number <= sys.maxsize else None
        if first is None:
            raise NoSuchStepError(f"the model has no initial state number {number}")
        self._path, self._undone = [first.step], []
        return first

    def take(self, step: PossibleStep) -> State:
        """Go on by a step that ``possible`` listed for this state; steps that were undone are forgotten."""
        self._path.append(step.step)
        # A new step begins another future; what was undone may be impossible in it.
        self._undone.clear()
        return step.state

    def stand_on(self, steps: Sequence[Step]) -> None:
        """Take a path that this stepper made before, or the end of one; it is not followed again."""
        self._path, self._undone = list(steps), []

    def undo(self) -> bool:
        """Go back by one step; False in an initial state."""
        if len(self._path) < 2:
            return False
        self._undone.append(self._path.pop())
        return True

    def redo(self) -> bool:
        """Take again the step that was undone last; False if there is none."""
        if not self._undone:
            return False
        self._path.append(self._undone.pop())
        return True

    def at(self, place: int) -> State:
        """Go back to the step at a place of the path, counted from 0; what came later can be redone."""
        if not 0 <= place < len(self._path):
            raise NoSuchStepError(f"the path has no step {place}")
        while len(self._path) > place + 1:
            self.undo()
        return self.state

    # --------------------------------------------------------------------------------------------------- steps

    def possible(self, action: str | None = None, wanted: Wanted | None = None) -> Iterator[PossibleStep]:
        """The steps that are possible, lazily and in the order of the model; only those of an action, if one is given.

        Steps that change nothing are listed too. The list is of this state, wherever the path goes meanwhile.
        """
        return (each for each in self.possible_with_pauses(action, wanted) if each is not None)

    def possible_with_pauses(
        self, action: str | None = None, wanted: Wanted | None = None
    ) -> Iterator[PossibleStep | None]:
        """The same with None after each instance and excluded pick, so that a search among very many can be left and gone
        on with."""
        # No generator itself: `self.state` is read when this is called, not when the first step is asked for.
        return each_deep(self.kernel, self._listed_possible(self.state, action, wanted))

    def _listed_possible(
        self, state: State, action: str | None, wanted: Wanted | None
    ) -> Iterator[PossibleStep | None]:
        for meaning, arguments in self._instances(action, wanted):
            for outcome in meaning.each_outcome(state, arguments):
                if isinstance(outcome, Successor):
                    yield self._possible(state, meaning, arguments, outcome)
                else:
                    yield None
            yield None

    def refused(self, action: str | None = None, wanted: Wanted | None = None) -> Iterator[RefusedStep]:
        """The instances that are not possible, lazily, each with the lines that refuse it.

        Where an instance picks, the lines are those of the picks that come closest to being possible.
        """
        return (each for each in self.refused_with_pauses(action, wanted) if each is not None)

    def refused_with_pauses(
        self, action: str | None = None, wanted: Wanted | None = None
    ) -> Iterator[RefusedStep | None]:
        """The same with None for picks that were tried, so that a search among very many can be left."""
        return each_deep(self.kernel, self._listed_refused(self.state, action, wanted))

    def _listed_refused(self, state: State, action: str | None, wanted: Wanted | None) -> Iterator[RefusedStep | None]:
        for meaning, arguments in self._instances(action, wanted):
            # In the order in which they were met, each once: very many picks may hit the same bound.
            limits: dict[RefusedGuard, None] = {}
            for outcome in meaning.each_outcome(state, arguments):
                if isinstance(outcome, Successor):
                    yield None
                    break
                if outcome is not None:
                    limits[self._limit(meaning, outcome)] = None
                yield None
            else:
                yield self._refused(state, meaning, arguments, tuple(limits))

    def find(self, action: str, wanted: Wanted | None = None) -> PossibleStep:
        """The only possible step of an action with these arguments; raises ``NoSuchStepError`` saying why not."""
        # Two are enough to know that there are several.
        found = list(islice(self.possible(action, wanted), 2))
        if len(found) == 1:
            return found[0]
        if found:
            raise NoSuchStepError(f"several steps fit: {found[0].text}, {found[1].text} …")
        some = islice(self.refused(action, wanted), MOST_REFUSED)
        closest = min(some, key=lambda each: len(each.guards), default=None)
        if closest is None:
            raise NoSuchStepError(f"`{action}` has no instance with these arguments")
        reasons = "; ".join(f"{guard.label}: {guard.text}" for guard in closest.guards)
        raise NoSuchStepError(f"`{closest.text}` is not possible: {reasons}")

    def find_call(self, text: str) -> PossibleStep:
        """The step written as ``elect(b1)`` or as its whole text, ``elect(b1) with q = {b1}``; ``_`` is any argument.

        Raises ``NoSuchStepError``, and ``UnusableSpecError`` for an argument that is no expression.
        """
        name, written = split_picks(text)
        action, wanted = self.read_call(name)
        if not written:
            return self.find(action, wanted)
        found = next((each for each in self.possible(action, wanted) if each.text.endswith(f" with {written}")), None)
        if found is None:
            raise NoSuchStepError(f"`{text}` is not possible with these picks")
        return found

    def read_call(self, text: str) -> tuple[str, dict[str, Value]]:
        """The action of ``elect(b1, _)``, and the arguments by name that are given."""
        action, arguments = split_call(text)
        meaning = self.model.actions.get(action)
        if meaning is None or action not in self.kernel.next:
            guess = did_you_mean(action, self.kernel.next)
            raise NoSuchStepError(f"the model has no step `{action}`{f'; did you mean `{guess}`?' if guess else ''}")
        # No arguments at all stand for any.
        if len(arguments) not in (0, len(meaning.names)):
            raise NoSuchStepError(f"`{action}` has the parameters ({', '.join(meaning.names)})")
        given = zip(meaning.node.parameters, arguments, strict=False)
        return action, {p.binder.name: self._argument(each, p.binder.type) for p, each in given if each != "_"}

    def _argument(self, text: str, type_: Type) -> Value:
        try:
            # In the type of its parameter: alone, `none` and `{}` have no type, and `b1` is no `Broker?`.
            found = self.evaluate(text, expected=type_)
        except UnusableSpecError as mistake:
            # A total map is shown as `{k -> v, l -> w}`, which is a partial one where it is read.
            try:
                found = self.evaluate(text)
            except UnusableSpecError:
                raise mistake from None
        if found.undefined is not None:
            raise NoSuchStepError(f"`{text}` has no value: {found.undefined}")
        return found.value

    def _instances(self, action: str | None, wanted: Wanted | None) -> Iterator[tuple[ActionMeaning, Arguments]]:
        for meaning in self.model.steps:
            if action is None or meaning.node.name == action:
                given = wanted or {}
                if not given.keys() <= set(meaning.names):
                    strange = next(name for name in given if name not in meaning.names)
                    raise NoSuchStepError(f"`{meaning.node.name}` has no parameter `{strange}`")
                choice = [given.get(name) for name in meaning.names]
                # `given` by name, not by value: None is a value, that of `none`.
                matching = meaning.matching(choice, [n in given for n in meaning.names]) if given else meaning.instances
                yield from ((meaning, arguments) for arguments in matching)
        # Behind the loop, which finds nothing then; as a generator this raises when the first step is asked for.
        if action is not None and action not in self.kernel.next:
            raise NoSuchStepError(f"the model has no step `{action}`")

    def _possible(self, state: State, meaning: ActionMeaning, arguments: Arguments, outcome: Successor) -> PossibleStep:
        step = Step(meaning.node.name, _named(meaning, arguments), outcome.picks, outcome.state)
        text = show_instance(meaning.node, arguments, outcome.picks)
        return PossibleStep(step, text, tuple(what_changed(state, outcome.state, self.kernel)))

    def _refused(
        self, state: State, meaning: ActionMeaning, arguments: Arguments, limits: tuple[RefusedGuard, ...]
    ) -> RefusedStep:
        # A limit of the model first: only where all guards are true does one refuse.
        guards = limits or self._false_guards(state, meaning, arguments)
        named = _named(meaning, arguments)
        return RefusedStep(meaning.node.name, named, show_instance(meaning.node, arguments), guards)

    def _limit(self, meaning: ActionMeaning, outcome: Cut | Stuck) -> RefusedGuard:
        """What cuts an instance, or leaves it without a value, where all its guards are true."""
        if isinstance(outcome, Stuck):
            return RefusedGuard("undefined", "undefined", outcome.message, outcome.span)
        kind = "capacity" if outcome.label.startswith("capacity of ") else "bound"
        return RefusedGuard(kind, outcome.label, "a limit of the model", meaning.node.span)

    def _false_guards(self, state: State, meaning: ActionMeaning, arguments: Arguments) -> tuple[RefusedGuard, ...]:
        closest = min(islice(meaning.false_guards(state, arguments), MOST_PICKS), key=len, default=())
        bound = dict(zip(meaning.names, arguments, strict=True))
        guards = []
        for false in closest:
            label, text, span = describe_guard(false, self.loaded.sources)
            if isinstance(false.node, k.Guard) and false.undefined is None:
                guards.append(
                    RefusedGuard("guard", label, text, span, self._explained(state, meaning, false.node, bound))
                )
            else:
                kind = "pick" if false.undefined is None else "undefined"
                guards.append(RefusedGuard(kind, label, text, span))
        return tuple(guards)

    def _explained(
        self, state: State, meaning: ActionMeaning, guard: k.Guard, bound: dict[str, Value]
    ) -> Explanation | None:
        """The parts of a guard with their values; None where the guard reads a pick, whose value is not unique."""
        frame = Frame(state, (), dict(bound))
        for each in meaning.node.body:
            if each is guard:
                break
            if isinstance(each, k.Let):
                try:
                    frame.locals[each.binder.name] = self.model.meaning(each.value)(frame)
                except (Undefined, KeyError):
                    continue
        try:
            return explain(self.model, guard, frame, self.loaded.sources)
        # The guard mentions a name that only a pick binds.
        except KeyError:
            return None

    # --------------------------------------------------------------------------------------------- expressions

    def evaluate(self, text: str, place: int = -1, expected: Type | None = None) -> EvaluatedExpression:
        """The value of an expression in the state at a place of the path; ``old(…)`` reads the state before it. It is one
        of the ``expected`` type, if that is given.

        Raises ``UnusableSpecError`` for a text that is no expression of the spec.
        """
        # Watched expressions are asked again after each step; reading one takes longer than its value.
        expr = self._expressions.get((text, expected)) or self._read(text, expected)
        try:
            value: Value = self.model.meaning(expr)(self._frame(place))
        except Undefined as undefined:
            return EvaluatedExpression(expr.type, None, f"undefined: {undefined.message}", undefined.message)
        return EvaluatedExpression(expr.type, value, show_value(value, expr.type))

    def _read(self, text: str, expected: Type | None) -> k.Expr:
        if self._reader is None:
            from assay.checker.stepper.expression_reader import ExpressionReader  # noqa: PLC0415 - a tenth of a second

            self._reader = ExpressionReader(self.loaded)
        return self._expressions.setdefault((text, expected), self._reader.read(text, expected))

    def _frame(self, place: int = -1) -> Frame:
        """The state at a place of the path, and the one before; the initial state is also the one before it."""
        if not self._path:
            raise NoSuchStepError("no initial state is chosen yet")
        at = place % len(self._path)
        # `place` may be negative, as in Python: -1 is the last state.
        return Frame(self._path[at].state, self._path[max(at - 1, 0)].state)

    def properties(self) -> Iterator[PropertyValue]:
        """The invariants in the state, and the transition properties on the last step."""
        for each in self.kernel.properties:
            # In the initial state there is no step yet, which a transition could be about.
            if each.kind in ("invariant", "lemma") or (each.kind == "transition" and len(self._path) > 1):
                yield self._property(each)

    def _property(self, node: k.Property) -> PropertyValue:
        frame = self._frame()
        for conjunct in node.conjuncts:
            try:
                holds = bool(self.model.meaning(conjunct.condition)(frame))
            except Undefined:
                return PropertyValue(node.name, node.kind, None)
            if not holds:
                why = explain(self.model, conjunct, frame, self.loaded.sources)
                return PropertyValue(node.name, node.kind, False, why)
        return PropertyValue(node.name, node.kind, True)

    # --------------------------------------------------------------------------------------------------- files

    def save(self, path: Path, property_: str = "") -> None:
        """Write the path as a saved trace, which ``load`` and ``assay replay`` read."""
        data = trace_to_json(self.trace, self.kernel, self.spec, property_, self.loaded.overrides)
        path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    def load(self, path: Path) -> str | None:
        """Follow a saved trace. Returns None, or why it could not be followed to its end; the path goes up to there.

        Raises ``SpecError`` if the file is no saved trace.
        """
        return self.follow_saved(read_trace(path))

    def follow(self, trace: Trace) -> str | None:
        """Follow a path of this model, or of another version of its spec, as ``load`` does."""
        data = trace_to_json(trace, self.kernel, self.spec, "", self.loaded.overrides)
        return self.follow_saved(trace_from_json(data))

    def follow_saved(self, saved: SavedTrace) -> str | None:
        """Follow a saved trace that was read already, as ``load`` does."""
        followed = replay(self.kernel, saved)
        # The path stays as it was where not even the first state can be followed.
        if not followed.trace.steps:
            raise NoSuchStepError(followed.diverged or "the trace has no steps")
        self._path, self._undone = list(followed.trace.steps), []
        return followed.diverged


def _named(meaning: ActionMeaning, arguments: Arguments) -> tuple[tuple[str, Value], ...]:
    return tuple(zip(meaning.names, arguments, strict=True))
