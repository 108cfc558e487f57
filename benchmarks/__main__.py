"""`python -m benchmarks NAME [ARGUMENT]…`: runs the benchmark in the module of that name; one line of JSON for each measurement.

Such a module has `lines(arguments)`, which raises ValueError where the arguments do not fit.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module

NAMES = (
    "agreement",
    "alignments",
    "assistant",
    "compile",
    "cuts",
    "events",
    "hands",
    "house",
    "layouts",
    "liveness",
    "log_statements",
    "native",
    "objects",
    "pages",
    "pinned",
    "readers",
    "recording",
    "seeded_bugs",
    "service",
    "spark",
    "spark_logs",
    "spark_table",
    "specs",
    "symbolic",
    "synthetic",
    "table",
    "targets",
    "tlc",
    "traces",
    "windows",
)


def run(arguments: list[str]) -> None:
    """Print the lines of the benchmark that is named first; raises ValueError if there is none of that name."""
    name, *others = arguments or [""]
    if name not in NAMES:
        raise ValueError(f"the benchmarks are {', '.join(NAMES)}")
    for line in import_module(f"benchmarks.{name}").lines(others):
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def main(arguments: list[str]) -> int:
    """Run the benchmark named on the command line; the exit code."""
    try:
        run(arguments)
    except ValueError as problem:
        sys.stderr.write(f"usage: python -m benchmarks NAME [ARGUMENT]...\n{problem}\n")
        return 2
    return 0


sys.exit(main(sys.argv[1:]))
