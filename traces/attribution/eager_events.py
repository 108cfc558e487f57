"""Events that are all there, as those that a file states itself: asked as the events of logs are, what they have in common worked out once."""

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


class StatedEvents(tuple[Event, ...]):
    """The events of one log."""

    def at(self, positions: Numbers) -> Iterator[Event]:
        """The events at some positions, in that order."""
        return (self[at] for at in positions.tolist())

    def only(self, positions: Numbers) -> tuple[StatedEvents, Numbers]:
        """Some of the events, with the positions that they have here."""
        return StatedEvents(self.at(positions)), positions

    def later(self, by: int) -> StatedEvents:
        """The same events as if they had been written so many milliseconds later."""
        return StatedEvents(replace(event, record=event.record.later(by)) for event in self)

    @cached_property
    def times(self) -> Numbers:
        """The times of the events; ``NEVER`` where they state none."""
        stated = (event.record.time for event in self)
        return np.fromiter((NEVER if time is None else time for time in stated), np.int64, len(self))

    @cached_property
    def resolutions(self) -> Numbers:
        """For how many milliseconds the time of each event stands."""
        return np.fromiter((event.record.resolution for event in self), np.int64, len(self))

    def told(self, ask: Callable[[Traits], bool]) -> npt.NDArray[np.bool_]:
        """What is said of each event by its traits."""
        every, which = self._traits
        said: npt.NDArray[np.bool_] = np.array([ask(each) for each in every], np.bool_)[which]
        return said

    def traits(self) -> Counter[Traits]:
        """The traits of the events, and how many have them."""
        every, which = self._traits
        return Counter(dict(zip(every, np.bincount(which, minlength=len(every)).tolist(), strict=True)))

    @cached_property
    def _traits(self) -> tuple[list[Traits], Numbers]:
        """The traits that events have, and which of these each has."""
        known: dict[Traits, int] = {}
        which = np.fromiter((known.setdefault(traits_of(event), len(known)) for event in self), np.int64, len(self))
        return list(known), which
