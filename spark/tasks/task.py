"""The work of a task in a search: read the levels that a manifest names, expand states, keep new ones, and report.

Runs in executors, with either exchange. A problem that the user can solve is raised as ``TaskProblem``. Its text has a
mark that the driver finds again in the error that Spark makes of it.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, field, replace
from typing import Any

from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.counters import COUNTED, new_tally
from assay.checker.explicit.expansion.outgoing_batches import BatchPacker, owner_ranges
from assay.checker.explicit.expansion.parallel_round import Rounds, WorkerThreads
from assay.checker.explicit.shard import Shard, ShardFinding
from assay.checker.explicit.store.hash_table import StateKeys, TableFullError
from assay.checker.explicit.store.level_file import DamagedError, Parent, RecordChunk
from assay.checker.explicit.store.levels import Levels, LevelSegment, level_name
from assay.checker.explicit.store.memory_limit import default_budget
from assay.checker.layout.row import Rows
from assay.grammar.lazy_dataclass import dataclass
from assay.spark.session.ship_bitcode import load
from assay.spark.session.worker_cache import freeze_loaded
from assay.spark.storage.filesystem import Storage, new_name
from assay.spark.storage.key_file import owned, sorted_keys
from assay.spark.storage.key_file import pack as pack_keys
from assay.spark.storage.key_file import unpack as unpack_keys
from assay.spark.storage.manifest import LevelPart, key_name, rows, unpack

NO_FILES, NO_MEMORY = "E834", "E836"
MARK = re.compile(r"ASSAY\[(E\d{3})\]: (.*)")


class TaskProblem(Exception):  # noqa: N818 - a finding about the cluster
    """A problem that ends the job, with a diagnostic code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"ASSAY[{code}]: {message}")


@dataclass(frozen=True, slots=True)
class Job:
    """What every task of a job knows: the work directory, how many tasks there are, and the bytes for a task's table
    (None: its share).

    The folders that its tasks write begin with its ``name``.
    """

    workdir: str
    parts: int
    memory: int | None
    name: str = field(default_factory=new_name)

    @property
    def budget(self) -> int:
        """How many bytes a task may take for its table. Without a limit by the user: its share, if a machine runs a
        task on each processor.
        """
        return self.memory or default_budget() // min(self.parts, os.cpu_count() or 1)


@dataclass(frozen=True, slots=True)
class TaskReport:
    """What a task reports of a level: the file with its new states, counters, findings, processor seconds, and bytes
    on disk and in its table.
    """

    part: LevelPart
    generated: int
    records: int
    tally: dict[str, list[int]]
    sources: list[ShardFinding]
    states: list[ShardFinding]
    cpu: float
    disk: int
    table: int

    def to_json(self) -> dict[str, Any]:
        """The report as a value that JSON can hold."""
        return asdict(self)


def outcome_from_json(found: dict[str, Any]) -> TaskReport:
    """The report that ``to_json`` wrote."""
    part = LevelPart(**(found["part"] | {"parent": Parent(found["part"]["parent"])}))
    sources, states = ([_found(each) for each in found[name]] for name in ("sources", "states"))
    return TaskReport(**(found | {"part": part, "sources": sources, "states": states}))


def _found(found: dict[str, Any]) -> ShardFinding:
    return ShardFinding(**(found | {"state": tuple(found["state"]), "row": tuple(found["row"])}))


@contextmanager
def errors_as_task_problems() -> Iterator[None]:
    """Inside, errors of files and memory become a ``TaskProblem``. Lost connections stay what they are: another
    attempt may succeed.
    """
    try:
        yield
    except TableFullError:
        raise TaskProblem(NO_MEMORY, "the memory of a task was used up") from None
    except DamagedError as error:
        raise TaskProblem(NO_FILES, f"a file of the work directory is damaged: {error}") from None
    # Both are kinds of `OSError`, so they come first.
    except (ConnectionError, TimeoutError):
        raise
    except OSError as error:
        raise TaskProblem(NO_FILES, f"a task cannot read or write the work directory: {error}") from None


