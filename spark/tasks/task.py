"""What tasks do, whoever carries what they send to each other: read what a manifest names, expand it, keep what is new, and report.

Runs in executors. A problem that the user can do something about is raised as ``TaskProblem``, whose text the driver finds again in whatever
Spark makes of it.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.counters import COUNTED, new_tally
from assay.checker.explicit.expansion.outgoing_batches import Packing, stretches
from assay.checker.explicit.expansion.parallel_round import Crew, Rounds
from assay.checker.explicit.shard import Shard, ShardFinding
from assay.checker.explicit.store.hash_table import StateKeys, TableFullError
from assay.checker.explicit.store.level_file import DamagedError, Parent, RecordChunk
from assay.checker.explicit.store.levels import Levels, LevelSegment, level_name
from assay.checker.explicit.store.memory_limit import default_budget
from assay.checker.layout.row import Rows
from assay.spark.session.ship_bitcode import load
from assay.spark.session.worker_cache import settle
from assay.spark.storage.filesystem import Storage, new_name
from assay.spark.storage.key_file import owned, sorted_keys
from assay.spark.storage.key_file import pack as pack_keys
from assay.spark.storage.key_file import unpack as unpack_keys
from assay.spark.storage.manifest import LevelPart, key_name, rows, unpack

NO_FILES, NO_MEMORY = "E834", "E836"
MARK = re.compile(r"ASSAY\[(E\d{3})\]: (.*)")


class TaskProblem(Exception):  # noqa: N818 - a finding about the cluster
    """Something that ends a job and has a code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"ASSAY[{code}]: {message}")


@dataclass(frozen=True, slots=True)
class Job:
    """What every task of a job knows: the work directory, how many tasks there are, and bytes for a task's table (None: its share).

    Folders of its tasks begin with its ``name``.
    """

    workdir: str
    parts: int
    memory: int | None
    name: str = field(default_factory=new_name)

    @property
    def budget(self) -> int:
        """The bytes that a task may take for its table, where its machine runs as many tasks as it has processors."""
        return self.memory or default_budget() // min(self.parts, os.cpu_count() or 1)


@dataclass(frozen=True, slots=True)
class TaskReport:
    """What a task reports of a level: the file with its new states, counts, findings and effort."""

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
        """As what JSON can hold."""
        return asdict(self)


def outcome_from_json(found: dict[str, Any]) -> TaskReport:
    """The outcome that ``to_json`` wrote down."""
    part = LevelPart(**(found["part"] | {"parent": Parent(found["part"]["parent"])}))
    sources, states = ([_found(each) for each in found[name]] for name in ("sources", "states"))
    return TaskReport(**(found | {"part": part, "sources": sources, "states": states}))


def _found(found: dict[str, Any]) -> ShardFinding:
    return ShardFinding(**(found | {"state": tuple(found["state"]), "row": tuple(found["row"])}))


@contextmanager
def errors_as_task_problems() -> Iterator[None]:
    """Inside, what goes wrong with files and memory becomes a ``TaskProblem``."""
    try:
        yield
    except TableFullError:
        raise TaskProblem(NO_MEMORY, "the memory of a task was used up") from None
    except DamagedError as error:
        raise TaskProblem(NO_FILES, f"a file of the work directory is damaged: {error}") from None
    except (ConnectionError, TimeoutError):
        raise
    except OSError as error:
        raise TaskProblem(NO_FILES, f"a task cannot read or write the work directory: {error}") from None


