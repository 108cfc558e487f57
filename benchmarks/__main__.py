"""`python -m benchmarks native [MODEL]…` or `python -m benchmarks readers [RECORDING]…`: one line of JSON for each measurement."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

from benchmarks import native, readers


def measured(arguments: list[str]) -> Iterator[dict[str, object]] | None:
    """What the arguments ask for; none if they ask for nothing that is there."""
    match arguments:
        case ["native", *models]:
            return native.lines(tuple(models) or native.MODELS)
        case ["readers", *recordings]:
            return readers.lines(tuple(recordings))
        case _:
            return None


def main(arguments: list[str]) -> int:
    """Run the benchmarks named on the command line; the exit code."""
    found = measured(arguments)
    if found is None:
        sys.stderr.write("usage: python -m benchmarks native [MODEL]... | readers [RECORDING]...\n")
        return 2
    for line in found:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
    return 0


sys.exit(main(sys.argv[1:]))
