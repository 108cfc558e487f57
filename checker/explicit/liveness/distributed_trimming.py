"""Whether the product of a state graph with an automaton has a fair cycle, decided in rounds by several tasks that each hold some of the states.

NOTE(trimming): nodes are taken out until none has to be: of those that are left each has a step to one that is left, and a way among them to
every mark that is needed, and to every mark of strong fairness that it asks for. No node of a fair cycle is ever taken out. If any are left,
there is a fair cycle: some strongly connected component of them has no way out of itself among them, and so all marks that are needed or asked for
in it are met in it (the one-way-catch-them-young of I. Černá and R. Pelánek, 2003; the bottom component as in Y. Kesten, A. Pnueli and L. Raviv,
1998, for strong fairness). Marks travel against the steps, so that a task keeps the steps that lead to its states, and tells others what it learns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.checker.jit.array_ops import distinct
from assay.checker.liveness.product import ProductTables
from assay.checker.liveness.state_graph import Flags, Numbers

BITS = 64
STRETCH = 1 << 20
"""Steps that are looked at together, at most, unless one state has more."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The automaton and the marks, as arrays. ``origin[w]`` and ``target[w]`` are the automaton states of transition w; marks are bits of words.

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
        """The words of marks."""
        return len(self.needed)


def rules(tables: ProductTables) -> Rules:
    """The rules that tables state."""
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
    """Sets of marks as rows of so many words."""
    made = np.zeros((len(sets), words), np.uint64)
    for at, own in enumerate(sets):
        for mark in own:
            made[at, mark // BITS] |= np.uint64(1 << mark % BITS)
    return made


@dataclass(frozen=True, slots=True)
class IncomingSteps:
    """The steps that lead to the states of a task: those to state s are in places ``starts[s]`` up to ``starts[s + 1]``.

    ``parts`` and ``sources`` say of each from where it comes (a task, and the number of a state there), ``labels`` of which label it is.
    """

    starts: Numbers
    parts: Numbers
    sources: Numbers
    labels: Numbers


@dataclass(frozen=True, slots=True)
class TrimmingMessage:
    """What a task has to be told: from the states of these numbers transition ``way`` leads to where the marks beside them can be met."""

    part: int
    way: int
    states: Numbers
    marks: Numbers


@dataclass(slots=True)
class Region:
    """The nodes of a task's states, by state and automaton state: which are left (``alive``) and go on (``going``), and the ``marks`` that each can meet.

    ``fresh`` are the nodes of which the others were not told yet.
    """

    alive: Flags
    going: Flags
    fresh: Flags
    marks: Numbers


def arrivals(steps: IncomingSteps, fresh: Flags) -> Iterator[IncomingSteps]:
    """The steps that lead to states, stretch by stretch, of which some nodes are fresh; ``starts`` holds the target of each."""
    starts, first, n = steps.starts, 0, len(fresh)
    while first < n:
        last = min(n, max(first + 1, int(np.searchsorted(starts, starts[first] + STRETCH, "right")) - 1))
        if fresh[first:last].any():
            at = slice(int(starts[first]), int(starts[last]))
            targets = np.repeat(np.arange(first, last), np.diff(starts[first : last + 1]))
            yield IncomingSteps(targets, steps.parts[at], steps.sources[at], steps.labels[at])
        first = last


class Trimming:
    """What one task does with its states, whose kinds and steps are given; ``stopping``: only the step that changes nothing is taken."""

    def __init__(self, of: Rules, kinds: Numbers, steps: IncomingSteps, *, stopping: bool) -> None:
        self._rules = of
        self._kinds = kinds
        self._steps = steps
        self._stopping = stopping

    # ------------------------------------------------------------------------------------------------- begin

    def begin(self, alive: Flags) -> Region:
        """The nodes that are left, before anything is known of where they lead."""
        marks = np.where(alive[:, :, None], self._rules.of_kind[self._kinds][:, None, :], np.uint64(0))
        region = Region(alive, np.zeros_like(alive), alive.copy(), marks)
        self._stay(region)
        return region

    def everything(self) -> Flags:
        """All nodes."""
        return np.ones((len(self._kinds), self._rules.states), bool)

    # ------------------------------------------------------------------------------------------------- rounds

    def tell(self, region: Region) -> Iterator[TrimmingMessage]:
        """What others, and this task itself, have to be told of the nodes that are fresh."""
        if not self._stopping:
            for of in arrivals(self._steps, region.fresh):
                for way in range(len(self._rules.origin)):
                    yield from self._told(region, way, of)

    def _told(self, region: Region, way: int, of: IncomingSteps) -> Iterator[TrimmingMessage]:
        """What is told by a transition along some steps, whose targets stand in ``of.starts``."""
        rules, to = self._rules, int(self._rules.target[way])
        chosen = np.flatnonzero(region.fresh[of.starts, to] & rules.passes[of.labels, way])
        if not len(chosen):
            return
        marks = region.marks[of.starts[chosen], to] | rules.of_way[way] | rules.of_label[of.labels[chosen]]
        parts, sources = of.parts[chosen].astype(np.int64), of.sources[chosen].astype(np.int64)
        key = (parts << 32) | sources
        order = np.argsort(key, kind="stable")
        begins = np.flatnonzero(np.concatenate([[True], np.diff(key[order]) != 0]))
        joined, heads = np.bitwise_or.reduceat(marks[order], begins, axis=0), order[begins]
        for part in distinct(parts[heads]).tolist():
            own = parts[heads] == part
            yield TrimmingMessage(part, way, sources[heads][own].astype(np.uint32), joined[own])

    def hear(self, region: Region, told: TrimmingMessage) -> None:
        """Take in what some task tells. Before the first time in a round ``fresh`` is to be cleared, and after the last ``settle`` called."""
        self._learn(region, told.states.astype(np.int64), told.way, told.marks)

    def settle(self, region: Region) -> None:
        """Follow what was heard to the end among the nodes of one state."""
        self._stay(region, np.flatnonzero(region.fresh.any(axis=1)))

    def _learn(self, region: Region, states: Numbers, way: int, marks: Numbers) -> bool:
        """That a transition leads on from some states, to where marks can be met; whether anything is new."""
        q = int(self._rules.origin[way])
        open_ = self._rules.admits[self._kinds[states], way] & region.alive[states, q]
        states, marks = states[open_], marks[open_]
        region.going[states, q] = True
        known = region.marks[states, q]
        more = (marks & ~known).any(axis=1)
        region.marks[states[more], q] = known[more] | marks[more]
        region.fresh[states[more], q] = True
        return bool(more.any())

    def _stay(self, region: Region, states: Numbers | None = None) -> None:
        """What the step that changes nothing leads to, for some states or all of them."""
        some = np.arange(len(self._kinds)) if states is None else states
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
        """The nodes that are left when nobody is told anything new any more."""
        needs = self._rules.needed | self._rules.asked[self._kinds]
        met = ~(needs[:, None, :] & ~region.marks).any(axis=2)
        return region.alive & region.going & met
