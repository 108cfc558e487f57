"""Partial orders as gates: which of some things is at which position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from assay.checker.aig.graph import FALSE, TRUE, Gates


def places(
    gates: Gates, after: Sequence[Sequence[int]], require: Callable[[Sequence[int]], None]
) -> Iterator[dict[int, int]]:
    """For each position the literals that say which thing is there, for the things (by number) that can be there.

    ``after`` gives for each thing the others that it comes after. Clauses that hold for every order are passed to
    ``require``.
    """
    before = _all_before(after)
    behind = [sum(number in those for those in before) for number in range(len(after))]
    # A thing stands behind all that it comes after, and leaves room for all that come after it. Other positions need no
    # literal.
    spans = [range(len(those), len(after) - behind[number]) for number, those in enumerate(before)]
    chosen = [
        {number: gates.input() for number, span in enumerate(spans) if place in span} for place in range(len(after))
    ]
    if len(after) == 1:
        chosen = [{0: TRUE}]
    for each in (*chosen, *_of_things(chosen, len(after))):
        _exactly_one(list(each.values()), require)
    placed = [FALSE] * len(after)
    for place in chosen:
        for number, here in place.items():
            # Direct predecessors are enough, since theirs are asked for where they stand themselves.
            for other in after[number]:
                require([here ^ 1, placed[other]])
        placed = [gates.either(known, place.get(number, FALSE)) for number, known in enumerate(placed)]
    return iter(chosen)


def _all_before(after: Sequence[Sequence[int]]) -> list[set[int]]:
    """For each thing all that come before it. ``after`` must have no cycles."""
    found: list[set[int] | None] = [None] * len(after)
    stack = list(range(len(after)))
    while stack:
        number = stack[-1]
        missing = [other for other in after[number] if found[other] is None]
        if not missing:
            found[number] = {*after[number]}.union(*(found[other] or () for other in after[number]))
            stack.pop()
        stack += missing
    return [each or set() for each in found]


def _of_things(chosen: Sequence[dict[int, int]], count: int) -> Iterator[dict[int, int]]:
    """For each thing the literals that say where it is, by position."""
    for number in range(count):
        yield {at: place[number] for at, place in enumerate(chosen) if number in place}


def _exactly_one(literals: Sequence[int], require: Callable[[Sequence[int]], None]) -> None:
    require(literals)
    for one, other in combinations(literals, 2):
        require([one ^ 1, other ^ 1])
