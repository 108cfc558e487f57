"""Logs that grow are validated as they grow; nothing is lost or counted twice by rotation, by half a line, or by a restart."""

from __future__ import annotations

import gzip
from contextlib import nullcontext
from pathlib import Path
from threading import Event, Timer
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from benchmarks.synthetic import generate
from tests.unit.spark.local_answer import loaded, said, said_locally

from assay.grammar.diagnostics.diagnostic import SpecError
from assay.spark.logs.read_tasks import reader_of
from assay.spark.logs.spec_for_cluster import SpecSelection
from assay.spark.logs.tasks import STANDARD, ClusterQuestion
from assay.spark.logs.validate import ClusterAnswer
from assay.spark.streaming import query as live
from assay.spark.streaming.kafka_source import Topic, lines_of
from assay.spark.streaming.query import LiveQuery, VerdictChange, follow
from assay.spark.streaming.state_store import StoredPiece, before_gap, contiguous_pieces, end_of, gap_notice
from assay.traces.input.file_contents import RecordOrigin
from assay.traces.input.split_files import read_piece
from assay.traces.log_reader import ReadOptions
from assay.traces.samples import unpack_sample

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Reported:
    """The answers and changes that a query reported."""

    def __init__(self) -> None:
        self.answers: list[ClusterAnswer] = []
        self.changes: list[list[VerdictChange]] = []

    def __call__(self, answer: ClusterAnswer, changes: list[VerdictChange]) -> None:
        self.answers.append(answer)
        self.changes.append(changes)


def grow(source: Path, logs: Path, begin: float, end: float) -> None:
    """Write on: of each file what lies between two parts of its length, wherever that is within a line."""
    for path in sorted(source.rglob("*.log")):
        text = path.read_bytes()
        target = logs / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("ab") as stream:
            stream.write(text[int(begin * len(text)) : int(end * len(text))])


@pytest.mark.slow
@pytest.mark.spark
def test_growing_logs_are_validated_over_rotation_and_restart(spark: SparkSession, tmp_path: Path) -> None:
    source = tmp_path / "source"
    generate(source, 40_000, brokers=3, partitions=4, violations=0, seed=1)
    logs, state, reported = tmp_path / "logs", tmp_path / "state", Reported()

    def run() -> None:
        query = follow(spark, logs, loaded(), state, reported, delay=0)
        try:
            query.processAllAvailable()
        finally:
            query.stop()

    grow(source, logs, 0, 0.4)
    run()
    assert reported.answers[-1].validation.counts.read > 0
    (logs / "broker-1" / "server.log").rename(logs / "broker-1" / "server.log.1")
    grow(source, logs, 0.4, 1)
    run()
    found = said(reported.answers[-1])
    assert found == said_locally(logs)
    assert [change.verdict for change in reported.changes[-1] if change.slice is None] == [found["verdict"]]
    batches = len(reported.answers)
    run()
    assert len(reported.answers) == batches


def test_the_longest_pieces_that_follow_one_another_are_taken() -> None:
    """Pieces of bytes 0 to 5, 5 to 9, then 0 to 12 read again, and 12 to 20, of which 12 to 15 are read again. What lies
    behind a gap, or has no beginning, is recognised by them.
    """
    rows = [_stored("a", 1, 0, 5), _stored("a", 2, 5, 4), _stored("a", 3, 0, 12), _stored("a", 4, 12, 8)]
    rows += [_stored("a", 5, 30, 5), _stored("a", 5, 31, 2), _stored("b", 4, 3, 8)]
    rows += [_stored("a", 6, 12, 3)]
    found = contiguous_pieces(rows)
    assert {name: [(piece.batch, piece.part) for piece in own] for name, own in found.items()} == {
        "a": [(3, 0), (4, 12), (5, 30)],
        "b": [(4, 3)],
    }
    assert [(piece.part, piece.size) for piece in before_gap(found["a"])] == [(0, 12), (12, 8)]
    assert (before_gap(found["b"]), end_of(found["a"]), end_of([])) == ([], 35, 0)
    assert [gap_notice("a", before_gap(found["a"])), gap_notice("b", [])] == [None, None]
    notice = gap_notice("a.log", found["a"])
    assert notice is not None
    assert notice.text.startswith("0 lines that were read from byte 30 on (5 bytes) are left out: ")


