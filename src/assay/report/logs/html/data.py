"""The data that the page's script draws, as compact JSON: texts once in a table, events and steps as columns of
numbers.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.report.lines import clean
from assay.report.logs.history import ExecutionHistory
from assay.report.logs.html.lane_rules import band_names, band_styles, requests, tones
from assay.report.logs.html.lanes import TERM, LaneTimeline, Segment, TimelineLane
from assay.report.logs.html.used import ExplainedStatements
from assay.report.logs.validation_text import event_text
from assay.traces.event import Event, LogPosition
from assay.traces.result import Validation

LONGEST_TEXT = 600


class _Texts:
    """A table in which each text has a number."""

    def __init__(self) -> None:
        self.table: list[str] = []
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str | None) -> int:
        """The number of a text; -1 for None."""
        if text is None:
            return -1
        # Texts that differ only behind the limit share a number: nothing else of them is shown.
        plain = clean(text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + " …")
        if plain not in self._numbers:
            self._numbers[plain] = len(self.table)
            self.table.append(plain)
        return self._numbers[plain]


def script_data(
    validation: Validation,
    events: Sequence[Event],
    past: Sequence[ExecutionHistory],
    line: LaneTimeline,
    nodes: Mapping[int, Sequence[str]],
) -> dict[str, Any]:
    """Everything that the timeline and the list of events show; ``nodes`` are the names of the nodes with an id."""
    text = _Texts()
    styles = band_styles(validation.kernel) or {}
    # Reversed, so that of several events with one key the first has it.
    numbers = {_line(event): number for number, event in reversed(list(enumerate(events)))}
    lane_of = {lane.name: number for number, lane in enumerate(line.lanes) if lane.group == "node"}
    names = _short({name for lane in line.lanes for name in lane.bands})
    if styles:
        # Only for bundled models: a user's own variables keep their names.
        names |= {name: called for name in names if (called := band_names().get(name.rpartition(".")[2]))}
    return {
        "begin": line.begin,
        "end": line.end,
        "lanes": [_lane(lane, line.begin, names, styles, text) for lane in line.lanes],
        "events": {
            # Counted from the beginning of the timeline: numbers of a few digits, of which a page may have millions.
            "time": [None if e.record.time is None else e.record.time - line.begin for e in events],
            "lane": [lane_of.get(e.run.node, -1) for e in events],
            **_event_columns(validation, events, past, text),
        },
        "histories": [
            {
                "slice": text(each.slice),
                "initial": [[text(cell.text), text(value)] for cell, value in each.initial.items()],
                "steps": _steps(each, [time - line.begin for time in times], numbers, text),
            }
            for each, times in zip(past, line.times, strict=True)
        ],
        "requests": [
            [each.event, lane_of[each.other], int(each.received)]
            for each in requests(events, nodes)
            # A node of which no line was read has no lane for an arrow to end in.
            if each.other in lane_of
        ],
        "tones": dict(tones()) if styles else {},
        "texts": text.table,
    }


def _event_columns(
    validation: Validation, events: Sequence[Event], past: Sequence[ExecutionHistory], text: _Texts
) -> dict[str, list[Any]]:
    """What the list shows of each event, one array a column: most texts are shared, so the page holds their numbers."""
    blamed = {each.place for each in validation.violations}
    explained = ExplainedStatements(validation, past)
    return {
        "kind": [text(e.kind) for e in events],
        "file": [text(e.record.place.file) for e in events],
        "line": [e.record.place.line for e in events],
        "text": [text(e.record.message.partition("\n")[0]) for e in events],
        "read": [text(event_text(e)) for e in events],
        "state": [_status(e.record.place, explained.hold(e), blamed) for e in events],
    }


def _lane(
    lane: TimelineLane, begin: int, names: Mapping[str, str], styles: Mapping[str, str], text: _Texts
) -> dict[str, Any]:
    """A lane with its bands and alarms, in milliseconds from the beginning of the timeline."""

    def segments(own: Sequence[Segment]) -> list[list[int]]:
        return [[s.begin - begin, s.end - begin, text(s.value)] for s in own]

    return {
        "group": lane.group,
        "name": text(f"{lane.group} {lane.name}" if lane.name.isdigit() else lane.name),
        "bands": [
            {
                "name": text(names[name]),
                "segments": segments(own),
                "internal": name in lane.internal,
                "style": "node" if name == TERM else styles.get(name.rpartition(".")[2], "value"),
            }
            for name, own in lane.bands.items()
        ],
        "alarms": [
            {"name": text(name.replace("_", " ")), "segments": segments(own)} for name, own in lane.alarms.items()
        ],
    }


def _short(names: Iterable[str]) -> dict[str, str]:
    """Each variable's name without its modules, where no other variable has that name."""
    ends = Counter(name.rpartition(".")[2] for name in names)
    return {name: end if ends[end := name.rpartition(".")[2]] == 1 else name for name in names}


def _line(event: Event) -> tuple[str, int, str]:
    """A key that an event has in common with the same event as a slice sees it."""
    return event.record.place.file, event.record.place.line, event.kind


def _status(place: LogPosition, used: bool, blamed: Iterable[LogPosition]) -> int:
    # The numbers of the classes s0, s1 and s2 in report.css, and of the colours in report.js.
    return 2 if place in blamed else int(used)


def _steps(
    past: ExecutionHistory, times: Sequence[int], numbers: dict[tuple[str, int, str], int], text: _Texts
) -> list[list[Any]]:
    """Each step: the number of its event or -1, its time, its action, and its changes, as cell, before, after in a
    flat list.
    """
    found = []
    for step, time in zip(past.steps, times, strict=True):
        changes = [text(each) for change in step.changes for each in (change.cell.text, change.before, change.after)]
        event = -1 if step.event is None else numbers.get(_line(step.event), -1)
        found.append([event, time, text(step.action), changes])
    return found


LARGEST_PLAIN = 2_000_000
"""Larger data (in characters) are compressed; a browser expands them in a fraction of a second."""


def embedded(data: dict[str, Any]) -> tuple[str, str]:
    """The data as text for a ``script`` element, in which nothing can end the element, and the type of the element.

    Large data are gzip in base64.
    """
    plain = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    if len(plain) > LARGEST_PLAIN:
        # Without the time of packing: one answer makes one page.
        packed = gzip.compress(plain.encode("utf-8", "replace"), mtime=0)
        return "application/gzip", base64.b64encode(packed).decode("ascii")
    # `</script>` in a log line would end the element.
    plain = plain.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return "application/json", plain
