"""What a search on Spark takes above one of the native engine: `python -m benchmarks spark [large|faults]`.

Processor seconds are those of all processes (Java, Python), from the first level on; the session's start is not among them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.checker.explicit.check import check
from assay.checker.options import SearchOptions
from assay.checker.portfolio import compile_kernel
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_spec
from assay.spark.cluster import Choice, ClusterOptions
from assay.spark.exploration import explore
from assay.spark.session import SEARCH, session
from benchmarks.faults import lines as fault_lines
from benchmarks.native import KIP320, KNOWN, LARGE, MIDDLE, WORDS

Line = dict[str, object]
TASKS = 2
TARGETS = {"direct": 0.6, "shuffle": 4.5}
"""Microseconds of processors a state, above the native engine's."""
TICKS = os.sysconf("SC_CLK_TCK")


def _cpu() -> float:
    """Processor seconds of this process and all that it started and has not lost."""
    found: dict[int, tuple[int, int]] = {}
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                fields = (place / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it ended
            found[int(place.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    total, wave = 0, {os.getpid()}
    while wave:
        total += sum(found[number][1] for number in wave)
        wave = {number for number, (parent, _) in found.items() if parent in wave}
    return total / TICKS


def _native(kernel: Kernel) -> tuple[int, float]:
    options = SearchOptions(threads=1)
    with TemporaryDirectory() as folder:
        report = check(kernel, compile_kernel(kernel, options, Path(folder)), options)
    assert report.statistics.effort is not None
    return report.statistics.distinct, report.statistics.effort.cpu


def _search(kernel: Kernel, name: str, states: int | None) -> Iterator[Line]:
    distinct, native = _native(kernel)
    assert distinct == (states or distinct)
    options = SearchOptions(threads=1)
    with session(f"local[{TASKS}]", {**SEARCH, "spark.driver.memory": "2g"}) as spark:
        exchanges: tuple[Choice, ...] = ("direct", "shuffle")
        for exchange in exchanges:
            cluster = ClusterOptions(TASKS, exchange)
            explore(spark, load_spec(KIP320, model="r3l2m2e1").kernel, options, ClusterOptions(TASKS, exchange, out=1))
            before, began = _cpu(), time.perf_counter()
            found = explore(spark, kernel, options, cluster)
            cpu, wall = _cpu() - before, time.perf_counter() - began
            assert found.report.statistics.distinct == distinct, found.report
            yield {
                "benchmark": "processor microseconds a state above native", "model": name, "exchange": exchange,
                "value": round((cpu - native) / distinct * 1e6, 2), "target": TARGETS[exchange], "states": distinct,
                "native_cpu": round(native, 2), "cpu": round(cpu, 2), "wall": round(wall, 1), "levels": found.levels,
                "load_before": os.getloadavg()[0],
            }  # fmt: skip


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """The lines of the usual models, of the largest, or of faults; raises ValueError for anything else."""
    match list(arguments):
        case []:
            for name in (MIDDLE, LARGE):
                yield from _search(load_spec(KIP320, model=name).kernel, name, KNOWN[name][0])
        case ["large"]:
            yield from _search(load_spec(WORDS, model="hundred_million").kernel, "hundred_million", None)
        case ["faults"]:
            yield from fault_lines()
        case _:
            raise ValueError("the argument is `large`, `faults`, or none")
