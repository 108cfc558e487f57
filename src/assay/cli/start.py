"""The entry point of the installed program: checks that the package is whole, then hands over to the commands."""

from __future__ import annotations

import contextlib
import os
import signal
import sys

from assay.cli.links import ADVICE, broken_links

INCOMPLETE = 3
INTERRUPTED = 130


def run() -> None:
    """Run `assay` with the arguments of the process, and exit. What is interrupted before the command begins says so too."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what ends a service lets it tidy up, as Ctrl-C does
    try:
        code = _run()
    except KeyboardInterrupt:
        code = _interrupted()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)  # the answer stands, and so does its exit code
    if code == INTERRUPTED:
        _leave(code)
    sys.exit(code)


def _leave(code: int) -> None:
    """End at once: where an import was interrupted, Python's own end would be death by the signal instead of the exit code."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):  # whoever read it is gone, perhaps by the same Ctrl-C
            stream.flush()
    os._exit(code)


def _run() -> int:
    broken = broken_links()
    if broken:
        sys.stderr.write(f"assay is incomplete: {', '.join(broken)} missing below the package\n{ADVICE}\n")
        return INCOMPLETE
    from assay.cli.main import invoke  # noqa: PLC0415 - importable only once the links are known to be whole

    return invoke(sys.argv[1:])


def _interrupted() -> int:
    sys.stderr.write("interrupted\n")
    if "--json" in sys.argv:
        sys.stdout.write('{"assay": "1", "verdict": "interrupted"}\n')
    return INTERRUPTED
