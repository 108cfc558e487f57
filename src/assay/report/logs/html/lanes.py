"""The lanes of the timeline: one for each node, for each element of another set, and for what is shared.

A lane shows what each of its cells held over time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise

from assay.grammar.lazy_dataclass import dataclass
from assay.report.logs.history import Cell, ExecutionHistory
from assay.traces.event import Event, ProcessRun
from assay.traces.result import Impact

SHARED = "shared"
CONTROLLER = "controller"
TERM = "term"
MOST_BANDS = 10
"""How many bands a lane has at most. The variables that change most often are left out first: they show least in a
picture.
"""


@dataclass(frozen=True, slots=True)
class Segment:
    """A cell's value from ``begin`` to ``end``, in milliseconds since the epoch."""

    begin: int
    end: int
    value: str


@dataclass(slots=True)
class TimelineLane:
    """A row of the timeline. ``bands`` has, by the name of a variable, its values over time; ``alarms`` by the name of
    a measure when it held. ``internal`` are bands of variables that say little to who does not know the model.
    """

    group: str
    name: str
    bands: dict[str, list[Segment]] = field(default_factory=dict)
    alarms: dict[str, list[Segment]] = field(default_factory=dict)
    internal: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class LaneTimeline:
    """The lanes, the time that they span, and for each history the time of each of its steps."""

    lanes: tuple[TimelineLane, ...]
    begin: int
    end: int
    times: tuple[tuple[int, ...], ...]


def timeline(
    events: Sequence[Event],
    past: Sequence[ExecutionHistory],
    impact: Sequence[Impact] = (),
    terms: Sequence[tuple[int, str]] = (),
    styles: Mapping[str, str] | None = None,
) -> LaneTimeline:
    """The lanes of a log. The process runs of a node share a lane; ``terms`` are the controllers', with their beginning.
    Only the variables of ``styles`` are shown to who does not know the model; of None, those that are parts of records.
    """
    times_of_events = [event.record.time for event in events if event.record.time is not None]
    begin, end = (min(times_of_events), max(times_of_events)) if times_of_events else (0, 1)
    runs = _runs(events)
    lanes = {("node", run.node): TimelineLane("node", run.node) for run in runs.values()}
    times = tuple(_times(each, begin) for each in past)
    owned = _lane_owners(events, begin, end + 1)
    for each, own in zip(past, times, strict=True):
        _fill(lanes, each, own, runs, owned, (begin, end + 1), styles)
    if terms:
        lanes[CONTROLLER, CONTROLLER] = _controller_lane(terms, end + 1)
    _add_alarms(lanes, impact)
    first = (CONTROLLER, SHARED, "node")
    ordered = sorted(lanes.values(), key=lambda lane: first.index(lane.group) if lane.group in first else len(first))
    # A millisecond more, so that what begins with the last line has a width.
    return LaneTimeline(tuple(ordered), begin, end + 1, times)


def _controller_lane(terms: Sequence[tuple[int, str]], end: int) -> TimelineLane:
    """Who was controller: each from the line that says so to the next one's."""
    times = [*(time for time, _ in terms), end]
    segments = [Segment(since, until, name) for (_, name), (since, until) in zip(terms, pairwise(times), strict=True)]
    return TimelineLane(CONTROLLER, CONTROLLER, {TERM: [each for each in segments if each.begin < each.end]})


def _add_alarms(lanes: dict[tuple[str, str], TimelineLane], impact: Sequence[Impact]) -> None:
    """Show when measured conditions held: in the lane of their slice, or in that of the controller, or of what is
    shared.
    """
    common = (CONTROLLER, CONTROLLER) if (CONTROLLER, CONTROLLER) in lanes else (SHARED, SHARED)
    for each in impact:
        if not each.spells:
            continue
        key = next((key for key in lanes if key[0] != "node" and key[1] == each.slice), None) or common
        spells = [Segment(int(spell.begin), int(spell.end), each.text) for spell in each.spells]
        lanes.setdefault(key, TimelineLane(*key)).alarms.setdefault(each.measure, []).extend(spells)


def _runs(events: Iterable[Event]) -> dict[str, ProcessRun]:
    # By its text, which is the name of the process run in the model.
    return {str(run): run for run in dict.fromkeys(event.run for event in events)}


