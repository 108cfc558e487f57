"""The targets of the language, the engines and the proofs, each with its figure: `python -m benchmarks targets [WORD]…`.

Without a word all groups but `disk` and `billion` run, half an hour on two cores. The words name groups:

* `published`: published specs beside TLC, then their sum;
* `engine`: the searches of the target table;
* `limits`: how late a command answers after `--timeout` and Ctrl-C, with nothing cached;
* `compile`: the slowest bundled spec;
* `proofs`: the proofs, with the figures of docs/proving.md;
* `random`: engines against each other. `random=N` has so many seeds for each pair of engines; the first is `seed=N`;
* `disk`: 1.2 * 10^8 states in 1 GB;
* `billion`: a search of 10^9 states, with 16 GB of memory and 15 GB of files.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from tempfile import TemporaryDirectory

from benchmarks import compile as compiling
from benchmarks import native, specs, symbolic
from benchmarks.native import Line

RANDOM, SEED = 200, 0
"""How many random specs each pair of engines is given, from which seed on."""
NEAREST, LEAST = 200, 50
"""Processor seconds of TLC over ours: of most specs, and of each."""
SLOWEST = 2.0
"""Processor seconds from a kernel to code with which a search begins."""
WITHIN = 1.0
"""Seconds from a limit, or a signal, to the answer."""

PHASES: tuple[tuple[str, str, tuple[str, ...], float], ...] = (
    ("a spec is read", "kafka/cluster", ("check",), 1.0),
    ("a spec is translated", "systems/etcd_raft", ("check",), 2.5),
    ("machine code is made", "systems/etcd_raft", ("check",), 4.0),
    ("states are searched", "kafka/replication/kip320", ("check", "--threads", "1"), 3.0),
    ("gates are made", "systems/etcd_raft", ("check", "--engine", "bmc"), 4.0),
    ("a solver searches", "kafka/kraft/leadership", ("prove",), 6.0),
    ("walks are made", "kafka/cluster", ("simulate",), 6.0),
)
"""What a command is doing after so many seconds on a machine at rest."""

PAGE: Mapping[str, tuple[float | None, ...]] = {
    "encode": (0.2, 0.2, 0.5, None),
    "ic3": (0.3, 0.7, 1.9, None, None, None, 10.0),
    "any": (5.6, 16.9, 1.0, 1.9, 2.3, 6.3, 33.5, 7.7),
    "replication": (0.9, 0.5, 69.0, 113.0),
    "bmc": (0.8, 0.8, 2.0, 3.8, 4.0, 20.7, 7.9, 1.5, 25.1, 18.9, 1.6, 14.0, 11.6, 6.2, 13.1, 0.2, 0.2, 0.1),
    "lassos": (10.4, 0.3, 0.3, 0.2, 0.2),
}
"""Processor seconds of the rows of each group in docs/proving.md, in their order."""


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """The rows of the named groups. Raises ValueError for a word that means nothing."""
    counts = {"random": RANDOM, "seed": SEED}
    named = []
    for argument in arguments:
        name, is_setting, value = argument.partition("=")
        if is_setting and name in counts and value.isdigit():
            counts[name] = int(value)
            named.append("random")
        elif argument in GROUPS or argument in LARGE or argument == "random":
            named.append(argument)
        else:
            raise ValueError(f"no group {argument}; groups: {', '.join([*GROUPS, *LARGE])}, random; random=N, seed=N")
    wanted = named or [*GROUPS, "random"]
    for name, rows in GROUPS.items():
        if name in wanted:
            yield from rows()
    if "random" in wanted:
        yield from random_specs(counts["random"], counts["seed"])
    for name, rows in LARGE.items():
        if name in wanted:
            yield from rows()


def published() -> Iterator[Line]:
    """The published specs, and of how many of them each half of the target is true."""
    found = []
    for line in specs.published([]):
        found.append(line)
        yield line
    ratios = [ratio for each in found if isinstance(ratio := each.get("ratio"), int)]
    own = [ratio for each in found if isinstance(ratio := each.get("ratio_without_start"), int)]
    yield {
        "benchmark": "published specs", "specs": len(found), "native": sum(bool(each["native"]) for each in found),
        "tlc_ended": len(ratios), "counts_differ": [each["spec"] for each in found if _differs(each)],
        "below_200": sum(ratio < NEAREST for ratio in ratios), "least": min(ratios, default=None), "target": LEAST,
        "without_start_below_50": sum(ratio < LEAST for ratio in own), "load_before": round(os.getloadavg()[0], 1),
    }  # fmt: skip


def _differs(line: Line) -> bool:
    return line.get("tlc_distinct") is not None and line["tlc_distinct"] != line["distinct"]


def slowest() -> Iterator[Line]:
    """A raft with many messages, and the bundled spec that takes longest until a search can begin."""
    *_, raft, last = compiling.lines([])
    yield from (raft, {**last, "target": SLOWEST})


def limits() -> Iterator[Line]:
    """How late answers are in each phase, after the time limit and after Ctrl-C."""
    for phase, spec, (command, *more), seconds in PHASES:
        words = [command, spec, *more]
        yield {
            "benchmark": "limit to answer", "while": phase, "command": " ".join(words), "limit": seconds,
            "value": _late([*words, "--timeout", str(seconds)], seconds, signalled=False),
            "after_ctrl_c": _late(words, seconds, signalled=True),
            "target": WITHIN, "unit": "s", "load_before": round(os.getloadavg()[0], 1),
        }  # fmt: skip


def _late(words: Sequence[str], seconds: float, *, signalled: bool) -> float:
    """Seconds from the limit to the end of a command that finds nothing in the cache."""
    with TemporaryDirectory() as cache:
        started = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "assay", *words],
            env={**os.environ, "ASSAY_CACHE": cache},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        if signalled:
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
        process.wait()
        return round(time.perf_counter() - started - seconds, 2)


def proofs() -> Iterator[Line]:
    """The rows of the page about proofs, each with its figure there, and how many are dearer."""
    dearer, compared = [], 0
    for group, page in PAGE.items():
        rows = [each for each in symbolic.lines([group]) if each["benchmark"] != "bugs found"]
        for line, before in zip(rows, page, strict=True):
            yield {**line, "page_cpu_seconds": before}
            seconds = line["cpu_seconds"]
            assert isinstance(seconds, float)
            compared += before is not None
            if before is not None and seconds > before:
                dearer.append(line["key"])
    yield {"benchmark": "proof table", "rows": compared, "dearer_than_the_page": len(dearer), "which": dearer}


def random_specs(count: int, first: int) -> Iterator[Line]:
    """How many random specs the engines were asked about, and how often they disagreed."""
    from tests.differential import many  # noqa: PLC0415 - it needs Java's package, like all tests with TLC

    for engines, compared in many.COMPARED.items():
        began = time.process_time()
        found = compared(range(first, first + count))
        failed = found.pop("failed")
        assert isinstance(failed, list)
        yield {
            "benchmark": "random specs", "engines": engines, **found, "disagree": len(failed), "failed": failed,
            "cpu_seconds": round(time.process_time() - began, 1), "target": 0,
        }  # fmt: skip


GROUPS: dict[str, Callable[[], Iterator[Line]]] = {
    "published": published,
    "engine": specs.engine,
    "limits": limits,
    "compile": slowest,
    "proofs": proofs,
}
LARGE: dict[str, Callable[[], Iterator[Line]]] = {"disk": native.disk, "billion": native.billion}
"""What runs only where it is named: it takes minutes, or more memory than most machines have."""
