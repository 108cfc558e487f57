"""Tasks that read log files: a large plain text in parts, every other file as a whole, by one task.

Tasks open files of this machine, or of a mounted file system, themselves. Files in other stores Spark reads for them,
with its own credentials, and it decides where texts are divided.

The result is a table with a row for each file or part. Its columns are the cluster, the file's number, the byte at
which the part begins, and what was read, pickled. The byte is ``WHOLE`` for a file that was read as a whole.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from heapq import heappop, heappush
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol, TypeVar

import numpy as np

from assay.grammar.lazy_dataclass import dataclass
from assay.spark.logs.inputs import URI, LogFile, file_key, key_of_metadata
from assay.spark.session.worker_cache import freeze_loaded
from assay.spark.tasks.preflight import slots
from assay.traces.event import Notice
from assay.traces.input.pattern_matcher import RecordReader
from assay.traces.input.sources import ListedFile, unpack
from assay.traces.input.split_files import read_piece
from assay.traces.log_reader import ReadOptions, TextReading, read_text, record_reader, without_gc
from assay.traces.patterns.catalogue import Catalogue, load_catalogue
from assay.traces.pickling import from_bytes, to_bytes

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

PART_BYTES = 32 << 20
"""A plain text larger than this is read in parts of about this size."""

TASKS_PER_CORE = 4
"""Several tasks for each core, so that cores which finish early get another one."""

WHOLE = -1
NO_FILE = -1
"""The number of a row that only says that a cluster exists."""
CONTENTS = "path string, content binary"
READ = "cluster string, file int, part long, found binary"
PACKED_NAMES = (".gz", ".xz", ".bz2", ".zst", ".tgz", ".txz", ".tzst", ".zip", ".tar", ".lz4", ".7z", ".rar")
"""Endings of names of files that Spark would unpack by itself, or that cannot be divided."""

Batches = Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]


def settings(part_bytes: int) -> dict[str, str]:
    """Spark's settings while files are read: many lines in a batch for Python, but at most 64 MB."""
    return {
        "spark.sql.files.maxPartitionBytes": str(part_bytes),
        "spark.sql.files.openCostInBytes": str(min(part_bytes, 4 << 20)),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "16384",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
        # Otherwise Spark would leave files out silently, and the answer would be about fewer lines than it says.
        "spark.sql.files.ignoreCorruptFiles": "false",
        "spark.sql.files.ignoreMissingFiles": "false",
    }


class FileRead(NamedTuple):
    """A file that was read as a whole: the texts in it, and the notices after the last one."""

    texts: tuple[TextReading, ...]
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class ReadJob:
    """What tasks that read must know: how to read, and the files by their ``file_key``."""

    options: ReadOptions
    files: dict[str, LogFile]


@lru_cache(maxsize=2)
def catalogue_of(options: ReadOptions) -> Catalogue:
    """The line patterns, loaded once in each process."""
    return load_catalogue(options.files, text=options.source.catalogue == "text")


@lru_cache(maxsize=2)
def reader_of(options: ReadOptions) -> RecordReader:
    """A reader of records, made once in each process."""
    reader = record_reader(catalogue_of(options), options)
    freeze_loaded("reader")
    return reader


def _divisible(file: LogFile, part_bytes: int) -> bool:
    """Whether a file is read in parts, provided that it is a plain text."""
    return file.listed.size > part_bytes and not file.listed.name.lower().endswith(PACKED_NAMES)


def read_files(
    spark: SparkSession, files: Sequence[LogFile], options: ReadOptions, part_bytes: int | None = None
) -> DataFrame:
    """The files, each read by one task; a text larger than ``part_bytes`` by several."""
    far = [file for file in files if URI.match(file.listed.location)]
    parts = [file for file in far if part_bytes is not None and _divisible(file, part_bytes)]
    # Packed files and small ones: a task gets their bytes, as Spark's reader of texts would unpack some by itself.
    whole = [file for file in far if file not in parts]
    read = _read_local(spark, [file for file in files if file not in far], options, part_bytes)
    if whole:
        contents = spark.read.format("binaryFile").load([file.pattern for file in whole]).select("path", "content")
        read = read.union(read_contents(contents, whole, options))
    return read.union(_read_parts(spark, parts, options)) if parts else read


def read_contents(contents: DataFrame, files: Sequence[LogFile], options: ReadOptions) -> DataFrame:
    """The files whose contents are in a table, each read by one task."""
    job = ReadJob(options, {file_key(file.path): file for file in files})
    return contents.mapInArrow(partial(_read_whole_files, to_bytes(job)), READ)


def _read_local(
    spark: SparkSession, files: Sequence[LogFile], options: ReadOptions, part_bytes: int | None
) -> DataFrame:
    """Files that tasks open themselves."""
    parts = [each for file in files for each in file_ranges(file, part_bytes)]
    shares = balance(parts, TASKS_PER_CORE * slots(spark), PART_BYTES)
    count = len(shares)
    return spark.range(0, count, 1, count or 1).mapInArrow(partial(_read_share, to_bytes((options, shares))), READ)


class Range(NamedTuple):
    """The lines of a file that begin in ``part`` to ``part + size``; the whole file where ``part`` is ``WHOLE``."""

    file: LogFile
    part: int
    size: int


def file_ranges(file: LogFile, part_bytes: int | None) -> list[Range]:
    """The ranges into which a file is divided."""
    size = file.listed.size
    # No size for parts is given where the layout of the file asked for reading it as a whole.
    if part_bytes is None or not _divisible(file, part_bytes):
        return [Range(file, WHOLE, size)]
    return [Range(file, at, min(part_bytes, size - at)) for at in range(0, size, part_bytes)]


