"""``assay check --engine spark``: a kernel is searched by all tasks of a cluster, and the report is that of the
local engines.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING

from assay.checker.engines.engine_selection import compile_kernel, with_behaviours
from assay.checker.engines.native_engine import Decide, answered, ended_early
from assay.checker.explicit.bfs import BlockSearch
from assay.checker.explicit.expansion.compiled_interface import Behaviours, Compiled
from assay.checker.explicit.expansion.outgoing_batches import RECORDS
from assay.checker.explicit.liveness.state_graph import decisions_of
from assay.checker.explicit.store.hash_kernels import OWNERS
from assay.checker.explicit.store.level_file import ChunkLayout, DamagedError, Parent
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.liveness.confirm import Decisions
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.native.compile import NativeProgram
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.report import Report
from assay.checker.report_assembly import refuse_unknown_names, searched_model
from assay.checker.symmetry.reduction import reduction_of
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, Note, SpecError
from assay.grammar.kernel import Kernel
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import load_spec
from assay.spark.exchange.direct import Direct
from assay.spark.exchange.fallback import Fallback
from assay.spark.exchange.shuffle import Shuffle
from assay.spark.liveness.check import decided_by_tasks, fits_here, parts_of
from assay.spark.liveness.product_tasks import GraphInfo, Rounds, without_expressions
from assay.spark.liveness.shuffle_round import rounds
from assay.spark.search.cluster_bfs import ClusterSearch, Exchange, SearchSite
from assay.spark.session.options import ClusterOptions
from assay.spark.session.session import configured
from assay.spark.session.ship_bitcode import pack
from assay.spark.storage.filesystem import Storage
from assay.spark.storage.manifest import NOT_RESUMED, Manifest, newest
from assay.spark.tasks.job import JobFailedError
from assay.spark.tasks.preflight import as_unusable, require_suitable_cluster, slots, why_not_direct
from assay.spark.tasks.task import NO_FILES, Job

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NO_DIRECT, WRONG_PARTITIONS = "E837", "E838"


@dataclass(frozen=True, slots=True)
class Exploration:
    """A report, and remarks: what was chosen for the search and why, a line each."""

    report: Report
    remarks: tuple[str, ...]
    levels: int
    """How many levels were expanded on the cluster."""
    sent: int
    """How many records tasks sent to each other."""
    record: float
    """Bytes of a record in a full packet."""


def explore(
    spark: SparkSession,
    spec: str | Kernel,
    options: SearchOptions | None = None,
    cluster: ClusterOptions | None = None,
    sources: Sources | None = None,
) -> Exploration:
    """Check a spec (a file, or a kernel) with the tasks of a session that the user has made.

    Verdict, counts and the length of counterexamples are those of the local engines, for any number of partitions.
    Raises ``SpecError`` where the spec does not compile, and with a code from E830 to E839 where the cluster does not
    suit.
    """
    if isinstance(spec, str):
        loaded = load_spec(spec)
        return explore(spark, loaded.kernel, options, cluster, loaded.sources)
    chosen, spread = options or SearchOptions(), cluster or ClusterOptions()
    compiled = _compiled(spec, chosen)
    parts = _parts(spark, spread)
    with configured(spark), _storage(spread) as storage, deep_recursion(spec):
        require_suitable_cluster(spark, parts, chosen.interrupted, storage)
        job = Job(storage.uri, parts, chosen.memory)
        exchange, remarks = _exchange(spark, spread, job)
        with as_unusable(storage.uri):
            resumed = _resumed(storage, spread, compiled, chosen)
            program = publish(storage, compiled)
        place = SearchSite(exchange, storage, program, resumed, spread.out, job.name)
        deciding = _deciding(storage, job, partial(rounds, spark))
        found = searched(spec, compiled, chosen, place, sources, deciding)
    # A temporary work directory is gone by now, so that no report may name it.
    kept = found.report.checkpoint if spread.workdir is not None else None
    return replace(found, report=replace(found.report, checkpoint=kept), remarks=tuple(remarks))


Deciding = Callable[[ClusterSearch], Decide]


def searched(
    kernel: Kernel,
    compiled: Compiled,
    options: SearchOptions,
    place: SearchSite,
    sources: Sources | None = None,
    deciding: Deciding | None = None,
) -> Exploration:
    """Search at a site. ``deciding`` gives the function that decides temporal properties; by default the driver
    decides.

    Raises ``SpecError`` where a file that a counterexample leads through is missing or damaged.
    """
    reduction = reduction_of(kernel, options)
    with closing(ClusterSearch(searched_model(kernel, reduction), options, compiled, reduction, place)) as search:
        try:
            decide = None if deciding is None else deciding(search)
            report = answered(search, sources or {}, f"spark ({place.exchange.name})", decide)
        except (OSError, DamagedError) as error:
            text = f"the work directory `{place.storage.uri}` is not what it was: {error}"
            raise SpecError([Diagnostic(NO_FILES, NOWHERE, text)]) from None
        kept = place.storage.uri if ended_early(search) and search.published else None
        record = ChunkLayout(compiled.layout.words, Parent.PRINT).size(RECORDS) * 8 / RECORDS
        return Exploration(replace(report, checkpoint=kept), (), search.distributed, search.sent, record)


def _deciding(storage: Storage, job: Job, jobs: Callable[[int, Callable[[], None]], Rounds]) -> Deciding:
    """Temporal properties are decided by the driver where it has memory for the graph, else by tasks."""

    def deciding(search: ClusterSearch) -> Decide:
        def decide(_: BlockSearch, behaviours: Behaviours, sources: Sources) -> Decisions:
            manifest = None if fits_here(search) else search.every_state()
            if manifest is None:
                return decisions_of(search, behaviours, sources)
            # First: the barrier stage of a direct exchange still holds the slots that the jobs need.
            search.let_go()
            parts = parts_of(len(search.rows), search.generated, job)
            graph = GraphInfo(
                storage.uri, manifest, publish(storage, behaviours.code), parts, without_expressions(behaviours.plan)
            )
            try:
                return decided_by_tasks(search, behaviours, sources, graph, jobs(parts, search.heed))
            except JobFailedError:  # the driver is slower, with arrays mapped to files, but needs no cluster
                return decisions_of(search, behaviours, sources)

        return decide

    return deciding


def _compiled(kernel: Kernel, options: SearchOptions) -> Compiled:
    # Both raise what the local engines refuse, before a job of Spark begins.
    refuse_unknown_names(kernel, options)
    reduction_of(kernel, options)
    try:
        with deep_recursion(kernel):
            return with_behaviours(kernel, compile_kernel(kernel, options), options)
    except UnsupportedError as error:
        raise SpecError([error.diagnostic]) from None


def _parts(spark: SparkSession, spread: ClusterOptions) -> int:
    """How many tasks share the work: as many as run at once, unless the user has said how many."""
    parts = spread.partitions or min(slots(spark), OWNERS)
    if not 0 < parts <= OWNERS:
        text = f"states are dealt to {OWNERS} owners, and so to 1 to {OWNERS} tasks, not to {parts}"
        raise SpecError([Diagnostic(WRONG_PARTITIONS, NOWHERE, text)])
    return parts


@contextmanager
def _storage(spread: ClusterOptions) -> Iterator[Storage]:
    if spread.workdir is None:
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            yield Storage(folder)
        return
    storage = Storage(spread.workdir)
    with as_unusable(spread.workdir):
        storage.begin()
        begun = newest(storage) is not None
    # Manifests are named after levels, so that those of two searches would replace each other.
    if begun and not spread.resume:
        text = f"`{spread.workdir}` holds the levels of an earlier search already"
        note = Note("go on with it by `--resume`, or name another folder")
        raise SpecError([Diagnostic(NOT_RESUMED, NOWHERE, text, (note,))])
    yield storage


def publish(storage: Storage, compiled: Compiled) -> str:
    """Write compiled code into the work directory, where executors find it; returns its name."""
    machine = compiled.machine
    assert isinstance(machine, NativeProgram)
    content = pack(compiled, machine.program)
    # Named after its content: executors keep under this name what they have compiled.
    name = f"program-{sha256(content).hexdigest()[:16]}.json"
    storage.write(name, content)
    return name


def _resumed(storage: Storage, spread: ClusterOptions, compiled: Compiled, options: SearchOptions) -> Manifest | None:
    """The newest manifest of an earlier search, if the search is to be resumed. Raises ``SpecError`` if it is of
    another one.
    """
    if not spread.resume:
        return None
    manifest = newest(storage)
    reason = None
    if manifest is None:
        reason = "holds no search to go on with"
    elif manifest.identity != compiled.identity.hex():
        reason = "is of another spec, model, selection of properties, or version of assay"
    # The probability of collisions that is reported would be wrong.
    elif manifest.saved.fingerprints != options.fingerprints:
        reason = f"was written with `--fingerprints {manifest.saved.fingerprints}`"
    if reason is not None:
        raise SpecError([Diagnostic(NOT_RESUMED, NOWHERE, f"`{spread.workdir}` {reason}")])
    return manifest


def _exchange(spark: SparkSession, spread: ClusterOptions, job: Job) -> tuple[Exchange, list[str]]:
    """The exchange, and remarks that say why it was chosen."""
    reason = why_not_direct(spark, job.parts)
    if spread.exchange == "direct" and reason is not None:
        raise SpecError([Diagnostic(NO_DIRECT, NOWHERE, f"tasks cannot talk to each other directly: {reason}")])
    tasks = f"{job.parts} task" + ("" if job.parts == 1 else "s")
    if spread.exchange == "shuffle" or reason is not None:
        why = reason or "it was asked for"
        return Shuffle(spark, job), [f"{tasks} exchange states by Spark's shuffle: {why}"]
    if spread.exchange == "direct":
        return Direct(spark, job), [f"{tasks} exchange states directly: it was asked for"]
    chosen = Fallback(spark, job)
    # The list stays that of the exchange, which adds a remark if it changes.
    chosen.remarks.append(f"{tasks} exchange states directly: the cluster runs all of them at once")
    return chosen, chosen.remarks