def _stored(identity: str, batch: int, part: int, size: int) -> tuple[str, StoredPiece]:
    nothing = read_piece(reader_of(STANDARD), b"", RecordOrigin(identity, "", identity), STANDARD.scan, part)
    return identity, StoredPiece(batch, part, size, identity, nothing)


class Source:
    """A source that has more to read, or none, as the test sets it."""

    def __init__(self) -> None:
        self.more = False

    def stream(self, spark: SparkSession) -> DataFrame:
        raise NotImplementedError

    def pieces(self, grown: DataFrame, known: Any, options: ReadOptions) -> DataFrame:
        return grown

    def texts(self, known: Any, kept: Any, options: ReadOptions) -> Any:
        return known

    def has_more(self, known: Any) -> bool:
        return self.more


class Answering:
    """Answers that come when they are let go; the texts of each is the number of its micro-batch."""

    def __init__(self) -> None:
        self.go, self.begun = Event(), list[int]()
        self.fails = False

    def answer(self, texts: int) -> Any:
        self.begun.append(texts)
        assert self.go.wait(60)
        if self.fails:
            raise SpecError([])
        return texts


def slowly(source: Source, answering: Answering, reported: list[int], monkeypatch: pytest.MonkeyPatch) -> LiveQuery:
    """A query that answers so, and tells the number of each answer."""
    kept: Any = SimpleNamespace(pieces=lambda number: number, keep=lambda rows, number: None)
    monkeypatch.setattr(live, "configured", lambda spark, settings: nullcontext())
    question = ClusterQuestion(SpecSelection(loaded()))
    found = LiveQuery(source, question, kept, lambda answer, changes: reported.append(cast(int, answer)))
    monkeypatch.setattr(LiveQuery, "_changes", lambda self, found: [])
    monkeypatch.setattr(LiveQuery, "_begin", lambda self, spark: answering)
    return found


GROWN: Any = SimpleNamespace(sparkSession=None)


def test_what_has_come_since_is_read_while_an_answer_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    source, answering, reported = Source(), Answering(), list[int]()
    query = slowly(source, answering, reported, monkeypatch)
    source.more = True
    query.batch(GROWN, 0)
    assert reported == []
    answering.go.set()
    source.more = False
    query.batch(GROWN, 1)
    assert (answering.begun, reported) == ([1, 2], [1, 2])


def test_the_last_micro_batch_ends_with_its_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    source, answering, reported = Source(), Answering(), list[int]()
    query = slowly(source, answering, reported, monkeypatch)
    Timer(0.2, answering.go.set).start()
    query.batch(GROWN, 0)
    assert reported == [1]


def test_an_answer_that_fails_fails_the_next_micro_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    source, answering, reported = Source(), Answering(), list[int]()
    query = slowly(source, answering, reported, monkeypatch)
    source.more, answering.fails = True, True
    answering.go.set()
    query.batch(GROWN, 0)
    with pytest.raises(SpecError):
        query.batch(GROWN, 1)
    assert reported == []


@pytest.mark.parametrize(("slots", "here"), [(2, False), (3, True)])
def test_slices_are_sent_to_tasks_where_a_cluster_has_more_processors(
    slots: int, here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "most_processes", lambda: 2)
    monkeypatch.setattr(live, "slots", lambda spark: slots)
    given: list[int] = []
    monkeypatch.setattr(live, "IncrementalValidator", lambda question, by_tasks, most: given.append(most))
    unused: Any = None
    LiveQuery(unused, ClusterQuestion(SpecSelection(loaded())), unused, unused)._begin(unused)
    assert (given[0] < 10**6) == here


