"""The limits of a validation, and Ctrl-C: each asks it to stop and to answer with what it has.

An alarm looks at the clock and at the memory ten times a second. Its handler raises the request between two bytecodes of
the main thread, so that no loop has to ask. A call of compiled code that takes longer is ended by the process that
watches over this one (``supervisor.py``).
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from assay.cli.terminal.supervisor import limit_time
from assay.grammar.current_work import answering
from assay.traces.stop import request, stop_requests, stopped

# In seconds.
TICK = 0.1
INTERRUPTED = "interrupted"


@contextmanager
def validation_limits(seconds: float | None, memory: int | None) -> Iterator[None]:
    """Inside, ``traces.stop.StopRequest`` is raised after so many seconds, beyond so many bytes, and at Ctrl-C.

    A second Ctrl-C raises ``KeyboardInterrupt``. Outside the main thread no handler can be installed, and nothing stops.
    """
    with stop_requests():
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        deadline = limit_time(seconds) + seconds if seconds is not None else None

        def stop(why: str) -> None:
            answering()
            request(why)

        def look(_signal: int, _frame: FrameType | None) -> None:
            # The answer is being made already. To look on would cost it time, and a second request says nothing.
            if stopped() is not None:
                return
            if deadline is not None and time.monotonic() >= deadline:
                stop(f"the time limit of {seconds:g} s was reached")
            if memory is not None and memory_in_use() > memory:
                stop(f"the memory limit of {memory / 1e6:,.0f} MB was reached")

        def interrupted(_signal: int, _frame: FrameType | None) -> None:
            if stopped() is not None:
                raise KeyboardInterrupt
            stop(INTERRUPTED)

        handlers = {signal.SIGALRM: look, signal.SIGINT: interrupted, signal.SIGTERM: interrupted}
        before = {each: signal.signal(each, handler) for each, handler in handlers.items()}
        # After its handler, and below it is stopped before that is taken away: SIGALRM without one ends the process.
        signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for each, handler in before.items():
                signal.signal(each, handler)


def memory_in_use() -> int:
    """The bytes of memory that this process holds, and those that its children hold for themselves; 0 if the system
    does not tell.
    """
    try:
        own = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    except OSError:
        return 0
    # Forked children share most of their pages with this process, whose own number has these already.
    return own + sum(_private(child) for child in children)


def _private(process: str) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has just ended
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Private_"))
