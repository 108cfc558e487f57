"""Stuttering removal: drops lines that repeat what their file reported shortly before and reports again shortly after.

A broker names its controller in every line about a request. In a block, no line could have changed what two equal lines
report. So the lines between them are not compared with the model. Nothing that was accepted is rejected by this; a
value that was wrong only in between goes unnoticed. Of a service's own events all are compared. See
docs/design/stuttering-removal.md.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Protocol, TypeVar

import numpy as np

from assay.checker.interpreter.expressions.traverse import assignments, variables_of
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo, IdentitySet, IdentityTupleMemo
from assay.grammar.values import Value
from assay.traces.observe.binding import READ_BY_CLAUSE, Read, RuleView, observations_of, views_of
from assay.traces.observe.observation import Observation
from assay.traces.observe.partial_order import PartialOrder, order, stream_key
from assay.traces.search.transition_system import TraceModel
from assay.traces.store.record_block import Numbers
from assay.traces.table.event_selection import Selection

_NOTHING = -1

_ABSENT = object()


def compared_order(model: TraceModel, observations: Iterable[Observation]) -> PartialOrder:
    """The partial order of the observations that are compared with the model."""
    ordering = model.plan.ordering
    if not _is_own(model):
        observations = without_stuttering(model.kernel, observations, lambda seen: stream_key(seen, ordering))
    return order(list(observations), ordering)


def compared_events(model: TraceModel, events: Selection, read: Read) -> PartialOrder:
    """The same for a selection of events: observations are made only of the events that are compared."""
    ordering = model.plan.ordering
    if _is_own(model):
        return order(observations_of(events, views_of(events, np.arange(len(events.numbers)), read)), ordering)
    blocks = _Blocks(model.kernel)
    candidates = _BlockEnds(blocks, read, int(events.numbers.max(initial=-1)) + 1)
    streams = (candidates.of(own, events.numbers[own]) for own in events.by_stream(ordering.unit))
    kept = (each for own in streams for each in blocks.ends(views_of(events, own, read)))
    return order(observations_of(events, kept), ordering)


def _is_own(model: TraceModel) -> bool:
    """Whether the clause says how the events of a service are read: then each of them is compared."""
    # Of `step, step, step` in a loop the middle one was left out: 10 of 60 healthy workflow logs were inconsistent.
    return model.plan.catalogue in READ_BY_CLAUSE


class _BlockEnds:
    """Finds the events of a stream that can be the first or the last of equal ones in a block, by whole columns.

    A block can end only at an event that may not be repeated. Or it ends at one with other arguments than the last
    event of the same action. Take an event between two of these that is neither the first nor the last of its equals.
    Wherever blocks really end, it is neither in its block. Few events are left, and only these are looked at one by
    one.
    """

    def __init__(self, blocks: _Blocks, read: Read, count: int) -> None:
        self._is_observed = np.zeros(count, np.bool_)
        self._ends_block = np.zeros(count, np.bool_)
        values: dict[Hashable, int] = {}
        requested = IdentityMemo[k.TraceRule, Numbers]()
        for number, views in read.views.items():
            for at, (rule, _) in enumerate(views):
                self._is_observed[number] = True
                self._ends_block[number] |= not blocks.is_repeatable(rule)
                if rule.steps:
                    column = requested.get_or_make(rule, lambda _: np.full(count, _NOTHING, np.int32))
                    column[number] = values.setdefault(RuleView(0, at, views[at]).values, len(values))
        self._requested = tuple(requested.values())

    def of(self, positions: Numbers, numbers: Numbers) -> Numbers:
        """The positions of those events among ``positions``; ``numbers`` are their statements."""
        observed = self._is_observed[numbers]
        positions, numbers = positions[observed], numbers[observed]
        ends = self._ends_block[numbers]
        for column in self._requested:
            requested = column[numbers]
            requesting = np.flatnonzero(requested != _NOTHING)
            # An action that is asked for with another value than the last time may undo what lines before it report.
            ends[requesting[1:][np.diff(requested[requesting]) != 0]] = True
        # Blocks by number: an event that ends a block is the first of the next, as in `_Blocks.ends`.
        parts = np.cumsum(ends)
        by_number = np.lexsort((np.arange(len(numbers)), numbers, parts))
        alike = (np.diff(parts[by_number]) == 0) & (np.diff(numbers[by_number]) == 0)
        # Equal to the event before and after it in the sorted order: neither the first nor the last of its kind.
        inner = by_number[1:-1][alike[:-1] & alike[1:]]
        return np.delete(positions, inner)


class RuleFields(Protocol):
    """One rule's view of an event."""

    @property
    def rule(self) -> k.TraceRule:
        """The rule."""
        ...

    @property
    def values(self) -> tuple[tuple[str, Value], ...]:
        """The event's values by its field names."""
        ...


S = TypeVar("S", bound=RuleFields)


def without_stuttering(
    kernel: k.Kernel,
    observations: Iterable[Observation],
    stream_of: Callable[[Observation], Hashable],
) -> list[Observation]:
    """The observations that are compared with the model, in their order."""
    order = list(observations)
    streams: dict[Hashable, list[Observation]] = {}
    for seen in order:
        streams.setdefault(stream_of(seen), []).append(seen)
    blocks = _Blocks(kernel)
    kept = IdentitySet(seen for stream in streams.values() for seen in blocks.ends(stream))
    return [seen for seen in order if seen in kept]


class _Blocks:
    """Divides streams into blocks (docs/design/stuttering-removal.md)."""

    def __init__(self, kernel: k.Kernel) -> None:
        self._kernel = kernel
        self._repeatable: IdentityMemo[k.TraceRule, bool] = IdentityMemo()

    def ends(self, stream: Iterable[S]) -> Iterator[S]:
        """The first and the last of the equal observations of each block."""
        last: IdentityTupleMemo[S | None] = IdentityTupleMemo()
        done: IdentityMemo[k.TraceRule, object] = IdentityMemo()
        for seen in stream:
            rule = seen.rule
            repeatable = self.is_repeatable(rule)
            if not repeatable or (rule.steps and done.get(rule, seen.values) != seen.values):
                yield from (each for each in last.values() if each is not None)
                last, done = IdentityTupleMemo(), IdentityMemo()
            is_first = last.get((rule,), seen.values, _ABSENT) is _ABSENT
            if not repeatable or is_first:
                yield seen
            if repeatable:
                done[rule] = seen.values
                # None: seen once in this block, and yielded already, so nothing is left for the block's end.
                last.put((rule,), seen.values, None if is_first else seen)
        yield from (each for each in last.values() if each is not None)

    def is_repeatable(self, rule: k.TraceRule) -> bool:
        """The cached :func:`is_repeatable`."""
        known = self._repeatable.get(rule)
        if known is None:
            known = self._repeatable[rule] = is_repeatable(self._kernel, rule)
        return known


def is_repeatable(kernel: k.Kernel, rule: k.TraceRule) -> bool:
    """Whether a second event right after an equal one asks for nothing and changes nothing that the first did not."""
    if not rule.steps:
        return True
    if len(rule.steps) > 1 or len(rule.steps[0]) != 1 or rule.then is not None:
        return False
    (call,) = rule.steps[0]
    # If no written value reads a written variable, a second step with the same arguments writes the same.
    written = [(each, variables_of(each.value)) for each in assignments(kernel.action(call.action).body)]
    names = {each.variable for each, _ in written}
    return all(given is not None for given in call.arguments) and all(names.isdisjoint(read) for _, read in written)
