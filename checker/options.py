"""The options of a search, and the progress that it reports while it runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from assay.grammar.lazy_dataclass import dataclass

Fingerprints = Literal["auto", "exact", "64", "96", "128"]
Order = Literal["bfs", "dfs"]


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a search: ``frontier`` states of ``level`` are still to be expanded; ``seconds`` since its start.

    ``memory`` and ``disk`` are bytes used by the process and its level files. ``load`` is the share of used slots of
    the table. Engines that do not know them report 0.
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
        """Distinct states per second, on average."""
        return self.distinct / self.seconds if self.seconds else 0.0

    @property
    def duplicates(self) -> float:
        """The share of generated states that had been seen before."""
        return 1 - self.distinct / self.generated if self.generated else 0.0


def _never() -> bool:
    return False


def _silent(_: Progress) -> None:
    return None


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The options of a search.

    ``properties`` selects by name; ``deadlock`` and scenarios have names too. None selects all. ``defined`` is always
    checked, because no other answer can be trusted without it. A search ends after the first level with a violation
    unless ``keep_going``. With ``violations`` above one, so many states or steps are reported that violate one
    property, as far as the search went. ``max_depth`` and ``max_states`` are checked between levels, ``timeout``
    (seconds) and ``interrupted`` between states. ``threads`` (None: one per processor) changes how long a search takes
    and nothing else. With ``symmetry`` one state stands for its orbit under permutations of `symmetric` elements. With
    ``reduce`` steps that no property can tell apart are left out (``partial_order``). With ``view`` a kernel that has
    one is searched without the variables that it leaves out (``results.state_view``). ``order`` is breadth-first or
    depth-first. ``started`` is when the clock of the time limit began, by ``time.monotonic`` (None: with the search): a
    command counts from its beginning.

    The native engine alone uses the rest. ``memory`` is its budget in bytes (None: a share of what is free).
    ``fingerprints`` says what identifies states: whole rows, so many bits, or rows and then bits as the states become many
    (``auto``). A checkpoint is written into the folder ``checkpoint`` every ``checkpoint_every`` seconds and at the
    end; ``resume`` continues the one that is there. A bound of ``never_cut`` ends the search when it cuts a step.
    """

    properties: frozenset[str] | None = None
    max_depth: int | None = None
    max_states: int | None = None
    timeout: float | None = None
    check_deadlock: bool = True
    keep_going: bool = False
    violations: int = 1
    symmetry: bool = False
    reduce: bool = False
    order: Order = "bfs"
    threads: int | None = None
    memory: int | None = None
    fingerprints: Fingerprints = "auto"
    view: bool = True
    checkpoint: Path | None = None
    checkpoint_every: float = 60.0
    resume: bool = False
    started: float | None = None
    never_cut: frozenset[str] = frozenset()
    progress: Callable[[Progress], None] = _silent
    interrupted: Callable[[], bool] = _never

    def over_at(self, begun: float) -> float | None:
        """When the time is over, by ``time.monotonic``, for a search that began at ``begun``; None without a limit."""
        return None if self.timeout is None else self.timeout + (begun if self.started is None else self.started)

    def selects(self, name: str) -> bool:
        """Whether the property of that name is selected."""
        return self.properties is None or name in self.properties
