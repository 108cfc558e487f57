"""The levels of a search: in memory while they are small, in level files from then on.

The last level is the one being written: new states are staged, and whole chunks of them go on to memory or to its file.
States are numbered through all levels, in the order in which they were found.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from itertools import accumulate
from os import SEEK_END
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from assay.checker.explicit.store.hash_kernels import OWNERS, assemble_all
from assay.checker.explicit.store.level_file import (
    CHUNK,
    HEADER,
    ChunkLayout,
    LevelHeader,
    Parent,
    RecordChunk,
    map_words,
)
from assay.checker.layout.row import Rows
from assay.grammar.lazy_dataclass import dataclass

Counts = npt.NDArray[np.int64]

KEPT = 32 << 20
"""Bytes of levels that are kept in memory."""
MOST = (1 << 32) - 1
"""The most states of one level: a predecessor's place has 32 bits."""
FEW = 64
"""Up to this many files are synchronised one by one; beyond it one ``sync`` of everything is cheaper."""
AHEAD = 8
"""How many chunks may wait for the writing thread."""
OPEN = 4
"""How many files are mapped at one time."""


@dataclass(frozen=True, slots=True)
class LevelSegment:
    """Which part of a search these levels hold: from which level on, of which owners, and how records name
    predecessors.

    Only a shard of a distributed search has levels without a state of its own.
    """

    level: int = 0
    parent: Parent = Parent.PLACE
    first_owner: int = 0
    last_owner: int = OWNERS


WHOLE = LevelSegment()


def level_name(level: int) -> str:
    """The name of the file of a level, counted from 0."""
    return f"level-{level:06d}"


