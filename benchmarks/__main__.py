"""`python -m benchmarks native [MODEL]…` and `python -m benchmarks tlc [FOLDER]`: one line of JSON for each measurement."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import native

USAGE = """\
usage: python -m benchmarks native [MODEL]...
       python -m benchmarks tlc [FOLDER]     FOLDER: a clone of github.com/hachikuji/kafka-specification
"""


def measured(name: str, arguments: list[str]) -> Iterator[native.Line]:
    """The lines of the benchmark of that name; raises KeyError if there is none."""
    match name, arguments:
        case "native", models:
            return native.lines(tuple(models) or native.MODELS)
        case "tlc", ([] | [_]) as folder:
            from benchmarks import tlc  # noqa: PLC0415 - needs what only the tests need: TLC and a Java

            return tlc.lines(Path(folder[0]) if folder else None)
        case _:
            raise KeyError(name)


def main(arguments: list[str]) -> int:
    """Run the benchmark named on the command line; the exit code."""
    try:
        lines = measured(arguments[0] if arguments else "", arguments[1:])
    except KeyError:
        sys.stderr.write(USAGE)
        return 2
    for line in lines:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
    return 0


sys.exit(main(sys.argv[1:]))
