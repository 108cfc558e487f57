"""Lines of one time in another order, for logs in which these stand in none."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, permutations, repeat, takewhile

from assay.grammar.identity_memo import IdentityMemo
from assay.traces.event import Event
from assay.traces.observe.partial_order import OrderedObservation, PartialOrder
from assay.traces.search.dfs import Limits, TraceSearch
from assay.traces.search.path import SearchPath

NODES, WINDOW = 200, 100.0
"""How many nodes are visited with each other order, and how many milliseconds from the order of time."""

ORDERS = 24
"""How many orders of the lines of one time are tried: all of four lines."""


def with_tie_turned(search: TraceSearch, path: SearchPath, hidden: int) -> tuple[TraceSearch, SearchPath] | None:
    """The order of the lines of one time with which a path goes furthest, and how far; None if none takes it further."""
    limits = Limits(hidden, NODES, reduced=False, window=WINDOW)
    # A search that prunes stops before the line that is wrong.
    path = max((path, *search.run([path], limits).deepest), key=lambda each: each.read)
    best, read = None, path.read
    for order in _turned(search, path):
        other = search.with_order(order)
        found = other.run([path], limits).deepest
        if found and found[0].read > read:
            best, read = (other, found[0]), found[0].read
    return best


def _turned(search: TraceSearch, path: SearchPath) -> Iterator[PartialOrder]:
    """The other orders of the lines that stand next in a stream and have one time."""
    order = search.frontier.order
    for item in search.frontier.next_in_streams(path.node.cursors):
        items = order.streams[item.stream].items
        lines = IdentityMemo[Event, list[OrderedObservation]]()
        for each, _ in takewhile(_are_tied, zip(items[item.position :], repeat(item))):
            lines.setdefault(each.observation.event, []).append(each)
        end = item.position + sum(map(len, lines.values()))
        for turned in islice(permutations(lines.values()), 1, ORDERS):
            tied = (each for line in turned for each in line)
            yield order.with_items(item.stream, (*items[: item.position], *tied, *items[end:]))


def _are_tied(items: tuple[OrderedObservation, OrderedObservation]) -> bool:
    return items[0].time == items[1].time
