"""Speed and size of the native engine: on the replication model, whose counts are known, and on words, whose counts are a formula.

Each line has the figure as ``value``, and the ``target`` with which it is compared; ``load_before`` is how busy the machine was. Processor
seconds are counted where other work on the machine would disturb a clock.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from math import factorial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from assay.checker.engines.engine_selection import compile_kernel
from assay.checker.engines.native_engine import check
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.options import SearchOptions
from assay.checker.report import Report
from assay.grammar.kernel import Kernel
from assay.grammar.load import load_spec

ROOT = Path(__file__).parent.parent
KIP320 = ROOT / "spec" / "kafka" / "replication" / "kip320.assay"
WORDS = Path(__file__).parent / "words.assay"
SMALL, MIDDLE, LARGE = "r3l2m2e2", "r3l3m3e2", "r3l2m2e3"
KNOWN = {SMALL: (737_794, 26), MIDDLE: (4_093_531, 31), LARGE: (9_985_570, 32)}
WARMING = "r2l2m2e2"
REPEATED = 3
FIXED = 300_000_000
"""Bytes that a search may take besides those a state."""

Line = dict[str, object]


def speed() -> Iterator[Line]:
    """Compiling each model, and searching it with one thread: the best of a few times."""
    for model, target in ((SMALL, 2.5e6), (MIDDLE, None), (LARGE, 1.5e6)):
        with TemporaryDirectory() as folder:
            kernel, compiled, seconds = _compiled(model, Path(folder))
            yield {
                "benchmark": "compile",
                "model": model,
                "value": seconds,
                "words": compiled.layout.words,
                "target": 2.0,
            }
            runs = [_search(model, kernel, compiled, 1) for _ in range(REPEATED)]
            best = min(runs, key=lambda run: run["cpu_seconds"])
            rate = round(best["distinct"] / best["cpu_seconds"])
            yield {"benchmark": "distinct states per second and thread", "value": rate, "target": target, **best}


def threads() -> Iterator[Line]:
    """How much faster two threads are than one."""
    with TemporaryDirectory() as folder:
        kernel, compiled, _ = _compiled(LARGE, Path(folder))
        # In turn, so that what else runs on the machine disturbs both alike.
        pairs = [[_search(LARGE, kernel, compiled, n) for n in (1, 2)] for _ in range(REPEATED)]
    one, two = (min(pair[at]["search_seconds"] for pair in pairs) for at in (0, 1))
    yield {
        "benchmark": "two threads over one", "model": LARGE, "value": round(one / two, 2), "target": 1.7,
        "one": one, "two": two, "cpu_seconds": [[run["cpu_seconds"] for run in pair] for pair in pairs],
        "load_before": pairs[0][0]["load_before"],
    }  # fmt: skip


def command() -> Iterator[Line]:
    """The whole command, with nothing cached, and again."""
    with TemporaryDirectory() as folder:
        caches = {"ASSAY_CACHE": f"{folder}/objects", "XDG_CACHE_HOME": f"{folder}/user"}
        for benchmark, target in (("whole command, cold", 4.0), ("whole command, warm", 2.0)):
            load, cpu, started = os.getloadavg()[0], _children(), time.perf_counter()
            answer = _assay(KIP320, SMALL, environment=caches)
            seconds = round(time.perf_counter() - started, 3)
            assert answer["states"]["distinct"] == KNOWN[SMALL][0]
            yield {
                "benchmark": benchmark, "model": SMALL, "value": seconds, "target": target,
                "cpu_seconds": round(_children() - cpu, 3), "load_before": round(load, 2),
            }  # fmt: skip


def memory() -> Iterator[Line]:
    """The most memory that a search of ten million states ever took."""
    for bits, target in (("64", 20), ("96", 28), ("128", 36)):
        answer = _assay(KIP320, LARGE, "--fingerprints", bits)
        assert (answer["states"]["distinct"], answer["states"]["depth"]) == KNOWN[LARGE]
        yield _size(answer, LARGE, bits, target)


def large() -> Iterator[Line]:
    """A hundred million states, and a third of a billion with whole rows compared: as many as the formula says."""
    for model, letters, groups, bits, target in (
        ("hundred_million", 12, (2, 2), "64", 20), ("third_of_a_billion", 14, (5, 2), "exact", None),
    ):  # fmt: skip
        answer = _assay(WORDS, model, "--fingerprints", bits, "--memory", "8G")
        assert answer["states"]["distinct"] == permutations(letters, groups), answer
        yield _size(answer, model, bits, target)


def disk() -> Iterator[Line]:
    """A hundred million states in a gigabyte: visited states go to disk."""
    answer = _assay(WORDS, "hundred_million", "--memory", "1G")
    assert answer["states"]["distinct"] == permutations(12, (2, 2)), answer
    effort = answer["effort"]
    yield {
        **_size(answer, "hundred_million", "96", None),
        "benchmark": "visited states on disk",
        "value": round(answer["states"]["distinct"] / effort["search_seconds"]), "unit": "states a second",
        "cpu_seconds": effort["cpu_seconds"], "collision": answer["states"]["collision"], **effort["visited_on_disk"],
    }  # fmt: skip


def billion() -> Iterator[Line]:
    """A billion states, of which some 13 GB of memory and 15 GB of files are made: compared by 96 bits."""
    answer = _assay(WORDS, "billion", "--memory", "16G")
    assert answer["states"]["distinct"] == permutations(13, (3,)), answer
    yield {
        **_size(answer, "billion", "96", None),
        "collision": answer["states"]["collision"],
        "cpu_seconds": answer["effort"]["cpu_seconds"],
    }


def permutations(letters: int, groups: tuple[int, ...]) -> int:
    """The orders of so many letters, of which some groups are equal."""
    count = factorial(letters)
    for group in groups:
        count //= factorial(group)
    return count


GROUPS: dict[str, Callable[[], Iterator[Line]]] = {
    "speed": speed, "threads": threads, "command": command, "memory": memory, "large": large,
    "disk": disk, "billion": billion,
}  # fmt: skip
USUAL = ("speed", "threads", "command", "memory")


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """The lines of some groups of measurements, of the usual ones if none is named; raises ValueError where there is no such group."""
    if unknown := set(arguments) - set(GROUPS):
        raise ValueError(f"no group {', '.join(sorted(unknown))}; groups: {', '.join(GROUPS)}")
    for group in arguments or USUAL:
        yield from GROUPS[group]()


def _compiled(model: str, folder: Path) -> tuple[Kernel, Compiled, float]:
    """A model with its code, and the seconds that took; a small one is run first, so that the kernels of the search are loaded."""
    warming = load_spec(KIP320, model=WARMING).kernel
    for options in (SearchOptions(), SearchOptions(fingerprints="96")):
        check(warming, compile_kernel(warming, options, folder), options)
    kernel = load_spec(KIP320, model=model).kernel
    started = time.process_time()
    compiled = compile_kernel(kernel, SearchOptions(), folder)
    return kernel, compiled, round(time.process_time() - started, 3)


def _search(model: str, kernel: Kernel, compiled: Compiled, count: int) -> dict[str, Any]:
    load = os.getloadavg()[0]
    report = check(kernel, compiled, SearchOptions(threads=count))
    assert (report.statistics.distinct, report.statistics.depth) == KNOWN[model]
    return {
        "model": model,
        "threads": count,
        **_sizes(report),
        "load_before": round(load, 2),
    }


def _sizes(report: Report) -> dict[str, Any]:
    sizes, effort = report.statistics, report.statistics.effort
    assert effort is not None
    return {
        "distinct": sizes.distinct,
        "generated": sizes.generated,
        "depth": sizes.depth,
        "search_seconds": round(effort.seconds, 3),
        "cpu_seconds": round(effort.cpu, 3),
        "peak_mb": round(effort.memory / 1e6),
    }


def _size(answer: Any, model: str, bits: str, target: int | None) -> Line:
    states, effort = answer["states"], answer["effort"]
    return {
        "benchmark": "bytes a state, 300 MB apart", "model": model, "fingerprints": bits, "target": target,
        "value": round((effort["memory"] - FIXED) / states["distinct"], 2), "distinct": states["distinct"],
        "generated": states["generated"], "depth": states["depth"], "peak_mb": round(effort["memory"] / 1e6),
        "table_mb": round(effort["table"] / 1e6), "disk_mb": round(effort["disk"] / 1e6),
        "search_seconds": effort["search_seconds"], "load_after": round(os.getloadavg()[0], 2),
    }  # fmt: skip


def _assay(spec: Path, model: str, *more: str, environment: dict[str, str] | None = None) -> Any:
    """What a command of its own answers."""
    arguments = [sys.executable, "-m", "assay", "check", str(spec), "--model", model, "--json", *more]
    ran = subprocess.run(
        arguments, check=False, capture_output=True, text=True, env={**os.environ, **(environment or {})}
    )
    return json.loads(ran.stdout)


def _children() -> float:
    times = os.times()
    return times.children_user + times.children_system