class Levels:
    """The states of a search by level, each with its predecessor and action.

    ``counts`` are the sizes of the finished levels. Once they take more than ``kept`` bytes they move to files of a
    temporary folder, which ``close`` removes. ``settle`` and ``resume`` name a folder that stays. ``writer`` has one
    thread, which writes while others search. ``part`` says which part of a distributed search the levels are.
    """

    def __init__(
        self, words: int, identity: bytes, kept: int = KEPT, writer: Executor | None = None, part: LevelSegment = WHOLE
    ) -> None:
        self.layout = ChunkLayout(words, part.parent)
        self.part = part
        self.counts: list[int] = []
        self.starts: list[int] = [0]
        self.flushed = 0
        """Full chunks of the last level that were written."""
        self.staged = 0
        """States of it that are still staged."""
        self.bits = 0
        self._identity = identity
        self._folder: Path | None = None
        self._temporary: Path | None = None
        self._kept = kept
        self._bytes = 0
        self.disk = 0
        """Bytes in files."""
        self._memory: dict[int, list[Rows]] = {}
        self._maps: dict[int, Rows] = {}
        self._file: BinaryIO | None = None
        self._unsynced: list[Path] = []
        self._writer = writer
        self._writes: deque[Future[None]] = deque()
        self._failure: OSError | None = None
        self._stage = self._room(CHUNK)

    def __len__(self) -> int:
        return self.starts[-1] + self.size

    @property
    def size(self) -> int:
        """The size of the level that is being written."""
        return self.flushed * CHUNK + self.staged

    @property
    def _full(self) -> int:
        return self.layout.size(CHUNK) * 8

    def _room(self, n: int) -> RecordChunk:
        return RecordChunk(
            np.empty((n, self.layout.words), np.uint64), np.empty(n, self.layout.parent_type), np.empty(n, np.uint16)
        )

    # -------------------------------------------------------------------------------------------------- write

    def stage(self, n: int) -> RecordChunk:
        """The staged states, with capacity for n more from position ``staged`` on. Raises ``MemoryError``."""
        if self.size + n > MOST:
            raise MemoryError(f"a level of more than {MOST:,} states cannot be numbered")
        if self.staged + n > len(self._stage.rows):
            old, self._stage = self._stage, self._room(max(self.staged + n, 2 * len(self._stage.rows)))
            self._keep_staged(old, 0, self.staged)
        return self._stage

    def _keep_staged(self, source: RecordChunk, begin: int, end: int) -> None:
        size = end - begin
        if source is self._stage and not begin:
            return
        for column in ("rows", "parents", "actions"):
            getattr(self._stage, column)[:size] = getattr(source, column)[begin:end]

    def commit(self, n: int) -> None:
        """Make the next n staged states count; full chunks leave the stage. Raises ``OSError``, and then the states do
        not count."""
        staged = self.staged + n
        whole = staged // CHUNK
        for at in range(whole):
            self._put(self._cut(at * CHUNK, (at + 1) * CHUNK))
        self._keep_staged(self._stage, whole * CHUNK, staged)
        # Counted last: where a write fails, the states do not count.
        self.flushed += whole
        self.staged = staged - whole * CHUNK

    def _cut(self, begin: int, end: int) -> Rows:
        stage = self._stage
        return self.layout.assemble(
            RecordChunk(stage.rows[begin:end], stage.parents[begin:end], stage.actions[begin:end])
        )

    def seal(self) -> int:
        """Finish the level and return its size. An empty level writes nothing."""
        count = self.size
        if self.staged:
            self._put(self._cut(0, self.staged))
        self.drain()
        self._close_file()
        if count or self.part != WHOLE:
            self.counts.append(count)
            self.starts.append(self.starts[-1] + count)
        self.flushed = self.staged = 0
        return count

    @property
    def in_memory(self) -> bool:
        """Whether all levels are in memory."""
        return self._folder is None

    def add_levels(self, records: RecordChunk, sizes: Counts) -> None:
        """Add finished levels, whose records follow one another; none of them is empty or larger than a chunk. Raises
        ``OSError``."""
        ends = np.cumsum(self.layout.sizes(sizes))
        words = np.zeros(int(ends[-1]), np.uint64)
        assemble_all(records.rows, records.parents, records.actions, sizes, words)
        for size, begin, end in zip(sizes.tolist(), [0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            self._put(words[begin:end])
            # Each level has a file of its own.
            if self._folder is not None:
                self.drain()
                self._close_file()
            self.counts.append(size)
            self.starts.append(self.starts[-1] + size)

    def _put(self, chunk: Rows) -> None:
        level = len(self.counts)
        if self._folder is None:
            self._memory.setdefault(level, []).append(chunk)
            self._bytes += chunk.nbytes
            if self._bytes > self._kept:
                self._spill()
            return
        self._later(self._write, chunk, level)

    def _later(self, work: Callable[..., None], *arguments: object) -> None:
        """Work on the file of the last level in order, in the writing thread if there is one. Raises what earlier work
        raised."""
        if self._writer is not None:
            self._writes.append(self._writer.submit(self._do, work, *arguments))
            # Where the disk is slower than the search, the search waits: else all of a level could pile up in memory.
            self._await(AHEAD)
        else:
            self._do(work, *arguments)
            self._await(0)

    def _do(self, work: Callable[..., None], *arguments: object) -> None:
        """Do work unless earlier work failed: after a gap, everything would be written to the wrong place."""
        if self._failure is None:
            try:
                work(*arguments)
            except OSError as error:
                self._failure = error

    def _await(self, most: int) -> None:
        while len(self._writes) > most:
            self._writes.popleft().result()
        if self._failure is not None:
            raise self._failure

    def drain(self) -> None:
        """Wait until everything is written. Raises ``OSError`` if some of it was not, at this and every later call."""
        self._await(0)

    def _write(self, words: Rows, level: int) -> None:
        """Append to the file of a level; raises ``OSError``."""
        if self._file is None:
            self._file = self._path(level).open("wb", buffering=0)
            self._write(self.header(level).pack(), level)
        rest = words.view(np.uint8).data
        # A file without a buffer may take less than it was given.
        while rest:
            rest = rest[self._file.write(rest) :]
        self.disk += words.nbytes

    def _path(self, level: int) -> Path:
        assert self._folder is not None
        return self._folder / level_name(self.part.level + level)

    def _spill(self) -> None:
        """Move everything to files of a temporary folder."""
        self._temporary = Path(mkdtemp(prefix="assay-"))
        self.settle(self._temporary)

    def settle(self, folder: Path) -> None:
        """Move everything to files of a folder, and write there from now on; raises ``OSError``."""
        self._folder = folder
        # By this thread: the writing thread gets nothing before there is a folder.
        for level, chunks in self._memory.items():
            for chunk in chunks:
                self._write(chunk, level)
            if level < len(self.counts):
                self._close_file()
        self._memory.clear()

    def resume(self, folder: Path, counts: Sequence[int], flushed: int, tail: RecordChunk | None) -> None:
        """Continue with the levels in a folder: ``flushed`` chunks of the last one are in its file, ``tail`` was
        staged. Raises ``OSError``."""
        self._folder = folder
        self.counts = list(counts)
        self.starts = [0, *accumulate(counts)]
        self.flushed = flushed
        # What lies behind the last chunk was written after the checkpoint. Without a full chunk the file is begun anew.
        if flushed:
            self._file = self._path(len(counts)).open("r+b", buffering=0)
            self._file.truncate(HEADER * 8 + flushed * self._full)
            self._file.seek(0, SEEK_END)
        if tail is not None:
            n = len(tail.rows)
            stage = self.stage(n)
            stage.rows[:n], stage.parents[:n], stage.actions[:n] = tail.rows, tail.parents, tail.actions
            self.staged = n

    def sync(self) -> None:
        """Wait until what was written since the last call is on the disk."""
        self.drain()
        if len(self._unsynced) > FEW:
            # Each level is a file, so a deep and narrow search closes many between two checkpoints.
            os.sync()
        else:
            for path in self._unsynced:
                with path.open("rb") as file:
                    os.fsync(file.fileno())
        self._unsynced.clear()
        if self._file is not None:
            os.fsync(self._file.fileno())

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._unsynced.append(Path(self._file.name))
            self._file = None

    def close(self) -> None:
        """Close the files, and remove them if they are temporary."""
        # Nothing may be written any more when the folder goes.
        wait(self._writes)
        self._maps.clear()
        self._close_file()
        if self._temporary is not None:
            rmtree(self._temporary, ignore_errors=True)
            self._temporary = None

    # --------------------------------------------------------------------------------------------------- read

    def chunk(self, level: int, at: int) -> RecordChunk:
        """A chunk of a level; of the last one also what is staged."""
        if level == len(self.counts) and at == self.flushed:
            stage, n = self._stage, self.staged
            return RecordChunk(stage.rows[:n], stage.parents[:n], stage.actions[:n])
        if level in self._memory:
            return self.layout.view(self._memory[level][at])
        return self.layout.view(self._words(level)[HEADER + at * self._full // 8 :])

    def _words(self, level: int) -> Rows:
        if level == len(self.counts):  # it grows: what is mapped would go out of date
            self.drain()
            return map_words(self._path(level))
        if level not in self._maps:
            # The oldest first: a search reads the last level, and a path the levels before it in turn.
            while len(self._maps) >= OPEN:
                del self._maps[next(iter(self._maps))]
            self._maps[level] = map_words(self._path(level))
        return self._maps[level]

    def header(self, level: int) -> LevelHeader:
        """The header of the file of a level, as it is written now."""
        part = self.part
        number = part.level + level
        return LevelHeader(
            self._identity, self.layout.words, number, self.bits, part.parent, part.first_owner, part.last_owner
        )

    def every_row(self) -> Iterator[Rows]:
        """The rows of all states, chunk by chunk."""
        for level in range(len(self.counts) + 1):
            for chunk in self.chunks(level):
                yield chunk.rows

    def chunks(self, level: int) -> Iterator[RecordChunk]:
        """The chunks of a level; of the last one also what is staged."""
        count = self.size if level == len(self.counts) else self.counts[level]
        for at in range(-(-count // CHUNK)):
            yield self.chunk(level, at)

    def checked_chunks(self) -> Iterator[RecordChunk]:
        """The chunks of the level that is being written, their checksums compared. Raises ``DamagedError``."""
        self.drain()
        for at in range(self.flushed):
            if self._folder is None:
                yield self.layout.whole(self._memory[len(self.counts)][at])
            else:
                yield self.layout.whole(self._words(len(self.counts))[HEADER + at * self._full // 8 :])
        if self.staged:
            yield self.chunk(len(self.counts), self.flushed)

    def place(self, number: int) -> tuple[int, int]:
        """The level of a state, and its place there."""
        level = bisect_right(self.starts, number) - 1
        return level, number - self.starts[level]

    def row(self, level: int, place: int) -> Rows:
        """The row of a state."""
        row: Rows = self.chunk(level, place // CHUNK).rows[place % CHUNK]
        return row

    def path(self, number: int) -> list[Rows]:
        """The rows on the path to a state, the initial one first."""
        level, place = self.place(number)
        rows = [self.row(level, place)]
        while level:
            place = self.parent(level, place)
            level -= 1
            rows.append(self.row(level, place))
        return rows[::-1]

    def parent(self, level: int, place: int) -> int:
        """The place, in the level before, of the state from which a state was found."""
        return int(self.chunk(level, place // CHUNK).parents[place % CHUNK])
