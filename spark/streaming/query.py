"""Logs validated while they are written: a streaming query whose every micro-batch reads what is new and answers what it changes.

NOTE(live): Tasks read what is new, and what they read is kept (``kept``); the answer of all lines there are is made of that (``following``). A line that
comes late is like any other. So that the answer does not waver because one file is behind another, lines later than the watermark
(the latest time, less the delay) are held back; they count as soon as it passes them.

While an answer is made, mostly by one process, Spark may already read what has come since: where the source has grown meanwhile, a micro-batch ends
before its answer is there. The next one waits for it, and the last one, behind which there is nothing, ends with its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError
from assay.grammar.load import Loaded
from assay.spark.logs.inputs import NOT_ON_SPARK, NOT_READ, URI
from assay.spark.logs.read_tasks import TASKS_PER_CORE, FileRead, catalogue_of, read_file, reader_of, settings
from assay.spark.logs.spec_for_cluster import SpecSelection
from assay.spark.logs.tasks import (
    CLUSTER_ROWS,
    EVERYTHING,
    STANDARD,
    ClusterAnswers,
    ClusterQuestion,
    Texts,
    batches_of,
    bundles_of,
    join_file_parts,
    rows_of_slices,
)
from assay.spark.logs.validate import DEFAULT_DIVISION, ClusterAnswer, slice_answers
from assay.spark.session.session import configured, require_pyspark
from assay.spark.streaming.file_source import GrowingLogs, has_grown, is_compressed_now, packed_paths, paths_by_identity
from assay.spark.streaming.forked_workers import most_processes
from assay.spark.streaming.incremental_answer import HERE, Answers, Events, Following
from assay.spark.streaming.kafka_source import Topic, is_topic
from assay.spark.streaming.state_store import PIECES, Kept, Stored, before_gap, end_of, left_out
from assay.spark.tasks.job import is_remote
from assay.spark.tasks.preflight import slots
from assay.traces.event import Notice
from assay.traces.input.sources import Listed, unreadable
from assay.traces.input.split_files import read_piece
from assay.traces.log_reader import ReadOptions
from assay.traces.options import DEFAULT_OPTIONS, Options
from assay.traces.pickling import from_bytes, to_bytes

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

DELAY = 10_000
"""How long lines are held back for others that come late, in milliseconds."""


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A verdict that is not what it was: of a slice, or of the whole where ``slice`` is None."""

    slice: str | None
    verdict: str
    reason: str | None


Told = Callable[[ClusterAnswer, list[VerdictChange]], None]
Pieces = Mapping[str, Sequence[Stored]]


class LogSource(Protocol):
    """Where lines come from."""

    def stream(self, spark: SparkSession) -> DataFrame:
        """The rows that come; raises SpecError."""
        ...

    def pieces(self, grown: DataFrame, known: Pieces, options: ReadOptions) -> DataFrame:
        """What is read of some of them, as rows of ``PIECES``; ``known`` is what was read before."""
        ...

    def texts(self, known: Pieces, kept: Kept, options: ReadOptions) -> Texts:
        """All that was read, text by text."""
        ...

    def has_more(self, known: Pieces) -> bool:
        """Whether it is certain that there is more than was read."""
        ...


