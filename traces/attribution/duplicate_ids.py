"""Two processes that ran with one broker id at one time, and whose logs were put in one directory or one file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf

import numpy as np

from assay.traces.attribution.node_files import NodeFiles
from assay.traces.attribution.process_runs import certain_lines, run_starts
from assay.traces.store.packed_records import PackedRecords


def separate_processes(nodes: Iterable[NodeFiles]) -> list[NodeFiles]:
    """The nodes; where processes ran beside each other with one id, each of them is a node of its own."""
    return [part for node in nodes for part in ([node] if node.unknown else _processes(node))]


def _processes(node: NodeFiles) -> list[NodeFiles]:
    """The processes of one node that its logs tell apart."""
    # Runs are divided later; most nodes have one log with starts, and need not be asked for them here, too.
    may_start = [stream for stream, log in node.logs.items() if len(log.with_roles("process prelude", "process start"))]
    if len(may_start) < 2:
        return [node]
    starting = [stream for stream in may_start if run_starts(stream, node.logs[stream])]
    processes: list[list[str]] = []
    for stream in starting:
        fitting = (each for each in processes if not any(_are_two(node.logs, stream, other) for other in each))
        own = next(fitting, None)
        if own is None:
            processes.append(own := [])
        own.append(stream)
    if len(processes) < 2:
        return [node]
    logs: list[dict[str, PackedRecords]] = [{} for _ in processes]
    for stream, matches in node.logs.items():
        logs[_process_of(stream, matches, processes, node.logs)][stream] = matches
    names = [node.name, *(f"{node.name} ({number})" for number in range(2, len(logs) + 1))]
    return [NodeFiles(name, logs=own) for name, own in zip(names, logs, strict=True)]


def _are_two(logs: Mapping[str, PackedRecords], one: str, other: str) -> bool:
    """Whether two logs with starts are of two processes: one began while the other wrote, and no line is in both.

    A broker's standard output repeats its server.log, so that these two have lines of the same times and kinds.
    """
    if _signatures(logs[one]) & _signatures(logs[other]):
        return False
    return any(_begins_beside(new, logs[new], logs[old], old) for new, old in [(one, other), (other, one)])


def _signatures(matches: PackedRecords) -> set[tuple[int, str]]:
    """The times and kinds of the lines that a broker certainly wrote."""
    return {
        (match.record.time, each.pattern.kind)
        for match in map(matches.__getitem__, certain_lines(matches).tolist())
        for each in match.matches
        if match.record.time is not None
    }


def _begins_beside(stream: str, matches: PackedRecords, other: PackedRecords, beside: str) -> bool:
    """Whether a log begins with a start, and the process of another log runs before and after it."""
    starts = run_starts(stream, matches)
    # A log that begins in the middle of a run may be a part of the other one, rotated under another name.
    if min(matches.with_roles("process prelude", "process start")) > 0:
        return False
    begin = starts[0].time
    times = other.times[certain_lines(other)]
    # Only until the other log's next start: after that the lines are of a process that took the place of the first.
    restart = min((start.time for start in run_starts(beside, other) if start.time > begin), default=inf)
    return bool((times < begin).any() and ((begin < times) & (times < restart)).any())


def _process_of(
    stream: str, matches: PackedRecords, processes: Sequence[Sequence[str]], logs: Mapping[str, PackedRecords]
) -> int:
    """Which process wrote a log: the one that it tells the starts of, or else the one whose time holds most of its."""
    for number, streams in enumerate(processes):
        if stream in streams:
            return number
    times = matches.times

    def held(number: int) -> int:
        own = np.concatenate([logs[each].times for each in processes[number]])
        return int(((own.min() <= times) & (times <= own.max())).sum())

    # Of equal ones the first, which keeps the name of the node: so does a log that lies in the time of neither.
    return max(range(len(processes)), key=held)
