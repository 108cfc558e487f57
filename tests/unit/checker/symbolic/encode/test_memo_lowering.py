"""A lowering that remembers makes the same gates as one that does not."""

from __future__ import annotations

from random import Random

import pytest
from tests.differential.random_kernel import random_kernel
from tests.differential.test_symbolic import encoded

from assay.api.bundled import locate_spec
from assay.checker.aig.bit_blaster import BitCode
from assay.checker.lowering.expressions.dispatch import Lowering, StateSymbols
from assay.checker.symbolic.encode import transition_system
from assay.checker.symbolic.encode.transition_system import System, encode_kernel
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_spec


def forgetful(
    code: BitCode, now: StateSymbols | None, before: StateSymbols | None = None, strict: frozenset[str] = frozenset()
) -> Lowering:
    return Lowering(code, now, before, strict=strict)


def same_without_memory(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether there is an encoding; asserts that it is the same, gate for gate, when every expression is translated each time."""
    once = encoded(kernel)
    with monkeypatch.context() as patch:
        patch.setattr(transition_system, "MemoLowering", forgetful)
        again = encoded(kernel)
    if once is None or again is None:
        assert once is again
        return False
    assert said(once) == said(again)
    return True


def said(of: System) -> tuple[object, ...]:
    return of.gates.left, of.gates.right, of.after, of.ground, of.fires, of.questions, of.cuts


@pytest.mark.everyday(1)
@pytest.mark.parametrize("spec", ["kafka/controller", "kafka/kraft/snapshots", "kafka/topics"])
def test_bundled_specs_have_the_same_gates(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert same_without_memory(load_spec(locate_spec(spec)).kernel, monkeypatch)


@pytest.mark.slow
def test_random_kernels_have_the_same_gates(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(same_without_memory(random_kernel(Random(seed)), monkeypatch) for seed in range(60)) >= 50


def test_elements_that_differ_are_not_taken_for_one_another() -> None:
    of = encode_kernel(load_spec(locate_spec("kafka/controller")).kernel)
    arguments = {(ground.action, ground.arguments): ground.enabled for ground in of.ground if ground.action == "obey"}
    assert len(set(arguments.values())) == len(arguments) > 1
