"""Ctrl-C and SIGTERM: the first one asks a search to stop and report what it has found, the second one ends it at once.

Python runs signal handlers only between two bytecodes of the main thread. A search inside a long call of compiled code
would react to neither signal. So a thread of its own reads every signal from a pipe (``signal.set_wakeup_fd``) and
requests the stop. It ends the process if that still runs some seconds after the signal to end.
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
from assay.grammar.current_work import answering

SIGNALS = (signal.SIGINT, signal.SIGTERM)

GRACE = 3.0
"""Seconds from the second signal until the process is ended whatever it does."""
NOTICE = 15.0
"""The same from SIGTERM, which service managers send once."""


@contextmanager
def stoppable() -> Iterator[Callable[[], bool]]:
    """Inside, the function given says whether a stop was requested. A second signal raises KeyboardInterrupt.

    Outside the main thread no handler can be installed: then the function always returns False.
    """
    asked, noted, ended = threading.Event(), threading.Event(), threading.Event()

    def is_asked() -> bool:
        if asked.is_set():
            # A search that is told to stop makes its answer from now on.
            answering()
        return asked.is_set()

    if threading.current_thread() is not threading.main_thread():
        yield is_asked
        return

    def note(_signal: int, _frame: FrameType | None) -> None:
        if noted.is_set():
            raise KeyboardInterrupt
        noted.set()
        asked.set()

    reading, writing = os.pipe()
    # `signal.set_wakeup_fd` takes no other: a handler in C must never wait.
    os.set_blocking(writing, False)
    before, previous = [signal.signal(each, note) for each in SIGNALS], signal.set_wakeup_fd(writing)
    threading.Thread(target=_watch, args=(reading, asked, ended), daemon=True).start()
    try:
        yield is_asked
    finally:
        ended.set()
        signal.set_wakeup_fd(previous)
        for each, handler in zip(SIGNALS, before, strict=True):
            signal.signal(each, handler)
        # Last, so that no signal is written into a closed pipe. Its end ends the thread.
        os.close(writing)


def _watch(reading: int, asked: threading.Event, ended: threading.Event) -> None:
    signals: list[int] = []
    while received := os.read(reading, 64):
        signals += (each for each in received if each in SIGNALS)
        if signals:
            asked.set()
        # One Ctrl-C sets no limit: who will not wait for the answer presses again.
        grace = GRACE if len(signals) > 1 else NOTICE if signal.SIGTERM in signals else None
        if grace is not None and not ended.wait(grace):
            # By the descriptor: the main thread may hold the lock of `sys.stderr` for ever.
            os.write(
                sys.__stderr__.fileno() if sys.__stderr__ else 2, b"interrupted: what was reached cannot be told\n"
            )
            os._exit(ExitCode.INTERRUPTED)
    os.close(reading)
