"""A node of a cluster: what its logs hold, which part of it one run wrote, and what users see of it."""

from __future__ import annotations

from dataclasses import field
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.patterns.rule_files import rule_file
from assay.traces.store.record_block import Numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from assay.traces.store.matched_record import MatchedRecord
    from assay.traces.store.packed_records import PackedRecords
    from assay.traces.store.record_layouts import RecordLayout

SORTED_TIES = 5
"""From so many times on at which lines of several files stand in the order of the files, a log was merged from them."""


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """One node: its name, the broker ids that it ran with, its Kafka versions, and how many runs its logs hold."""

    name: str
    brokers: tuple[int, ...]
    versions: tuple[str, ...]
    runs: int


@dataclass(slots=True)
class NodeFiles:
    """The records of one node by log, in the order of writing; ``unknown`` if it cannot be determined which node wrote
    them.
    """

    name: str
    unknown: bool = False
    logs: dict[str, PackedRecords] = field(default_factory=dict)

    def brokers(self) -> set[int]:
        """The broker ids that the node's own lines name."""
        return set().union(*(matches.writers for matches in self.logs.values()))


class Section(NamedTuple):
    """Records of one log that one process run wrote, with their positions in the log."""

    stream: str
    positions: Numbers
    matches: PackedRecords


def logger_files(matches: PackedRecords) -> list[tuple[str, PackedRecords]]:
    """The records of a log by the file that their loggers write, as Kafka is configured, with the ending for its name."""
    files = matches.evaluate(_file_of_match, _file_of_layout, np.int64)
    return [(_files()[number][0], matches.take(files == number)) for number in np.unique(files).tolist()]


def are_merged_by_time(logs: Iterable[PackedRecords]) -> bool:
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
    for own in np.split(files, np.flatnonzero(np.diff(matches.times)) + 1):
        if own.min() != own.max():
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
