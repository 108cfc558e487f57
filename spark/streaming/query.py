"""Logs validated while they are written: a streaming query, whose micro-batches read the new lines and update the
answer.

Tasks read new lines, and what they read is stored (``state_store``). The answer about all lines is made of that
(``incremental_answer``). Why late lines are held back, and why the next micro-batch reads while an answer is made:
docs/design/live-validation.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import field
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError
from assay.grammar.lazy_dataclass import dataclass
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
from assay.spark.streaming.file_source import (
    GrowingLogs,
    has_grown,
    is_compressed_now,
    newest_generations,
    packed_paths,
    paths_by_identity,
)
from assay.spark.streaming.forked_workers import most_processes
from assay.spark.streaming.incremental_answer import MAX_LOCAL_EVENTS, Answers, Events, IncrementalValidator
from assay.spark.streaming.kafka_source import Topic, is_topic
from assay.spark.streaming.state_store import PIECES, PieceStore, StoredPiece, before_gap, end_of, gap_notice
from assay.spark.tasks.job import is_remote
from assay.spark.tasks.preflight import slots
from assay.traces.event import Notice
from assay.traces.input.sources import ListedFile, unreadable
from assay.traces.input.split_files import read_piece
from assay.traces.log_reader import ReadOptions
from assay.traces.options import DEFAULT_OPTIONS, Options
from assay.traces.pickling import from_bytes, to_bytes

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

DELAY = 10_000
"""How many milliseconds lines are held back, so that later ones from other files can arrive."""


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """A verdict that has changed: of a slice, or of the whole where ``slice`` is None."""

    slice: str | None
    verdict: str
    reason: str | None


AnswerCallback = Callable[[ClusterAnswer, list[VerdictChange]], None]
Pieces = Mapping[str, Sequence[StoredPiece]]


class LogSource(Protocol):
    """Where lines come from."""

    def stream(self, spark: SparkSession) -> DataFrame:
        """The streaming DataFrame of new lines; raises SpecError."""
        ...

    def pieces(self, grown: DataFrame, known: Pieces, options: ReadOptions) -> DataFrame:
        """What tasks read of new lines, as rows of ``PIECES``; ``known`` is what was read before."""
        ...

    def texts(self, known: Pieces, store: PieceStore, options: ReadOptions) -> Texts:
        """All that was read, text by text."""
        ...

    def has_more(self, known: Pieces) -> bool:
        """Whether there is certainly more than was read."""
        ...


@dataclass(slots=True)
class Directory:
    """The files below a directory that all executors see."""

    path: str
    _packed: dict[tuple[str, int, int], bytes] = field(default_factory=dict)
    """What was read of compressed files, by path, size and time of change."""

    def stream(self, spark: SparkSession) -> DataFrame:
        """The lines by which files grow."""
        spark.dataSource.register(GrowingLogs)
        return spark.readStream.format(GrowingLogs.name()).option("tasks", slots(spark)).load(self.path)

    def pieces(self, grown: DataFrame, known: Pieces, options: ReadOptions) -> DataFrame:  # noqa: ARG002 - see Topic
        """A row for each part by which a file grew."""
        return grown.mapInArrow(partial(_read_pieces, to_bytes(options)), PIECES)

    def texts(self, known: Pieces, store: PieceStore, options: ReadOptions) -> Texts:  # noqa: ARG002 - see Topic
        """The files sorted by their names: each under the name that it has now, or had last. Compressed files are
        unpacked.

        Lines of a compressed file that were read before it was compressed count once.
        """
        texts = Texts()
        newest = newest_generations(known)
        now = {newest.get(key, key): path for key, path in paths_by_identity(self.path, texts.on_the_way).items()}
        read: list[tuple[str, FileRead]] = []
        for key, own in known.items():
            row = before_gap(own)
            again = len(row) < len(own) and key in now  # the stored pieces have a gap, and the file does not
            listed = _listed(now.get(key, own[-1].path), end_of(own if again else row))
            texts.on_the_way += filter(None, [None if again else gap_notice(listed.name, own)])
            found = None if again else join_file_parts(options, listed, [each.piece for each in row])
            # Only a text that its pieces cannot show: of all others the pieces count, and equal records count once.
            if found is None and key not in now and is_compressed_now(key, Path(listed.location)):
                continue  # its lines are read from the compressed file
            if row or again:
                read.append((listed.name, found or _whole(listed, options)))
        read += self._unpacked(options, texts.on_the_way)
        # In the order in which the local command walks a directory.
        for _, file in sorted(read, key=lambda each: Path(each[0]).parts):
            texts.take(file)
        return texts

    def has_more(self, known: Pieces) -> bool:
        """Whether a file has more whole lines than were read of it."""
        return has_grown(self.path, {key: end_of(own) for key, own in known.items()})

    def _unpacked(self, options: ReadOptions, notices: list[Notice]) -> list[tuple[str, FileRead]]:
        """What compressed files hold; each is unpacked once."""
        # Only files that are still there are kept, so that memory does not grow with each rotation.
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


def _listed(path: str, size: int) -> ListedFile:
    return ListedFile(path, path, named=False, size=size)


def _whole(listed: ListedFile, options: ReadOptions) -> FileRead:
    """A file that has to be read as a whole, up to the byte to which it has been followed."""
    try:
        with Path(listed.location).open("rb") as stream:
            return read_file(listed, stream.read(listed.size), options)
    except OSError as error:
        text = f"`{listed.name}` cannot be read as a whole, as its layout asks for: {error.strerror}"
        raise SpecError([Diagnostic(NOT_READ, NOWHERE, text)]) from None


@dataclass(slots=True)
class LiveQuery:
    """Validation batch by batch. ``on_answer`` is called with the answer about the lines so far, and the verdicts
    that changed.
    """

    source: LogSource
    question: ClusterQuestion
    store: PieceStore
    on_answer: AnswerCallback
    _validator: IncrementalValidator | None = None
    _verdicts: dict[str | None, VerdictChange] = field(default_factory=dict)
    _job: Lock = field(default_factory=Lock)
    """Held while a job runs: the settings are those of the session, and would change under a job of the other
    thread.
    """
    _thread: ThreadPoolExecutor = field(default_factory=partial(ThreadPoolExecutor, 1))
    _answering: Future[None] | None = None

    def batch(self, grown: DataFrame, number: int) -> None:
        """Read the new lines, and start the answer. Returns before it is finished if there is more to read already."""
        options, spark = self.question.read, grown.sparkSession
        with self._configured(spark):
            # Without what an earlier attempt at this micro-batch has read: that is written anew.
            self.store.keep(self.source.pieces(grown, self.store.pieces(number), options), number)
        # An error of the answer before ends the query here.
        if self._answering is not None:
            self._answering.result()
        # Read from the store, as after a restart: what is answered is what was kept.
        known = self.store.pieces(number + 1)
        self._validator = self._validator or self._begin(spark)
        texts = self.source.texts(known, self.store, options)
        self._answering = self._thread.submit(self._answer, self._validator, texts)
        # With more to read Spark begins the next micro-batch meanwhile; without, an error must end the query now.
        if not self.source.has_more(known):
            self._answering.result()

    def _begin(self, spark: SparkSession) -> IncrementalValidator:
        """What validates incrementally.

        Where the cluster has no more cores than this process, slices are not sent there: the progress of checks is only
        kept in this process.
        """
        here = MAX_LOCAL_EVENTS if slots(spark) > most_processes() else sys.maxsize
        return IncrementalValidator(self.question, partial(self._by_tasks, spark), here)

    def _answer(self, validator: IncrementalValidator, texts: Texts) -> None:
        found = validator.answer(texts)
        self.on_answer(found, self._changes(found))

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
        # A slice that was never told of has no verdict before, which differs from any.
        changes = [each for each in now if self._verdicts.get(each.slice) != each]
        self._verdicts = {each.slice: each for each in now}
        return changes


def _by_tasks(spark: SparkSession, question: ClusterQuestion, asked: ClusterAnswers, slices: Events) -> Answers:
    """The answers about slices, made by the tasks of a session."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    sizes = {name: len(events) for name, events in slices.items()}
    asked = asked._replace(slices=sizes, bundles=bundles_of(sizes, TASKS_PER_CORE * slots(spark)))
    rows = ({"cluster": "", **row} for row in rows_of_slices(asked.bundles, slices))
    table = spark.createDataFrame(pa.Table.from_batches(batches_of(CLUSTER_ROWS, rows)))
    found = slice_answers(spark, table, {"": asked}, question, DEFAULT_DIVISION, keep_executions=False)
    return {name: answer for (_, name), answer in found.items()}


