"""A backward breadth-first search in the product. Each task holds one part of the states.

In each round the tasks that hold nodes from which the goal is reachable send this to the tasks that hold predecessors.
For each node, the file of its task says what the next step to the goal is. So the driver follows a path by reading a
few bytes a node.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import assert_never

import numpy as np

from assay.checker.explicit.liveness.backward_distance import (
    NODE_BITS,
    PART_BITS,
    BackwardSearch,
    HopMessage,
    PathNodes,
)
from assay.checker.liveness.state_graph import Flags, Numbers
from assay.grammar.lazy_dataclass import dataclass
from assay.spark.liveness.product_tasks import ProductInfo, ShuffleBatch, own_rows, write
from assay.spark.storage.filesystem import Storage

FLAGS = 4
"""Bytes of flags of a node in a file, before the arrays of next steps."""


@dataclass(frozen=True, slots=True, order=True)
class ProductNode:
    """A node of the product: the task that holds it, the number of its state there, and its automaton state."""

    part: int
    state: int
    q: int


@dataclass(frozen=True, slots=True)
class ToLeft:
    """The goal is any node that trimming left."""


@dataclass(frozen=True, slots=True)
class ToKinds:
    """The goal is any node whose kind and automaton state are flagged."""

    flags: Flags


@dataclass(frozen=True, slots=True)
class ToPlaces:
    """The goal is one of some nodes. With ``inside`` the path leads through nodes that trimming left."""

    places: tuple[ProductNode, ...]
    inside: bool


@dataclass(frozen=True, slots=True)
class ToMarks:
    """The goal is a step that collects one of these marks; the path leads through nodes that trimming left."""

    marks: Numbers


Aim = ToLeft | ToKinds | ToPlaces | ToMarks


@dataclass(frozen=True, slots=True)
class PathSearch:
    """A search for a shortest path: the product, the goal, and the start: a node, or any initial node, which may itself
    be a goal.

    ``files`` are those of the last round. ``stopping`` is a product of executions that stay in one state. With it, a
    path from a node stays in its state, and a path from an initial node leads to such a state.
    """

    product: ProductInfo
    aim: Aim
    start: ProductNode | None
    files: tuple[str, ...] = ()

    def work(self, part: int) -> BackwardSearch:
        """The backward search in the part of one task."""
        # No mark is wanted where the goal is a node: then a path ends there, and not by a step.
        wanted = self.aim.marks if isinstance(self.aim, ToMarks) else np.zeros(self.product.rules.words, np.uint64)
        kinds, steps = self.product.graph_part(part)
        # A path from an initial node moves to the state in which the execution then stays.
        stopping = self.product.stopping and self.start is not None
        return BackwardSearch(self.product.rules, kinds, steps, part, wanted, stopping=stopping)

    def ends(self, part: int) -> tuple[Flags, Flags]:
        """Two flags for each node of a task: whether a path may lead through it, and whether it is a goal."""
        product, shape = self.product, self.product.shape(part)
        every, none = np.ones(shape, bool), np.zeros(shape, bool)
        match self.aim:
            case ToLeft():
                return every, product.region(part).alive
            case ToKinds(flags):
                return every, flags[product.graph_part(part)[0]]
            case ToPlaces(places, inside):
                for place in places:
                    if place.part == part:
                        none[place.state, place.q] = True
                # Inside, the path is part of a fair cycle and must not leave what trimming left.
                return product.region(part).alive if inside else every, none
            case ToMarks():
                return product.region(part).alive, none
            case _:
                assert_never(self.aim)

    def approach(self, part: int) -> PathNodes:
        """A part as the last round left it."""
        shape = self.product.shape(part)
        content, n = Storage(self.product.graph.workdir).read(self.files[part]), shape[0] * shape[1]
        may, goal, reached, fresh = np.frombuffer(content, bool, FLAGS * n).reshape(FLAGS, *shape).copy()
        hops = np.frombuffer(content, np.uint64, n, offset=FLAGS * n).reshape(shape).copy()
        ways, labels = np.frombuffer(content, np.uint32, offset=(FLAGS + 8) * n).reshape(2, *shape).copy()
        return PathNodes(may, goal, reached, fresh, hops, ways, labels)

    def keep(self, approach: PathNodes, part: int) -> str:
        """Write a part as it is now, and return the reply to the driver as text."""
        flags = (approach.open, approach.goal, approach.reached, approach.fresh)
        name = write(self.product.graph, "way", [*flags, approach.hops, approach.ways, approach.labels])
        return json.dumps(asdict(PathReply(name, int(approach.fresh.sum()), self._first(approach, part))))

    def _first(self, approach: PathNodes, part: int) -> int:
        """The number of the first state of the task at which the path may begin, as far as is known; -1 if there is
        none.
        """
        if self.start is not None:
            own = self.start.part == part and bool(approach.reached[self.start.state, self.start.q])
            return self.start.state if own else -1
        initial = self.product.parts[part].summary.initial
        # Level 0 comes first in the order of a task, and an automaton begins in its state 0.
        found = np.flatnonzero((approach.reached | approach.goal)[:initial, 0])
        return int(found[0]) if len(found) else -1

    def follow(self, place: ProductNode) -> Iterator[tuple[int, int, ProductNode]]:
        """The path from a node on: for each step the transition of the automaton, the label, and the next node.

        A path without a given start that begins at a goal has no steps.
        """
        storage, ended = Storage(self.product.graph.workdir), False
        if self.start is None:
            ended = bool(self._at(storage, place, 1, 1, np.uint8))
        while not ended:
            hop = self._at(storage, place, FLAGS, 8, np.uint64)
            way, label = (self._at(storage, place, FLAGS + 8 + 4 * at, 4, np.uint32) for at in range(2))
            # A hop packs the node it leads to, and above that whether the goal is reached by it.
            ended = bool(hop >> PART_BITS)
            # There are at most 256 parts, as many as owners, so that eight bits name one.
            part, state = hop >> NODE_BITS & 0xFF, hop & 0xFFFF_FFFF
            place = ProductNode(part, state, int(self.product.rules.target[way]))
            yield way, label, place

    def _at(self, storage: Storage, place: ProductNode, skipped: int, size: int, kind: type[np.unsignedinteger]) -> int:
        """The number of a node in one of the arrays of its file, behind arrays that take ``skipped`` bytes a node."""
        states, width = self.product.shape(place.part)
        offset = skipped * states * width + size * (place.state * width + place.q)
        return int(np.frombuffer(storage.section(self.files[place.part], offset, size), kind)[0])


@dataclass(frozen=True, slots=True)
class PathReply:
    """A task's reply after a round: its file, and how many nodes have messages to send. Then a state at which the path
    may begin, or -1.
    """

    file: str
    fresh: int
    at: int


def reply_from_json(text: str) -> PathReply:
    """The reply of a task."""
    return PathReply(**json.loads(text))


def begin_search(search: PathSearch, part: int, _: Iterable[bytes]) -> str:
    """Begin the backward search at the goal."""
    return search.keep(search.work(part).begin(*search.ends(part)), part)


def send_messages(search: PathSearch, part: int) -> Iterator[ShuffleBatch]:
    """What a task sends to the others in a round, and an empty packet to itself, so that every task receives
    something.
    """
    for each in search.work(part).messages(search.approach(part)):
        # The wider numbers come first, so that each array of the packet lies at a multiple of its width.
        head = np.array([each.way, len(each.states)], np.int64)
        yield each.part, b"".join(array.tobytes() for array in (head, each.hops, each.states, each.labels))
    yield part, b""


def receive_messages(search: PathSearch, part: int, packets: Iterable[bytes]) -> str:
    """Apply the messages of a round to a part; returns the reply as text."""
    work, approach = search.work(part), search.approach(part)
    approach.fresh[:] = False
    for packet in packets:
        if packet:
            way, n = np.frombuffer(packet, np.int64, 2).tolist()
            hops = np.frombuffer(packet, np.uint64, n, offset=16)
            states, labels = np.frombuffer(packet, np.uint32, offset=16 + 8 * n).reshape(2, n)
            work.receive(approach, HopMessage(part, way, states, hops, labels))
    work.settle(approach)
    return search.keep(approach, part)


def look_up_states(product: ProductInfo, wanted: tuple[tuple[int, int], ...], part: int, _: Iterable[bytes]) -> str:
    """Of the wanted states (task, number) those that a task owns, with their levels and rows, as text."""
    left, first, found = sorted({state for at, state in wanted if at == part}), 0, []
    for level, some in own_rows(product.graph, part):
        while left and left[0] < first + len(some):
            found.append([left[0], level, some[left[0] - first].tolist()])
            # Sorted, so that the next one wanted is always in front.
            del left[0]
        if not left:
            break
        first += len(some)
    return json.dumps(found)
