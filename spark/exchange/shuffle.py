"""The exchange by Spark's own shuffle: a job of two stages for each level, whose tasks keep nothing between levels.

The first stage expands the frontier and packs the successors by the task that owns them, many states in a cell. The
second stage builds the table of seen states from the level files. It keeps the states that are new, and writes them
into a level file.

It is slower than ``direct``, because tables are built anew for each level. But Spark itself runs lost tasks again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.checker.explicit.shard import Kind, Shard, ShardFrontier
from assay.checker.explicit.store.level_file import Parent
from assay.checker.explicit.store.levels import Levels, LevelSegment
from assay.spark.tasks.job import run_and_wait
from assay.spark.tasks.task import Job, TaskReport, TaskWork, errors_as_task_problems, outcome_from_json

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

Batches = Iterator[Any]
CELLS = "part int, packet binary, report string"
REPORTS = "report string"


class Shuffle:
    """Levels by a job of two stages each."""

    name = "shuffle"
    dear = True

    def __init__(self, spark: SparkSession, job: Job) -> None:
        self._spark = spark
        self._job = job

    def level(self, manifest: str, known: set[Kind], check_stop: Callable[[], None]) -> list[TaskReport]:
        """Search the level after those of a manifest, and return the report of each task. Kinds of findings in
        ``known`` are not reported again.

        ``check_stop`` is called while the driver waits; what it raises ends the job and is raised. Raises
        ``JobFailedError`` too.
        """
        job = self._job

        def expand(batches: Batches) -> Batches:
            return _for_each_part(batches, lambda part: expand_task(job, manifest, known, part))

        def keep(batches: Batches) -> Batches:
            return keep_task(job, manifest, known, batches)

        def run() -> list[Row]:
            cells = self._spark.range(0, job.parts, 1, job.parts).mapInArrow(expand, CELLS)
            # By the number itself: `repartition` hashes it, so that one task could get two parts and another none.
            return cells.repartitionById(job.parts, "part").mapInArrow(keep, REPORTS).collect()

        rows = run_and_wait(self._spark, run, check_stop, f"assay: the level after {manifest}")
        return [outcome_from_json(json.loads(row.report)) for row in rows]

    def close(self) -> None:
        """Does nothing: nothing is held between levels."""


def _for_each_part(batches: Batches, work: Callable[[int], Batches]) -> Batches:
    for batch in batches:
        for part in batch.column(0).to_pylist():
            yield from work(part)


def expand_task(job: Job, manifest: str, known: set[Kind], part: int) -> Batches:
    """The first stage of one task: its packets, and at the end its report, which goes to the second stage of the same
    task.

    Each batch has one cell, as a cell may be megabytes.
    """
    with errors_as_task_problems():
        work = TaskWork(job, manifest, part)
        levels = Levels(work.compiled.layout.words, work.compiled.identity, part=LevelSegment(work.level, Parent.PRINT))
        try:
            work.begin(levels)
            # No task keeps its own states: its second stage may run on another machine, and gets them by the shuffle
            # too.
            frontier = ShardFrontier(work.compiled, work.rounds(levels), work.packing(None), work.tally)
            while frontier.left:
                for owner, words in frontier.expand().packets:
                    yield _cell(owner, words.tobytes(), None)
            for owner, words in frontier.packing.rest():
                yield _cell(owner, words.tobytes(), None)
            found = frontier.findings(known)
        finally:
            levels.close()
    report = TaskReport(
        work.file(work.level, 0), frontier.generated, frontier.packing.records, work.counts(), found, [],
        work.cpu(), 0, 0,
    )  # fmt: skip
    # Always sent, also without a packet: a task that receives nothing would not run in the second stage.
    yield _cell(part, None, json.dumps(report.to_json()))


def _cell(part: int, packet: bytes | None, report: str | None) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - optional

    types = (pa.int32(), pa.binary(), pa.string())
    arrays = [pa.array([value], kind) for value, kind in zip((part, packet, report), types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, ["part", "packet", "report"])


def keep_task(job: Job, manifest: str, known: set[Kind], batches: Batches) -> Batches:
    """The second stage of one task: receive its packets, and yield its report, merged with that of its first stage."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    keeper: LevelKeeper | None = None
    for batch in batches:
        for part, packet, report in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            # Cells come in any order, so the report of the first stage need not be the last.
            keeper = keeper or LevelKeeper(job, manifest, part)
            if report is None:
                keeper.receive(packet)
            else:
                keeper.expansion = outcome_from_json(json.loads(report))
    if keeper is not None:
        yield pa.RecordBatch.from_pydict({"report": [json.dumps(keeper.outcome(known).to_json())]})


class LevelKeeper:
    """The states of a new level that one task owns, while their packets arrive."""

    def __init__(self, job: Job, manifest: str, part: int) -> None:
        with errors_as_task_problems():
            self._work = TaskWork(job, manifest, part)
            self._levels = self._work.levels(self._work.level + 1)
            rounds = self._work.rounds(self._levels)
            self._shard = Shard(self._work.compiled, rounds, self._work.tally, self._work.keys, job.budget)
            self._work.remember(self._shard)
        self.expansion: TaskReport | None = None

    def receive(self, packet: bytes) -> None:
        """Keep the new states of a packet."""
        with errors_as_task_problems():
            self._shard.receive(np.frombuffer(packet, np.uint64))

    def outcome(self, known: set[Kind]) -> TaskReport:
        """Finish the level: write its file, look for findings, and merge the report of the first stage into this
        task's.
        """
        work, first = self._work, self.expansion
        assert first is not None, "a stage without its report"
        with errors_as_task_problems():
            count = self._levels.seal()
            found = self._shard.findings(known) if count else []
            part = work.with_keys(work.file(work.level + 1, count), self._levels.chunks(0))
            self._levels.close()
        # Both stages of a task count: the first what it generated, the second what was new.
        counts = work.counts()
        tally = {name: [a + b for a, b in zip(first.tally[name], counts[name], strict=True)] for name in counts}
        return replace(
            first, part=part, tally=tally, states=found,
            cpu=first.cpu + work.cpu(), disk=self._levels.disk, table=self._shard.bytes,
        )  # fmt: skip
