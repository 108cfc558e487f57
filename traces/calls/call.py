"""A call of an object: when it began and ended, and what is known of its outcome."""

from __future__ import annotations

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event
from assay.traces.observe.observation import Observation


@dataclass(slots=True, eq=False)
class HistoryCall:
    """A call, or a line about a single moment.

    ``event`` holds what its lines say together, at the place of the first. ``begin`` and ``end`` are moments: positions
    of lines, or nanoseconds; a ``begin`` of None is unknown, an ``end`` of None too if the call ``returned``. A call
    that has not returned may take effect at any time after its beginning, or never. ``caller`` is who makes one call
    after the other, if that is known.
    """

    event: Event
    begin: int | None
    end: int | None
    returned: bool = True
    caller: tuple[str, ...] | None = None
    failed: bool = False
    happened: bool = True
    shown: Event | None = None
    """What its lines say, if ``event`` holds another key."""
    closing: Event | None = None
    """The line of its return, if another one reports it."""


@dataclass(slots=True, eq=False)
class BoundCall:
    """A call as a rule of the clause sees it."""

    call: HistoryCall
    observation: Observation
