"""Two loops that write to parts of one map, one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.checker.tla.module import export
from assay.grammar.load import load_spec, load_text

SPEC = Path(__file__).parents[3] / "corpus" / "specs" / "loops_one_after_another.assay"
TEXT = export(load_spec(SPEC).kernel).files["loops_one_after_another.tla"]


def test_the_entries_of_an_earlier_loop_are_kept_in_an_initial_state() -> None:
    assert "m = Fold(LAMBDA so_far, n : Put(so_far, n, 2), [n \\in {n1} |-> 1], {n2, n3})" in TEXT


def test_no_name_is_bound_where_an_equal_one_is() -> None:
    assert "LET q_2 == [n \\in DOMAIN q |-> IF n \\in {n1} THEN left ELSE q[n]] IN" in TEXT
    assert "[n \\in DOMAIN q_2 |-> IF n \\in {n2, n3} THEN m[n] ELSE q_2[n]]" in TEXT


GRID = """
state:
    grid: map[0 .. 1, map[0 .. 1, 0 .. 2]] = [n -> [m -> 0]]
    row: 0 .. 1 = 0
    column: 0 .. 1 = 0
action turn:
    LINES
"""
IN_A_LOOP = """for n in 0 .. 1:
        if n == row:
            grid[n][column] := 1
        else:
            grid[row][n] := 2"""
ALONE = """if row == 0:
        grid[0][column] := 1
    else:
        grid[row][0] := 2"""


@pytest.mark.parametrize(("lines", "may_meet"), [(IN_A_LOOP, True), (ALONE, False)])
def test_branches_of_one_if_exclude_each_other_but_not_in_a_loop(lines: str, may_meet: bool) -> None:
    text = export(load_text(GRID.replace("LINES", lines)).kernel, "m").files["m.tla"]
    assert ("two assignments to the same place of grid" in text) is may_meet


@pytest.mark.parametrize(
    ("of", "adds"), [("map[0 .. 2, 0 .. 1, max 3] = {}", True), ("map[0 .. 2, 0 .. 1] = [n -> 0]", False)]
)
def test_a_loop_adds_keys_to_a_map_that_may_lack_them(of: str, adds: bool) -> None:
    spec = f"state:\n    m: {of}\n    some: set[0 .. 2] = {{}}\naction fill:\n    for n in some:\n        m[n] := 1\n"
    text = export(load_text(spec).kernel, "m").files["m.tla"]
    put, changed = "m' = Fold(LAMBDA so_far, n : Put(so_far, n, 1), m, some)", "[n \\in DOMAIN m |-> IF n \\in some"
    assert [put in text, changed in text] == [adds, not adds]
