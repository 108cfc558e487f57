"""Symbolic traces: what is explained and what contradicts itself is what a search of all executions says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.report import State
from assay.checker.symbolic.bounded.explain_trace import (
    Contradiction,
    Explained,
    PartialCall,
    SymbolicTrace,
    TraceObservation,
    without_bounds,
)
from assay.checker.symbolic.encode.initial import initial_states
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.load import load_spec

SPECS = Path(__file__).parents[5] / "spec"


Seen = tuple[State, int]
"""A state, and the hidden steps since the last observed one."""


@dataclass
class Explicit:
    """The same question, answered by listing all executions in all orders."""

    kernel: k.Kernel
    hidden: frozenset[str]
    most_hidden: int

    def __post_init__(self) -> None:
        self.model = Model(without_bounds(self.kernel))
        self.starts = list(initial_states(self.model)[0])

    def after(self, seen: Iterable[Seen], observation: TraceObservation, *, needed: bool) -> set[Seen]:
        """The states after the steps of an observation; if it is not ``needed`` any steps or none."""
        found: set[Seen] = set()
        for state, count in seen:
            ends = {state}
            for calls in observation.steps:
                further = {end for each in ends for end in self.steps(each, calls if needed else None)}
                ends = further if needed else ends | further
            kept = (end for end in ends if not needed or self.holds(observation, state, end))
            found |= {(end, 0 if observation.steps else count) for end in kept}
        return found

    def steps(self, state: State, calls: Sequence[PartialCall] | None) -> set[State]:
        """The states after one of the calls, or after any action."""
        wanted = [PartialCall(action.node.name) for action in self.model.steps] if calls is None else calls
        return {
            outcome.state
            for call in wanted
            for arguments in self.model.actions[call.action].instances
            if all(arguments[at] == value for at, value in call.known)
            for outcome in self.model.actions[call.action].outcomes(state, arguments)
            if isinstance(outcome, Successor)
        }

    def holds(self, observation: TraceObservation, before: State, after: State) -> bool:
        return all(self.model.meaning(c)(Frame(after, before)) for c in observation.conditions)

    def explains(self, seen: Sequence[TraceObservation], after: Sequence[Sequence[int]], needed: Iterable[int]) -> bool:
        """Whether some order explains the observations that are needed."""
        todo = [(frozenset[int](), frozenset((start, 0) for start in self.starts))]
        known = set(todo)
        while todo:
            done, states = todo.pop()
            if len(done) == len(seen) and states:
                return True
            near = set(states)
            for _ in range(self.most_hidden):
                calls = [PartialCall(name) for name in self.hidden]
                near |= {(end, n + 1) for each, n in near if n < self.most_hidden for end in self.steps(each, calls)}
            for number, each in enumerate(seen):
                if number not in done and done.issuperset(after[number]):
                    onward = done | {number}, frozenset(self.after(near, each, needed=number in set(needed)))
                    if onward[1] and onward not in known:
                        known.add(onward)
                        todo.append(onward)
        return False


def is_value(variable: k.Variable, state: State, at: int) -> k.Expr:
    value = k.Const(variable.type, state[at])
    return k.Equal(t.BOOL, k.StateVar(variable.type, variable.name), value, negated=False)


def walked(explicit: Explicit, random: Random, length: int) -> list[TraceObservation]:
    """Observations of a random walk, in which much is not seen and some is seen wrongly."""
    state = explicit.starts[0]
    seen: list[TraceObservation] = []
    for number in range(length):
        before, calls = state, list[PartialCall]()
        for _ in range(random.choice((1, 1, 2))):
            ways = [
                (action, arguments, outcome.state)
                for action in explicit.model.steps
                for arguments in action.instances
                for outcome in action.outcomes(state, arguments)
                if isinstance(outcome, Successor)
            ]
            if ways:
                action, arguments, state = random.choice(ways)
                some = tuple(each for each in enumerate(arguments) if random.random() < 0.6)
                calls.append(PartialCall(action.node.name, some))
        at = random.randrange(len(state))
        conditions = (is_value(explicit.kernel.variables[at], before if random.random() < 0.1 else state, at),)
        if calls and calls[0].action not in explicit.hidden:
            others = [PartialCall(random.choice(explicit.model.steps).node.name)] if random.random() < 0.2 else []
            steps = tuple((call, *others) for call in calls)
            seen.append(TraceObservation(f"line {number}", steps, conditions if random.random() < 0.5 else ()))
        elif random.random() < 0.3:
            seen.append(TraceObservation(f"state {number}", (), conditions))
    return [each for each in seen if random.random() < 0.9]


def agree(explicit: Explicit, seed: int) -> Explained | Contradiction:
    """Assert that the symbolic answer about a random trace is the explicit one; the answer."""
    seen = walked(explicit, Random(seed), 6)
    asked = SymbolicTrace(explicit.kernel, explicit.starts, explicit.hidden, explicit.most_hidden)
    try:
        answer: Explained | Contradiction = asked.answer()
        for upto, each in enumerate(seen, start=1):
            asked.observe(each)
            answer = asked.answer()
            check(explicit, answer, seen[:upto], [range(number) for number in range(upto)])
            if isinstance(answer, Contradiction):
                return answer
    finally:
        asked.close()
    return answer


def agree_in_some_order(explicit: Explicit, seed: int) -> Explained | Contradiction:
    """The same of observations that are all given at once, and of whose order only a part is known."""
    random = Random(seed)
    seen = walked(explicit, random, 5)
    after = [[at for at in range(number) if random.random() < 0.4] for number in range(len(seen))]
    order = random.sample(range(len(seen)), len(seen))
    mixed = [seen[number] for number in order]
    mixed_after = [[order.index(at) for at in after[number]] for number in order]
    asked = SymbolicTrace(explicit.kernel, explicit.starts, explicit.hidden, explicit.most_hidden)
    try:
        asked.observe_some(mixed, mixed_after)
        answer = asked.answer()
        check(explicit, answer, mixed, mixed_after)
    finally:
        asked.close()
    return answer


def check(
    explicit: Explicit,
    answer: Explained | Contradiction,
    seen: Sequence[TraceObservation],
    after: Sequence[Sequence[int]],
) -> None:
    assert isinstance(answer, Explained) == explicit.explains(seen, after, range(len(seen)))
    if isinstance(answer, Explained):
        check_run(explicit, answer, seen, after)
        return
    needed = [number for number, each in enumerate(seen) if each.label in answer.labels]
    assert not explicit.explains(seen, after, needed)
    for each in needed:
        assert explicit.explains(seen, after, [other for other in needed if other != each])


def check_run(
    explicit: Explicit, answer: Explained, seen: Sequence[TraceObservation], after: Sequence[Sequence[int]]
) -> None:
    steps, end, hidden, done = answer.trace.steps, 0, 0, set[int]()
    assert steps[0].state in explicit.starts
    for reading in answer.readings:
        each = seen[reading.observation]
        assert done.issuperset(after[reading.observation])
        done.add(reading.observation)
        assert all(step.action in explicit.hidden for step in steps[end + 1 : reading.before + 1])
        hidden += reading.before - end
        assert hidden <= explicit.most_hidden
        own = steps[reading.before + 1 : reading.after + 1]
        for step, calls in zip(own, each.steps, strict=True):
            values = [value for _, value in step.arguments]
            assert any(c.action == step.action and all(values[at] == v for at, v in c.known) for c in calls)
        assert explicit.holds(each, steps[reading.before].state, steps[reading.after].state)
        end, hidden = reading.after, 0 if each.steps else hidden
    assert done == set(range(len(seen)))
    assert end == len(steps) - 1 or all(step.action in explicit.hidden for step in steps[end + 1 :])


CASES = [
    ("classics/two_phase", {"receive_ready", "choose_to_abort", "prepare"}, 2),
    ("kafka/claim", {"look", "expire"}, 2),
    ("classics/die_hard", {"fill_small", "empty_big"}, 1),
]


@pytest.mark.everyday(1)
@pytest.mark.parametrize(("spec", "hidden", "most_hidden"), CASES)
def test_symbolic_and_explicit_search_agree_about_traces(spec: str, hidden: set[str], most_hidden: int) -> None:
    explicit = Explicit(load_spec(SPECS / f"{spec}.assay").kernel, frozenset(hidden), most_hidden)
    for compared in (agree, agree_in_some_order):
        answers = [compared(explicit, seed) for seed in range(12)]
        assert {type(each) for each in answers} == {Explained, Contradiction}


def test_a_contradiction_names_the_lines_that_make_it() -> None:
    kernel = load_spec(SPECS / "classics/die_hard.assay").kernel
    explicit = Explicit(kernel, frozenset(), 0)
    asked = SymbolicTrace(kernel, explicit.starts, frozenset(), 0)
    names = [action.name for action in kernel.actions]
    big = next(at for at, v in enumerate(kernel.variables) if v.name == "big")
    full = explicit.model.actions["fill_big"].outcomes(explicit.starts[0], ())
    five = next(outcome.state for outcome in full if isinstance(outcome, Successor))
    for label, action in (("1", "fill_small"), ("2", "fill_big"), ("3", "fill_small"), ("4", "empty_big")):
        assert action in names
        asked.observe(TraceObservation(label, ((PartialCall(action),),)))
    asked.observe(TraceObservation("5", (), (is_value(kernel.variables[big], five, big),)))
    assert asked.answer() == Contradiction(("4", "5"))
