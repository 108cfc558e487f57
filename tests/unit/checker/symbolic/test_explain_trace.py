"""Symbolic traces: what is explained and what contradicts itself is what a search of all executions says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from assay.checker.evaluate.model import Model
from assay.checker.evaluate.outcome import Successor
from assay.checker.evaluate.scope import Frame
from assay.checker.symbolic.explain_trace import (
    Contradiction,
    Explained,
    Observation,
    SymbolicTrace,
    without_bounds,
)
from assay.checker.symbolic.initial import initial_states
from assay.checker.verdict import State
from assay.grammar import kernel as k
from assay.grammar import kernel_types as t
from assay.grammar.load import load_spec

SPECS = Path(__file__).parents[4] / "spec"


@dataclass
class Explicit:
    """The same question, answered by listing all executions."""

    kernel: k.Kernel
    hidden: frozenset[str]
    most_hidden: int

    def __post_init__(self) -> None:
        self.model = Model(without_bounds(self.kernel))
        self.starts = list(initial_states(self.model)[0])

    def after(self, states: Iterable[State], observation: Observation | None) -> set[State]:
        """The states after the step of an observation; of None any step or none."""
        if observation is None:
            some = set(states)
            return some | self.steps(some, [a.node.name for a in self.model.steps])
        if observation.action is None:
            return {s for s in states if self.hold(observation, s, s)}
        return {a for s in states for a in self.steps([s], [observation.action], observation) if a}

    def steps(self, states: Iterable[State], names: Iterable[str], like: Observation | None = None) -> set[State]:
        found = set()
        for name in names:
            action = self.model.actions[name]
            for arguments in action.instances:
                if like and any(w is not None and w != a for w, a in zip(like.arguments, arguments, strict=True)):
                    continue
                for state in states:
                    for outcome in action.outcomes(state, arguments):
                        if isinstance(outcome, Successor) and (like is None or self.hold(like, state, outcome.state)):
                            found.add(outcome.state)
        return found

    def hold(self, observation: Observation, before: State, after: State) -> bool:
        return all(self.model.meaning(c)(Frame(after, before)) for c in observation.conditions)

    def explains(self, observations: Sequence[Observation | None]) -> bool:
        states = set(self.starts)
        for each in observations:
            for _ in range(self.most_hidden):
                states |= self.steps(states, self.hidden)
            states = self.after(states, each)
        return bool(states)


def is_value(variable: k.Variable, state: State, at: int) -> k.Expr:
    value = k.Const(variable.type, state[at])
    return k.Equal(t.BOOL, k.StateVar(variable.type, variable.name), value, negated=False)


def walked(explicit: Explicit, random: Random, length: int) -> list[Observation]:
    """Observations of a random walk, in which much is not seen and some is seen wrongly."""
    state = explicit.starts[0]
    seen: list[Observation] = []
    for number in range(length):
        ways = [
            (action, arguments, outcome.state)
            for action in explicit.model.steps
            for arguments in action.instances
            for outcome in action.outcomes(state, arguments)
            if isinstance(outcome, Successor)
        ]
        if not ways:
            break
        action, arguments, after = random.choice(ways)
        at = random.randrange(len(after))
        shown = state if random.random() < 0.1 else after
        if action.node.name not in explicit.hidden:
            some = tuple(value if random.random() < 0.6 else None for value in arguments)
            conditions = (is_value(explicit.kernel.variables[at], shown, at),) if random.random() < 0.5 else ()
            seen.append(Observation(f"line {number}", action.node.name, some, conditions))
        elif random.random() < 0.3:
            seen.append(Observation(f"state {number}", None, (), (is_value(explicit.kernel.variables[at], shown, at),)))
        state = after
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
            assert isinstance(answer, Explained) == explicit.explains(seen[:upto])
            if isinstance(answer, Contradiction):
                refute(explicit, seen[:upto], answer)
                return answer
            check_run(answer, seen[:upto])
    finally:
        asked.close()
    return answer


def refute(explicit: Explicit, seen: Sequence[Observation], answer: Contradiction) -> None:
    needed: list[Observation | None] = [each if each.label in answer.labels else None for each in seen]
    assert not explicit.explains(needed)
    for at, each in enumerate(needed):
        if each is not None:
            assert explicit.explains([*needed[:at], None, *needed[at + 1 :]])


def check_run(answer: Explained, seen: Sequence[Observation]) -> None:
    assert len(answer.observed) == len(seen)
    for each, at in zip(seen, answer.observed, strict=True):
        step = answer.trace.steps[at]
        if each.action is not None:
            assert step.action == each.action
            assert all(w in (None, v) for w, (_, v) in zip(each.arguments, step.arguments, strict=True))


CASES = [
    ("classics/two_phase", {"receive_ready", "choose_to_abort", "prepare"}, 2),
    ("kafka/claim", {"look", "expire"}, 2),
    ("classics/die_hard", {"fill_small", "empty_big"}, 1),
]


@pytest.mark.parametrize(("spec", "hidden", "most_hidden"), CASES)
def test_symbolic_and_explicit_search_agree_about_traces(spec: str, hidden: set[str], most_hidden: int) -> None:
    explicit = Explicit(load_spec(SPECS / f"{spec}.assay").kernel, frozenset(hidden), most_hidden)
    answers = [agree(explicit, seed) for seed in range(25)]
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
        asked.observe(Observation(label, action))
    asked.observe(Observation("5", None, (), (is_value(kernel.variables[big], five, big),)))
    assert asked.answer() == Contradiction(("4", "5"))
