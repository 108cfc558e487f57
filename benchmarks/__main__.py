"""`python -m benchmarks native [GROUP]…`: one line of JSON for each measurement."""

from __future__ import annotations

import json
import sys

from benchmarks import native


def main(arguments: list[str]) -> int:
    """Run the benchmarks named on the command line; the exit code."""
    chosen = arguments[1:] or list(native.USUAL)
    if arguments[:1] != ["native"] or not set(chosen) <= set(native.GROUPS):
        sys.stderr.write(f"usage: python -m benchmarks native [{'|'.join(native.GROUPS)}]...\n")
        return 2
    for group in chosen:
        for line in native.GROUPS[group]():
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()
    return 0


sys.exit(main(sys.argv[1:]))
