"""The search whose large levels are expanded on Spark; small ones at its begin, and perhaps at its end, are expanded here.

It is the local search with another way to come from one level to the next. What is found, and when the search ends,
follows the same rules.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Protocol

import numpy as np

from assay.checker.explicit.bfs import BlockSearch
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.counters import COUNTED
from assay.checker.explicit.findings import STATE, SearchEvent
from assay.checker.explicit.shard import Kind, ShardFinding
from assay.checker.explicit.store.hash_table import StateKeys
from assay.checker.explicit.store.level_file import DamagedError
from assay.checker.explicit.store.levels import Levels, level_name
from assay.checker.explicit.visited_set import NARROW_LIMIT
from assay.checker.interpreter.compiled_model import Model
from assay.checker.layout.call_frame import NEVER
from assay.checker.layout.row import Rows
from assay.checker.options import SearchOptions
from assay.checker.report import Statistics
from assay.checker.search_interface.protocols import Stopped
from assay.checker.symmetry.reduction import Reduction
from assay.grammar.diagnostics.diagnostic import NOWHERE, Diagnostic, SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.spark.search.shared_levels import SharedLevels
from assay.spark.session.options import OUT
from assay.spark.storage.filesystem import Storage, new_name
from assay.spark.storage.manifest import NOT_RESUMED, STATES, LevelPart, Manifest, prints_of, sweep
from assay.spark.tasks.job import SECONDS, JobFailedError
from assay.spark.tasks.task import TaskReport

HOME = 10_000
"""States of a level below which it is expanded here, if starting a job is dear."""
HOME_STATES = 30_000_000
"""States that are not remembered here for the sake of small levels."""
ATTEMPTS = 5
"""How often a level is begun at least before the job is given up."""
LONGEST_WAIT = 120.0
"""Seconds after the first failure in which a level is begun again: a cluster that lost an executor needs some to have another."""
LONGEST_PAUSE = 8.0
"""Seconds between two attempts, at most; before the second there is none, and then each is twice as long."""


class Exchange(Protocol):
    """How tasks send to each other what they found."""

    @property
    def name(self) -> str:
        """What answers call it."""

    @property
    def dear(self) -> bool:
        """Whether a level has a price of its own, so that small ones are better expanded here."""

    def level(self, manifest: str, known: set[Kind], heed: Callable[[], None]) -> list[TaskReport]:
        """The level after those that a manifest names: what each task says of it; raises ``JobFailedError``."""

    def close(self) -> None:
        """Let go of what is held between levels."""


@dataclass(frozen=True, slots=True)
class SearchSite:
    """Where a search runs: how tasks exchange what they find, the work directory, the name of the code there, and where to go on.

    Levels of ``out`` states are expanded there, by tasks of the ``job`` of that name.
    """

    exchange: Exchange
    storage: Storage
    program: str
    resumed: Manifest | None = None
    out: int = OUT
    job: str = ""


class ClusterSearch(BlockSearch):
    """A search like the local one. ``distributed`` tells how many levels were expanded on Spark, ``published`` whether a later job can go on,
    ``sent`` how many records they exchanged."""

    may_go_to_disk = False

    def __init__(
        self, model: Model, options: SearchOptions, compiled: Compiled, reduction: Reduction | None, place: SearchSite
    ) -> None:
        # Before `super().__init__`, which asks `_new_levels` for the levels.
        self._at = place
        self._attempt = new_name()
        self.shared = SharedLevels(compiled, place.storage)
        self._files: dict[int, tuple[LevelPart, ...]] = {}
        self.distributed = 0
        self.published = False
        self.sent = 0
        self._task_cpu = 0.0
        # The work directory is the checkpoint of this search.
        super().__init__(model, replace(options, checkpoint=None, resume=False), compiled, reduction)

    def _new_levels(self) -> Levels:
        return self.shared

    def close(self) -> None:
        """Let go of the cluster, too, and of what its tasks wrote in vain."""
        self.let_go()
        self._sweep()
        super().close()

    def _sweep(self) -> None:
        if self._at.job:
            sweep(self._at.storage, self._at.job)

    def statistics(self) -> Statistics:
        """With what tasks took."""
        found = super().statistics()
        effort = found.effort
        return found if effort is None else replace(found, effort=replace(effort, cpu=effort.cpu + self._task_cpu))

    # ---------------------------------------------------------------------------------------------- begin

    def _begin_checkpoint(self) -> None:
        resumed = self._at.resumed
        try:
            if resumed is not None:
                sweep(self._at.storage)
                self._go_on(resumed)
            self.levels.settle(self._at.storage.writing(self._attempt))
        except OSError as error:
            raise Stopped(self._not_written(error)) from None

    def _go_on(self, manifest: Manifest) -> None:
        """Take over what an earlier job came to. Raises ``SpecError`` (E835) where it began with other states."""
        self.refines = False
        begun = [chunk.rows.tobytes() for chunk in self.shared.chunks(0)]
        self.shared.restart(manifest.levels)
        # The identity is a hash of compiled code. It says nothing about initial states that the evaluator has listed.
        if b"".join(chunk.rows.tobytes() for chunk in self.shared.chunks(0)) != b"".join(begun):
            text = f"`{self._at.storage.uri}` is of another spec: it has other initial states"
            raise SpecError([Diagnostic(NOT_RESUMED, NOWHERE, text)])
        saved = manifest.saved
        for name in COUNTED:
            getattr(self.tally, name)[:] = saved.tallies[name]
        for event in saved.events:
            self.findings.note(event)
        self.generated, self.depth = saved.generated, len(saved.counts)
        self._earlier = saved.seconds

    def _remember(self) -> None:
        if self._at.resumed is None:
            super()._remember()

    def _keep_checkpoint(self) -> None:
        """Let a later job go on, unless the search ended inside a level that was expanded here."""
        if self._place == 0 and self.levels.counts:
            try:
                self._publish()
            except OSError as error:
                self.stopped = f"{self.stopped}; {self._not_written(error)}" if self.stopped else None

    # --------------------------------------------------------------------------------------------- levels

    def _whole_level(self) -> bool:
        try:
            if self._stays():
                self._come_home()
                return super()._whole_level()
            return self._level_outside()
        except DamagedError as error:
            raise Stopped(f"the work directory cannot be used: {error}") from None
        except OSError as error:
            raise Stopped(self._not_written(error)) from None

    def _stays(self) -> bool:
        """Whether the level is expanded here."""
        size = self.levels.counts[-1]
        if self.seen.filled:
            return size < self._at.out
        # Tasks hold the states now. Small levels come back only where each job has a price, and if they fit here.
        small = min(HOME, self._at.out)
        return self._at.exchange.dear and size < small and len(self.levels) <= HOME_STATES

    def _come_home(self) -> None:
        if not self.seen.filled:
            self.shared.come_home()
            self.seen.use(self._keys())
            self._within_budget(self.seen.fill)

    def _level_outside(self) -> bool:
        self.refines = False  # tasks do not have the modules that are refined
        if self.seen.filled:
            self.shared.leave()
        if self.seen.keys is not self._keys():  # tasks that hold states under other keys are of no use
            self._at.exchange.close()
        self.seen.leave(self._keys())
        manifest = self._publish()
        outcomes = self._outcomes(manifest)
        self._whole = False  # a level whose findings could not be looked up is not complete: nobody may go on behind it
        for outcome in outcomes:
            self._count(outcome)
        source = len(self.levels.counts) - 1
        new = self._adopt(outcomes)
        self._note(outcomes, source)
        self._whole = True
        self.findings.look()
        self.distributed += 1
        if new:
            self._frontier = new
            self.depth += 1
            self._publish()
        return new > 0

    def _keys(self) -> StateKeys:
        """What tells states apart on Spark."""
        if self.options.fingerprints == "96":  # key files hold whole words
            return StateKeys.WIDE_PRINTS
        if self.options.fingerprints != "auto":
            return StateKeys(self.options.fingerprints)
        return StateKeys.WIDE_PRINTS if len(self.levels) > NARROW_LIMIT else StateKeys.PRINTS

    def heed(self) -> None:
        """Raise ``Stopped`` where somebody wants the search to end, or its time is over."""
        self._heed_limits()

    def let_go(self) -> None:
        """Let go of the cluster, so that other jobs can run there."""
        self._at.exchange.close()

    def every_state(self) -> str | None:
        """The name of a manifest of all states, which is not one to go on from. None where the search ended inside a
        level, whose states tasks cannot read.
        """
        if not self.levels.counts or (self.stopped is not None and self._place):
            return None
        name = f"{STATES}{new_name()}.json"
        self._at.storage.write(name, self._manifest().pack())
        return name

    def number(self, level: int, row: Sequence[int]) -> int:
        """The number of a state that a file of a level holds."""
        words: Rows = np.array(row, np.uint64)
        wanted = int(prints_of(self.compiled, words.reshape(1, -1))[0])
        return self.levels.starts[level] + self.shared.place_of(level, wanted, tuple(row))

    def _publish(self) -> str:
        """Let tasks, and a later job, know how far this search came; the manifest's name."""
        manifest = self._manifest()
        self._at.storage.write(manifest.name, manifest.pack())
        self.published = True
        return manifest.name

    def _manifest(self) -> Manifest:
        for level in range(len(self.levels.counts)):
            if level not in self._files:
                # Once for each level: `_own` copies the file of a level to a remote work directory.
                self._files[level] = self.shared.parts.get(level) or (self._own(level),)
        levels = tuple(self._files[level] for level in range(len(self.levels.counts)))
        saved = replace(self._progress_made(), keys=self.seen.keys.value)
        return Manifest(self.compiled.identity.hex(), self._at.program, levels, saved)

    def _own(self, level: int) -> LevelPart:
        """The file of a level that was expanded here."""
        name = f"{self._attempt}/{level_name(level)}"
        self._at.storage.keep(name)
        return LevelPart(name, count=self.levels.counts[level])

    def _outcomes(self, manifest: str) -> list[TaskReport]:
        """What tasks say of the next level, which is begun again where a job failed for no reason of its own."""
        failed: float | None = None
        for attempt in count(1):
            try:
                return self._at.exchange.level(manifest, self.findings.known, self._heed_limits)
            except JobFailedError as problem:
                failed = failed or time.monotonic()
                over = attempt >= ATTEMPTS and time.monotonic() - failed > LONGEST_WAIT
                # A problem with a code would come again; all others get attempts for as long as a cluster takes to
                # recover.
                if problem.code is not None or over:
                    raise Stopped(f"the job on Spark failed in level {self.depth}: {problem}") from None
                self._sweep()
                self._pause(0.0 if attempt == 1 else min(2.0 ** (attempt - 2), LONGEST_PAUSE))
        raise AssertionError

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            # In short steps, so that Ctrl-C and the time limit are heeded.
            time.sleep(SECONDS)
            self._heed_limits()

    def _count(self, outcome: TaskReport) -> None:
        self.generated += outcome.generated
        self.sent += outcome.records
        self._task_cpu += outcome.cpu
        self.levels.disk += outcome.disk
        tally = self.tally
        tally.hits += np.array(outcome.tally["hits"], np.uint64)
        tally.decisive |= np.array(outcome.tally["decisive"], np.int64).astype(bool)
        tally.taken += np.array(outcome.tally["taken"], np.int64)
        tally.fresh += np.array(outcome.tally["fresh"], np.int64)

    def _adopt(self, outcomes: list[TaskReport]) -> int:
        parts = tuple(
            # By owner, so that states have the same numbers whichever task was done first.
            sorted((outcome.part for outcome in outcomes if outcome.part.count), key=lambda part: part.first_owner)
        )
        new = sum(part.count for part in parts)
        if new:
            self.shared.adopt(parts)
        return new

    def _note(self, outcomes: list[TaskReport], source: int) -> None:
        """Note what is to be looked at; of each kind what was found at the state with the smallest fingerprint."""
        # Not the first that was reported: the number and speed of tasks must not show in an answer.
        best: dict[tuple[str, int], ShardFinding] = {}
        for found in (each for outcome in outcomes for each in (*outcome.sources, *outcome.states)):
            known = best.get((found.kind, found.at))
            if known is None or found.print < known.print:
                best[found.kind, found.at] = found
        for found in best.values():
            self.findings.note(self._event(found, source))

    def _event(self, found: ShardFinding, source: int) -> SearchEvent:
        """The event of a finding; what is found in states comes after what is found on the way to them."""
        level = source + 1 if found.kind == STATE else source
        number = self.levels.starts[level] + self.shared.place_of(level, found.print, found.state)
        return SearchEvent(
            found.kind, found.at, source, NEVER if found.kind == STATE else found.print, number, found.row
        )
