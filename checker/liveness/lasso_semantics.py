"""The meaning of temporal formulas on one lasso-shaped run, by their definitions and the reference evaluator, without
automata.

It judges every counterexample, so that a mistake in the tableau or the product cannot reach a user.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from assay.checker.interpreter.actions.outcome import Cut, Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.enumerate_set import listing
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.liveness.event_values import Fair, FairnessEvent, Happening
from assay.checker.liveness.fairness_events import events_per, fairness
from assay.checker.liveness.translate import is_temporal
from assay.checker.report import State, Trace
from assay.grammar import kernel as k
from assay.grammar.values import Value

Bound = Mapping[str, Value]


class Run:
    """An infinite run, given by a trace with a loop. Its moments are numbered, and the last one is followed by that of
    the loop."""

    def __init__(self, model: Model, trace: Trace) -> None:
        assert trace.loop is not None
        self.model = model
        self.trace = trace
        states = [step.state for step in trace.steps]
        # A trace ends in the state in which its loop begins, and here that state stands once. A run that stops has it
        # once already.
        self.states = states if trace.loop == len(states) - 1 else states[:-1]
        self.loop = trace.loop

    def after(self, at: int) -> int:
        """The moment after another."""
        return at + 1 if at + 1 < len(self.states) else self.loop

    def onwards(self, at: int) -> Iterator[int]:
        """The moments from one on, each once, in their order."""
        yield from range(at, len(self.states))
        # From a moment inside the loop, the moments before it in the loop come again.
        yield from range(self.loop, min(at, len(self.states)))

    @property
    def repeated(self) -> range:
        """The moments that recur infinitely often."""
        return range(self.loop, len(self.states))

    @property
    def stops(self) -> bool:
        """Whether the run finally stays in one state."""
        return len({self.states[at] for at in self.repeated}) == 1

    # ------------------------------------------------------------------------------------------------- events

    def is_enabled(self, event: Happening, at: int, *, cut: bool = False) -> bool:
        """Whether some instance could change the state; with ``cut`` also whether only a bound or a capacity prevents
        one."""
        state = self.states[at]
        return any(
            (isinstance(outcome, Successor) and outcome.state != state) or (cut and isinstance(outcome, Cut))
            for outcome in self._outcomes(event, state)
        )

    def occurs(self, event: Happening, at: int) -> bool:
        """Whether the step after a moment is an occurrence of the event (docs/design/fairness-occurrence.md)."""
        state, then = self.states[at], self.states[self.after(at)]
        return state != then and any(
            isinstance(outcome, Successor) and outcome.state == then for outcome in self._outcomes(event, state)
        )

    def _outcomes(self, event: Happening, state: State) -> Iterator[object]:
        for each in event.members:
            action, fixed = self.model.actions[each.action], dict(each.fixed)
            wanted = [fixed.get(at) for at in range(len(action.names))]
            for arguments in action.matching(wanted, [at in fixed for at in range(len(action.names))]):
                yield from action.outcomes(state, arguments)

    def is_fair(self, condition: Fair) -> bool:
        """Whether the run satisfies a fairness condition; a cut event counts as enabled
        (docs/design/fairness-bounds.md)."""
        if any(self.occurs(condition.event, at) for at in self.repeated):
            return True
        able = [self.is_enabled(condition.event, at, cut=True) for at in self.repeated]
        return not any(able) if condition.strong else not all(able)

    def unfair(self) -> list[Fair]:
        """The fairness conditions of the model that the run violates."""
        return [each for each in fairness(self.model) if not self.is_fair(each)]

    # ----------------------------------------------------------------------------------------------- formulas

    def first_false(self, node: k.Property) -> k.Conjunct | None:
        """The first conjunct that is false on the run. Raises ``Undefined`` if one is undefined."""
        return next((each for each in node.conjuncts if not self.holds(each.condition, 0, {})), None)

    def holds(self, expr: k.Expr, at: int, bound: Bound) -> bool:
        """Whether the formula holds at a moment. Raises ``Undefined`` if it is undefined."""
        if not is_temporal(expr):
            return bool(self._value(expr, at, bound))
        match expr:
            case k.Not(_, operand):
                return not self.holds(operand, at, bound)
            case k.Logic(_, "and", parts):
                return all(self.holds(part, at, bound) for part in parts)
            case k.Logic(_, "or", parts):
                return any(self.holds(part, at, bound) for part in parts)
            case k.Logic(_, _, (premise, conclusion)):
                return not self.holds(premise, at, bound) or self.holds(conclusion, at, bound)
            case k.Quantified(_, kind, binder, over, body):
                values = listing(over, self.model.scope)(self._frame(at, bound))
                decide = all if kind == "forall" else any
                return decide(self.holds(body, at, {**bound, binder.name: value}) for value in values)
            case k.LetIn(_, binder, value, body):
                return self.holds(body, at, {**bound, binder.name: self._value(value, at, bound)})
            case k.IfThenElse(_, condition, then, otherwise):
                return self.holds(then if self.holds(condition, at, bound) else otherwise, at, bound)
            case k.ActionAtom():
                return self._atom(expr, at, bound)
            case k.Temporal():
                return self._temporal(expr, at, bound)
            case _:
                raise AssertionError(f"{expr.span}: a temporal formula inside {type(expr).__name__}")

    def _temporal(self, expr: k.Temporal, at: int, bound: Bound) -> bool:
        match expr.op, expr.operands:
            case "always", (operand,):
                return all(self.holds(operand, each, bound) for each in self.onwards(at))
            case "eventually", (operand,):
                return any(self.holds(operand, each, bound) for each in self.onwards(at))
            case "until", (left, right):
                return self._until(left, right, at, bound)
            case _, (premise, conclusion):
                return all(
                    not self.holds(premise, each, bound)
                    or any(self.holds(conclusion, later, bound) for later in self.onwards(each))
                    for each in self.onwards(at)
                )
            case _:
                raise AssertionError(expr)

    def _until(self, left: k.Expr, right: k.Expr, at: int, bound: Bound) -> bool:
        # After every moment was seen once, nothing new comes: the right operand never holds then.
        for each in self.onwards(at):
            if self.holds(right, each, bound):
                return True
            if not self.holds(left, each, bound):
                return False
        return False

    def _atom(self, atom: k.ActionAtom, at: int, bound: Bound) -> bool:
        given = atom.arguments or ()
        fixed = tuple((i, self._value(each, at, bound)) for i, each in enumerate(given) if each is not None)
        event = FairnessEvent(atom.action, fixed)
        return self.is_enabled(event, at) if atom.op == "enabled" else self.occurs(event, at)

    def _value(self, expr: k.Expr, at: int, bound: Bound) -> Value:
        value: Value = self.model.meaning(expr)(self._frame(at, bound))
        return value

    def _frame(self, at: int, bound: Bound) -> Frame:
        return Frame(self.states[at], (), dict(bound))

    # ------------------------------------------------------------------------------------------------- advice

    def missing_fairness(self) -> Iterator[tuple[FairnessEvent, bool, tuple[str, ...]]]:
        """Events whose fairness would rule this run out: the event, whether it must be strong, and its ``per``
        parameters.

        For each action the weakest such condition: for some instance, else for each value of one parameter.
        """
        for action in self.model.steps:
            for names in ((), *((name,) for name in action.names)):
                found = self._missing(action.node, names)
                if found is not None:
                    yield (*found, names)
                    break

    def _missing(self, action: k.Action, names: tuple[str, ...]) -> tuple[FairnessEvent, bool] | None:
        events = list(events_per(self.model, action, names))
        for strong in (False, True):
            for event in events:
                if not self.is_fair(Fair(event, strong)):
                    return event, strong
        return None
