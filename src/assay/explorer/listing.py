"""A list that is made as far as it is looked at, and for no longer than a moment at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

BUDGET = 0.7
"""Seconds in which an answer goes on with a list."""
MOST_LISTED = 2000
"""A list is made up to here; of more the page says `2,000+`."""


class GrowingList(Generic[T]):
    """Items of an iterator that yields None whenever it may be interrupted."""

    def __init__(self, items: Iterator[T | None]) -> None:
        self.found: list[T] = []
        self.complete = False
        self._items = items

    def grow(self, most: int = MOST_LISTED) -> None:
        """Go on for a moment, up to so many items."""
        end = time.monotonic() + BUDGET
        while not self.complete and len(self.found) < min(most, MOST_LISTED) and time.monotonic() < end:
            try:
                item = next(self._items)
            except StopIteration:
                self.complete = True
                return
            if item is not None:
                self.found.append(item)

    def grow_to(self, number: int) -> T | None:
        """The item of that number, however long it takes; None if there is none."""
        while not self.complete and len(self.found) <= min(number, MOST_LISTED - 1):
            self.grow()
        return self.found[number] if number < len(self.found) else None
