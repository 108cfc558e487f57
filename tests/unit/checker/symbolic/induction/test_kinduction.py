"""What k-induction proves, with a certificate; what it does not, with a path that shows why."""

from __future__ import annotations

from itertools import pairwise

import pytest

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome, State
from assay.checker.symbolic.certificate.proof import Proofs
from assay.checker.symbolic.encode.initial import initial_states
from assay.checker.symbolic.encode.transition_system import encode_kernel
from assay.checker.symbolic.induction import backward_reach
from assay.checker.symbolic.induction.backward_reach import cubes_before
from assay.checker.symbolic.induction.kinduction import KInduction, NoInvariantError, NotInductive
from assay.checker.symbolic.prove import prove
from assay.checker.symbolic.sat.incremental import OutOfBudgetError
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_text

RING = """
module ring
param Last: int = 3
type Place = 0 .. 7
state:
    place: Place = 0
    behind: Place = 0
action go:
    behind := place
    place := if place == Last then 0 else if place == 7 then 7 else place + 1
action jump:
    when far: place > 4
    place := 6
    behind := 4
invariant inside: place != 6
invariant close: behind <= Last
transition forwards: behind <= Last
reachable end: place == 7
"""


def kernel(**overrides: str) -> Kernel:
    return load_text(RING, overrides=overrides).kernel


def by_k_induction(asked: Kernel, *names: str) -> Proofs:
    chosen = SearchOptions(properties=frozenset(names), timeout=60, check_deadlock=False)
    return prove(asked, chosen, by="k-induction")


def outcomes(proofs: Proofs) -> dict[str, Outcome]:
    return {each.name: each.outcome for each in proofs.report.properties if each.name != "defined"}


def steps_of(model: Model, state: State) -> set[State]:
    found = (o for action in model.steps for i in action.instances for o in action.outcomes(state, i))
    return {o.state for o in found if isinstance(o, Successor)}


def test_what_takes_several_steps_is_proved_by_an_ordinary_invariant() -> None:
    proofs = by_k_induction(kernel(), "inside")
    assert outcomes(proofs) == {"inside": Outcome.HOLDS}
    lines = dict(proofs.certificates)["inside"].lines
    assert len(lines) > 1, "it is not inductive by itself"
    reason = next(p.reason for p in proofs.report.properties if p.name == "inside")
    assert reason is not None
    assert "confirmed by a second encoding" in reason


def test_what_is_reachable_is_shown_by_a_shortest_run() -> None:
    proofs = by_k_induction(kernel(Last="6"), "inside")
    result = next(p for p in proofs.report.properties if p.name == "inside")
    assert (result.outcome, result.trace and len(result.trace)) == (Outcome.VIOLATED, 7)


def test_a_transition_and_what_cannot_be_reached_are_proved_too() -> None:
    found = outcomes(by_k_induction(kernel(), "forwards", "end"))
    assert found == {"forwards": Outcome.HOLDS, "end": Outcome.VIOLATED}


@pytest.mark.parametrize("name", ["inside", "end"])
def test_the_cubes_are_the_states_from_which_the_property_can_fail(name: str) -> None:
    asked = kernel()
    system, model = encode_kernel(asked), Model(asked)
    cubes = cubes_before(system, system.question(name).wanted)
    states = [(place, behind) for place in range(8) for behind in range(8)]
    bad = {s for s in states if any(all(system.row(s)[abs(p) - 1] == (p > 0) for p in cube) for cube in cubes)}
    wrong = {s for s in states if (s[0] == 6) == (name == "inside") and s[0] in {6, 7}}
    while more := {s for s in states if steps_of(model, s) & wrong} - wrong:
        wrong |= more
    assert bad == wrong


THIRDS = """
module thirds
state:
    at: 0 .. 61 = 0
    ok: bool = true
action on:
    when room: at <= 58 or at == 60
    at := if at == 60 then 0 else at + 3
action end:
    when last: at == 61
    ok := false
invariant fine: ok
"""
"""Only multiples of three are reached, which no pair of bits says; 61 is reached from 1 in twenty steps."""


def test_a_counterexample_to_induction_is_a_path_whose_last_state_alone_fails() -> None:
    asked = load_text(THIRDS).kernel
    proofs = by_k_induction(asked, "fine")
    assert outcomes(proofs) == {"fine": Outcome.UNKNOWN}
    ((name, step),) = proofs.steps
    assert (name, step.failing) == ("fine", "ok")
    model = Model(asked)
    assert step.before is not None
    path = [*step.earlier, step.before, step.after]
    assert len(path) == len(set(path)) == 13
    assert all(after in steps_of(model, before) for before, after in pairwise(path))
    holds = model.meaning(asked.properties[0].conjuncts[0].condition)
    assert [holds(Frame(state)) for state in path] == [True] * 12 + [False]


def test_without_time_there_is_no_answer() -> None:
    asked = kernel()
    system = encode_kernel(asked)
    rows = [system.row(state) for state in initial_states(Model(asked))[0]]
    with pytest.raises(OutOfBudgetError):
        KInduction(system, rows, system.question("inside").wanted, expired=lambda: True).run()


def test_what_was_found_before_the_time_was_over_is_shown() -> None:
    asked = load_text(THIRDS).kernel
    system = encode_kernel(asked)
    rows = [system.row(state) for state in initial_states(Model(asked))[0]]
    questions = iter(range(10_000))
    answer = KInduction(system, rows, system.question("fine").wanted, expired=lambda: next(questions) > 20).run()
    assert isinstance(answer, NotInductive)
    assert "time limit" in answer.why


def test_what_is_k_inductive_without_a_certificate_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backward_reach, "MOST_CUBES", 1)
    asked = kernel()
    system = encode_kernel(asked)
    rows = [system.row(state) for state in initial_states(Model(asked))[0]]
    with pytest.raises(NoInvariantError, match=r"-inductive, but has no certificate: it takes more than 1 statements"):
        KInduction(system, rows, system.question("inside").wanted).run()