def follow(  # noqa: PLR0913 - keyword arguments, most with a default
    spark: SparkSession,
    logs: str | Path,
    loaded: Loaded,
    state: str | Path,
    on_answer: AnswerCallback,
    *,
    delay: int = DELAY,
    options: Options = DEFAULT_OPTIONS,
    read: ReadOptions = STANDARD,
    source: Mapping[str, str] | None = None,
) -> StreamingQuery:
    """Validate logs while they grow, until the query is stopped: files in a directory, or the lines of a topic
    (``kafka://HOST:PORT/TOPIC``).

    ``state`` is a directory that the driver and all executors see; the query stores there what it needs to continue.
    ``on_answer`` is called after each micro-batch. A line counts once lines ``delay`` milliseconds later have been
    read. ``source`` are options of Spark's Kafka connector.

    Raises SpecError (E842) for another URI, for a topic without the connector, and through Spark Connect.
    """
    require_pyspark()
    place = Path(state).absolute()
    chosen = _source(spark, str(logs), source or {})
    # Measures and notes are left out (`measure=False`): any new line may change them, so they cannot be continued.
    question = ClusterQuestion(
        SpecSelection(loaded), options=options, scope=EVERYTHING, read=read, delay=delay, measure=False
    )
    live = LiveQuery(chosen, question, PieceStore(place / "pieces", read), on_answer)
    writer = chosen.stream(spark).writeStream.foreachBatch(live.batch)
    return writer.option("checkpointLocation", f"file:{place / 'checkpoint'}").start()


def _source(spark: SparkSession, logs: str, options: Mapping[str, str]) -> LogSource:
    problems: list[Diagnostic] = []
    if is_remote(spark):
        text = "logs cannot be followed through Spark Connect: there the callback would run in another process"
        problems.append(Diagnostic(NOT_ON_SPARK, NOWHERE, text))
    if URI.match(logs) and not is_topic(logs):
        text = (
            f"`{logs}` cannot be followed: only a directory can that all executors see, "
            "and a topic (`kafka://HOST:PORT/TOPIC`)"
        )
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
        # Files keep their content, so that only what was found in it is stored.
        yield from batches_of(PIECES, [{**row, "size": len(row["content"]), "found": to_bytes(piece), "content": None}])
