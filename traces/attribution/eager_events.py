"""Events that exist as objects, such as those of files of events, with the interface of ``LogEvents``. What they have
in common is worked out once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from assay.traces.attribution.run_events import Traits
from assay.traces.event import Event, LogRecord
from assay.traces.store.distinct_values import distinct_values
from assay.traces.store.packed_records import NEVER
from assay.traces.store.record_block import Numbers

_OF_RECORD = attrgetter("logger"), attrgetter("level")
_OF_EVENT = attrgetter("kind"), attrgetter("pattern")
"""The parts of ``Traits`` in their order: those of the record, and those of the event."""


class EagerEvents(tuple[Event, ...]):
    """The events of one log."""

    @classmethod
    def of_one_log(cls, events: Iterable[Event]) -> EagerEvents:
        """Events that one process run wrote into one sequence of lines."""
        found = cls(events)
        # This sets the cached property `logs` in advance: no event has to be asked for its run.
        found.__dict__["logs"] = np.zeros(len(found), np.int64)
        return found

    @cached_property
    def _records(self) -> list[LogRecord]:
        """The record of each event: an attribute of an attribute takes twice as long."""
        return list(map(attrgetter("record"), self))

    @cached_property
    def logs(self) -> Numbers:
        """A number for the process run and the sequence of lines of each event."""
        known: dict[tuple[str, int, str], int] = {}
        keys = ((event.run.node, event.run.number, event.sequence) for event in self)
        return np.fromiter((known.setdefault(key, len(known)) for key in keys), np.int64, len(self))

    @cached_property
    def threads(self) -> Numbers:
        """A number for the thread that wrote the line of each event; lines that name no thread share one number."""
        return distinct_values(list(map(attrgetter("thread"), self._records)))[1]

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
        logged = list(map(attrgetter("time"), self._records))
        # Asked first, for nearly no log has such an event, and the list would be made twice.
        if None in logged:
            logged = [NEVER if time is None else time for time in logged]
        return np.fromiter(logged, np.int64, len(self))

    @cached_property
    def resolutions(self) -> Numbers:
        """The resolution of the time of each event, in milliseconds."""
        return np.fromiter(map(attrgetter("resolution"), self._records), np.int64, len(self))

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
        columns = [map(part, self._records) for part in _OF_RECORD] + [map(part, self) for part in _OF_EVENT]
        every, which = distinct_values(list(zip(*columns, strict=True)))
        return [Traits(*each) for each in every], which
