"""The answers about a log that grows, one after the other: what is new in each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from assay.report.lines import Line, Tone, clean, plural
from assay.report.logs.validation_text import event_text
from assay.traces.result import LogViolation, TraceVerdict, Validation

TONES = {TraceVerdict.CONSISTENT: Tone.GOOD, TraceVerdict.INCONSISTENT: Tone.BAD, TraceVerdict.VIOLATED: Tone.BAD}


def followed_lines(lines: int, validation: Validation, new: Sequence[LogViolation]) -> Iterator[Line]:
    """The verdict about so many lines, and each new mismatch with the rule that is broken."""
    verdict = validation.verdict
    broken = f" ({', '.join(each.name for each in validation.properties)})" if validation.properties else ""
    reason = f": {clean(validation.reason)}" if validation.reason else ""
    yield Line(f"{plural(lines, 'line')}: {verdict.value}{broken}{reason}", TONES.get(verdict, Tone.WARN))
    for each in new:
        yield Line(
            f"  {clean(str(each.place))}: {event_text(each.event)} cannot be explained by {each.action}", Tone.BAD
        )
        for part in each.blame[0].parts if each.blame else ():
            yield Line(f"    {part.kind} {part.label} is false: {clean(part.text)}  ({part.spec})")


def followed_object(lines: int, validation: Validation, new: Sequence[LogViolation]) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "assay": "1",
        "lines": lines,
        "verdict": validation.verdict.value,
        "reason": validation.reason,
        "properties": [each.name for each in validation.properties],
        "new": [
            {"file": each.place.file, "line": each.place.line, "event": event_text(each.event), "action": each.action}
            for each in new
        ],
    }