class TaskWork:
    """One task's share of a search: what it reads, expands and keeps."""

    def __init__(self, job: Job, name: str, part: int) -> None:
        self.job = job
        self.at = part
        self.storage = Storage(job.workdir)
        self.manifest = unpack(self.storage.read(name))
        self.compiled: Compiled = load(job.workdir, self.manifest.kernel)
        freeze_loaded("kernel")
        self.owners = owner_ranges(job.parts)[part]
        self.keys = StateKeys(self.manifest.saved.keys)
        self.tally = new_tally(self.compiled)
        # The job's name in front lets `sweep` find what its failed tasks left; the rest keeps two attempts apart.
        self._attempt = f"{job.name}-{new_name()}"
        self._began = time.process_time()

    @property
    def level(self) -> int:
        """The number of the last finished level in the manifest."""
        return len(self.manifest.levels) - 1

    def packing(self, own: int | None) -> BatchPacker:
        """What packs successors by the task that owns them. ``own`` is this task, whose states need no packet."""
        # With wider keys, two states may share the 64 bits by which a sent one is remembered.
        remember = self.keys is StateKeys.PRINTS
        return BatchPacker(self.compiled.layout.words, self.job.parts, own, remember=remember)

    def begin(self, levels: Levels) -> None:
        """Load this task's states of the last finished level, as a level to expand."""
        for some in self._rows(self.level, self.manifest.levels[self.level]):
            stage, at = levels.stage(len(some)), levels.staged
            stage.rows[at : at + len(some)] = some
            # Predecessors are in the level file already; to expand states their rows suffice.
            stage.parents[at : at + len(some)] = 0
            stage.actions[at : at + len(some)] = 0
            levels.commit(len(some))
        levels.seal()

    def remember(self, shard: Shard) -> None:
        """Put all states of this task into a shard's table of seen states: from key files where there are any, else
        from rows.
        """
        first, last = self.owners
        known: list[Rows] = []
        left: list[tuple[int, LevelPart]] = []
        for level, parts in enumerate(self.manifest.levels):
            for part in parts:
                if part.within(first, last) and self._has_keys(part):
                    known.append(owned(unpack_keys(self.storage.words(part.keys), part.count, self.keys), first, last))
                elif part.within(first, last):
                    left.append((level, part))
        # The table is sized for what is inserted now, and for as many new states as the last level had.
        coming = (*(part for _, part in left), *self.manifest.levels[-1])
        spare = sum(part.count / (part.last_owner - part.first_owner) for part in coming if part.within(first, last))
        shard.remember((some for level, part in left for some in self._rows(level, [part])), known, int(spare))

    def _has_keys(self, part: LevelPart) -> bool:
        return part.bits != 0 and part.bits == self.keys.bits

    def _rows(self, level: int, parts: Iterable[LevelPart]) -> Iterator[Rows]:
        """The rows of this task's states in some files of a level."""
        for part in parts:
            if part.within(*self.owners):
                yield from rows(self.storage, part, level, self.compiled, self.owners)

    def levels(self, first: int) -> Levels:
        """Levels that are written into the work directory, from level ``first`` on."""
        part = LevelSegment(first, Parent.PRINT, *self.owners)
        levels = Levels(self.compiled.layout.words, self.compiled.identity, part=part)
        levels.bits = self.keys.bits
        levels.settle(self.storage.writing(self._attempt))
        return levels

    def file(self, level: int, count: int) -> LevelPart:
        """The file of a finished level, made visible to all."""
        name = f"{self._attempt}/{level_name(level)}"
        # A level without states has no file.
        if count:
            self.storage.keep(name)
        return LevelPart(name, Parent.PRINT, *self.owners, count)

    def with_keys(self, part: LevelPart, chunks: Iterable[RecordChunk]) -> LevelPart:
        """Write a key file beside a level file, unless whole rows identify the states."""
        if not part.count or not self.keys.bits:
            return part
        words = pack_keys(sorted_keys(self.compiled, chunks, self.keys))
        # Beside the level file, and named by the same manifest: both count, or neither.
        place = self.storage.writing(self._attempt) / key_name(level_name(self.level + 1))
        place.write_bytes(words.data)
        self.storage.keep(part.keys)
        return replace(part, bits=self.keys.bits)

    def counts(self) -> dict[str, list[int]]:
        """The counters since the last call."""
        # A task reports level by level, and the driver adds up.
        found = {name: getattr(self.tally, name).tolist() for name in COUNTED}
        for name in COUNTED:
            getattr(self.tally, name)[:] = 0
        return found

    def cpu(self) -> float:
        """Processor seconds since the last call."""
        before, self._began = self._began, time.process_time()
        return self._began - before

    def rounds(self, levels: Levels) -> Rounds:
        """What expands blocks of states, by one thread: Spark runs a task on each core already."""
        return Rounds(self.compiled, levels, WorkerThreads(1), self.tally.decisive)
