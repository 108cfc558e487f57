"""Scenarios: runs that must be possible, executed on the set of all states that the choices so far can lead to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from assay.checker.explain import explain
from assay.checker.interpreter.actions.action import ActionMeaning, Arguments
from assay.checker.interpreter.actions.outcome import Cut, Picks, Stuck, Successor
from assay.checker.interpreter.actions.outcome import Outcome as Result
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.print_kernel import Sources, expression_text
from assay.checker.report import Explanation, Outcome, PropertyResult, State, Step, Trace
from assay.checker.results.deadlock_reason import describe_guard
from assay.checker.results.show_instance import show_instance
from assay.checker.results.unsat_guards import causes
from assay.grammar import kernel as k
from assay.grammar.current_work import doing
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value


@dataclass(frozen=True, slots=True)
class ScenarioPath:
    """A state, and one path that led to it."""

    state: State
    step: Step
    before: ScenarioPath | None

    def trace(self) -> Trace:
        """The whole path."""
        steps: list[Step] = []
        at: ScenarioPath | None = self
        while at is not None:
            steps.append(at.step)
            at = at.before
        return Trace(tuple(reversed(steps)))


Front = dict[State, ScenarioPath]
"""All states that may be the current one."""


@dataclass(frozen=True, slots=True)
class ScenarioFailure:
    """Why no state passes a step."""

    reason: str
    explanation: Explanation | None = None


def check_scenario(model: Model, scenario: k.Scenario, sources: Sources) -> PropertyResult:
    """Whether some resolution of the choices runs the scenario to its end; otherwise the first step that none passes,
    and why.

    The remarks name the guards that refuse a call for which the scenario names none. They also name the guards of
    several steps that together make one impossible.
    """
    doing(f"the scenario `{scenario.name}` was run")
    runner = _Runner(model, sources)
    if scenario.inapplicable is not None:
        return _result(scenario, Outcome.VACUOUS, f"not checked: {scenario.inapplicable}")
    front: Front = {}
    for outcome in model.init.outcomes():
        if isinstance(outcome, Successor):
            front.setdefault(
                outcome.state, ScenarioPath(outcome.state, Step(None, (), outcome.picks, outcome.state), None)
            )
    # That there is no initial state is said by other results; the scenario itself is not to blame.
    if not front:
        return _result(scenario, Outcome.VACUOUS, "there is no initial state")
    # All of them: `causes` tries the steps again from the beginning.
    starts, remarks = frozenset(front), list[str]()
    for number, step in enumerate(scenario.steps, 1):
        passed, failure = runner.pass_step(step, front)
        if not passed:
            reason = f"step {number}, `{runner.text(step)}` ({step.span}): {failure.reason}"
            # The run up to the step that fails: `front` is still what the step before led to.
            trace = next(iter(front.values())).trace()
            remarks += runner.impossible(scenario.steps[:number], starts)
            return _result(scenario, Outcome.VIOLATED, reason, trace, failure.explanation, remarks)
        front = passed
        remarks += runner.refused_by(step, front)
    return _result(scenario, Outcome.HOLDS, None, next(iter(front.values())).trace(), remarks=remarks)


def _result(
    scenario: k.Scenario,
    outcome: Outcome,
    reason: str | None,
    trace: Trace | None = None,
    explanation: Explanation | None = None,
    remarks: Iterable[str] = (),
) -> PropertyResult:
    kind, span, unique = "scenario", scenario.span, tuple(dict.fromkeys(remarks))
    return PropertyResult(scenario.name, kind, outcome, span, reason, trace, explanation, remarks=unique)


@dataclass(frozen=True, slots=True)
class _Runner:
    model: Model
    sources: Sources

    def pass_step(self, step: k.Do | k.Refuse | k.Expect, front: Front) -> tuple[Front, ScenarioFailure]:
        """The states after the step, and why none passes if there is none."""
        match step:
            case k.Do(call):
                return self._do(call, front)
            case k.Refuse(call, label):
                return self._refuse(call, label, front)
            case k.Expect(condition):
                return self._expect(condition, front)
            case _:
                assert_never(step)

    def text(self, step: k.Do | k.Refuse | k.Expect) -> str:
        """The step in the notation of a spec."""
        match step:
            case k.Do(call):
                return self._call(call)
            case k.Refuse(call, label):
                return f"refuse {self._call(call)}" + ("" if label is None else f" by {label}")
            case k.Expect(condition):
                return f"expect {expression_text(condition, self.sources)}"
            case _:
                assert_never(step)

    def refused_by(self, step: k.Do | k.Refuse | k.Expect, front: Front) -> Iterator[str]:
        """The guards that refuse a call in all possible current states, where the scenario names none."""
        if isinstance(step, k.Refuse) and step.label is None:
            found = causes(self.model, [k.Do(step.call)], front, bounded=False)
            if found:
                yield f"`{self.text(step)}`: by {_listed(f'`{each.label}`' for each in found)}"

    def impossible(self, steps: Sequence[k.Do | k.Refuse | k.Expect], starts: Iterable[State]) -> Iterator[str]:
        """What makes the last step impossible, if guards of several steps do. For a ``refuse``, guards are not the only
        reason."""
        taken = [step for step in steps if not isinstance(step, k.Refuse)]
        # A `refuse` takes states out, which no removal of guards brings back.
        found = causes(self.model, taken, starts) if len(taken) == len(steps) else ()
        # Guards of one step alone are named by the reason itself.
        if len({each.step for each in found}) > 1:
            whole = {each.step: self.text(steps[each.step]) for each in found}
            parts = (f"`{each.label or 'expect'}` of step {each.step + 1}, `{whole[each.step]}`" for each in found)
            yield f"impossible by {_listed(parts)}"

    def _call(self, call: k.ActionCall) -> str:
        shown = ["_" if each is None else expression_text(each, self.sources) for each in call.arguments]
        return f"{call.action}({', '.join(shown)})" if shown else call.action

    def _instances(self, call: k.ActionCall, state: State) -> tuple[ActionMeaning, list[Arguments]]:
        action = self.model.actions[call.action]
        frame = Frame(state)
        wanted: list[Value | None] = [
            None if argument is None else self.model.meaning(argument)(frame) for argument in call.arguments
        ]
        given = [argument is not None for argument in call.arguments]
        return action, action.matching(wanted, given)

    def _do(self, call: k.ActionCall, front: Front) -> tuple[Front, ScenarioFailure]:
        after: Front = {}
        reasons: list[str] = []
        for path in front.values():
            try:
                action, instances = self._instances(call, path.state)
            except Undefined as undefined:
                reasons.append(f"an argument is undefined: {undefined.message}")
                continue
            for arguments in instances:
                outcomes = action.outcomes(path.state, arguments)
                for outcome in outcomes:
                    if isinstance(outcome, Successor):
                        step = Step(call.action, _named(action, arguments), outcome.picks, outcome.state)
                        # One path for each state: paths may be very many, and one is enough to show.
                        after.setdefault(outcome.state, ScenarioPath(outcome.state, step, path))
                # Only the first reason is shown, and to find one takes long.
                if not after and not reasons:
                    reasons.append(self._why_not(action, arguments, path.state, outcomes))
        return after, ScenarioFailure(
            _first(reasons) or "the action has no such instance: an argument is outside its domain"
        )

    def _why_not(self, action: ActionMeaning, arguments: Arguments, state: State, outcomes: Iterable[Result]) -> str:
        for outcome in outcomes:
            if not isinstance(outcome, Successor):
                return self._not_taken(action, arguments, outcome)
        blocks = action.false_guards(state, arguments)
        fewest = min(blocks, key=len, default=())
        shown = [f"{label}: {text}" for label, text, _ in (describe_guard(guard, self.sources) for guard in fewest)]
        return f"`{show_instance(action.node, arguments)}` is not enabled; false is {'; '.join(shown)}"

    def _not_taken(self, action: ActionMeaning, arguments: Arguments, outcome: Cut | Stuck) -> str:
        instance = show_instance(action.node, arguments, outcome.picks)
        match outcome:
            case Cut(_, label):
                return f"`{instance}` is cut by the bound `{label}`"
            case Stuck(_, message, span):
                return f"`{instance}` is undefined: {message} ({span})"

    def _refuse(self, call: k.ActionCall, label: str | None, front: Front) -> tuple[Front, ScenarioFailure]:
        passed: Front = {}
        reasons: list[str] = []
        for path in front.values():
            reason = self._not_refused(call, label, path.state)
            if reason is None:
                passed[path.state] = path
            else:
                reasons.append(reason)
        return passed, ScenarioFailure(_first(reasons) or "")

    def _not_refused(self, call: k.ActionCall, label: str | None, state: State) -> str | None:
        """Why the state does not refuse the call; None if it does."""
        try:
            action, instances = self._instances(call, state)
        except Undefined as undefined:
            return f"an argument is undefined: {undefined.message}"
        if not instances:
            return "the action has no such instance: an argument is outside its domain"
        for arguments in instances:
            for outcome in action.outcomes(state, arguments):
                if isinstance(outcome, Successor):
                    return f"`{show_instance(action.node, arguments, outcome.picks)}` is enabled"
                # Cut or stuck is not refused: no `when` is false.
                return self._not_taken(action, arguments, outcome)
        # By the label alone, for some combination of picks of some instance.
        if label is None or any(self._refused_by(action, each, state, label) for each in instances):
            return None
        return self._other_guards(action, instances[0], state, label)

    def _refused_by(self, action: ActionMeaning, arguments: Arguments, state: State, label: str) -> bool:
        return any(
            [(guard.label, guard.undefined, guard.is_bound) for guard in false] == [(label, None, False)]
            for false in action.false_guards(state, arguments)
        )

    def _other_guards(self, action: ActionMeaning, arguments: Arguments, state: State, label: str) -> str:
        fewest = min(action.false_guards(state, arguments), key=len, default=())
        shown = [f"{name}: {text}" for name, text, _ in (describe_guard(guard, self.sources) for guard in fewest)]
        instance = show_instance(action.node, arguments)
        return f"`{instance}` is refused, but not by `{label}` alone; false is {'; '.join(shown)}"

    def _expect(self, condition: k.Expr, front: Front) -> tuple[Front, ScenarioFailure]:
        holds = self.model.meaning(condition)
        passed: Front = {}
        failures: list[ScenarioFailure] = []
        for path in front.values():
            try:
                if holds(Frame(path.state)):
                    passed[path.state] = path
                    continue
                reason = "it is false"
            except Undefined as undefined:
                reason = f"it is undefined: {undefined.message}"
            if not failures:
                conjunct = k.Conjunct("expect", condition, span=condition.span)
                failures.append(ScenarioFailure(reason, explain(self.model, conjunct, Frame(path.state), self.sources)))
        return passed, failures[0] if failures else ScenarioFailure("")


def _named(action: ActionMeaning, arguments: Arguments) -> Picks:
    return tuple(zip(action.names, arguments, strict=True))


def _listed(parts: Iterable[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def _first(reasons: list[str]) -> str | None:
    return reasons[0] if reasons else None
