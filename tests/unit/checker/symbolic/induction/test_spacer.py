"""What Spacer proves leaves a certificate like every proof; what it refutes is shown as a run."""

from __future__ import annotations

from itertools import product

import pytest

from assay.checker.interpreter.compiled_model import Model
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome
from assay.checker.symbolic.encode.initial import initial_states
from assay.checker.symbolic.encode.transition_system import System, encode_kernel
from assay.checker.symbolic.encode.verdict import Safe
from assay.checker.symbolic.induction.spacer import Spacer
from assay.checker.symbolic.prove import prove
from assay.checker.symbolic.sat.incremental import OutOfBudgetError
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_text

TWINS = """
module twins
param Together: bool = true
state:
    left: 0 .. 3 = 0
    right: 0 .. 3 = 0
    apart: bool = false
action on:
    left := if left == 3 then 0 else left + 1
    right := if Together then (if right == 3 then 0 else right + 1) else right
action look:
    apart := left != right
invariant never_apart: not apart
"""


def kernel(**overrides: str) -> Kernel:
    return load_text(TWINS, overrides=overrides).kernel


def asked(kernel_: Kernel) -> tuple[System, list[tuple[int, ...]], int]:
    system = encode_kernel(kernel_)
    rows = [system.row(state) for state in initial_states(Model(kernel_))[0]]
    return system, rows, system.question("never_apart").wanted


def test_its_invariant_is_made_of_cubes_that_no_reachable_state_is_in() -> None:
    system, rows, wanted = asked(kernel())
    answer = Spacer(system, rows, wanted).run()
    assert isinstance(answer, Safe)
    outside = {
        state
        for state in product(range(4), range(4), (False, True))
        if any(all(system.row(state)[abs(p) - 1] == (p > 0) for p in cube) for cube in answer.cubes)
    }
    assert outside == {s for s in product(range(4), range(4), (False, True)) if s[0] != s[1] or s[2]}


def test_its_proof_is_confirmed_by_a_certificate() -> None:
    proofs = prove(kernel(), SearchOptions(properties=frozenset({"never_apart"}), timeout=60), by="spacer")
    result = next(each for each in proofs.report.properties if each.name == "never_apart")
    assert result.outcome is Outcome.HOLDS
    assert "confirmed by a second encoding" in (result.reason or "")
    assert [name for name, _ in proofs.certificates] == ["defined", "never_apart"]


def test_what_it_refutes_is_shown_as_a_shortest_run() -> None:
    chosen = SearchOptions(properties=frozenset({"never_apart"}), timeout=60)
    proofs = prove(kernel(Together="false"), chosen, by="spacer")
    result = next(each for each in proofs.report.properties if each.name == "never_apart")
    assert (result.outcome, result.trace and len(result.trace)) == (Outcome.VIOLATED, 3)


def test_without_time_there_is_no_answer() -> None:
    system, rows, wanted = asked(kernel(Together="false"))
    with pytest.raises(OutOfBudgetError):
        Spacer(system, rows, wanted, expired=lambda: True).run()
