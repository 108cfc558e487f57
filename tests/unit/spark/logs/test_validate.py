"""What Spark answers about logs is what the local command answers, whatever the logs are and however the work is divided."""

from __future__ import annotations

import gzip
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from benchmarks.synthetic import generate
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from assay.cli.settings import load
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.report.logs.validation_object import validation_object
from assay.spark.logs import tasks as cluster_tasks
from assay.spark.logs.errors import as_diagnostic
from assay.spark.logs.inputs import Inputs, LogFile, list_inputs
from assay.spark.logs.read_tasks import WHOLE, balance, catalogue_of, file_ranges, lines_between
from assay.spark.logs.spec_for_cluster import select_by_lines
from assay.spark.logs.tasks import (
    CLUSTER_ROWS,
    LEAST,
    MOST,
    STANDARD,
    ClusterQuestion,
    answer_slices,
    bundles_of,
    rows_of_shared,
    rows_of_slices,
    shared_of,
    shelf_of,
    slice_answer,
    validate_shared_part,
)
from assay.spark.logs.validate import Bundle, ClusterAnswer, WorkDivision, partition_by_task, validating
from assay.traces.diagnosis.node_settings import overview
from assay.traces.input.sources import ListedFile
from assay.traces.log_reader import read_logs
from assay.traces.pickling import from_bytes, to_bytes
from assay.traces.samples import sample, unpack_sample
from assay.traces.slices.slice_validator import Joiner
from assay.traces.spec_selection import validate_with_selection

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RECORDINGS = Path(__file__).resolve().parents[3] / "corpus" / "recordings"
SMALL_PARTS = WorkDivision(part_bytes=30_000, tasks=3)
"""So that every large file of a recording is read in several parts."""


def said(answer: ClusterAnswer) -> Any:
    return _without_time(validation_object(answer.validation, answer.overview))


def said_locally(path: Path) -> Any:
    reading = read_logs([path])
    _, answer = validate_with_selection(reading, None, lambda spec: load(spec, None, {}))
    return _without_time(validation_object(answer, overview(reading)))


def said_on_spark(spark: SparkSession, inputs: Inputs, how: WorkDivision) -> dict[str, Any]:
    with validating(spark, inputs, ClusterQuestion(select_by_lines()), how) as work:
        return {answer.cluster: said(answer) for answer in work.answers}


def _without_time(answer: dict[str, Any]) -> Any:
    found = json.loads(json.dumps(answer))
    del found["seconds"]
    return found


def rotated(logs: Path) -> None:
    """A log that was rotated by size, its oldest part compressed, and a file that lies there twice."""
    path = logs / "broker-1" / "server.log"
    lines = path.read_bytes().splitlines(keepends=True)
    third = len(lines) // 3
    (logs / "broker-1" / "server.log.2.gz").write_bytes(gzip.compress(b"".join(lines[:third])))
    (logs / "broker-1" / "server.log.1").write_bytes(b"".join(lines[third : 2 * third]))
    path.write_bytes(b"".join(lines[2 * third :]))
    shutil.copy(logs / "broker-2" / "state-change.log", logs / "broker-2" / "copy.log")


def inconsistent(logs: Path) -> None:
    """A partition's leader is another in one of three lines, and a controller's epoch is too high."""
    _edit(logs / "broker-1" / "state-change.log", 74, b"leader=3", b"leader=1")
    _edit(logs / "broker-1" / "controller.log", 32, b"with epoch 2", b"with epoch 4")


def incomplete(logs: Path) -> None:
    """One broker is missing. Another's file has a prefix on each line. One file is empty, and one has
    stamps without a date.
    """
    shutil.rmtree(logs / "broker-3")
    path = logs / "broker-2" / "server.log"
    path.write_bytes(b"".join(b"broker-2  | " + line for line in path.read_bytes().splitlines(keepends=True)))
    (logs / "broker-2" / "empty.log").touch()
    path = logs / "broker-1" / "state-change.log"
    path.write_bytes(path.read_bytes().replace(b"[2026-11-21 ", b"[").rstrip(b"\n"))


