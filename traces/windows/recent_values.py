"""The values that were made last, each of an object and a key: windows of one log ask for few, again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

V = TypeVar("V")


class _Made(NamedTuple, Generic[V]):
    owner: object
    key: object
    value: V


class RecentValues(Generic[V]):
    """At most ``count`` values. An owner is known by identity, for specs and logs are large; a key by equality."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._made: list[_Made[V]] = []

    def get_or_make(self, owner: object, key: object, make: Callable[[], V]) -> V:
        """The value of the owner and the key; the value that was made first is dropped where there are too many."""
        for each in self._made:
            if each.owner is owner and each.key == key:
                return each.value
        value = make()
        self._made = [_Made(owner, key, value), *self._made[: self._count - 1]]
        return value
