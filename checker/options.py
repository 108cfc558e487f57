"""What a search is asked to do, and what it tells while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Fingerprints = Literal["auto", "exact", "64", "128"]
Order = Literal["bfs", "dfs"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a search is: ``frontier`` states of ``level`` are still to be expanded; ``seconds`` since its start.

    ``memory`` and ``disk`` are bytes that the process and its level files take, ``load`` is the share of the table's slots that are used;
    engines that do not know them say 0.
    """

    level: int
    distinct: int
    generated: int
    frontier: int
    seconds: float
    memory: int = 0
    disk: int = 0
    load: float = 0.0

    @property
    def rate(self) -> float:
        """Distinct states a second, on the average."""
        return self.distinct / self.seconds if self.seconds else 0.0

    @property
    def duplicates(self) -> float:
        """The share of what was generated that had been seen before."""
        return 1 - self.distinct / self.generated if self.generated else 0.0


def _never() -> bool:
    return False


def _silent(_: Progress) -> None:
    return None


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Limits of a search, and whom it tells of its progress.

    ``properties`` selects by name (``deadlock`` and scenarios have names too; ``defined`` is always checked, because nothing else can be
    trusted without it); None selects all. A search ends after the first level with a violation unless ``keep_going``; with ``violations`` of
    more than one, so many states or steps are looked for that violate one property, as far as the search went. ``max_depth`` and
    ``max_states`` are looked at between levels, ``timeout`` (seconds) and ``interrupted`` between states. ``threads`` of the engines that
    use several (None: one a processor) change how long it takes and nothing else. With ``symmetry`` one state stands for all that differ from it
    by a permutation of the elements of `symmetric` parameters. ``order`` is breadth-first, or depth-first.

    The native engine alone heeds the rest. ``memory`` is its budget in bytes (None: a share of what is free). ``fingerprints`` says what
    tells states apart: whole rows, 64 or 128 bits, or one after the other as the states become many (``auto``). It writes a checkpoint
    into the folder ``checkpoint`` every ``checkpoint_every`` seconds and at the end; with ``resume`` it goes on with the one that is there.
    """

    properties: frozenset[str] | None = None
    max_depth: int | None = None
    max_states: int | None = None
    timeout: float | None = None
    check_deadlock: bool = True
    keep_going: bool = False
    violations: int = 1
    symmetry: bool = False
    order: Order = "bfs"
    threads: int | None = None
    memory: int | None = None
    fingerprints: Fingerprints = "auto"
    checkpoint: Path | None = None
    checkpoint_every: float = 60.0
    resume: bool = False
    progress: Callable[[Progress], None] = _silent
    interrupted: Callable[[], bool] = _never

    def selects(self, name: str) -> bool:
        """Whether the property of that name is to be checked."""
        return self.properties is None or name in self.properties