def archive(logs: Path) -> None:
    """Everything in one archive, with a damaged one beside it."""
    with tarfile.open(logs.parent / "all.tar.gz", "w:gz") as packed:
        packed.add(logs, "cluster")
    shutil.rmtree(logs)
    logs.mkdir()
    content = (logs.parent / "all.tar.gz").rename(logs / "all.tar.gz").read_bytes()
    (logs / "damaged.tar.gz").write_bytes(content[: len(content) // 2])


def _edit(path: Path, number: int, old: bytes, new: bytes) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    assert old in lines[number - 1]
    lines[number - 1] = lines[number - 1].replace(old, new)
    path.write_bytes(b"".join(lines))


def empty(logs: Path) -> None:
    """A file without a byte alone."""
    shutil.rmtree(logs)
    logs.mkdir()
    (logs / "server.log").touch()


CHANGES: dict[str, Callable[[Path], None]] = {
    "rotated": rotated,
    "inconsistent": inconsistent,
    "incomplete": incomplete,
    "archive": archive,
    "empty": empty,
}


@pytest.mark.spark
def test_each_of_several_clusters_gets_the_answer_of_the_local_command(spark: SparkSession, tmp_path: Path) -> None:
    for name, change in CHANGES.items():
        change(unpack_sample("elections", tmp_path / name))
    inputs = list_inputs(spark, [str(tmp_path)], f"{tmp_path}/([^/]*)/")
    found = said_on_spark(spark, inputs, SMALL_PARTS)
    assert list(found) == sorted(CHANGES)
    for cluster, answer in found.items():
        assert answer == said_locally(tmp_path / cluster), cluster
    verdicts = {cluster: answer["verdict"] for cluster, answer in found.items()}
    assert verdicts["rotated"] == verdicts["archive"] == "consistent"
    assert verdicts["inconsistent"] == "inconsistent"
    assert verdicts["incomplete"] == "consistent"  # it says what it rests on


@pytest.mark.slow
@pytest.mark.spark
def test_every_recording_gets_the_answer_of_the_local_command(spark: SparkSession, tmp_path: Path) -> None:
    for path in [sample("elections"), sample("duplicate-broker"), *sorted(RECORDINGS.glob("[ABC]*.tar.xz"))]:
        with tarfile.open(path) as packed:
            packed.extractall(tmp_path / path.name.partition(".")[0], filter="data")
    inputs = list_inputs(spark, [str(tmp_path)], f"{tmp_path}/([^/]*)/")
    locally = {folder.name: said_locally(folder) for folder in tmp_path.iterdir()}
    assert len(locally) >= 7
    for part_bytes in (50_000, WorkDivision().part_bytes):
        found = said_on_spark(spark, inputs, WorkDivision(part_bytes))
        assert found.keys() == locally.keys()
        for cluster, answer in found.items():
            assert answer == locally[cluster], (cluster, part_bytes)


@pytest.mark.slow
def test_the_lines_of_each_cluster_call_for_its_spec() -> None:
    wanted = select_by_lines(settings={"NoSuchParameter": "1"})
    assert set(wanted.bundled) == {"kafka/cluster", "kafka/kraft/cluster"}
    with pytest.raises(SpecError):
        wanted.spec(wanted.choice({}))
    wanted = select_by_lines()
    assert wanted.spec(wanted.choice({"ControllerElected": 3})).kernel.name == "kafka.cluster"
    choice = wanted.choice({"QuorumLeader": 1})
    assert (choice.clause, wanted.spec(choice).kernel.name) == ("kraft_logs", "kafka.kraft.cluster")


def test_a_file_system_that_spark_does_not_know_is_told_with_what_brings_it() -> None:
    with pytest.raises(SpecError) as problem, as_diagnostic("E840", "`s3a://logs` cannot be listed"):
        raise PySparkException(
            "java.lang.ClassNotFoundException: Class org.apache.hadoop.fs.s3a.S3AFileSystem not found"
        )
    (found,) = problem.value.diagnostics
    assert found.code == "E840"
    assert "spark.jars.packages" in found.notes[0].message


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("An error occurred while calling o80.collectToPython", "An error occurred while calling o80.collectToPython"),
        ("An error occurred while calling o80.load.\n: java.io.IOException: no", "java.io.IOException: no"),
        ("", "Py4JError"),
    ],
)
def test_the_first_line_that_says_something_is_told(said: str, expected: str) -> None:
    """A process of Java that ends in the midst of a call says no more than which."""
    with pytest.raises(SpecError) as problem, as_diagnostic("E843", "Spark failed"):
        raise Py4JError(said)
    assert [each.message for each in problem.value.diagnostics] == [f"Spark failed: {expected}"]


def listing_codes(*paths: str, clusters: str | None = None) -> list[str]:
    with pytest.raises(SpecError) as problem:
        list_inputs(None, paths, clusters)  # type: ignore[arg-type]  # no session is needed for what lies here
    return [each.code for each in problem.value.diagnostics]


