"""A search by levels that writes checkpoints, and goes on from one."""

from __future__ import annotations

import time
from abc import abstractmethod

from assay.checker.explicit.checkpoint import Checkpoint, Saved
from assay.checker.explicit.engine_search import EngineSearch
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.counters import COUNTED, SearchCounters
from assay.checker.explicit.expansion.parallel_round import Rounds
from assay.checker.explicit.findings import SearchFindings
from assay.checker.explicit.store.hash_table import StateKeys
from assay.checker.explicit.store.levels import Levels
from assay.checker.explicit.store.row_store import RowStore
from assay.checker.explicit.visited_set import VisitedSet
from assay.checker.interpreter.compiled_model import Model
from assay.checker.options import SearchOptions
from assay.checker.search_interface.protocols import Stopped
from assay.checker.symmetry.reduction import Reduction


class CheckpointedSearch(EngineSearch):
    """Keeps what a checkpoint holds: the levels, how far the last one is expanded (``_place``), counts and findings."""

    compiled: Compiled
    levels: Levels
    rows: RowStore
    findings: SearchFindings
    tally: SearchCounters
    seen: VisitedSet
    _rounds: Rounds

    def __init__(self, model: Model, options: SearchOptions, reduction: Reduction | None = None) -> None:
        super().__init__(model, options, reduction)
        self._checkpoint: Checkpoint | None = None
        self._place = 0
        self._searched = self._earlier = 0.0
        self._saved_at = time.monotonic()
        self._begun = False
        """Whether the initial states are known, and a checkpoint, if there is one, speaks of them."""

    @abstractmethod
    def _new_levels(self) -> Levels:
        """Levels without states."""

    @property
    @abstractmethod
    def _search_seconds(self) -> float:
        """The time that the search itself has taken."""

    def _open_checkpoint(self) -> Checkpoint | None:
        chosen = self.options
        if chosen.checkpoint is None:
            return None
        checkpoint = Checkpoint(chosen.checkpoint, self.compiled.identity, resume=chosen.resume)
        checkpoint.require_choice(chosen.fingerprints)
        return checkpoint

    def _begin_checkpoint(self) -> None:
        """Go on from a checkpoint, or begin one."""
        if self._checkpoint is None:
            return
        if self._checkpoint.saved is not None:
            self._restore(self._checkpoint, self._checkpoint.saved)
            return
        try:
            self.levels.settle(self._checkpoint.folder)
        except OSError as error:
            raise Stopped(self._not_written(error)) from None
        self._save()

    def _restore(self, checkpoint: Checkpoint, saved: Saved) -> None:
        fresh, self.levels = self.levels, self._new_levels()
        checkpoint.restore(self.levels, saved, list(fresh.every_row()))
        fresh.close()
        self.rows.levels = self._rounds.levels = self.levels
        self.seen.use(StateKeys(saved.keys))
        for name in COUNTED:
            getattr(self.tally, name)[:] = saved.tallies[name]
        for event in saved.events:
            self.findings.note(event)
        self.generated, self._place, self.depth = saved.generated, saved.place, len(saved.counts)
        self._earlier, self._searched = saved.seconds, saved.searched

    def _save(self) -> None:
        """Write a checkpoint, if one is wanted; a search that cannot write it ends."""
        if self._checkpoint is None:
            return
        try:
            self._checkpoint.save(self._progress_made(), self.levels)
        except OSError as error:
            raise Stopped(f"the checkpoint could not be written: {error}") from None
        self._saved_at = time.monotonic()

    def _keep_checkpoint(self) -> None:
        """Write a last checkpoint of a search that was stopped."""
        ended = self.stopped is not None or self.up_to_depth is not None
        if ended and self._begun:
            try:
                self._save()
            except Stopped as problem:
                self.stopped = f"{self.stopped}; {problem}" if self.stopped else str(problem)

    def _progress_made(self) -> Saved:
        counts = {name: tuple(getattr(self.tally, name).tolist()) for name in COUNTED}
        return Saved(
            counts=tuple(self.levels.counts),
            flushed=self.levels.flushed,
            staged=self.levels.staged,
            place=self._place,
            generated=self.generated,
            keys=self.seen.keys.value,
            fingerprints=self.options.fingerprints,
            seconds=self.seconds + self._earlier,
            searched=self._search_seconds,
            events=tuple(self.findings.events),
            tallies=counts,
        )

    def _not_written(self, error: OSError) -> str:
        return f"states of level {self.depth} could not be written: {error}"
