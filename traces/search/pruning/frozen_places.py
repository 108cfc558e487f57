"""Items further on that a state makes impossible, in a log that is one stream: what they need is frozen until then.

An item's condition is false, and no item before it can make it true. No hidden step can either: each that could is
disabled itself, and stays so until after the item. A history of calls and returns is such a log. A call that took
effect with another result than its return states is seen at once, not when the return is read
(docs/design/histories-of-calls.md).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping, Sequence
from math import inf

from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import FrozenMap, Value
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.dependence import DependenceRelation
from assay.traces.search.read_write_sets import Call, ConditionReads, Place, overlap
from assay.traces.search.transition_system import AnyValue

HORIZON = 200
"""How many items ahead are looked at."""

MOST_HIDDEN = 400
"""With more hidden steps than this nothing is looked for: it would cost more than it prunes."""


class FactOfPlaces:
    """Whether a condition is false, remembered by the values of the places that it reads."""

    def __init__(self, relation: DependenceRelation, condition: ConditionReads) -> None:
        self.condition = condition
        self._effects, self._states = relation.effects, relation.model.states
        at = {variable.name: number for number, variable in enumerate(relation.model.kernel.variables)}
        self._places = [(at[name], key) for name, key in sorted(condition.reads, key=repr)]
        self._known: dict[tuple[Value, ...], bool] = {}

    def is_false(self, state: int) -> bool:
        """Whether the condition is certainly false in a state."""
        values = self._states[state]
        read = tuple([_at(values[number], key) for number, key in self._places])
        found = self._known.get(read)
        if found is None:
            found = self._known[read] = self._effects.is_false(self.condition, state)
        return found


def _at(whole: Value, key: Value | AnyValue) -> Value:
    """What a variable holds at a key: all of it if the key is not known, or is none of its keys."""
    return whole[key] if isinstance(whole, FrozenMap) and not isinstance(key, AnyValue) and key in whole else whole


@dataclass(frozen=True, slots=True)
class Enablers:
    """The hidden steps that may make a condition true, those that may make these possible, and so on, by number. Their
    conditions come with them.
    """

    steps: tuple[int, ...]
    conditions: tuple[ConditionReads, ...]


class FrozenPlaces:
    """What each state excludes among the items ahead."""

    def __init__(self, relation: DependenceRelation, items: Sequence[OrderedObservation]) -> None:
        self._relation, self._effects = relation, relation.effects
        self._alternatives = [
            [tuple(each for each in some if each.closed) for some in relation.alternatives(item)] for item in items
        ]
        self._hidden = self._effects.hidden
        self._conditions = [
            tuple(each for each in self._effects.of(call).conditions if each.closed) for call in self._hidden
        ]
        self._writers: dict[str, list[tuple[Place, int, Call]]] = {}
        for at, item in enumerate(items):
            for call in relation.possible_calls(item) or ():
                for write in self._effects.of(call).writes:
                    self._writers.setdefault(write.place[0], []).append((write.place, at, call))
        self._facts: dict[ConditionReads, FactOfPlaces] = {}
        self._of_items: dict[ConditionReads, list[int]] = {}
        self._of_hidden: dict[ConditionReads, tuple[int, ...]] = {}
        self._enablers: dict[ConditionReads, Enablers] = {}
        # Keyed by which conditions are false instead of by state: many states around a line agree in that.
        self._since: dict[tuple[ConditionReads, int, tuple[bool, ...]], float] = {}
        self._known: dict[tuple[int, int], int | None] = {}

    def excluded(self, cursor: int, state: int) -> int | None:
        """The position of the first item, from the cursor on, that no execution from this state explains; None if
        nothing is known of any.
        """
        key = cursor, state
        if key not in self._known:
            self._known[key] = self._first_excluded(cursor, state)
        return self._known[key]

    def _first_excluded(self, cursor: int, state: int) -> int | None:
        for at in range(cursor, min(cursor + HORIZON, len(self._alternatives))):
            # No alternatives: too many instances to list them, so nothing is concluded about the item.
            alternatives = self._alternatives[at]
            if alternatives and all(
                any(self._is_false(each, state) and self._is_frozen(each, cursor, at, state) for each in some)
                for some in alternatives
            ):
                return at
        return None

    def _is_false(self, condition: ConditionReads, state: int) -> bool:
        fact = self._facts.get(condition)
        if fact is None:
            fact = self._facts[condition] = FactOfPlaces(self._relation, condition)
        return fact.is_false(state)

    def _is_frozen(self, condition: ConditionReads, cursor: int, until: int, state: int) -> bool:
        """Whether a false condition stays false until an item is read."""
        if self._next_item(condition, cursor) < until:
            return False
        enablers = self._enabling(condition)
        false = tuple([self._is_false(each, state) for each in enablers.conditions])
        key = condition, cursor, false
        since = self._since.get(key)
        if since is None:
            # A condition that is true now counts as true for ever: steps seem possible earlier, so less is pruned.
            wrong = {each for each, is_false in zip(enablers.conditions, false, strict=True) if is_false}
            since = self._since[key] = self._possible_since(condition, cursor, enablers.steps, wrong)
        return since > until

    def _possible_since(
        self, condition: ConditionReads, cursor: int, steps: Sequence[int], false: Container[ConditionReads]
    ) -> float:
        """How many items have to be read before a hidden step may make the condition true."""
        # Each condition is waited for by itself, so the result may be too early, never too late.
        waiting = {each: [c for c in self._conditions[each] if c in false] for each in steps}
        # All begin at infinity: two hidden steps that could only enable each other stay impossible.
        since: dict[int, float] = {each: inf if conditions else cursor for each, conditions in waiting.items()}
        changed = True
        while changed:
            changed = False
            for step, conditions in waiting.items():
                found = max((self._true_since(each, cursor, since) for each in conditions), default=since[step])
                if found < since[step]:
                    since[step], changed = found, True
        return min((since[each] for each in self._hidden_enabling(condition)), default=inf)

    def _true_since(self, condition: ConditionReads, cursor: int, since: Mapping[int, float]) -> float:
        by_hidden = min((since[each] for each in self._hidden_enabling(condition)), default=inf)
        return min(by_hidden, self._next_item(condition, cursor) + 1)

    def _enabling(self, condition: ConditionReads) -> Enablers:
        """The hidden steps that may make a condition true, sooner or later."""
        found = self._enablers.get(condition)
        if found is None:
            steps = dict.fromkeys(self._hidden_enabling(condition))
            pending = list(steps)
            while pending:
                for each in self._conditions[pending.pop()]:
                    fresh = [step for step in self._hidden_enabling(each) if step not in steps]
                    steps |= dict.fromkeys(fresh)
                    pending += fresh
            conditions = dict.fromkeys(each for step in steps for each in self._conditions[step])
            found = self._enablers[condition] = Enablers(tuple(steps), tuple(conditions))
        return found

    def _next_item(self, condition: ConditionReads, cursor: int) -> float:
        """The position of the first item from the cursor on that may make a condition true."""
        found = self._of_items.get(condition)
        if found is None:
            found = self._of_items[condition] = sorted(set(self._items_enabling(condition)))
        at = bisect_left(found, cursor)
        return found[at] if at < len(found) else inf

    def _items_enabling(self, condition: ConditionReads) -> Iterator[int]:
        for read in condition.reads:
            for place, at, call in self._writers.get(read[0], ()):
                if overlap(place, read) and self._effects.may_enable(call, condition):
                    yield at

    def _hidden_enabling(self, condition: ConditionReads) -> tuple[int, ...]:
        found = self._of_hidden.get(condition)
        if found is None:
            may_enable = self._effects.may_enable
            found = tuple(at for at, call in enumerate(self._hidden) if may_enable(call, condition))
            self._of_hidden[condition] = found
        return found


def frozen_places(relation: DependenceRelation, streams: Sequence[Sequence[OrderedObservation]]) -> FrozenPlaces | None:
    """What states exclude in a log of one stream; None for others, and where calls are too many to be listed."""
    hidden = relation.effects.hidden
    if len(streams) != 1 or not hidden or len(hidden) > MOST_HIDDEN:
        return None
    # One item that may be any call may write any place, so no place would count as frozen.
    if any(relation.possible_calls(item) is None for item in streams[0]):
        return None
    # A history of 36 lines by nine processes had no answer in 60 s without this, and takes 230 nodes with it.
    return FrozenPlaces(relation, streams[0])
