"""What is asked of the check of one slice, and what it finds."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.traces.event import Place
from assay.traces.observe.partial_order import Item
from assay.traces.result import Violation
from assay.traces.slices.versions.version_history import Frontier, Trail, Write


@dataclass(frozen=True, slots=True)
class Odd:
    """A line that disagrees with a write, the states before and after it, and the violation that says so."""

    line: Item
    start: int
    after: int
    violation: Violation


@dataclass(frozen=True, slots=True)
class Gap:
    """Numbers that no line states, and the ways on before them."""

    numbers: range
    before: Frontier


@dataclass(slots=True)
class Findings:
    """What is known of a slice. ``missing`` are numbers that no line states; ``unplaced`` writes that nothing can be told of."""

    trail: Trail
    violations: list[Violation] = field(default_factory=list)
    odd: list[Odd] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    unplaced: list[Write] = field(default_factory=list)
    begun: Item | None = None
    """The first line of a slice of whose beginning no line tells."""
    narrowed: Place | None = None
    """The line that fits none of the ways that were followed, where there were others."""

    @property
    def is_open(self) -> bool:
        """Whether something has no explanation, or not one from lines alone."""
        return bool(self.violations or self.missing or self.unplaced)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is known of a slice beforehand, and what is asked of it.

    ``started`` says whether a line tells of its beginning, ``partial`` that lines are known to be missing; ``one_is_enough``, that the check
    may end with the first mismatch. Where it is not ``explained``, a mismatch of a write is only noted.
    """

    started: bool
    partial: bool
    one_is_enough: bool
    explained: bool
