"""How fast are the events of slices validated once they are read? All of them are pinned, and consistent: a simulated cluster's, in which no partition breaks a rule.

`python -m benchmarks pinned [--size 40MB] [--brokers 100] [--partitions 400] [--seed 1] [--slices COUNT]`

One process answers so many of the slices, or all; what is written out is processor seconds of it.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from assay.grammar.load import bundled_specs, load_spec
from assay.traces.log_reader import read_logs
from assay.traces.result import TraceVerdict
from assay.traces.validate import validate_shared, validate_slices
from benchmarks.synthetic import Line, generate, size_of


def lines(arguments: Sequence[str]) -> Iterator[Line]:
    """One line: the processor seconds of each part, and events a second."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks pinned", exit_on_error=False)
    parser.add_argument("--size", default="40MB")
    parser.add_argument("--brokers", type=int, default=100)
    parser.add_argument("--partitions", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slices", type=int)
    try:
        options = parser.parse_args(list(arguments))
    except argparse.ArgumentError as error:
        raise ValueError(str(error)) from error
    with TemporaryDirectory() as folder:
        generate(Path(folder), size_of(options.size), options.brokers, options.partitions, 0, options.seed)
        yield measure(Path(folder), options.slices)


def measure(folder: Path, most: int | None = None) -> Line:
    """What it takes to validate the logs in a folder, without what measures and reports take."""
    load, begun = os.getloadavg()[0], process_time()
    events = read_logs([str(folder)]).events
    read = process_time()
    shared, slices = validate_shared(load_spec(bundled_specs()[0] / "kafka" / "cluster.assay"), events)
    searched = process_time()
    asked = dict(list(slices.items())[:most])
    answers = validate_slices(shared, asked)
    done = process_time()
    of_slices = sum(map(len, asked.values()))
    return {
        "benchmark": "pinned",
        "events": len(events),
        "events_of_what_slices_share": len(events) - sum(map(len, slices.values())),
        "events_of_slices": of_slices,
        "slices": len(asked),
        "inconsistent": sum(each.result.verdict is TraceVerdict.INCONSISTENT for each in answers),
        "undecided": sum(each.result.verdict is TraceVerdict.INCONCLUSIVE for each in answers),
        "cpu_seconds_reading": round(read - begun, 2),
        "cpu_seconds_of_what_slices_share": round(searched - read, 2),
        "cpu_seconds_of_slices": round(done - searched, 2),
        "slice_events_a_cpu_second": round(of_slices / (done - searched)),
        "load_before": round(load, 2),
    }
