"""The answer as tables, of logs behind paths and of logs in tables, through a session of somebody else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import assay.spark
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.traces.result import TraceVerdict

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from assay.spark.logs.notebook_api import Validated

SPEC = """module jobs
param Job: set = {a, b}
enum Phase: Waiting, Running, Done
state:
    phase: map[Job, Phase] = [j -> Waiting]
action start(j: Job):
    when waiting: phase[j] == Waiting
    phase[j] := Running
action finish(j: Job):
    when running: phase[j] == Running
    phase[j] := Done
trace log:
    from events
    on Started(job: Job): start(job)
    on Finished(job: Job): finish(job)
    ignore Heartbeat "says nothing"
    order: file
"""
HEALTHY = ('{"event": "Started", "job": "a"}', '{"event": "Heartbeat"}', '{"event": "Finished", "job": "a"}')
BROKEN = ('{"event": "Started", "job": "a"}', '{"event": "Finished", "job": "b"}')


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.assay"
    path.write_text(SPEC)
    return path


def lines(file: str, texts: Sequence[str]) -> list[tuple[str, int, str]]:
    return [(file, number, text) for number, text in enumerate(texts, 1)]


def verdicts(found: Validated) -> dict[str, TraceVerdict]:
    return {name: answer.verdict for name, answer in found.answers.items()}


@pytest.mark.spark
def test_lines_of_a_table_are_validated_and_the_answer_is_tables(
    spark: SparkSession, spec: Path, tmp_path: Path
) -> None:
    rows = [*lines("one/jobs.jsonl", HEALTHY), *lines("two/jobs.jsonl", BROKEN)]
    logs = spark.createDataFrame(rows[::-1], "file string, line long, text string")
    before = spark.conf.get("spark.sql.files.maxPartitionBytes")
    with assay.spark.validate(spark, logs, spec, clusters="^([^/]*)/") as found:
        assert verdicts(found) == {"one": TraceVerdict.CONSISTENT, "two": TraceVerdict.INCONSISTENT}
        assert not found.tables.write(str(tmp_path / "tables"))
        assert found.tables.write(str(spec))[0].code == "E844"
    assert spark.conf.get("spark.sql.files.maxPartitionBytes") == before
    read = {name: spark.read.parquet(f"{tmp_path}/tables/{name}").collect() for name in TABLES}
    assert sorted((row.cluster, row.event, row.line) for row in read["events"]) == [
        ("one", "Finished", 3),
        ("one", "Heartbeat", 2),
        ("one", "Started", 1),
        ("two", "Finished", 2),
        ("two", "Started", 1),
    ]
    assert {(row.cluster, row.slice, row.verdict) for row in read["verdicts"]} == {
        ("one", None, "consistent"),
        ("two", None, "inconsistent"),
    }
    (violation,) = read["violations"]
    assert (violation.cluster, violation.event, violation.line) == ("two", "Finished", 2)
    assert violation.fields["job"] == "b"
    assert [part.label for part in violation.parts] == ["running"]
    counted = {(row.cluster, row.what, row.name): row["count"] for row in read["coverage"]}
    assert counted["one", "used", None] == 2
    assert counted["one", "ignored", "Heartbeat"] == 1


TABLES = ("events", "verdicts", "violations", "coverage")


@pytest.mark.spark
def test_files_are_validated_wherever_they_come_from(spark: SparkSession, spec: Path, tmp_path: Path) -> None:
    log = tmp_path / "logs" / "jobs.jsonl"
    log.parent.mkdir()
    log.write_text("\n".join(HEALTHY))
    files = spark.read.format("binaryFile").load(str(log.parent))
    for logs in (log.parent, [log.as_uri()], files):
        with assay.spark.validate(spark, logs, spec) as found:
            assert verdicts(found) == {"": TraceVerdict.CONSISTENT}
            assert found.answers[""].counts.used == 2


@pytest.mark.spark
def test_a_table_without_logs_is_refused(spark: SparkSession, spec: Path) -> None:
    with pytest.raises(SpecError) as problem:
        assay.spark.validate(spark, spark.range(3), spec)
    assert problem.value.diagnostics[0].code == "E845"
    assert "the columns are id" in problem.value.diagnostics[0].message
