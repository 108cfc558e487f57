"""Breadth-first search over packed rows: level by level, round by round, in the order in which states were found.

The rules of the search (when it stops, what is a finding, how it is told) are those of the reference search. Compiled code only says at
which states and steps something is to be found first; the finding itself is made there by the reference evaluator.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from assay.checker.evaluate.model import Model
from assay.checker.explicit.checkpoint import Checkpoint, Saved
from assay.checker.explicit.findings import Findings
from assay.checker.explicit.lanes import Counts, Lane, Marks
from assay.checker.explicit.levels import Levels
from assay.checker.explicit.machine import Compiled
from assay.checker.explicit.memory import default_budget, taken
from assay.checker.explicit.orbits import representative, see_steps
from assay.checker.explicit.probe import offenders
from assay.checker.explicit.rounds import Crew, Rounds
from assay.checker.explicit.store import RowStore
from assay.checker.explicit.table import Keys, Table, TableFullError
from assay.checker.layout.row import Rows
from assay.checker.options import Progress, SearchOptions
from assay.checker.reference.bfs import Search, Stopped
from assay.checker.reference.watch import Finding
from assay.checker.symmetry.reduction import Reduction
from assay.checker.verdict import Effort, State, Statistics
from assay.grammar.diagnostics import NOWHERE, Diagnostic, SpecError

EXACT_BYTES = 48 << 20
"""Whole rows are compared while rows and fingerprints together take no more: 2,097,152 states of two words."""
NARROW_LIMIT = 100_000_000
"""Beyond this many states, fingerprints of 64 bits are too likely to collide."""
OWN = 64 << 20
"""Bytes of the budget that are kept for all but the table."""
TOO_LITTLE = "E821"
LEAST = 16 << 20
"""Bytes without which a table is not worth beginning."""
TELL_SECONDS = 0.1


@dataclass(slots=True)
class Tally:
    """Counts of a search, by position in the arrays of compiled code."""

    hits: Rows
    decisive: Marks
    taken: Counts
    fresh: Counts

    def add(self, lane: Lane) -> None:
        """Add what a lane counted."""
        self.hits += lane.hits
        self.decisive |= lane.decisive
        self.taken += lane.taken
        self.fresh += lane.fresh


COUNTED = tuple(field.name for field in fields(Tally))


def new_tally(compiled: Compiled) -> Tally:
    """Nothing counted yet."""
    hits, guards, actions = (max(1, n) for n in (len(compiled.hits), len(compiled.guards), compiled.actions))
    return Tally(
        np.zeros(hits, np.uint64), np.zeros(guards, np.uint8), np.zeros(actions, np.int64), np.zeros(actions, np.int64)
    )


class BlockSearch(Search):
    """A search like the reference one, by compiled code, with all processors. ``close`` it when its states are not needed any more."""

    def __init__(
        self, model: Model, options: SearchOptions, compiled: Compiled, reduction: Reduction | None = None
    ) -> None:
        super().__init__(model, options, reduction)
        self.compiled = compiled
        self._crew = Crew(options.threads)
        self.levels = Levels(compiled.layout.words, compiled.identity, writer=self._crew.writer)
        self.rows = RowStore(compiled.layout, model, self.levels)
        self.store = self.rows  # type: ignore[assignment]
        self.findings = Findings(
            compiled, self.rows, self.watch, self._undefined, self._see_step, deadlock=self._deadlock
        )
        self.tally = new_tally(compiled)
        self.keys = Keys.ROWS if options.fingerprints == "auto" else Keys(options.fingerprints)
        self._checkpoint = self._open_checkpoint()
        self.peak = self._base = taken()
        self._budget = options.memory or default_budget()
        self._rounds = Rounds(compiled, self.levels, self._crew, self.keys, self.tally.decisive)
        self._table: Table | None = None
        self._place = 0
        self._told = 0.0
        self._searched = 0.0
        self._saved_at = time.monotonic()
        self._whole = True
        """Whether levels and counts tell of the same states: not in the midst of a change."""
        self._require_room()

    def close(self) -> None:
        """Let go of threads and files."""
        self.levels.close()
        self._crew.close()
        if self._checkpoint is not None:
            self._checkpoint.close()

    # ----------------------------------------------------------------------------------------------- sizes

    @property
    def collision(self) -> float:
        """An upper bound of the probability that two states were taken for one."""
        n, chosen = len(self.rows), self.options.fingerprints
        if chosen == "exact" or (chosen == "auto" and self._is_exact_enough()):
            return 0.0
        narrow = {"auto": min(n, NARROW_LIMIT), "64": n}.get(chosen, 0)
        return narrow * narrow / 2.0**65 + n * n / 2.0**129

    def statistics(self) -> Statistics:
        """The sizes of the search."""
        table = self._table
        effort = Effort(
            self._searched, self.peak, table.bytes if table else 0, table.load if table else 0.0, self.levels.disk
        )
        return Statistics(len(self.rows), self.generated, self.depth, self.seconds, self.collision, effort)

    def _is_exact_enough(self) -> bool:
        size = len(self.rows) * Keys.ROWS.words(self.compiled.layout.words) * 8
        return size <= min(EXACT_BYTES, self._room() // 4)

    def _room(self) -> int:
        """Bytes of the budget that are left for the table."""
        return self._budget - self._base - OWN - self._rounds.arena.nbytes

    # ---------------------------------------------------------------------------------------------- search

    def run(self) -> None:
        """Search until everything is seen, something is violated, or a limit is reached."""
        super().run()
        self.findings.look()
        self._keep_checkpoint()
        self._note_peak()
        for label, hits in zip(self.compiled.hits, self.tally.hits.tolist(), strict=False):
            if hits:
                self.bounds[label] += hits
        for at, action in enumerate(self.model.steps):
            self.taken[action.node.name] += int(self.tally.taken[at])
            self.fresh[action.node.name] += int(self.tally.fresh[at])
        for (name, label), decisive in zip(self.compiled.guards, self.tally.decisive.tolist(), strict=False):
            if decisive:
                self.model.actions[name].decisive.add(label)

    def _find_initial(self) -> None:
        super()._find_initial()
        self.rows.forget_initial()
        self.levels.seal()
        self._begin_checkpoint()
        self._fill_table()
        self.findings.look()

    def _levels(self) -> None:
        started = time.monotonic()
        try:
            self._all_levels()
        finally:
            self._searched += time.monotonic() - started

    def _all_levels(self) -> None:
        going_on = bool(self.levels.counts)
        while going_on:
            if self._place == 0:
                self._decide_to_stop()
            self._level(self.levels.counts[-1])
            self.findings.look()
            going_on = self._next_level()
            self._tell()

    def _next_level(self) -> bool:
        """Finish the level that was being written; whether there is anything in it."""
        self._whole = False
        try:
            self._frontier = self.levels.seal()
        except OSError as error:
            raise Stopped(self._not_written(error)) from None
        if self._frontier:
            self._place = 0
            self.depth += 1
        self._whole = True
        return self._frontier > 0

    def _level(self, count: int) -> None:
        while self._place < count:
            self._frontier = count - self._place
            self._heed_limits()
            self._change_keys()
            started = time.perf_counter()
            self._round(count)
            self._rounds.pace(started)
            if time.monotonic() - self._saved_at > self.options.checkpoint_every:
                self._save()

    def _heed_limits(self) -> None:
        super()._heed_limits()
        if self.seconds - self._told > TELL_SECONDS:
            self._tell()

    def _round(self, count: int) -> None:
        lanes = self._rounds.expand(self._place, count)
        try:
            new = self._rounds.insert(self._seen, lanes)
            number = len(self.rows) - self.levels.staged
            stage, places = self._rounds.stage(lanes, new)
            for lane, at in zip(lanes, places, strict=True):
                self.findings.collect(lane, stage, at, number + at)
            self._whole = False
            self.levels.commit(int(new.sum()))
        except TableFullError:
            raise Stopped(self._no_room()) from None
        except MemoryError as error:
            raise Stopped(f"there is no room for more states in level {self.depth}: {error}") from None
        except OSError as error:  # what is missing from files is not known: no checkpoint speaks of it
            raise Stopped(self._not_written(error)) from None
        for lane in lanes:
            self.tally.add(lane)
        self.generated += sum(lane.count for lane in lanes)
        self._place += sum(lane.done for lane in lanes)
        self._whole = True

    def _undefined(self, number: int, state: State) -> None:
        self._stuck(number, *self.rows.stuck(state))

    def _see_step(self, number: int, after: State) -> None:
        see_steps(self, self.rows, number, after)

    def canonical(self, state: State) -> State:
        """The state that stands for a state in the store, by compiled code."""
        return state if self.reduction is None else representative(self.compiled, state)

    def offenders(self, name: str, first: int) -> Iterator[Finding]:
        """As in the reference search, looked for by compiled code."""
        return offenders(self, self.compiled, self.rows, name, first)

    # ------------------------------------------------------------------------------------------ checkpoint

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
        words, identity = self.compiled.layout.words, self.compiled.identity
        fresh, self.levels = self.levels, Levels(words, identity, writer=self._crew.writer)
        checkpoint.restore(self.levels, saved, list(fresh.every_row()))
        fresh.close()
        self.rows.levels = self._rounds.levels = self.levels
        self._use(Keys(saved.keys))
        for name in COUNTED:
            getattr(self.tally, name)[:] = saved.tallies[name]
        for event in saved.events:
            self.findings.note(event)
        self.generated, self._place, self.depth = saved.generated, saved.place, len(saved.counts)
        self._start -= saved.seconds

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
        if ended and self._whole and self._table is not None:
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
            keys=self.keys.value,
            fingerprints=self.options.fingerprints,
            seconds=self.seconds,
            events=tuple(self.findings.events),
            tallies=counts,
        )

    def _not_written(self, error: OSError) -> str:
        return f"states of level {self.depth} could not be written: {error}"

    # ----------------------------------------------------------------------------------------------- table

    def _require_room(self) -> None:
        """Raise ``SpecError`` if the budget that somebody chose is too small to begin with."""
        if self.options.memory is not None and self._room() < LEAST:
            least = self._budget - self._room() + LEAST
            text = f"a search of this spec needs a memory budget of {least / 1e6:,.0f} MB at least"
            self.close()
            raise SpecError([Diagnostic(TOO_LITTLE, NOWHERE, text)])

    @property
    def _seen(self) -> Table:
        assert self._table is not None
        return self._table

    def _no_room(self) -> str:
        return f"the memory budget of {self._budget >> 20:,} MB was used up in level {self.depth}"

    def _fill_table(self) -> None:
        """Make the table anew, from the rows of all levels."""
        self._table = None
        self.levels.bits = self.keys.bits
        try:
            self._table = Table(self.keys.words(self.compiled.layout.words), self._room())
            self._rounds.refill(self._table, self.levels.every_row())
        except TableFullError:
            raise Stopped(self._no_room()) from None

    def _change_keys(self) -> None:
        """Go over to fingerprints where rows take too much, and to longer ones where short ones would collide."""
        if self.options.fingerprints != "auto":
            return
        if self.keys is Keys.ROWS and not self._is_exact_enough():
            self._use(Keys.PRINTS)
            try:
                self._table = self._rounds.narrowed(self._seen, self._room())
            except TableFullError:
                raise Stopped(self._no_room()) from None
        elif self.keys is Keys.PRINTS and len(self.rows) > NARROW_LIMIT:
            self._use(Keys.WIDE_PRINTS)
            self._fill_table()

    def _use(self, keys: Keys) -> None:
        self.keys = keys
        self.levels.bits = keys.bits
        self._rounds.use(keys)

    # -------------------------------------------------------------------------------------------- progress

    def _note_peak(self) -> int:
        now = taken()
        self.peak = max(self.peak, now)
        return now

    def _tell(self) -> None:
        self._told = self.seconds
        self.options.progress(
            Progress(
                self.depth, len(self.rows), self.generated, self._frontier, self.seconds,
                memory=self._note_peak(), disk=self.levels.disk, load=self._table.load if self._table else 0.0,
            )
        )  # fmt: skip
