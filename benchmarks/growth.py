"""`python -m benchmarks.growth`: how long models take to compile as they grow, and what symmetry saves; one line of JSON for each."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.checker.engines.engine_selection import check
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.native.compile import compile_object
from assay.checker.native.program import program
from assay.checker.options import SearchOptions
from assay.grammar.load import load_spec

SPECS = Path(__file__).parent.parent / "spec" / "kafka"
SIZES: tuple[tuple[str, dict[str, str]], ...] = (
    ("replication/kip320", {"Replica": "3"}),
    ("replication/kip320", {"Replica": "5"}),
    ("replication/kip320", {"Replica": "7", "LogSize": "6", "MaxRecords": "9", "MaxLeaderEpoch": "7"}),
    ("replication/async_isr", {"Replica": "6"}),
    ("membership", {"Process": "4", "Broker": "4", "Session": "4"}),
    ("membership", {"Process": "7", "Broker": "7", "Session": "7"}),
    ("controller", {"Process": "5", "Broker": "5", "Session": "5", "MaxEpoch": "4"}),
    ("controller", {"Process": "8", "Broker": "8", "Session": "8", "MaxEpoch": "6"}),
)
SYMMETRIC = ("membership", {"Process": "3", "Broker": "2", "Session": "3"})

Line = dict[str, object]


def compiling() -> Iterator[Line]:
    """One line for compiling each model, nothing of it cached."""
    for spec, sizes in SIZES:
        kernel = load_spec(SPECS / f"{spec}.assay", overrides=sizes).kernel
        load, started = os.getloadavg()[0], time.process_time()
        with deep_recursion(kernel):
            made = program(kernel)
        generated = time.process_time()
        compile_object(made)
        yield {
            "benchmark": "compile",
            "spec": spec,
            "set": sizes,
            "instructions": made.text.count("\n"),
            "generate_cpu_seconds": round(generated - started, 2),
            "llvm_cpu_seconds": round(time.process_time() - generated, 2),
            "load_before": round(load, 2),
        }


def symmetry() -> Iterator[Line]:
    """The same model searched whole, and one state for each orbit."""
    spec, sizes = SYMMETRIC
    kernel = load_spec(SPECS / f"{spec}.assay", overrides=sizes).kernel
    with TemporaryDirectory() as folder:
        for reduced in (False, True):
            load, started = os.getloadavg()[0], time.process_time()
            found = check(
                kernel, SearchOptions(symmetry=reduced, threads=1), None, "native", Path(folder)
            ).report.statistics
            yield {
                "benchmark": "symmetry",
                "spec": spec,
                "set": sizes,
                "symmetry": reduced,
                "distinct": found.distinct,
                "generated": found.generated,
                "cpu_seconds": round(time.process_time() - started, 2),
                "load_before": round(load, 2),
            }


def main() -> int:
    """Run all; the exit code."""
    for lines in (compiling(), symmetry()):
        for line in lines:
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
