"""The filter that keeps of the steps of each state those of a stubborn set.

A set of instances is stubborn in a state if two things hold. With each instance that can happen there, it has all that
depend on it. With each that cannot, it has all that may make a false condition of it true. What is outside then
commutes with what happens inside, and changes nothing about it. The filter looks for a small set whose steps no
property sees.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.checker.jit.jit_function import ArrayFunction
from assay.checker.layout.refinement_image import argument_layout
from assay.checker.layout.row import Rows
from assay.checker.partial_order.dependence import Dependence, bits
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass

NONE = 1 << 40
"""The size of a set that is no use."""
LAST = 3
"""After so many sets of a state whose steps lead to nothing new, all its steps are taken."""

Flags = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]


@ArrayFunction
def instance_at(words: Any, begin: int, end: int, word: int) -> int:
    """The position of a word among sorted ones."""
    low, high = begin, end
    while high - low > 1:
        middle = (low + high) >> 1
        if words[middle] <= word:
            low = middle
        else:
            high = middle
    return low


@ArrayFunction
def false_condition(at: int, truth: Any, starts: Any, numbers: Any) -> int:
    """The place, among the conditions of an instance, of the first that is false; -1 if none is."""
    # The first half says which conditions are true, the second which are undefined. An undefined one is not false: the
    # instance is stuck, and that has to be found.
    half = truth.shape[0] >> 1
    for place in range(starts[at], starts[at + 1]):
        if truth[numbers[place]] == 0 and truth[half + numbers[place]] == 0:
            return place
    return -1


@ArrayFunction
def closure(seed: int, best: int, happens: Any, truth: Any, tables: Any, inside: Any, mark: int, stack: Any) -> int:  # noqa: PLR0913, PLR0917
    """Mark the members of a stubborn set with an instance. Returns how many of them happen, or ``NONE`` where they are
    no fewer than ``best``, or a property sees one."""
    starts, numbers, begins, items, visible = tables
    size = visible.shape[0]
    inside[seed] = mark
    stack[0] = seed
    height, count = 1, 0
    while height > 0:
        height -= 1
        at = stack[height]
        row = at
        if happens[at] != 0:
            count += 1
            if visible[at] != 0 or count >= best:
                return NONE
        else:
            reason = false_condition(at, truth, starts, numbers)
            # Rows of the tables: what depends on each instance; what affects each instance; what may make true each
            # condition that can disable one. Any false condition will do, so the first is taken.
            row = 2 * size + reason if reason >= 0 else size + at
        for place in range(begins[row], begins[row + 1]):
            other = items[place]
            if inside[other] != mark:
                inside[other] = mark
                stack[height] = other
                height += 1
    return count


@ArrayFunction
def smallest(happens: Any, present: Any, many: int, used: Any, truth: Any, tables: Any, inside: Any, mark: int, stack: Any) -> int:  # fmt: skip # noqa: PLR0913, PLR0917
    """Of the ``many`` instances that happen in a state and are not ``used``, that with the smallest stubborn set; -1 if
    all instances are needed.

    Marks from ``mark`` up to ``mark + many`` are used.
    """
    # A set with all instances saves nothing, so only smaller ones count.
    best, chosen = many, -1
    for at in range(many):
        if used[present[at]] != 0:
            continue
        count = closure(present[at], best, happens, truth, tables, inside, mark + at, stack)
        if count < best:
            best, chosen = count, present[at]
            # No set is smaller: the instance that it begins with happens.
            if count == 1:
                break
    return chosen


@ArrayFunction
def keep_stubborn(parents: Any, actions: Any, arguments: Any, count: int, truth: Any, words: Any, tables: Any, room: Any, keep: Any, reduced: Any, turn: int) -> None:  # fmt: skip # noqa: PLR0913, PLR0917
    """For each of ``count`` successors write whether it stays, and for each state whether some of its steps do not.

    ``truth`` has a row for each state. In turn 0 the steps of a first stubborn set stay. In each later turn those of a
    further one stay that were in none before. Where there is no further one, and in turn ``LAST``, all others stay.
    """
    action_starts, argument_words, numbered = words
    happens, present, used, inside, stack, instances, marks = room
    begin, mark = 0, marks[0]
    for state in range(truth.shape[0]):
        # Which instances happen in this state.
        end, many = begin, 0
        # Successors of one state stand together. An instance with several outcomes counts once.
        while end < count and parents[end] == state:
            action = actions[end]
            at = numbered[instance_at(argument_words, action_starts[action], action_starts[action + 1], arguments[end])]
            instances[end - begin] = at
            if happens[at] == 0:
                happens[at] = 1
                used[at] = 0
                present[many] = at
                many += 1
            end += 1
        reduced[state] = many > 1
        # The sets of earlier turns are found again, so that nothing has to be kept between turns.
        now = 0
        while now <= turn and reduced[state] != 0:
            for at in range(many):
                # 0: not in a set yet; 1: in the set of this turn; 2: in the set of an earlier turn.
                if used[present[at]] == 1:
                    used[present[at]] = 2
            chosen = -1
            if now < LAST:
                chosen = smallest(happens, present, many, used, truth[state], tables, inside, mark, stack)
                mark += many
            if chosen < 0:
                reduced[state] = 0
            else:
                # `smallest` has overwritten the marks of the chosen set with those of later seeds.
                closure(chosen, many, happens, truth[state], tables, inside, mark, stack)
            for at in range(many):
                if used[present[at]] == 0 and (chosen < 0 or inside[present[at]] == mark):
                    used[present[at]] = 1
            mark += 1
            now += 1
        # The steps of this turn's set stay.
        for place in range(begin, end):
            # With one instance there is nothing to choose from.
            keep[place] = many == 1 or used[instances[place - begin]] == 1
        for at in range(many):
            happens[present[at]] = 0
        begin = end
    marks[0] = mark


@dataclass(frozen=True, slots=True)
class WorkingMemory:
    """The working memory of one thread."""

    arrays: tuple[Any, ...]


class StubbornFilter:
    """The tables of a kernel's dependence, for the loops above; shared by threads."""

    def __init__(self, kernel: k.Kernel, dependence: Dependence) -> None:
        size = len(dependence.instances)
        self.conditions = dependence.conditions
        self.may_ignore = dependence.may_ignore
        disabling = [pair for pairs in dependence.disabling for pair in pairs]
        begins, items = _lists([*dependence.dependent, *dependence.affecting, *(mask for _, mask in disabling)])
        starts = np.cumsum([0, *map(len, dependence.disabling)])
        numbers = np.array([number for number, _ in disabling], np.int64)
        visible = np.array([dependence.visible >> at & 1 for at in range(size)], np.uint8)
        self._tables = starts, numbers, begins, items, visible
        self._words = _argument_words(kernel, dependence)
        self._size = size

    def room(self, candidates: int) -> WorkingMemory:
        """Memory for one thread, which filters up to so many successors at once."""
        present, inside, stack = (np.full(self._size + 1, -1, np.int64) for _ in range(3))
        happens, used = (np.zeros(self._size + 1, np.uint8) for _ in range(2))
        instances, marks = np.zeros(candidates, np.int64), np.zeros(1, np.int64)
        return WorkingMemory((happens, present, used, inside, stack, instances, marks))

    def keep(self, parents: Any, actions: Any, arguments: Rows, count: int, truth: Flags, room: WorkingMemory, turn: int) -> tuple[Flags, Flags]:  # fmt: skip
        """Which of ``count`` successors stay in a turn, and of which states some were not in this turn or before.

        ``truth`` is what compiled code says of ``conditions``: a row for each state that was expanded.
        """
        keep, reduced = np.zeros(count, np.uint8), np.zeros(len(truth), np.uint8)
        keep_stubborn(
            parents, actions, arguments, count, truth, self._words, self._tables, room.arrays, keep, reduced, turn
        )
        return keep, reduced


def _lists(masks: Iterable[int]) -> tuple[Numbers, Numbers]:
    """Sets of bits as lists one behind the other, with where each begins."""
    lists = [list(bits(mask)) for mask in masks]
    items = np.array([at for each in lists for at in each], np.int64)
    return np.cumsum([0, *map(len, lists)]), items


def _argument_words(kernel: k.Kernel, dependence: Dependence) -> tuple[Numbers, Numbers, Numbers]:
    """For each action where its instances begin; packed arguments, which ascend within an action; and the numbers of
    the instances with these."""
    # Compiled code names an instance by its action and one packed word of arguments.
    layouts = [argument_layout(kernel.action(name)) for name in kernel.next]
    listed = sorted(
        (at, int(layouts[at].pack(arguments)[0]), number) for number, (at, arguments) in enumerate(dependence.instances)
    )
    counts = np.bincount([at for at, _, _ in listed], minlength=len(layouts))
    words, numbers = (np.array([each[which] for each in listed], np.int64) for which in (1, 2))
    return np.cumsum([0, *counts]), words, numbers
