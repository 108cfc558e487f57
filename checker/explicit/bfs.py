"""Breadth-first search over packed rows: level by level, round by round, in the order in which states were found.

When it stops and what is a finding is as in the reference search, by code of the engines' own (``engine_search``,
``limits``, ``confirmed_findings``). Compiled code only says at which states and steps something is to be found first;
the finding itself is made there by the reference evaluator.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain

from assay.checker.explicit.checkpointed_search import CheckpointedSearch
from assay.checker.explicit.expansion.cancellation import halting
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.counters import new_tally
from assay.checker.explicit.expansion.narrow_levels import (
    IS_FULL,
    IS_RARE,
    IS_WIDE,
    NO_LIMIT,
    ROOM,
    NarrowLevels,
    SmallLevels,
    grown,
)
from assay.checker.explicit.expansion.parallel_round import Rounds, WorkerThreads
from assay.checker.explicit.expansion.single_states import offenders
from assay.checker.explicit.expansion.states_in_part import StatesInPart
from assay.checker.explicit.expansion.thread_buffer import Block, Counts, Starting, ThreadBuffer
from assay.checker.explicit.expansion.visited_on_disk import VisitedOnDisk
from assay.checker.explicit.findings import REFINE, STATE, TROUBLE_ROOM, SearchEvent, SearchFindings
from assay.checker.explicit.further_violations import violation_at
from assay.checker.explicit.refinement_check import Refining
from assay.checker.explicit.store.hash_table import StateTable, TableFullError
from assay.checker.explicit.store.levels import Levels
from assay.checker.explicit.store.row_store import RowStore
from assay.checker.explicit.symmetry import confirm_steps, representative
from assay.checker.explicit.visited_set import VisitedSet
from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.cancellation import heeding
from assay.checker.layout.call_frame import NEVER
from assay.checker.layout.row import Rows
from assay.checker.options import Progress, SearchOptions
from assay.checker.report import Effort, EnginesDisagreeError, State, Statistics, Step, Trace
from assay.checker.results.undo_symmetry import replayed
from assay.checker.search_interface.finding import PropertyFinding
from assay.checker.search_interface.link import Link
from assay.checker.search_interface.protocols import Stopped
from assay.checker.symmetry.reduction import Reduction

TELL_SECONDS = 0.1
"""At most so much time passes without word of the progress."""
TELL_EVERY = 256
"""Where the last states of a level, counted in such steps, are still to be expanded, there is word of the progress
too."""


class BlockSearch(CheckpointedSearch):
    """A search like the reference one, by compiled code, with all processors. ``close`` it when its states are not
    needed any more."""

    may_go_to_disk = True
    """Whether the visited set may go to disk, where duplicates are detected later than they are found."""

    def __init__(
        self, model: Model, options: SearchOptions, compiled: Compiled, reduction: Reduction | None = None
    ) -> None:
        super().__init__(model, options, reduction)
        self.compiled = compiled
        self._workers = WorkerThreads(options.threads)
        self.levels = self._new_levels()
        self.rows = RowStore(compiled.layout, model, self.levels)
        self.findings = SearchFindings(
            compiled,
            self.rows,
            self.watch,
            self._undefined,
            self._see_step,
            self._see_refined,
            deadlock=self.asks_deadlock,
        )
        self._refining = [
            Refining(at, model, compiled, self.watch.refinements[name], into)
            for at, (name, into) in enumerate(compiled.refinements)
        ]
        self.tally = new_tally(compiled)
        self._rounds = Rounds(compiled, self.levels, self._workers, self.tally.decisive, compiled.stubborn, drops=True)
        self._waiting = StatesInPart(may_ignore=compiled.stubborn is None or compiled.stubborn.may_ignore)
        # What is left out of steps depends on which states are new at once.
        late = self.may_go_to_disk and compiled.stubborn is None
        self.seen = VisitedSet(options, compiled.layout.words, self._rounds, self._new_disk if late else None)
        self._checkpoint = self._open_checkpoint()
        self._frontier = 0
        self._reported = self._cpu = 0.0
        self._searching_since: float | None = None
        self._narrow = NarrowLevels(compiled.layout.words)
        self._whole = True
        """Whether levels and counts tell of the same states: not in the midst of a change."""

    @property
    def store(self) -> RowStore:
        """The states that were found."""
        return self.rows

    @property
    def reduced(self) -> int:
        """How many states were expanded in part, under partial-order reduction."""
        return self._waiting.reduced

    def _new_levels(self) -> Levels:
        return Levels(self.compiled.layout.words, self.compiled.identity, writer=self._workers.writer)

    def _new_disk(self, table: StateTable, room: int) -> VisitedOnDisk:
        return VisitedOnDisk(
            table,
            room,
            self._rounds,
            self._workers,
            lambda kept: Levels(self.compiled.layout.words, self.compiled.identity, kept, self._workers.writer),
            (self._is_due, self._heed_limits),
            self.options.checkpoint,
        )

    def close(self) -> None:
        """Let go of threads and files."""
        self.levels.close()
        self.seen.close()
        self._workers.close()
        if self._checkpoint is not None:
            self._checkpoint.close()

    @property
    def _search_seconds(self) -> float:
        since = self._searching_since
        return self._searched + (0.0 if since is None else time.monotonic() - since)

    def statistics(self) -> Statistics:
        """The sizes of the search, with those of the searches that it resumed."""
        states, seen = len(self.rows), self.seen
        on_disk = None if seen.disk is None else seen.disk.effort
        effort = Effort(self._searched, self._cpu, seen.peak, seen.bytes, seen.load, self.levels.disk, on_disk)
        seconds = self.seconds + self._earlier
        chance = seen.collision(states) + self._waiting.collision
        return Statistics(states, self.generated, self.depth, seconds, chance, effort)

    # ---------------------------------------------------------------------------------------------- search

    def run(self) -> None:
        """Search until everything is seen, something is violated, or a limit is reached."""
        super().run()
        self._drop_waiting()
        # A search that was stopped within a change has levels and counts of different states. A checkpoint of it could
        # not be resumed.
        if self._whole:
            self.findings.look()
            self._keep_checkpoint()
        self.seen.note_peak()
        for label, hits in zip(self.compiled.hits, self.tally.hits.tolist(), strict=False):
            if hits:
                self.bounds[label] += hits
        for at, action in enumerate(self.model.steps):
            self.taken[action.node.name] += int(self.tally.taken[at])
            self.fresh[action.node.name] += int(self.tally.fresh[at])
        for (name, label), decisive in zip(self.compiled.guards, self.tally.decisive.tolist(), strict=False):
            if decisive:
                self.model.actions[name].decisive.add(label)

    def _explore(self) -> None:
        with halting(self.compiled.machine, self._is_due, self._heed_limits):
            self._find_initial()
            self._search_levels()
            self._tell()
            self._refuse_undefined()

    def _find_initial(self) -> None:
        self._list_instances()
        with heeding(self._heed_limits):
            self._list_initial()
        # States that wait for a merge have no numbers yet, and `initial` counts all initial states.
        self._merge()
        self.initial = len(self.rows)
        self.depth = 1 if self.initial else 0
        self.levels.seal()
        fresh = self.levels
        self._begin_checkpoint()
        # Levels of a checkpoint took the place of the new ones, so the table does not have their states yet.
        if self.levels is not fresh or not self.seen.filled:
            self._remember()
        self._begun = True
        self.findings.look()

    def _list_initial(self) -> None:
        starts = self.compiled.machine.starts
        if starts is None:
            self._list_by_evaluator()
            return
        starting = Starting(starts)
        self._within_budget(self.seen.fill)
        with self._timed():
            while not starting.ended:
                self._heed_limits()
                self._within_budget(self.seen.adapt)
                self._some_initial(starting)
        if starting.stuck:
            self._see_stuck_initial()
        if self.watch.refinements:
            for number, state in enumerate(self.rows.every()):
                self._heed_limits()
                self.watch.confirm_abstract_start(number, state)

    def _list_by_evaluator(self) -> None:
        """The initial states of a model whose `init` is not compiled, and what is to be found in them."""
        for initial in self._evaluate_initial():
            state = self.canonical(initial.state)
            if state not in self.rows:
                number = self.rows.add(state, -1, initial.picks)
                self.watch.confirm_state(number, state)
                self.watch.confirm_abstract_start(number, state)
        self.rows.forget_initial()

    def _some_initial(self, starting: Starting) -> None:
        lane = self._rounds.begin(starting)
        events = self._stored([lane])
        for event in events:
            self.findings.note(event)
        self.tally.hits += lane.hits
        self.generated += lane.count
        self._whole = True

    def _see_stuck_initial(self) -> None:
        stuck = self.model.init.first_stuck(self._heed_limits)
        if stuck is None:
            raise EnginesDisagreeError(
                "compiled code finds an initial state undefined, and the reference evaluator none"
            )
        self.watch.note_stuck_initial(stuck)

    def _remember(self) -> None:
        """Take all states of the levels for seen."""
        self._within_budget(lambda levels: self.seen.fill(levels, self._heed_limits))

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Count the time that passes inside as time of the search."""
        self._searching_since, cpu = time.monotonic(), time.process_time()
        try:
            yield
        finally:
            self._searched, self._searching_since = self._search_seconds, None
            self._cpu += time.process_time() - cpu

    def _search_levels(self) -> None:
        with self._timed():
            self._all_levels()

    def _all_levels(self) -> None:
        going_on = bool(self.levels.counts)
        while going_on:
            if self._begins_level:
                self._end_if_cut()
                self._end_between_levels()
            going_on = self._small_levels() if self._is_narrow() else self._whole_level()
            self._tell()

    def _end_if_cut(self) -> None:
        hit = (label for label, hits in zip(self.compiled.hits, self.tally.hits.tolist(), strict=False) if hits)
        if not self.options.never_cut.isdisjoint(hit):
            raise Stopped(f"a set has too few slots {self._here}")

    @property
    def _begins_level(self) -> bool:
        """Whether no state of the last finished level was expanded. A merge may have stored the first states of the next
        level before the round is counted that found them."""
        return self._place == 0 and self.levels.size == 0

    def _is_narrow(self) -> bool:
        """Whether the level is small, and nothing about it needs a round: then many may follow at once."""
        return (
            self._begins_level
            and self.levels.counts[-1] <= self._narrow.width
            # Levels in files are read chunk by chunk, and the narrow search reads a level as one array.
            and self.levels.in_memory
            and self.seen.disk is None
            and not self._refining
            and self.compiled.stubborn is None
        )

    def _small_levels(self) -> bool:
        """Expand levels for as long as they are small, at least one; whether there is another one."""
        self._heed_limits()
        self._within_budget(self.seen.adapt)
        lane, before, number = self._rounds.first_lane, len(self.levels.counts) - 1, self.levels.starts[-2]
        most = self.options.max_depth, self.options.max_states
        limits = (ROOM if most[0] is None else most[0] - self.depth, NO_LIMIT if most[1] is None else most[1])
        level = self.levels.chunk(before, 0).rows
        found = self._narrow.follow(
            lane, self.seen.table, self.seen.keys, level, number, limits, self.findings.marks_of(lane)
        )
        if len(found.sizes):
            self._take_over(found, lane, before)
        self.compiled.machine.refuse_halted()
        # What is rare is left to a round, which has the code for it: the level is as it was before.
        if not len(found.sizes) or found.why in {IS_RARE, IS_WIDE}:
            return self._whole_level()
        if found.why == IS_FULL:
            with suppress(TableFullError):  # then a round says what there is room for
                grown(self.seen.table)
        return int(found.sizes[-1]) > 0

    def _take_over(self, found: SmallLevels, lane: ThreadBuffer, before: int) -> None:
        """Store the levels that were found after the level ``before``, and note what is to be found in them."""
        self._whole = False
        sizes = found.sizes[found.sizes > 0]
        start = self.levels.starts[-1]
        try:
            if len(sizes):
                self.levels.add_levels(found.records, sizes)
        except OSError as error:
            raise Stopped(self._not_written(error)) from None
        self.tally.add(lane)
        self.generated += found.generated
        self.depth += len(sizes)
        self._frontier = int(found.sizes[-1])
        level = before + len(sizes) - 1
        for which, number in enumerate(lane.found_states.tolist()):
            if number != NEVER:
                place = int(found.records.parents[number - start])
                self.findings.note(SearchEvent(STATE, which, level, place, number))
        self._whole = True
        self.findings.look()

    def _whole_level(self) -> bool:
        """Expand what is left of the last finished level; whether there is another one."""
        self._level(self.levels.counts[-1])
        self._merge()
        self.findings.look()
        return self._next_level()

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
            self._within_budget(self.seen.adapt)
            started = time.perf_counter()
            self._round(count)
            self._rounds.pace(started)
            if self._checkpoint is not None and time.monotonic() - self._saved_at > self.options.checkpoint_every:
                # A checkpoint speaks of no state that waits.
                self._merge()
                self._save()
        self._expand_rest()

    def _expand_rest(self) -> None:
        """Take the steps that were left out, in those states of the level where they may not be (``StatesInPart``)."""
        turn = 0
        while self._waiting.any:
            turn += 1
            for places, rows in self._waiting.taken(self.levels):
                begin = 0
                while begin < len(rows):
                    self._heed_limits()
                    self._within_budget(self.seen.adapt)
                    begin += self._take_turn(places[begin:], rows[begin:], turn)
        self._waiting.finish_level()

    def _take_turn(self, places: Counts, rows: Rows, turn: int) -> int:
        """Take further steps in states of the level; how many of the states that was done for."""
        lane = self._rounds.expand_alone(Block(0, rows), turn)
        # These states were expanded before: what was found in them is noted, and their bounds are counted.
        lane.forget_findings()
        lane.renumber(places)
        for event in self._stored([lane]):
            self.findings.note(event)
        self.tally.add(lane)
        self._waiting.add(lane, places)
        self.generated += lane.count
        self._whole = True
        return lane.done

    def _heed_limits(self) -> None:
        super()._heed_limits()
        if self._frontier % TELL_EVERY == 1 or self.seconds - self._reported > TELL_SECONDS:
            self._tell()

    def _round(self, count: int) -> None:
        lanes = self._rounds.expand(self._place, count)
        refused = list(self._refused_steps(lanes))
        for event in (*refused, *self._stored(lanes)):
            self.findings.note(event)
        for lane in lanes:
            self.tally.add(lane)
            self._waiting.add(lane)
        self.generated += sum(lane.generated for lane in lanes)
        self._place += sum(lane.done for lane in lanes)
        self._whole = True

    def _refused_steps(self, lanes: list[ThreadBuffer]) -> Iterator[SearchEvent]:
        """The steps that are none of a refined module, or that cannot be seen there."""
        level = len(self.levels.counts) - 1
        start = self.levels.starts[level]
        for refining in self._refining:
            name, _ = self.compiled.refinements[refining.at]
            if name in self.watch.found:
                continue
            for lane in lanes:
                for each in refining.look(lane):
                    at = TROUBLE_ROOM * refining.at + each.trouble
                    yield SearchEvent(REFINE, at, level, each.source, start + each.source, each.row)

    def _stored(self, lanes: list[ThreadBuffer]) -> list[SearchEvent]:
        """Store what is new in lanes; what is to be found there and in the states that were expanded."""
        with self._storing():
            return self._store_new(lanes)

    def _store_new(self, lanes: list[ThreadBuffer]) -> list[SearchEvent]:
        if self.seen.disk is not None:
            return self._set_aside(self.seen.disk, lanes)
        try:
            new = self._rounds.insert(self.seen.table, lanes)
        except TableFullError:
            # `insert` raises before it changes anything, so the same buffers can be stored anew.
            self.seen.go_to_disk()
            return self._store_new(lanes)
        # The number of the state at position 0 of the stage.
        number = len(self.rows) - self.levels.staged
        stage, places = self._rounds.stage(lanes, new)
        found = (self.findings.collect(lane, stage, at, number + at) for lane, at in zip(lanes, places, strict=True))
        events = list(chain.from_iterable(found))
        # From here on the levels have states that the caller has not counted yet.
        self._whole = False
        self.levels.commit(int(new.sum()))
        return events

    def _within_budget(self, change: Callable[[Levels], None]) -> None:
        with self._storing():
            change(self.levels)

    def _undefined(self, number: int, state: State) -> None:
        self.watch.note_stuck(number, *self.rows.stuck(state))

    def _see_step(self, number: int, after: State) -> None:
        canonical = None if self.reduction is None else self.canonical
        confirm_steps(self.watch, self.rows, number, after, canonical)

    def _see_refined(self, number: int, state: State) -> None:
        for action, arguments, outcome in self.rows.outcomes(state):
            if isinstance(outcome, Successor):
                self.watch.confirm_abstract_step(
                    number, state, Link(action, arguments, outcome.picks).step(outcome.state)
                )

    def canonical(self, state: State) -> State:
        """The state that stands for a state in the store, by compiled code."""
        return state if self.reduction is None else representative(self.compiled, state)

    def trace(self, number: int, *more: Step) -> Trace:
        """A run to a state, and further steps after it."""
        if self.reduction is None:
            return self.rows.trace(number, *more)
        return replayed(self, self.reduction, self.rows.path(number), more)

    def offenders(self, name: str, first: int) -> Iterator[PropertyFinding]:
        """As of every engine, but looked for by compiled code; of refinements only the kinds of steps are known, not
        the steps."""
        if name in self.watch.refinements:
            return super().offenders(name, first)
        return offenders(self._violation_at, self.compiled, self.rows, name, first)

    def _violation_at(self, name: str, number: int) -> PropertyFinding | None:
        return violation_at(self.model, self.watch, name, number, self.rows[number])

    # -------------------------------------------------------------------------------------------- progress

    def _tell(self) -> None:
        self._reported = self.seconds
        self.options.progress(
            Progress(
                self.depth, len(self.rows), self.generated, self._frontier, self.seconds + self._earlier,
                memory=self.seen.note_peak(), disk=self.levels.disk + self.seen.disk_bytes, load=self.seen.load,
            )
        )  # fmt: skip
