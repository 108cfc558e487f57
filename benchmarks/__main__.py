"""`python -m benchmarks NAME [ARGUMENT]…`: runs the benchmark in the module of that name; one line of JSON for each measurement.

A module has `ARGUMENTS`, what may follow its name, and `lines(arguments)`, which raises ValueError where they do not fit.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module

NAMES = ("native", "tlc")


def main(arguments: list[str]) -> int:
    """Run the benchmark named on the command line; the exit code."""
    try:
        name = arguments[0] if arguments and arguments[0] in NAMES else None
        if name is None:
            raise ValueError(f"there are the benchmarks {', '.join(NAMES)}")
        benchmark = import_module(f"benchmarks.{name}")
        for line in benchmark.lines(arguments[1:]):
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
    except ValueError as problem:
        sys.stderr.write(f"usage: python -m benchmarks NAME [ARGUMENT]...\n{problem}\n")
        return 2
    return 0


sys.exit(main(sys.argv[1:]))
