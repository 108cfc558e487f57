"""Refinement in a compiled search: each *kind* of step is judged once, by the reference evaluator.

Two steps are of one kind if the action, its arguments, and the abstract images of both ends are equal
(``layout.refinement_image``). The mapping then decides both alike. There are few kinds: 1,905 for the 1,938,010 steps
of ``kip320_refinement`` r3l2m2e2. Steps that leave the abstract state unchanged are not even listed where the mapping
allows stuttering.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.thread_buffer import ThreadBuffer
from assay.checker.explicit.store.hash_kernels import MIX_FIRST, MIX_SECOND, MIX_START
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.jit.jit_function import ArrayFunction
from assay.checker.layout.refinement_image import (
    BEYOND,
    OUTSIDE,
    TROUBLES,
    UNDEFINED,
    Flags,
    ImageLayout,
    argument_layout,
)
from assay.checker.layout.row import Rows
from assay.checker.refinement.mapping import BeyondError, OutsideError, Refined
from assay.checker.report import Step
from assay.grammar.lazy_dataclass import dataclass

FIRST_ROOM = 1 << 12
"""Slots of the table of kinds at first; at most half of them are used."""


@ArrayFunction
def kinds(  # noqa: PLR0913, PLR0917
    before: Any, after: Any, parents: Any, actions: Any, arguments: Any, flags_before: Any, flags_after: Any,
    wanted: Any, words: Any, idle: Any, table: Any, used: Any, room: Any, start: Any, found: Any, counts: Any,
) -> None:  # fmt: skip
    """List the steps from ``start`` on whose kind the table lacks and insert them, until ``room`` kinds are inserted.

    ``words`` is the size of the abstract part of an image; ``idle`` marks the actions that may leave it unchanged. Of
    steps to a state without image the first is listed for each flag in ``wanted``; steps from such a state are skipped.
    ``counts`` receives how many steps were listed, and where the list ends.
    """
    listed, put, width, mask = 0, 0, before.shape[1], np.uint64(len(used) - 1)
    for at in range(start, len(parents)):
        parent = parents[at]
        # The step to such a state was reported, or its initial state was.
        if flags_before[parent]:
            continue
        if flags_after[at]:
            if flags_after[at] & wanted:
                wanted = wanted & (255 ^ flags_after[at])
                found[listed] = at
                listed += 1
            continue
        action = actions[at]
        same = True
        for each in range(words):
            same = same and before[parent, each] == after[at, each]
        if same and idle[action]:
            continue
        # This step is not listed yet. The caller enlarges the table, and goes on with it.
        if put == room:
            counts[0] = listed
            counts[1] = at
            return
        # The hash only says where probing begins: kinds are compared word by word.
        mark = (MIX_START ^ np.uint64(action)) * MIX_FIRST ^ arguments[at]
        for each in range(width):
            mark = (mark ^ before[parent, each]) * MIX_FIRST
            mark ^= mark >> np.uint64(29)
            mark = (mark ^ after[at, each]) * MIX_SECOND
            mark ^= mark >> np.uint64(32)
        slot = np.int64(mark & mask)
        known = False
        while used[slot]:
            known = table[slot, 0] == np.uint64(action) and table[slot, 1] == arguments[at]
            for each in range(width):
                known = known and table[slot, 2 + each] == before[parent, each]
                known = known and table[slot, 2 + width + each] == after[at, each]
            if known:
                break
            slot = np.int64(np.uint64(slot + 1) & mask)
        if known:
            continue
        used[slot] = 1
        table[slot, 0] = np.uint64(action)
        table[slot, 1] = arguments[at]
        for each in range(width):
            table[slot, 2 + each] = before[parent, each]
            table[slot, 2 + width + each] = after[at, each]
        put += 1
        found[listed] = at
        listed += 1
    counts[0] = listed
    counts[1] = len(parents)


@dataclass(frozen=True, slots=True)
class Offence:
    """A step to report: its trouble flag (0: no abstract step matches), the place of its first state in the level, and
    the second state."""

    trouble: int
    source: int
    row: tuple[int, ...]


@dataclass(slots=True)
class _Kinds:
    """The kinds of steps that were judged: an open-addressing table of exact words."""

    width: int
    room: int = FIRST_ROOM
    count: int = 0
    table: Rows = field(init=False)
    used: npt.NDArray[np.uint8] = field(init=False)

    def __post_init__(self) -> None:
        self._clear(self.room)

    def _clear(self, room: int) -> None:
        self.room, self.count = room, 0
        self.table = np.zeros((room, 2 + 2 * self.width), np.uint64)
        self.used = np.zeros(room, np.uint8)

    def grow(self) -> None:
        """Enlarge the table and insert all kinds again, each as a step with ends of its own."""
        old = self.table[self.used != 0]
        self._clear(4 * self.room)
        n, none = len(old), np.zeros(len(old), np.uint8)
        before, after = (np.ascontiguousarray(old[:, 2 + at : 2 + at + self.width]) for at in (0, self.width))
        self.count = n
        # With no abstract words and no idle action nothing counts as stuttering, so that every old kind is inserted.
        kinds(
            before, after, np.arange(n, dtype=np.uint32), old[:, 0].astype(np.uint32), old[:, 1].copy(), none, none,
            0, 0, np.zeros(1 + int(old[:, 0].max(initial=0)), np.uint8), self.table, self.used, n, 0, np.empty(n, np.int64), np.zeros(2, np.int64),
        )  # fmt: skip


class Refining:
    """Judges the steps of a search for one refinement, until a step has no abstract counterpart (``over``)."""

    def __init__(self, at: int, model: Model, compiled_code: Compiled, refined: Refined, layout: ImageLayout) -> None:
        self.at = at
        self.over = False
        self._compiled = compiled_code
        self._refined = refined
        self._layout = layout
        self._wanted = sum(TROUBLES)
        # Each refinement has its own table: images of different modules have nothing in common.
        self._kinds = _Kinds(layout.words)
        self._actions = [action.node for action in model.steps]
        self._arguments = [argument_layout(action) for action in self._actions]
        mappings = [refined.mapping(action.name) for action in self._actions]
        self._idle = np.array([each.stutters or each.anything for each in mappings], np.uint8)

    def look(self, lane: ThreadBuffer) -> Iterator[Offence]:
        """The steps of a buffer that are no abstract steps or have no image: the first one of each trouble."""
        if self.over or not lane.count:
            return
        arena, n = lane.arena, lane.count
        before, flags_before = self._images(lane.sources[: lane.done])
        after, flags_after = self._images(arena.rows[lane.at, :n])
        parents, actions, arguments = (
            arena.parents[lane.at, :n],
            arena.actions[lane.at, :n],
            arena.arguments[lane.at, :n],
        )
        start, found, counts = 0, np.empty(n, np.int64), np.zeros(2, np.int64)
        while start < n and not self.over:
            if 2 * self._kinds.count >= self._kinds.room:
                self._kinds.grow()
            room = self._kinds.room // 2 - self._kinds.count
            kinds(
                before, after, parents, actions, arguments, flags_before, flags_after, self._wanted,
                self._layout.abstract.words, self._idle, self._kinds.table, self._kinds.used, room, start, found, counts,
            )  # fmt: skip
            listed, start = counts.tolist()
            # Steps without an image are listed too, and are not in the table: the load is rather overestimated.
            self._kinds.count += room if start < n else listed
            for at in found[:listed].tolist():
                yield from self._offence(lane, at)
                if self.over:
                    return

    def _images(self, rows: Rows) -> tuple[Rows, Flags]:
        return self._compiled.machine.images(self.at, np.ascontiguousarray(rows))

    def _offence(self, lane: ThreadBuffer, at: int) -> Iterator[Offence]:
        arena, layout = lane.arena, self._compiled.layout
        parent, row = int(arena.parents[lane.at, at]), arena.rows[lane.at, at]
        which = int(arena.actions[lane.at, at])
        action = self._actions[which]
        values = self._arguments[which].unpack(arena.arguments[lane.at, at : at + 1])
        named = tuple(zip((p.binder.name for p in action.parameters), values, strict=True))
        trouble = self._trouble(lane.sources[parent], Step(action.name, named, (), layout.unpack(row)))
        if trouble is not None and (trouble == 0 or trouble & self._wanted):
            self._wanted &= ~trouble
            # Both violate the refinement. After the other troubles it is undecided, and a later step may still
            # violate it.
            self.over = trouble in {0, OUTSIDE}
            yield Offence(trouble, lane.first + parent, tuple(row.tolist()))

    def _trouble(self, row: Rows, step: Step) -> int | None:
        """What is wrong with a step: 0 if no abstract step matches, a flag if an image is missing, None if nothing is
        wrong."""
        try:
            fine = self._refined.goes_well(self._compiled.layout.unpack(row), step)
        except OutsideError:
            return OUTSIDE
        except BeyondError:
            return BEYOND
        except Undefined:
            return UNDEFINED
        return None if fine else 0
