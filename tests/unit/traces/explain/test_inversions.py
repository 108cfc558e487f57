"""The pairs of lines that an execution reads against the order of their times, found without comparing all pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

import pytest

from assay.traces.explain.mismatch import _inversions
from assay.traces.observe.partial_order import ObservationStream, OrderedObservation, PartialOrder
from assay.traces.search.path import Move, SearchPath

NODES = ("a", "b", "a")


@dataclass
class CountedOrder:
    order: PartialOrder
    skew: int
    asked: list[int] = field(default_factory=list)

    def precedes(self, one: OrderedObservation, other: OrderedObservation) -> bool:
        self.asked.append(1)
        return self.order.precedes(one, other)

    def excess(self, one: OrderedObservation, other: OrderedObservation) -> float:
        return self.order.excess(one, other)


@dataclass
class Read:
    items: list[OrderedObservation]

    def moves(self) -> list[Move]:
        return [Move((), item, ()) for item in self.items]


def lines(random: Random, count: int, window: int, jitter: int) -> list[OrderedObservation]:
    times = [10.0 * at + random.randint(-jitter, jitter) for at in range(count)]
    return [
        OrderedObservation(at, cast("Any", None), random.randrange(3), at, time, time - window, time)
        for at, time in enumerate(times)
    ]


def order_with(skew: int) -> CountedOrder:
    streams = tuple(ObservationStream(str(at), node, ()) for at, node in enumerate(NODES))
    return CountedOrder(PartialOrder(streams, skew), skew)


def found(order: CountedOrder, items: list[OrderedObservation]) -> list[tuple[float, int, int]]:
    pairs = _inversions(cast("SearchPath", Read(items)), cast("PartialOrder", order))
    return [(excess, first.index, second.index) for excess, first, second in pairs]


@pytest.mark.parametrize("seed", range(40))
def test_all_pairs_are_found(seed: int) -> None:
    random = Random(seed)
    order = order_with(random.choice([0, 50]))
    items = lines(random, 40, random.choice([0, 20, 100]), random.choice([0, 60, 300]))
    every = [
        (order.excess(second, first), first.index, second.index)
        for at, second in enumerate(items)
        for first in items[:at]
        if order.precedes(second, first)
    ]
    assert found(order, items) == every


def test_in_a_log_that_is_nearly_in_order_hardly_a_pair_is_compared() -> None:
    order, random = order_with(50), Random(1)
    assert found(order, lines(random, 2_000, 1_000, 30)) == []
    # All pairs are two million; of twenty thousand lines they took minutes.
    assert len(order.asked) < 2_000
