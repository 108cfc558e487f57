"""What is ended in the midst of a search on a standalone cluster, when, and whether the answer is still exact.

A search is struck from within: it asks now and then whether it is to stop, and that is when something else is ended. So nothing depends on time.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.engines.native_engine import check
from assay.checker.options import Progress, SearchOptions
from assay.checker.report import Report
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_spec
from assay.spark.exploration import explore
from assay.spark.session.local_cluster import SMALL, Standalone, standalone
from assay.spark.session.options import ClusterOptions
from assay.spark.session.session import session
from assay.spark.tasks.task import NO_FILES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parent.parent
KIP320 = ROOT / "spec" / "kafka" / "replication" / "kip320.assay"
MODELS: dict[str, tuple[str, dict[str, str]]] = {
    "whole": ("r3l2m2e1", {}),
    "few": ("r2l2m2e2", {"LogSize": "1", "MaxRecords": "1", "MaxLeaderEpoch": "1"}),
}
"""The model that is searched for all faults, of 22 levels, and the one for a few, of 12."""
DAEMON = "pyspark.daemon"
SETTINGS = {**SMALL, "spark.cores.max": "2"}
"""What leaves as much of the cluster to a second driver."""
DRIVER = """
import os, signal, sys
from benchmarks.faults import SETTINGS, kernel_of, struck_options
from assay.spark.session.options import ClusterOptions
from assay.spark.exploration import explore
from assay.spark.session.session import session

size, url, workdir, exchange, level = sys.argv[1:]
options = struck_options(int(level), lambda: os.kill(os.getpid(), signal.SIGKILL))
with session(url, SETTINGS) as spark:
    explore(spark, kernel_of(size), options, ClusterOptions(2, exchange, workdir, out=1))
"""


def kernel_of(size: str) -> Kernel:
    """One of the models."""
    model, overrides = MODELS[size]
    return load_spec(KIP320, model=model, overrides=overrides).kernel


def struck_options(level: int, strike: Callable[[], object]) -> SearchOptions:
    """Options of a search during which something happens once, in a level."""
    levels, struck = [0], list[bool]()

    def watch(progress: Progress) -> None:
        levels.append(progress.level)

    def asked() -> bool:
        if levels[-1] >= level and not struck:
            struck.append(True)
            strike()
        return False

    return SearchOptions(threads=1, progress=watch, interrupted=asked)


def facts(report: Report) -> dict[str, Any]:
    """What must be the same."""
    sizes = report.statistics
    return {
        "states": sizes.distinct,
        "generated": sizes.generated,
        "depth": sizes.depth,
        "bounds": dict(report.bounds),
        "results": [(p.name, p.outcome.value, None if p.trace is None else len(p.trace)) for p in report.properties],
        "stopped": report.stopped,
    }


# ------------------------------------------------------------------------------------------------------ victims


def _processes() -> dict[int, tuple[int, str]]:
    """Of each process its parent and its command line, from /proc."""
    found = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                stat = (place / "stat").read_text()
                line = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue  # it ended
            found[int(place.name)] = (int(stat.rpartition(")")[2].split()[1]), line)
    return found


def descendants(of: int, word: str, parent_word: str = "") -> list[int]:
    """The processes that a process started, directly or not, that have a word in their command line, and their parents another; the last first."""
    known, found, wave = _processes(), list[int](), {of}
    while wave:
        wave = {number for number, (parent, _) in known.items() if parent in wave}
        found += [number for number in wave if word in known[number][1] and parent_word in known[known[number][0]][1]]
    return sorted(found, reverse=True)


def _kill(numbers: list[int]) -> None:
    for number in numbers:
        os.kill(number, signal.SIGKILL)


def python_workers(cluster: Standalone) -> list[int]:
    """The Python processes that run tasks: those that a daemon of Spark forked."""
    return [each for worker in cluster.workers for each in descendants(worker.popen.pid, DAEMON, DAEMON)]


def executors(cluster: Standalone) -> list[int]:
    """The executors' Java processes."""
    return [
        each for worker in cluster.workers for each in descendants(worker.popen.pid, "CoarseGrainedExecutorBackend")
    ]


VICTIMS: dict[str, Callable[[Standalone], None]] = {
    "a Python worker": lambda cluster: _kill(python_workers(cluster)[:1]),
    "all Python workers": lambda cluster: _kill(python_workers(cluster)),
    "an executor": lambda cluster: _kill(executors(cluster)[:1]),
    "all executors": lambda cluster: _kill(executors(cluster)),
    "a worker daemon": lambda cluster: _kill([cluster.workers[0].popen.pid]),
}


# --------------------------------------------------------------------------------------------------------- rows


@dataclass(frozen=True, slots=True)
class Fault:
    """What is ended, in which level, under which exchange. A driver goes on with ``then``."""

    victim: str
    level: int
    exchange: str
    then: str = ""


