"""`python -m benchmarks compile [WORD]…`: how long each bundled spec, or each with a word in its name, takes to compile
with an empty cache.

The columns are processor seconds: to translate the spec, to build quick code, and to build the best code. A search
begins with quick code. If it goes on, another process builds the best code. The target is two seconds until a search
can begin.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.jit.build_object import build
from assay.checker.native.compile import compile_object
from assay.checker.native.program import program
from assay.cli.start import YOUNG_THRESHOLD
from assay.grammar.load import load_spec
from benchmarks.native import Line

SPECS = Path(__file__).parent.parent / "spec"
TARGET = 2.0
"""Processor seconds from the kernel to code with which a search begins."""
LARGE_SET, LARGE_TARGET = {"MaxMessages": "60"}, 5.0
"""The size of a raft with many messages, and what it may take."""


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """A line for each spec, then the slowest."""
    gc.set_threshold(YOUNG_THRESHOLD, *gc.get_threshold()[1:])  # as the command does: it takes a sixth of the time
    slowest = ("", 0.0)
    for path in sorted(SPECS.rglob("*.assay")):
        name = path.relative_to(SPECS).with_suffix("").as_posix()
        if not arguments or any(word in name for word in arguments):
            line, seconds = _measured(path)
            slowest = max(slowest, (name, seconds), key=lambda each: each[1])
            yield {"benchmark": "compile", "spec": name, **line}
    if not arguments:
        yield large_set()
    yield {
        "benchmark": "compile",
        "slowest": slowest[0],
        "cpu_seconds_until_search": round(slowest[1], 2),
        "target": TARGET,
    }


def large_set() -> Line:
    """Raft whose set of messages has room for sixty."""
    line, seconds = _measured(SPECS / "systems" / "etcd_raft.assay", LARGE_SET)
    return {
        "benchmark": "compile",
        "spec": "systems/etcd_raft",
        "sizes": LARGE_SET,
        **line,
        "cpu_seconds_until_search": round(seconds, 2),
        "target": LARGE_TARGET,
    }


def _measured(path: Path, sizes: Mapping[str, str] | None = None) -> tuple[Line, float]:
    kernel = load_spec(path, overrides=sizes or {}).kernel
    load, times = os.getloadavg()[0], [time.process_time()]
    with deep_recursion(kernel):
        made = program(kernel)
    times.append(time.process_time())
    build(made.text, 0)
    times.append(time.process_time())
    compile_object(made)
    times.append(time.process_time())
    generating, hurried, best = (later - before for before, later in pairwise(times))
    return {
        "instructions": made.text.count("\n"),
        "generate_cpu_seconds": round(generating, 2),
        "hurried_cpu_seconds": round(hurried, 2),
        "best_cpu_seconds": round(best, 2),
        "load_before": round(load, 2),
    }, generating + hurried
