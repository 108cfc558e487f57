"""A shortest path in the product of a state graph and an automaton, searched backwards by tasks that each hold some
states.

As in trimming (docs/design/distributed-liveness.md), a node from which a path is known informs the nodes with a step to
it. Each node keeps the one step by which its path continues, so that following the path needs the nodes on it and no
others.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.checker.explicit.liveness.distributed_trimming import IncomingSteps, Rules, arrivals
from assay.checker.jit.array_ops import distinct
from assay.checker.liveness.state_graph import Flags, Numbers
from assay.grammar.lazy_dataclass import dataclass

NODE_BITS, PART_BITS = 32, 40
"""A hop packs the number of a state, its task from bit ``NODE_BITS`` on, and in bit ``PART_BITS`` whether it ends the
path."""


@dataclass(frozen=True, slots=True)
class HopMessage:
    """A message to a task: from these of its states, transition ``way`` leads on to ``hops``, by steps with
    ``labels``."""

    part: int
    way: int
    states: Numbers
    hops: Numbers
    labels: Numbers


@dataclass(slots=True)
class PathNodes:
    """The nodes of a task, indexed by state and automaton state: where a path may go (``open``), may end (``goal``),
    and is known (``reached``).

    ``fresh`` nodes are those that others were not informed about yet; ``hops``, ``ways`` and ``labels`` say how the
    path continues from a reached node.
    """

    open: Flags
    goal: Flags
    reached: Flags
    fresh: Flags
    hops: Numbers
    ways: Numbers
    labels: Numbers


class BackwardSearch:
    """One task's part of the search. A path ends in a goal, or by a step that collects one of the marks ``wanted``, if
    there are any.

    ``stopping``: only the step that changes nothing is taken.
    """

    def __init__(
        self, of: Rules, kinds: Numbers, steps: IncomingSteps, part: int, wanted: Numbers, *, stopping: bool
    ) -> None:
        self._rules = of
        self._kinds = kinds
        self._steps = steps
        self._part = part
        self._wanted = wanted
        self._stopping = stopping

    def begin(self, open_: Flags, goal: Flags) -> PathNodes:
        """The nodes before any message arrived."""
        # Where a mark is wanted, a path ends with a step, and any open node may be its last one.
        fresh = open_ & (goal | bool(self._wanted.any()))
        none = np.zeros(open_.shape, np.uint32)
        approach = PathNodes(open_, goal, np.zeros_like(open_), fresh, none.astype(np.uint64), none, none.copy())
        self._stay(approach, np.arange(len(self._kinds)))
        return approach

    def messages(self, approach: PathNodes) -> Iterator[HopMessage]:
        """The messages to other tasks, and to this one, about the nodes that are fresh."""
        if self._stopping:
            return
        for of in arrivals(self._steps, approach.fresh):
            for way in range(len(self._rules.origin)):
                yield from self._messages(approach, way, of)

    def _messages(self, approach: PathNodes, way: int, of: IncomingSteps) -> Iterator[HopMessage]:
        rules, to, targets = self._rules, int(self._rules.target[way]), of.starts
        last = self._ends(approach, way, targets, of.labels)
        chosen = approach.fresh[targets, to] & rules.passes[of.labels, way] & (last | approach.reached[targets, to])
        at = np.flatnonzero(chosen)
        hops = self._hops(targets[at], last[at])
        # The smallest hop of each node comes first, and is sent: the path does not depend on the order of steps in a
        # file.
        order = np.lexsort((of.labels[at], hops, of.sources[at], of.parts[at]))
        at, hops = at[order], hops[order]
        key = (of.parts[at].astype(np.int64) << NODE_BITS) | of.sources[at]
        heads = np.flatnonzero(np.diff(key, prepend=-1) != 0)
        at, hops = at[heads], hops[heads]
        for part in distinct(of.parts[at]).tolist():
            own = of.parts[at] == part
            mine = at[own]
            yield HopMessage(
                part, way, of.sources[mine].astype(np.uint32), hops[own], of.labels[mine].astype(np.uint32)
            )

    def _ends(self, approach: PathNodes, way: int, targets: Numbers, labels: Numbers) -> Flags:
        """Whether steps by a transition, to some states and with some labels, end the path."""
        rules = self._rules
        if not self._wanted.any():
            goals: Flags = approach.goal[targets, int(rules.target[way])]
            return goals
        marks = rules.of_way[way] | rules.of_label[labels] | rules.of_kind[self._kinds[targets]]
        found: Flags = (marks & self._wanted).any(axis=-1)
        return found

    def _hops(self, states: Numbers, last: Flags) -> Numbers:
        own = np.uint64(self._part << NODE_BITS)
        return states.astype(np.uint64) | own | (last.astype(np.uint64) << np.uint64(PART_BITS))

    def receive(self, approach: PathNodes, message: HopMessage) -> None:
        """Take in a message. Before the first one of a round ``fresh`` must be cleared, and after the last one
        ``settle`` called."""
        self._learn(approach, message.states.astype(np.int64), message.way, message.hops, message.labels)

    def settle(self, approach: PathNodes) -> None:
        """Propagate what the messages brought among the automaton states of each state."""
        self._stay(approach, np.flatnonzero(approach.fresh.any(axis=1)))

    def _learn(self, approach: PathNodes, states: Numbers, way: int, hops: Numbers, labels: Numbers) -> bool:
        """Record that a transition leads on from some states; returns whether any node is newly reached.

        Of the messages of one round the smallest hop counts, so that the path does not depend on the order of arrival.
        """
        q = int(self._rules.origin[way])
        able = self._rules.admits[self._kinds[states], way] & approach.open[states, q]
        known, before = approach.reached[states, q], approach.hops[states, q]
        less = (hops < before) | ((hops == before) & (way < approach.ways[states, q]))
        # A node that an earlier round reached keeps its hop, because that path is shorter.
        new = able & (~known | (approach.fresh[states, q] & less))
        at = states[new]
        approach.reached[at, q] = approach.fresh[at, q] = True
        approach.hops[at, q], approach.ways[at, q], approach.labels[at, q] = hops[new], way, labels[new]
        return bool((able & ~known).any())

    def _stay(self, approach: PathNodes, some: Numbers) -> None:
        """Propagate along the step that changes nothing, for some states."""
        rules, none = self._rules, np.zeros(len(some), np.uint32)
        ways = [way for way in range(len(rules.origin)) if rules.passes[0, way]]
        new = bool(len(some))
        while new:
            new = False
            for way in ways:
                q, to = int(rules.origin[way]), int(rules.target[way])
                last = self._ends(approach, way, some, none)
                leads = approach.open[some, to] & (last | approach.reached[some, to]) & ~approach.reached[some, q]
                there = some[leads]
                new |= self._learn(approach, there, way, self._hops(there, last[leads]), none[leads])