class TaskWork:
    """One task's part of a job from a level on: what it reads, expands and keeps."""

    def __init__(self, job: Job, name: str, part: int) -> None:
        self.job = job
        self.at = part
        self.storage = Storage(job.workdir)
        self.manifest = unpack(self.storage.read(name))
        self.compiled: Compiled = load(job.workdir, self.manifest.kernel)
        settle("kernel")
        self.stretch = stretches(job.parts)[part]
        self.keys = StateKeys(self.manifest.saved.keys)
        self.tally = new_tally(self.compiled)
        self._attempt = f"{job.name}-{new_name()}"
        self._began = time.process_time()

    @property
    def level(self) -> int:
        """The last finished level of the manifest."""
        return len(self.manifest.levels) - 1

    def packing(self, own: int | None) -> Packing:
        """Packets for the tasks of the job."""
        remember = self.keys is StateKeys.PRINTS
        return Packing(self.compiled.layout.words, self.job.parts, own, remember=remember)

    def begin(self, levels: Levels) -> None:
        """Load the states of this task in the last finished level as a level to be expanded."""
        for some in self._rows(self.level, self.manifest.levels[self.level]):
            stage, at = levels.stage(len(some)), levels.staged
            stage.rows[at : at + len(some)] = some
            stage.parents[at : at + len(some)] = 0
            stage.actions[at : at + len(some)] = 0
            levels.commit(len(some))
        levels.seal()

    def remember(self, shard: Shard) -> None:
        """Have a shard take all states of this task for seen: by their keys, where there are files of them, else by their rows."""
        first, last = self.stretch
        known: list[Rows] = []
        left: list[tuple[int, LevelPart]] = []
        for level, parts in enumerate(self.manifest.levels):
            for part in parts:
                if part.within(first, last) and self._has_keys(part):
                    known.append(owned(unpack_keys(self.storage.words(part.keys), part.count, self.keys), first, last))
                elif part.within(first, last):
                    left.append((level, part))
        coming = (*(part for _, part in left), *self.manifest.levels[-1])
        spare = sum(part.count / (part.last_owner - part.first_owner) for part in coming if part.within(first, last))
        shard.remember((some for level, part in left for some in self._rows(level, [part])), known, int(spare))

    def _has_keys(self, part: LevelPart) -> bool:
        return part.bits != 0 and part.bits == self.keys.bits

    def _rows(self, level: int, parts: Iterable[LevelPart]) -> Iterator[Rows]:
        """The rows of the states of this task in some files of a level."""
        for part in parts:
            if part.within(*self.stretch):
                yield from rows(self.storage, part, level, self.compiled, self.stretch)

    def levels(self, first: int) -> Levels:
        """Levels that are written into the work directory, from the level of that number on."""
        part = LevelSegment(first, Parent.PRINT, *self.stretch)
        levels = Levels(self.compiled.layout.words, self.compiled.identity, part=part)
        levels.bits = self.keys.bits
        levels.settle(self.storage.writing(self._attempt))
        return levels

    def file(self, level: int, count: int) -> LevelPart:
        """The file of a level that is finished, where everybody can read it."""
        name = f"{self._attempt}/{level_name(level)}"
        if count:
            self.storage.keep(name)
        return LevelPart(name, Parent.PRINT, *self.stretch, count)

    def with_keys(self, part: LevelPart, chunks: Iterable[RecordChunk]) -> LevelPart:
        """The file of a level with a key file beside it, unless whole rows tell states apart."""
        if not part.count or not self.keys.bits:
            return part
        words = pack_keys(sorted_keys(self.compiled, chunks, self.keys))
        place = self.storage.writing(self._attempt) / key_name(level_name(self.level + 1))
        place.write_bytes(words.data)
        self.storage.keep(part.keys)
        return replace(part, bits=self.keys.bits)

    def counts(self) -> dict[str, list[int]]:
        """What was counted since the last time."""
        found = {name: getattr(self.tally, name).tolist() for name in COUNTED}
        for name in COUNTED:
            getattr(self.tally, name)[:] = 0
        return found

    def cpu(self) -> float:
        """Seconds of processors since the last time."""
        before, self._began = self._began, time.process_time()
        return self._began - before

    def rounds(self, levels: Levels) -> Rounds:
        """Rounds by one thread."""
        return Rounds(self.compiled, levels, Crew(1), self.tally.decisive)
