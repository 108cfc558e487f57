"""The limits of an engine's run: its clock, and what ends it after so much time, so many levels or so many states.

The reference search has its own (``checker/reference/bfs.py``); the tests compare when both end, and what they say
then.
"""

from __future__ import annotations

import time

from assay.checker.options import SearchOptions
from assay.checker.search_interface.protocols import Stopped


class DepthReached(Stopped):
    """All states of as many levels as were asked for were seen."""


class ExplicitLimits:
    """What bounds one run. The clock starts when this is made; ``here``, where a message needs it, says how far the run
    has come."""

    def __init__(self, options: SearchOptions) -> None:
        self._options = options
        self._begun = time.monotonic()

    @property
    def seconds(self) -> float:
        """Time since the run began."""
        return time.monotonic() - self._begun

    @property
    def deadline(self) -> float | None:
        """When the time is over, by ``time.monotonic``; None if there is no time limit."""
        return self._options.over_at(self._begun)

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        over = self.deadline
        return over is not None and time.monotonic() >= over

    @property
    def is_due(self) -> bool:
        """Whether the run is to end now, since its time is over or the user wants it to."""
        return self.is_late or self._options.interrupted()

    def time_is_over(self, here: str) -> str:
        """Why a run ends that ``is_late``."""
        return f"the time limit of {self._options.timeout or 0:g} s was reached {here}"

    def heed_size(self, depth: int, states: int, here: str) -> None:
        """Raise ``DepthReached`` after the last level that was asked for, and ``Stopped`` if there are as many states
        as are wanted."""
        # The depth first: where both limits are met, all that was asked for was seen.
        if self._options.max_depth is not None and depth >= self._options.max_depth:
            raise DepthReached
        if self._options.max_states is not None and states >= self._options.max_states:
            raise Stopped(f"the limit of {self._options.max_states:,} states was reached {here}")
