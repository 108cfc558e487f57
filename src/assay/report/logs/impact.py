"""The impact of an incident, as text and as JSON: for how long each measured condition held, the longest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from assay.report.lines import Line, Tone, clean, listed
from assay.traces.durations import moment
from assay.traces.event import Event
from assay.traces.result import Impact, Spell, Validation

SLICES_SHOWN = 6
"""How many slices the text lists for each measure; JSON and HTML have all of them."""


def impact_lines(validation: Validation) -> Iterator[Line]:
    """The measures, each with the slices in which its condition held longest."""
    if validation.impact:
        yield Line("")
        yield Line("impact: for how long, at least and at most", Tone.HEADING)
    for name in dict.fromkeys(each.measure for each in validation.impact):
        own = [each for each in validation.impact if each.measure == name]
        yield Line(f"  {name}: {clean(own[0].text)}")
        held = longest_first([each for each in own if each.spells])
        yield from (Line(f"    {_one(each)}", Tone.WARN) for each in held[:SLICES_SHOWN])
        if len(held) > SLICES_SHOWN:
            yield Line(f"    and {len(held) - SLICES_SHOWN:,} more for less time", Tone.FAINT)
        yield from _unstated([each for each in own if each.unstated])


def longest_first(impacts: Sequence[Impact]) -> list[Impact]:
    """Sorted by the time for which conditions held, the longest first; without an upper bound before the others."""
    # What has no upper bound may be the longest.
    return sorted(impacts, key=lambda each: (-1 if each.at_most is None else 0, -(each.at_most or 0), -each.at_least))


def duration(at_least: float, at_most: float | None) -> str:
    """``8.2 to 10.2 s``; times in milliseconds."""
    if at_most is None:
        return f"{at_least / 1000:,.1f} s or more"
    return f"{at_least / 1000:,.1f} to {at_most / 1000:,.1f} s"


def clock(milliseconds: float) -> str:
    """The time of day, UTC, of milliseconds since the epoch."""
    return moment(milliseconds).isoformat(" ", "milliseconds")[11:23]


def _one(impact: Impact) -> str:
    where = f"{clean(impact.slice)}: " if impact.slice is not None else ""
    longest = max(impact.spells, key=lambda each: each.end - each.begin)
    times = "" if len(impact.spells) == 1 else f" in {len(impact.spells):,} times, the longest"
    return f"{where}{duration(impact.at_least, impact.at_most)}{times} from {clock(longest.begin)}{_end(longest)}"


def _end(spell: Spell) -> str:
    if spell.lasting:
        return " to the end of the log"
    place = "" if spell.ended is None else f" ({clean(str(spell.ended.record.place))})"
    return f" to {clock(spell.end)}{place}"


def _unstated(impacts: Sequence[Impact]) -> Iterator[Line]:
    if impacts:
        names = listed([clean(each.slice or "") for each in impacts], SLICES_SHOWN)
        yield Line(f"    not known of {names}: nothing states {', '.join(impacts[0].unstated)}", Tone.FAINT)


def impact_object(impact: Impact) -> dict[str, Any]:
    """A measure as JSON; times in milliseconds."""
    return {
        "measure": impact.measure,
        "text": impact.text,
        "slice": impact.slice,
        "at_least_ms": impact.at_least,
        "at_most_ms": impact.at_most,
        "unstated": list(impact.unstated),
        "spells": [_spell(each) for each in impact.spells],
    }


def _spell(spell: Spell) -> dict[str, Any]:
    return {
        "from_ms": spell.begin,
        "to_ms": spell.end,
        "at_least_ms": spell.at_least,
        "at_most_ms": spell.at_most,
        "begun": _place(spell.begun),
        "ended": _place(spell.ended),
        "lasting": spell.lasting,
    }


def _place(event: Event | None) -> dict[str, Any] | None:
    return None if event is None else {"file": event.record.place.file, "line": event.record.place.line}
