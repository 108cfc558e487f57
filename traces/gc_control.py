"""Memory and garbage collection around work on large logs."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

MIN_EVENTS = 1 << 17
"""The number of events from which on returning memory is worth the time."""

YOUNG_THRESHOLD = 200_000
"""Inside ``frozen_heap``, how many objects must be created before the collector examines the youngest generation."""


def trim_heap(events: int) -> None:
    """Return unused memory from the C library to the system, after work on this many events.

    With glibc this is a fifth of what half a gigabyte of logs takes. Processes that are forked later start smaller,
    too.
    """
    if events >= MIN_EVENTS and sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # `malloc_trim` exists in glibc only
        if trim is not None:
            trim(0)


@contextmanager
def frozen_heap() -> Iterator[None]:
    """A context in which the garbage collector ignores all objects that existed before.

    Scanning the objects of a large log takes longer than validating most slices. Forked processes also leave the pages
    of these objects unwritten, so that they stay shared. The collector runs less often, too: hardly any object of a
    slice is in a cycle.
    """
    frozen, often = gc.get_freeze_count() > 0, gc.get_threshold()
    if not frozen:
        gc.freeze()
    # A threshold of 0 means that the collector is off: it stays off.
    gc.set_threshold(max(often[0], YOUNG_THRESHOLD) if often[0] else 0, *often[1:])
    try:
        yield
    finally:
        gc.set_threshold(*often)
        # Only the outermost of nested contexts unfreezes.
        if not frozen:
            gc.unfreeze()
