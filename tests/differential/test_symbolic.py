"""The gates say what the reference evaluator says: about random kernels of all types and statements, in reachable and in any states."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stages import rounds

from assay.checker.interpreter.actions.outcome import Cut, Stuck, Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.report import State
from assay.checker.symbolic.encode.transition_system import System, encode_kernel
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import Kernel, Property

from .random_kernel import random_kernel
from .random_state import random_state

MOST_STATES = 12
MOST_GROUND = 80
FAST = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
THOROUGH = settings(FAST, max_examples=150)


def encoded(kernel: Kernel) -> System | None:
    """The gates of a kernel; None if it is refused, which a diagnostic says."""
    try:
        return encode_kernel(kernel)
    except SpecError as error:
        if error.diagnostics[0].code in {"E824", "E806"}:
            return None
        raise


class Parallel:
    """The gates evaluated in many states with every choice at once: a bit of a number for each pair of state and choice."""

    def __init__(self, system: System, states: Sequence[State]) -> None:
        self.system = system
        self.states = states
        self.choices = 1 << len(system.choice)
        rows = [system.row(state) for state in states]
        given_: dict[int, int] = {}
        block = (1 << self.choices) - 1
        for at, literal in enumerate(system.state):
            given_[literal >> 1] = sum(block << number * self.choices for number, row in enumerate(rows) if row[at])
        for at, literal in enumerate(system.choice):
            pattern = sum(1 << choice for choice in range(self.choices) if choice >> at & 1)
            given_[literal >> 1] = sum(pattern << number * self.choices for number in range(len(rows)))
        self._given = given_

    def values(self, literals: Sequence[int]) -> list[int]:
        return self.system.gates.evaluate(literals, self._given)

    def successors(self) -> list[set[State]]:
        """The states that the choices lead to from each state."""
        columns = self.values(self.system.after)
        found = []
        for number in range(len(self.states)):
            spots = range(number * self.choices, (number + 1) * self.choices)
            rows = {tuple(column >> spot & 1 for column in columns) for spot in spots}
            found.append({self.system.values(row) for row in rows})
        return found

    def somewhere(self, literal: int) -> list[bool]:
        """For each state whether the literal is true for some choice."""
        value, block = self.values([literal])[0], (1 << self.choices) - 1
        return [bool(value >> number * self.choices & block) for number in range(len(self.states))]


def compare(system: System, states: Sequence[State]) -> list[set[State]]:
    """Assert that gates and reference agree about these states; their successors, which include the states themselves."""
    model = Model(system.kernel)
    parallel = Parallel(system, states)
    assert all(parallel.somewhere(system.canonical))
    by_gates = parallel.successors()
    cuts = {label: parallel.somewhere(literal) for label, literal in system.cuts.items()}
    asked = {q.name: parallel.somewhere(q.wanted) for q in system.questions}
    for number, state in enumerate(states):
        outcomes = [o for a in model.steps for i in a.instances for o in a.outcomes(state, i)]
        after = {o.state for o in outcomes if isinstance(o, Successor)}
        assert by_gates[number] == {state, *after}
        assert {o.label for o in outcomes if isinstance(o, Cut)} == {
            label for label, cut in cuts.items() if cut[number]
        }
        undefined = any(isinstance(o, Stuck) for o in outcomes)
        for prop in system.kernel.properties:
            decided, without = decides(model, prop, state, after)
            undefined = undefined or without
            assert asked[prop.name][number] == decided, prop.name
        assert asked["deadlock"][number] == (not outcomes and not ends(model, state)[0])
        assert asked["defined"][number] == (undefined or (not outcomes and ends(model, state)[1]))
    return by_gates


def decides(model: Model, prop: Property, state: State, after: set[State]) -> tuple[bool, bool]:
    """Whether a property is decided in a state or by a step from it, and whether it has no value there."""
    frames = [Frame(new, state) for new in after] if prop.kind == "transition" else [Frame(state)]
    decided = undefined = False
    for frame in frames:
        try:
            holds = all(model.meaning(c.condition)(frame) for c in prop.conjuncts)
        except Undefined:
            undefined, holds = True, False
        decided = decided or holds == (prop.kind == "reachable")
    return decided, undefined


def ends(model: Model, state: State) -> tuple[bool, bool]:
    """Whether the system may stop here, and whether a terminal condition asked before that has no value."""
    undefined = False
    for each in model.kernel.terminal:
        try:
            if model.meaning(each.condition)(Frame(state)):
                return True, undefined
        except Undefined:
            undefined = True
    return False, undefined


def agree(seed: int, depth: int = 3) -> bool:
    kernel = random_kernel(Random(seed), depth)
    with deep_recursion(kernel):
        system = encoded(kernel)
        if system is None or len(system.ground) > MOST_GROUND:
            return False
        random = Random(seed)
        compare(system, [random_state(random, kernel.variables) for _ in range(4)])
        level = {o.state for o in Model(kernel).init.outcomes() if isinstance(o, Successor)}
        seen: set[State] = set()
        for _ in range(6):
            seen |= level
            expanded = sorted(level, key=repr)[:MOST_STATES]
            if not expanded:
                break
            level = set().union(*compare(system, expanded)) - seen
    return True


@FAST
@given(st.integers(0, 2**40))
def test_gates_agree_with_the_reference_on_random_kernels(seed: int) -> None:
    agree(seed)


@pytest.mark.slow
@THOROUGH
@given(st.integers(0, 2**40), st.integers(2, 4))
def test_gates_agree_with_the_reference_on_many_random_kernels(seed: int, depth: int) -> None:
    agree(seed, depth)


@rounds(6, 20)
def test_most_random_kernels_are_supported(rounds: int) -> None:
    assert sum(agree(seed) for seed in range(rounds)) >= 3 * rounds // 5
