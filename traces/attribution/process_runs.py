"""Which run of a node's process wrote a line.

The unit of order is the process run, not the broker id: one directory holds the runs of one process after another.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from math import inf

import numpy as np

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.attribution.node_files import NodeFiles, Section
from assay.traces.event import Field, ProcessRun
from assay.traces.store.packed_records import PackedRecords
from assay.traces.store.record_block import Numbers

_AT_WORK = frozenset({"process running", "session start", "registration", "process end"})
"""The roles of lines that a process writes once its prelude is over."""
LONGEST_PRELUDE_MS = 20_000
"""For no longer than this (milliseconds) a process writes lines of its prelude: 3,200 at most in 21 recordings."""
QUIET_AFTER_END_MS = 5_000
"""This long (milliseconds) after it has logged its end, a process writes nothing more."""


@dataclass(frozen=True, slots=True)
class RunStart:
    """The beginning of a process run, or the first line of a run without one."""

    time: int
    stream: str
    position: int


class RunSplitter:
    """Divides a node's records into process runs: by position in the log that holds the start banners, by time in the
    others.
    """

    def __init__(self, node: NodeFiles) -> None:
        logged = [start for stream, matches in node.logs.items() for start in run_starts(stream, matches)]
        own = {stream: certain_lines(matches) for stream, matches in node.logs.items()}
        inferred = _inferred_starts(node, own, sorted(start.time for start in logged))
        if logged:  # where no start was read at all, runs are told apart by nothing, and are supposed to be one
            inferred |= _repeated_threads(node, sorted(start.time for start in (*logged, *inferred)))
        # The stream and the position break ties, so that runs have the same numbers in whatever order files are read.
        self._starts = sorted([*logged, *inferred], key=lambda start: (start.time, start.stream, start.position))
        self._times = np.array([start.time for start in self._starts], np.int64)
        self._local: dict[str, list[tuple[int, int]]] = {start.stream: [] for start in logged}
        for number, start in enumerate(self._starts, 1):
            # A banner divides its own log by position. An inferred start has no line of its own, and divides all by
            # time.
            for stream in self._local if start in inferred else (start.stream,):
                self._local[stream].append((_place(start, stream, node.logs[stream]), number))
        self._node = node
        self._known: dict[str, tuple[list[int], list[int]]] = {}
        self._before = {stream: self._starts_before(stream, matches) for stream, matches in node.logs.items()}
        # A line that a broker certainly wrote before the first start is of a run whose start was not read. That run is
        # number 1 then, and all others come one later.
        began_before = self._starts and any((self._before[stream][at] == 0).any() for stream, at in own.items())
        self._earlier = 1 if began_before else 0

    @property
    def count(self) -> int:
        """How many runs the node's logs hold."""
        return max(1, len(self._starts) + self._earlier)

    def divided(self) -> dict[ProcessRun, list[Section]]:
        """The records of each run, log by log in the order of writing."""
        found: dict[int, list[Section]] = {}
        for stream, matches in self._node.logs.items():
            # Lines before the first start, none of them certain, go to the first run: up to Kafka 0.11 they are its
            # settings.
            numbers = np.maximum(1, self._before[stream] + self._earlier)
            for positions in _positions_by_number(numbers):
                own = matches if len(positions) == len(matches) else matches.take(positions)
                found.setdefault(int(numbers[positions[0]]), []).append(Section(stream, positions, own))
        return {ProcessRun(self._node.name, number): sections for number, sections in found.items()}

    def _starts_before(self, stream: str, matches: PackedRecords) -> Numbers:
        """How many runs have started at or before each record of a log."""
        if not self._starts:
            return np.zeros(len(matches), np.int64)
        local = self._local.get(stream)
        if local is None:
            return np.searchsorted(self._times, matches.times, side="right").astype(np.int64)
        # An inferred start may lie out of order among the banners of a log; the running maximum keeps positions sorted.
        positions, numbers = np.maximum.accumulate(np.array(local, np.int64)).T
        at = np.searchsorted(positions, np.arange(len(matches)), side="right")
        last = np.minimum(self._continued(stream, matches), np.append(numbers, len(self._starts) + 1)[at] - 1)
        found: Numbers = np.where(at > 0, np.maximum(numbers[at - 1], last), last)
        return found

    def _continued(self, stream: str, matches: PackedRecords) -> Numbers:
        """The last run that had begun by each record, in this log or in one that does not tell how it ended.

        Between two banners of its own a log may go on in a run that began in another one. Parts of a rotated file do so
        if they were joined in a wrong order.
        """
        numbered = list(enumerate(self._starts, 1))
        known = [(each.time, n) for n, each in numbered if each.stream == stream or not self._has_ended(each)]
        times, numbers = np.array([(0, 0), *known], np.int64).T
        found: Numbers = numbers[np.maximum(1, np.searchsorted(times, matches.times, side="right")) - 1]
        return found

    def _has_ended(self, start: RunStart) -> bool:
        """Whether the log in which a run began tells that it ended."""
        begins, ends = self._begins_and_ends(start.stream)
        at, first = bisect_right(begins, start.time), bisect_left(ends, start.time)
        return first < len(ends) and ends[first] < (begins[at] if at < len(begins) else inf)

    def _begins_and_ends(self, stream: str) -> tuple[list[int], list[int]]:
        """The times, in order, at which runs began in a log, and at which it tells that they ended."""
        # Once for each log: a process that restarts all the time has thousands of both.
        if stream not in self._known:
            begins = sorted(start.time for start in self._starts if start.stream == stream)
            self._known[stream] = begins, sorted(_ends([self._node.logs[stream]]))
        return self._known[stream]


