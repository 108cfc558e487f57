"""The first version of a slice, as its lines report it."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.transition_system import TraceModel
from assay.traces.slices.versions.version_history import number_of


@dataclass(frozen=True, slots=True)
class FirstWrite:
    """The first version of a slice, and whether the node that made the update logged it.

    If only other nodes logged it, the node that was to act on the update did not get to it. Many updates may then
    precede it.
    """

    number: float = inf
    done: bool = False

    @property
    def is_hearsay(self) -> bool:
        """Whether only other nodes logged it."""
        return self.number < inf and not self.done

    def with_lines(self, model: TraceModel, lines: Iterable[OrderedObservation]) -> FirstWrite:
        """The first update after more lines of the slice."""
        number, done = self.number, self.done
        for line in lines:
            own = number_of(model, line)
            if own is not None and own <= number:
                number, done = own, line.observation.names_action or (own == number and done)
        return FirstWrite(number, done)
