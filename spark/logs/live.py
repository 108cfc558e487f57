"""Logs validated while they are written: a streaming query whose every micro-batch reads what is new and answers what it changes.

NOTE(live): What was read of each file is kept as pieces (``readers.pieces``) below the state directory, a folder for each micro-batch, which a batch that is tried
again overwrites; so each line is recognised once, and a query that is started again has lost nothing and counts nothing twice. From the pieces the
cluster's part is answered anew; a slice only if its events, or what it is joined on, are not what they were. A line that comes late is
like any other: the answer is that of all lines there are. So that it does not waver because one file is behind another, lines later than the watermark
(the latest time, less the delay) are held back; they count as soon as it passes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assay.grammar.diagnostics import NOWHERE, Diagnostic, Note, SpecError
from assay.grammar.load import Loaded
from assay.spark.job import is_remote
from assay.spark.logs.asking import EVERYTHING, STANDARD, Question
from assay.spark.logs.inputs import NOT_ON_SPARK, URI, Inputs, LogFile
from assay.spark.logs.reading import files_of, read_whole, reader_of, settings
from assay.spark.logs.tail import GrowingLogs, packed_paths, paths_by_identity
from assay.spark.logs.validation import (
    AS_USUAL,
    ClusterAnswer,
    asked_of,
    digests,
    of_cluster,
    shared_answers,
    slice_answers,
)
from assay.spark.logs.wanted import Wanted
from assay.spark.session import configured, require_pyspark
from assay.traces.conduct import DEFAULT_OPTIONS, Options
from assay.traces.events import Notice
from assay.traces.join import SliceAnswer
from assay.traces.read import ReadOptions
from assay.traces.readers.pieces import read_piece
from assay.traces.sources import Listed
from assay.traces.wire import from_bytes, to_bytes

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

PIECES = "identity string, path string, part long, size long, found binary"
STORED = f"{PIECES}, batch long"
UNMEASURED = Notice(
    "impact", None, "while logs grow, nothing is measured or noted; `assay validate` does that at any time"
)
DELAY = 10_000
"""How long lines are held back for others that come late, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Change:
    """A verdict that is not what it was: of a slice, or of the whole where ``slice`` is None."""

    slice: str | None
    verdict: str
    reason: str | None


Told = Callable[[ClusterAnswer, list[Change]], None]


@dataclass(slots=True)
class Live:
    """Validation batch by batch. ``told`` gets the answer of the lines so far, and the verdicts that changed."""

    logs: str
    question: Question
    state: Path
    told: Told
    _slices: dict[str, tuple[bytes, SliceAnswer]] = field(default_factory=dict)
    _verdicts: dict[str | None, Change] = field(default_factory=dict)

    def batch(self, grown: DataFrame, number: int) -> None:
        """Read what is new, and answer what it changes."""
        spark = grown.sparkSession
        with configured(spark, settings(AS_USUAL.part_bytes)):
            pieces = grown.mapInArrow(partial(_read_pieces, to_bytes(self.question.read)), PIECES)
            pieces.write.mode("overwrite").parquet(str(self.state / "pieces" / f"batch={number}"))
            stored = spark.read.schema(STORED).parquet(str(self.state / "pieces"))
            found = self._answer(spark, stored.filter(stored.batch <= number))
        changes = self._changes(found)
        self.told(found, changes)

    def _answer(self, spark: SparkSession, pieces: DataFrame) -> ClusterAnswer:
        stored = pieces.select("identity", "batch", "part", "size", "path").collect()
        chosen = in_a_row((identity, Stored(*row)) for identity, *row in stored)
        files, packed = self._files(chosen)
        numbers = [(key, p.batch, p.part, files[key].number) for key, own in chosen.items() for p in own]
        wanted = spark.createDataFrame(numbers, "identity string, batch long, part long, file int")
        found = pieces.join(wanted, ["identity", "batch", "part"]).selectExpr("'' AS cluster", "file", "part", "found")
        rows = found.union(read_whole(files_of(spark, packed), packed, self.question.read))
        every = sorted((*files.values(), *packed), key=lambda file: file.number)
        with asked_of(spark, rows, Inputs(tuple(every), ()), self.question) as asked:
            (shared,) = shared_answers(asked).values()
            if shared.shared.joint is not None:
                now = digests(asked, shared)
                changed = [name for name in shared.slices if self._slices.get(name, (b"",))[0] != now[name]]
                fresh = slice_answers(
                    spark, asked.filter(asked.name.isin(changed)), {"": shared}, AS_USUAL, keep_executions=False
                )
                self._slices = {
                    name: (now[name], fresh["", name]) if name in changed else self._slices[name]
                    for name in shared.slices
                }
            answers = {("", name): answer for name, (_, answer) in self._slices.items()}
            return _unmeasured(of_cluster("", shared, answers, self.question, (), 0.0))

    def _files(self, chosen: Mapping[str, Sequence[Stored]]) -> tuple[dict[str, LogFile], list[LogFile]]:
        """The files by identity, each under the name that it has now, or had last; and the compressed ones, which are read each time as a whole.

        Both are numbered in the order of their names. What a compressed file has that was read before it was compressed counts once.
        """
        now = paths_by_identity(self.logs)
        sizes = {key: sum(piece.size for piece in own) for key, own in chosen.items()}
        listed = [_listed(now.get(key, own[-1].path), sizes[key], key) for key, own in chosen.items()]
        listed += [_listed(path, Path(path).stat().st_size, None) for path in packed_paths(self.logs)]
        ordered = sorted(listed, key=lambda each: Path(each[0].name).parts)
        files = [(key, LogFile(number, "", one, f"file:{one.name}")) for number, (one, key) in enumerate(ordered)]
        known = {key: file for key, file in files if key is not None}
        return known, [file for key, file in files if key is None]

    def _changes(self, found: ClusterAnswer) -> list[Change]:
        validation = found.validation
        now = [Change(None, validation.verdict.value, validation.reason)]
        now += [Change(each.name, each.verdict.value, each.reason) for each in validation.slices]
        changes = [each for each in now if self._verdicts.get(each.slice) != each]
        self._verdicts = {each.slice: each for each in now}
        return changes


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
) -> StreamingQuery:
    """Validate the logs in a directory while they grow, until the query is stopped. ``state`` is a directory where it keeps what it needs to go on.

    ``told`` is called after each micro-batch. Lines count when ``delay`` milliseconds of later ones have been read. Raises SpecError (E842) for a URI, and
    through Spark Connect.
    """
    require_pyspark()
    _refuse(spark, str(logs))
    place = Path(state).absolute()
    question = Question(Wanted(loaded), options=options, scope=EVERYTHING, read=read, delay=delay, measure=False)
    live = Live(str(Path(logs).absolute()), question, place, told)
    spark.dataSource.register(GrowingLogs)
    grown = spark.readStream.format(GrowingLogs.name()).load(live.logs)
    writer = grown.writeStream.foreachBatch(live.batch).option("checkpointLocation", str(place / "checkpoint"))
    return writer.start()


