"""The answer about one slice."""

from __future__ import annotations

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.observe.binding_tally import BindingTally
from assay.traces.result import Impact, SliceResult


@dataclass(frozen=True, slots=True)
class SliceAnswer:
    """The answer about one slice: how its events were bound, the number of visited states, and its measures
    (``outages.Meter``).
    """

    result: SliceResult
    tally: BindingTally
    visited: int
    impact: tuple[Impact, ...] = ()

    @property
    def held(self) -> int:
        """How many lines were held against what others determine: not that with which a slice begins before its log,
        and not those that writes without lines explain."""
        supposed = 0 if self.result.rests_on is None else 1 + len(self.result.unexplained)
        return max(0, self.tally.used - supposed)
