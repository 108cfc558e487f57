"""An initial state beyond a capacity is none for TLC either, also where the variable is chosen from a set."""

from __future__ import annotations

from pathlib import Path

from assay.checker.tla.module import export
from assay.grammar.load import load_spec

SPEC = Path(__file__).parents[3] / "corpus" / "specs" / "capacity_of_initial_states.assay"


def test_a_value_chosen_from_larger_sets_is_held_to_its_capacity() -> None:
    text = export(load_spec(SPEC).kernel).files["capacity_of_initial_states.tla"]
    initial = text.partition("Init ==")[2].partition("\n\n")[0]
    assert "Cardinality(s) <= 1" in initial
    assert "Cardinality(r)" not in initial
