"""Goes on from another state, where a search of a log that lacks lines comes to no end (docs/design/reopening.md)."""

from __future__ import annotations

from collections.abc import Sequence

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.explain.resumption import first_failed
from assay.traces.search.dfs import TraceSearch
from assay.traces.search.driver import Rejected
from assay.traces.search.path import SearchPath
from assay.traces.windows.window_model import LogPart

MOST = 8
"""How often a search may go on from another state than the one that it reached."""


@dataclass(slots=True)
class UnloggedSteps:
    """Where a search went on from another state, as if by steps that no line tells of.

    ``rests_on`` says so of each such place of the log; ``supposed`` counts the places of states that changed there.
    """

    rests_on: tuple[str, ...] = ()
    supposed: int = 0
    _read: int = -1

    def after(
        self, search: TraceSearch, ends: Sequence[SearchPath], log: LogPart
    ) -> tuple[TraceSearch, SearchPath] | None:
        """The search and the path to go on with, after one of its ``ends``; None if no other state explains the next lines, or none has led
        further since the last time.
        """
        from assay.traces.windows.reopening import reopened  # noqa: PLC0415 - the solver loads slowly, and few need it

        deepest = max(ends, key=lambda path: path.read)
        failed = first_failed(search, Rejected((deepest,)))
        if deepest.read <= self._read or len(self.rests_on) >= MOST or failed is None:
            return None
        found = reopened(search, deepest, log)
        if found is None:
            return None
        self._read = deepest.read
        self.supposed += len(found.places)
        place = failed.observation.event.record.place
        self.rests_on += (f"by {place} no line tells how, but {', '.join(found.places)}",)
        return found.search, found.path
