"""Which writes are compared: those that may lie in one place, not all pairs of an unrolled loop."""

from __future__ import annotations

from assay.checker.lowering.expressions import updates
from assay.checker.lowering.llvm.function_builder import TRUE, Scalar
from assay.checker.lowering.symbols.intervals import number
from assay.checker.lowering.symbols.symbol import Flag, Number
from assay.grammar import kernel as k
from assay.grammar.kernel.types import BOOL

ASSIGN = k.Assign("", "m", (), k.Const(BOOL, True), BOOL)
SOME = Number(Scalar(64, "%v1"), 0, 9)


def _pairs(*places: tuple[str, updates.Path]) -> list[tuple[int, int]]:
    writes = [updates.SymbolicWrite(TRUE, variable, path, Flag(TRUE), ASSIGN) for variable, path in places]
    found = updates._pairs_that_may_overlap(writes)
    return sorted((writes.index(earlier), writes.index(later)) for earlier, later in found)


def test_a_key_known_at_run_time_alone_is_compared_with_every_key() -> None:
    assert _pairs(("m", (number(1),)), ("m", (SOME,)), ("m", (number(2),)), ("n", (SOME,))) == [(0, 1), (1, 2)]


def test_the_whole_variable_is_compared_with_its_parts() -> None:
    assert _pairs(("m", (0,)), ("m", ()), ("m", (1, number(3)))) == [(0, 1), (1, 2)]


def test_writes_under_one_key_are_compared() -> None:
    assert _pairs(("m", (number(1), SOME)), ("m", (number(2), SOME)), ("m", (number(1), number(5)))) == [(0, 2)]


def test_an_unrolled_loop_has_no_pairs() -> None:
    assert _pairs(*(("m", (number(at),)) for at in range(100))) == []
