"""The observations of one slice."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from assay.traces.observe.binding import EventBinder
from assay.traces.observe.observation import Observation
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.transition_system import TraceModel
from assay.traces.slices.slice_context import Joint
from assay.traces.slices.versions.first_update import FirstWrite
from assay.traces.table.event_selection import Selection


class SliceLines:
    """The observations of a slice. ``few`` omits equal lines (docs/design/equal-lines.md); all lines are bound only
    when needed.

    ``started``: one of them reports the slice's beginning.
    """

    def __init__(self, model: TraceModel, binder: EventBinder, events: Selection, joint: Joint) -> None:
        self._binder, self._events = binder, events
        self.read = binder.read(events)
        self.few = [
            slice_item(number, seen) for number, seen in enumerate(binder.without_repetitions(events, self.read))
        ]
        self.started = joint.is_begun(events, FirstWrite().with_lines(model, self.few))

    @property
    def used(self) -> int:
        """How many of the events are used."""
        return self.read.tally.used - len(self.read.tally.misfits)

    @cached_property
    def observations(self) -> Sequence[Observation]:
        """The observations of all events."""
        return self._binder.bind(self._events).observations


def slice_item(number: int, seen: Observation) -> OrderedObservation:
    """An observation as an item, by its place among the slice's lines."""
    record = seen.event.record
    time = float(record.time or 0)
    return OrderedObservation(number, seen, 0, number, time, time, time + record.resolution - 1)
