"""Events that exist as objects, such as those of files of events, with the interface of ``LogEvents``: what they have
in common is worked out once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from assay.traces.attribution.run_events import Traits, traits_of
from assay.traces.event import Event
from assay.traces.store.packed_records import NEVER
from assay.traces.store.record_block import Numbers


class EagerEvents(tuple[Event, ...]):
    """The events of one log."""

    def at(self, positions: Numbers) -> Iterator[Event]:
        """The events at some positions, in that order."""
        return (self[at] for at in positions.tolist())

    def only(self, positions: Numbers) -> tuple[EagerEvents, Numbers]:
        """Some of the events, with their positions in this log."""
        return EagerEvents(self.at(positions)), positions

    def shifted(self, by: int) -> EagerEvents:
        """The same events, as if they had been written ``by`` milliseconds later."""
        return EagerEvents(replace(event, record=event.record.shifted(by)) for event in self)

    @cached_property
    def times(self) -> Numbers:
        """The times of the events, in milliseconds since the epoch; ``NEVER`` for those without one."""
        logged_times = (event.record.time for event in self)
        return np.fromiter((NEVER if time is None else time for time in logged_times), np.int64, len(self))

    @cached_property
    def resolutions(self) -> Numbers:
        """The resolution of the time of each event, in milliseconds."""
        return np.fromiter((event.record.resolution for event in self), np.int64, len(self))

    def matches_traits(self, ask: Callable[[Traits], bool]) -> npt.NDArray[np.bool_]:
        """The result of a condition on the traits of each event."""
        every, which = self._traits
        result: npt.NDArray[np.bool_] = np.array([ask(each) for each in every], np.bool_)[which]
        return result

    def traits(self) -> Counter[Traits]:
        """How many events have which traits."""
        every, which = self._traits
        return Counter(dict(zip(every, np.bincount(which, minlength=len(every)).tolist(), strict=True)))

    @cached_property
    def _traits(self) -> tuple[list[Traits], Numbers]:
        """The distinct traits, and for each event the index of its own."""
        known: dict[Traits, int] = {}
        which = np.fromiter((known.setdefault(traits_of(event), len(known)) for event in self), np.int64, len(self))
        return list(known), which
