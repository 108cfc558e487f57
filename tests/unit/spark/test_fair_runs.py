"""Temporal properties on a session of two tasks: decided by tasks where the driver has no memory for the graph, as the local engine decides them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from assay.checker.explicit.check import check
from assay.checker.options import SearchOptions
from assay.checker.portfolio import compile_kernel, with_behaviours
from assay.checker.verdict import Outcome
from assay.grammar.load import load_text
from assay.spark import exploration
from assay.spark.cluster import ClusterOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DOORS = """\
module doors
param Door: set = {front, back}
state:
    open: map[Door, bool] = [d -> false]
    turns: 0 .. 2 = 0
    inside: bool = false
action swing(d: Door) fair:
    when not inside
    open[d] := not open[d]
    turns := if turns == 2 then 0 else turns + 1
action enter(d: Door) strong fair per d:
    when open[d] and turns > 0
    inside := true
terminal: inside
property gets_in: eventually inside
property back_opens: eventually open[back]
"""


@pytest.mark.spark
def test_tasks_decide_what_the_driver_has_no_memory_for(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_text(DOORS)
    options = SearchOptions(threads=1, keep_going=True)
    code = with_behaviours(loaded.kernel, compile_kernel(loaded.kernel, options, tmp_path), options, tmp_path)
    alone = check(loaded.kernel, code, options, loaded.sources)
    monkeypatch.setattr(exploration, "fits_here", lambda _: False)
    found = exploration.explore(spark, loaded.kernel, options, ClusterOptions(2, "direct", out=4), loaded.sources)
    outcomes = {each.name: each.outcome for each in found.report.properties if each.kind == "temporal"}
    assert outcomes == {"gets_in": Outcome.HOLDS, "back_opens": Outcome.VIOLATED}
    assert [(p.name, p.outcome, p.trace and p.trace.loop) for p in found.report.properties] == [
        (p.name, p.outcome, p.trace and p.trace.loop) for p in alone.properties
    ]
