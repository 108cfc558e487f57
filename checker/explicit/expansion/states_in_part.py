"""The states of a level of which only some steps were taken, and which of them have to take the others after all.

A state may leave steps out only if one that it takes leads to a state of the next level. That one is not expanded yet.
Else steps could be put off for ever, on a cycle (docs/design/partial-order-reduction.md).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.checker.explicit.expansion.thread_buffer import Counts, ThreadBuffer
from assay.checker.explicit.store.level_file import CHUNK
from assay.checker.explicit.store.levels import Levels
from assay.checker.layout.row import Rows


class StatesInPart:
    """Collects them while a level is expanded.

    ``reduced`` counts the states of all levels of which some steps were never taken. ``collision`` bounds the
    probability that one of them should not be among these: next states are compared by 64-bit fingerprints.
    """

    def __init__(self, *, may_ignore: bool) -> None:
        self._may_ignore = may_ignore
        self.reduced = 0
        self.collision = 0.0
        self._new: list[Rows] = []
        self._places: list[Counts] = []
        self._steps: list[tuple[Counts, Rows]] = []

    @property
    def any(self) -> bool:
        """Whether states of the level may have to take further steps."""
        return bool(self._places)

    def add(self, lane: ThreadBuffer, places: Counts | None = None) -> None:
        """Note those of a buffer, after its candidates were inserted. ``places`` are those of the states that it
        expanded, if they were not one behind the other.
        """
        if not len(lane.reduced):
            return
        if self._may_ignore:
            self.reduced += int(np.count_nonzero(lane.reduced))
            return
        at = np.arange(lane.first, lane.first + lane.done) if places is None else places[: lane.done]
        _, prints, parents, _ = lane.candidates
        sources: Counts = parents[: lane.count].astype(np.int64) + lane.first
        prints = prints[: lane.count]
        fresh = lane.arena.fresh[lane.at, : lane.count] != 0
        # A step that finds a new state leads to the next level, so its source may leave others out. The rest is
        # compared with all new states when the level is complete.
        self._new.append(prints[fresh])
        reduced = at[lane.reduced != 0]
        self.reduced += len(reduced)
        waits = reduced[~np.isin(reduced, sources[fresh])]
        if len(waits):
            some = np.isin(sources, waits)
            self._places.append(waits)
            self._steps.append((sources[some], prints[some]))

    def taken(self, levels: Levels) -> Iterator[tuple[Counts, Rows]]:
        """The places, with the rows, of those that have to take further steps, chunk by chunk; afterwards there are
        none."""
        every = self._without_next_state()
        level = len(levels.counts) - 1
        for chunk in np.unique(every // CHUNK).tolist():
            some = every[every // CHUNK == chunk]
            yield some, np.ascontiguousarray(levels.chunk(level, chunk).rows[some % CHUNK])

    def finish_level(self) -> None:
        """Forget the states of the level."""
        self._new = []

    def _without_next_state(self) -> Counts:
        # A step to a state that another one found first leads to the next level too. Without this 4,488 of 6,461 states
        # took all steps.
        known = np.sort(np.concatenate(self._new))
        parents, prints = (np.concatenate([step[which] for step in self._steps]) for which in (0, 1))
        self.collision += len(prints) * len(known) / 2.0**64
        every = np.concatenate(self._places)
        every = every[~np.isin(every, parents[np.isin(prints, known)])]
        self.reduced -= len(every)
        self._places, self._steps, self._new = [], [], [known]
        return every
