"""A streaming source of log files that grow: whole lines as they are written, wherever a file is moved to by rotation.

A file is known by its device and inode, so that its lines are handed out once when it gets another name; one that was made shorter is taken for a
new one. Spark keeps the offsets in the query's checkpoint, so that a query that is started again goes on where the last one was.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from zlib import crc32

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from assay.spark.logs.read_tasks import PACKED_NAMES, PART_BYTES, balance
from assay.traces.event import Notice
from assay.traces.input.archives import Budget, Wrapping, expand
from assay.traces.input.sources import list_files, unreadable

GROWING = "identity string, path string, part long, content binary"
_BACK = 1 << 16
_FIRST = 1 << 12
"""How much of a long first line tells a file from another."""

MISSED = "missed"
"""Says of a file that it was not found the last time."""

Offset = dict[str, dict[str, Any]]


class FileGrowth(NamedTuple):
    """Some bytes of a file, which are whole lines."""

    identity: str
    path: str
    begin: int
    end: int

    @property
    def size(self) -> int:
        """How many bytes."""
        return self.end - self.begin


class Share(InputPartition):
    """What one task reads: a cluster has a hundred files, each of which grows by a little."""

    def __init__(self, growths: Sequence[FileGrowth]) -> None:
        super().__init__(len(growths))
        self.growths = tuple(growths)


class GrowingLogs(DataSource):
    """The source ``assay_logs``; the option ``path`` is a directory or a file that all executors see under that name, ``tasks`` how many read at once."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "assay_logs"

    def schema(self) -> str:
        """A row for the lines that a file grew by."""
        return GROWING

    def streamReader(self, schema: StructType) -> GrowingReader:  # noqa: N802, ARG002 - as Spark names it, and hands it
        """The reader."""
        return GrowingReader(self.options["path"], int(self.options.get("tasks", "1")))


class GrowingReader(DataSourceStreamReader):
    """Hands out what was written since the last time. An offset has, for each file, its path and the byte up to which it has whole lines.

    It is made of the files, and of the offset before it where Spark hands that on.
    """

    def __init__(self, path: str, tasks: int = 1) -> None:
        self._path = path
        self._tasks = tasks

    def initialOffset(self) -> Offset:  # noqa: N802 - as Spark names it
        """Nothing was read."""
        return {}

    def latestOffset(self, start: Offset | None = None, limit: object = None) -> Offset:  # noqa: N802, ARG002 - as Spark names it
        """Up to the last whole line of every file. Compressed files are parts of others that were read before they were compressed.

        Rotation may move a file, or empty it, while it is looked at: then it is another one the next time. What was not found twice, while others
        grew, is gone, and forgotten.
        """
        before, found = dict(start or {}), Offset()
        for path, stream in _plain_files(self._path, []):  # what cannot be read is noticed where the answer is made
            identity = _identity(stream)
            end = _last_line_feed(stream, 0, os.fstat(stream.fileno()).st_size)
            if end and _identity(stream) == identity:
                found[identity] = {"path": path, "end": end}
        if all(before.get(identity) == each for identity, each in found.items()):
            return before  # another offset would be another micro-batch
        missed = {identity: each for identity, each in before.items() if identity not in found}
        return found | {identity: {**each, MISSED: True} for identity, each in missed.items() if MISSED not in each}

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        """What files grew by, in shares for tasks."""
        return [Share(own) for own in balance(self._growths(start, end), self._tasks, PART_BYTES)]

    def _growths(self, start: Offset, end: Offset) -> list[FileGrowth]:
        """What each file grew by, in parts."""
        found: list[FileGrowth] = []
        for identity, at in end.items():
            begin = start.get(identity, {}).get("end", 0)
            while begin < at["end"]:
                upto = min(at["end"], begin + PART_BYTES)
                if upto < at["end"]:
                    stream = _opened(identity, Path(at["path"]))
                    if stream is None:
                        break
                    with stream:
                        upto = _last_line_feed(stream, begin, upto) or upto
                found.append(FileGrowth(identity, at["path"], begin, upto))
                begin = upto
        return found

    def read(self, partition: InputPartition) -> Iterator[tuple[str, str, int, bytes]]:
        """The bytes of a share, by a task; nothing of a file that rotation has compressed, which is read from there."""
        assert isinstance(partition, Share)
        for growth in partition.growths:
            stream = _opened(growth.identity, Path(growth.path))
            if stream is None:
                continue
            with stream:
                stream.seek(growth.begin)
                content = stream.read(growth.size)
            if len(content) < growth.size:
                raise OSError(f"{growth.path} was made shorter while it was read")
            yield growth.identity, growth.path, growth.begin, content


