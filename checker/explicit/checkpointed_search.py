"""A search by levels that writes checkpoints, and goes on from one; its visited states may be on disk."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from assay.checker.explicit.checkpoint import Checkpoint, Saved
from assay.checker.explicit.engine_search import EngineSearch
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.counters import COUNTED, SearchCounters
from assay.checker.explicit.expansion.parallel_round import Rounds
from assay.checker.explicit.expansion.thread_buffer import Marks, ThreadBuffer
from assay.checker.explicit.findings import SearchEvent, SearchFindings
from assay.checker.explicit.store.hash_table import StateKeys, TableFullError
from assay.checker.explicit.store.level_file import DamagedError
from assay.checker.explicit.store.levels import Levels
from assay.checker.explicit.store.row_store import RowStore
from assay.checker.explicit.visited_set import VisitedSet
from assay.checker.interpreter.compiled_model import Model
from assay.checker.options import SearchOptions
from assay.checker.search_interface.protocols import Stopped
from assay.checker.symmetry.reduction import Reduction

if TYPE_CHECKING:
    from assay.checker.explicit.expansion.visited_on_disk import VisitedOnDisk

ON_DISK = "a breadth-first search without `--reduce`, by one process, goes on on disk"
"""What a search says that keeps its visited states in memory."""


class CheckpointedSearch(EngineSearch):
    """Keeps what a checkpoint holds: the levels, how far the last one is expanded (``_place``), counts and findings.

    Where visited states are on disk (``VisitedOnDisk``), states wait until it is known whether they are new. A
    checkpoint speaks of none of these.
    """

    compiled: Compiled
    levels: Levels
    rows: RowStore
    findings: SearchFindings
    tally: SearchCounters
    seen: VisitedSet
    _rounds: Rounds
    _whole: bool

    def __init__(self, model: Model, options: SearchOptions, reduction: Reduction | None = None) -> None:
        super().__init__(model, options, reduction)
        self._checkpoint: Checkpoint | None = None
        self._place = 0
        self._searched = self._earlier = 0.0
        self._saved_at = time.monotonic()
        self._merged: Saved | None = None
        """Where a search whose visited set is on disk was before the states were found that wait for a merge."""
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
        # All that read or write states have to move to the levels of the checkpoint.
        self.rows.levels = self._rounds.levels = self.levels
        self.seen.use(StateKeys(saved.keys))
        self._count_as(saved)
        # These say where something is to be found. The evaluator finds it there again.
        for event in saved.events:
            self.findings.note(event)
        self.depth = len(saved.counts)
        self._earlier, self._searched = saved.seconds, saved.searched

    def _note_merged(self) -> None:
        """Remember where the search is: no state waits for a merge."""
        self._merged = self._progress_made()

    def _drop_waiting(self) -> None:
        """Where states still wait for a merge, be a search that has not found them."""
        disk, merged = self.seen.disk, self._merged
        # A state that waits may be an old one, so counts since the last merge are of no known set of states.
        if disk is not None and disk.waits and merged is not None and self._whole:
            self._count_as(merged)

    def _count_as(self, saved: Saved) -> None:
        for name in COUNTED:
            getattr(self.tally, name)[:] = saved.tallies[name]
        self.generated, self._place = saved.generated, saved.place

    def _save(self) -> None:
        """Write a checkpoint, if one is wanted; a search that cannot write it ends."""
        if self._checkpoint is None:
            return
        try:
            self._checkpoint.save(self._progress_made(), self.levels)
        except OSError as error:
            raise Stopped(f"the checkpoint could not be written: {error}") from None
        # Only after a success: a checkpoint that failed ends the search, and the last one stays valid.
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

    # ------------------------------------------------------------------------------ what is visited, on disk

    @contextmanager
    def _storing(self) -> Iterator[None]:
        """Say why the search ends where states cannot be stored inside."""
        try:
            yield
        except TableFullError:
            raise Stopped(self._no_room()) from None
        except MemoryError as error:
            raise Stopped(f"there is no room for more states in level {self.depth}: {error}") from None
        except DamagedError as error:
            raise Stopped(f"the visited states on disk cannot be read in level {self.depth}: {error}") from None
        except OSError as error:  # what is missing from files is not known: no checkpoint speaks of it
            raise Stopped(self._not_written(error)) from None

    def _set_aside(self, disk: VisitedOnDisk, lanes: list[ThreadBuffer]) -> list[SearchEvent]:
        """Let what is new in lanes wait for a merge; what is to be found in the states that were expanded."""
        events = [event for lane in lanes for event in self.findings.collect_expanded(lane)]
        try:
            self._let_wait(disk, lanes)
        except TableFullError:
            for lane in lanes:
                self._set_one_aside(disk, lane)
        # Which of the candidates are new, and so which action found them, is known at the merge (`_admit`).
        for lane in lanes:
            lane.fresh[:] = 0
        return events

    def _set_one_aside(self, disk: VisitedOnDisk, lane: ThreadBuffer) -> None:
        # In this order, because a table may become a run only when nothing waits.
        for make_room in (self._merge, disk.dump):
            try:
                self._let_wait(disk, [lane])
            except TableFullError:
                make_room()
            else:
                return
        self._let_wait(disk, [lane])

    def _let_wait(self, disk: VisitedOnDisk, lanes: list[ThreadBuffer]) -> None:
        if not disk.waits:
            self._note_merged()
        disk.insert(lanes)

    def _merge(self) -> None:
        """Store those of the states that wait that are new, and note what is to be found in them."""
        disk = self.seen.disk
        if disk is None or not disk.waits:
            return
        with self._storing():
            # Reading the runs changes nothing. A limit that passes meanwhile leaves the search whole, and what waits is
            # dropped.
            old = disk.old(self.depth)
            self._whole = False
            self._admit(disk, old)
            disk.forget()
        self._whole = True

    def _admit(self, disk: VisitedOnDisk, old: Marks) -> None:
        """Store those of the states that wait that are not old."""
        begin, records = 0, disk.records()
        while chunks := list(islice(records, self._rounds.width)):
            self._heed_limits()
            ends = np.cumsum([len(chunk.rows) for chunk in chunks])
            marks = np.split(old[begin : begin + int(ends[-1])], ends[:-1])
            begin += int(ends[-1])
            number, all_new = len(self.levels) - self.levels.staged, 0
            for lane, stage, at, new in self._rounds.admit(chunks, marks):
                for event in self.findings.collect_new(lane, stage, at, number + at):
                    self.findings.note(event)
                self.tally.fresh += lane.fresh
                all_new += new
            self.levels.commit(all_new)

    def _no_room(self) -> str:
        remedy = "" if self.seen.may_go_to_disk else f"; {ON_DISK}"
        return f"the memory budget of {self.seen.budget / 1e6:,.0f} MB was used up {self._here}{remedy}"

    def _not_written(self, error: OSError) -> str:
        return f"states of level {self.depth} could not be written: {error}"
