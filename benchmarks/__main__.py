"""`python -m benchmarks native [MODEL]…` or `… symbolic [GROUP]…`: one line of JSON for each measurement."""

from __future__ import annotations

import json
import sys

from benchmarks import native, symbolic


def main(arguments: list[str]) -> int:
    """Run the benchmarks named on the command line; the exit code."""
    match arguments[:1]:
        case ["native"]:
            lines = native.lines(tuple(arguments[1:]) or native.MODELS)
        case ["symbolic"]:
            lines = symbolic.lines(tuple(arguments[1:]))
        case _:
            sys.stderr.write("usage: python -m benchmarks native [MODEL]... | symbolic [GROUP]...\n")
            return 2
    for line in lines:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
    return 0


sys.exit(main(sys.argv[1:]))
