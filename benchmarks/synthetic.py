"""Logs of a large cluster, simulated and then validated: is every partition that breaks a rule found, and nothing else, how fast, and in how much memory?

`python -m benchmarks synthetic [--size 2GB] [--brokers 100] [--partitions 5000] [--violations 50] [--seed 1] [--keep FOLDER]`
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from assay.grammar.load import bundled_specs, load_spec
from assay.traces.conduct import Options
from assay.traces.read import read_logs
from assay.traces.validate import validate
from assay.traces.validation import TraceVerdict
from benchmarks.cluster import Break, Cluster

Line = dict[str, object]
_UNITS = {"GB": 1_000_000_000, "MB": 1_000_000, "KB": 1_000}


def generate(folder: Path, size: int, brokers: int, partitions: int, violations: int, seed: int) -> tuple[str, ...]:
    """Write a cluster's logs of about that many bytes; the names of the partitions that break a rule."""
    random = Random(seed)
    chosen = random.sample(range(partitions), violations)
    kinds = list(Break)
    cluster = Cluster(folder, brokers, partitions, {i: kinds[n % len(kinds)] for n, i in enumerate(chosen)}, seed)
    cluster.start()
    failures = 0
    while cluster.files.bytes < size or not all(p.broken for p in cluster.partitions if p.breaks is not None):
        failures += 1
        others = [broker for broker in cluster.brokers if broker != cluster.controller]
        cluster.fail(_next(cluster, random, others) if failures % 60 else cluster.controller)
    cluster.files.close()
    return tuple(sorted(p.name for p in cluster.partitions if p.broken))


def _next(cluster: Cluster, random: Random, others: Sequence[int]) -> int:
    """Who fails: while partitions have still to break a rule, a broker that leads one of them."""
    waiting = [p.leader for p in cluster.partitions if p.breaks is not None and not p.broken and p.leader in others]
    return random.choice(waiting or others)


def size_of(text: str) -> int:
    """``2GB``, ``300MB`` in bytes; raises ValueError."""
    for unit, factor in _UNITS.items():
        if text.upper().endswith(unit):
            return int(float(text[: -len(unit)]) * factor)
    return int(text)


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """One line: what was found, and what it took."""
    options = _options(arguments)
    with TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        if any(folder.iterdir() if folder.exists() else ()):
            raise ValueError(f"{folder} is not empty")
        size = size_of(options.size)
        broken = generate(folder, size, options.brokers, options.partitions, options.violations, options.seed)
        yield _measure(folder, broken)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks synthetic", exit_on_error=False)
    parser.add_argument("--size", default="2GB")
    parser.add_argument("--brokers", type=int, default=100)
    parser.add_argument("--partitions", type=int, default=5000)
    parser.add_argument("--violations", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path)
    try:
        return parser.parse_args(list(arguments))
    except argparse.ArgumentError as error:
        raise ValueError(str(error)) from error


def _measure(folder: Path, broken: Sequence[str]) -> Line:
    begun, cpu = time.perf_counter(), _cpu()
    reading = read_logs([folder])
    read = _cpu() - cpu
    loaded = load_spec(bundled_specs()[0] / "kafka" / "cluster.assay")
    answer = validate(loaded, list(reading.events), options=Options(jobs=0))
    found = sorted(each.name for each in answer.slices if each.verdict is TraceVerdict.INCONSISTENT)
    return {
        "benchmark": "synthetic",
        "bytes": reading.bytes,
        "events": answer.counts.read,
        "violations": len(broken),
        "found": len(set(found) & set(broken)),
        "false_alarms": len(set(found) - set(broken)),
        "undecided": sum(each.verdict is TraceVerdict.INCONCLUSIVE for each in answer.slices),
        "seconds": round(time.perf_counter() - begun, 1),
        "cpu_seconds": round(_cpu() - cpu, 1),
        "cpu_seconds_reading": round(read, 1),
        "peak_resident_mb": _peak(resource.RUSAGE_SELF),
        "peak_resident_mb_of_a_process_for_slices": _peak(resource.RUSAGE_CHILDREN),
        "load_before": round(os.getloadavg()[0], 2),
    }


def _cpu() -> float:
    """The processor time of this process and of those that it waited for."""
    return sum(os.times()[:4])


def _peak(who: int) -> int:
    return round(resource.getrusage(who).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10))