def test_input_that_cannot_be_listed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.log").touch()
    assert listing_codes("-") == ["E842"]
    assert listing_codes(str(tmp_path / "nothing*.log")) == ["E601"]
    assert listing_codes("long" * 2_000 + "*") == ["E601"]
    assert listing_codes(str(tmp_path), clusters="(") == ["E841"]
    assert listing_codes(str(tmp_path), clusters="a.log") == ["E841"]
    assert listing_codes(str(tmp_path), clusters="(b.log)") == ["E841"]


def test_paths_patterns_and_files_with_hidden_names_are_listed(tmp_path: Path) -> None:
    for name in ("b.log", "a.log", "_c.log", "x/d [1].log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")
    inputs = list_inputs(None, [f"{tmp_path}/[ab].log", f"{tmp_path}/_c.log", f"{tmp_path}/x"])  # type: ignore[arg-type]
    assert [Path(file.listed.name).name for file in inputs.files] == ["a.log", "b.log", "_c.log", "d [1].log"]
    assert [file.listed.named for file in inputs.files] == [True, True, True, False]
    assert inputs.files[3].pattern.endswith(r"/d \[1\].log")


@pytest.mark.spark
def test_logs_beside_the_working_directory_are_read(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = unpack_sample("elections", tmp_path / "logs")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    path = Path("..") / logs.relative_to(tmp_path)
    assert said_on_spark(spark, list_inputs(spark, [str(path)]), SMALL_PARTS) == {"": said_locally(path)}


def test_the_path_of_a_log_is_told_as_spark_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `..` in it, what Spark hands back would belong to no file."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "server.log").write_text("text")
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "deep")
    monkeypatch.chdir(tmp_path / "elsewhere")
    for path in ("../logs", "../logs/server.log", "../link/../../logs"):
        (file,) = list_inputs(None, [path]).files  # type: ignore[arg-type]  # as above
        assert file.path == f"file:{(tmp_path / 'logs').resolve()}/server.log"
        assert file.listed.name.startswith(path)


def test_a_file_behind_two_paths_is_read_once_and_said_as_it_is_locally(tmp_path: Path) -> None:
    logs = unpack_sample("elections", tmp_path / "logs")
    paths = [str(logs), str(logs / "broker-1" / "server.log"), str(logs / "broker-2"), f"{logs}/*-3/*.log"]
    inputs = list_inputs(None, paths)  # type: ignore[arg-type]  # as above
    assert [file.number for file in inputs.files] == list(range(len(inputs.files)))
    assert len({file.path for file in inputs.files}) == len(inputs.files)
    locally = read_logs([*paths[:3], *sorted((logs / "broker-3").glob("*.log"))]).notices
    assert list(inputs.notices) == [each for each in locally if each.kind == "duplicated input"]


def test_a_notice_between_files_stands_before_one_of_them(tmp_path: Path) -> None:
    logs = unpack_sample("elections", tmp_path / "logs")
    first, *others = (str(logs / f"broker-{number}" / "server.log") for number in (1, 2, 3))
    inputs = list_inputs(None, [first, first, *others])  # type: ignore[arg-type]  # as above
    assert [len(file.before) for file in inputs.files] == [0, 1, 0]
    assert inputs.notices == ()


@pytest.mark.spark
def test_a_uri_is_listed_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a b%20.log").write_text("text")
    (file,) = list_inputs(spark, [tmp_path.as_uri()]).files
    assert file.listed.name == f"file:{tmp_path}/a b%20.log"
    assert not file.listed.named
    with pytest.raises(SpecError) as problem:
        list_inputs(spark, [f"{tmp_path.as_uri()}/nothing"])
    assert problem.value.diagnostics[0].code == "E840"


@pytest.mark.parametrize("text", ["", "one", "one\n", "\n\n", "a line\nand a longer line\n\nthe last, without an end"])
def test_ranges_of_any_size_have_each_line_once(tmp_path: Path, text: str) -> None:
    path = tmp_path / "server.log"
    path.write_text(text)
    file = LogFile(0, "", ListedFile(str(path), str(path), named=False, size=len(text)), f"file:{path}")
    for size in range(1, len(text) + 1):
        with path.open("rb") as stream:
            found = [
                lines_between(stream, each.part, each.part + each.size)
                for each in file_ranges(file, size)
                if each.part >= 0
            ]
        assert b"".join(found) == text.encode() or size == len(text)
        assert all(part.endswith(b"\n") or not part for part in found[:-1] if b"".join(found).endswith(b"\n"))
    assert [each.part for each in file_ranges(file, None)] == [WHOLE]