@dataclass(slots=True)
class Directory:
    """The files below a directory that all executors see."""

    path: str
    _packed: dict[tuple[str, int, int], bytes] = field(default_factory=dict)
    """What was found in compressed files, by name, size and time."""

    def stream(self, spark: SparkSession) -> DataFrame:
        """What the files grow by."""
        spark.dataSource.register(GrowingLogs)
        return spark.readStream.format(GrowingLogs.name()).option("tasks", slots(spark)).load(self.path)

    def pieces(self, grown: DataFrame, known: Pieces, options: ReadOptions) -> DataFrame:  # noqa: ARG002 - rows say where they belong
        """A row for each part that a file grew by."""
        return grown.mapInArrow(partial(_read_pieces, to_bytes(options)), PIECES)

    def texts(self, known: Pieces, kept: Kept, options: ReadOptions) -> Texts:  # noqa: ARG002 - files have their content
        """The files in the order of their names, each under the name that it has now, or had last; compressed ones as they are now.

        What a compressed file has that was read before it was compressed counts once.
        """
        texts = Texts()
        now = paths_by_identity(self.path, texts.on_the_way)
        read: list[tuple[str, FileRead]] = []
        for key, own in known.items():
            row = before_gap(own)
            again = len(row) < len(own) and key in now  # what was kept has a gap, and the file does not
            listed = _listed(now.get(key, own[-1].path), end_of(own if again else row))
            texts.on_the_way += filter(None, [None if again else left_out(listed.name, own)])
            found = None if again else join_file_parts(options, listed, [each.piece for each in row])
            if found is None and key not in now and is_compressed_now(key, Path(listed.location)):
                continue  # what has to be read as a whole is, there
            if row or again:
                read.append((listed.name, found or _whole(listed, options)))
        read += self._unpacked(options, texts.on_the_way)
        for _, file in sorted(read, key=lambda each: Path(each[0]).parts):
            texts.take(file)
        return texts

    def has_more(self, known: Pieces) -> bool:
        """Whether a file has more whole lines than were read of it."""
        return has_grown(self.path, {key: end_of(own) for key, own in known.items()})

    def _unpacked(self, options: ReadOptions, notices: list[Notice]) -> list[tuple[str, FileRead]]:
        """What compressed files hold; each is unpacked once."""
        before, self._packed = self._packed, {}
        for path in packed_paths(self.path):
            try:
                with suppress(FileNotFoundError):  # rotation has just removed it
                    status = Path(path).stat()
                    key = path, status.st_size, status.st_mtime_ns
                    content = before.get(key) or to_bytes(
                        read_file(_listed(path, status.st_size), Path(path).read_bytes(), options)
                    )
                    self._packed[key] = content
            except OSError as error:
                notices.append(unreadable(path, error.strerror))
        return [(path, from_bytes(content, catalogue_of(options))) for (path, *_), content in self._packed.items()]


def _listed(path: str, size: int) -> Listed:
    return Listed(path, path, named=False, size=size)


def _whole(listed: Listed, options: ReadOptions) -> FileRead:
    """What a file holds that has to be read as a whole, as far as it has been followed."""
    try:
        with Path(listed.location).open("rb") as stream:
            return read_file(listed, stream.read(listed.size), options)
    except OSError as error:
        text = f"`{listed.name}` cannot be read as a whole, as its layout asks for: {error.strerror}"
        raise SpecError([Diagnostic(NOT_READ, NOWHERE, text)]) from None


@dataclass(slots=True)
class Live:
    """Validation batch by batch. ``told`` gets the answer of the lines so far, and the verdicts that changed."""

    source: LogSource
    question: ClusterQuestion
    kept: Kept
    told: Told
    _following: Following | None = None
    _verdicts: dict[str | None, VerdictChange] = field(default_factory=dict)
    _job: Lock = field(default_factory=Lock)
    """Held while a job of the session runs: its settings are the session's."""
    _thread: ThreadPoolExecutor = field(default_factory=partial(ThreadPoolExecutor, 1))
    _answering: Future[None] | None = None

    def batch(self, grown: DataFrame, number: int) -> None:
        """Read what is new, and answer what it changes; before that answer is there if there is more to read."""
        options, spark = self.question.read, grown.sparkSession
        with self._configured(spark):
            self.kept.keep(self.source.pieces(grown, self.kept.pieces(number), options), number)
        if self._answering is not None:
            self._answering.result()
        known = self.kept.pieces(number + 1)
        self._following = self._following or self._begin(spark)
        texts = self.source.texts(known, self.kept, options)
        self._answering = self._thread.submit(self._answer, self._following, texts)
        if not self.source.has_more(known):
            self._answering.result()

    def _begin(self, spark: SparkSession) -> Following:
        """Where a cluster has no more processors than this process, it has nothing to send there: progress is kept of what is checked here alone."""
        here = HERE if slots(spark) > most_processes() else sys.maxsize
        return Following(self.question, partial(self._by_tasks, spark), here)

    def _answer(self, following: Following, texts: Texts) -> None:
        found = following.answer(texts)
        self.told(found, self._changes(found))

    @contextmanager
    def _configured(self, spark: SparkSession) -> Iterator[None]:
        with self._job, configured(spark, settings(DEFAULT_DIVISION.part_bytes)):
            yield

    def _by_tasks(self, spark: SparkSession, asked: ClusterAnswers, slices: Events) -> Answers:
        with self._configured(spark):
            return _by_tasks(spark, self.question, asked, slices)

    def _changes(self, found: ClusterAnswer) -> list[VerdictChange]:
        validation = found.validation
        now = [VerdictChange(None, validation.verdict.value, validation.reason)]
        now += [VerdictChange(each.name, each.verdict.value, each.reason) for each in validation.slices]
        changes = [each for each in now if self._verdicts.get(each.slice) != each]
        self._verdicts = {each.slice: each for each in now}
        return changes


