"""The levels of a search in the driver, some of which tasks have written to files."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.single_states import Probe
from assay.checker.explicit.store.hash_kernels import OWNER_SHIFT
from assay.checker.explicit.store.level_file import CHUNK, DamagedError, Parent, RecordChunk
from assay.checker.explicit.store.levels import Levels
from assay.checker.layout.row import Rows
from assay.spark.storage.filesystem import Storage
from assay.spark.storage.manifest import Level, chunks, prints_of


class SharedLevels(Levels):
    """Levels of which some are in several files of a work directory, one for each range of owners.

    The states of such a level are numbered file by file. Reading raises ``OSError`` or ``DamagedError`` where a file
    has changed.
    """

    def __init__(self, compiled: Compiled, storage: Storage) -> None:
        super().__init__(compiled.layout.words, compiled.identity)
        self.storage = storage
        self.parts: dict[int, Level] = {}
        """Levels that tasks wrote."""
        self._compiled = compiled

    def restart(self, levels: tuple[Level, ...]) -> None:
        """Begin anew with levels that are all in the work directory."""
        self.counts, self.starts = [], [0]
        self._memory.clear()
        self._bytes = 0
        for level in levels:
            self.adopt(level)

    def adopt(self, parts: Level) -> None:
        """Append a finished level that tasks wrote."""
        self.parts[len(self.counts)] = parts
        self.counts.append(sum(part.count for part in parts))
        self.starts.append(self.starts[-1] + self.counts[-1])

    def come_home(self) -> None:
        """Load the states of the last level into memory, so that the driver can expand it."""
        level = len(self.counts) - 1
        if level in self.parts:
            every = [chunk.rows for chunk in self.chunks(level)]
            rows = np.concatenate(every)
            self._memory[level] = [self._unnamed(rows[at : at + CHUNK]) for at in range(0, len(rows), CHUNK)]

    def _unnamed(self, rows: Rows) -> Rows:
        # A level is expanded by its rows alone. Predecessors are read from the files of the tasks (`parent`).
        return self.layout.assemble(RecordChunk(rows, np.zeros(len(rows), np.uint32), np.zeros(len(rows), np.uint16)))

    def leave(self) -> None:
        """Drop what ``come_home`` has loaded."""
        for level in self.parts:
            self._memory.pop(level, None)

    def chunks(self, level: int) -> Iterator[RecordChunk]:
        """The chunks of a level, file by file."""
        if level not in self.parts:
            yield from super().chunks(level)
            return
        for part in self.parts[level]:
            # A task without new states has written no file.
            if part.count:
                yield from chunks(self.storage, part, self._compiled, level)

    def row(self, level: int, place: int) -> Rows:
        """The row of a state."""
        if level not in self.parts:
            return super().row(level, place)
        chunk, at = self._record(level, place)
        row: Rows = chunk.rows[at]
        return row

    def _record(self, level: int, place: int) -> tuple[RecordChunk, int]:
        """The chunk that holds a state, and the position in it."""
        for part in self.parts[level]:
            if place < part.count:
                for at, chunk in enumerate(chunks(self.storage, part, self._compiled, level)):
                    # In the file of a level all chunks but the last are full.
                    if at == place // CHUNK:
                        return chunk, place % CHUNK
            place -= part.count
        raise DamagedError(f"level {level} has fewer states than its manifest says")

    def parent(self, level: int, place: int) -> int:
        """The position, in the level before, of the state from which a state was found.

        Tasks store the fingerprint of the predecessor, not its position, which is only known once all tasks have
        finished. So it is searched for.
        """
        if level not in self.parts:
            return super().parent(level, place)
        chunk, at = self._record(level, place)
        if self._kind(level, place) is Parent.PLACE:
            return int(chunk.parents[at])
        return self._find(level - 1, int(chunk.parents[at]), chunk.rows[at])

    def _kind(self, level: int, place: int) -> Parent:
        for part in self.parts[level]:
            if place < part.count:
                return part.parent
            place -= part.count
        raise DamagedError(f"level {level} has fewer states than its manifest says")

    def _find(self, level: int, wanted: int, child: Rows) -> int:
        """The position of the state that has this fingerprint and such a successor: two states may share a
        fingerprint.
        """
        for place, row in self._printed(level, wanted):
            if (Probe(self._compiled).expand(row.reshape(1, -1)).rows == child).all(axis=1).any():
                return place
        raise DamagedError(f"the predecessor of a state is not in level {level}")

    def place_of(self, level: int, wanted: int, state: tuple[int, ...]) -> int:
        """The position of a state that has this fingerprint."""
        for place, row in self._printed(level, wanted):
            if tuple(row.tolist()) == state:
                return place
        raise DamagedError(f"a state that was found is not in level {level}")

    def _printed(self, level: int, wanted: int) -> Iterator[tuple[int, Rows]]:
        """The states that have a fingerprint, with their positions."""
        for begin, rows in self._blocks(level, wanted >> int(OWNER_SHIFT)):
            for at in np.flatnonzero(prints_of(self._compiled, rows) == np.uint64(wanted)).tolist():
                yield begin + at, np.ascontiguousarray(rows[at])

    def _blocks(self, level: int, owner: int) -> Iterator[tuple[int, Rows]]:
        """The rows of a level that may belong to an owner, in blocks, each with the position of its first row."""
        if level not in self.parts:
            for at, chunk in enumerate(super().chunks(level)):
                yield at * CHUNK, chunk.rows
            return
        begin = 0
        for part in self.parts[level]:
            if part.count and part.first_owner <= owner < part.last_owner:
                for at, chunk in enumerate(chunks(self.storage, part, self._compiled, level)):
                    yield begin + at * CHUNK, chunk.rows
            # Files of other owners are not read, and still count: states are numbered through all of them.
            begin += part.count
