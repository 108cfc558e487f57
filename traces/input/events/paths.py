"""Paths into nested objects: ``event.state.term``. A key may hold dots itself, and a number is a place in a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.traces.event import Opaque

MISSING: Any = object()
"""What a path leads to where a line lacks the key."""


def compiled_path(path: str) -> Callable[[Any], Any]:
    """A function that follows a path from the object of a line; it returns ``MISSING`` if nothing is there.

    Where two ways lead to two values (``{"a.b": 1, "a": {"b": 2}}``), the result is ``Opaque``.
    """
    if "." not in path:
        return lambda content: content.get(path, MISSING)
    return _compiled(path, path)


def _compiled(path: str, whole: str) -> Callable[[Any], Any]:
    """What follows a path that is the end of a ``whole`` one, from an object or a list."""
    dots = [at for at, letter in enumerate(path) if letter == "."]
    ways = [(path[:at], _compiled(path[at + 1 :], whole)) for at in dots]
    place = int(path.partition(".")[0]) if path.partition(".")[0].isdecimal() else None

    def follow(content: Any) -> Any:
        if not isinstance(content, dict):
            if place is None or not isinstance(content, list) or place >= len(content):
                return MISSING
            return ways[0][1](content[place]) if ways else content[place]
        found = content.get(path, MISSING)
        for head, rest in ways:
            inner = content.get(head, MISSING)
            value = MISSING if inner is MISSING else rest(inner)
            if found is MISSING:
                found = value
            elif value is not MISSING and (value != found or type(value) is not type(found)):
                return Opaque(f"two keys of the line are called `{whole}`")
        return found

    return follow
