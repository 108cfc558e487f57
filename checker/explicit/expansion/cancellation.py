"""Cancelling compiled code when a limit passes inside of it: a watcher thread tells it to return.

Limits are normally checked between rounds of about a tenth of a second. Where one state alone takes minutes, because a
quantifier enumerates millions of elements, no round ends in time. What the cancelled round did is dropped, and the
search is as it was before that round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from assay.checker.explicit.expansion.compiled_interface import CompiledCode
from assay.checker.layout.call_frame import HaltedError

LONGEST_WAIT = 0.25
"""Seconds between two looks at the limits. A round that ends by itself within that time is not dropped."""


@contextmanager
def halting(machine: CompiledCode, due: Callable[[], bool], heed: Callable[[], None]) -> Iterator[None]:
    """Inside, compiled code is cancelled once ``due`` held at two looks in a row; ``heed`` then raises what the limit
    asks for."""
    over = Event()

    def watch() -> None:
        was_due = False
        while not over.wait(LONGEST_WAIT):
            if was_due:
                machine.halt(True)
                return
            was_due = due()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except HaltedError:
        heed()
        raise AssertionError("compiled code was halted, and no limit is reached") from None
    finally:
        over.set()
        watcher.join()
        # Compiled code is called after the search too: for further violations and temporal properties.
        machine.halt(False)
