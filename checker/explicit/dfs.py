"""Depth-first search by compiled code: the newest states are expanded first, some at a time.

Of the states only fingerprints are remembered, or whole rows while they are few. On a stack are those on the way to
what is being expanded, with their neighbours that wait for their turn. So a path is known exactly as long as it may be
asked for: one to a finding is kept when it is found. The order does not depend on the number of threads, for there is
one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.checker.explicit.bfs import BlockSearch
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.narrow_levels import NO_LIMIT, ROOM, NarrowLevels, SmallLevels
from assay.checker.explicit.expansion.single_states import BLOCK, Probe
from assay.checker.explicit.expansion.thread_buffer import Block, ThreadBuffer
from assay.checker.explicit.findings import STATE, SearchEvent
from assay.checker.explicit.store.hash_table import TableFullError
from assay.checker.explicit.store.level_file import RecordChunk
from assay.checker.explicit.store.row_store import RowStore
from assay.checker.interpreter.compiled_model import Model
from assay.checker.jit.jit_function import ArrayFunction
from assay.checker.layout.call_frame import NEVER
from assay.checker.layout.row import Rows
from assay.checker.options import SearchOptions
from assay.checker.report import State
from assay.checker.search_interface.protocols import Stopped
from assay.checker.symmetry.reduction import Reduction
from assay.grammar.lazy_dataclass import dataclass

# With 128 states of the newest group alone, r3l2m2e2 took forty times as long (docs/design/explicit-search.md).
AT_ONCE = 512
"""How many of the newest states are expanded together."""
STACK_SHARE = 4
"""One part in so many of the room for states is kept for the stack."""
NOBODY = (1 << 32) - 1
"""In the place of a predecessor: there is none."""
KEPT = 1 << 40
"""From this number on: the last states of paths that are kept."""


class Stack:
    """Rows, each with the place of the row from which it was found, and how many there are on the way. ``top`` of them
    are used.
    """

    def __init__(self, words: int, most: int) -> None:
        self.top = 0
        self._most = most
        self.chunk = _chunk(words, 1 << 16)
        self.depths = np.ones(1 << 16, np.uint32)

    def make_room(self, n: int) -> None:
        """Room for n more; raises ``MemoryError``."""
        room, wanted = len(self.chunk.rows), self.top + n
        if wanted <= room:
            return
        old = self.chunk
        # At least doubled, so that each row is copied a bounded number of times on average.
        size = max(wanted, 2 * room)
        # Besides its words a row has a place of four bytes, an action of two and a depth of four.
        row_bytes = old.rows.shape[1] * 8 + 10
        if size * row_bytes > self._most or size >= NOBODY:
            raise MemoryError
        self.chunk = _chunk(old.rows.shape[1], size)
        for column in ("rows", "parents", "actions"):
            getattr(self.chunk, column)[: self.top] = getattr(old, column)[: self.top]
        self.depths = np.concatenate([self.depths, np.ones(size - room, np.uint32)])

    def begin(self, rows: Rows) -> None:
        """Hold these rows, found from nothing, and no others."""
        self.top = 0
        self.make_room(len(rows))
        self.top = len(rows)
        self.chunk.rows[: self.top] = rows
        self.chunk.parents[: self.top] = NOBODY
        self.depths[: self.top] = 1

    def push(self, n: int, places: npt.NDArray[np.int64]) -> int:
        """The next n rows count; their predecessors, given by position, lie at these places. The greatest of their depths."""
        new = slice(self.top, self.top + n)
        self.chunk.parents[new] = places[self.chunk.parents[new]]
        self.depths[new] = self.depths[self.chunk.parents[new]] + 1
        self.top += n
        return int(self.depths[new].max(initial=0))

    def push_levels(self, records: RecordChunk, sizes: npt.NDArray[np.int64], first: int) -> int:
        """Put levels behind all others: each was found from the one before it, and the first from the rows from place
        ``first`` on. The greatest of their depths. Raises ``MemoryError``."""
        n = len(records.rows)
        self.make_room(n)
        new = slice(self.top, self.top + n)
        # A record counts its predecessor within the level before, so level k is shifted by where level k - 1 begins on
        # the stack.
        begins = np.cumsum([self.top, *sizes[:-1]])
        self.chunk.rows[new], self.chunk.actions[new] = records.rows, records.actions
        self.chunk.parents[new] = records.parents + np.repeat([first, *begins[:-1]], sizes).astype(np.uint32)
        deepen(self.chunk.parents, self.depths, self.top, self.top + n)
        self.top += n
        return int(self.depths[new].max(initial=0))

    def path(self, place: int) -> Rows:
        """The rows on the way to one."""
        places = []
        while place != NOBODY:
            places.append(place)
            place = int(self.chunk.parents[place])
        rows: Rows = self.chunk.rows[places[::-1]]
        return rows


@ArrayFunction
def deepen(parents: Any, depths: Any, first: int, last: int) -> None:
    """The depths of the rows from ``first`` up to ``last``: one more than those of their predecessors."""
    # In order: a predecessor may be one of these rows, whose own depth has to be known first.
    for at in range(first, last):
        depths[at] = depths[np.int64(parents[at])] + np.uint32(1)


def _chunk(words: int, n: int) -> RecordChunk:
    return RecordChunk(np.empty((n, words), np.uint64), np.empty(n, np.uint32), np.empty(n, np.uint16))


class DfsStack(RowStore):
    """The states that a depth-first search can still name: initial ones while they are listed, then those on the stack, and paths that are kept."""

    def __init__(self, store: RowStore, most: int) -> None:
        super().__init__(store.layout, store.model, store.levels)
        self.stack = Stack(store.layout.words, most)
        self.seen = 0
        """How many states were found, once the initial ones are known."""
        self._kept: list[Rows] = []

    def __len__(self) -> int:
        return self.seen or super().__len__()

    def __getitem__(self, number: int) -> State:
        return self.layout.unpack(self._path(number)[-1])

    def path(self, number: int) -> list[State]:
        """The states on the way to a state, the first one initial."""
        return [self.layout.unpack(row) for row in self._path(number)]

    def _path(self, number: int) -> Rows:
        if number >= KEPT:
            return self._kept[number - KEPT]
        if self.seen:
            return self.stack.path(number)
        return self.levels.row(*self.levels.place(number))[None]

    def keep(self, number: int, probe: Probe) -> int:
        """Keep the path to a state, without detours; the number by which it is known from now on."""
        path = self._path(number)
        # The way on which a depth-first search came is long. All steps between its states are found, and a shortest way
        # through them is kept.
        places, onward = {row.tobytes(): at for at, row in enumerate(path)}, [list[int]() for _ in path]
        for begin in range(0, len(path) - 1, BLOCK):
            found = probe.expand(np.ascontiguousarray(path[begin : begin + BLOCK]))
            for parent, row in zip(found.parents.tolist(), found.rows, strict=True):
                if (at := places.get(row.tobytes())) is not None:
                    onward[begin + parent].append(at)
        self._kept.append(path[_without_detours(onward)])
        return KEPT + len(self._kept) - 1


def _without_detours(onward: Sequence[Sequence[int]]) -> list[int]:
    """A shortest way through a path from its first place to its last, where ``onward[p]`` are the places to which a step from p leads."""
    last = len(onward) - 1
    came_from = {0: 0}
    reached = [0]
    for place in reached:  # grows while it is gone through: the places in the order of their distance
        if last in came_from:
            break
        for there in onward[place]:
            if there not in came_from:
                came_from[there] = place
                reached.append(there)
    way = [last]
    while way[-1] != 0:
        way.append(came_from[way[-1]])
    return way[::-1]


@dataclass(slots=True)
class _Frame:
    """Rows on the stack that were found together, of which those from ``next`` on are not expanded yet."""

    start: int
    next: int
    end: int


def _newest(waiting: list[_Frame]) -> Iterator[tuple[_Frame, int]]:
    """Of how many rows of which frames to expand next, those that were made last first."""
    left = AT_ONCE
    for frame in reversed(waiting):
        n = min(left, frame.end - frame.next)
        yield frame, n
        left -= n
        if not left:
            return


class DepthFirstBlockSearch(BlockSearch):
    """A search like the breadth-first one in another order. It ends with the first states that violate something."""

    may_go_to_disk = False

    def __init__(
        self, model: Model, options: SearchOptions, compiled: Compiled, reduction: Reduction | None = None
    ) -> None:
        # The order of states is that of one thread.
        super().__init__(model, replace(options, threads=1), compiled, reduction)
        self.seen.reserved = self.seen.room // STACK_SHARE
        self.stacked = DfsStack(self.rows, self.seen.reserved)
        self.rows = self.stacked
        self.findings.store = self.stacked
        self._probe = Probe(compiled)
        self._narrow = NarrowLevels(compiled.layout.words, AT_ONCE)
        self._kept: set[tuple[int, str]] = set()

    @property
    def _here(self) -> str:
        return f"after {len(self.rows):,} states"

    def _all_levels(self) -> None:
        self._keep_findings()
        self.stacked.seen = len(self.rows)
        for rows in self.levels.every_row():
            self.stacked.stack.begin(rows)
            self._search_from(len(rows))
        self._end_between_levels()

    def _search_from(self, count: int) -> None:
        """Search all that is reached from the rows on the stack."""
        frames = [_Frame(0, 0, count)]
        waiting = [frames[0]]
        while waiting:
            self._end_between_levels()
            self._heed_limits()
            # Nothing that still waits descends from an expanded frame at the top, so its rows are let go of. Some frame
            # has rows left, because `waiting` is not empty.
            while frames[-1].next == frames[-1].end:
                self.stacked.stack.top = frames.pop().start
            if self._follow_levels(frames, waiting):
                continue
            top = self.stacked.stack.top
            self._expand_newest(waiting)
            if self.stacked.stack.top > top:
                frames.append(_Frame(top, top, self.stacked.stack.top))
                waiting.append(frames[-1])

    def _follow_levels(self, frames: list[_Frame], waiting: list[_Frame]) -> bool:
        """Where all rows that wait would be expanded together, they are a level; go through it and those after it
        while they are small. Whether that was done."""
        frame, stack = waiting[-1], self.stacked.stack
        size = frame.end - frame.next
        if len(waiting) > 1 or size > self._narrow.width or self._refining or frame.end != stack.top:
            return False
        self._frontier = stack.top
        self._within_budget(lambda levels: self.seen.narrow(levels, len(self.rows)))
        lane, wanted = self._rounds.first_lane, self.options.max_states
        # Rows are numbered by their places on the stack here, and the limit counts all states that were found.
        most = ROOM, NO_LIMIT if wanted is None else wanted - len(self.rows) + stack.top
        rows = stack.chunk.rows[frame.next : frame.end]
        found = self._narrow.follow(
            lane, self.seen.table, self.seen.keys, rows, frame.next, most, self.findings.marks_of(lane)
        )
        self.compiled.machine.refuse_halted()
        if not len(found.sizes):
            return False
        self._push_levels(found, lane, frame.next)
        last = int(found.sizes[-1])
        waiting[:] = [_Frame(stack.top - last, stack.top - last, stack.top)] if last else []
        # What is expanded already leaves the stack together.
        frames[-1:] = [_Frame(frame.start, stack.top - last, stack.top - last), *waiting]
        return True

    def _push_levels(self, found: SmallLevels, lane: ThreadBuffer, first: int) -> None:
        """Put levels on the stack that were found from the rows from ``first`` on, and look at what was found."""
        stack = self.stacked.stack
        try:
            self.depth = max(self.depth, stack.push_levels(found.records, found.sizes, first))
        except MemoryError:
            raise Stopped(self._no_room()) from None
        self.stacked.seen += len(found.records.rows)
        self.tally.add(lane)
        self.generated += found.generated
        for which, number in enumerate(lane.found_states.tolist()):
            if number != NEVER:
                self.findings.note(SearchEvent(STATE, which, 0, 0, number))
        self.findings.look()
        self._keep_findings()

    def _expand_newest(self, waiting: list[_Frame]) -> None:
        """Expand rows of the frames that were made last, and put what is new on the stack."""
        taken = list(_newest(waiting))
        places = np.concatenate([np.arange(frame.next, frame.next + n) for frame, n in taken])
        self._frontier = self.stacked.stack.top
        self._within_budget(lambda levels: self.seen.narrow(levels, len(self.rows)))
        lane = self._rounds.expand_alone(Block(0, self.stacked.stack.chunk.rows[places]))
        self._look(lane, places)
        # A block ends early where the buffer is full. Its other rows keep their turn.
        left = lane.done
        for frame, n in taken:
            frame.next += min(n, left)
            left -= min(n, left)
        while waiting and waiting[-1].next == waiting[-1].end:
            waiting.pop()

    def _look(self, lane: ThreadBuffer, places: npt.NDArray[np.int64]) -> None:
        """Keep what is new in a lane, whose states lay at these places, and look at what was found."""
        refused = list(self._refused_steps([lane]))
        new = self._push(lane, places)
        self.tally.add(lane)
        self.generated += lane.generated
        stack = self.stacked.stack
        at = stack.top - new
        # A new state is known by its place on the stack. What was expanded is known by its position in the block, and
        # `places` has its place.
        for event in (*refused, *self.findings.collect(lane, stack.chunk, at, at)):
            number = event.number if event.kind == STATE else int(places[event.number])
            self.findings.note(replace(event, number=number))
        self.findings.look()
        self._keep_findings()

    def _push(self, lane: ThreadBuffer, places: npt.NDArray[np.int64]) -> int:
        """Put what is new in a lane on the stack; how much that is."""
        stack = self.stacked.stack
        try:
            new = int(self._rounds.insert(self.seen.table, [lane])[0])
            stack.make_room(new)
        except (TableFullError, MemoryError):
            raise Stopped(self._no_room()) from None
        lane.gather(stack.chunk, stack.top, new, stack.top)
        self.depth = max(self.depth, stack.push(new, places))
        self.stacked.seen += new
        return new

    def _keep_findings(self) -> None:
        """Keep the paths to findings that are new: the stack will forget them."""
        for at, found in enumerate((self.watch.found, self.watch.undefined, self.watch.beyond)):
            for name, finding in found.items():
                # A finding in a state that could not be made, such as an initial one without a value, has no path.
                if (at, name) not in self._kept and finding.state >= 0:
                    found[name] = replace(finding, state=self.stacked.keep(finding.state, self._probe))
                self._kept.add((at, name))
