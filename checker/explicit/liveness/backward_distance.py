"""A shortest way in the product of a state graph with an automaton, looked for backwards by several tasks that each hold some of the states.

As in docs/design/distributed-liveness.md, who has a way tells those from whose states a step leads there. Each node keeps the one step by which it goes on, so that nobody
needs more than the nodes of a way to follow it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from assay.checker.explicit.liveness.distributed_trimming import IncomingSteps, Rules, arrivals
from assay.checker.jit.array_ops import distinct
from assay.checker.liveness.state_graph import Flags, Numbers

NODE_BITS, PART_BITS = 32, 40
"""A hop is the number of a state, a task from bit 32 on, and in bit 40 whether it ends the way."""


@dataclass(frozen=True, slots=True)
class Hops:
    """What a task has to be told: from these of its states transition ``way`` leads on to ``hops``, by steps with ``labels``."""

    part: int
    way: int
    states: Numbers
    hops: Numbers
    labels: Numbers


@dataclass(slots=True)
class Approach:
    """The nodes of a task's states, by state and automaton state: where a way may go (``open``) and may end (``goal``), whence one is known (``reached``).

    ``fresh`` are the nodes of which the others were not told yet; ``hops``, ``ways`` and ``labels`` say how those that are reached go on.
    """

    open: Flags
    goal: Flags
    reached: Flags
    fresh: Flags
    hops: Numbers
    ways: Numbers
    labels: Numbers


class Approaching:
    """What one task does with its states. A way ends in a goal, or by a step that collects one of the marks ``wanted``, if there are any.

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

    def begin(self, open_: Flags, goal: Flags) -> Approach:
        """Before anybody was told anything."""
        fresh = open_ & (goal | bool(self._wanted.any()))
        none = np.zeros(open_.shape, np.uint32)
        approach = Approach(open_, goal, np.zeros_like(open_), fresh, none.astype(np.uint64), none, none.copy())
        self._stay(approach, np.arange(len(self._kinds)))
        return approach

    def tell(self, approach: Approach) -> Iterator[Hops]:
        """What others, and this task itself, have to be told of the nodes that are fresh."""
        if self._stopping:
            return
        for of in arrivals(self._steps, approach.fresh):
            for way in range(len(self._rules.origin)):
                yield from self._told(approach, way, of)

    def _told(self, approach: Approach, way: int, of: IncomingSteps) -> Iterator[Hops]:
        rules, to, targets = self._rules, int(self._rules.target[way]), of.starts
        last = self._ends(approach, way, targets, of.labels)
        chosen = approach.fresh[targets, to] & rules.passes[of.labels, way] & (last | approach.reached[targets, to])
        at = np.flatnonzero(chosen)
        hops = self._hops(targets[at], last[at])
        order = np.lexsort((of.labels[at], hops, of.sources[at], of.parts[at]))
        at, hops = at[order], hops[order]
        key = (of.parts[at].astype(np.int64) << NODE_BITS) | of.sources[at]
        heads = np.flatnonzero(np.diff(key, prepend=-1) != 0)
        at, hops = at[heads], hops[heads]
        for part in distinct(of.parts[at]).tolist():
            own = of.parts[at] == part
            mine = at[own]
            yield Hops(part, way, of.sources[mine].astype(np.uint32), hops[own], of.labels[mine].astype(np.uint32))

    def _ends(self, approach: Approach, way: int, targets: Numbers, labels: Numbers) -> Flags:
        """Whether steps by a transition, to some states and with some labels, end the way."""
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

    def hear(self, approach: Approach, told: Hops) -> None:
        """Take in what some task tells. Before the first time in a round ``fresh`` is to be cleared, and after the last ``settle`` called."""
        self._learn(approach, told.states.astype(np.int64), told.way, told.hops, told.labels)

    def settle(self, approach: Approach) -> None:
        """Follow what was heard to the end among the nodes of one state."""
        self._stay(approach, np.flatnonzero(approach.fresh.any(axis=1)))

    def _learn(self, approach: Approach, states: Numbers, way: int, hops: Numbers, labels: Numbers) -> bool:
        """That a transition leads on from some states; whether anything is new. Of what is heard in one round the least counts, in whatever order it comes."""
        q = int(self._rules.origin[way])
        able = self._rules.admits[self._kinds[states], way] & approach.open[states, q]
        known, before = approach.reached[states, q], approach.hops[states, q]
        less = (hops < before) | ((hops == before) & (way < approach.ways[states, q]))
        new = able & (~known | (approach.fresh[states, q] & less))
        at = states[new]
        approach.reached[at, q] = approach.fresh[at, q] = True
        approach.hops[at, q], approach.ways[at, q], approach.labels[at, q] = hops[new], way, labels[new]
        return bool((able & ~known).any())

    def _stay(self, approach: Approach, some: Numbers) -> None:
        """What the step that changes nothing leads to, for some states."""
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
