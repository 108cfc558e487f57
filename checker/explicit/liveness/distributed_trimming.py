"""Whether the product of a state graph and an automaton has a fair cycle, decided by trimming, in tasks that each hold
some states.

Nodes are removed until three things hold of each remaining one. It has a step to a remaining node. It has a path to
every needed mark. It has a path to every mark of strong fairness that it asks for. Nodes remain exactly if there is a
fair cycle. docs/design/distributed-liveness.md has the argument and its sources (Černá and Pelánek, 2003; Kesten,
Pnueli and Raviv, 1998).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from assay.checker.jit.array_ops import distinct
from assay.checker.liveness.product import ProductTables
from assay.checker.liveness.state_graph import Flags, Numbers
from assay.grammar.lazy_dataclass import dataclass

BITS = 64
STRETCH = 1 << 20
"""The most steps processed together, unless one state has more."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The automaton and the marks as arrays. ``origin[w]`` and ``target[w]`` are the automaton states of transition w;
    marks are bits of words.

    ``admits[kind, w]`` and ``passes[label, w]`` are as in ``ProductTables``.
    """

    states: int
    origin: Numbers
    target: Numbers
    admits: Flags
    passes: Flags
    of_way: Numbers
    of_label: Numbers
    of_kind: Numbers
    asked: Numbers
    needed: Numbers

    @property
    def words(self) -> int:
        """The number of words that hold the marks."""
        return len(self.needed)


def rules(tables: ProductTables) -> Rules:
    """The tables of a product as arrays."""
    marks = tables.marks
    count = 1 + max((0, *marks.needed, *(mark for own in (*marks.of_label, *marks.asked) for mark in own)))
    words = -(-count // BITS)
    origin = np.repeat(np.arange(tables.states), np.diff(tables.first))
    way, label, kind, asked = (
        as_words(own, words) for own in (marks.of_way, marks.of_label, marks.of_kind, marks.asked)
    )
    needed = as_words([marks.needed], words)[0]
    return Rules(
        tables.states, origin, tables.targets, tables.admits, tables.passes, way, label, kind, asked, needed
    )  # fmt: skip


def as_words(sets: Sequence[frozenset[int]], words: int) -> Numbers:
    """Sets of marks as rows of bits, each of ``words`` words."""
    made = np.zeros((len(sets), words), np.uint64)
    for at, own in enumerate(sets):
        for mark in own:
            made[at, mark // BITS] |= np.uint64(1 << mark % BITS)
    return made


@dataclass(frozen=True, slots=True)
class IncomingSteps:
    """The steps that lead to the states of a task: those to state s are at ``starts[s]`` up to ``starts[s + 1]``.

    ``parts`` and ``sources`` name the state that each step comes from (a task, and a number there), ``labels`` the
    label of each.
    """

    starts: Numbers
    parts: Numbers
    sources: Numbers
    labels: Numbers


@dataclass(frozen=True, slots=True)
class TrimmingMessage:
    """A message to a task: from the states with these numbers, transition ``way`` leads to a node that can meet the
    ``marks`` beside them."""

    part: int
    way: int
    states: Numbers
    marks: Numbers


@dataclass(slots=True)
class Region:
    """The nodes of a task, indexed by state and automaton state: which remain (``alive``), have a step (``going``), and
    can meet which ``marks``.

    ``fresh`` nodes are those that others were not informed about yet.
    """

    alive: Flags
    going: Flags
    fresh: Flags
    marks: Numbers


def arrivals(steps: IncomingSteps, fresh: Flags) -> Iterator[IncomingSteps]:
    """The steps that lead to states with a fresh node, in batches of at most ``STRETCH``; ``starts`` then holds the
    target of each step."""
    starts, first, n = steps.starts, 0, len(fresh)
    while first < n:
        last = min(n, max(first + 1, int(np.searchsorted(starts, starts[first] + STRETCH, "right")) - 1))
        if fresh[first:last].any():
            at = slice(int(starts[first]), int(starts[last]))
            targets = np.repeat(np.arange(first, last), np.diff(starts[first : last + 1]))
            yield IncomingSteps(targets, steps.parts[at], steps.sources[at], steps.labels[at])
        first = last


class Trimming:
    """One task's part of trimming, for states with given kinds and steps. ``stopping``: only the step that changes
    nothing is taken."""

    def __init__(self, of: Rules, kinds: Numbers, steps: IncomingSteps, *, stopping: bool) -> None:
        self._rules = of
        self._kinds = kinds
        self._steps = steps
        self._stopping = stopping

    # ------------------------------------------------------------------------------------------------- begin

    def begin(self, alive: Flags) -> Region:
        """The remaining nodes, before any message arrived."""
        marks = np.where(alive[:, :, None], self._rules.of_kind[self._kinds][:, None, :], np.uint64(0))
        # All nodes are fresh at first: so each predecessor learns that it has a step, even if no mark is met.
        region = Region(alive, np.zeros_like(alive), alive.copy(), marks)
        self._stay(region)
        return region

    def everything(self) -> Flags:
        """All nodes."""
        return np.ones((len(self._kinds), self._rules.states), bool)

    # ------------------------------------------------------------------------------------------------- rounds

    def messages(self, region: Region) -> Iterator[TrimmingMessage]:
        """The messages to other tasks, and to this one, about the nodes that are fresh."""
        if not self._stopping:
            for of in arrivals(self._steps, region.fresh):
                for way in range(len(self._rules.origin)):
                    yield from self._messages(region, way, of)

    def _messages(self, region: Region, way: int, of: IncomingSteps) -> Iterator[TrimmingMessage]:
        """The messages that one transition causes along some steps, whose targets are in ``of.starts``."""
        rules, to = self._rules, int(self._rules.target[way])
        chosen = np.flatnonzero(region.fresh[of.starts, to] & rules.passes[of.labels, way])
        if not len(chosen):
            return
        marks = region.marks[of.starts[chosen], to] | rules.of_way[way] | rules.of_label[of.labels[chosen]]
        parts, sources = of.parts[chosen].astype(np.int64), of.sources[chosen].astype(np.int64)
        # One message for each node that has steps here, however many they are.
        key = (parts << 32) | sources
        order = np.argsort(key, kind="stable")
        begins = np.flatnonzero(np.concatenate([[True], np.diff(key[order]) != 0]))
        joined, heads = np.bitwise_or.reduceat(marks[order], begins, axis=0), order[begins]
        for part in distinct(parts[heads]).tolist():
            own = parts[heads] == part
            yield TrimmingMessage(part, way, sources[heads][own].astype(np.uint32), joined[own])

    def receive(self, region: Region, message: TrimmingMessage) -> None:
        """Take in a message. Before the first one of a round ``fresh`` must be cleared, and after the last one
        ``settle`` called."""
        self._learn(region, message.states.astype(np.int64), message.way, message.marks)

    def settle(self, region: Region) -> None:
        """Propagate what the messages brought among the automaton states of each state."""
        self._stay(region, np.flatnonzero(region.fresh.any(axis=1)))

    def _learn(self, region: Region, states: Numbers, way: int, marks: Numbers) -> bool:
        """Record that a transition leads on from some states, to nodes that can meet the marks; returns whether
        anything is new."""
        q = int(self._rules.origin[way])
        open_ = self._rules.admits[self._kinds[states], way] & region.alive[states, q]
        states, marks = states[open_], marks[open_]
        # Also where the marks bring nothing new: that there is a step is news by itself.
        region.going[states, q] = True
        known = region.marks[states, q]
        more = (marks & ~known).any(axis=1)
        region.marks[states[more], q] = known[more] | marks[more]
        region.fresh[states[more], q] = True
        return bool(more.any())

    def _stay(self, region: Region, states: Numbers | None = None) -> None:
        """Propagate along the step that changes nothing, for some states or all of them."""
        some = np.arange(len(self._kinds)) if states is None else states
        # The step that changes nothing stays in its state, so a task follows it alone until nothing is new.
        ways = [way for way in range(len(self._rules.origin)) if self._rules.passes[0, way]]
        new = bool(len(some))
        while new:
            new = False
            for way in ways:
                to = int(self._rules.target[way])
                there = some[region.alive[some, to]]
                marks = region.marks[there, to] | self._rules.of_way[way] | self._rules.of_label[0]
                new |= self._learn(region, there, way, marks)

    # --------------------------------------------------------------------------------------------------- end

    def left(self, region: Region) -> Flags:
        """The nodes that remain once no message brings anything new."""
        needs = self._rules.needed | self._rules.asked[self._kinds]
        met = ~(needs[:, None, :] & ~region.marks).any(axis=2)
        return region.alive & region.going & met
