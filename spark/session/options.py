"""How a search is spread over a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Choice = Literal["auto", "direct", "shuffle"]
OUT = 30_000
"""States of a level from which on it is expanded on Spark."""


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """How a search is spread: over how many tasks (None: as many as run at once), how they exchange what they find, and where files are.

    Without ``workdir`` they are in a temporary folder, which suits only a cluster on this machine. Levels of ``out`` states go to the cluster.
    With ``resume`` the search goes on from the last level in the work directory.
    """

    partitions: int | None = None
    exchange: Choice = "auto"
    workdir: str | None = None
    resume: bool = False
    out: int = OUT
