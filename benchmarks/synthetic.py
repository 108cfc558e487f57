"""Logs of a large cluster, simulated and then validated: is every partition that breaks a rule found, and nothing else, how fast, and in how much memory?

`python -m benchmarks synthetic [--size 2GB] [--brokers 100] [--partitions 5000] [--violations 50] [--seed 1] [--jobs 2] [--keep FOLDER]`
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

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