FAULTS = (
    *(Fault(victim, level, exchange) for exchange, victim, level in product(
        ("direct", "shuffle"), ("a Python worker", "an executor", "a worker daemon"), (2, 12, 21))),
    *(Fault(victim, 9, exchange) for exchange, victim in product(("auto", "shuffle"), ("all Python workers", "all executors"))),
    *(Fault("the driver", level, exchange, then) for level, exchange, then in (
        (3, "direct", "direct"), (20, "direct", "shuffle"), (3, "shuffle", "shuffle"), (20, "shuffle", "direct"))),
    Fault("the work directory", 12, "direct", "direct"),
    Fault("the work directory", 12, "shuffle", "shuffle"),
)  # fmt: skip
FEW = (
    Fault("a Python worker", 6, "direct"),
    Fault("a Python worker", 5, "shuffle"),
    Fault("an executor", 6, "direct"),
    Fault("a worker daemon", 6, "shuffle"),
    Fault("the driver", 6, "direct", "shuffle"),
    Fault("the work directory", 6, "shuffle", "direct"),
)
"""One of each kind, for the smaller model."""


@dataclass(slots=True)
class Range:
    """A cluster to be struck, and the answer that must come all the same."""

    cluster: Standalone
    spark: SparkSession
    size: str
    kernel: Kernel
    expected: dict[str, Any]

    def wrong(self, fault: Fault) -> dict[str, Any]:
        """What of the answer is not as it must be, in spite of a fault."""
        self.cluster.heal(2)
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            workdir = Path(folder) / "work"
            if fault.victim == "the driver":
                self._lose_driver(fault, workdir)
                return self._goes_on(fault, workdir)
            if fault.victim == "the work directory":
                told = self._lose_files(fault, workdir)
                return self._goes_on(fault, workdir) if told else {"told": False}
            options = struck_options(fault.level, lambda: VICTIMS[fault.victim](self.cluster))
            found = explore(self.spark, self.kernel, options, _cluster(fault.exchange, workdir, resume=False))
            return self._compared(found.report)

    def _compared(self, report: Report) -> dict[str, Any]:
        return {name: value for name, value in facts(report).items() if value != self.expected[name]}

    def _lose_driver(self, fault: Fault, workdir: Path) -> None:
        arguments = [self.size, self.cluster.url, str(workdir), fault.exchange, str(fault.level)]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
        }
        ended = subprocess.run(
            [sys.executable, "-c", DRIVER, *arguments],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if ended.returncode != -signal.SIGKILL:
            raise RuntimeError(f"the driver was not struck: {ended.stderr}")

    def _lose_files(self, fault: Fault, workdir: Path) -> bool:
        """Whether a search says so whose work directory is moved away; then it is put back."""
        aside = workdir.with_name("aside")
        options = struck_options(fault.level, partial(workdir.rename, aside))
        try:
            report = explore(self.spark, self.kernel, options, _cluster(fault.exchange, workdir, resume=False)).report
            told = report.stopped is not None
        except SpecError as problem:
            told = problem.diagnostics[0].code == NO_FILES
        shutil.rmtree(workdir, ignore_errors=True)
        aside.rename(workdir)
        return told

    def _goes_on(self, fault: Fault, workdir: Path) -> dict[str, Any]:
        found = explore(self.spark, self.kernel, SearchOptions(threads=1), _cluster(fault.then, workdir, resume=True))
        return self._compared(found.report)


def _cluster(exchange: Any, workdir: Path, *, resume: bool) -> ClusterOptions:
    return ClusterOptions(2, exchange, str(workdir), resume=resume, out=1)


def ready(cluster: Standalone, spark: SparkSession, size: str = "whole") -> Range:
    """A cluster with the answer that one process gives about one of the models."""
    kernel = kernel_of(size)
    options = SearchOptions(threads=1)
    with TemporaryDirectory() as folder:
        expected = facts(check(kernel, compile_kernel(kernel, options, Path(folder)), options))
    return Range(cluster, spark, size, kernel, expected)


def lines() -> Iterator[dict[str, object]]:
    """One line for each fault, and a last one that counts them."""
    with standalone(workers=2, cores=2) as cluster, session(cluster.url, SETTINGS) as spark:
        field = ready(cluster, spark)
        exact = 0
        for fault in FAULTS:
            wrong = field.wrong(fault)
            exact += not wrong
            yield {
                "benchmark": "fault", "ended": fault.victim, "level": fault.level, "exchange": fault.exchange,
                "goes_on_with": fault.then or None, "value": wrong or "exact", "target": "exact",
            }  # fmt: skip
    yield {"benchmark": "faults survived exactly", "value": exact, "target": len(FAULTS)}
