"""Which positions of a shared execution an entry of a slice can tell apart, and whether hidden steps of the slice can matter to it.

docs/design/timeline-classes.md: What an entry can be depends on the slice's own variables, and on those shared ones that its actions and conditions read. So of positions that
agree in these the first stands for all. A hidden step that writes nothing which is read, neither by the entry nor by a hidden step between the two,
leads nowhere that the entry could not go without it. So right before the entry stands one that writes what the entry reads, and before that one
that writes what the entry reads, or what that step does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from assay.checker.interpreter.expressions.traverse import assignments, read_by, variables_of
from assay.grammar import kernel as k
from assay.traces.observe.decomposition import Split
from assay.traces.observe.partial_order import files_tell_order
from assay.traces.slices.timeline.shared_timeline import Chain

HIDDEN_TRIED = 2
"""How many steps that leave no line may come before a line of a cluster's slice: of its many writes each may have more than one way then."""

TRUTHS_KEPT = 1 << 16
"""How many answers about what is shared are remembered."""


MOST_TRIED = 4
"""The same of other slices, if the clause allows so many: all their ways are gone through."""


def hidden_tried(plan: k.TracePlan) -> int:
    """How many steps that leave no line may come before a line of a slice."""
    return min(plan.hidden_limit, MOST_TRIED) if files_tell_order(plan) else HIDDEN_TRIED


@dataclass(frozen=True, slots=True)
class View:
    """The positions as an entry sees them: like positions have one number in ``classes``; ``changes`` says where each stretch of like ones ends.

    ``hidden`` are the hidden actions that can matter right before the entry, and in front of one, two, … other hidden steps.
    """

    classes: list[int]
    changes: list[int]
    hidden: tuple[frozenset[str], ...]


class Views:
    """The views of all entries of the slices of one log, each computed once; ``unsure`` positions are unlike others, if they are given. So many hidden steps are ``tried``."""

    def __init__(self, split: Split, plan: k.TracePlan, chain: Chain, unsure: Sequence[bool] = ()) -> None:
        self._split, self._plan, self._chain, self._unsure = split, plan, chain, unsure
        self.tried = hidden_tried(plan)
        self._known: dict[tuple[frozenset[int], bool], View] = {}
        self._of_rule: dict[int, View] = {}
        self._of_shared: dict[int, bool] = {}
        self._truths: dict[Hashable, bool] = {}
        self._read: dict[str, frozenset[str]] = {}

    def of(self, rules: Iterable[k.TraceRule], *, numbered: bool) -> View:
        """What is seen by an entry that these rules speak of; where ``numbered``, it may be any action that a number can stand for."""
        distinct = {id(rule): rule for rule in rules}
        key = frozenset(distinct), numbered
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._view(distinct.values(), numbered=numbered)
        return found

    def of_rule(self, rule: k.TraceRule) -> View:
        """What is seen by something that is no write, and that this rule speaks of."""
        found = self._of_rule.get(id(rule))
        if found is None:
            found = self._of_rule[id(rule)] = self.of((rule,), numbered=False)
        return found

    def asks_of_shared(self, rule: k.TraceRule) -> bool:
        """Whether a rule asks something, and of nothing but what is shared: of positions that look alike to it all slices are told the same."""
        found = self._of_shared.get(id(rule))
        if found is None:
            own = {self._split.kernel.variables[i].name for i in self._split.own}
            read = frozenset() if rule.observe is None else variables_of(rule.observe)
            found = self._of_shared[id(rule)] = not rule.steps and own.isdisjoint(read)
        return found

    def truth(self, key: Hashable, ask: Callable[[], bool]) -> bool:
        """What was answered to the like, or else is now."""
        found = self._truths.get(key)
        if found is None:
            if len(self._truths) >= TRUTHS_KEPT:
                self._truths.clear()
            found = self._truths[key] = ask()
        return found

    def _view(self, rules: Iterable[k.TraceRule], *, numbered: bool) -> View:
        names = set(self._plan.numbered) if numbered else set()
        read: set[str] = set()
        for rule in rules:
            names |= {call.action for steps in rule.steps for call in steps}
            read |= {name for expr in (rule.then, rule.observe) if expr is not None for name in variables_of(expr)}
        read |= self._read_by(names)
        hidden = self._hidden(read)
        read = self._with_hidden(read)
        kept = [i for i in self._split.shared if self._split.kernel.variables[i].name in read]
        numbers: dict[tuple[object, ...], int] = {}
        positions = zip_longest(self._chain.states, self._unsure)
        classes = [numbers.setdefault((open_, *(state[i] for i in kept)), len(numbers)) for state, open_ in positions]
        return View(classes, _changes(classes), hidden)

    def _read_by(self, actions: Iterable[str]) -> set[str]:
        return {name for action in actions for name in self._read_by_one(action)}

    def _read_by_one(self, action: str) -> frozenset[str]:
        found = self._read.get(action)
        if found is None:
            found = self._read[action] = read_by(self._split.kernel.action(action).body)
        return found

    def _hidden(self, read: set[str]) -> tuple[frozenset[str], ...]:
        """The hidden actions that can matter, by how many hidden steps are between them and what reads this."""
        found: list[frozenset[str]] = []
        for _ in range(self.tried):
            names = frozenset(name for name in self._plan.hidden if not read.isdisjoint(self._written(name)))
            found.append(names)
            read = read | self._read_by(names)
        return tuple(found)

    def _with_hidden(self, read: set[str]) -> set[str]:
        """What is read, also by the hidden steps that can matter."""
        matter: set[str] = set()
        while True:
            more = {
                name for name in self._plan.hidden if name not in matter and not read.isdisjoint(self._written(name))
            }
            if not more:
                return read
            matter |= more
            read = read | self._read_by(more)

    def _written(self, action: str) -> set[str]:
        return {each.variable for each in assignments(self._split.kernel.action(action).body)}


def _changes(classes: list[int]) -> list[int]:
    """For each position, the next one of another class; the number of positions if there is none."""
    changes = [len(classes)] * len(classes)
    for position in range(len(classes) - 2, -1, -1):
        same = classes[position] == classes[position + 1]
        changes[position] = changes[position + 1] if same else position + 1
    return changes
