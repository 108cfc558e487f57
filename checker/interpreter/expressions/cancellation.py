"""Evaluation that goes on for long asks now and then whether it is still wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY = 50_000
"""Elements that a quantifier goes through, or the quantifiers inside it, between two questions."""


class _Asked(threading.local):
    """Whom the evaluation in a thread asks: the search that it is part of."""

    heed: Callable[[], None] | None = None


_asked = _Asked()


@contextmanager
def heeding(heed: Callable[[], None]) -> Iterator[None]:
    """Inside, what is evaluated in this thread calls ``heed`` now and then, which raises what is to end it."""
    before, _asked.heed = _asked.heed, heed
    try:
        yield
    finally:
        _asked.heed = before


def heed() -> None:
    """Call what is to be called now and then, if there is anything."""
    if _asked.heed is not None:
        _asked.heed()
