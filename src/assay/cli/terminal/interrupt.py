"""Ctrl-C and SIGTERM: the first one asks a search to stop and tell what it reached, the second one ends it at once.

Python runs a handler only between two steps of Python code, so that a search which is inside a long piece of machine code would heed neither. A
thread of its own is told of every signal: it sees to it that the search is asked to stop, and ends the program if that is still running some
seconds after it was told to end.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from assay.checker.report import ExitCode

SIGNALS = (signal.SIGINT, signal.SIGTERM)

GRACE = 3.0
"""Seconds from the second signal until the program ends whatever it does."""
NOTICE = 15.0
"""The same from SIGTERM, which is sent once."""


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Inside, the function given says whether a stop was asked for; KeyboardInterrupt is raised when it is asked again."""
    asked, noted, ended = threading.Event(), threading.Event(), threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def note(_signal: int, _frame: FrameType | None) -> None:
        if noted.is_set():
            raise KeyboardInterrupt
        noted.set()
        asked.set()

    told, tell = os.pipe()
    os.set_blocking(tell, False)
    before, heard = [signal.signal(each, note) for each in SIGNALS], signal.set_wakeup_fd(tell)
    threading.Thread(target=_watch, args=(told, asked, ended), daemon=True).start()
    try:
        yield asked.is_set
    finally:
        ended.set()
        signal.set_wakeup_fd(heard)
        for each, handler in zip(SIGNALS, before, strict=True):
            signal.signal(each, handler)
        os.close(tell)


def _watch(told: int, asked: threading.Event, ended: threading.Event) -> None:
    signals: list[int] = []
    while heard := os.read(told, 64):
        signals += (each for each in heard if each in SIGNALS)
        if signals:
            asked.set()
        grace = GRACE if len(signals) > 1 else NOTICE if signal.SIGTERM in signals else None
        if grace is not None and not ended.wait(grace):
            os.write(
                sys.__stderr__.fileno() if sys.__stderr__ else 2, b"interrupted: what was reached cannot be told\n"
            )
            os._exit(ExitCode.INTERRUPTED)
    os.close(told)