class Sized(Protocol):
    """What can be balanced over tasks by its size."""

    @property
    def size(self) -> int:
        """Its size in bytes, or in another unit that adds up."""
        ...


S = TypeVar("S", bound=Sized)


def balance(pieces: Sequence[S], tasks: int, most: int) -> list[list[S]]:
    """The pieces distributed over tasks: the largest first, each to the task with the least so far.

    There are at least ``tasks`` tasks if there are as many pieces, and more where a task would have much more than
    ``most``.
    """
    count = max(tasks, -(-sum(each.size for each in pieces) // most))
    loads: list[tuple[int, int, list[S]]] = [(0, number, []) for number in range(min(count, len(pieces)))]
    for piece in sorted(pieces, key=lambda each: -each.size):
        load, number, own = heappop(loads)
        own.append(piece)
        # The number decides between equal loads, so that the lists themselves are never compared.
        heappush(loads, (load + piece.size, number, own))
    return [own for *_, own in sorted(loads, key=lambda each: each[1])]


def _read_parts(spark: SparkSession, files: Sequence[LogFile], options: ReadOptions) -> DataFrame:
    """The files, each read in parts by several tasks, divided as Spark divides them."""
    # By default Spark ends lines at `\r` too and drops it; positions in the file would then be wrong.
    # Lines are taken as bytes because a log need not be UTF-8.
    lines = spark.read.text([file.pattern for file in files], lineSep="\n").selectExpr(
        "_metadata.file_path AS path", "_metadata.file_block_start AS part", "CAST(value AS BINARY) AS line"
    )
    job = ReadJob(options, {file_key(file.path): file for file in files})
    return lines.mapInArrow(partial(_read_parts_of_rows, to_bytes(job)), READ)


def _read_share(job: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What a task reads of its share of files."""
    options, shares = from_bytes(job)
    for number in (number for batch in batches for number in batch["id"].to_pylist()):
        for file, part, size in shares[number]:
            with without_gc(), Path(file.listed.location).open("rb") as stream:
                if part == WHOLE:
                    found = to_bytes(_read_stream(file.listed, stream, options))
                else:
                    text = lines_between(stream, part, part + size)
                    piece = read_piece(reader_of(options), text, file.listed.origin(), options.scan, part)
                    found = to_bytes(piece)
            yield batch_of(file, part, found)


def lines_between(stream: BinaryIO, begin: int, end: int) -> bytes:
    """The lines that begin between two bytes of a file: the last one is read to its end, the first only if it begins
    there.
    """
    # From the byte before: if that ends a line, the line that begins at `begin` belongs to this range.
    stream.seek(max(0, begin - 1))
    if begin:
        stream.readline()  # this line begins before the range
    text = stream.read(end - stream.tell()) if stream.tell() < end else b""
    return text if text.endswith(b"\n") or not text else text + stream.readline()


def _read_whole_files(job_bytes: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    job: ReadJob = from_bytes(job_bytes)
    for batch in batches:
        for path, content in zip(batch["path"], batch["content"], strict=True):
            file = job.files[file_key(path.as_py())]
            with without_gc():
                found = to_bytes(read_file(file.listed, content.as_py(), job.options))
            yield batch_of(file, WHOLE, found)


def read_file(listed: ListedFile, content: bytes, options: ReadOptions) -> FileRead:
    """All texts in a file whose content is given."""
    return _read_stream(listed, io.BytesIO(content), options)


def _read_stream(listed: ListedFile, stream: BinaryIO, options: ReadOptions) -> FileRead:
    notices: list[Notice] = []
    reader = reader_of(options)
    sources = unpack(listed, stream, options.expansion, notices)
    texts = tuple(read_text(reader, source, notices) for source in sources)
    return FileRead(texts, tuple(notices))


def _read_parts_of_rows(job_bytes: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    job: ReadJob = from_bytes(job_bytes)
    # A part may come in several batches. They follow one another, so that they are one group.
    for (path, begin), group in groupby(_lines_of_parts(batches), key=lambda run: run[:2]):
        file = job.files[key_of_metadata(path)]
        with without_gc():
            text = b"".join(lines for _, _, lines in group)
            piece = to_bytes(read_piece(reader_of(job.options), text, file.listed.origin(), job.options.scan, begin))
        yield batch_of(file, begin, piece)


def _lines_of_parts(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[str, int, bytes]]:
    """The lines of each part in a batch, as one text. The lines of one part are consecutive."""
    for batch in batches:
        paths, parts = batch["path"].dictionary_encode(), batch["part"].to_numpy()
        codes = paths.indices.to_numpy()
        # Where the file or the part changes. Paths are compared as numbers, because a batch has thousands of equal
        # ones.
        ends = np.flatnonzero((np.diff(codes) != 0) | (np.diff(parts) != 0)) + 1
        for begin, end in pairwise([0, *ends.tolist(), batch.num_rows]):
            if begin < end:
                # Spark took the line feeds off. A last line without one gets one too, which `join_pieces` finds by
                # the size.
                lines = batch["line"].slice(begin, end - begin).to_pylist()
                yield paths[begin].as_py(), int(parts[begin]), b"\n".join(lines) + b"\n"


def batch_of(file: LogFile, part: int, found: bytes) -> pa.RecordBatch:
    """A batch of one row: what was read of a file."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    columns = [[file.cluster], [file.number], [part], [found]]
    types = [pa.string(), pa.int32(), pa.int64(), pa.binary()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, ["cluster", "file", "part", "found"])
