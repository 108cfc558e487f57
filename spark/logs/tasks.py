"""The tasks of validation: one for each cluster, which validates what its slices share, and then any number for the
slices.

The first tasks return rows of ``CLUSTER_ROWS``: the shared answer, cut into rows (``SHARED``), and the events of all
slices in bundles (``SLICE``).

A file that was read in parts may turn out to need reading as a whole, because of its layout. Then
the cluster returns a single row that names such files (``READ_AGAIN``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.spark.logs.inputs import NOT_READ, SHOWN, LogFile
from assay.spark.logs.read_tasks import WHOLE, FileRead, catalogue_of, read_file, reader_of
from assay.spark.logs.spec_for_cluster import SpecSelection
from assay.spark.session.worker_cache import freeze_loaded
from assay.traces.diagnosis.node_settings import Overview, overview
from assay.traces.diagnosis.redact import Redaction, redacted
from assay.traces.event import Event, Notice
from assay.traces.impact.outages import Basis, Meter
from assay.traces.input.pattern_matcher import may_be_pasted
from assay.traces.input.sources import ListedFile
from assay.traces.input.split_files import Piece, join_pieces
from assay.traces.log_reader import LogReading, ReadOptions, TextReading, drop_equal_texts, log_reading, without_gc
from assay.traces.options import DEFAULT_OPTIONS, Options
from assay.traces.pickling import from_bytes, to_bytes
from assay.traces.scoped_validate import (
    AnswerScope,
    InputRemarks,
    outage_basis,
    validate_shared_in_scope,
    with_corrected_clocks,
)
from assay.traces.shared_answer import SharedAnswer
from assay.traces.slices.packed_execution import PackedExecution, Shelf
from assay.traces.slices.slice_answer import SliceAnswer
from assay.traces.slices.slice_validator import Joiner
from assay.traces.spec_selection import SpecChoice, sign_names
from assay.traces.table.event_selection import Selection, detached
from assay.traces.table.statement_ids import StatementMemory

if TYPE_CHECKING:
    import pyarrow as pa

CLUSTER_ROWS = "cluster string, kind string, name string, number int, content binary"
SLICE_ROWS = "cluster string, name string, content binary, execution binary"
"""The answer about a slice, and its execution, packed, if executions are kept."""
SHARED, SLICE, EVENTS, READ_AGAIN, REFUSED = "shared", "slice", "events", "again", "refused"
EVENTS_IN_ROW = 2_000
LEAST, MOST = 1 << 12, 1 << 17
"""How many events a bundle of slices has at least and at most; a single larger slice is a bundle of its own.

A bundle is one row, of which Java has several copies at a time. With a million events in a row, a gigabyte of memory
was too little.
"""
BYTES_IN_ROW = 1 << 23
"""Bytes of the shared answer in one row: the execution of gigabytes of logs has a hundred million bytes."""
MOST_IN_TASK = 1 << 20
"""How many events the bundles of one task have at most, where there can be more tasks."""
# A number above that of any file, so that `texts_of` never waits for it.
_NO_ROWS: tuple[int, Iterator[dict[str, Any]]] = (1 << 31, iter(()))
EVERYTHING = AnswerScope()
STANDARD = ReadOptions()


@dataclass(frozen=True, slots=True)
class ClusterQuestion:
    """What is asked about each cluster's logs. With ``all_events`` the rows include every event."""

    spec: SpecSelection
    clause: str | None = None
    options: Options = DEFAULT_OPTIONS
    scope: AnswerScope = EVERYTHING
    read: ReadOptions = STANDARD
    redact: bool = False
    all_events: bool = False
    delay: int | None = None
    """How many milliseconds of later events must have been read for an event to count; None if all count."""
    measure: bool = True
    """Whether measures and notes of the trace clause are evaluated. Any line may change these, so that it cannot be
    done incrementally.
    """


class ClusterAnswers(NamedTuple):
    """The answer about what the slices of a cluster share, the number of events of each slice, in order, and facts
    about the logs.

    ``bundles`` are the names of slices that one task validates. ``choice`` is the spec chosen for logs with so many
    ``events``. ``basis`` is the input of the measures, None if nothing is measured.
    """

    choice: SpecChoice
    events: int
    shared: SharedAnswer
    slices: Mapping[str, int]
    bundles: Sequence[Sequence[str]]
    beside: InputRemarks
    overview: Overview
    basis: Basis | None


