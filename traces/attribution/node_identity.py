"""Which node wrote a line.

A node is a directory, or what the lines name where one directory holds several brokers. What cannot be determined stays
unknown; nothing is guessed from the line before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, pairwise

import numpy as np

from assay.traces.attribution.colocated_zookeeper import separate_servers, shared_log_notices
from assay.traces.attribution.inferred_writers import inferred_writers, named_in_prefix, needs_writer
from assay.traces.attribution.node_files import NodeFiles
from assay.traces.attribution.outlier_broker_ids import without_outliers
from assay.traces.event import LogPosition, Notice
from assay.traces.input.file_contents import FileReading
from assay.traces.input.rotation import logs_in_sequence
from assay.traces.patterns.rule_files import rule_file
from assay.traces.store.matched_record import MatchedRecord
from assay.traces.store.packed_records import NEVER, PackedRecords, concatenate
from assay.traces.store.record_layouts import RecordLayout

FILE_BOUNDARY_MS = 5_000
"""If times go back by more than this (milliseconds), another file begins; lines that several processes write in turns
are closer together.
"""


SORTED_TIES = 5
"""From so many times on at which lines of several files stand in the order of the files, a log was merged from them."""

NAMED_FIRST = 200
"""In so many records of a log without a writer it is looked for the nodes that wrote it."""


def node_names(folders: Iterable[str]) -> dict[str, str]:
    """A name for every folder: as many of its last parts as distinguish it from the others."""
    parts = {folder: tuple(part for part in folder.split("/") if part not in {"", "."}) for folder in folders}
    names: dict[str, str] = {}
    for folder, own in parts.items():
        others = [theirs for other, theirs in parts.items() if other != folder]
        # The last parts, for the first ones are where somebody unpacked the logs.
        # `b1/logs` and `b2/logs` are told apart by two parts. `node` is what a folder without parts is called.
        length = next((n for n in range(1, len(own)) if all(own[-n:] != theirs[-n:] for theirs in others)), len(own))
        names[folder] = "/".join(own[-length:]) or "node"
    return names


def group_by_node(readings: Sequence[FileReading], notices: list[Notice]) -> list[NodeFiles]:
    """The logs of each node. A folder with the lines of several brokers is divided by the ids that the lines name."""
    by_folder: dict[str, list[FileReading]] = {}
    for reading in readings:
        if reading.is_log:
            by_folder.setdefault(reading.origin.folder, []).append(reading)
    _join_containers(by_folder)
    alone = sum(map(len, by_folder.values())) == 1
    names = node_names(by_folder)
    nodes: dict[str, NodeFiles] = {}
    merged = _are_merged_by_time(each.matches for readings in by_folder.values() for each in readings)
    for folder, name in names.items():
        members = logs_in_sequence(by_folder[folder])
        rows = {
            stream: without_outliers(concatenate([reading.matches for reading in parts]), notices)
            for stream, parts in members.items()
        }
        rows, others = separate_servers(rows)
        for stream in rows:
            if any(stream in server_logs for server_logs in others.values()):
                notices += shared_log_notices(members[stream])
        writers = {stream: matches.writers or _named_first(matches) for stream, matches in rows.items()}
        # Lines name their writers only now and then. A log without any is of the one broker that the folder has; with
        # several brokers that cannot be known.
        mixed = len(set().union(*writers.values())) > 1
        for stream, matches in rows.items():
            own, parts = writers[stream], members[stream]
            if mixed and len(own) > 1:
                _split_by_broker(stream, matches, name, nodes, notices)
                continue
            if mixed and not own:
                text = "several brokers have files here, and no line of this one names its broker"
                notices.append(Notice("node unknown", LogPosition(parts[0].file, 1, 0), text))
            label = f"{name}/{min(own)}" if mixed and own else name
            if alone and len(own) == 1 and not any(map(str.isdigit, name)):
                label = f"broker {min(own)}"  # of one file alone the folder names no node
            node = nodes.setdefault(label, NodeFiles(label, unknown=mixed and not own))
            files = _logger_files(matches) if merged else [("", matches)]
            node.logs.update((stream + ending, part) for ending, part in files)
        for server, server_logs in others.items():
            nodes[f"{name}/{server}"] = NodeFiles(f"{name}/{server}", logs=server_logs)
    return list(nodes.values())


def _join_containers(by_folder: dict[str, list[FileReading]]) -> None:
    """Add what one container wrote, as prefixes of its lines say, to the files beside it where both name one broker.

    A directory may hold what docker printed of a broker and the broker's own files: that is one process, not two.
    """
    containers: dict[str, list[str]] = {}
    for folder, readings in by_folder.items():
        if all(each.origin.part for each in readings):
            containers.setdefault(folder.rpartition("/")[0], []).append(folder)
    for beside, folders in containers.items():
        if len(folders) == 1 and beside in by_folder:
            own, others = _writers(by_folder[folders[0]]), _writers(by_folder[beside])
            if own == others and len(own) == 1:
                by_folder[beside] += by_folder.pop(folders[0])


def _writers(readings: Sequence[FileReading]) -> set[int]:
    """The broker ids that files name as their writers."""
    return set().union(*(each.matches.writers for each in readings))


def _split_by_broker(
    stream: str, matches: PackedRecords, name: str, nodes: dict[str, NodeFiles], notices: list[Notice]
) -> None:
    """Distribute the records of a log that several brokers wrote to the nodes that they name."""
    pieces = _concatenated_files(matches)
    if pieces:
        for number, piece in enumerate(pieces, 1):
            own = piece.writers
            label = f"{name}/{min(own)}" if own else f"{name}/?"
            node = nodes.setdefault(label, NodeFiles(label, unknown=not own))
            node.logs[f"{stream}, part {number}"] = piece
        text = f"{len(pieces)} files of several brokers were put one behind another in this one"
        notices.append(Notice("joined files", LogPosition(matches[0].record.place.file, 1, 0), text))
        return
    # No concatenation, so that brokers wrote in turns, as into one standard output.
    ids = [match.writers or named_in_prefix(match.record.message) for match in matches]
    inferred = inferred_writers(matches, ids)
    own_ids = [own or frozenset({inferred[at]} if at in inferred else ()) for at, own in enumerate(ids)]
    labels = [f"{name}/{min(own)}" if len(own) == 1 else f"{name}/?" for own in own_ids]
    # Who merged files by time had no order for lines of one time in different files of one broker.
    for label in dict.fromkeys(labels):
        node = nodes.setdefault(label, NodeFiles(label, unknown=label == f"{name}/?"))
        for ending, part in _logger_files(matches.take(np.array([each == label for each in labels]))):
            node.logs[stream + ending] = part
    unknown = sum(len(own) != 1 and needs_writer(matches[at]) for at, own in enumerate(own_ids))
    text = "several brokers wrote this file"
    text += f"; for {unknown:,} of its records it cannot be told which" if unknown else ""
    kind = "interleaved nodes" if unknown else "merged nodes"
    notices.append(Notice(kind, LogPosition(matches[0].record.place.file, 1, 0), text))


def _named_first(matches: PackedRecords) -> set[int]:
    """The ids with which a log's first lines begin, if these are several: not all nodes are brokers."""
    found = set[int]().union(*(named_in_prefix(match.record.message) for match in matches[:NAMED_FIRST]))
    return found if len(found) > 1 else set()


