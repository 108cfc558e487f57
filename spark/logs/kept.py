"""What a query that follows logs has read so far: pieces of texts, in memory, and below its state directory a folder for each micro-batch.

A micro-batch that is tried again writes its folder anew. So each line is recognised once, and a query that is started again has lost nothing and counts
nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.spark.logs.reading import catalogue_of
from assay.traces.read import ReadOptions
from assay.traces.readers.pieces import Piece
from assay.traces.wire import from_bytes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PIECES = "identity string, path string, part long, size long, found binary, content binary"
"""A piece of a text (``found``), which has so many bytes from one on; its content where no file has it."""


class Stored(NamedTuple):
    """A piece, the micro-batch that read it, and which bytes of which file it is of."""

    batch: int
    part: int
    size: int
    path: str
    piece: Piece


class Kept:
    """The pieces in a directory that the driver and all executors see."""

    def __init__(self, place: Path, options: ReadOptions) -> None:
        self._place = place
        self._catalogue = catalogue_of(options)
        self._batches: dict[int, list[tuple[str, Stored]]] = {}

    def pieces(self, upto: int) -> dict[str, list[Stored]]:
        """The pieces of each text, of the micro-batches before one."""
        numbers = sorted(int(folder.name.partition("=")[2]) for folder in self._place.glob("batch=*"))
        for number in numbers:
            if number < upto and number not in self._batches:
                self._batches[number] = list(self._load(number))
        return in_a_row(each for number in sorted(self._batches) if number < upto for each in self._batches[number])

    def keep(self, rows: DataFrame, number: int) -> None:
        """Keep the pieces of a micro-batch, rows of ``PIECES``."""
        rows.write.mode("overwrite").parquet(f"file:{self._folder(number)}")
        self._batches.pop(number, None)

    def content(self, identity: str, pieces: Iterable[Stored]) -> bytes | None:
        """What a text was when its pieces were read; None where a file has it."""
        parts: dict[tuple[int, int], bytes] = {}
        for number in {piece.batch for piece in pieces}:
            for row in self._rows(number, ["identity", "part", "content"]):
                if row["identity"] == identity and row["content"] is not None:
                    parts[number, row["part"]] = row["content"]
        found = [parts.get((piece.batch, piece.part)) for piece in pieces]
        return b"".join(each for each in found if each is not None) if None not in found else None

    def _folder(self, number: int) -> Path:
        return self._place / f"batch={number}"

    def _load(self, number: int) -> Iterator[tuple[str, Stored]]:
        for row in self._rows(number, ["identity", "path", "part", "size", "found"]):
            piece = from_bytes(row["found"], self._catalogue)
            yield row["identity"], Stored(number, row["part"], row["size"], row["path"], piece)

    def _rows(self, number: int, columns: list[str]) -> Iterator[Mapping[str, Any]]:
        import pyarrow.parquet as pq  # noqa: PLC0415 - optional

        for file in sorted(self._folder(number).glob("*.parquet")):
            with pq.ParquetFile(file) as opened:
                yield from opened.read(columns).to_pylist()


def in_a_row(pieces: Iterable[tuple[str, Stored]]) -> dict[str, list[Stored]]:
    """The pieces of each text from its beginning on, each where the one before it ends; of several the longest, should a part have been read again."""
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
