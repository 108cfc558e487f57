"""Replaying a saved trace in a kernel that may have changed since it was saved.

A saved step is followed if the kernel has the action, and an instance with the same arguments is enabled. Of several
combinations of picks the saved one is taken, else the one that leads to the saved state. Actions are followed even
where states differ from the saved ones; the first difference is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.checker.explain import explain
from assay.checker.interpreter.actions.action import ActionMeaning, Arguments
from assay.checker.interpreter.actions.outcome import Cut, Outcome, Stuck, Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.liveness import fairness_advice
from assay.checker.liveness.lasso_semantics import Run
from assay.checker.print_kernel import Sources
from assay.checker.refinement.mapping import BeyondError, OutsideError, Refined
from assay.checker.report import BlockedAction, Explanation, State, Step, Trace
from assay.checker.results.deadlock_reason import blocked_actions, describe_guard
from assay.checker.results.refinement_steps import abstract_side, reason_of
from assay.checker.results.show_instance import show_instance
from assay.checker.saved_traces.json_values import NotOfType
from assay.checker.saved_traces.saved_trace import SavedStep, SavedTrace, read_values, state_to_json, step_types
from assay.checker.search_interface.finding import DEADLOCK, DEFINED
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value


@dataclass(frozen=True, slots=True)
class Replay:
    """How far a saved trace can be followed, and whether its property is still violated at the end.

    ``trace`` is what was followed; ``diverged`` says why the next saved step cannot be taken (None: all were).
    ``differs`` names the variables that differ from the saved state in the first step where some do. ``violated`` is
    None if the end was not reached or the kernel has no such property. For a ``reachable`` it says whether the state is
    no witness any more.
    """

    trace: Trace
    total: int
    diverged: str | None = None
    differs: tuple[int, tuple[str, ...]] | None = None
    violated: bool | None = None
    reason: str | None = None
    explanation: Explanation | None = None
    blocked: tuple[BlockedAction, ...] = ()


def replay(kernel: k.Kernel, saved: SavedTrace, sources: Sources | None = None) -> Replay:
    """Follow the trace under the kernel as it is now."""
    with deep_recursion(kernel):
        model = Model(kernel)
        followed = _follow(model, saved, sources or {})
        if followed.diverged is not None:
            return followed
        return _judge(model, saved.property, followed, sources or {})


def _follow(model: Model, saved: SavedTrace, sources: Sources) -> Replay:
    start = _initial(model, saved.steps[0])
    if isinstance(start, str):
        return Replay(Trace(()), len(saved.steps), diverged=start)
    steps = [start]
    differs = _difference(model.kernel, 0, start.state, saved.steps[0])
    for number, each in enumerate(saved.steps[1:], 1):
        taken = _take(model, steps[-1].state, each, sources)
        if isinstance(taken, str):
            return Replay(Trace(tuple(steps)), len(saved.steps), f"step {number}: {taken}", differs)
        steps.append(taken)
        differs = differs or _difference(model.kernel, number, taken.state, each)
    if saved.loop is not None and steps[-1].state != steps[saved.loop].state:
        back = f"the last state is not that of step {saved.loop + 1} any more, so that the run does not repeat itself"
        return Replay(Trace(tuple(steps)), len(saved.steps), back, differs)
    return Replay(Trace(tuple(steps), saved.loop), len(saved.steps), None, differs)


def _difference(kernel: k.Kernel, number: int, state: State, saved: SavedStep) -> tuple[int, tuple[str, ...]] | None:
    now = state_to_json(state, kernel)
    # A variable that the trace lacks differs too: `now` as a whole equals no value of a variable.
    names = tuple(name for name in {**now, **saved.state} if name not in now or now[name] != saved.state.get(name, now))
    return (number, names) if names else None


def _initial(model: Model, saved: SavedStep) -> Step | str:
    candidates = [outcome for outcome in model.init.outcomes() if isinstance(outcome, Successor)]
    if not candidates:
        return "the model has no initial state"
    chosen = _closest(model.kernel, candidates, saved, step_types(model.kernel, None)[1])
    return Step(None, (), chosen.picks, chosen.state)


def _take(model: Model, state: State, saved: SavedStep, sources: Sources) -> Step | str:
    if saved.action is None:
        return Step(None, (), (), state)
    action = model.actions.get(saved.action or "")
    if action is None or action not in model.steps:
        return f"the model has no step `{saved.action}`"
    parameters, picks = step_types(model.kernel, saved.action)
    if parameters.keys() != saved.arguments.keys():
        return (
            f"`{saved.action}` now has the parameters {_names(parameters)}, the trace gives {_names(saved.arguments)}"
        )
    try:
        named = read_values(saved.arguments, parameters)
    except NotOfType as reason:
        return f"`{saved.action}`: {reason}"
    arguments = tuple(named[name] for name in action.names)
    # The domain of a parameter may have shrunk since, while its type did not.
    if not action.matching(arguments, [True] * len(arguments)):
        return f"`{show_instance(action.node, arguments)}` is no instance any more"
    outcomes = action.outcomes(state, arguments)
    enabled = [outcome for outcome in outcomes if isinstance(outcome, Successor)]
    if not enabled:
        return _why_not(action, arguments, state, outcomes, sources)
    chosen = _closest(model.kernel, enabled, saved, picks)
    return Step(saved.action, tuple(zip(action.names, arguments, strict=True)), chosen.picks, chosen.state)


def _names(named: Mapping[str, Any]) -> str:
    return "(" + ", ".join(named) + ")"


def _closest(
    kernel: k.Kernel, candidates: Sequence[Successor], saved: SavedStep, types: Mapping[str, Any]
) -> Successor:
    """The candidate with the saved picks, else the one with the saved state, else the first."""
    try:
        picks: dict[str, Value] | None = read_values(saved.picks, types)
    except NotOfType:
        picks = None  # a pick of another type is no pick of this model; the state decides
    # Without picks all candidates have "the same" ones, and the state decides.
    same_picks = [each for each in candidates if picks and dict(each.picks) == picks]
    same_state = [each for each in same_picks or candidates if state_to_json(each.state, kernel) == saved.state]
    # Some candidate is always taken: a run that goes on differently tells more than one that ends here.
    return [*same_state, *same_picks, *candidates][0]


def _why_not(
    action: ActionMeaning, arguments: Arguments, state: State, outcomes: Sequence[Outcome], sources: Sources
) -> str:
    instance = show_instance(action.node, arguments)
    for outcome in outcomes:
        if isinstance(outcome, Cut):
            return f"`{instance}` is cut by the bound `{outcome.label}`"
        if isinstance(outcome, Stuck):
            return f"`{instance}` is undefined: {outcome.message} ({outcome.span})"
    fewest = min(action.false_guards(state, arguments), key=len, default=())
    shown = [f"{label}: {text}" for label, text, _ in (describe_guard(guard, sources) for guard in fewest)]
    return f"`{instance}` is not enabled; false is {'; '.join(shown)}"


def _judge(model: Model, name: str, followed: Replay, sources: Sources) -> Replay:
    state = followed.trace.steps[-1].state
    if name == DEADLOCK:
        return _judge_deadlock(model, state, followed, sources)
    if name == DEFINED:
        return _judge_defined(model, followed)
    node = next((each for each in model.kernel.properties if each.name == name), None)
    if node is None:
        return replace(followed, reason=f"the model has no property `{name}`")
    if node.kind == "refinement":
        return _judge_refinement(model, name, followed, sources)
    if node.kind == "temporal":
        return _judge_run(model, node, followed)
    if node.kind == "transition" and len(followed.trace) < 2:
        return replace(followed, reason="the trace has no step")
    before = followed.trace.steps[-2].state if len(followed.trace) > 1 else state
    frame = Frame(state, before)
    for conjunct in node.conjuncts:
        try:
            holds = bool(model.meaning(conjunct.condition)(frame))
        except Undefined as undefined:
            return replace(followed, reason=f"`{conjunct.label}` has no value: {undefined.message}")
        if not holds:
            why = explain(model, conjunct, frame, sources)
            return replace(followed, violated=True, reason=f"`{conjunct.label}` is false", explanation=why)
    return replace(followed, violated=False)


def _judge_run(model: Model, node: k.Property, followed: Replay) -> Replay:
    if followed.trace.loop is None:
        return replace(followed, reason="the trace does not say how the run goes on for ever")
    run = Run(model, followed.trace)
    try:
        conjunct = run.first_false(node)
    except Undefined as undefined:
        return replace(followed, reason=f"`{node.name}` has no value: {undefined.message}")
    if conjunct is None:
        return replace(followed, violated=False)
    # A run that fairness rules out was a counterexample before the spec got that fairness.
    for condition in run.unfair():
        strong = "strong fairness" if condition.strong else "fairness"
        said = f"the run is not possible for ever: {strong} makes `{condition.event.show(model.kernel)}` happen"
        return replace(followed, violated=False, reason=said)
    said = " ".join(fairness_advice.remarks(run))
    return replace(
        followed,
        violated=True,
        reason=f"{fairness_advice.reason(run, conjunct)}; {said}" if said else fairness_advice.reason(run, conjunct),
    )


def _judge_refinement(model: Model, name: str, followed: Replay, sources: Sources) -> Replay:
    """Whether the last step of the trace (or its initial state, if it has no step) has no abstract counterpart."""
    refined, steps = _refined(model, name), followed.trace.steps
    state, step = _last_step(steps)
    try:
        fine = _is_refined(refined, steps)
    except OutsideError:
        fine = False
    except BeyondError as beyond:
        return replace(followed, reason=f"the abstract side is too small: {beyond}")
    except Undefined as undefined:
        return replace(followed, reason=f"the mapping has no value: {undefined.message}")
    if fine:
        return replace(followed, violated=False)
    return replace(followed, violated=True, reason=reason_of(abstract_side(refined, state, step, sources)))


def _refined(model: Model, name: str) -> Refined:
    return Refined(model, next(each for each in model.kernel.refinements if each.name == name))


def _last_step(steps: Sequence[Step]) -> tuple[State, Step | None]:
    """The last step of a run and the state before it; of a run without steps, its initial state."""
    return (steps[-2].state, steps[-1]) if len(steps) > 1 else (steps[-1].state, None)


def _is_refined(refined: Refined, steps: Sequence[Step]) -> bool:
    state, step = _last_step(steps)
    return refined.begins_well(state) if step is None else refined.goes_well(state, step)


def _every_outcome(model: Model, state: State) -> list[Outcome]:
    return [outcome for action in model.steps for each in action.instances for outcome in action.outcomes(state, each)]


def _judge_deadlock(model: Model, state: State, followed: Replay, sources: Sources) -> Replay:
    if _every_outcome(model, state):
        return replace(followed, violated=False, reason="some action is enabled or cut")
    if any(_holds(model, conjunct, Frame(state)) for conjunct in model.kernel.terminal):
        return replace(followed, violated=False, reason="the state is terminal")
    return replace(followed, violated=True, blocked=blocked_actions(model, state, sources))


def _holds(model: Model, conjunct: k.Conjunct, frame: Frame) -> bool:
    try:
        return bool(model.meaning(conjunct.condition)(frame))
    except Undefined:
        # As in a search: what has no value lets no system stop, and violates `defined` besides.
        return False


def _judge_defined(model: Model, followed: Replay) -> Replay:
    why = next(_undefined(model, followed.trace.steps), None)
    return replace(followed, violated=why is not None, reason=why)


def _undefined(model: Model, steps: Sequence[Step]) -> Iterator[str]:
    """What has no value in the last state of a run, or on its last step."""
    state, before = steps[-1].state, steps[max(len(steps) - 2, 0)].state
    outcomes = _every_outcome(model, state)
    yield from (f"{each.message} ({each.span})" for each in outcomes if isinstance(each, Stuck))
    # As in a search: only of a state without a step is it asked whether the system may stop there.
    terminal = () if outcomes else model.kernel.terminal
    yield from _undefined_in(model, "terminal", terminal, Frame(state), until=True)
    for node in model.kernel.properties:
        if node.kind == "refinement":
            yield from _undefined_mapping(model, node.name, steps)
        elif node.kind != "temporal":
            where = f"{node.kind} `{node.name}`"
            yield from _undefined_in(model, where, node.conjuncts, Frame(state, before), until=False)


def _undefined_in(
    model: Model, where: str, conjuncts: Sequence[k.Conjunct], frame: Frame, *, until: bool
) -> Iterator[str]:
    """What is undefined before the first conjunct with the value ``until``, which decides without those behind it."""
    for conjunct in conjuncts:
        try:
            if bool(model.meaning(conjunct.condition)(frame)) is until:
                return
        except Undefined as undefined:
            yield f"{undefined.message}, in {where}"


def _undefined_mapping(model: Model, name: str, steps: Sequence[Step]) -> Iterator[str]:
    try:
        _is_refined(_refined(model, name), steps)
    except (OutsideError, BeyondError):
        return  # a value that the abstract side lacks is a value
    except Undefined as undefined:
        yield f"{undefined.message}, in the mapping of `{name}`"
