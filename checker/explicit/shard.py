"""One shard of a distributed search: the states of some owners, expanded by one thread; the rest is sent to other
shards.

The shard does not know how batches travel. For each level, a frontier is expanded block by block, and its batches are
handed over. The shards that own their states receive them in any order. Results depend neither on that order nor on the
number of shards. Of each kind of finding, the one at the state with the smallest fingerprint counts.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from assay.checker.explicit.expansion.compiled_interface import Compiled
from assay.checker.explicit.expansion.counters import SearchCounters
from assay.checker.explicit.expansion.outgoing_batches import BatchPacker, OutgoingBatch
from assay.checker.explicit.expansion.parallel_round import Rounds
from assay.checker.explicit.expansion.single_states import Probe
from assay.checker.explicit.expansion.thread_buffer import ThreadBuffer
from assay.checker.explicit.findings import DEAD, STATE, STEP, STUCK, TERMINAL
from assay.checker.explicit.store.hash_kernels import OWNER_SHIFT, rename
from assay.checker.explicit.store.hash_table import StateKeys, StateTable
from assay.checker.explicit.store.level_file import RecordChunk
from assay.checker.layout.call_frame import NEVER, ContextSlot
from assay.checker.layout.row import Rows
from assay.grammar.lazy_dataclass import dataclass

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
    """Buffers with the candidates that stay here, the fingerprints of the states that each expanded, and the batches
    that became full."""

    lanes: list[ThreadBuffer]
    names: list[Rows]
    packets: list[OutgoingBatch]


class ShardFrontier:
    """The states of the last finished level of ``rounds.levels``, to be expanded. ``kinds`` are the kinds of findings
    noted so far."""

    def __init__(self, compiled: Compiled, rounds: Rounds, packing: BatchPacker, tally: SearchCounters) -> None:
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
        """How many states are not expanded yet."""
        return self._count - self._place

    def expand(self) -> Expansion:
        """Expand some states, and pack the candidates that other shards own."""
        started = time.perf_counter()
        lanes = self._rounds.expand(self._place, self._count)
        names = [self._compiled.machine.prints(lane.sources) for lane in lanes]
        packets: list[OutgoingBatch] = []
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
        # Which state comes first depends on how batches travel. So only the kind is noted here, and `first_found` looks
        # for the state.
        self.kinds.update((kind, 0) for kind, slot in SOURCES if int(lane.context[slot]) != NEVER)
        self.kinds.update((STEP, at) for at in np.flatnonzero(lane.found_steps != NEVER).tolist())

    def findings(self, known: set[Kind]) -> list[ShardFinding]:
        """The findings in the level, of the kinds that were noted and are not in ``known``. Afterwards no kind is
        noted."""
        kinds, self.kinds = self.kinds - known, set()
        levels = self._rounds.levels
        return list(first_found(self._compiled, levels.chunks(len(levels.counts) - 1), kinds))

    def go_on(self) -> None:
        """Make the next level, which is finished, the frontier."""
        self._place = self.generated = self.packing.records = 0


class Shard:
    """The visited states of some owners, identified by ``keys``; new ones go to ``rounds.levels``.

    Whatever enlarges the table may raise ``TableFullError``, and whatever writes may raise ``OSError``.
    """

    def __init__(self, compiled: Compiled, rounds: Rounds, tally: SearchCounters, keys: StateKeys, budget: int) -> None:
        self.kinds: set[Kind] = set()
        self._compiled = compiled
        self._rounds = rounds
        self._tally = tally
        # Buffers first: they have room for the second fingerprints that some keys need.
        rounds.use(keys)
        self._table = StateTable(keys.halves(compiled.layout.words), budget)

    @property
    def bytes(self) -> int:
        """The memory of the slots, in bytes."""
        return self._table.bytes

    def remember(self, rows: Iterable[Rows], runs: Sequence[Rows] = (), spare: int = 0) -> None:
        """Mark states of this shard as visited. ``runs`` are sorted keys of further ones, all different from each other
        and from the rows.

        ``spare`` is how many more states each owner is expected to get besides those in ``runs``.
        """
        if runs:
            self._table.adopt(runs, spare)
        self._rounds.refill(self._table, rows)

    def keep(self, expansion: Expansion) -> None:
        """Insert the candidates of an expansion that belong here."""
        self._keep(expansion.lanes, [lane.first for lane in expansion.lanes], expansion.names)

    def receive(self, words: Rows) -> None:
        """Insert the states of a received batch. Raises ``DamagedError``."""
        packet = self._rounds.levels.layout.whole(words)
        n = len(packet.rows)
        arena = self._rounds.arena
        lane = self._rounds.load(packet.rows)
        # A record's own position stands in for its predecessor, until `rename` puts the fingerprint that came along.
        arena.parents[lane.at, :n] = np.arange(n, dtype=np.uint32)
        arena.actions[lane.at, :n] = packet.actions
        self._keep([lane], [0], [packet.parents])

    def _keep(self, lanes: list[ThreadBuffer], firsts: list[int], names: list[Rows]) -> None:
        """Insert what buffers hold. Predecessors are counted from ``firsts`` and have the fingerprints ``names``."""
        new = self._rounds.insert(self._table, lanes)
        for lane in lanes:
            lane.found_states[:] = NEVER  # ``load`` leaves old findings, and ``stage`` notes those in the new states
        stage, places = self._rounds.stage(lanes, new)
        for lane, first, prints, at, size in zip(lanes, firsts, names, places, new.tolist(), strict=True):
            # A place in a level means nothing to other shards, so predecessors are named by fingerprints.
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
    """The rows that belong to owners from ``first`` up to ``last`` (exclusive)."""
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
        # Compiled code reports the first of the rows, which in this order is the one with the smallest fingerprint.
        order = np.argsort(prints, kind="stable")
        rows = np.ascontiguousarray(chunk.rows[order])
        for (kind, at), place, row in _in_order(probe, rows, kinds):
            mark = int(prints[order[place]])
            if (kind, at) not in best or mark < best[kind, at].print:
                best[kind, at] = ShardFinding(kind, at, mark, tuple(rows[place].tolist()), row)
    yield from best.values()


def _in_order(probe: Probe, rows: Rows, kinds: set[Kind]) -> Iterator[tuple[Kind, int, tuple[int, ...]]]:
    """The first finding of each kind in rows: its position, and the successor if it is a step."""
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
