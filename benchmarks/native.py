"""Speed and size of the native engine on the replication model, whose counts are known."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.checker.explicit.check import check
from assay.checker.explicit.machine import Compiled
from assay.checker.options import SearchOptions
from assay.checker.portfolio import compile_kernel
from assay.checker.verdict import Report
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_spec

SPEC = Path(__file__).parent.parent / "spec" / "kafka" / "replication" / "kip320.assay"
MODELS = ("r3l2m2e2", "r3l3m3e2", "r3l2m2e3")
SMALL = "r2l2m2e2"

Line = dict[str, object]


def lines(models: tuple[str, ...] = MODELS, threads: tuple[int, ...] = (1, 2)) -> Iterator[Line]:
    """One line for compiling each model, and one for searching it with each number of threads."""
    with TemporaryDirectory() as folder:
        _warm(Path(folder))
        for model in models:
            kernel = load_spec(SPEC, model=model).kernel
            started = time.perf_counter()
            compiled = compile_kernel(kernel, SearchOptions(), Path(folder))
            yield {"benchmark": "compile", "model": model, "seconds": _seconds(started), "words": compiled.layout.words}
            for count in threads:
                yield _search(model, kernel, compiled, count)


def _warm(folder: Path) -> None:
    """Run a small model once, so that the kernels of the state store are compiled and loaded."""
    kernel = load_spec(SPEC, model=SMALL).kernel
    check(kernel, compile_kernel(kernel, SearchOptions(), folder))


def _search(model: str, kernel: Kernel, compiled: Compiled, threads: int) -> Line:
    load, cpu = os.getloadavg()[0], time.process_time()
    report = check(kernel, compiled, SearchOptions(threads=threads))
    return {
        "benchmark": "search",
        "model": model,
        "threads": threads,
        **_sizes(report),
        "cpu_seconds": round(time.process_time() - cpu, 3),
        "peak_resident_mb": _peak_mb(),
        "load_before": round(load, 2),
    }


def _sizes(report: Report) -> Line:
    sizes = report.statistics
    return {
        "distinct": sizes.distinct,
        "generated": sizes.generated,
        "depth": sizes.depth,
        "seconds": round(sizes.seconds, 3),
        "distinct_per_second": round(sizes.distinct / sizes.seconds),
    }


def _seconds(started: float) -> float:
    return round(time.perf_counter() - started, 3)


def _peak_mb() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))
