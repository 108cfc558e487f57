"""Paths into nested objects: ``event.state.term``. A key may hold dots itself, and a number is a place in a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    return lambda content: _one(path, _follow(content, path))


def _one(path: str, values: Iterator[Any]) -> Any:
    first = next(values, MISSING)
    for other in values:
        if other != first or type(other) is not type(first):
            return Opaque(f"two keys of the line are called `{path}`")
    return first


def _follow(content: Any, path: str) -> Iterator[Any]:
    if isinstance(content, list):
        head, _, rest = path.partition(".")
        if head.isdecimal() and int(head) < len(content):
            item = content[int(head)]
            yield from _follow(item, rest) if rest else (item,)
        return
    if not isinstance(content, dict):
        return
    if path in content:
        yield content[path]
    at = path.find(".")
    while at >= 0:
        if path[:at] in content:
            yield from _follow(content[path[:at]], path[at + 1 :])
        at = path.find(".", at + 1)
