"""The exchange by Spark's own shuffle: a job for each level, of tasks that keep nothing, so that Spark itself makes good for what it loses.

A first stage expands the frontier, many states in a cell keyed by the task that owns them; a second one makes its table anew from the level files,
keeps what is new, and writes it into a level file of its own.
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
from assay.spark.tasks.job import waited
from assay.spark.tasks.task import Job, TaskReport, TaskWork, outcome_from_json, told

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

Batches = Iterator[Any]
CELLS = "part int, packet binary, report string"
REPORTS = "report string"


class Shuffle:
    """Levels by two stages each."""

    name = "shuffle"
    dear = True

    def __init__(self, spark: SparkSession, job: Job) -> None:
        self._spark = spark
        self._job = job

    def level(self, manifest: str, known: set[Kind], heed: Callable[[], None]) -> list[TaskReport]:
        """The level after those that a manifest names: what each task says of it; such kinds of findings are ``known``.

        ``heed`` is called while it is waited for. Raises what that raises, and ``JobFailedError``.
        """
        job = self._job

        def expand(batches: Batches) -> Batches:
            return _each(batches, lambda part: expanded(job, manifest, known, part))

        def keep(batches: Batches) -> Batches:
            return kept(job, manifest, known, batches)

        def run() -> list[Row]:
            cells = self._spark.range(0, job.parts, 1, job.parts).mapInArrow(expand, CELLS)
            return cells.repartitionById(job.parts, "part").mapInArrow(keep, REPORTS).collect()

        rows = waited(self._spark, run, heed, f"assay: the level after {manifest}")
        return [outcome_from_json(json.loads(row.report)) for row in rows]

    def close(self) -> None:
        """Nothing is held between levels."""


def _each(batches: Batches, work: Callable[[int], Batches]) -> Batches:
    for batch in batches:
        for part in batch.column(0).to_pylist():
            yield from work(part)


def expanded(job: Job, manifest: str, known: set[Kind], part: int) -> Batches:
    """The packets of one task, and at the end a report for the task of the same number; as batches of one cell."""
    with told():
        work = TaskWork(job, manifest, part)
        levels = Levels(work.compiled.layout.words, work.compiled.identity, part=LevelSegment(work.level, Parent.PRINT))
        try:
            work.begin(levels)
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
        work.file(work.level, 0), frontier.generated, frontier.packing.records, work.counts(), found, [], work.cpu(), 0, 0
    )  # fmt: skip
    yield _cell(part, None, json.dumps(report.to_json()))


def _cell(part: int, packet: bytes | None, report: str | None) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - optional

    types = (pa.int32(), pa.binary(), pa.string())
    arrays = [pa.array([value], kind) for value, kind in zip((part, packet, report), types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, ["part", "packet", "report"])


def kept(job: Job, manifest: str, known: set[Kind], batches: Batches) -> Batches:
    """Take in the packets for one task; its report, joined with that of its expansion."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    keeper: Keeper | None = None
    for batch in batches:
        for part, packet, report in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            keeper = keeper or Keeper(job, manifest, part)
            if report is None:
                keeper.receive(packet)
            else:
                keeper.expansion = outcome_from_json(json.loads(report))
    if keeper is not None:
        yield pa.RecordBatch.from_pydict({"report": [json.dumps(keeper.outcome(known).to_json())]})


class Keeper:
    """The second stage of one task."""

    def __init__(self, job: Job, manifest: str, part: int) -> None:
        with told():
            self._work = TaskWork(job, manifest, part)
            self._levels = self._work.levels(self._work.level + 1)
            rounds = self._work.rounds(self._levels)
            self._shard = Shard(self._work.compiled, rounds, self._work.tally, self._work.keys, job.budget)
            self._work.remember(self._shard)
        self.expansion: TaskReport | None = None

    def receive(self, packet: bytes) -> None:
        """Keep what is new in a packet."""
        with told():
            self._shard.receive(np.frombuffer(packet, np.uint64))

    def outcome(self, known: set[Kind]) -> TaskReport:
        """Finish the level."""
        work, first = self._work, self.expansion
        assert first is not None, "a stage without its report"
        with told():
            count = self._levels.seal()
            found = self._shard.findings(known) if count else []
            part = work.with_keys(work.file(work.level + 1, count), self._levels.chunks(0))
            self._levels.close()
        counts = work.counts()
        tally = {name: [a + b for a, b in zip(first.tally[name], counts[name], strict=True)] for name in counts}
        return replace(
            first, part=part, tally=tally, states=found, cpu=first.cpu + work.cpu(), disk=self._levels.disk, table=self._shard.bytes
        )  # fmt: skip
