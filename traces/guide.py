"""The order in which executions of what is shared and of each slice were found, woven into one: where a search of the whole looks first.

NOTE(guided search): If slices depend on one another in nothing, the steps of each can be put between the shared steps where that slice's execution has
them, and the whole is explained. A search that tries its lines in this order finds that at once, and checks every guard on the way, those across slices too. Where one of these is
false, it goes on to other orders.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from assay.checker.verdict import State
from assay.traces.events import Place
from assay.traces.join import Joint
from assay.traces.order import Item, Order
from assay.traces.statement import EVERY_SLICE
from assay.traces.validation import Execution, SliceResult

APART = 1_000.0
"""How far one line is from the next: further than a search puts off a line that needs hidden steps."""

Ranks = Mapping[tuple[str | None, Place], tuple[float, ...]]
"""Where the lines of a slice, or those that are of none, come, by their places."""


def ranks(joint: Joint, shared: Execution, slices: Iterable[SliceResult]) -> Ranks:
    """Where each line comes in the executions that were found."""
    seen = joint.split.seen(joint.plan)
    found: dict[tuple[str | None, Place], tuple[float, ...]] = {}
    begins, last = [0.0], _visible(shared.initial, seen)
    for number, step in enumerate(shared.steps, 1):
        now = _visible(step.state, seen)
        if now != last:
            begins.append(float(number))
            last = now
        if step.event is not None:
            found[None, step.event.record.place] = (float(number),)
    states = [_visible(state, seen) for state in joint.chain.states]
    for each in slices:
        if each.execution is not None:
            found |= {(each.name, place): rank for place, rank in _of_slice(each.execution, states, begins, seen)}
    return found


def _visible(state: State, seen: Sequence[int]) -> tuple[object, ...]:
    return tuple(state[at] for at in seen)


def _of_slice(
    run: Execution, states: Sequence[tuple[object, ...]], begins: Sequence[float], seen: Sequence[int]
) -> Iterable[tuple[Place, tuple[float, ...]]]:
    """The lines of a slice, each behind the shared step that its position is behind, and in the order of its own execution."""
    position = 0
    for number, step in enumerate(run.steps):
        now = _visible(step.state, seen)
        position = next((at for at in range(position, len(states)) if states[at] == now), position)
        if step.event is not None:
            yield step.event.record.place, (begins[min(position, len(begins) - 1)], float(number))


def guided(order: Order, known: Ranks) -> Order:
    """The order of lines with times that say where they come; those of which nothing is known come last."""
    every = [item for stream in order.streams for item in stream.items]
    placed = sorted(every, key=lambda item: (_rank(item, known), item.time, item.index))
    times = {item.index: APART * number for number, item in enumerate(placed)}
    streams = tuple(
        replace(stream, items=tuple(replace(item, time=times[item.index]) for item in stream.items))
        for stream in order.streams
    )
    return replace(order, streams=streams)


def _rank(item: Item, known: Ranks) -> tuple[float, ...]:
    slice_ = dict(item.observation.values).get(EVERY_SLICE)
    name = None if slice_ is None else str(getattr(slice_, "name", slice_))
    return known.get((name, item.observation.event.record.place), (float("inf"),))
