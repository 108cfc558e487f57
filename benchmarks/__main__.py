"""`python -m benchmarks native [MODEL]…`: one line of JSON for each measurement."""

from __future__ import annotations

import json
import sys

from benchmarks import native


def main(arguments: list[str]) -> int:
    """Run the benchmarks named on the command line; the exit code."""
    if arguments[:1] != ["native"]:
        sys.stderr.write("usage: python -m benchmarks native [MODEL]...\n")
        return 2
    for line in native.lines(tuple(arguments[1:]) or native.MODELS):
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
    return 0


sys.exit(main(sys.argv[1:]))