def _positions_by_number(numbers: Numbers) -> list[Numbers]:
    """The positions of each number, in order; the groups are in the order of their first positions."""
    order = np.argsort(numbers, kind="stable")
    found = np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1) if len(order) else []
    return sorted(found, key=lambda positions: int(positions[0]))


def _inferred_starts(node: NodeFiles, own: Mapping[str, Numbers], begins: Sequence[int]) -> set[RunStart]:
    """The first lines after the logged end of a process and before the next start: they belong to a run whose start was
    not read.

    ``own`` are the positions of the lines that the broker certainly wrote, log by log.
    """
    found: set[RunStart] = set()
    ends = _ends(node.logs.values())
    times = {stream: node.logs[stream].times[positions] for stream, positions in own.items()} if ends else {}
    for end in ends:
        # Lines behind the next banner are of the run that it begins, not of one whose start was not read.
        next_ = bisect_right(begins, end)
        until = begins[next_] if next_ < len(begins) else inf
        first = [
            RunStart(int(times[stream][at[0]]), stream, int(positions[at[0]]))
            for stream, positions in own.items()
            if len(at := np.flatnonzero((times[stream] > end + QUIET_AFTER_END_MS) & (times[stream] < until)))
        ]
        found |= {min(first, key=lambda start: start.time)} if first else set()
    return found


def _repeated_threads(node: NodeFiles, begins: Sequence[int]) -> set[RunStart]:
    """The beginnings of runs by lines about threads that a process starts once, where one comes again and no start was
    read since. A process opens its session before it starts them.
    """
    opened: dict[Field, RunStart] = {}
    for stream, matches in node.logs.items():
        for at in matches.with_roles("session start"):
            start = RunStart(matches[at].record.time or 0, stream, at)
            for session in {each.fields.get("session") for each in matches[at].matches}:
                opened[session] = min(start, opened.get(session, start), key=lambda each: each.time)
    found: set[RunStart] = set()
    for stream, matches in node.logs.items():
        last: dict[str, int] = {}
        for position in matches.with_roles("process thread"):
            record = matches[position].record
            before, last[record.message] = last.get(record.message), record.time or 0
            if before is not None and record.time and bisect_right(begins, before) == bisect_right(begins, record.time):
                thread = RunStart(record.time, stream, position)
                own = (each for each in opened.values() if before < each.time <= record.time)
                found.add(max(own, key=lambda each: each.time, default=thread))
    return found


def certain_lines(matches: PackedRecords) -> Numbers:
    """The positions of the lines that a broker certainly wrote while it ran: those that name it, or a session that
    begins.

    Up to Kafka 0.11 a process logs its configuration before its start banner, so that a configuration is no evidence.
    """
    own = matches.names_writer
    # `names_writer` is a new array at each read, so it may be changed here.
    own[matches.with_roles("session start")] = True
    own[matches.with_roles("configuration")] = False
    return np.flatnonzero(own)


def _ends(logs: Iterable[PackedRecords]) -> set[int]:
    """The times at which processes reported their end in some logs."""
    logged = (matches[at] for matches in logs for at in matches.with_roles("process end"))
    return {match.record.time for match in logged if match.record.time is not None}


def _place(start: RunStart, stream: str, matches: PackedRecords) -> int:
    """The position in a log at which a run begins."""
    if stream == start.stream:
        return start.position
    # By time, because the start is a line of another log. Lines of the same millisecond count as after it.
    later = np.flatnonzero(matches.times >= start.time)
    return int(later[0]) if len(later) else len(matches)


def run_starts(stream: str, matches: PackedRecords) -> list[RunStart]:
    """The beginnings of runs in one log: a start banner, or the prelude before it.

    Lines of a prelude may come more than once before the process is running. After that, or long after the first of
    them, a prelude is that of another process, whereas the banner may come late.
    """
    found: list[RunStart] = []
    in_prelude = announced = False
    for position in matches.with_roles():
        match = matches[position]
        prelude, banner = "process prelude" in match.roles, "process start" in match.roles
        # Where lines were left out, none may tell that the process of the last prelude ran.
        if prelude and found and (match.record.time or 0) > found[-1].time + LONGEST_PRELUDE_MS:
            in_prelude = False
        # A run begins with its prelude; the banner that follows (`starting (kafka.server.KafkaServer)`) is the same
        # start.
        begins = (prelude and not in_prelude) or (banner and not announced)
        if begins and match.record.time is not None:
            found.append(RunStart(match.record.time, stream, position))
        # From here on: has a prelude been read whose banner has not?
        announced = prelude or (announced and not banner)
        in_prelude = announced and (prelude or (in_prelude and _AT_WORK.isdisjoint(match.roles)))
    return found
