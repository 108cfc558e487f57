"""A part of a search: the states of some owners, expanded by one thread; what belongs to other parts is sent to them.

Nobody here knows who carries the packets. For the states of one level: a frontier is expanded block by block, its packets are handed over, and
the shards that own what is in them receive them, in any order. What is found does not depend on the order, nor on how many shards there are: of each kind
of finding the one at the state with the smallest fingerprint counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.counters import SearchCounters
from assay.checker.explicit.expansion.outgoing_batches import Packet, Packing
from assay.checker.explicit.expansion.parallel_round import Rounds
from assay.checker.explicit.expansion.single_states import Probe
from assay.checker.explicit.expansion.thread_buffer import ThreadBuffer
from assay.checker.explicit.findings import DEAD, STATE, STEP, STUCK, TERMINAL
from assay.checker.explicit.store.hash_kernels import OWNER_SHIFT, rename
from assay.checker.explicit.store.hash_table import StateKeys, StateTable
from assay.checker.explicit.store.level_file import RecordChunk
from assay.checker.layout.call_frame import NEVER, ContextSlot
from assay.checker.layout.row import Rows

Kind = tuple[str, int]
"""A kind of finding, and the property's position in the array of findings."""
SOURCES = ((STUCK, ContextSlot.STUCK), (TERMINAL, ContextSlot.TERMINAL), (DEAD, ContextSlot.DEAD))


@dataclass(frozen=True, slots=True)
class ShardFinding:
    """The first finding of a kind in some states: the state and its fingerprint; ``row`` is the successor of a step."""

    kind: str
    at: int
    print: int
    state: tuple[int, ...]
    row: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Expansion:
    """Lanes with what is left of their candidates, the fingerprints of the states that each expanded, and the packets that became full."""

    lanes: list[ThreadBuffer]
    names: list[Rows]
    packets: list[Packet]


class ShardFrontier:
    """The states of the last finished level of ``rounds.levels``, to be expanded. ``kinds`` are the kinds of findings that were noted."""

    def __init__(self, compiled: Compiled, rounds: Rounds, packing: Packing, tally: SearchCounters) -> None:
        self.packing = packing
        self.generated = 0
        self.kinds: set[Kind] = set()
        self._compiled = compiled
        self._rounds = rounds
        self._tally = tally
        self._place = 0

    @property
    def _count(self) -> int:
        return self._rounds.levels.counts[-1]

    @property
    def left(self) -> int:
        """States that are not expanded yet."""
        return self._count - self._place

    def expand(self) -> Expansion:
        """Expand some states, and pack what others own."""
        started = time.perf_counter()
        lanes = self._rounds.expand(self._place, self._count)
        names = [self._compiled.machine.prints(lane.sources) for lane in lanes]
        packets: list[Packet] = []
        for lane, prints in zip(lanes, names, strict=True):
            self._note(lane)
            packets += self.packing.add(lane, prints)
        self._place += sum(lane.done for lane in lanes)
        self._rounds.pace(started)
        return Expansion(lanes, names, packets)

    def _note(self, lane: ThreadBuffer) -> None:
        tally = self._tally
        tally.hits += lane.hits
        tally.decisive |= lane.decisive
        tally.taken += np.bincount(lane.arena.actions[lane.at, : lane.count], minlength=len(tally.taken))
        self.generated += lane.count
        self.kinds.update((kind, 0) for kind, slot in SOURCES if int(lane.context[slot]) != NEVER)
        self.kinds.update((STEP, at) for at in np.flatnonzero(lane.found_steps != NEVER).tolist())

    def findings(self, known: set[Kind]) -> list[ShardFinding]:
        """The findings in the level, of the kinds that were noted and are not known yet; then the next level is the frontier."""
        kinds, self.kinds = self.kinds - known, set()
        levels = self._rounds.levels
        return list(first_found(self._compiled, levels.chunks(len(levels.counts) - 1), kinds))

    def go_on(self) -> None:
        """The next level, which is finished, becomes the frontier."""
        self._place = self.generated = self.packing.records = 0


