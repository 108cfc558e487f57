"""Where a search of a log that lacks lines went on from another state (docs/design/reopening.md)."""

from __future__ import annotations

from collections.abc import Sequence

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import LogPosition

MOST = 8
"""How often a search may go on from another state than the one that it reached."""


@dataclass(slots=True)
class UnloggedSteps:
    """The places of a log at which a search went on from another state, as if by steps that no line tells of.

    ``rests_on`` says so of each; ``supposed`` counts the places of states that changed there.
    """

    rests_on: tuple[str, ...] = ()
    supposed: int = 0
    _read: int = -1
    _times: int = 0

    def may_follow(self, read: int) -> bool:
        """Whether it may happen after so many items: more than the last time, and not too often."""
        return read > self._read and self._times < MOST

    def add(self, read: int, place: LogPosition, changed: Sequence[str]) -> None:
        """Note that these places changed after so many items, before the line at a place of the log."""
        self._read = read
        self.supposed += len(changed)
        self._times += 1
        if changed:
            self.rests_on += (f"by {place} no line tells how, but {', '.join(changed)}",)
