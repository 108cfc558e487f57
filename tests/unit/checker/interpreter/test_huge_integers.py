"""Integers are mathematical: an expression may compute one that Python does not print."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from assay.checker.interpreter.values.show import show_value
from assay.checker.interpreter.values.undefined import LONGEST_BITS
from assay.checker.report import Outcome
from assay.checker.saved_traces.json_values import to_json
from assay.grammar.kernel.types import INT

Run = Callable[..., Any]

SQUARES = "".join(f"let p{at + 1} = p{at} * p{at}: " for at in range(12))

SPEC = f"""
def huge(n: int): int = let p0 = (n + 1) * 1000000000: {SQUARES}p12
state:
    x: 0 .. 9 = 2
    q: seq[0 .. 3, max 3] = [1]
    m: map[0 .. 3, 0 .. 3, max 2] = {{}}
"""


@pytest.mark.parametrize(
    "update", ["x := huge(x)", "x := q[huge(x)]", "x := count(take(q, 0 - huge(x)))", "x := m[huge(x)]"]
)
def test_what_is_undefined_by_a_huge_integer_says_how_large_it_is(run: Run, update: str) -> None:
    defined = run(f"{SPEC}action up:\n    {update}\n").result("defined")
    assert defined.outcome is Outcome.VIOLATED
    assert "2^128951" in str(defined.reason)


def test_an_explanation_shows_how_large_a_huge_integer_is(run: Run) -> None:
    answer = run(f"{SPEC}action up:\n    x := (x + 1) % 10\n\ninvariant small: huge(x) < 5\n")
    assert answer.outcome("small") is Outcome.VIOLATED
    assert "about 2^128951" in str(answer.result("small").explanation)


@pytest.mark.parametrize("sign", [1, -1])
def test_what_python_prints_is_printed_whole(sign: int) -> None:
    largest = sign * ((1 << LONGEST_BITS - 1) - 1)
    assert show_value(largest, INT) == str(largest)
    assert show_value(sign << 20_000, INT) == f"about {'-' if sign < 0 else ''}2^20000"
    written = json.dumps([to_json(largest, INT), to_json(sign << 20_000, INT)])
    assert json.loads(written) == [largest, show_value(sign << 20_000, INT)]
