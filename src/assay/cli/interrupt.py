"""Ctrl-C and SIGTERM: the first one asks a search to stop and tell what it reached, the second one ends it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Inside, the function given says whether a stop was asked for; KeyboardInterrupt is raised when it is asked again."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def note(_signal: int, _frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = [signal.signal(each, note) for each in SIGNALS]
    try:
        yield asked.is_set
    finally:
        for each, handler in zip(SIGNALS, before, strict=True):
            signal.signal(each, handler)
