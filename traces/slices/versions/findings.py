"""The input and the findings of the check of one slice along its versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event, LogPosition
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.result import LogViolation
from assay.traces.slices.versions.version_history import Frontier, VersionedUpdate, VersionNode


@dataclass(frozen=True, slots=True)
class Odd:
    """A line that disagrees with an update, the states before and after the update, and the violation."""

    line: OrderedObservation
    start: int
    after: int
    violation: LogViolation


@dataclass(frozen=True, slots=True)
class Gap:
    """Versions without a line, and the frontier before them."""

    numbers: range
    before: Frontier


@dataclass(slots=True)
class SliceFindings:
    """The findings about a slice. ``missing`` are versions without a line; ``unplaced`` are updates that nothing is
    concluded from.
    """

    trail: VersionNode
    violations: list[LogViolation] = field(default_factory=list)
    odd: list[Odd] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    unplaced: list[VersionedUpdate] = field(default_factory=list)
    begun: OrderedObservation | None = None
    """The first line of a slice whose beginning was not logged."""
    passed_over: list[OrderedObservation] = field(default_factory=list)
    """Lines that may tell of a time before the beginning, or of writes without a line: nothing explains them."""
    narrowed: LogPosition | None = None
    """The line that fits no node of the beam, when nodes had been dropped."""

    @property
    def unexplained(self) -> Iterator[Event]:
        """The lines that nothing explains, whether that is a mismatch or not."""
        yield from (each.event for each in self.violations)
        yield from (each.observation.event for each in self.passed_over)
        yield from (line.observation.event for write in self.unplaced for line in write.lines)

    @property
    def open_rules(self) -> Iterator[k.TraceRule]:
        """The rules of the lines that nothing explains and that are no mismatches."""
        yield from (each.observation.rule for each in self.passed_over)
        yield from (line.observation.rule for write in self.unplaced for line in write.lines)

    @property
    def is_open(self) -> bool:
        """Whether something has no explanation, or none from lines alone."""
        return bool(self.violations or self.missing or self.unplaced or self.passed_over)


@dataclass(frozen=True, slots=True)
class SliceQuery:
    """What is known of a slice beforehand, and what is to be found.

    ``started``: its beginning was logged. ``partial``: lines are known to be missing. ``one_is_enough``: stop at the
    first mismatch. Unless ``explained``, a mismatch of an update is recorded without its reason.
    """

    started: bool
    partial: bool
    one_is_enough: bool
    explained: bool
