"""Validation on Spark in `local[2]`: `python -m benchmarks spark_logs [PART[=SIZE]]…`, all parts if none is named.

| part | SIZE | what it measures |
| --- | --- | --- |
| reading | days, 100 | how fast large stock files are read and sliced: the server, controller and state-change logs of a recording, day after day |
| clusters | how many, 40 | how fast logs are read, and slices checked, on many copies of a recording as so many clusters |
| large | bytes, 2GB | a simulated cluster of 100 brokers and 5,000 partitions, of which 50 break a rule, and whether the answer is that of two local processes |
| live | bytes, 40MB | a simulated cluster of 1,000 slices whose files grow by 20,000 events a second while they are followed, over a restart |
| state | slices, 1000 | where the events of slices are kept: Spark's state store, or files of each micro-batch |
"""

from __future__ import annotations

import json
import os
import tarfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from assay.grammar.load import Loaded, bundled_specs, load_spec
from assay.report.logs.validation_object import validation_object
from assay.spark.logs.inputs import Inputs, list_inputs
from assay.spark.logs.read_tasks import NO_FILE, read_files, settings
from assay.spark.logs.spec_for_cluster import SpecSelection
from assay.spark.logs.tasks import ClusterQuestion, Clusters, clusters_of, texts_of
from assay.spark.logs.validate import (
    DEFAULT_DIVISION,
    ClusterAnswer,
    cluster_rows,
    shared_answers,
    slice_answers,
    validating,
)
from assay.spark.session.session import LOCALLY, configured, session
from assay.traces.diagnosis.node_settings import overview
from assay.traces.log_reader import read_logs, without_gc
from assay.traces.observe.model_size import trace_plan
from assay.traces.observe.slice_assignment import sliced
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.pickling import to_bytes
from assay.traces.samples import sample, unpack_sample
from assay.traces.scoped_validate import validate_in_scope
from assay.traces.table.event_table import fields_read
from benchmarks.effort import processor_seconds
from benchmarks.spark_live import live
from benchmarks.spark_state import state
from benchmarks.synthetic import generate, size_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Line = dict[str, object]

CORES = 2
SLICES = 1_000
PART = 32 << 20
MIX = frozenset({"server", "controller", "state-change"})
READING = 25
"""Megabytes a second and core."""
WHOLE = 300
"""Seconds for two gigabytes."""


def _spec() -> Loaded:
    return load_spec(bundled_specs()[0] / "kafka" / "cluster.assay")


def _reading(size: str) -> Iterator[Line]:
    """Two lines, of processor seconds of all processes: reading alone; reading, putting together what was read, attributing and slicing."""
    with (
        TemporaryDirectory() as folder,
        session(f"local[{CORES}]", LOCALLY) as spark,
        configured(spark, settings(PART)),
    ):
        bytes_ = _days(Path(folder), int(size))
        inputs, question = list_inputs(spark, [folder]), ClusterQuestion(SpecSelection(_spec()))
        job = to_bytes(Clusters(question, {file.number: file for file in inputs.files}, ()))
        _warm(spark, inputs, question, job)
        for what, finish in (("reading", _counted), ("reading and slicing", partial(_slices, job))):
            before, begun = processor_seconds(), time.perf_counter()
            events = finish(read_files(spark, inputs.files, question.read, PART))
            cpu = processor_seconds() - before
            yield {
                "benchmark": "spark_logs", "what": what, "value": round(bytes_ / 1e6 / cpu, 1), "unit": "MB a processor second",
                "target": READING, "bytes": bytes_, "events": events, "cpu": round(cpu, 2), "seconds": round(time.perf_counter() - begun, 2),
                "load_after": round(os.getloadavg()[0], 2),
            }  # fmt: skip


def _warm(spark: SparkSession, inputs: Inputs, question: ClusterQuestion, job: bytes) -> None:
    """Read two files first, so that what processes load once, and the code that they compile, is not measured. Slices
    are one task, so it is run once for each process.
    """
    few = inputs.files[:2]
    finishes: list[Callable[[DataFrame], int | None]] = [_counted, *[partial(_slices, job)] * CORES]
    for finish in finishes:
        finish(read_files(spark, few, question.read, PART))


def _days(folder: Path, days: int) -> int:
    """The logs of a recording, each over so many days; how many bytes they have."""
    with TemporaryDirectory() as one:
        logs = unpack_sample("elections", Path(one) / "logs")
        for path in sorted(each for each in logs.rglob("*.log") if each.stem in MIX):
            (folder / path.parent.name).mkdir(exist_ok=True)
            with (folder / path.parent.name / path.name).open("wb") as stream:
                for day in range(days):
                    stamp = (date(2026, 1, 1) + timedelta(day)).isoformat().encode()
                    stream.write(path.read_bytes().replace(b"[2026-11-21", b"[" + stamp))
    return size_below(folder)


def _counted(read: DataFrame) -> None:
    read.count()


def _slices(job: bytes, read: DataFrame) -> int:
    """How many events slices have."""
    ordered = read.repartition(1).sortWithinPartitions("file", "part")
    return sum(row.events for row in ordered.mapInArrow(partial(_sliced, job), "slice string, events long").collect())


