"""Lengths of time in an operator's words, and the date of a time."""

from __future__ import annotations

from datetime import UTC, datetime

QUARTER = 15 * 60_000
NEAR = 60_000
"""Clocks whose difference is as near to a multiple of a quarter of an hour (milliseconds) differ in their UTC offset."""

EARLIEST, LATEST = -62_135_596_800_000, 253_402_300_799_999
"""The first and the last millisecond, since the epoch, that Python has a date for: the years 1 and 9999."""


def moment(milliseconds: float) -> datetime:
    """The moment, UTC, of milliseconds since the epoch; the last or the first one there is, if it is beyond."""
    return datetime.fromtimestamp(min(max(milliseconds, EARLIEST), LATEST) / 1000, UTC)


def duration_in_words(milliseconds: float) -> str:
    """A duration in words: ``12 ms``, ``8.2 s``, ``5 min 20 s``, ``2 h 5 min``, ``448 d 2 h``."""
    if milliseconds < 1_000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 120_000:
        return f"{milliseconds / 1000:.3g} s"
    seconds = int(milliseconds) // 1_000
    units = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
    parts = [(seconds // unit % limit, name) for (unit, name), limit in zip(units, (10**9, 24, 60, 60), strict=True)]
    first = next(number for number, (count, _) in enumerate(parts) if count)
    return " ".join(f"{count:,} {name}" for count, name in parts[first : first + 2] if count)


def difference_in_words(milliseconds: int) -> str:
    """By how much a clock is ahead: ``12 ms``, or ``UTC offset +01:00`` where that is the reason."""
    quarters = round(milliseconds / QUARTER)
    if quarters and abs(milliseconds - quarters * QUARTER) <= NEAR:
        hours, minutes = divmod(abs(quarters) * 15, 60)
        return f"UTC offset {'+' if quarters > 0 else '-'}{hours:02}:{minutes:02}"
    return f"-{duration_in_words(-milliseconds)}" if milliseconds < 0 else duration_in_words(milliseconds)