def test_slices_are_bundled_by_size_and_a_giant_is_alone() -> None:
    sizes = {"a": LEAST - 2, "b": 1, "c": 1, "d": 9 * LEAST, "e": 1, "f": LEAST}
    assert bundles_of(sizes, 100) == [["a", "b", "c"], ["d"], ["e"], ["f"]]
    assert bundles_of(sizes, 1) == [list(sizes)]
    assert bundles_of({"a": 3 * MOST, "b": MOST - 1, "c": 2}, 1) == [["a"], ["b"], ["c"]]
    assert bundles_of({}, 3) == []


@pytest.mark.slow
def test_what_slices_share_is_sent_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_tasks, "BYTES_IN_ROW", 10_000)
    asked, _ = validate_shared_part(
        ClusterQuestion(select_by_lines()), read_logs([unpack_sample("elections", tmp_path)])
    )
    parts = {row["number"]: row["content"] for row in rows_of_shared(asked)}
    assert len(parts) > 2
    assert max(map(len, parts.values())) == 10_000
    found = shared_of(dict(reversed(parts.items())))
    assert (found.shared.execution, found.slices) == (asked.shared.execution, asked.slices)


@pytest.mark.slow
def test_executions_travel_packed(tmp_path: Path) -> None:
    """They are unpacked with what the bytes have in common that all who read them have."""
    asked, slices = validate_shared_part(
        ClusterQuestion(select_by_lines()), read_logs([unpack_sample("elections", tmp_path)])
    )
    task = to_bytes((asked.shared.joint, asked.basis))
    assert asked.shared.joint is not None
    for row in rows_of_slices([list(slices)], slices):
        rows = pa.RecordBatch.from_pylist([{**row, "cluster": ""}])
        for keep in (False, True):
            shelf = shelf_of(task)
            for batch in answer_slices({"": task}, keep, STANDARD, iter([rows])):
                (answer,) = batch.to_pylist()
                found = slice_answer(answer["content"], answer["execution"], shelf)
                expected = Joiner(asked.shared.joint).of_slice(answer["name"], slices[answer["name"]]).result.execution
                assert found.result.execution == (expected if keep else None)


@pytest.mark.slow
def test_slices_sent_in_bundles_are_what_they_were(tmp_path: Path) -> None:
    question = ClusterQuestion(select_by_lines())
    _, slices = validate_shared_part(question, read_logs([unpack_sample("elections", tmp_path / "logs")]))
    names = list(slices)
    rows = list(rows_of_slices([names[:3], names[3:]], slices))
    sent = [from_bytes(row["content"], catalogue_of(question.read)) for row in rows]
    assert [list(each) for each in sent] == [names[:3], names[3:]]
    for name, events in (item for each in sent for item in each.items()):
        assert list(events) == list(slices[name])
        assert events.times.tolist() == slices[name].times.tolist()
        assert events.numbers.tolist() == slices[name].numbers.tolist()


@pytest.mark.spark
def test_a_bundle_is_answered_by_one_task_and_the_largest_tasks_come_first(spark: SparkSession) -> None:
    bundles = [Bundle("east", 0, 500), *(Bundle("east", number, 1) for number in range(1, 9)), Bundle("west", 0, 900)]
    rows = spark.createDataFrame(
        [(each.cluster, "slice", str(each.number), each.number, b"") for each in bundles], CLUSTER_ROWS
    )
    found = (
        partition_by_task(spark, rows, balance(bundles, 3, 1 << 20))
        .selectExpr("*", "spark_partition_id() AS at")
        .collect()
    )
    at = {(row.cluster, row.number): row.at for row in found}
    assert len(found) == len(at) == len(bundles)
    assert (at.pop(("west", 0)), at.pop(("east", 0))) == (0, 1)
    assert set(at.values()) == {2}


@pytest.mark.slow
@pytest.mark.spark
def test_a_log_with_a_giant_slice_gets_the_answer_of_the_local_command(spark: SparkSession, tmp_path: Path) -> None:
    """Of a simulated cluster with one partition beside a recording, every slice is a giant in one of the two."""
    generate(tmp_path / "one", 60_000, brokers=3, partitions=1, violations=0, seed=1)
    unpack_sample("elections", tmp_path / "many")
    inputs = list_inputs(spark, [str(tmp_path)], rf"{tmp_path}/([^/]+)/")
    found = said_on_spark(spark, inputs, SMALL_PARTS)
    assert found == {name: said_locally(tmp_path / name) for name in ("one", "many")}
