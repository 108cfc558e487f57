"""A streaming source of growing log files. It delivers whole lines as they are written, and follows files through
rotation.

A file is identified by its device, its inode and its first line. So its lines are delivered once, also when rotation
renames it, and a file that was truncated counts as a new one. Where that begins with the same line, it is known by
being shorter: then the number of its generation stands before the identity (``1+…``). Spark keeps the offsets in the
query's checkpoint, so that a query that is started again continues where it stopped.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from zlib import crc32

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from assay.spark.logs.read_tasks import PACKED_NAMES, PART_BYTES, balance
from assay.traces.event import Notice
from assay.traces.input.archives import ArchivePath, Budget, expand
from assay.traces.input.sources import list_files, unreadable

GROWING = "identity string, path string, part long, content binary"
_BACK = 1 << 16
_FIRST = 1 << 12
"""How many bytes of a long first line identify a file."""

MISSED = "missed"
"""Marks a file, in an offset, that was not found the last time."""

Offset = dict[str, dict[str, Any]]


class FileGrowth(NamedTuple):
    """Bytes of a file, from ``begin`` to ``end``, that are whole lines."""

    identity: str
    path: str
    begin: int
    end: int

    @property
    def size(self) -> int:
        """How many bytes."""
        return self.end - self.begin


class Share(InputPartition):
    """What one task reads. A cluster has hundreds of files, each of which grows by a little: a task for each would
    be too many.
    """

    def __init__(self, growths: Sequence[FileGrowth]) -> None:
        super().__init__(len(growths))
        self.growths = tuple(growths)


class GrowingLogs(DataSource):
    """The source ``assay_logs``. Its option ``path`` is a directory or file that all executors see under that name;
    ``tasks`` is how many tasks read at once.
    """

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "assay_logs"

    def schema(self) -> str:
        """A row for the lines by which a file grew."""
        return GROWING

    def streamReader(self, schema: StructType) -> GrowingReader:  # noqa: N802, ARG002 - as Spark names it, and hands it
        """The reader."""
        return GrowingReader(self.options["path"], int(self.options.get("tasks", "1")))


class GrowingReader(DataSourceStreamReader):
    """Delivers what was written since the last offset. An offset has, for each file, its path and the end of its last
    whole line.

    It is computed from the files, and from the previous offset where Spark passes that.
    """

    def __init__(self, path: str, tasks: int = 1) -> None:
        self._path = path
        self._tasks = tasks

    def initialOffset(self) -> Offset:  # noqa: N802 - as Spark names it
        """The offset before anything was read."""
        return {}

    def latestOffset(self, start: Offset | None = None, limit: object = None) -> Offset:  # noqa: N802, ARG002 - by Spark
        """The last whole line of every file. Compressed files are left out: they were read before rotation compressed
        them.

        Rotation may move or empty a file while it is looked at; then it is found the next time. A file that was not
        found twice, while others grew, is forgotten.
        """
        before, found = dict(start or {}), Offset()
        # A Spark that passes no offset gets no generations: there, a file that shrank is not noticed.
        newest = newest_generations(before)
        for path, stream in _plain_files(
            self._path, []
        ):  # files that cannot be read become notices when the answer is made
            identity = _identity(stream)
            end = _last_line_feed(stream, 0, os.fstat(stream.fileno()).st_size)
            # Asked once more: a file that was emptied while it was looked at begins with another line.
            if end and _identity(stream) == identity:
                known = newest.get(identity, identity)
                # Logs only grow. A shorter one was emptied: its lines are those of another text.
                if end < before.get(known, {}).get("end", 0):
                    known = _next_generation(known)
                found[known] = {"path": path, "end": end}
        if all(before.get(identity) == each for identity, each in found.items()):
            return before  # any other value would start a micro-batch without lines
        missed = {identity: each for identity, each in before.items() if identity not in found}
        return found | {identity: {**each, MISSED: True} for identity, each in missed.items() if MISSED not in each}

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        """What files grew by, in shares for tasks."""
        return [Share(own) for own in balance(self._growths(start, end), self._tasks, PART_BYTES)]

    def _growths(self, start: Offset, end: Offset) -> list[FileGrowth]:
        """What each file grew by, in parts of at most about ``PART_BYTES``."""
        found: list[FileGrowth] = []
        for identity, at in end.items():
            begin = start.get(identity, {}).get("end", 0)
            while begin < at["end"]:
                # Up to the end in the offset, not that of the file: after a restart Spark asks for the same offsets
                # again.
                upto = min(at["end"], begin + PART_BYTES)
                if upto < at["end"]:
                    # The file is read here only to find where a line ends; its bytes are a task's.
                    stream = _opened(identity, Path(at["path"]))
                    if stream is None:
                        break
                    with stream:
                        upto = _last_line_feed(stream, begin, upto) or upto
                found.append(FileGrowth(identity, at["path"], begin, upto))
                begin = upto
        return found

    def read(self, partition: InputPartition) -> Iterator[tuple[str, str, int, bytes]]:
        """The bytes of a share, read by a task. Nothing for a file that rotation has compressed: its lines are read
        from the compressed file.
        """
        assert isinstance(partition, Share)
        for growth in partition.growths:
            stream = _opened(growth.identity, Path(growth.path))
            if stream is None:
                continue
            with stream:
                stream.seek(growth.begin)
                content = stream.read(growth.size)
            # Stored as if they were all, fewer bytes would hide the lines behind them for good.
            if len(content) < growth.size:
                raise OSError(f"{growth.path} was made shorter while it was read")
            yield growth.identity, growth.path, growth.begin, content


def paths_by_identity(place: str, notices: list[Notice]) -> dict[str, str]:
    """The uncompressed files below a directory, by identity. Files that cannot be read become notices."""
    return {_identity(stream): path for path, stream in _plain_files(place, notices)}


def has_grown(place: str, ends: Mapping[str, int]) -> bool:
    """Whether a file below a directory has whole lines after these ends."""
    now, newest = GrowingReader(place).latestOffset(), newest_generations(ends)
    # Without an offset of before: a file that shrank or is gone is no reason to read on.
    return any(each["end"] > ends.get(newest.get(identity, identity), 0) for identity, each in now.items())


def packed_paths(place: str) -> list[str]:
    """The compressed files below a directory."""
    return [path for path in _paths(place, []) if path.lower().endswith(PACKED_NAMES)]


def _plain_files(place: str, notices: list[Notice]) -> Iterator[tuple[str, BinaryIO]]:
    """The uncompressed files below a directory, each open until the next one. A file that rotation has just moved is
    found the next time.
    """
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
    """The identity of an open file: its device, its inode, and its first line. The last differs if the file was
    emptied and written again.
    """
    status = os.fstat(stream.fileno())
    head = os.pread(stream.fileno(), _FIRST, 0)  # not by the stream, whose buffer may be older than the file
    return f"{status.st_dev}:{status.st_ino}:{_mark(head)}"


def newest_generations(identities: Iterable[str]) -> dict[str, str]:
    """For each file among these identities, by its identity without a generation, that of its newest generation."""
    return {_without_generation(each): each for each in sorted(identities, key=_generation)}


def _generation(identity: str) -> int:
    return int(identity.rpartition("+")[0] or 0)


def _without_generation(identity: str) -> str:
    return identity.rpartition("+")[2]


def _next_generation(identity: str) -> str:
    return f"{_generation(identity) + 1}+{_without_generation(identity)}"


def _mark(head: bytes) -> int:
    """A checksum of the first line of a text."""
    first = head[:_FIRST]
    return crc32(first[: first.find(b"\n") + 1] or first)


def is_compressed_now(identity: str, path: Path) -> bool:
    """Whether a compressed file beside a path begins with the first line of this identity."""
    # The device and inode of a compressed file are its own, so the first line alone can tell.
    mark = int(identity.rpartition(":")[2])
    packed = (other for other in sorted(path.parent.iterdir()) if other.name.lower().endswith(PACKED_NAMES))
    return any(mark == _mark(head) for other in packed for head in _unpacked_head(other))


def _unpacked_head(path: Path) -> Iterator[bytes]:
    """The beginning of the first text in a compressed file, if there is one."""
    with suppress(FileNotFoundError, PermissionError), path.open("rb") as stream:
        contents = expand(stream, ArchivePath(str(path)), Budget(PART_BYTES), [])
        yield from (content.stream.head for content in islice(contents, 1))


def _last_line_feed(stream: BinaryIO, begin: int, end: int) -> int:
    """The end of the last line that ends between two bytes; 0 if none does."""
    while end > begin:
        start = max(begin, end - _BACK)
        stream.seek(start)
        at = stream.read(end - start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


def _opened(identity: str, path: Path) -> BinaryIO | None:
    """A file, wherever it is now: rotation may have moved it since the offset was made, and may move it while it is
    read.

    None if rotation has compressed it. Raises ``FileNotFoundError`` if it is gone.
    """
    siblings = (other for other in sorted(path.parent.iterdir()) if other.is_file() and other != path)
    # By the open file, not by its name: between a look and the opening, rotation may put another file there.
    for place in chain((path,), siblings):
        with suppress(FileNotFoundError, PermissionError):
            stream = place.open("rb")
            if _identity(stream) == _without_generation(identity):
                return stream
            stream.close()
    if is_compressed_now(identity, path):
        return None
    raise FileNotFoundError(f"{path} is gone, and no file beside it is the one that it was")
