"""Memory that nothing uses any more."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

WORTH_IT = 1 << 17
"""From so many events on it is worth the time."""


def give_back(events: int) -> None:
    """Let the system have what the C library keeps for later, after work on so many events of which little is left: with glibc a fifth of all that
    half a gigabyte of logs takes. Processes that are copied later begin with less, too."""
    if events >= WORTH_IT and sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other C libraries have none
        if trim is not None:
            trim(0)


@contextmanager
def unsearched() -> Iterator[None]:
    """Inside, what there was before is not looked through for garbage: of a large log that takes longer than most slices. Processes that are copied
    inside do not change its pages, either."""
    frozen = gc.get_freeze_count() > 0
    if not frozen:
        gc.freeze()
    try:
        yield
    finally:
        if not frozen:
            gc.unfreeze()
