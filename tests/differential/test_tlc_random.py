"""TLC and the reference engine say the same about random kernels, which are joined so that one run of TLC searches many."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from assay.checker.interpreter.actions.outcome import Stuck
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.options import SearchOptions
from assay.checker.report import State
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import types as t

from .random_kernel import random_kernel
from .tlc_case import Case, agree, case_about

OPTIONS = SearchOptions(max_states=400, keep_going=True)


def cases(wanted: int, first: int, depth: int = 3) -> list[Case]:
    """The first so many random kernels that TLC evaluates as assay does."""
    found: list[Case] = []
    seed = first
    while len(found) < wanted:
        case = case_of(seed, depth)
        found += [] if case is None else [case]
        seed += 1
    return found


def case_of(seed: int, depth: int) -> Case | None:
    """The case of a seed, unless its search is cut short, or something undefined is met by assay or by TLC alone."""
    kernel = without_idle_steps(random_kernel(Random(seed), depth))
    try:
        case = case_about(f"seed {seed}", kernel, OPTIONS)
    except SpecError:
        return None
    return None if case is None or meets_the_undefined(kernel, case.states) else case


def without_idle_steps(kernel: k.Kernel) -> k.Kernel:
    """The kernel with properties of steps that hold, as they do in TLA+, of every step that changes nothing."""
    state = [k.StateVar(variable.type, variable.name) for variable in kernel.variables]
    moved = k.Logic(t.BOOL, "or", tuple(k.Equal(t.BOOL, k.Old(v.type, v), v, negated=True) for v in state))

    def relaxed(conjunct: k.Conjunct) -> k.Conjunct:
        return replace(conjunct, condition=k.Logic(t.BOOL, "implies", (moved, conjunct.condition)))

    properties = tuple(
        replace(each, conjuncts=tuple(map(relaxed, each.conjuncts))) if each.kind == "transition" else each
        for each in kernel.properties
    )
    return replace(kernel, properties=properties)


def meets_the_undefined(kernel: k.Kernel, states: list[State]) -> bool:
    """Whether TLC may meet what assay does not: it looks behind a false bound, and at `terminal` in states that are not stuck.

    Nor does TLC look at the bounds when it is asked what only bounds prevent. Assay counts an instance as cut if a
    bound has no value behind a false one.
    """
    bare = tuple(
        replace(action, body=tuple(map(unbounded, filter(is_looked_at, action.body)))) for action in kernel.actions
    )
    model = Model(replace(kernel, actions=bare, properties=()))
    terminal = [model.meaning(each.condition) for each in kernel.terminal]
    for state in states:
        try:
            for holds in terminal:
                holds(Frame(state))
        except Undefined:
            return True
        for action in model.steps:
            for arguments in action.instances:
                if any(isinstance(outcome, Stuck) for outcome in action.outcomes(state, arguments)):
                    return True
    return False


def is_looked_at(statement: k.Statement) -> bool:
    return isinstance(statement, k.Let | k.Pick | k.Guard)


def unbounded(statement: k.Statement) -> k.Statement:
    """A bound as a guard that is true wherever it has a value."""
    if not isinstance(statement, k.Guard) or statement.kind == "when":
        return statement
    either = k.Logic(t.BOOL, "or", (statement.condition, k.Not(t.BOOL, statement.condition)))
    return replace(statement, kind="when", condition=either)


@pytest.mark.slow
def test_tlc_agrees_on_random_kernels(tmp_path: Path) -> None:
    agree(cases(30, first=180), tmp_path)


def test_most_of_these_kernels_do_something() -> None:
    found = cases(30, first=180)
    assert sum(case.levels.total() > 1 for case in found) >= 15
    assert {case.dead for case in found} == {True, False}
    assert sum(bool(case.false) for case in found) >= 10
    assert sum(label.startswith("limit") for case in found for label in case.bounds) >= 3
    assert sum(label.startswith("capacity") for case in found for label in case.bounds) >= 1


@pytest.mark.slow
@pytest.mark.parametrize(("first", "depth", "wanted"), [(1_000, 3, 100), (3_000, 4, 60), (4_000, 2, 40)])
def test_tlc_agrees_on_two_hundred_random_kernels(first: int, depth: int, wanted: int, tmp_path: Path) -> None:
    agree(cases(wanted, first, depth), tmp_path)
