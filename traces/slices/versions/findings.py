"""The input and the findings of the check of one slice along its versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field

from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.result import LogViolation, TraceVerdict
from assay.traces.slices.versions.version_history import Frontier, VersionedUpdate, VersionNode

# In a recording of 0.10 two updates in a row without lines turned 32 nodes into 1,728.
WIDTHS = 24, 100, 400
"""Beam widths: the first one, and those that are tried next where it leaves anything open."""

NUMBERS_SHOWN = 5
"""How many of the missing versions are listed."""


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

    node: VersionNode
    violations: list[LogViolation] = field(default_factory=list)
    odd: list[Odd] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    unplaced: list[VersionedUpdate] = field(default_factory=list)
    begun: OrderedObservation | None = None
    """The first line of a slice whose beginning was not logged."""
    passed_over: list[OrderedObservation] = field(default_factory=list)
    """Lines that may tell of a time before the beginning, or of writes without a line: nothing explains them."""
    narrowed: tuple[LogViolation, ...] = ()
    """The mismatches with every node of the beam, when nodes had been dropped: another node may explain their lines."""

    @property
    def verdict(self) -> TraceVerdict:
        """The verdict for these findings."""
        if self.violations:
            return TraceVerdict.INCONSISTENT
        if self.narrowed or self.missing or self.unplaced or self.passed_over:
            return TraceVerdict.INCONCLUSIVE
        return TraceVerdict.CONSISTENT

    @property
    def reason(self) -> str | None:
        """Why the verdict is open; None if it is not."""
        if self.narrowed:
            return (
                f"{self.narrowed[0].place} fits none of {WIDTHS[-1]} histories that were followed; "
                "writes of which no line tells leave more open"
            )
        if self.missing:
            return _unlogged_updates(self.missing)
        if self.passed_over:
            place = self.passed_over[0].observation.event.record.place
            return f"{place} fits nothing that is known, and may tell of what came before, or of writes without a line"
        if self.unplaced:
            return f"{self.unplaced[0].lines[0].observation.event.record.place} tells too little to go on from"
        return None

    def rests_on(self, *, lacking: bool) -> str | None:
        """What the explanation of a slice rests on: its beginning, and in logs that may lack lines the writes of which
        none tells."""
        unlogged = []
        if self.begun is not None:
            unlogged.append(f"no line tells of its beginning, before {self.begun.observation.event.record.place}")
        if lacking and self.missing:
            unlogged.append(_unlogged_updates(self.missing))
        return ", and ".join(unlogged) or None

    @property
    def unexplained(self) -> Iterator[Event]:
        """The lines that nothing explains, whether that is a mismatch or not."""
        yield from (each.event for each in (*self.violations, *self.narrowed))
        yield from (each.observation.event for each in self.open_lines)

    def is_of_lines(self, *, lacking: bool) -> bool:
        """Whether nothing but single lines leaves the verdict open. Where no line is ``lacking``, other histories than
        those that were followed do so, too."""
        return not self.missing and (lacking or not self.narrowed)

    def unexplained_by(self, is_such: Callable[[k.TraceRule], bool]) -> Iterator[Event]:
        """The lines that nothing explains and that are read by such rules; of mismatches the rule is not known."""
        yield from (each.event for each in self.narrowed)
        lines = (each.observation for each in self.open_lines)
        yield from (each.event for each in lines if is_such(each.rule))

    @property
    def open_lines(self) -> Iterator[OrderedObservation]:
        """The lines that nothing explains and that are no mismatches."""
        yield from self.passed_over
        yield from (line for write in self.unplaced for line in write.lines)

    @property
    def is_open(self) -> bool:
        """Whether something has no explanation, or none from lines alone."""
        return bool(self.violations or self.missing or self.unplaced or self.passed_over)


@dataclass(frozen=True, slots=True)
class SliceQuery:
    """What is known of a slice beforehand, and what is to be found.

    ``started``: its beginning was logged. ``partial``: lines are known to be missing. ``one_is_enough``: stop at the
    first mismatch. Unless ``explained``, a mismatch of an update is recorded without its reason. ``is_possible`` says
    whether a state may come after another, with any writes between them.
    """

    started: bool
    partial: bool
    one_is_enough: bool
    explained: bool
    is_possible: Callable[[int, int], bool] = lambda _after, _before: True


def _unlogged_updates(numbers: Sequence[int]) -> str:
    more = ", …" if len(numbers) > NUMBERS_SHOWN else ""
    return f"no line tells of write {', '.join(map(str, numbers[:NUMBERS_SHOWN]))}{more}"
