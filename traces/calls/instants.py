"""The times of calls in nanoseconds: a service answers thousands of calls a second."""

from __future__ import annotations

import re
from decimal import Decimal

from assay.grammar.kernel.event_source import TIME_UNITS, EventSource
from assay.traces.event import Opaque
from assay.traces.input.events.times import EventClock, Nanoseconds, TimeError

MILLISECOND = 1_000_000
"""Nanoseconds."""

_FRACTION = re.compile(r"[.,](\d+)")


class CallClock:
    """Reads the beginnings and ends of calls, in the unit or format that the clause gives to ``time``."""

    def __init__(self, source: EventSource) -> None:
        self._unit = source.time_form if source.time_form in TIME_UNITS else None
        self._is_bare = source.time_form is None
        self._clock = EventClock(source)

    def read(self, value: object) -> int:
        """The moment in nanoseconds since 1970. Raises ``TimeError``."""
        if isinstance(value, Opaque):
            raise TimeError(f"cannot be read: {value}")
        if isinstance(value, Nanoseconds):
            return int(value)
        unit = self._unit or ("ms" if self._is_bare and isinstance(value, int) else None)
        moment, _ = self._clock.read(value)
        if moment is None:
            raise TimeError("is missing")
        if unit is None:
            # The clock of events reads milliseconds. Two calls within one would overlap, and a contradiction be lost.
            return moment * MILLISECOND + _below_a_millisecond(str(value))
        factor = TIME_UNITS[unit]
        return int(Decimal(str(value)) * (MILLISECOND * -factor if factor < 0 else MILLISECOND // factor))


def _below_a_millisecond(text: str) -> int:
    """The nanoseconds beyond the millisecond that a text names."""
    found = _FRACTION.search(text)
    # The first three digits are milliseconds, which the clock has read.
    return 0 if found is None else int(found[1].ljust(9, "0")[3:9])