def _sliced(job: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The slices of a cluster, of what was read of its files, with how many events each has."""
    import pyarrow as pa  # noqa: PLC0415 - optional

    cluster = clusters_of(job)
    rows = chain([{"file": NO_FILE}], (row for batch in batches for row in batch.to_pylist()))
    with without_gc():
        reading = texts_of(cluster, "", rows).reading(cluster.question.read)
        choice = cluster.question.spec.choice(reading.kinds)
        plan = trace_plan(cluster.question.spec.spec(choice).kernel, choice.clause)
        assert plan.slicing is not None
        found = sliced(plan.slicing, reading.events, fields_read(plan)).slices
    yield pa.RecordBatch.from_pydict({"slice": list(found), "events": [len(events) for events in found.values()]})


def _clusters(size: str) -> Iterator[Line]:
    """One line each for reading, for the part that slices share, and for slices."""
    copies = int(size)
    with (
        TemporaryDirectory() as folder,
        session(f"local[{CORES}]", LOCALLY) as spark,
        configured(spark, settings(PART)),
    ):
        bytes_ = _copy(Path(folder), copies)
        inputs = list_inputs(spark, [folder], rf"{folder}/([^/]+)/")
        question = ClusterQuestion(SpecSelection(_spec()))
        read_files(spark, inputs.files[:2], question.read).count()
        begun = time.perf_counter()
        read_files(spark, inputs.files, question.read).count()
        yield _rate("reading", begun, bytes_ / 1e6, "MB a second and core", READING, clusters=copies)
        begun = time.perf_counter()
        with cluster_rows(spark, inputs, question, DEFAULT_DIVISION) as rows:
            shared = shared_answers(rows)
            yield _rate("reading and what slices share", begun, bytes_ / 1e6, "MB a second and core", clusters=copies)
            begun = time.perf_counter()
            answers = slice_answers(spark, rows, shared, question, DEFAULT_DIVISION, keep_executions=False)
            used = sum(each.tally.used for each in answers.values())
            yield _rate("slices", begun, used, "events a second and core", clusters=copies)


def _large(size: str) -> Iterator[Line]:
    """A line about Spark with caches that are warm; the local command had the same logs before."""
    with TemporaryDirectory() as folder:
        generate(Path(folder), size_of(size), brokers=100, partitions=5_000, violations=50, seed=1)
        begun = time.perf_counter()
        expected = _local(Path(folder), jobs=CORES)
        local = time.perf_counter() - begun
        with session(f"local[{CORES}]", {**LOCALLY, "spark.driver.memory": "4g"}) as spark:
            begun = time.perf_counter()
            inputs = list_inputs(spark, [folder])
            with validating(spark, inputs, ClusterQuestion(SpecSelection(_spec()))) as work:
                (answer,) = work.answers
            seconds = time.perf_counter() - begun
    yield {
        "benchmark": "spark_logs", "what": "large", "value": round(seconds, 1), "unit": "seconds", "target": WHOLE, "size": size,
        "equal_to_local": _said(answer) == expected, "local_seconds": round(local, 1), "slices": len(answer.validation.slices),
        "events": answer.validation.counts.read, "load_after": round(os.getloadavg()[0], 2),
    }  # fmt: skip


def _live(size: str) -> Iterator[Line]:
    """One line; see :func:`benchmarks.spark_live.live`."""
    with TemporaryDirectory() as source:
        generate(Path(source), size_of(size), brokers=20, partitions=SLICES, violations=2, seed=1)
        yield from live(Path(source), _spec(), partial(_said, measured=False), partial(_local, measured=False))


def _local(folder: Path, *, measured: bool = True, jobs: int = 1) -> Any:
    reading = read_logs([folder])
    spec = _spec()
    found = validate_in_scope(spec, reading, replace(DEFAULT_OPTIONS, jobs=jobs))
    answer = ClusterAnswer("", spec, found, overview(reading))
    return _said(answer, measured=measured)


def _said(answer: ClusterAnswer, *, measured: bool = True) -> Any:
    """What an answer says; without measures for logs that grow, which are not measured."""
    found = json.loads(json.dumps(validation_object(answer.validation, answer.overview)))
    del found["seconds"]
    if not measured:
        del found["impact"]
        found["notices"] = [each for each in found["notices"] if each["kind"] != "impact"]
    return found


def _copy(folder: Path, copies: int) -> int:
    """The recording as that many clusters; how many bytes they have."""
    for number in range(copies):
        with tarfile.open(sample("elections")) as packed:
            packed.extractall(folder / f"cluster-{number}", filter="data")
    return size_below(folder)


def size_below(folder: Path) -> int:
    """The bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _rate(what: str, begun: float, amount: float, unit: str, target: float | None = None, **more: int) -> Line:
    seconds = time.perf_counter() - begun
    return {
        "benchmark": "spark_logs", "what": what, "value": round(amount / seconds / CORES, 1), "unit": unit, "target": target,
        "seconds": round(seconds, 2), **more, "load_after": round(os.getloadavg()[0], 2),
    }  # fmt: skip


PARTS: dict[str, tuple[Callable[[str], Iterator[Line]], str]] = {
    "reading": (_reading, "100"),
    "clusters": (_clusters, "40"),
    "large": (_large, "2GB"),
    "live": (_live, "40MB"),
    "state": (state, "1000"),
}


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """The lines of some parts, of all if none is named; raises ValueError where there is no such part."""
    wanted = [each.partition("=") for each in arguments or PARTS]
    if unknown := {name for name, _, _ in wanted} - set(PARTS):
        raise ValueError(f"no part {', '.join(sorted(unknown))}; parts: {', '.join(PARTS)}")
    for name, _, size in wanted:
        measure, usual = PARTS[name]
        yield from measure(size or usual)