def _concatenated_files(matches: PackedRecords) -> list[PackedRecords]:
    """The files of which this one is a concatenation; empty where brokers wrote in turns.

    In a concatenation each file begins long before the previous one ends, and names at most one broker. Lines that
    several brokers write in turns satisfy neither.
    """
    times = matches.times
    if NEVER in times:
        return []
    cuts = [0, *(np.flatnonzero(times[1:] < times[:-1] - FILE_BOUNDARY_MS) + 1).tolist(), len(matches)]
    pieces = [matches[start:end] for start, end in pairwise(cuts)]
    return pieces if len(pieces) > 1 and all(len(piece.writers) <= 1 for piece in pieces) else []


def _logger_files(matches: PackedRecords) -> list[tuple[str, PackedRecords]]:
    """The records of a log by the file that their loggers write, as Kafka is configured, with the ending for its name."""
    files = matches.evaluate(_file_of_match, _file_of_layout, np.int64)
    return [(_files()[number][0], matches.take(files == number)) for number in np.unique(files).tolist()]


def _are_merged_by_time(logs: Iterable[PackedRecords]) -> bool:
    """Whether files of several loggers were merged to these logs: the lines of one time stand file by file.

    Whoever merged them had no order for these lines. Where a process wrote all to one output they are mixed.
    """
    ties = [order for matches in logs for order in _tied_files(matches)]
    before = {pair for order in ties for pair in combinations(order, 2)}
    return len(ties) >= SORTED_TIES and not any((other, one) in before for one, other in before)


def _tied_files(matches: PackedRecords) -> Iterator[list[int]]:
    """In which order files follow each other in the lines of one time, for each time with several."""
    files = matches.evaluate(_file_of_match, _file_of_layout, np.int64)
    if files.min(initial=0) == files.max(initial=0):
        return
    times = matches.times
    for own in np.split(files[times != NEVER], np.flatnonzero(np.diff(times[times != NEVER])) + 1):
        if len(own) and own.min() != own.max():
            yield own[np.flatnonzero(np.diff(own, prepend=-1))].tolist()


@cache
def _files() -> list[tuple[str, tuple[str, ...]]]:
    """The ending of the name, and how the names of its loggers begin, of each file; the last one has all others."""
    return [*((f", {name}", tuple(own)) for name, own in rule_file("writers.toml")["files"].items()), ("", ("",))]


def _file_of(logger: str) -> int:
    return next(at for at, (_, own) in enumerate(_files()) if logger.startswith(own))


def _file_of_match(match: MatchedRecord) -> int:
    return _file_of(match.record.logger)


def _file_of_layout(layout: RecordLayout) -> int:
    return _file_of(layout.logger)
