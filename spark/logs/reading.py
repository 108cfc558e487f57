"""Files read by tasks. A large plain text is read in parts, which end where Spark ends them; every other file as a whole, by one task.

The tables that come of it have a row for each file or part: its cluster, its number among all files, the byte at which the part begins (``WHOLE`` for
a file read as a whole), and what was read, as bytes.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from assay.spark.logs.inputs import LogFile, file_key, key_of_metadata
from assay.traces.events import Notice
from assay.traces.read import ReadOptions, TextReading, no_collection, read_text, record_reader
from assay.traces.readers.pieces import read_piece
from assay.traces.readers.records import RecordReader
from assay.traces.shapes.catalogue import Catalogue, load_catalogue
from assay.traces.sources import Listed, unpack
from assay.traces.wire import from_bytes, to_bytes

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

PART_BYTES = 32 << 20
"""From this size on a plain text is read in parts of about this size."""

WHOLE = -1
NO_FILE = -1
"""The number in a row that only says that there is such a cluster."""
CONTENTS = "path string, content binary"
READ = "cluster string, file int, part long, found binary"
PACKED_NAMES = (".gz", ".xz", ".bz2", ".zst", ".tgz", ".txz", ".tzst", ".zip", ".tar", ".lz4", ".7z", ".rar")
"""Endings of names that Spark would unpack by itself, or that cannot be divided."""

Batches = Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]


def settings(part_bytes: int) -> dict[str, str]:
    """The settings under which files are read and rows go to Python: text by many lines, and at most 64 MB at once."""
    return {
        "spark.sql.files.maxPartitionBytes": str(part_bytes),
        "spark.sql.files.openCostInBytes": str(min(part_bytes, 4 << 20)),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "16384",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
        "spark.sql.files.ignoreCorruptFiles": "false",
        "spark.sql.files.ignoreMissingFiles": "false",
    }


class FileRead(NamedTuple):
    """A file that was read as a whole: the texts in it, and what was noticed after the last."""

    texts: tuple[TextReading, ...]
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """What tasks that read have to know: how to read, and the files by the path that Spark says."""

    options: ReadOptions
    files: dict[str, LogFile]


@lru_cache(maxsize=2)
def catalogue_of(options: ReadOptions) -> Catalogue:
    """The line shapes, loaded once in each process."""
    return load_catalogue(options.shape_files)


@lru_cache(maxsize=2)
def reader_of(options: ReadOptions) -> RecordReader:
    """A reader, made once in each process."""
    return record_reader(catalogue_of(options), options)


def divisible(file: LogFile, part_bytes: int) -> bool:
    """Whether a file is read in parts, if it is a plain text."""
    return file.listed.size > part_bytes and not file.listed.name.lower().endswith(PACKED_NAMES)


def files_of(spark: SparkSession, files: Sequence[LogFile]) -> DataFrame:
    """The contents of files."""
    if not files:
        return spark.createDataFrame([], CONTENTS)
    return spark.read.format("binaryFile").load([file.pattern for file in files]).select("path", "content")


def read_whole(contents: DataFrame, files: Sequence[LogFile], options: ReadOptions) -> DataFrame:
    """The files of which a table has the contents, each read by one task."""
    reading = Reading(options, {file_key(file.path): file for file in files})
    return contents.mapInArrow(partial(_whole, to_bytes(reading)), READ)


def read_parts(spark: SparkSession, files: Sequence[LogFile], options: ReadOptions) -> DataFrame:
    """The files, each read in parts by several tasks."""
    if not files:
        return spark.createDataFrame([], READ)
    lines = spark.read.text([file.pattern for file in files], lineSep="\n").selectExpr(
        "_metadata.file_path AS path", "_metadata.file_block_start AS part", "CAST(value AS BINARY) AS line"
    )
    reading = Reading(options, {file_key(file.path): file for file in files})
    return lines.mapInArrow(partial(_parts, to_bytes(reading)), READ)


def _whole(reading: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    job: Reading = from_bytes(reading)
    for batch in batches:
        for path, content in zip(batch["path"], batch["content"], strict=True):
            file = job.files[file_key(path.as_py())]
            with no_collection():
                found = to_bytes(read_file(file.listed, content.as_py(), job.options))
            yield batch_of(file, WHOLE, found)


def read_file(listed: Listed, content: bytes, options: ReadOptions) -> FileRead:
    """All texts in a file of which the content is given."""
    notices: list[Notice] = []
    reader = reader_of(options)
    sources = unpack(listed, io.BytesIO(content), options.expansion, notices)
    texts = tuple(read_text(reader, source, notices) for source in sources)
    return FileRead(texts, tuple(notices))


def _parts(reading: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    job: Reading = from_bytes(reading)
    for (path, begin), group in groupby(_runs(batches), key=lambda run: run[:2]):
        file = job.files[key_of_metadata(path)]
        with no_collection():
            text = b"".join(lines for _, _, lines in group)
            piece = to_bytes(read_piece(reader_of(job.options), text, file.listed.origin(), job.options.scan, begin))
        yield batch_of(file, begin, piece)


def _runs(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[str, int, bytes]]:
    """The lines of each part in a batch as one text. Lines of one part follow one another."""
    for batch in batches:
        paths, parts = batch["path"].dictionary_encode(), batch["part"].to_numpy()
        codes = paths.indices.to_numpy()
        ends = np.flatnonzero((np.diff(codes) != 0) | (np.diff(parts) != 0)) + 1
        for begin, end in pairwise([0, *ends.tolist(), batch.num_rows]):
            if begin < end:
                lines = batch["line"].slice(begin, end - begin).to_pylist()
                yield paths[begin].as_py(), int(parts[begin]), b"\n".join(lines) + b"\n"


def batch_of(file: LogFile, part: int, found: bytes) -> pa.RecordBatch:
    """One row of what was read."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    columns = [[file.cluster], [file.number], [part], [found]]
    types = [pa.string(), pa.int32(), pa.int64(), pa.binary()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, ["cluster", "file", "part", "found"])
