"""Statements about cubes of bits say what the cubes exclude, and nothing of rows that are no states."""

from __future__ import annotations

from itertools import combinations, product

from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.symbolic.certificate.from_cubes import statements
from assay.checker.symbolic.encode.transition_system import encode_kernel
from assay.checker.symbolic.encode.verdict import Cube
from assay.grammar.load import load_text

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