def _by_tasks(spark: SparkSession, question: ClusterQuestion, asked: ClusterAnswers, slices: Events) -> Answers:
    """The answers about slices by the tasks of a session."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    sizes = {name: len(events) for name, events in slices.items()}
    asked = asked._replace(slices=sizes, bundles=bundles_of(sizes, TASKS_PER_CORE * slots(spark)))
    rows = ({"cluster": "", **row} for row in rows_of_slices(asked.bundles, slices))
    table = spark.createDataFrame(pa.Table.from_batches(batches_of(CLUSTER_ROWS, rows)))
    found = slice_answers(spark, table, {"": asked}, question, DEFAULT_DIVISION, keep_executions=False)
    return {name: answer for (_, name), answer in found.items()}


def follow(  # noqa: PLR0913 - a notebook names what it wants, and most have a default
    spark: SparkSession,
    logs: str | Path,
    loaded: Loaded,
    state: str | Path,
    told: Told,
    *,
    delay: int = DELAY,
    options: Options = DEFAULT_OPTIONS,
    read: ReadOptions = STANDARD,
    source: Mapping[str, str] | None = None,
) -> StreamingQuery:
    """Validate logs while they grow, until the query is stopped: those in a directory, or the lines of a topic (``kafka://HOST:PORT/TOPIC``).

    ``state`` is a directory that the driver and all executors see, where the query keeps what it needs to go on. ``told`` is called after each
    micro-batch. Lines count when ``delay`` milliseconds of later ones have been read. ``source`` are options of Spark's Kafka connector.
    Raises SpecError (E842) for another URI, for a topic without the connector, and through Spark Connect.
    """
    require_pyspark()
    place = Path(state).absolute()
    chosen = _source(spark, str(logs), source or {})
    question = ClusterQuestion(
        SpecSelection(loaded), options=options, scope=EVERYTHING, read=read, delay=delay, measure=False
    )
    live = Live(chosen, question, Kept(place / "pieces", read), told)
    writer = chosen.stream(spark).writeStream.foreachBatch(live.batch)
    return writer.option("checkpointLocation", f"file:{place / 'checkpoint'}").start()


def _source(spark: SparkSession, logs: str, options: Mapping[str, str]) -> LogSource:
    problems: list[Diagnostic] = []
    if is_remote(spark):
        text = "logs cannot be followed through Spark Connect: there the callback would run in another process"
        problems.append(Diagnostic(NOT_ON_SPARK, NOWHERE, text))
    if URI.match(logs) and not is_topic(logs):
        text = f"`{logs}` cannot be followed: only a directory can that all executors see, and a topic (`kafka://HOST:PORT/TOPIC`)"
        note = Note("what lies in a store is followed once something writes it to files or to a topic")
        problems.append(Diagnostic(NOT_ON_SPARK, NOWHERE, text, (note,)))
    if problems:
        raise SpecError(problems)
    return Topic.of(logs, options) if is_topic(logs) else Directory(str(Path(logs).absolute()))


def _read_pieces(options: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    how: ReadOptions = from_bytes(options)
    for row in (row for batch in batches for row in batch.to_pylist()):
        origin = _listed(row["path"], 0).origin()
        piece = read_piece(reader_of(how), row["content"], origin, how.scan, row["part"])
        yield from batches_of(PIECES, [{**row, "size": len(row["content"]), "found": to_bytes(piece), "content": None}])
