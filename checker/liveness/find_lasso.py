"""Finding a lasso: a path to a fair cycle and once around it, as short as is possible without an expensive search."""

from __future__ import annotations

from itertools import pairwise

from assay.checker.liveness.lasso import Lasso
from assay.checker.liveness.product import BuchiProduct, Fairs


def find_lasso(product: BuchiProduct) -> Lasso | None:
    """A fair and accepted run of the product, preferably one that stops; None if there is none."""
    moving = product.fair()
    if not moving.found:
        return None
    stopping = product.fair(stopping=True)
    fairs = stopping if stopping.found else moving
    prefix = product.to_fair(fairs)
    cycle = around(product, prefix[-1], fairs)
    return Lasso(tuple(product.split(node)[0] for node in (*prefix, *cycle[1:])), len(prefix) - 1)


def around(product: BuchiProduct, start: int, fairs: Fairs) -> list[int]:
    """A fair cycle through a node of a fair component: from mark to nearest mark, and back.

    Marks of strong fairness are collected only where the cycle asks for them; each path to one may pass nodes that ask
    for more.
    """
    marks = product.tables.marks
    wanted = set(marks.needed)
    while True:
        cycle = [start]
        met = set(marks.of_kind[product.kind(start)])
        while wanted - met:
            path = product.to_mark(cycle[-1], frozenset(wanted - met), fairs)
            cycle += path[1:]
            met |= _met(product, path, fairs)
        # A cycle has at least one step, if only the one that changes nothing, even where no mark is wanted.
        if len(cycle) == 1 or cycle[-1] != start:
            path = product.to_node(cycle[-1], start, fairs)
            cycle += path[1:]
            met |= _met(product, path, fairs)
        asked = frozenset().union(*(marks.asked[product.kind(node)] for node in cycle))
        if asked <= met:
            return cycle
        # All that was wanted is met by now, so something new is asked for: the set grows, and marks are finitely many.
        wanted |= asked


def _met(product: BuchiProduct, path: list[int], fairs: Fairs) -> frozenset[int]:
    steps = (product.marks_between(node, to, stopping=fairs.stopping) for node, to in pairwise(path))
    return frozenset().union(*steps)
