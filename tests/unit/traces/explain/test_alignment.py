"""Where one repair is not enough, the first of the cheapest repairs together is reported, wherever it is."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from benchmarks.alignments import case, cost, optimum, repairs_of  # the benchmarks lie beside the package


@pytest.mark.parametrize("number", [9, 21, 27, 39])
def test_repairs_of_a_workflow_cost_as_much_as_an_optimal_alignment(number: int) -> None:
    loaded, log = case(Random(f"1 {number}"), activities=8, wrong=3)
    assert cost(repairs_of(loaded, log), exchange=2) == optimum(loaded, log, exchange=2)
