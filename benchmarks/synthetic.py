"""Logs of a large cluster, simulated and then validated. Is every partition that breaks a rule found, and nothing else?
How fast, and in how much memory?

`python -m benchmarks synthetic [--size 2GB] [--brokers 100] [--partitions 5000] [--violations 50] [--seed 1] [--keep FOLDER]`
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory, TemporaryFile

from assay.traces.result import TraceVerdict
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
        # The controller seldom fails: each new one tells all brokers of all partitions, which is long.
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
    """What `assay validate` says of the folder, with what all its processes take together."""
    command = [sys.executable, "-m", "assay", "validate", str(folder), "--json"]
    load, begun, cpu = os.getloadavg()[0], time.perf_counter(), _cpu()
    with TemporaryFile() as written, subprocess.Popen(command, stdout=written) as process:
        most = 0
        while process.poll() is None:
            most = max(most, resident(process.pid))
            time.sleep(0.5)
        seconds = time.perf_counter() - begun
        written.seek(0)
        answer = json.load(written)
    found = {each["slice"] for each in answer["violations"]}
    return {
        "benchmark": "synthetic",
        "bytes": sum(path.stat().st_size for path in folder.rglob("*.log")),
        "events": answer["events"]["read"],
        "violations": len(broken),
        "found": len(found & set(broken)),
        "false_alarms": len(found - set(broken)),
        "undecided": sum(each["verdict"] == TraceVerdict.INCONCLUSIVE.value for each in answer["undecided"]),
        "seconds": round(seconds, 1),
        "cpu_seconds": round(_cpu() - cpu, 1),
        "peak_resident_mb_of_all_processes": most >> 20 if most else None,
        "load_before": round(load, 2),
    }


def resident(process: int) -> int:
    """The memory of a process and of those it began, in bytes, each shared page once; 0 where the system does not tell."""
    children: dict[int, list[int]] = defaultdict(list)
    for path in Path("/proc").glob("[0-9]*"):
        children[_number(path / "stat", lambda text: text.rpartition(")")[2].split()[1])].append(int(path.name))
    asked, total = [process], 0
    while asked:
        one = asked.pop()
        asked += children[one]
        total += _number(Path(f"/proc/{one}/smaps_rollup"), lambda text: text.partition("Pss:")[2].split()[0]) << 10
    return total


def _number(file: Path, find: Callable[[str], str]) -> int:
    """A number in a file about a process; 0 where that has ended."""
    try:
        return int(find(file.read_text(encoding="utf-8")))
    except (OSError, IndexError):
        return 0


def _cpu() -> float:
    """The processor time of this process and of those that it waited for."""
    return sum(os.times()[:4])
