"""Numbers of elements in the second encoding: real sets obey the laws, and the laws say what majorities are for."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import z3

from assay.checker.options import SearchOptions
from assay.checker.report import Outcome
from assay.checker.symbolic.certificate.proof import Proofs
from assay.checker.symbolic.parametric import prove as parametric
from assay.checker.symbolic.parametric.prove import prove_any
from assay.checker.symbolic.smt.cardinality import Sizes
from assay.grammar.load import load_spec

NODE = z3.DeclareSort("Node")


def answer(*said: Any, sizes: Sizes) -> z3.CheckSatResult:
    solver = z3.Solver()
    solver.set("mbqi", False)
    solver.set("rlimit", 300_000)
    solver.add(*said)
    solver.add(*sizes.laws(solver.assertions()))
    return solver.check()


@pytest.mark.parametrize("size", [1, 2])
def test_no_sets_of_a_few_elements_contradict_the_laws(size: int) -> None:
    nodes = [z3.Const(f"n{at}", NODE) for at in range(size)]
    every = z3.Const("every", NODE)
    closed = z3.ForAll([every], z3.Or([every == node for node in nodes]))
    for one, other in product(product([False, True], repeat=size), repeat=2):
        sizes = Sizes()

        def number(chosen: tuple[bool, ...], sizes: Sizes = sizes) -> Any:
            return sizes.number(
                NODE, lambda x: z3.Or([x == node for node, inside in zip(nodes, chosen, strict=True) if inside])
            )

        true = [number(one) == sum(one), number(other) == sum(other), number((True,) * size) == size]
        whole = sizes.number(NODE, lambda _: z3.BoolVal(True)) == size
        assert answer(z3.Distinct(nodes), closed, *true, whole, sizes=sizes) != z3.unsat


def test_two_majorities_share_an_element_and_two_halves_need_not() -> None:
    sizes = Sizes()
    left, right = (z3.Function(name, NODE, z3.BoolSort()) for name in ("left", "right"))
    every = z3.Const("every", NODE)
    apart = z3.ForAll([every], z3.Not(z3.And(left(every), right(every))))
    first, second = sizes.number(NODE, left), sizes.number(NODE, right)
    whole = sizes.number(NODE, lambda _: z3.BoolVal(True))
    assert answer(apart, 2 * first > whole, 2 * second > whole, sizes=sizes) == z3.unsat
    assert answer(apart, 2 * first >= whole, 2 * second >= whole, sizes=sizes) != z3.unsat


def test_what_is_asked_for_about_each_element_keeps_its_own_variable() -> None:
    """The number of those nodes that at least one node knows is not that of those that know themselves."""
    sizes = Sizes()
    knows = z3.Function("knows", NODE, NODE, z3.BoolSort())
    a, b = z3.Consts("a b", NODE)

    def known(x: Any) -> Any:
        return sizes.number(NODE, lambda y: knows(y, x)) > 0

    nobody = z3.ForAll([a], z3.Not(knows(a, a)))
    assert answer(nobody, knows(a, b), sizes.number(NODE, known) > 0, sizes=sizes) != z3.unsat
    nobody_at_all = z3.ForAll([a, b], z3.Not(knows(a, b)))
    assert answer(nobody_at_all, sizes.number(NODE, known) > 0, sizes=sizes) == z3.unsat


COUNTED = """module counted
param Node: set = {n1, n2, n3} symmetric
state:
    marked: set[Node] = {}
    pairs: set[Node] = {}
action mark(n: Node):
    when 2 * count(marked) < count(Node)
    marked := marked + {n}
action pair(n: Node):
    when count({m in Node if count({k in marked if k != m}) == 2}) > 0
    pairs := pairs + {n}
