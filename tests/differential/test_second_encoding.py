"""The second encoding has every step of the system, and gives every condition the value that it has: random ones, in random states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from random import Random
from typing import Any

import pytest
import z3
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stages import rounds

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.report import State
from assay.checker.symbolic.smt.collections import Values
from assay.checker.symbolic.smt.encode import SmtEncoder
from assay.checker.symbolic.smt.transition import any_state, step_of
from assay.checker.symbolic.smt.values import Domain, OutsideTheoryError
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t

from .random_kernel import Maker
from .random_state import random_state
from .random_types import NODE, SITE, TYPES

FAST = settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
THOROUGH = settings(FAST, max_examples=40)


def is_said(of: t.Type) -> bool:
    """Whether the second encoding has values of the type."""
    try:
        any_state(Domain(), (k.Variable("x", of, ghost=False),), "")
    except OutsideTheoryError:
        return False
    return True


SAID = tuple(of for of in TYPES if is_said(of))


class Comparison:
    """Three variables with conditions and actions about them, in both; ``asked`` is how many questions were compared."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        maker = Maker(self.random)
        maker.variables = [k.Variable(f"v{at}", self.random.choice(SAID), ghost=False) for at in range(3)]
        self.variables = tuple(maker.variables)
        self.conditions = [maker.expr(t.BOOL, 2 + seed % 2) for _ in range(6)]
        actions = tuple(maker.action(f"act{at}", 1 + seed % 2) for at in range(4))
        self.kernel = k.Kernel(
            "random", None, (NODE, SITE), (), self.variables, k.Init((), ()), actions, tuple(a.name for a in actions), (),
            (), (), frozenset(), (), (),
        )  # fmt: skip
        self.domain = Domain()
        self.now, self.typed = any_state(self.domain, self.variables, "")
        self.asked = 0

    def run(self) -> int:
        """Assert that nothing is missing and nothing has another value; how many questions were asked."""
        states = [random_state(self.random, self.variables) for _ in range(2)]
        with deep_recursion(self.kernel):
            model = Model(self.kernel)
            for condition in self.conditions:
                self._value(model, condition, states)
            for action in model.steps:
                for state in states:
                    self._step(action.node, state, [o for o in _outcomes(action, state) if isinstance(o, Successor)])
        return self.asked

    def _value(self, model: Model, condition: k.Expr, states: Sequence[State]) -> None:
        for state in states:
            try:
                value = model.meaning(condition)(Frame(state))
                says = SmtEncoder(self.domain, self.now).read(condition)
            except (Undefined, OutsideTheoryError):
                continue
            other = z3.Not(says) if value else says
            assert self._answer([*self._are(self.now, state), other]) != z3.sat, (condition, state, value)

    def _step(self, action: k.Action, state: State, found: Sequence[Successor]) -> None:
        for after in dict.fromkeys(each.state for each in found[:3]):
            try:
                step = step_of(self.domain, self.kernel, action, self.now, bounded=True)
            except OutsideTheoryError:
                return
            conditions = [*self._are(self.now, state), *step.conditions, *self._are(step.after, after)]
            assert self._answer(conditions) != z3.unsat, (action, state, after)

    def _are(self, values: Values, state: State) -> Iterator[Any]:
        """That the variables have the values of a state."""
        yield from self.typed
        for variable, value in zip(self.variables, state, strict=True):
            known = self.domain.literal(value, variable.type)
            yield self.domain.equal(values[variable.name], known, variable.type)

    def _answer(self, conditions: Sequence[Any]) -> z3.CheckSatResult:
        self.asked += 1
        solver = z3.Solver()
        solver.set("rlimit", 2_000_000)
        solver.add(*conditions)
        return solver.check()


def _outcomes(action: Any, state: State) -> Iterator[Any]:
    for arguments in islice(action.instances, 30):
        yield from action.outcomes(state, arguments)


@pytest.mark.slow
@FAST
@given(st.integers(0, 2**40))
def test_the_second_encoding_has_every_step_and_every_value(seed: int) -> None:
    Comparison(seed).run()


@pytest.mark.slow
@rounds(1, 3)
def test_many_steps_and_values_are_compared(rounds: int) -> None:
    assert sum(Comparison(seed).run() for seed in range(rounds)) >= 6 * rounds


@pytest.mark.slow
@THOROUGH
@given(st.integers(0, 2**40))
def test_the_second_encoding_has_every_step_and_every_value_of_many(seed: int) -> None:
    Comparison(seed).run()