def _lane_owners(events: Iterable[Event], begin: int, end: int) -> dict[str, tuple[int, int]]:
    """The time in which each process run owns its node's lane: from its first line to that of the next run."""
    first: dict[ProcessRun, int] = {}
    for event in events:
        if event.record.time is not None:
            first[event.run] = min(first.get(event.run, end), event.record.time)
    by_node: dict[str, list[ProcessRun]] = {}
    for run in sorted(first, key=lambda run: (run.node, run.number)):
        by_node.setdefault(run.node, []).append(run)
    owned: dict[str, tuple[int, int]] = {}
    for each in by_node.values():
        # The first run has the lane from the beginning, even before its first line.
        starts = [begin, *(first[run] for run in each[1:]), end]
        owned |= {str(run): (start, stop) for run, (start, stop) in zip(each, pairwise(starts), strict=True)}
    return owned


def _times(past: ExecutionHistory, begin: int) -> tuple[int, ...]:
    """When each step is drawn: at the time of its line, but not before an earlier step.

    A step without a line is drawn at the next step that has one.
    """
    times: list[int] = []
    latest = begin
    for step in past.steps:
        if step.event is not None and step.event.record.time is not None:
            latest = max(latest, step.event.record.time)
        times.append(latest)
    following = latest
    for at in range(len(times) - 1, -1, -1):
        if past.steps[at].event is None:
            times[at] = following
        following = times[at]
    return tuple(times)


def _fill(
    lanes: dict[tuple[str, str], TimelineLane],
    past: ExecutionHistory,
    times: Sequence[int],
    runs: dict[str, ProcessRun],
    owned: dict[str, tuple[int, int]],
    span: tuple[int, int],
    styles: Mapping[str, str] | None,
) -> None:
    """Give each lane the bands of its cells, for the variables that ``_shown`` selects."""
    held = _held(past, times, span)
    shown = _shown(past) | {cell.name for cell in held if styles and cell.name.rpartition(".")[2] in styles}
    for cell, segments in held.items():
        if cell.name not in shown:
            continue
        run = runs.get(cell.element)
        key = ("node", run.node) if run is not None else (cell.set or SHARED, cell.element or SHARED)
        # Cells of other sets are shown for the whole time; those of a process only while it has the lane of its node.
        low, high = owned.get(cell.element, span)
        lane = lanes.setdefault(key, TimelineLane(*key))
        lane.bands.setdefault(cell.name, []).extend(_clipped(segments, low, high))
        short = cell.name.rpartition(".")[2]
        if (key[0] != "node" and not cell.field) if styles is None else short not in styles:
            lane.internal.add(cell.name)


def _shown(past: ExecutionHistory) -> set[str]:
    """Of each set, and of what is in no set, the variables that change at all; the steadiest, if there are many."""
    changes: dict[str, Counter[str]] = {}
    for step in past.steps:
        for change in step.changes:
            changes.setdefault(change.cell.set, Counter())[change.cell.name] += 1
    # `most_common` sorts falling, so its last ones are those that change least.
    return {name for counts in changes.values() for name, _ in counts.most_common()[: -MOST_BANDS - 1 : -1]}


def _held(past: ExecutionHistory, times: Sequence[int], span: tuple[int, int]) -> dict[Cell, list[Segment]]:
    """What each cell held, and from when to when."""
    begin, end = span
    held: dict[Cell, list[Segment]] = {cell: [] for cell in past.initial}
    current = {cell: (begin, value) for cell, value in past.initial.items()}
    for step, time in zip(past.steps, times, strict=True):
        for change in step.changes:
            since, value = current.get(change.cell, (begin, change.before))
            # Values that lasted no time are no bands: several steps have the time of one line.
            if time > since:
                held.setdefault(change.cell, []).append(Segment(since, time, value))
            current[change.cell] = (time, change.after)
    for cell, (since, value) in current.items():
        held.setdefault(cell, []).append(Segment(since, end, value))
    return held


def _clipped(segments: Iterable[Segment], low: int, high: int) -> list[Segment]:
    cut = (Segment(max(low, each.begin), min(high, each.end), each.value) for each in segments)
    return [each for each in cut if each.begin < each.end]
