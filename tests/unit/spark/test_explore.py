"""Searches on a session of two tasks: as the local engine says, and clear about what does not suit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from benchmarks.faults import facts

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.engines.native_engine import check
from assay.checker.options import SearchOptions
from assay.cli.specs.check import check as check_command
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.load import load_text
from assay.spark.exploration import explore
from assay.spark.session.options import Choice, ClusterOptions
from assay.spark.tasks import preflight

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GRID = """\
module grid
type Count = 0 .. 12
state:
    x: Count = 0
    y: Count = 0
action right:
    bound width: x < 12
    x := x + 1
action up:
    when x > 2
    bound height: y < 12
    y := y + 1
invariant inside: x + y < 17
reachable corner: x == 12 and y == 2
"""


def code(problem: pytest.ExceptionInfo[SpecError]) -> str:
    return problem.value.diagnostics[0].code


@pytest.mark.spark
@pytest.mark.parametrize("exchange", ["direct", "shuffle"])
def test_a_search_on_spark_says_what_the_local_one_says(spark: SparkSession, exchange: Choice, tmp_path: Path) -> None:
    kernel = load_text(GRID).kernel
    options = SearchOptions(threads=1)
    alone = check(kernel, compile_kernel(kernel, options, tmp_path), options)
    found = explore(spark, kernel, options, ClusterOptions(2, exchange, out=4))
    assert facts(found.report) == facts(alone)
    assert found.levels > 5
    assert found.report.engine == f"spark ({exchange})"


@pytest.mark.spark
def test_auto_takes_the_shuffle_where_tasks_do_not_run_all_at_once_and_says_why(spark: SparkSession) -> None:
    found = explore(spark, load_text(GRID).kernel, cluster=ClusterOptions(3, out=100))
    assert found.remarks == (
        "3 tasks exchange states by Spark's shuffle: the cluster runs 2 tasks at once, and there are 3",
    )
    with pytest.raises(SpecError) as problem:
        explore(spark, load_text(GRID).kernel, cluster=ClusterOptions(3, "direct"))
    assert code(problem) == "E837"


@pytest.mark.spark
def test_more_tasks_than_owners_are_refused(spark: SparkSession) -> None:
    with pytest.raises(SpecError) as problem:
        explore(spark, load_text(GRID).kernel, cluster=ClusterOptions(257))
    assert code(problem) == "E838"


@pytest.mark.spark
def test_executors_with_another_version_are_refused(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "versions", lambda: {"assay": "0.0.1", "python": "3.9", "formats": [0, 0, 0]})
    with pytest.raises(SpecError) as problem:
        explore(spark, load_text(GRID).kernel, cluster=ClusterOptions(2))
    assert code(problem) == "E833"


@pytest.mark.spark
def test_a_work_directory_belongs_to_one_search(spark: SparkSession, tmp_path: Path) -> None:
    kernel, place = load_text(GRID).kernel, str(tmp_path)
    first = explore(spark, kernel, SearchOptions(max_depth=9), ClusterOptions(2, workdir=place, out=2))
    assert first.report.checkpoint == place
    with pytest.raises(SpecError) as problem:
        explore(spark, kernel, cluster=ClusterOptions(2, workdir=place))
    assert code(problem) == "E835"
    other = load_text(GRID.replace("< 17", "< 18")).kernel
    with pytest.raises(SpecError, match="another spec"):
        explore(spark, other, cluster=ClusterOptions(2, workdir=place, resume=True))
    whole = explore(spark, kernel, cluster=ClusterOptions(1, "shuffle", place, resume=True, out=2))
    assert whole.report.statistics.depth == 18


@pytest.mark.spark
def test_a_work_directory_that_cannot_be_made_is_told(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError) as problem:
        explore(spark, load_text(GRID).kernel, cluster=ClusterOptions(2, workdir=str(tmp_path / "file" / "below")))
    assert code(problem) == "E834"


@pytest.mark.parametrize(
    "option", [("--spark", "local"), ("--partitions", "2"), ("--exchange", "auto"), ("--workdir", "x")]
)
def test_options_of_a_cluster_need_its_engine(option: tuple[str, str]) -> None:
    with pytest.raises(SpecError) as problem:
        check_command.main(["classics/die_hard", *option], standalone_mode=False)
    assert code(problem) == "E839"


@pytest.mark.spark
def test_the_python_api_takes_a_file(spark: SparkSession, tmp_path: Path) -> None:
    spec = tmp_path / "grid.assay"
    spec.write_text(GRID)
    found = explore(spark, str(spec), SearchOptions(check_deadlock=False)).report
    assert [p.name for p in found.properties] == ["defined", "inside", "corner"]
