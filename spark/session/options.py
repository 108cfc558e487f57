"""Options of a distributed search."""

from __future__ import annotations

from typing import Literal

from assay.grammar.lazy_dataclass import dataclass

Choice = Literal["auto", "direct", "shuffle"]
OUT = 30_000
"""How many states a level must have to be expanded on Spark."""


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """How a search is distributed: over how many tasks (None: as many as run at once), by which exchange, and where its
    files are.

    Without ``workdir`` they are in a temporary folder, which only a cluster on this machine can see. Levels of at least
    ``out`` states are expanded on the cluster, smaller ones in the driver. With ``resume`` the search goes on after the
    last level in the work directory.
    """

    partitions: int | None = None
    exchange: Choice = "auto"
    workdir: str | None = None
    resume: bool = False
    out: int = OUT
