"""What a search that goes on after every mismatch has found."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.explain.unlogged_steps import UnloggedSteps
from assay.traces.result import LogViolation
from assay.traces.search.path import SearchPath

if TYPE_CHECKING:
    from assay.traces.windows.ask import WindowExplained


@dataclass(slots=True)
class MismatchFindings:
    """The result of a search that goes on after every mismatch: the path to the end, or why it did not get there.

    ``stuck`` is the time, in milliseconds, of the first unexplained line, or of the last line that was reached.
    """

    violations: list[LogViolation] = field(default_factory=list)
    reason: str | None = None
    path: SearchPath | None = None
    stuck: float | None = None
    beginning: WindowExplained | None = None
    """A beginning from which the first lines are explained, where none is from the initial states."""
    rests_on: tuple[str, ...] = ()
    """What the path rests on of which no line tells."""
    unlogged: UnloggedSteps = field(default_factory=UnloggedSteps)
    """Where the path goes on from another state than the one it reached."""

    def add_reason(self, reason: str) -> None:
        """Note one more reason why the search did not get to the end."""
        self.reason = reason if self.reason is None else f"{self.reason}; {reason}"

    def add(self, violation: LogViolation, reason: str) -> None:
        """Note the last violation, and why the search ends with it."""
        self.violations.append(violation)
        self.reason = reason
