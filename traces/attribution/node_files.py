"""A node of a cluster: what its logs hold, which part of it one run wrote, and what users see of it."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple

from assay.grammar.lazy_dataclass import dataclass
from assay.traces.store.record_block import Numbers

if TYPE_CHECKING:
    from assay.traces.store.packed_records import PackedRecords


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
