"""What is asked of the check of one slice, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.traces.event import LogPosition
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.result import LogViolation
from assay.traces.slices.versions.version_history import Frontier, VersionedUpdate, VersionNode


@dataclass(frozen=True, slots=True)
class Odd:
    """A line that disagrees with a write, the states before and after it, and the violation that says so."""

    line: OrderedObservation
    start: int
    after: int
    violation: LogViolation


@dataclass(frozen=True, slots=True)
class Gap:
    """Numbers that no line states, and the ways on before them."""

    numbers: range
    before: Frontier


@dataclass(slots=True)
class SliceFindings:
    """What is known of a slice. ``missing`` are numbers that no line states; ``unplaced`` writes that nothing can be told of."""

    trail: VersionNode
    violations: list[LogViolation] = field(default_factory=list)
    odd: list[Odd] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    unplaced: list[VersionedUpdate] = field(default_factory=list)
    begun: OrderedObservation | None = None
    """The first line of a slice of whose beginning no line tells."""
    narrowed: LogPosition | None = None
    """The line that fits none of the ways that were followed, where there were others."""

    @property
    def is_open(self) -> bool:
        """Whether something has no explanation, or not one from lines alone."""
        return bool(self.violations or self.missing or self.unplaced)


@dataclass(frozen=True, slots=True)
class SliceQuery:
    """What is known of a slice beforehand, and what is asked of it.

    ``started`` says whether a line tells of its beginning, ``partial`` that lines are known to be missing; ``one_is_enough``, that the check
    may end with the first mismatch. Where it is not ``explained``, a mismatch of a write is only noted.
    """

    started: bool
    partial: bool
    one_is_enough: bool
    explained: bool
