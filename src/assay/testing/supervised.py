"""Limits for code under test: how long a call may take, and which processes it leaves behind."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

_HELPERS = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")
"""Processes that Python keeps for itself."""


class HangsError(BaseException):
    """A call took longer than it may; no ``Exception``, so that the code under test does not catch it."""


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Raise ``HangsError`` in what takes longer; None is no limit. Only the main thread can be interrupted, and only
    where the system has timers.
    """
    if seconds is None or threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def end(*_: object) -> NoReturn:
        raise HangsError

    handler = signal.signal(signal.SIGALRM, end)
    before, again = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, before, again)
        signal.signal(signal.SIGALRM, handler)


def child_processes() -> frozenset[int]:
    """The processes that this one has started and not waited for; none where there is no ``/proc``."""
    found: set[int] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # its thread has just ended
            found.update(map(int, file.read_text().split()))
    return frozenset(found)


def command_line(process: int) -> str | None:
    """What a process runs; None if it has ended, or is one that Python keeps for itself."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        command = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return None
    # A zombie has ended: only its parent has not asked for its exit code.
    return None if state in "ZX" or any(each in command for each in _HELPERS) else command