def _refuse(spark: SparkSession, logs: str) -> None:
    problems: list[Diagnostic] = []
    if is_remote(spark):
        text = "logs cannot be followed through Spark Connect: there the callback would run in another process"
        problems.append(Diagnostic(NOT_ON_SPARK, NOWHERE, text))
    if URI.match(logs):
        text = f"`{logs}` cannot be followed: only a directory can that all executors see"
        note = Note(
            "lines of a topic or of a store are followed once something writes them to files, as `kafka-console-consumer` does"
        )
        problems.append(Diagnostic(NOT_ON_SPARK, NOWHERE, text, (note,)))
    if problems:
        raise SpecError(problems)


class Stored(NamedTuple):
    """Where a piece is kept, and which bytes of its file it is of."""

    batch: int
    part: int
    size: int
    path: str


def in_a_row(pieces: Iterable[tuple[str, Stored]]) -> dict[str, list[Stored]]:
    """The pieces of each file from its beginning on, each where the one before it ends; of several the longest, should a part have been read again."""
    longest: dict[str, dict[int, Stored]] = {}
    for identity, piece in pieces:
        own = longest.setdefault(identity, {})
        own[piece.part] = max(own.get(piece.part, piece), piece, key=lambda each: each.size)
    chosen: dict[str, list[Stored]] = {}
    for identity, own in longest.items():
        at, row_of = 0, chosen.setdefault(identity, [])
        while (next_ := own.get(at)) is not None:
            row_of.append(next_)
            at += next_.size
    return {identity: own for identity, own in chosen.items() if own}


def _unmeasured(found: ClusterAnswer) -> ClusterAnswer:
    """The answer, which says that each further line would have changed the measures of every slice, and so none was taken."""
    validation = found.validation
    return replace(found, validation=replace(validation, notices=(*validation.notices, UNMEASURED)))


def _listed(path: str, size: int, identity: str | None) -> tuple[Listed, str | None]:
    return Listed(path, path, named=False, size=size), identity


def _read_pieces(options: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa  # noqa: PLC0415 - optional

    how: ReadOptions = from_bytes(options)
    reader = reader_of(how)
    for batch in batches:
        for row in batch.to_pylist():
            content, path, begin = row["content"], row["path"], row["part"]
            origin = Listed(path, path, named=False, size=0).origin()
            piece = read_piece(reader, content, origin, how.scan, begin)
            yield pa.RecordBatch.from_pydict(
                {
                    "identity": [row["identity"]],
                    "path": [path],
                    "part": [begin],
                    "size": [len(content)],
                    "found": [to_bytes(piece)],
                }
            )
