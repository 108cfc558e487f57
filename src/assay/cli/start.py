"""The entry point of the installed program: checks that the package is whole, then hands over to the commands."""

from __future__ import annotations

import sys

from assay.cli.links import ADVICE, broken_links

INCOMPLETE = 3


def run() -> None:
    """Run `assay` with the arguments of the process, and exit."""
    broken = broken_links()
    if broken:
        sys.stderr.write(f"assay is incomplete: {', '.join(broken)} missing below the package\n{ADVICE}\n")
        sys.exit(INCOMPLETE)
    from assay.cli.main import invoke  # noqa: PLC0415 - importable only once the links are known to be whole

    sys.exit(invoke(sys.argv[1:]))