@dataclass(frozen=True, slots=True)
class Clusters:
    """What the tasks of clusters must know: the question, the files by number, and the notices of listing them."""

    question: ClusterQuestion
    files: dict[int, LogFile]
    notices: tuple[Notice, ...]
    tasks: int = 1
    """How many tasks there will be for slices."""

    def of(self, cluster: str) -> list[LogFile]:
        """The files of a cluster."""
        return [file for file in self.files.values() if file.cluster == cluster]

    @property
    def last(self) -> str:
        """The cluster of the last file."""
        return next((file.cluster for file in reversed(self.files.values())), "")


@lru_cache(maxsize=2)
def clusters_of(data: bytes) -> Clusters:
    """The unpickled ``Clusters``, once in each process: it holds the specs, whose reading takes 0.18 s."""
    found: Clusters = from_bytes(data)
    freeze_loaded("clusters")
    return found


def validate_clusters(clusters: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of each cluster. The input has what was read of its files, sorted by cluster, file and part."""
    job = clusters_of(clusters)
    rows = (row for batch in batches for row in batch.to_pylist())
    for name, own in groupby(rows, key=lambda row: row["cluster"]):
        # Row by row: the rows of a cluster are never in memory together.
        yield from batches_of(CLUSTER_ROWS, (dict(row, cluster=name) for row in _rows_of_cluster(job, name, own)))


def _rows_of_cluster(job: Clusters, cluster: str, rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    question = job.question
    with without_gc():
        found = texts_of(job, cluster, rows)
    # First of all: what such a file holds is not known yet, so nothing else can be said of the cluster.
    if found.again:
        yield _row(READ_AGAIN, found.again)
        return
    # An answer about fewer files than were listed would look like one about all of them.
    if found.lost:
        message = f"Spark did not hand out {len(found.lost)} of the files: {', '.join(found.lost[:SHOWN])}"
        yield _row(REFUSED, [Diagnostic(NOT_READ, NOWHERE, message)])
        return
    with without_gc():
        # Notices behind the last file go to its cluster alone, so that they are told once.
        reading = found.reading(question.read, job.notices if cluster == job.last else ())
    try:
        if question.redact:
            names = Redaction(reading)
            reading, question = redacted(reading, names), replace(question, scope=question.scope.renamed(names.text))
        yield from _rows_of_answers(question, reading, job.tasks)
    except SpecError as error:
        yield _row(REFUSED, list(error.diagnostics))


@dataclass(slots=True)
class Texts:
    """The texts of a cluster, each with the notices before it, the notices after the last, and which files are
    missing.
    """

    texts: list[TextReading] = field(default_factory=list)
    on_the_way: list[Notice] = field(default_factory=list)
    again: list[int] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def take(self, read: FileRead) -> None:
        """Append what the next file holds."""
        for text in read.texts:
            # Notices of files without a text stand before the next text, as where one process reads all.
            self.texts.append(replace(text, notices=(*self.on_the_way, *text.notices)))
            self.on_the_way = []
        self.on_the_way += read.notices

    def reading(
        self, options: ReadOptions, later: Sequence[Notice] = (), memory: StatementMemory | None = None
    ) -> LogReading:
        """All texts as one reading. ``later`` are notices after all of them. The texts are changed: their memory is
        taken over.
        """
        readings, notices = drop_equal_texts(self.texts)
        return log_reading(readings, [*notices, *self.on_the_way, *later], catalogue_of(options), memory)


def texts_of(job: Clusters, cluster: str, rows: Iterator[dict[str, Any]]) -> Texts:
    """What was read of a cluster's files, in the order in which they were listed. The first row is that of no file."""
    found = Texts()
    groups = groupby(rows, key=lambda row: row["file"])
    number, parts = next(groups)
    for file in job.of(cluster):
        # Files without a row are passed by: the group at hand waits until its file comes.
        if number < file.number:
            number, parts = next(groups, _NO_ROWS)
        found.on_the_way += file.before
        if number == file.number:
            read = _file(job.question, file, [(row["part"], row["found"]) for row in parts])
        elif file.listed.size:
            found.lost.append(file.listed.name)
            continue
        else:  # Spark returns no row for an empty file
            read = read_file(file.listed, b"", job.question.read)
        if read is None:
            found.again.append(file.number)
            continue
        found.take(read)
    return found


def _row(kind: str, content: object) -> dict[str, Any]:
    return {"kind": kind, "name": "", "number": 0, "content": to_bytes(content)}


def _file(question: ClusterQuestion, file: LogFile, parts: Sequence[tuple[int, bytes]]) -> FileRead | None:
    """What a file holds; None if it was read in parts and has to be read as a whole."""
    catalogue = catalogue_of(question.read)
    # Rows of one file are all parts, or one whole.
    if parts[0][0] == WHOLE:
        found: FileRead = from_bytes(parts[0][1], catalogue)
        return found
    return join_file_parts(question.read, file.listed, [from_bytes(content, catalogue) for _, content in parts])


def join_file_parts(options: ReadOptions, listed: ListedFile, pieces: Sequence[Piece]) -> FileRead | None:
    """What a file holds that was read in parts; None if it has to be read as a whole."""
    origin = listed.origin()
    pasted = may_be_pasted(origin.base, named=listed.named)
    reading = join_pieces(reader_of(options), origin, pieces, listed.size, options.scan, may_be_pasted=pasted)
    return None if reading is None else FileRead((TextReading(origin.file, (reading,)),), ())


def _rows_of_answers(question: ClusterQuestion, reading: LogReading, tasks: int) -> Iterator[dict[str, Any]]:
    with without_gc():
        asked, slices = validate_shared_part(question, reading)
        asked = asked._replace(bundles=bundles_of(asked.slices, tasks))
    yield from rows_of_shared(asked)
    if asked.shared.joint is not None:
        yield from rows_of_slices(asked.bundles, slices)
    if question.all_events:
        for number, stream in enumerate(reading.streams):
            yield from _event_rows(EVENTS, str(number), stream.events)


def rows_of_shared(asked: ClusterAnswers) -> Iterator[dict[str, Any]]:
    """The rows with the shared answer, each with a part of its bytes."""
    content = to_bytes(asked)
    for number, at in enumerate(range(0, len(content), BYTES_IN_ROW)):
        yield {"kind": SHARED, "name": "", "number": number, "content": content[at : at + BYTES_IN_ROW]}


def shared_of(parts: Mapping[int, bytes]) -> ClusterAnswers:
    """The shared answer whose bytes are in these parts, by their numbers."""
    found: ClusterAnswers = from_bytes(b"".join(parts[number] for number in sorted(parts)))
    return found


def validate_shared_part(
    question: ClusterQuestion, reading: LogReading
) -> tuple[ClusterAnswers, Mapping[str, Selection]]:
    """The answer about what slices share, and the events of each slice. Raises SpecError."""
    scope = question.scope if question.delay is None else _up_to_watermark(question.scope, reading, question.delay)
    choice, clause = question.spec.choice(reading.kinds, sign_names(reading)), question.clause
    # The overview is of the lines as they were written, before clocks are corrected.
    whole, reading = reading, with_corrected_clocks(reading, question.options)
    shared, slices, beside = validate_shared_in_scope(
        question.spec.spec(choice),
        reading,
        choice.apply_to(question.options),
        clause or choice.clause,
        scope,
        supported=choice.unsupported is None,
    )
    measured = outage_basis(shared, reading, beside) if question.measure else None
    events, sizes = sum(reading.kinds.values()), {name: len(own) for name, own in slices.items()}
    return ClusterAnswers(choice, events, shared, sizes, (), beside, overview(whole), measured), slices


def bundles_of(sizes: Mapping[str, int], tasks: int) -> list[list[str]]:
    """Slices in bundles of similar size, as many as there are tasks if there are enough events."""
    most = min(max(sum(sizes.values()) // max(1, tasks), LEAST), MOST)
    found: list[list[str]] = []
    room = 0
    for name, size in sizes.items():
        # A slice larger than `most` leaves a negative room, so that the next slice opens a bundle of its own.
        if size > room:
            found.append([])
            room = most
        found[-1].append(name)
        room -= size
    return found


def rows_of_slices(bundles: Sequence[Sequence[str]], slices: Mapping[str, Selection]) -> Iterator[dict[str, Any]]:
    """The rows with the events of slices, one for each bundle."""
    for number, names in enumerate(bundles):
        with without_gc():
            # Without the rest of the table, which a slice would otherwise drag along into its row.
            content = to_bytes(detached({name: slices[name] for name in names}))
        yield {"kind": SLICE, "name": str(number), "number": number, "content": content}


def _up_to_watermark(scope: AnswerScope, reading: LogReading, delay: int) -> AnswerScope:
    """The scope that ends ``delay`` milliseconds before the latest event: lines from before that may still arrive."""
    latest = int(reading.events.times.max(initial=0))
    return replace(scope, until=min(latest - delay, latest if scope.until is None else scope.until))


def _event_rows(kind: str, name: str, events: Sequence[Event]) -> Iterator[dict[str, Any]]:
    for at in range(0, len(events), EVENTS_IN_ROW):
        content = to_bytes(events[at : at + EVENTS_IN_ROW])
        yield {"kind": kind, "name": name, "number": at // EVENTS_IN_ROW, "content": content}


@lru_cache(maxsize=4)
def _slice_checkers(task: bytes) -> tuple[Joiner, Meter | None, Shelf]:
    """What checks, measures and packs the slices of one cluster, made once in each process."""
    joint, asked = from_bytes(task)
    return Joiner(joint), None if asked is None else Meter(asked), Shelf.of(joint.chain.states)


def shelf_of(task: bytes) -> Shelf:
    """What executions of a cluster's slices are packed with.

    It is made from pickled bytes here too, not from the objects in memory. Equal values that are no longer one object
    after unpickling would be numbered in another order.
    """
    joint, _ = from_bytes(task)
    return Shelf.of(joint.chain.states)


def answer_slices(
    tasks: Mapping[str, bytes], keep_executions: bool, options: ReadOptions, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """A row for each slice, from rows with bundles of them. One bundle is in memory at a time.

    ``tasks`` has for each cluster what its slices are checked against, and the basis of their measures or None.
    """
    for row in (row for batch in batches for row in batch.to_pylist()):
        with without_gc():
            slices: dict[str, Selection] = from_bytes(row["content"], catalogue_of(options))
        # Each slice is popped when its turn comes, so that its events are let go when it is answered.
        for name in list(slices):
            with without_gc():
                content, run = _answer_slice(
                    tasks[row["cluster"]], name, slices.pop(name), keep_executions=keep_executions
                )
            yield from batches_of(
                SLICE_ROWS, [{"cluster": row["cluster"], "name": name, "content": content, "execution": run}]
            )


def _answer_slice(task: bytes, name: str, events: Selection, *, keep_executions: bool) -> tuple[bytes, bytes | None]:
    """The answer about a slice, and its packed execution, if there is one and executions are kept."""
    # Cached by the pickled bytes: one worker process answers the slices of several clusters in turn.
    joiner, meter, shelf = _slice_checkers(task)
    answer = joiner.of_slice(name, events)
    if meter is not None:
        answer = meter.measured(answer, events)
    # The execution travels beside the answer, packed: unpacking it costs time that only its readers should pay.
    run = answer.result.execution if keep_executions else None
    return to_bytes(without_execution(answer)), None if run is None else shelf.pack(run)


def without_execution(answer: SliceAnswer) -> SliceAnswer:
    """The answer about a slice without its execution, which may be large."""
    return replace(answer, result=replace(answer.result, execution=None))


def slice_answer(content: bytes, execution: bytes | None = None, shelf: Shelf | None = None) -> SliceAnswer:
    """The answer in a row of ``SLICE_ROWS``; its execution stays packed until it is accessed."""
    found: SliceAnswer = from_bytes(content)
    if execution is None or shelf is None:
        return found
    return replace(found, result=replace(found.result, execution=PackedExecution(execution, shelf)))


def batches_of(schema: str, rows: Iterable[dict[str, Any]]) -> Iterator[pa.RecordBatch]:
    """Each row as a batch of its own: a cell may be megabytes."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    kinds = {"string": pa.string(), "int": pa.int32(), "long": pa.int64(), "binary": pa.binary()}
    fields = [pa.field(name, kinds[kind]) for name, kind in (part.split() for part in schema.split(", "))]
    for row in rows:
        yield pa.RecordBatch.from_pylist([row], schema=pa.schema(fields))
