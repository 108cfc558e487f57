"""What a streaming query has read so far: pieces of texts, in memory, and on disk in a folder for each micro-batch.

A micro-batch that is tried again writes its folder anew. So each line is recognised once, and a query that is started
again has lost nothing and counts nothing twice.

Spark's own state store was tried: 763 events a second instead of 4,055 (docs/design/cost-of-validation-on-spark.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.spark.logs.read_tasks import catalogue_of
from assay.traces.event import LogPosition, Notice
from assay.traces.input.split_files import Piece
from assay.traces.log_reader import ReadOptions
from assay.traces.pickling import from_bytes
from assay.traces.store.record_layouts import MergedLayouts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PIECES = "identity string, path string, part long, size long, found binary, content binary"
"""A piece of a text: its first byte (``part``), its size, what was found in it (pickled), and its content where no
file has it.
"""


class StoredPiece(NamedTuple):
    """A piece, the micro-batch that read it, its position in its text, and the path of its file."""

    batch: int
    part: int
    size: int
    path: str
    piece: Piece


class PieceStore:
    """The pieces in a directory that the driver and all executors see."""

    def __init__(self, place: Path, options: ReadOptions) -> None:
        self._place = place
        self._catalogue = catalogue_of(options)
        self._layouts = MergedLayouts()
        self._batches: dict[int, list[tuple[str, StoredPiece]]] = {}

    def pieces(self, upto: int) -> dict[str, list[StoredPiece]]:
        """The pieces of each text that micro-batches before ``upto`` have read."""
        numbers = sorted(int(folder.name.partition("=")[2]) for folder in self._place.glob("batch=*"))
        for number in numbers:
            # Each folder is read once, unless `keep` writes it anew. A folder at `upto` may be that of a failed
            # attempt.
            if number < upto and number not in self._batches:
                self._batches[number] = list(self._load(number))
        return contiguous_pieces(
            each for number in sorted(self._batches) if number < upto for each in self._batches[number]
        )

    def keep(self, rows: DataFrame, number: int) -> None:
        """Store the pieces of a micro-batch, rows of ``PIECES``."""
        # An attempt that failed may have left files in this folder.
        rows.write.mode("overwrite").parquet(f"file:{self._folder(number)}")
        self._batches.pop(number, None)

    def content(self, identity: str, pieces: Iterable[StoredPiece]) -> bytes | None:
        """The content of a text when its pieces were read; None where it is in a file and was not stored."""
        parts: dict[tuple[int, int], bytes] = {}
        for number in {piece.batch for piece in pieces}:
            for row in self._rows(number, ["identity", "part", "content"]):
                if row["identity"] == identity and row["content"] is not None:
                    parts[number, row["part"]] = row["content"]
        found = [parts.get((piece.batch, piece.part)) for piece in pieces]
        return b"".join(each for each in found if each is not None) if None not in found else None

    def _folder(self, number: int) -> Path:
        return self._place / f"batch={number}"

    def _load(self, number: int) -> Iterator[tuple[str, StoredPiece]]:
        for row in self._rows(number, ["identity", "path", "part", "size", "found"]):
            piece = from_bytes(row["found"], self._catalogue).with_shared_layouts(self._layouts)
            yield row["identity"], StoredPiece(number, row["part"], row["size"], row["path"], piece)

    def _rows(self, number: int, columns: list[str]) -> Iterator[Mapping[str, Any]]:
        import pyarrow.parquet as pq  # noqa: PLC0415 - optional

        for file in sorted(self._folder(number).glob("*.parquet")):
            with pq.ParquetFile(file) as opened:
                yield from opened.read(columns).to_pylist()


def contiguous_pieces(pieces: Iterable[tuple[str, StoredPiece]]) -> dict[str, list[StoredPiece]]:
    """The pieces of each text, each beginning where the one before ends, or later. Of pieces with the same beginning
    the longest counts.

    Pieces behind a gap are included; ``before_gap`` cuts them off.
    """
    longest: dict[str, dict[int, StoredPiece]] = {}
    for identity, piece in pieces:
        own = longest.setdefault(identity, {})
        own[piece.part] = max(own.get(piece.part, piece), piece, key=lambda each: each.size)
    return {identity: _row(own) for identity, own in longest.items()}


def _row(own: Mapping[int, StoredPiece]) -> list[StoredPiece]:
    found: list[StoredPiece] = []
    at = 0
    # Each piece has a byte at least; one without would be found again for ever.
    while (next_ := own.get(at) or _after(own, at)) is not None:
        found.append(next_)
        at = next_.part + next_.size
    return found


def _after(own: Mapping[int, StoredPiece], at: int) -> StoredPiece | None:
    """The first piece that begins after a position."""
    return own[min(later)] if (later := [part for part in own if part > at]) else None


def before_gap(row: Sequence[StoredPiece]) -> list[StoredPiece]:
    """The pieces from the beginning of a text up to the first gap."""
    # The sizes before a piece add up to its first byte, unless a piece is missing: then no later one fits again.
    ends = accumulate((piece.size for piece in row), initial=0)
    return [piece for piece, end in zip(row, ends, strict=False) if piece.part == end]


def end_of(row: Sequence[StoredPiece]) -> int:
    """The byte up to which a text was read."""
    return row[-1].part + row[-1].size if row else 0


def gap_notice(name: str, row: Sequence[StoredPiece]) -> Notice | None:
    """The notice of a text whose pieces behind a gap are left out; None if there is no gap."""
    whole = before_gap(row)
    if len(whole) == len(row):
        return None
    behind, begin = row[len(whole) :], end_of(whole)
    lines, size = sum(each.piece.lines for each in behind), sum(each.size for each in behind)
    text = (
        f"{lines:,} lines that were read from byte {behind[0].part:,} on ({size:,} bytes) are left out: "
        f"what was kept of the text between byte {begin:,} and there is gone"
    )
    return Notice("lines left out", LogPosition(name, 1 + sum(each.piece.lines for each in whole), begin), text)
