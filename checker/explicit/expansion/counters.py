"""The counters of a search, by position in the arrays of compiled code."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.thread_buffer import Counts, Marks, ThreadBuffer
from assay.checker.layout.row import Rows
from assay.grammar.lazy_dataclass import dataclass


@dataclass(slots=True)
class SearchCounters:
    """Counters by position in the arrays of compiled code: bound hits, decisive guards, and figures of each action.
    These are how often it was taken, and how often it led to a new state.
    """

    hits: Rows
    decisive: Marks
    taken: Counts
    fresh: Counts

    def add(self, lane: ThreadBuffer) -> None:
        """Add the counts of one thread buffer."""
        self.hits += lane.hits
        self.decisive |= lane.decisive
        self.taken += lane.taken
        self.fresh += lane.fresh


COUNTED = tuple(field.name for field in fields(SearchCounters))


def new_tally(compiled: Compiled) -> SearchCounters:
    """Counters at zero, of the sizes that the compiled code needs."""
    hits, guards, actions = (max(1, n) for n in (len(compiled.hits), len(compiled.guards), compiled.actions))
    return SearchCounters(
        np.zeros(hits, np.uint64), np.zeros(guards, np.uint8), np.zeros(actions, np.int64), np.zeros(actions, np.int64)
    )