class Shard:
    """The states seen of some owners, told apart by ``keys``; new ones go to ``rounds.levels``.

    Everything that makes the table larger raises ``TableFullError``, and everything that writes ``OSError``.
    """

    def __init__(self, compiled: Compiled, rounds: Rounds, tally: SearchCounters, keys: StateKeys, budget: int) -> None:
        self.kinds: set[Kind] = set()
        self._compiled = compiled
        self._rounds = rounds
        self._tally = tally
        rounds.use(keys)
        self._table = StateTable(keys.words(compiled.layout.words), budget)

    @property
    def bytes(self) -> int:
        """The memory that slots take."""
        return self._table.bytes

    def remember(self, rows: Iterable[Rows], runs: Sequence[Rows] = (), spare: int = 0) -> None:
        """Take states for seen, all of which must be of this shard; ``runs`` are sorted keys of others, all of which differ.

        ``spare`` is how many more each owner is expected to get besides those in runs.
        """
        if runs:
            self._table.adopt(runs, spare)
        self._rounds.refill(self._table, rows)

    def keep(self, expansion: Expansion) -> None:
        """Keep what is new of the candidates that belong here."""
        self._keep(expansion.lanes, [lane.first for lane in expansion.lanes], expansion.names)

    def receive(self, words: Rows) -> None:
        """Keep what is new in a packet; raises ``DamagedError``."""
        packet = self._rounds.levels.layout.whole(words)
        n = len(packet.rows)
        arena = self._rounds.arena
        lane = self._rounds.load(packet.rows)
        arena.parents[lane.at, :n] = np.arange(n, dtype=np.uint32)
        arena.actions[lane.at, :n] = packet.actions
        self._keep([lane], [0], [packet.parents])

    def _keep(self, lanes: list[ThreadBuffer], firsts: list[int], names: list[Rows]) -> None:
        """Keep what is new in lanes, whose predecessors are counted from the first ones and have these fingerprints."""
        new = self._rounds.insert(self._table, lanes)
        for lane in lanes:
            lane.found_states[:] = NEVER
        stage, places = self._rounds.stage(lanes, new)
        for lane, first, prints, at, size in zip(lanes, firsts, names, places, new.tolist(), strict=True):
            rename(stage.parents, at, at + size, first, prints)
            self._tally.fresh += lane.fresh
            self.kinds.update((STATE, which) for which in np.flatnonzero(lane.found_states != NEVER).tolist())
        self._rounds.levels.commit(int(new.sum()))

    def findings(self, known: set[Kind]) -> list[ShardFinding]:
        """The findings in the states of the last finished level, of the kinds that were noted and are not known yet."""
        kinds, self.kinds = self.kinds - known, set()
        levels = self._rounds.levels
        return list(first_found(self._compiled, levels.chunks(len(levels.counts) - 1), kinds))


def owned(compiled: Compiled, rows: Rows, first: int, last: int) -> Rows:
    """The rows whose owners are from the first number up to the second."""
    owners = compiled.machine.prints(np.ascontiguousarray(rows)) >> OWNER_SHIFT
    chosen: Rows = rows[(owners >= first) & (owners < last)]
    return chosen


def first_found(compiled: Compiled, chunks: Iterable[RecordChunk], kinds: set[Kind]) -> Iterator[ShardFinding]:
    """For each kind the finding at the state with the smallest fingerprint."""
    if not kinds:
        return
    probe, best = Probe(compiled), dict[Kind, ShardFinding]()
    for chunk in chunks:
        prints = compiled.machine.prints(np.ascontiguousarray(chunk.rows))
        order = np.argsort(prints, kind="stable")
        rows = np.ascontiguousarray(chunk.rows[order])
        for (kind, at), place, row in _in_order(probe, rows, kinds):
            mark = int(prints[order[place]])
            if (kind, at) not in best or mark < best[kind, at].print:
                best[kind, at] = ShardFinding(kind, at, mark, tuple(rows[place].tolist()), row)
    yield from best.values()


def _in_order(probe: Probe, rows: Rows, kinds: set[Kind]) -> Iterator[tuple[Kind, int, tuple[int, ...]]]:
    """The first finding of each kind in rows: its place there, and the successor if it is of a step."""
    if any(kind == STATE for kind, _ in kinds):
        decided = probe.decided(rows)
        yield from ((each, decided[each[1]], ()) for each in kinds if each[0] == STATE and decided[each[1]] != NEVER)
    if all(kind == STATE for kind, _ in kinds):
        return
    successors = probe.expand(rows)
    for kind, slot in SOURCES:
        if (kind, 0) in kinds and probe.position(slot) != NEVER:
            yield (kind, 0), probe.position(slot), ()
    steps = probe.false_steps()
    for kind, at in kinds:
        if kind == STEP and steps[at] != NEVER:
            yield (kind, at), int(successors.parents[steps[at]]), tuple(successors.rows[steps[at]].tolist())
