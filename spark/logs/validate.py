"""Logs validated on Spark: read in parts, then what slices share cluster by cluster, then the slices by any number of
tasks.

The answer about each cluster is the value that ``traces.scoped_validate.validated`` returns in one process. The
exception is where that falls back to the product search of all slices. The same functions make it; only other processes
call them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from assay.grammar.diagnostics.diagnostic import Diagnostic, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded
from assay.spark.logs import tasks as cluster_tasks
from assay.spark.logs.errors import as_diagnostic
from assay.spark.logs.inputs import NOT_READ, Inputs, LogFile
from assay.spark.logs.read_tasks import (
    NO_FILE,
    PART_BYTES,
    TASKS_PER_CORE,
    balance,
    catalogue_of,
    read_contents,
    read_files,
    settings,
)
from assay.spark.logs.tasks import CLUSTER_ROWS, SLICE_ROWS, ClusterAnswers, ClusterQuestion, Clusters
from assay.spark.session.session import configured
from assay.spark.tasks.preflight import require_suitable_cluster, slots
from assay.traces.diagnosis.node_settings import Overview
from assay.traces.event import Event
from assay.traces.impact.outages import Meter
from assay.traces.pickling import from_bytes, to_bytes
from assay.traces.result import TraceVerdict, Validation
from assay.traces.scoped_validate import assemble_answer
from assay.traces.slices.slice_answer import SliceAnswer
from assay.traces.spec_selection import with_selection

NAMES_SHOWN = 4

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class ClusterAnswer:
    """The answer about one cluster: its spec, its validation, an overview of its logs, and all events where these
    are needed.
    """

    cluster: str
    spec: Loaded
    validation: Validation
    overview: Overview
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkDivision:
    """How the work is divided: the size from which files are read in parts, and the number of tasks for slices (0:
    ``TASKS_PER_CORE`` a core).
    """

    part_bytes: int = PART_BYTES
    tasks: int = 0


DEFAULT_DIVISION = WorkDivision()


@dataclass(frozen=True, slots=True)
class ClusterWork:
    """The answers, sorted by cluster, and the rows of ``tasks.CLUSTER_ROWS`` that they were made of."""

    answers: tuple[ClusterAnswer, ...]
    rows: DataFrame


@contextmanager
def validating(
    spark: SparkSession,
    inputs: Inputs,
    question: ClusterQuestion,
    how: WorkDivision = DEFAULT_DIVISION,
    *,
    contents: DataFrame | None = None,
    keep_executions: bool = False,
) -> Iterator[ClusterWork]:
    """Validate logs. Inside, Spark caches what was read. ``contents`` has the files' contents, where Spark is not to
    read them itself.

    Raises SpecError if the question does not fit the logs (E7xx), or if Spark fails (E843).
    """
    begun = perf_counter()
    # Before anything else, so that a mistake in a pattern file is refused without a job.
    catalogue_of(question.read)
    with ExitStack() as kept:
        with configured(spark, settings(how.part_bytes)), as_diagnostic(NOT_READ, "Spark failed"):
            require_suitable_cluster(spark, slots(spark))
            # Spark caches these until the caller is done, because tables are made of them.
            rows = kept.enter_context(cluster_rows(spark, inputs, question, how, contents))
            shared = shared_answers(rows)
            slices = slice_answers(spark, rows, shared, question, how, keep_executions=keep_executions)
            events = _events(rows) if keep_executions else {}
        # Without what the caller does inside the context, such as writing tables.
        seconds = perf_counter() - begun
        yield ClusterWork(
            tuple(
                cluster_answer(name, each, slices, question, events.get(name, ()), seconds)
                for name, each in sorted(shared.items())
            ),
            rows,
        )


def cluster_answer(
    name: str,
    each: ClusterAnswers,
    slices: Mapping[tuple[str, str], SliceAnswer],
    question: ClusterQuestion,
    events: tuple[Event, ...],
    seconds: float,
) -> ClusterAnswer:
    """The answer about a cluster, assembled from the shared answer and those about its slices."""
    own = [slices[name, one] for one in _slices_to_answer(each)]
    meter = None if each.basis is None else Meter(each.basis)
    found = with_selection(
        assemble_answer(each.shared, own, each.beside, question.scope, seconds, meter), each.choice, each.events
    )
    found = judged_as_one(found, each.overview.clusters)
    return ClusterAnswer(name, question.spec.spec(each.choice), found, each.overview, events)


def judged_as_one(validation: Validation, clusters: Sequence[str]) -> Validation:
    """The answer about files in which lines name these clusters. Of several it is inconclusive: tasks read parts of
    files, and do not know which cluster a line belongs to (docs/design/several-clusters.md)."""
    # A vacuous answer claims nothing that a mixture of clusters could make wrong.
    if len(clusters) < 2 or validation.verdict is TraceVerdict.VACUOUS:
        return validation
    names = ", ".join(clusters[:NAMES_SHOWN]) + (", …" if len(clusters) > NAMES_SHOWN else "")
    reason = (
        f"these are logs of {len(clusters)} clusters ({names}), which Spark judges as one: name the cluster of each file"
        " with --clusters REGEX, or ask without --spark"
    )
    if validation.reason:
        reason += f"; {validation.reason}"
    return replace(validation, verdict=TraceVerdict.INCONCLUSIVE, reason=reason)


def _slices_to_answer(asked: ClusterAnswers) -> Mapping[str, int]:
    return asked.slices if asked.shared.joint is not None else {}


@contextmanager
def cluster_rows(
    spark: SparkSession, inputs: Inputs, question: ClusterQuestion, how: WorkDivision, contents: DataFrame | None = None
) -> Iterator[DataFrame]:
    """The rows of ``CLUSTER_ROWS`` of all clusters, cached until the end of the context.

    A file that turns out not to be divisible is read again as a whole; only the clusters' part is computed anew then.
    """
    if contents is None:
        read = read_files(spark, inputs.files, question.read, how.part_bytes)
    else:
        read = read_contents(contents, inputs.files, question.read)
    files = {file.number: file for file in inputs.files}
    job = to_bytes(Clusters(question, files, inputs.notices, how.tasks or TASKS_PER_CORE * slots(spark)))
    begun = spark.createDataFrame(_no_files(inputs.clusters))
    # Kept: a second reading of some files does not read the others again.
    rows = begun.union(read).persist()
    found = _validate_clusters(rows, job, len(inputs.clusters))
    try:
        # Empty but for layouts that parts cannot show. The job computes what `found` keeps for the others.
        again = _files_to_read_again(found, inputs.files)
        if again:
            found.unpersist()
            # Without a size for parts these files are read as wholes, so that no third reading is needed.
            kept = rows.filter(~rows.file.isin([file.number for file in again]))
            found = _validate_clusters(kept.union(read_files(spark, again, question.read)), job, len(inputs.clusters))
        yield found
    finally:
        found.unpersist()
        rows.unpersist()


def _no_files(clusters: Sequence[str]) -> pa.Table:
    """A row of no file for each cluster, so that a cluster without files has an answer too.

    An Arrow table: no Python task has to run to make it.
    """
    import pyarrow as pa  # noqa: PLC0415 - optional

    count = len(clusters)
    # A part of 0 and no content: `texts_of` skips this row by its number.
    columns = {
        "cluster": pa.array(clusters, pa.string()),
        "file": pa.array([NO_FILE] * count, pa.int32()),
        "part": pa.array([0] * count, pa.int64()),
        "found": pa.array([b""] * count, pa.binary()),
    }
    return pa.table(columns)


def _validate_clusters(read: DataFrame, job: bytes, clusters: int) -> DataFrame:
    # Sorted within a task, because it groups rows that follow one another. Two clusters may share a task.
    ordered = read.repartition(max(1, clusters), "cluster").sortWithinPartitions("cluster", "file", "part")
    return ordered.mapInArrow(partial(cluster_tasks.validate_clusters, job), CLUSTER_ROWS).persist()


def _files_to_read_again(found: DataFrame, files: Sequence[LogFile]) -> list[LogFile]:
    rows = found.filter(found.kind == cluster_tasks.READ_AGAIN).select("content").collect()
    numbers = {number for row in rows for number in from_bytes(bytes(row.content))}
    return [file for file in files if file.number in numbers]


def shared_answers(rows: DataFrame) -> dict[str, ClusterAnswers]:
    """The answers about what the slices of each cluster share."""
    parts: dict[str, dict[int, bytes]] = {}
    refused: list[Diagnostic] = []
    for row in rows.filter(rows.kind.isin(cluster_tasks.SHARED, cluster_tasks.REFUSED)).collect():
        if row.kind == cluster_tasks.REFUSED:
            refused += from_bytes(bytes(row.content))
        else:
            parts.setdefault(row.cluster, {})[row.number] = bytes(row.content)
    if refused:
        # Several clusters may be refused for one reason, which is told once.
        raise SpecError(dict.fromkeys(refused))
    return {name: cluster_tasks.shared_of(own) for name, own in parts.items()}


def slice_answers(
    spark: SparkSession,
    rows: DataFrame,
    shared: Mapping[str, ClusterAnswers],
    question: ClusterQuestion,
    how: WorkDivision,
    *,
    keep_executions: bool,
) -> dict[tuple[str, str], SliceAnswer]:
    """The answers about the slices in the rows, by cluster and slice."""
    joined = {name: each for name, each in shared.items() if each.shared.joint is not None}
    # Pickled once. Workers recognise these bytes, and make what they check slices with once.
    known = {name: to_bytes((each.shared.joint, each.basis)) for name, each in joined.items()}
    bundles = [
        Bundle(name, number, sum(each.slices[one] for one in bundle))
        for name, each in joined.items()
        for number, bundle in enumerate(each.bundles)
    ]
    if not bundles:
        return {}
    # As many as when the bundles were made, so that each task gets about one bundle.
    tasks = how.tasks or TASKS_PER_CORE * slots(spark)
    task = partial(cluster_tasks.answer_slices, known, keep_executions, question.read)
    found = partition_by_task(
        spark, rows.filter(rows.kind == cluster_tasks.SLICE), balance(bundles, tasks, cluster_tasks.MOST_IN_TASK)
    )
    shelves = {name: cluster_tasks.shelf_of(each) for name, each in known.items()} if keep_executions else {}
    return {
        (row.cluster, row.name): cluster_tasks.slice_answer(
            bytes(row.content), None if row.execution is None else bytes(row.execution), shelves.get(row.cluster)
        )
        for row in found.mapInArrow(task, SLICE_ROWS).collect()
    }


class Bundle(NamedTuple):
    """Slices of a cluster that one task validates, and how many events they have."""

    cluster: str
    number: int
    size: int


def partition_by_task(spark: SparkSession, rows: DataFrame, tasks: Sequence[Sequence[Bundle]]) -> DataFrame:
    """The rows of bundles, those of one task in one partition.

    Spark starts tasks in the order of partitions. The largest come first, so that no large one starts last and is
    waited for.
    """
    import pyarrow as pa  # noqa: PLC0415 - optional
    from pyspark.sql import functions as f  # noqa: PLC0415 - optional

    ordered = sorted(tasks, key=lambda own: -sum(each.size for each in own))
    places = [(each.cluster, each.number, task) for task, own in enumerate(ordered) for each in own]
    kinds = {"cluster": pa.string(), "number": pa.int32(), "task": pa.int32()}
    columns = [pa.array(column, kind) for column, kind in zip(zip(*places, strict=True), kinds.values(), strict=True)]
    table = spark.createDataFrame(pa.table(columns, names=list(kinds)))
    return rows.join(f.broadcast(table), ["cluster", "number"]).repartitionById(len(ordered), "task")


def _events(rows: DataFrame) -> dict[str, tuple[Event, ...]]:
    found: dict[str, list[tuple[int, int, list[Event]]]] = {}
    for row in rows.filter(rows.kind == cluster_tasks.EVENTS).collect():
        pieces = found.setdefault(row.cluster, [])
        pieces.append((int(row.name), row.number, from_bytes(bytes(row.content))))
    return {
        name: tuple(event for _, _, events in sorted(pieces, key=lambda piece: piece[:2]) for event in events)
        for name, pieces in found.items()
    }