def test_what_cannot_be_followed_is_refused(tmp_path: Path) -> None:
    sessions: Any = SimpleNamespace(sparkContext=None), SimpleNamespace()
    for spark, logs, text in (
        (sessions[0], "s3a://logs/east", "only a directory"),
        (sessions[1], str(tmp_path), "Spark Connect"),
    ):
        with pytest.raises(SpecError) as problem:
            follow(spark, logs, loaded(), tmp_path / "state", Reported())
        assert [each.code for each in problem.value.diagnostics] == ["E842"]
        assert text in problem.value.diagnostics[0].message


@pytest.mark.slow
def test_a_compressed_copy_of_what_was_read_counts_once(tmp_path: Path) -> None:
    """Rotation compresses a file of which some lines were read already: pieces of it and the whole are both there."""
    source = unpack_sample("elections", tmp_path / "source")
    before = said_locally(source)
    path = source / "broker-2" / "state-change.log"
    text = path.read_bytes()
    path.with_name("state-change.log.1.gz").write_bytes(gzip.compress(text))
    path.write_bytes(b"".join(text.splitlines(keepends=True)[:40]))
    after = said_locally(source)
    assert (after["verdict"], after["slices"], after["events"]) == (
        before["verdict"],
        before["slices"],
        before["events"],
    )


RECORDS = (
    "key binary, value binary, topic string, partition int, offset long, timestamp timestamp, timestampType int, "
    "headers array<struct<key: string, value: binary>>"
)
"""What Spark's connector for Kafka hands out."""


class Records:
    """A topic whose records come from files: as the connector's do, out of order."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._offset = 0

    def write(self, spark: SparkSession, source: Path, begin: float, end: float) -> None:
        rows: list[tuple[object, ...]] = []
        for path in sorted(source.rglob("*.log")):
            lines = path.read_bytes().splitlines()
            for line in lines[int(begin * len(lines)) : int(end * len(lines))]:
                headers = [("file", f"/var/log/{path.name}".encode())]
                rows.append((path.parent.name.encode(), line, "logs", 0, self._offset, None, 0, headers))
                self._offset += 1
        rows.append((b"broker-1", None, "logs", 0, self._offset, None, 0, None))
        self._offset += 1
        spark.createDataFrame(rows[::-1], RECORDS).coalesce(1).write.mode("append").parquet(str(self.place))


class FromFiles(Topic):
    """A topic read through those files instead of the connector."""

    def stream(self, spark: SparkSession) -> DataFrame:
        return lines_of(spark.readStream.schema(RECORDS).parquet(self.servers))


@pytest.mark.slow
@pytest.mark.spark
def test_a_topic_is_followed_over_a_restart(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, reported = tmp_path / "source", Reported()
    generate(source, 40_000, brokers=3, partitions=4, violations=0, seed=1)
    records = Records(tmp_path / "records")
    topic = FromFiles(str(records.place), "logs", {})
    monkeypatch.setattr(live, "Topic", SimpleNamespace(of=lambda *_: topic))
    for begin, end in ((0, 0.5), (0.5, 1)):
        records.write(spark, source, begin, end)
        query = follow(spark, "kafka://host:9092/logs", loaded(), tmp_path / "s", reported, delay=0)
        query.processAllAvailable()
        query.stop()
    found, expected = said(reported.answers[-1]), said_locally(source)
    assert (found["verdict"], found["slices"], found["events"]) == (
        expected["verdict"],
        expected["slices"],
        expected["events"],
    )
    assert [node["name"] for node in found["input"]["nodes"]] == [node["name"] for node in expected["input"]["nodes"]]


@pytest.mark.spark
def test_without_the_connector_a_topic_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as problem:
        follow(spark, "kafka://127.0.0.1:9092/logs", loaded(), tmp_path, Reported())
    (found,) = problem.value.diagnostics
    assert found.code == "E842"
    assert "the topic `logs` of 127.0.0.1:9092" in found.message
    assert "spark-sql-kafka-0-10_2.13:4." in found.notes[0].message
