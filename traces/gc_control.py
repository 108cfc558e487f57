"""Memory that nothing uses any more."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

WORTH_IT = 1 << 17
"""From so many events on it is worth the time."""

SELDOM = 200_000
"""How many objects more there are inside ``unsearched`` before the youngest are looked through."""


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
    inside do not change its pages, either. And the rest is looked through less often: hardly anything of a slice refers to itself."""
    frozen, often = gc.get_freeze_count() > 0, gc.get_threshold()
    if not frozen:
        gc.freeze()
    gc.set_threshold(max(often[0], SELDOM) if often[0] else 0, *often[1:])
    try:
        yield
    finally:
        gc.set_threshold(*often)
        if not frozen:
            gc.unfreeze()
