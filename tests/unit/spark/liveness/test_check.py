"""Temporal properties on a session of two tasks. Where the driver has no memory for the graph, tasks decide them as the
local engine does.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from assay.checker.engines.engine_selection import compile_kernel, with_behaviours
from assay.checker.engines.native_engine import check
from assay.checker.options import SearchOptions
from assay.checker.report import Outcome
from assay.grammar.load import load_text
from assay.spark import exploration
from assay.spark.liveness import check as fair_runs
from assay.spark.session.options import ClusterOptions
from assay.spark.tasks.task import Job

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
    monkeypatch.setattr(
        fair_runs, "FIRST", 1
    )  # states in which the driver looks for the run: it is followed through what tasks hold
    found = exploration.explore(spark, loaded.kernel, options, ClusterOptions(2, "direct", out=4), loaded.sources)
    assert {each.name: each.outcome for each in found.report.properties if each.kind == "temporal"} == outcomes


def test_a_graph_is_in_as_many_parts_as_tasks_have_memory_for() -> None:
    job = Job("nowhere", 4, memory=1_000_000)
    assert fair_runs.parts_of(10_000, 20_000, job) == 4
    assert fair_runs.parts_of(100_000, 200_000, job) == 24
    assert fair_runs.parts_of(10**9, 10**10, job) == 256
