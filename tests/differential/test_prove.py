"""Proofs never contradict an exhaustive search: on random kernels, what IC3, k-induction or Spacer proves holds, and what they refute fails."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stages import rounds

from assay.checker.engines.reference_engine import check as reference
from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, PropertyResult, Trace
from assay.checker.search_interface.finding import DEFINED
from assay.checker.symbolic.bounded.bmc import STATE_KINDS
from assay.checker.symbolic.encode.initial import Bits, initial_states
from assay.checker.symbolic.encode.transition_system import SymbolicQuestion, System, encode_kernel
from assay.checker.symbolic.encode.verdict import Unsafe
from assay.checker.symbolic.induction.ic3 import Ic3
from assay.checker.symbolic.induction.kinduction import NotInductive
from assay.checker.symbolic.prove import ENGINES
from assay.checker.symbolic.sat.incremental import OutOfBudgetError
from assay.checker.symbolic.smt.recheck import SecondOpinion
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import types as t

from .random_kernel import random_kernel

PROPERTIES = {"invariant", "lemma", "transition", "reachable"}
FAST = settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
THOROUGH = settings(FAST, max_examples=30)


def is_found(result: PropertyResult) -> bool:
    """Whether an exhaustive search has found what decides a property."""
    if result.kind == "reachable":
        return result.outcome is Outcome.HOLDS
    return result.outcome is Outcome.VIOLATED or "it has no value" in (result.reason or "")


def agree(kernel: k.Kernel) -> int:
    """Assert that IC3, k-induction and Spacer decide every question as an exhaustive search does; how many they decided."""
    search = reference(kernel, SearchOptions(max_states=600, keep_going=True))
    model = Model(kernel)
    try:
        system = encode_kernel(kernel)
    except SpecError:
        return 0
    initial, _, stuck = initial_states(model)
    if search.stopped is not None or stuck:
        return 0
    rows = [system.row(state) for state in initial]
    found = {p.name: (is_found(p), p.trace) for p in search.properties}
    asked = [question for question in system.questions if not is_left_open(question.name, search.properties)]
    return sum(decided(system, rows, question, *found[question.name]) for question in asked)


def is_left_open(name: str, results: Sequence[PropertyResult]) -> bool:
    """Whether a search has no answer. It does not ask a property again once it has a run for it. So it does not see
    that the property has no value later.
    """
    by_run = any(each.kind in PROPERTIES and is_found(each) for each in results)
    return name == DEFINED and by_run and not any(each.name == DEFINED and is_found(each) for each in results)


def _is_late(begun: float) -> bool:
    return time.process_time() - begun > 3


def decided(system: System, rows: list[Bits], question: SymbolicQuestion, is_wrong: bool, trace: Trace | None) -> int:
    """Assert that all agree about one question, two of them with a run that is as short. Returns how many of them came
    to an end.
    """
    answers = 0
    for engine in ENGINES.values():
        begun = time.process_time()
        expired = partial(_is_late, begun)
        try:
            answer = engine(system, rows, question.wanted, (), expired).run()
        except OutOfBudgetError:
            continue
        if isinstance(answer, NotInductive):
            assert not is_wrong or trace is None or len(trace) > len(answer.choices), question.name
            continue
        assert isinstance(answer, Unsafe) == is_wrong, (engine, question.name)
        if engine is not Ic3 and isinstance(answer, Unsafe) and trace is not None and question.kind in STATE_KINDS:
            assert len(answer.choices) == len(trace), question.name
        answers += 1
    return answers


@FAST
@given(st.integers(0, 2**40))
def test_proofs_agree_with_exhaustive_search(seed: int) -> None:
    agree(random_kernel(Random(seed)))


def test_a_property_that_is_violated_may_have_no_value_in_a_later_step() -> None:
    kernel = random_kernel(Random(20004))
    results = reference(kernel, SearchOptions(max_states=600, keep_going=True)).properties
    assert is_left_open(DEFINED, results)
    assert agree(kernel) > 0


@rounds(4, 12)
def test_most_questions_about_random_kernels_are_decided(rounds: int) -> None:
    assert sum(agree(random_kernel(Random(seed))) for seed in range(rounds)) >= 2 * rounds


@pytest.mark.slow
@THOROUGH
@given(st.integers(0, 2**40))
def test_proofs_agree_with_exhaustive_search_on_many_kernels(seed: int) -> None:
    agree(random_kernel(Random(seed)))


def denied_reachable(kernel: k.Kernel, statement: k.Expr) -> bool | None:
    """Whether some state within a step of the initial ones does not satisfy a statement; None if it has no value in one."""
    model = Model(kernel)
    states = set(initial_states(model)[0])
    for state in list(states)[:5]:
        for action in model.steps:
            for arguments in action.instances:
                states |= {o.state for o in action.outcomes(state, arguments) if isinstance(o, Successor)}
    try:
        return not all(model.meaning(statement)(Frame(state)) for state in states)
    except Undefined:
        return None


def second_encoding_is_wrong(seed: int) -> bool:
    """Whether the second encoding takes a statement for inductive that a reachable state does not satisfy."""
    kernel = random_kernel(Random(seed))
    conditions = [c.condition for p in kernel.properties if p.kind in {"invariant", "lemma"} for c in p.conjuncts]
    conditions += [k.Not(t.BOOL, each) for each in conditions]
    with deep_recursion(kernel):
        for each in conditions:
            if denied_reachable(kernel, each) and SecondOpinion(kernel, rlimit=2_000_000).inductive([each]) is None:
                return True
    return False


@rounds(4, 12)
def test_the_second_encoding_confirms_nothing_that_a_reachable_state_denies(rounds: int) -> None:
    assert [seed for seed in range(rounds) if second_encoding_is_wrong(seed)] == []


@pytest.mark.slow
@THOROUGH
@given(st.integers(0, 2**40))
def test_the_second_encoding_confirms_nothing_false_on_many_kernels(seed: int) -> None:
    assert not second_encoding_is_wrong(seed)
