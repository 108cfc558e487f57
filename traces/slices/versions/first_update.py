"""The number of the first update of a slice, as its lines report it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.transition_system import TraceModel
from assay.traces.slices.versions.version_history import number_of


@dataclass(frozen=True, slots=True)
class FirstWrite:
    """The number of a slice's first write, and whether one of its lines is of who did it. Where all are of who heard of it, whoever was to act on it did not
    come to that, and the write may be one of many before."""

    number: float = inf
    done: bool = False

    @property
    def is_hearsay(self) -> bool:
        """Whether all lines of it are of who heard of it."""
        return self.number < inf and not self.done

    def with_lines(self, model: TraceModel, lines: Iterable[OrderedObservation]) -> FirstWrite:
        """What it is with more lines of the slice."""
        number, done = self.number, self.done
        for line in lines:
            own = number_of(model, line)
            if own is not None and own <= number:
                number, done = own, line.observation.pinned or (own == number and done)
        return FirstWrite(number, done)
