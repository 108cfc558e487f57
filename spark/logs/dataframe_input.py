"""Logs that are in a table already: a row for each file, or a row for each line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, SpecError
from assay.spark.logs.inputs import SHOWN, Inputs, LogFile, assign_clusters, file_key
from assay.spark.logs.read_tasks import CONTENTS
from assay.traces.input.sources import ListedFile

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, Row

NO_LOGS = "E845"
FILES = {"path": "string", "content": "binary"}
LINES = {"file": "string", "line": "bigint", "text": "string"}


def contents_of(logs: DataFrame) -> DataFrame:
    """The table as one of whole files, with the columns ``path`` and ``content``. Raises SpecError (E845) if it has
    neither files nor lines.
    """
    if set(FILES) <= set(logs.columns):
        return logs.selectExpr(*(f"CAST({name} AS {kind}) AS {name}" for name, kind in FILES.items()))
    if set(LINES) <= set(logs.columns):
        lines = logs.selectExpr(*(f"CAST({name} AS {kind}) AS {name}" for name, kind in LINES.items()))
        # All lines of a file must come to one task, and in their order: they become one text there.
        ordered = lines.repartition("file").sortWithinPartitions("file", "line")
        return ordered.mapInArrow(_files_of_lines, CONTENTS)
    columns = ", ".join(logs.columns) or "none"
    message = f"the columns are {columns}; they must be {', '.join(FILES)}, or {', '.join(LINES)}"
    raise SpecError([Diagnostic(NO_LOGS, NOWHERE, message)])


def inputs_of(contents: DataFrame, clusters: str | None) -> Inputs:
    """The files in a table of whole files, sorted by name; ``clusters`` as in ``list_inputs``. Raises SpecError (E845)
    for a row without a path or a content, and for a path of several rows.
    """
    rows = contents.selectExpr("path", "octet_length(content) AS size").orderBy("path").collect()
    _require_files(rows)
    files = [
        LogFile(number, "", ListedFile(row.path, row.path, named=False, size=row.size), row.path)
        for number, row in enumerate(rows)
    ]
    return Inputs(tuple(assign_clusters(files, clusters)), ())


def _require_files(rows: Sequence[Row]) -> None:
    if any(row.path is None for row in rows):
        raise SpecError([Diagnostic(NO_LOGS, NOWHERE, "a row names no file")])
    empty = [row.path for row in rows if row.size is None]
    if empty:
        raise SpecError([Diagnostic(NO_LOGS, NOWHERE, f"there is no content beside {', '.join(empty[:SHOWN])}")])
    # Tasks find a file by its path: of two rows with one path, one would be read in place of the other.
    counts = Counter(file_key(row.path) for row in rows)
    several = [path for path, count in counts.items() if count > 1]
    if several:
        raise SpecError([Diagnostic(NO_LOGS, NOWHERE, f"several rows have the path {', '.join(several[:SHOWN])}")])


def _files_of_lines(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa  # noqa: PLC0415 - optional

    # Over all batches at once: the lines of a file may go on in the next batch.
    rows = ((row["file"], row["text"] or "") for batch in batches for row in batch.to_pylist())
    for file, lines in groupby(rows, key=lambda row: row[0]):
        content = "".join(f"{text}\n" for _, text in lines).encode()
        yield pa.RecordBatch.from_pydict({"path": [file], "content": [content]})
