"""The entry point of the installed program: checks that the package is complete, then runs the command."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from typing import NoReturn

from assay.cli.links import ADVICE, broken_links
from assay.cli.terminal.streams import unfailing_streams
from assay.cli.terminal.supervisor import supervised

INCOMPLETE = 3
INTERRUPTED = 130
YOUNG_THRESHOLD = 50_000
"""How many objects must be created before the garbage collector looks at the youngest. Hardly any is in a cycle, and
with Python's 700 it takes a fifth of a short command's time.
"""


def run() -> None:
    """Run ``assay`` with the arguments of the process, and exit. An interrupt before the command begins is reported
    too.
    """
    # First of all: no file that is opened later may get the number of a closed stream.
    streams = unfailing_streams()
    os.environ["PYTHONSAFEPATH"] = "1"  # no Python that this one starts imports from the working directory
    # SIGTERM raises KeyboardInterrupt, as Ctrl-C does, so that `finally` blocks run when a service is ended.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Both processes come back from here: the one that worked, and the one that watched over it with the same code.
    code = supervised(_guarded)
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)  # the answer is complete: a late signal must not change the exit code
    code = streams.exit_code(code, as_json="--json" in sys.argv)
    if code == INTERRUPTED:
        # Where an import was interrupted, Python's own exit would end the process by the signal.
        os._exit(code)
    _leave(code)


def _leave(code: int) -> NoReturn:
    """Exit without taking apart what is in memory, which takes a third of a short command's time."""
    # Looked up and not imported: a command without threads need not load the module.
    threading = sys.modules.get("threading")
    # Another thread may still write. Only Python's own exit waits for those that are no daemons.
    if threading is not None and threading.active_count() > 1:
        sys.exit(code)
    atexit._run_exitfuncs()  # what the interpreter does first when it ends
    os._exit(code)


def _guarded() -> int:
    try:
        return _run()
    except KeyboardInterrupt:
        return _interrupted()


def _run() -> int:
    broken = broken_links()
    if broken:
        sys.stderr.write(f"assay is incomplete: {', '.join(broken)} missing below the package\n{ADVICE}\n")
        return INCOMPLETE
    gc.set_threshold(YOUNG_THRESHOLD, *gc.get_threshold()[1:])
    gc.disable()  # until the command is imported: what imports make stays
    from assay.cli.main import invoke  # noqa: PLC0415 - it imports what is behind the links

    return invoke(sys.argv[1:])


def _interrupted() -> int:
    # Not by the functions of `main`: importing them may be what was interrupted.
    sys.stderr.write("interrupted\n")
    if "--json" in sys.argv:
        sys.stdout.write('{"assay": "1", "verdict": "interrupted"}\n')
    return INTERRUPTED
