"""The partial order of slices whose updates have several lines: one stream of updates for each, and lines before and
after them.

Only the first line of a file about an update, if it names an action, was written with it. Other lines may be written at
any later time (docs/design/lines-of-one-update.md).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf
from operator import itemgetter

from assay.traces.observe.partial_order import (
    ObservationStream,
    OrderedObservation,
    PartialOrder,
    by_time,
    narrowed_in_order,
)
from assay.traces.slices.versions.version_item import WrittenItem

WRITES = "writes"
"""The streams, and the node, of merged observations: they are on no node's clock."""

Writes = Mapping[int, tuple[str, int]]
"""The update of a line, by the line's index: its slice, and its version."""


def by_write(order: PartialOrder, logged: Writes) -> PartialOrder | None:
    """The order in which updates come by version, with one item for the lines of each.

    None unless a slice has all versions up to the highest, each with a line that names its action.
    """
    writes: dict[tuple[str, int], list[OrderedObservation]] = defaultdict(list)
    for item in order.items:
        if item.index in logged:
            writes[logged[item.index]].append(item)
    slices: dict[str, list[list[OrderedObservation]]] = defaultdict(list)
    for (name, number), lines in sorted(writes.items(), key=itemgetter(0)):
        # With a version left out, or one of which nobody names the action, the order of files is not enough.
        if number != len(slices[name]) or not any(map(_acts, lines)):
            return None
        slices[name].append(lines)
    if all(len(lines) == 1 for lines in writes.values()):
        pairs = (pair for own in slices.values() for pair in pairwise(own))
        return replace(order, requires={after.index: frozenset({before.index}) for (before,), (after,) in pairs})
    # With one item for each line, 69 of 800 random logs without an execution were consistent, and 15 healthy ones not.
    prompt = _prompt(order, logged)
    items = {write: _written(lines, prompt) for write, lines in writes.items()}
    owners = {index: items[write].index for index, write in logged.items()}
    streams = [_without(stream, logged) for stream in order.streams]
    for name, own in slices.items():
        placed = _in_order([items[name, number] for number in range(len(own))], len(streams))
        streams.append(ObservationStream(f"{WRITES} {name}", f"{WRITES} {name}", placed))
    return replace(order, streams=tuple(streams), requires=_Required(order, logged, owners, prompt).of_all())


def _acts(line: OrderedObservation) -> bool:
    return line.observation.names_action


def _prompt(order: PartialOrder, logged: Writes) -> frozenset[int]:
    """The indexes of the lines that were written with their fact."""
    found: set[int] = set()
    for stream in order.streams:
        reported: set[tuple[str, int]] = set()
        for line in stream.items:
            write = logged.get(line.index)
            if write is None or (write not in reported and _acts(line)):
                found.add(line.index)
            if write is not None:
                reported.add(write)
    return frozenset(found)


def _written(lines: Sequence[OrderedObservation], prompt: Collection[int]) -> WrittenItem:
    """The merged observation of an update: its first line that names the action, with the others. Its times hold on any
    clock.
    """
    acting = sorted(filter(_acts, lines), key=by_time)
    lead = next((line for line in acting if line.index in prompt), acting[0])
    return WrittenItem(
        lead.index,
        lead.observation,
        lead.stream,
        lead.position,
        min(line.time for line in lines),
        max((line.earliest for line in lines if line.index in prompt), default=-inf),
        min(line.latest for line in lines),
        tuple(line for line in lines if line is not lead),
        late=frozenset(line.index for line in lines if line.index not in prompt),
    )


def _in_order(items: Sequence[OrderedObservation], stream: int) -> tuple[OrderedObservation, ...]:
    """The items of a stream with intervals narrowed to their order."""
    rows = enumerate(zip(items, narrowed_in_order(items), strict=True))
    return tuple(
        replace(item, stream=stream, position=at, earliest=low, latest=high) for at, (item, (low, high)) in rows
    )


def _without(stream: ObservationStream, logged: Writes) -> ObservationStream:
    """A stream without the lines that hold a version."""
    kept = [item for item in stream.items if item.index not in logged]
    return replace(stream, items=tuple(replace(item, position=at) for at, item in enumerate(kept)))


class _Required:
    """Which items come before which, by files and times. ``owners`` maps lines with a version to their items."""

    def __init__(self, order: PartialOrder, logged: Writes, owners: Mapping[int, int], prompt: Collection[int]) -> None:
        self._order, self._logged, self._owners, self._prompt = order, logged, owners, prompt
        self._latest = [[line.latest for line in stream.items] for stream in order.streams]
        self._before = [self._reported(stream) for stream in order.streams]

    def of_all(self) -> dict[int, frozenset[int]]:
        """The items that must come before each item; one that must come before itself has contradictory lines."""
        found: dict[int, set[int]] = defaultdict(set)
        for stream, before in zip(self._order.streams, self._before, strict=True):
            in_file = [item for other in stream.after for item in self._before[other][-1]]
            for line in (each for each in stream.items if each.index in self._prompt):
                item = self._owners.get(line.index, line.index)
                in_file += before[line.position]
                found[item].update((each for each in in_file if each != item), self._by_time(line))
                in_file = []
        return {item: frozenset(others) for item, others in found.items() if others}

    def _reported(self, stream: ObservationStream) -> list[tuple[int, ...]]:
        """For each place in a stream, the items before the fact of an immediate line there.

        These are the item of the last immediate line before it, and of each slice the last update reported since.
        """
        found: list[tuple[int, ...]] = [()]
        prompt: tuple[int, ...] = ()
        late: dict[str, tuple[int, int]] = {}
        for line in stream.items:
            if line.index in self._prompt:
                prompt, late = (self._owners.get(line.index, line.index),), {}
            else:
                name, number = self._logged[line.index]
                # The highest version is enough: lower ones come before it in the stream of updates.
                late[name] = max(late.get(name, (number, 0)), (number, self._owners[line.index]))
            found.append((*prompt, *(item for _, item in late.values())))
        return found

    def _by_time(self, line: OrderedObservation) -> Iterator[int]:
        """The items that certainly come before a line, by time."""
        if line.earliest == -inf:
            return
        node = self._order.streams[line.stream].node
        for stream, latest, before in zip(self._order.streams, self._latest, self._before, strict=True):
            skew = 0 if stream.node == node else self._order.skew
            # The latest times of a stream never fall, so all items before this place are over.
            yield from before[bisect_left(latest, line.earliest - skew)]
