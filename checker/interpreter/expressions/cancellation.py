"""Cancellation of long evaluations: they call back regularly, and the callback may raise."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY = 50_000
"""How many elements quantifiers and comprehensions visit between two callbacks."""


class _Asked(threading.local):
    """The callback of the evaluation that runs in a thread."""

    heed: Callable[[], None] | None = None


_asked = _Asked()


@contextmanager
def heeding(heed: Callable[[], None]) -> Iterator[None]:
    """Inside, evaluations in this thread call ``heed`` regularly; it raises to end them."""
    before, _asked.heed = _asked.heed, heed
    try:
        yield
    finally:
        _asked.heed = before


def check_cancelled() -> None:
    """Call the callback of this thread, if there is one."""
    if _asked.heed is not None:
        _asked.heed()
