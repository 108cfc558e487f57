"""What compiled code found, and its confirmation by the reference evaluator.

Compiled code reports the first state or step of each kind of finding. Of each kind the first of a level counts.
Findings are looked at when the level is complete or the search stops, in the order of the states that were expanded. So
the answer does not depend on how a level was cut into blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from assay.checker.explicit.confirmed_findings import ConfirmedFindings
from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.thread_buffer import Marks, ThreadBuffer
from assay.checker.explicit.store.level_file import RecordChunk
from assay.checker.explicit.store.row_store import RowStore
from assay.checker.layout.call_frame import NEVER, ContextSlot
from assay.checker.report import EnginesDisagreeError, State
from assay.checker.search_interface.finding import DEADLOCK, DEFINED
from assay.grammar.lazy_dataclass import dataclass

STUCK, TERMINAL, DEAD, STEP, REFINE, STATE = KINDS = ("stuck", "terminal", "dead", "step", "refine", "state")
"""The kinds of findings, in the order in which they are looked at where several come from one state."""
TROUBLE_ROOM = 8
"""Greater than every trouble flag of a refinement step, so that position and trouble fit one number."""


@dataclass(frozen=True, slots=True)
class SearchEvent:
    """A finding of compiled code, to be looked at. ``level`` and ``source`` locate the state that was expanded.

    ``at`` is the property's position in the array of findings; for a refinement it is ``TROUBLE_ROOM`` times its
    position, plus the trouble. ``number`` is the number of the state concerned, ``row`` the successor where the finding
    is a step.
    """

    kind: str
    at: int
    level: int
    source: int
    number: int
    row: tuple[int, ...] = ()


class SearchFindings:
    """The findings of a search, and the callbacks that confirm them.

    ``note_stuck`` explains what is undefined in a state, ``see_step`` judges a step, and ``see_refined`` follows all
    steps from a state on the abstract side.
    """

    def __init__(
        self,
        compiled: Compiled,
        store: RowStore,
        watch: ConfirmedFindings,
        note_stuck: Callable[[int, State], None],
        see_step: Callable[[int, State], None],
        see_refined: Callable[[int, State], None],
        *,
        deadlock: bool,
    ) -> None:
        self._compiled = compiled
        self.store = store
        self._watch = watch
        self._note_stuck = note_stuck
        self._see_step = see_step
        self._see_refined = see_refined
        self._deadlock = deadlock
        self._noted: dict[tuple[str, int], SearchEvent] = {}
        self._unseen: list[SearchEvent] = []

    @property
    def events(self) -> list[SearchEvent]:
        """All findings so far, in the order in which they were noted."""
        return list(self._noted.values())

    @property
    def known(self) -> set[tuple[str, int]]:
        """The kind and the property's position of every finding so far."""
        return set(self._noted)

    def marks_of(self, lane: ThreadBuffer) -> tuple[Marks, Marks, Marks]:
        """For each place of a buffer's findings in states, and on steps, whether such a finding is known. The last
        three say whether something undefined, a terminal state and a deadlock are.
        """
        states, steps = (
            np.array([(kind, at) in self._noted for at in range(len(places))], np.uint8)
            for kind, places in ((STATE, lane.found_states), (STEP, lane.found_steps))
        )
        return states, steps, np.array([(kind, 0) in self._noted for kind in (STUCK, TERMINAL, DEAD)], np.uint8)

    def note(self, event: SearchEvent) -> None:
        """Keep a finding if it is the first of its kind."""
        if (event.kind, event.at) not in self._noted:
            self._noted[event.kind, event.at] = event
            self._unseen.append(event)

    def collect(self, lane: ThreadBuffer, stage: RecordChunk, at: int, number: int) -> Iterator[SearchEvent]:
        """What a thread's buffer found in the last finished level, and in the states that it staged."""
        yield from self.collect_expanded(lane)
        yield from self.collect_new(lane, stage, at, number)

    def collect_expanded(self, lane: ThreadBuffer) -> Iterator[SearchEvent]:
        """What a thread's buffer found in the last finished level, in the states that it expanded."""
        level = len(self.store.levels.counts) - 1
        start = self.store.levels.starts[level]
        for kind, slot in ((STUCK, ContextSlot.STUCK), (TERMINAL, ContextSlot.TERMINAL), (DEAD, ContextSlot.DEAD)):
            position = int(lane.context[slot])
            if position != NEVER:
                yield SearchEvent(kind, 0, level, lane.first + position, start + lane.first + position)
        arena = lane.arena
        for which, position in enumerate(lane.found_steps.tolist()):
            if position != NEVER:
                source = lane.first + int(arena.parents[lane.at, position])
                yield SearchEvent(
                    STEP, which, level, source, start + source, tuple(arena.rows[lane.at, position].tolist())
                )

    def collect_new(self, lane: ThreadBuffer, stage: RecordChunk, at: int, number: int) -> Iterator[SearchEvent]:
        """What a thread's buffer found in the states that it staged from ``at`` on. The first has the number
        ``number``."""
        level = len(self.store.levels.counts) - 1
        for which, found in enumerate(lane.found_states.tolist()):
            if found != NEVER:
                yield SearchEvent(STATE, which, level, int(stage.parents[at + found - number]), found)

    # ------------------------------------------------------------------------------------------------- look

    def look(self) -> None:
        """Confirm the new findings by the reference evaluator. Raises ``EnginesDisagreeError`` where it does
        not agree."""
        unseen, self._unseen = self._unseen, []
        # An earlier state decides first, whichever thread reported it and however the level was cut into blocks.
        for event in sorted(
            unseen, key=lambda each: (each.level, each.source, KINDS.index(each.kind), each.number, each.at)
        ):
            self._look_at(event, self.store[event.number])

    def _look_at(self, event: SearchEvent, state: State) -> None:
        match event.kind:
            case "stuck":
                self._note_stuck(event.number, state)
            case "terminal" | "dead":
                if self._deadlock:
                    self._look_at_dead(event, state)
            case "step":
                after = self.store.layout.unpack(np.array(event.row, np.uint64))
                self._see_step(event.number, after)
                self._require(self._compiled.steps[event.at // 2], event.at)
            case "refine":
                self._see_refined(event.number, state)
                self._require_refined(self._compiled.refinements[event.at // TROUBLE_ROOM][0])
            case _:
                self._watch.confirm_state(event.number, state)
                self._require(self._compiled.states[event.at // 2], event.at)

    def _look_at_dead(self, event: SearchEvent, state: State) -> None:
        is_dead = event.kind == DEAD
        alive = next(self.store.outcomes(state), None) is not None
        terminal = self._watch.is_terminal(event.number, state)
        # `is_terminal` has just noted a terminal condition without value, which is what the other kind of event claims.
        if alive or (terminal if is_dead else DEFINED not in self._watch.found):
            raise EnginesDisagreeError(f"compiled code finds no way on where the reference evaluator does: {state}")
        if is_dead and DEADLOCK not in self._watch.found:
            self._watch.note_deadlock(event.number)

    def _require_refined(self, name: str) -> None:
        if not any(name in known for known in (self._watch.found, self._watch.undefined, self._watch.beyond)):
            raise EnginesDisagreeError(f"compiled code decides `{name}` where the reference evaluator does not")

    def _require(self, name: str, at: int) -> None:
        # Places alternate: 2 i is where property i is decided, 2 i + 1 where it has no value. A decided property is not
        # evaluated any more, so a later place without value is not noted.
        known = self._watch.undefined if at % 2 else self._watch.found
        if name not in known and name not in self._watch.found:
            raise EnginesDisagreeError(f"compiled code decides `{name}` where the reference evaluator does not")
