"""Generated code gives what the reference evaluator does, with its reasons where there is no value: of random kernels, state after state."""

from __future__ import annotations

from random import Random

import pytest
from tests.stages import rounds

from assay.checker.interpreter.actions import codegen_actions
from assay.checker.interpreter.actions.codegen_actions import condition_code
from assay.checker.interpreter.actions.outcome import Stuck, Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.interpreter.expressions.frame import Frame, Meaning
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k

from .random_kernel import random_kernel

STATES = 25


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code is made at the first question, and goes on being asked."""
    monkeypatch.setattr(codegen_actions, "WORTH_IT", 1)
    monkeypatch.setattr(codegen_actions, "FAILURES", 10**9)


@rounds(40, 150)
def test_generated_results_are_those_of_the_reference_evaluator(rounds: int) -> None:
    compared = 0
    for seed in range(rounds):
        kernel = random_kernel(Random(seed))
        plain, fast = Model(kernel, bounded=False), Model(kernel, bounded=False, remember=True)
        with deep_recursion(kernel):
            for state in _states(plain):
                for name in kernel.next:
                    expected = [
                        (arguments, each)
                        for arguments in plain.actions[name].instances
                        for each in plain.actions[name].outcomes(state, arguments)
                        if not isinstance(each, Stuck)
                    ]
                    found = list(fast.actions[name].results(state, fast.actions[name].domains()))
                    assert found == expected, (seed, name)
                    compared += len(found)
    assert compared > 13 * rounds
    assert sum(_answered) > 13 * rounds, "generated code gave no answers"


_answered: list[int] = []


@pytest.fixture(autouse=True)
def _counted(monkeypatch: pytest.MonkeyPatch) -> None:
    _answered.clear()
    asked = codegen_actions.TieredCode.results

    def results(self: codegen_actions.TieredCode, *arguments: object) -> object:
        found = asked(self, *arguments)  # type: ignore[arg-type]
        _answered.append(found is not None)
        return found

    monkeypatch.setattr(codegen_actions.TieredCode, "results", results)


@rounds(80, 250)
def test_generated_conditions_are_those_of_the_reference_evaluator(rounds: int) -> None:
    compared = undefined = 0
    for seed in range(150, 150 + rounds):
        kernel = random_kernel(Random(seed))
        plain, fast = Model(kernel), Model(kernel, remember=True)
        with deep_recursion(kernel):
            states = _states(plain)
            for expr in _conditions(kernel):
                code = condition_code(expr, fast.scope)
                if code is None:
                    continue
                meaning = plain.meaning(expr)
                for before, now in zip(states, [*states[1:], *states[:1]], strict=True):
                    expected, found = _value(meaning, now, before), _value(code, now, before)
                    assert found == expected, (seed, expr)
                    compared += 1
                    undefined += isinstance(expected, tuple) and expected[:1] == ("undefined",)
    assert compared > rounds
    assert rounds < 250 or (compared > 2_000 and undefined > 20)


def _conditions(kernel: k.Kernel) -> list[k.Expr]:
    """The conjuncts of properties of states and steps."""
    return [
        part.condition
        for each in kernel.properties
        if each.kind in ("invariant", "lemma", "transition", "reachable")
        for part in each.conjuncts
    ]


def _value(meaning: Meaning, now: tuple[object, ...], before: tuple[object, ...]) -> object:
    try:
        return meaning(Frame(now, before))
    except Undefined as error:
        return "undefined", error.message, error.span


def _states(model: Model) -> list[tuple[object, ...]]:
    """Some states that are found first."""
    initial = [each.state for each in model.init.outcomes() if isinstance(each, Successor)]
    known = dict.fromkeys(initial[:STATES])
    for state in list(known):
        known |= dict.fromkeys(
            each.state for _, _, each in outcomes(model, state) if isinstance(each, Successor) and len(known) < STATES
        )
    return list(known)[:STATES]
