"""Which shared positions an observation of a slice can tell apart, and which hidden steps can matter to it.

Positions that agree in all that is read are one class; a hidden step that writes nothing which is read is not tried
(docs/design/timeline-classes.md).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import zip_longest

from assay.checker.interpreter.expressions.traverse import assignments, read_by, variables_of
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo, IdentitySet, IdentitySetMemo, IdentityTupleMemo
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.observe.decomposition import Split
from assay.traces.observe.partial_order import files_tell_order
from assay.traces.slices.timeline.shared_timeline import Chain

HIDDEN_TRIED = 2
"""How many hidden steps may precede a line of a cluster's slice: with many updates, each may have several outcomes
then.
"""

TRUTHS_KEPT = 1 << 16
"""How many answers about shared states are kept."""


MOST_TRIED = 4
"""The same for other slices, if the clause allows so many: all their hidden paths are enumerated."""


def hidden_tried(plan: k.TracePlan) -> int:
    """How many hidden steps may precede a line of a slice."""
    return min(plan.hidden_limit, MOST_TRIED) if files_tell_order(plan) else HIDDEN_TRIED


@dataclass(frozen=True, slots=True)
class View:
    """The positions as one observation sees them: ``classes`` numbers them, ``changes`` gives the end of each run of
    equal ones.

    ``hidden`` are the hidden actions that can matter right before the observation, and before one, two, … other hidden
    steps.
    """

    classes: list[int]
    changes: list[int]
    hidden: tuple[frozenset[str], ...]


class Views:
    """The views of all observations of one log's slices, each computed once.

    ``unsure`` positions are classes of their own. ``tried`` is how many hidden steps may precede a line.
    """

    def __init__(self, split: Split, plan: k.TracePlan, chain: Chain, unsure: Sequence[bool] = ()) -> None:
        self._split, self._plan, self._chain, self._unsure = split, plan, chain, unsure
        self.tried = hidden_tried(plan)
        self._known: IdentitySetMemo[View] = IdentitySetMemo()
        self._of_rule: IdentityMemo[k.TraceRule, View] = IdentityMemo()
        self._of_shared: IdentityMemo[k.TraceRule, bool] = IdentityMemo()
        self._truths: IdentityTupleMemo[bool] = IdentityTupleMemo(limit=TRUTHS_KEPT)
        self._read: dict[str, frozenset[str]] = {}

    def of(self, rules: Sequence[k.TraceRule], *, numbered: bool) -> View:
        """The view of an observation by these rules. A rule for versions may be any action that counts one."""
        found = self._known.get(rules, numbered)
        if found is None:
            found = self._known.put(rules, numbered, self._view(IdentitySet(rules), numbered=numbered))
        return found

    def of_rule(self, rule: k.TraceRule) -> View:
        """The view of an unversioned observation by this rule."""
        found = self._of_rule.get(rule)
        if found is None:
            found = self._of_rule[rule] = self.of((rule,), numbered=False)
        return found

    def asks_of_shared(self, rule: k.TraceRule) -> bool:
        """Whether a rule's condition reads shared state only: then its answer at a position holds for all slices."""
        found = self._of_shared.get(rule)
        if found is None:
            own = {self._split.kernel.variables[i].name for i in self._split.own}
            read = frozenset() if rule.observe is None else variables_of(rule.observe)
            found = self._of_shared[rule] = not rule.steps and own.isdisjoint(read)
        return found

    def truth(self, rule: k.TraceRule, key: Hashable, ask: Callable[[], bool]) -> bool:
        """The cached answer for this key, or else what ``ask`` returns now."""
        found = self._truths.get((rule,), key)
        return self._truths.put((rule,), key, ask()) if found is None else found

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
        # Of some 1,000 shared steps of a recording 20 to 42 positions remain.
        numbers: dict[tuple[object, ...], int] = {}
        positions = zip_longest(self._chain.states, self._unsure)
        # Guards on uncertain cells are asked at sure positions only (`Outside`), so equal states may allow other steps.
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
        """The hidden actions that can matter, by the number of hidden steps between them and the observation."""
        found: list[frozenset[str]] = []
        for _ in range(self.tried):
            names = frozenset(name for name in self._plan.hidden if not read.isdisjoint(self._written(name)))
            found.append(names)
            read = read | self._read_by(names)
        return tuple(found)

    def _with_hidden(self, read: set[str]) -> set[str]:
        """What is read by the observation and by the hidden steps that can matter."""
        # Without the limit on hidden steps: to read more only makes classes finer.
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
    """For each position the next one of another class; the number of positions if there is none."""
    # From the end backwards, so that each position takes the answer of the next one.
    changes = [len(classes)] * len(classes)
    for position in range(len(classes) - 2, -1, -1):
        same = classes[position] == classes[position + 1]
        changes[position] = changes[position + 1] if same else position + 1
    return changes