invariant at_most_all: count(marked) <= count(Node)
invariant one_or_none: forall n in marked: count(marked) == 1
invariant two_for_a_pair: forall n in pairs: count(marked) > 1
invariant little_more_than_half: 2 * count(marked) < count(Node) + 2
"""


def outcomes(proofs: Proofs) -> dict[str, Outcome]:
    return {each.name: each.outcome for each in proofs.report.properties}


def test_numbers_are_named_among_what_is_known_and_proved_about_where_laws_suffice(tmp_path: Path) -> None:
    path = tmp_path / "counted.assay"
    path.write_text(COUNTED)
    proofs = prove_any(load_spec(path), ["Node"])
    assert outcomes(proofs) == {
        "defined": Outcome.HOLDS,
        "at_most_all": Outcome.HOLDS,
        "one_or_none": Outcome.UNKNOWN,
        "two_for_a_pair": Outcome.HOLDS,
        "little_more_than_half": Outcome.HOLDS,
    }
    assert any("two majorities share an element" in each for each in proofs.assumptions)


def test_a_number_of_what_is_no_element_has_a_reason_and_a_place(tmp_path: Path) -> None:
    path = tmp_path / "records.assay"
    text = COUNTED.replace("2 * count(marked) < count(Node)", "sum({count(marked)}) < 1")
    path.write_text(text)
    proofs = prove_any(load_spec(path), ["Node"])
    defined = next(each for each in proofs.report.properties if each.name == "defined")
    assert defined.outcome is Outcome.UNKNOWN
    assert defined.reason is not None
    assert "records.assay:7:" in defined.reason


LEASES = """module leases
param Node: set = {n1, n2} symmetric
record Lease: node: Node, again: bool
state:
    leases: set[Lease] = {}
    seen: set[Node] = {}
action grant(n: Node):
    when count(leases) == 0
    leases := {Lease(n, n in seen)}
    seen := seen + {n}
action drop:
    leases := {}
invariant one: count(leases) <= 1
invariant fewer_than_three: 3 > count(leases)
invariant none_or_one: count(leases) == 0 or 1 == count(leases)
invariant never_two: not (count(leases) > 1) and count(leases) != 2
invariant none_at_all: count(leases) < 1
invariant many: count(leases) >= 2 or leases == {}
"""


def test_few_elements_of_any_type_need_no_laws(tmp_path: Path) -> None:
    """Leases are no elements of a sort, so that their number is outside the theory; whether there is one, is not."""
    path = tmp_path / "leases.assay"
    path.write_text(LEASES)
    found = outcomes(prove_any(load_spec(path), ["Node"]))
    wrong = {"none_at_all", "many"}
    assert found.keys() == {"defined", "one", "fewer_than_three", "none_or_one", "never_two", *wrong}
    assert {name for name, outcome in found.items() if outcome is not Outcome.HOLDS} == wrong


SERVER = """module server
param Client: set = {c1, c2} symmetric
enum Msg: Grant(c: Client), Release(c: Client)
state:
    net: set[Msg] = {}
    free: bool = true
    holds: set[Client] = {}
action grant(c: Client):
    when free
    free := false
    net := net + {Grant(c)}
action take(c: Client):
    when Grant(c) in net
    net := net - {Grant(c)}
    holds := holds + {c}
action release(c: Client):
    when c in holds
    holds := holds - {c}
    net := net + {Release(c)}
action back(c: Client):
    when Release(c) in net
    net := net - {Release(c)}
    free := true
invariant mutex: forall a, b in holds: a == b
"""


@pytest.mark.slow
def test_what_proves_the_model_is_tried_for_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No template speaks of messages; the certificate of the model does."""
    path = tmp_path / "server.assay"
    path.write_text(SERVER)
    asked = SearchOptions(properties=frozenset({"mutex"}))
    assert outcomes(prove_any(load_spec(path), ["Client"], asked))["mutex"] is Outcome.HOLDS
    monkeypatch.setattr(parametric, "OF_THE_MODEL", 0.0)
    assert outcomes(prove_any(load_spec(path), ["Client"], asked))["mutex"] is Outcome.UNKNOWN