def paths_by_identity(place: str, notices: list[Notice]) -> dict[str, str]:
    """The files below a directory that are not compressed, by what they are known by; what cannot be read is noticed."""
    return {_identity(stream): path for path, stream in _plain_files(place, notices)}


def has_grown(place: str, ends: Mapping[str, int]) -> bool:
    """Whether a file below a directory has whole lines behind these ends."""
    now = GrowingReader(place).latestOffset()
    return any(each["end"] > ends.get(identity, 0) for identity, each in now.items())


def packed_paths(place: str) -> list[str]:
    """The compressed files below a directory."""
    return [path for path in _paths(place, []) if path.lower().endswith(PACKED_NAMES)]


def _plain_files(place: str, notices: list[Notice]) -> Iterator[tuple[str, BinaryIO]]:
    """The files below a directory that are not compressed, each open until the next; one that rotation has just moved has another name the next time."""
    for path in _paths(place, notices):
        if not path.lower().endswith(PACKED_NAMES):
            try:
                with suppress(FileNotFoundError), Path(path).open("rb") as stream:
                    yield path, stream
            except OSError as error:
                notices.append(unreadable(path, error.strerror))


def _paths(place: str, notices: list[Notice]) -> list[str]:
    return [each.location for each in list_files([Path(place)], notices)]


def _identity(stream: BinaryIO) -> str:
    """What an open file is known by: its device, its inode, and its first line, which is another one where the file was emptied and written again."""
    status = os.fstat(stream.fileno())
    head = os.pread(stream.fileno(), _FIRST, 0)  # as it is now, whatever the stream has in its buffer
    return f"{status.st_dev}:{status.st_ino}:{_mark(head)}"


def _mark(head: bytes) -> int:
    """What tells the first line of a text that begins so from others."""
    first = head[:_FIRST]
    return crc32(first[: first.find(b"\n") + 1] or first)


def is_compressed_now(identity: str, path: Path) -> bool:
    """Whether a compressed file beside a path begins as what is known by this did."""
    mark = int(identity.rpartition(":")[2])
    packed = (other for other in sorted(path.parent.iterdir()) if other.name.lower().endswith(PACKED_NAMES))
    return any(mark == _mark(head) for other in packed for head in _unpacked_head(other))


def _unpacked_head(path: Path) -> Iterator[bytes]:
    """The beginning of the first text in a compressed file, if there is one."""
    with suppress(FileNotFoundError, PermissionError), path.open("rb") as stream:
        contents = expand(stream, Wrapping(str(path)), Budget(PART_BYTES), [])
        yield from (content.stream.head for content in islice(contents, 1))


def _last_line_feed(stream: BinaryIO, begin: int, end: int) -> int:
    """The end of the last whole line that ends between two bytes; 0 if none does."""
    while end > begin:
        start = max(begin, end - _BACK)
        stream.seek(start)
        at = stream.read(end - start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


def _opened(identity: str, path: Path) -> BinaryIO | None:
    """A file, wherever it lies now: rotation may have moved it since the offset was made, and may move it while it is read.

    None if rotation has compressed it. Raises ``FileNotFoundError`` where it is gone.
    """
    beside = (other for other in sorted(path.parent.iterdir()) if other.is_file() and other != path)
    for place in chain((path,), beside):
        with suppress(FileNotFoundError, PermissionError):
            stream = place.open("rb")
            if _identity(stream) == identity:
                return stream
            stream.close()
    if is_compressed_now(identity, path):
        return None
    raise FileNotFoundError(f"{path} is gone, and no file beside it is the one that it was")
