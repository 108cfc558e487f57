"""What tasks do to find a shortest way in a product of which each of them holds a part: they approach, round by round, whatever it is to lead to.

How each node goes on is in the files of its task, so that the driver follows a way by reading a few bytes for each of its nodes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import assert_never

import numpy as np

from assay.checker.explicit.liveness.backward_distance import NODE_BITS, PART_BITS, Approach, Approaching, Hops
from assay.checker.liveness.state_graph import Flags, Numbers
from assay.spark.liveness.product_tasks import Packet, ProductInfo, own_rows, write
from assay.spark.storage.filesystem import Storage

FLAGS = 4
"""Bytes of flags of a node, before the arrays that say how it goes on."""


@dataclass(frozen=True, slots=True, order=True)
class ProductNode:
    """A node: the task that holds it, the number of its state there, and its automaton state."""

    part: int
    state: int
    q: int


@dataclass(frozen=True, slots=True)
class ToLeft:
    """To a node that trimming left."""


@dataclass(frozen=True, slots=True)
class ToKinds:
    """To a node whose kind and automaton state are flagged."""

    flags: Flags


@dataclass(frozen=True, slots=True)
class ToPlaces:
    """To one of some nodes; ``inside``: through nodes that are left."""

    places: tuple[ProductNode, ...]
    inside: bool


@dataclass(frozen=True, slots=True)
class ToMarks:
    """To a step that collects one of these marks, through nodes that are left."""

    marks: Numbers


Aim = ToLeft | ToKinds | ToPlaces | ToMarks


@dataclass(frozen=True, slots=True)
class Route:
    """What a way is looked for in, to what, and from where: a node, or an initial one, which may be the end itself. ``files`` are those of the last round.

    Where runs are meant that stay in one state, a way from a node stays there, and one from an initial node leads there.
    """

    product: ProductInfo
    aim: Aim
    start: ProductNode | None
    files: tuple[str, ...] = ()

    def work(self, part: int) -> Approaching:
        """What a task works with."""
        wanted = self.aim.marks if isinstance(self.aim, ToMarks) else np.zeros(self.product.rules.words, np.uint64)
        kinds, steps = self.product.drawn(part)
        stopping = self.product.stopping and self.start is not None
        return Approaching(self.product.rules, kinds, steps, part, wanted, stopping=stopping)

    def ends(self, part: int) -> tuple[Flags, Flags]:
        """Where a way may go among the nodes of a task, and where it may end."""
        product, shape = self.product, self.product.shape(part)
        every, none = np.ones(shape, bool), np.zeros(shape, bool)
        match self.aim:
            case ToLeft():
                return every, product.region(part).alive
            case ToKinds(flags):
                return every, flags[product.drawn(part)[0]]
            case ToPlaces(places, inside):
                for place in places:
                    if place.part == part:
                        none[place.state, place.q] = True
                return product.region(part).alive if inside else every, none
            case ToMarks():
                return product.region(part).alive, none
            case _:
                assert_never(self.aim)

    def approach(self, part: int) -> Approach:
        """How an earlier job left a part."""
        shape = self.product.shape(part)
        content, n = Storage(self.product.graph.workdir).read(self.files[part]), shape[0] * shape[1]
        may, goal, reached, fresh = np.frombuffer(content, bool, FLAGS * n).reshape(FLAGS, *shape).copy()
        hops = np.frombuffer(content, np.uint64, n, offset=FLAGS * n).reshape(shape).copy()
        ways, labels = np.frombuffer(content, np.uint32, offset=(FLAGS + 8) * n).reshape(2, *shape).copy()
        return Approach(may, goal, reached, fresh, hops, ways, labels)

    def keep(self, approach: Approach, part: int) -> str:
        """Keep a part as it is now; what the task says, as text."""
        flags = (approach.open, approach.goal, approach.reached, approach.fresh)
        name = write(self.product.graph, "way", [*flags, approach.hops, approach.ways, approach.labels])
        return json.dumps(asdict(Came(name, int(approach.fresh.sum()), self._first(approach, part))))

    def _first(self, approach: Approach, part: int) -> int:
        """The number of the first state of the task at which the way may begin, as far as is known; -1 if there is none."""
        if self.start is not None:
            own = self.start.part == part and bool(approach.reached[self.start.state, self.start.q])
            return self.start.state if own else -1
        initial = self.product.parts[part].drawn.initial
        found = np.flatnonzero((approach.reached | approach.goal)[:initial, 0])
        return int(found[0]) if len(found) else -1

    def follow(self, place: ProductNode) -> Iterator[tuple[int, int, ProductNode]]:
        """The way from a node on: transition, label, and node, step by step. A way from a goal that is no start in particular has no steps."""
        storage, ended = Storage(self.product.graph.workdir), False
        if self.start is None:
            ended = bool(self._at(storage, place, 1, 1, np.uint8))
        while not ended:
            hop = self._at(storage, place, FLAGS, 8, np.uint64)
            way, label = (self._at(storage, place, FLAGS + 8 + 4 * at, 4, np.uint32) for at in range(2))
            ended = bool(hop >> PART_BITS)
            part, state = hop >> NODE_BITS & 0xFF, hop & 0xFFFF_FFFF
            place = ProductNode(part, state, int(self.product.rules.target[way]))
            yield way, label, place

    def _at(self, storage: Storage, place: ProductNode, skipped: int, size: int, kind: type[np.unsignedinteger]) -> int:
        """The number of a node in one of the arrays of its file, behind arrays that take ``skipped`` bytes a node."""
        states, width = self.product.shape(place.part)
        offset = skipped * states * width + size * (place.state * width + place.q)
        return int(np.frombuffer(storage.section(self.files[place.part], offset, size), kind)[0])


@dataclass(frozen=True, slots=True)
class Came:
    """What a task says after a round: its file, how many nodes have something to tell, and a state at which the way may begin, or -1."""

    file: str
    fresh: int
    at: int


def came(text: str) -> Came:
    """What a task said."""
    return Came(**json.loads(text))


def begun(route: Route, part: int, _: Iterable[bytes]) -> str:
    """Begin at the end of a way."""
    return route.keep(route.work(part).begin(*route.ends(part)), part)


def told(route: Route, part: int) -> Iterator[Packet]:
    """What a task tells the others in a round, and itself at last, so that every task hears something."""
    for each in route.work(part).tell(route.approach(part)):
        head = np.array([each.way, len(each.states)], np.int64)
        yield each.part, b"".join(array.tobytes() for array in (head, each.hops, each.states, each.labels))
    yield part, b""


def heard(route: Route, part: int, packets: Iterable[bytes]) -> str:
    """Take in what a task was told in a round; what it says then, as text."""
    work, approach = route.work(part), route.approach(part)
    approach.fresh[:] = False
    for packet in packets:
        if packet:
            way, n = np.frombuffer(packet, np.int64, 2).tolist()
            hops = np.frombuffer(packet, np.uint64, n, offset=16)
            states, labels = np.frombuffer(packet, np.uint32, offset=16 + 8 * n).reshape(2, n)
            work.hear(approach, Hops(part, way, states, hops, labels))
    work.settle(approach)
    return route.keep(approach, part)


def looked_up(product: ProductInfo, wanted: tuple[tuple[int, int], ...], part: int, _: Iterable[bytes]) -> str:
    """Of the states wanted (task, number) those of a task, with their levels and the words of their rows, as text."""
    left, first, found = sorted({state for at, state in wanted if at == part}), 0, []
    for level, some in own_rows(product.graph, part):
        while left and left[0] < first + len(some):
            found.append([left[0], level, some[left[0] - first].tolist()])
            del left[0]
        if not left:
            break
        first += len(some)
    return json.dumps(found)
