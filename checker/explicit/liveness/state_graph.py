"""The state graph for temporal properties of a compiled search: its states are expanded once more, with what behaviours
depend on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from assay.checker.explicit.bfs import BlockSearch
from assay.checker.explicit.expansion.compiled_interface import Behaviours, Compiled
from assay.checker.explicit.expansion.single_states import Probe, Successors
from assay.checker.explicit.liveness.product import CompiledProduct
from assay.checker.explicit.liveness.scc_kernels import NOWHERE, look_up, remember
from assay.checker.explicit.store.large_arrays import Column, Room
from assay.checker.explicit.store.memory_limit import taken
from assay.checker.layout.row import Rows
from assay.checker.liveness.check import decisions, is_whole
from assay.checker.liveness.confirm import Decisions
from assay.checker.liveness.decide import Decider
from assay.checker.liveness.nnf import StateCondition
from assay.checker.liveness.plan import Plan
from assay.checker.liveness.product import BuchiProduct, ProductTables
from assay.checker.liveness.state_graph import Flags, Kind, LabelledGraph, Numbering, Numbers, kind_of
from assay.checker.print_kernel import Sources
from assay.checker.report import EnginesDisagreeError
from assay.grammar.lazy_dataclass import dataclass

BLOCK = 1 << 14
"""States that one call expands."""
SLACK = 1.5
"""Slots of the table of numbers per state."""
BITS = 64


def decisions_of(search: BlockSearch, behaviours: Behaviours, sources: Sources) -> Decisions:
    """The decisions about temporal properties on the states of a search."""
    return decisions(search, behaviours.plan, lambda: decider(search, behaviours, sources).decide)


def decider(search: BlockSearch, behaviours: Behaviours, sources: Sources, limit: int | None = None) -> Decider:
    """Decides on the graph of a search, or of its first ``limit`` states. A violating run within these is one of the
    system; absence of one proves nothing."""
    room = Room(max(0, search.seen.budget - taken()))

    def make(graph: LabelledGraph, tables: ProductTables) -> BuchiProduct:
        return CompiledProduct(graph, tables, room.inner())

    graph, state = GraphBuilder(search, behaviours, room, limit).graph(), search.rows.__getitem__
    return Decider(search.model, behaviours.plan, graph, state, sources, make, whole=is_whole(search))


class GraphBuilder:
    """Builds the graph of the states of a search, of the first ``limit`` of them if that is given.

    States are identified by their fingerprints. If two had the same one, the graph would not be that of the system, and
    none is built.
    """

    def __init__(self, search: BlockSearch, behaviours: Behaviours, room: Room, limit: int | None = None) -> None:
        self._search = search
        self._room = room
        self._looking = BehaviourReader(behaviours.plan, behaviours.code)
        self._machine = behaviours.code.machine
        self._size = len(search.rows) if limit is None else min(limit, len(search.rows))
        cap = int(SLACK * self._size) + 8
        self._prints = room.zeros(cap, np.uint64)
        self._numbers = room.zeros(cap, np.uint32)

    def graph(self) -> LabelledGraph:
        """The graph."""
        for first, rows in self._blocks():
            # All states are numbered before the first is expanded: a step may lead to any of them.
            if remember(self._prints, self._numbers, self._machine.prints(rows), first):
                raise EnginesDisagreeError("two states have one fingerprint: their behaviours cannot be distinguished")
        starts, targets = Column(self._room, np.uint32, np.int64), Column(self._room, np.uint32)
        labels, kinds = (Column(self._room, np.uint16, np.uint32) for _ in range(2))
        starts.append(np.zeros(1, np.int64))
        for _, rows in self._blocks():
            seen = self._looking.at(rows, self._number)
            kinds.append(seen.kinds)
            starts.append(targets.size + np.cumsum(seen.degrees))
            targets.append(seen.targets)
            labels.append(seen.labels)
        for array in (self._prints, self._numbers):  # they are not needed any more
            self._room.take_back(array)
        return LabelledGraph(
            min(self._search.initial, self._size), starts.numbers, targets.numbers, labels.numbers, kinds.numbers,
            self._looking.labels.events, self._looking.kinds.kinds,
        )  # fmt: skip

    def _blocks(self) -> Iterator[tuple[int, Rows]]:
        for first, rows in self._search.rows.blocks(0, BLOCK):
            if first >= self._size:
                return
            yield first, rows[: self._size - first]

    def _number(self, prints: Rows) -> Numbers:
        numbers = np.empty(len(prints), np.uint32)
        look_up(self._prints, self._numbers, prints, numbers)
        return numbers


@dataclass(frozen=True, slots=True)
class RowBehaviour:
    """What behaviours depend on, for some rows: the kind of each, its number of steps, and all steps' targets and
    labels in one array each."""

    kinds: Numbers
    degrees: Numbers
    targets: Numbers
    labels: Numbers


class BehaviourReader:
    """Classifies states and steps; numbers kinds and labels as it meets them."""

    def __init__(self, plan: Plan, code: Compiled) -> None:
        self.kinds = StateKinds(plan)
        self.labels = EventLabels(plan)
        self._parts = len(plan.parts)
        self._machine = code.machine
        self._probe = Probe(code)

    def at(self, rows: Rows, number: Callable[[Rows], Numbers]) -> RowBehaviour:
        """The behaviour of some rows. ``number`` maps fingerprints to numbers of states, or ``NOWHERE``."""
        found = self._probe.expand(rows)
        # An instance that changes nothing neither is enabled nor occurs (docs/design/fairness-occurrence.md).
        moved = found.prints != self._machine.prints(rows)[found.parents]
        kinds = self.kinds.of(self._machine.judge(rows), found, moved, len(rows))
        chosen = moved & (found.actions < self._parts)
        numbers = number(found.prints[chosen])
        # A step to a state that a limit has cut off is left out; `whole` says that the graph lacks some.
        known = numbers != NOWHERE
        return RowBehaviour(kinds, *self._steps(found, chosen, known, numbers[known], len(rows)))

    def _steps(
        self, found: Successors, chosen: Flags, known: Flags, targets: Numbers, count: int
    ) -> tuple[Numbers, Numbers, Numbers]:
        """The number of steps of each row of a block, their targets, and their labels; steps to one target
        are merged."""
        parents = found.parents[chosen][known].astype(np.int64)
        parts = found.actions[chosen][known]
        key = (parents << 32) | targets
        # All instances that lead from one state to another stand together: they are one step, with the events of all.
        order = np.argsort(key, kind="stable")
        key = key[order]
        begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if len(key) else np.zeros(0, np.int64)
        # Actions outside of `next` add their events to a step that another instance makes. Alone they make none.
        labels, steps = self.labels.of(parts[order], begins)
        places = order[begins][steps]
        return np.bincount(parents[places], minlength=count), targets[places], labels[steps]


class EventLabels:
    """The sets of events that steps are occurrences of, numbered. Number 0 is the empty set."""

    def __init__(self, plan: Plan) -> None:
        self._names = Numbering()
        self._names.number(frozenset())
        words = max(1, -(-len(plan.events) // BITS))
        self._words = np.zeros((len(plan.parts), words), np.uint64)
        for at, part in enumerate(plan.parts):
            for event in plan.events_of(part):
                self._words[at, event // BITS] |= np.uint64(1 << event % BITS)
        self._is_step: Flags = np.array([part.is_step for part in plan.parts], bool)

    @property
    def events(self) -> tuple[frozenset[int], ...]:
        """The sets, by number."""
        return tuple(self._names.numbers)

    def of(self, parts: Numbers, begins: Numbers) -> tuple[Numbers, Flags]:
        """The labels of merged steps, each group of parts beginning at one of ``begins``, and which groups are steps of
        the system."""
        if not len(begins):
            return np.zeros(0, np.uint32), np.zeros(0, bool)
        words = np.bitwise_or.reduceat(self._words[parts], begins, axis=0)
        steps = np.logical_or.reduceat(self._is_step[parts], begins)
        distinct, which = np.unique(words, axis=0, return_inverse=True) if words.shape[1] > 1 else _unique(words)
        numbers = [self._names.number(frozenset(_bits(row))) for row in distinct]
        return np.array(numbers, np.uint32)[which.reshape(-1)], steps


def _unique(words: Rows) -> tuple[Rows, Numbers]:
    distinct, which = np.unique(words[:, 0], return_inverse=True)
    return distinct[:, None], which


def _bits(words: Rows) -> Iterable[int]:
    return (BITS * at + bit for at, word in enumerate(words.tolist()) for bit in range(BITS) if word >> bit & 1)


class StateKinds:
    """Kinds of states, numbered."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._names = Numbering()
        self._known: dict[bytes, int] = {}
        self._letters = [at for at, letter in enumerate(plan.letters) if isinstance(letter, StateCondition)]
        events = [plan.events_of(part) for part in plan.parts]
        self._with_events = np.array([at for at, own in enumerate(events) if own], np.int64)
        self._events = [events[at] for at in self._with_events]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds, by number."""
        return tuple(self._names.numbers)

    def of(self, conditions: Numbers, found: Successors, moved: Flags, count: int) -> Numbers:
        """The kinds of the rows of a block, from the values of conditions and the successors."""
        parts = len(self._plan.parts)
        # A cut is reported as a step to the same state, with a number of its own for each part (`Behaviours`).
        cut = found.actions >= parts
        able = np.zeros((count, 2 * parts), bool)
        able[found.parents[cut], found.actions[cut]] = True
        going = moved & ~cut
        able[found.parents[going], found.actions[going]] = True
        flags = np.concatenate(
            [conditions.astype(bool), able[:, self._with_events], able[:, self._with_events + parts]], axis=1
        )
        if not flags.shape[1]:
            return np.full(count, self._number(b"", flags[0]), np.uint32)
        # A row of flags as one value of some bytes, so that equal rows are found by one sort.
        packed = np.ascontiguousarray(np.packbits(flags, axis=1))
        keys = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)
        distinct, first, which = np.unique(keys, return_index=True, return_inverse=True)
        numbers = [self._number(key.tobytes(), flags[at]) for key, at in zip(distinct, first, strict=True)]
        return np.array(numbers, np.uint32)[which.reshape(-1)]

    def _number(self, key: bytes, flags: Flags) -> int:
        if key not in self._known:
            self._known[key] = self._names.number(self._kind(flags))
        return self._known[key]

    def _kind(self, flags: Flags) -> Kind:
        letters, parts = len(self._letters), len(self._with_events)
        ends = np.cumsum([letters, letters, parts])
        true, undefined, enabled, cut = (np.flatnonzero(each).tolist() for each in np.split(flags, ends))
        return kind_of(
            self._plan,
            [self._letters[at] for at in true],
            [self._letters[at] for at in undefined],
            {event for at in enabled for event in self._events[at]},
            {event for at in cut for event in self._events[at]},
        )
