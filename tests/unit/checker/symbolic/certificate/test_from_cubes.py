"""Statements about cubes of bits say what the cubes exclude, and nothing of rows that are no states."""

from __future__ import annotations

from itertools import combinations, product

from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.print_kernel import print_expression
from assay.checker.symbolic.certificate.from_cubes import statements
from assay.checker.symbolic.encode.transition_system import encode_kernel
from assay.checker.symbolic.encode.verdict import Cube
from assay.grammar.load import load_text

LOCK = """
module lock
param Client: set = {a, b, c} symmetric
state:
    owns: set[Client] = {}
action take(who: Client):
    owns := owns + {who}
action give(who: Client, to: Client):
    owns := owns - {who} + {to}
"""

TEXT = """
module five
state:
    number: 0 .. 4 = 0
    flag: bool = false
action on:
    flag := true
"""


def test_a_statement_is_false_exactly_in_the_states_of_its_cube() -> None:
    kernel = load_text(TEXT).kernel
    system, model = encode_kernel(kernel), Model(kernel)
    states = list(product(range(5), (False, True)))
    without = 0
    literals = [sign * (at + 1) for at in range(len(system.state)) for sign in (1, -1)]
    cubes: list[Cube] = [(a, b) for a, b in combinations(literals, 2) if a != -b]
    for cube in cubes:
        inside = {s for s in states if all(system.row(s)[abs(p) - 1] == (p > 0) for p in cube)}
        said = statements(system, [cube])
        assert {s for s in states if not all(model.meaning(each)(Frame(s)) for each in said)} == inside
        without += not said
    assert without, "numbers from 5 to 7 have three bits too, and are no states"


def test_elements_are_called_as_the_spec_calls_them() -> None:
    two, three = (1, 2), (1, 2, 3)
    system = encode_kernel(load_text(LOCK).kernel)
    said = [print_expression(each) for each in statements(system, [two])]
    assert said == ["forall who in Client: forall to in Client: who != to and who in owns implies to not in owns"]
    # The spec names two of them at most.
    (said_of_three,) = (print_expression(each) for each in statements(system, [three]))
    assert "client_3 in Client" in said_of_three
    assert "who" not in said_of_three
