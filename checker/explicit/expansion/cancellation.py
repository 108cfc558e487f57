"""Compiled code inside of which a limit passes: a thread of its own tells it to return.

Limits are heeded between rounds, which take about a tenth of a second. Where one state alone takes minutes, because a quantifier runs through
millions of elements, no round ends in time; then what the round did is dropped, and the search is as it was before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from assay.checker.explicit.expansion.compiled_interface import CompiledCode
from assay.checker.layout.call_frame import HaltedError

PATIENCE = 0.25
"""Seconds between two looks; a round that ends by itself within them is not dropped."""


@contextmanager
def halting(machine: CompiledCode, due: Callable[[], bool], heed: Callable[[], None]) -> Iterator[None]:
    """Inside, compiled code is told to halt once it was ``due`` for some time; then ``heed`` raises what is to be raised."""
    over = Event()

    def watch() -> None:
        was_due = False
        while not over.wait(PATIENCE):
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
        machine.halt(False)
