"""States of a slice that writes without a line may have led to, where lines do not state all of it.

A line such as "ISR updated to 1,2 and version updated to [7]" leaves leader epoch and controller epoch open. The
clause's rule for gaps names the action that sets a whole state. Here it is taken with the values that the line needs,
right before the line. The line is then explained as any other, on the shared timeline
(docs/design/unlogged-states.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

from assay.checker.interpreter.values.domains import cardinality, domain
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.values import Some, Value
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.transition_system import Taken
from assay.traces.slices.versions.version_history import (
    Entry,
    Frontier,
    UnversionedLine,
    VersionedUpdate,
    VersionHistory,
    VersionNode,
    at_field,
)
from assay.traces.table.statement_keys import EVERY_SLICE

FEW_VALUES = 64
"""Of a type with at most so many values each is tried."""

MOST_STATES = 600
"""How many states are tried before one line."""

MOST_NUMBERS = 4
"""How many of the numbers that the lines of a slice state are tried, the nearest first, and those that follow them."""

MOST_NODES = 4
"""From how many search nodes states are tried: a state that was set keeps little of what came before."""

Bound = Mapping[str, Value]


class UnloggedStates:
    """The states that may come before a line or after it, by the first rule for gaps of a clause."""

    def __init__(
        self, history: VersionHistory, lines: Sequence[OrderedObservation], is_possible: Callable[[int, int], bool]
    ) -> None:
        """``lines`` are those of the slice. ``is_possible`` says whether a state may come after another, with any
        writes between them.
        """
        self._history, self._lines, self._is_possible = history, lines, is_possible
        self._versions = {name for line in lines if (name := at_field(line.observation.rule)) is not None}
        self._rule = next((rule for rule in history.model.plan.rules if rule.event == k.GAP and rule.steps), None)

    def before(self, frontier: Frontier, write: VersionedUpdate) -> Frontier:
        """The frontier after an update that follows writes without a line; empty if no state explains it.

        Lines that only observe may tell of the state itself, others of a step from it.
        """
        acts = any(line.observation.names_action for line in write.lines)
        # A line that names an action tells of the step to its version, so the state before has the version before.
        return self._explain(frontier, write, write.number - acts, acts=acts)

    def at(self, frontier: Frontier, line: UnversionedLine, least: int) -> Frontier:
        """The frontier after a line that follows a write without one; empty likewise.

        The write has at least the version ``least``, and no lower one than the numbers of the line: an epoch is never
        higher than the version.
        """
        names = {field.field for field in self._rule.fields} if self._rule is not None else set()
        stated = [each for name in names for each in self._stated(name, [line.line]) if isinstance(each, int)]
        return self._explain(frontier, line, max([least, *stated]), acts=True)

    def _explain(self, frontier: Frontier, entry: Entry, number: int, *, acts: bool) -> Frontier:
        """The states that explain lines which tell of a state. Before a step, for each choice of numbers, such as epochs,
        the first one: others may exist.
        """
        found: list[VersionNode] = []
        choices = list(islice(self._choices(entry, number), MOST_STATES))
        for start in frontier[:MOST_NODES]:
            explained: set[tuple[Value, ...]] = set()
            for numbers, bound in choices:
                onward = () if numbers in explained else self._from(start, entry, number, bound, acts=acts)
                found += onward
                if onward and acts:
                    explained.add(numbers)
        # Of the states with the same numbers one is kept, so a later mismatch may be due to this choice.
        self._history.narrowed = self._history.narrowed or bool(found)
        return self._history.kept(tuple(found))

    def _from(self, start: VersionNode, entry: Entry, number: int, bound: Bound, *, acts: bool) -> Frontier:
        """The frontier after an entry, from one state before it; or after this state, if no line names an action."""
        history = self._history
        state = history.state_id(start.own, start.position)
        for taken in self._set(bound, state):
            if not self._is_possible(taken.state, state):
                continue
            own, before = history.slice_values(taken.state), VersionedUpdate(number, ())
            if acts:
                found = VersionNode(own, start.position, start, before, state, (taken,), (), start.reported)
                onward = history.extend((found,), entry, 0)
            elif all(history.model.consume(line, taken.state) for line in _lines(entry)):
                onward = (VersionNode(own, start.position, start, entry, state, (), (taken,), start.reported),)
            else:
                continue
            after = [
                each for each in onward if self._is_possible(history.state_id(each.own, each.position), taken.state)
            ]
            if after:
                return tuple(after)
        return ()

    def _set(self, bound: Bound, state: int) -> Iterator[Taken]:
        assert self._rule is not None  # there are no choices without one
        for call in self._rule.steps[0]:
            yield from self._history.model.taken(call, bound, state)

    # ------------------------------------------------------------------------------------------------- the choices

    def _choices(self, entry: Entry, number: int) -> Iterator[tuple[tuple[Value, ...], Bound]]:
        """Values for the rule's fields, each with those of them that are numbers. Numbers vary least."""
        if self._rule is None or number < 0:
            return
        lists = {field.binder.name: self._candidates(field, entry, number) for field in self._rule.fields}
        numeric = [each.binder.name for each in self._rule.fields if isinstance(each.binder.type, t.RangeType)]
        others = [name for name in lists if name not in numeric]
        for numbers in product(*(lists[name] for name in numeric)):
            for rest in product(*(lists[name] for name in others)):
                yield numbers, {**dict(zip(numeric, numbers, strict=True)), **dict(zip(others, rest, strict=True))}

    def _candidates(self, field: k.EventField, entry: Entry, number: int) -> Sequence[Value]:
        """The values that are tried for a field, likely ones first. The slice and the version are known."""
        type_, lines = field.binder.type, _lines(entry)
        if field.field == EVERY_SLICE:
            return list(self._stated(field.field, lines[:1]))
        if field.field in self._versions:
            return [number]
        if isinstance(type_, t.RangeType):
            return self._numbers(field.field, type_, lines[0].time)
        if cardinality(type_) > FEW_VALUES:
            return list(dict.fromkeys(self._stated(field.field, self._lines)))
        own = [value for line in lines for _, value in line.observation.values]
        return sorted(domain(type_), key=lambda value: _distance(value, own))

    def _numbers(self, field: str, type_: t.RangeType, time: float) -> Sequence[Value]:
        """The numbers that lines state for a field, those of the nearest lines first, the next ones, and the least."""
        nearest = sorted(self._lines, key=lambda line: abs(line.time - time))
        stated = list(dict.fromkeys(each for each in self._stated(field, nearest) if isinstance(each, int)))
        following = (each + 1 for each in stated[:MOST_NUMBERS])
        known = dict.fromkeys([*stated[:MOST_NUMBERS], *following, type_.low])
        return [each for each in known if type_.low <= each <= type_.high]

    def _stated(self, field: str, lines: Iterable[OrderedObservation]) -> Iterator[Value]:
        return (value for line in lines for name, value in line.observation.values if name == field)


def _lines(entry: Entry) -> Sequence[OrderedObservation]:
    return entry.lines if isinstance(entry, VersionedUpdate) else (entry.line,)


def _distance(value: Value, stated: Sequence[Value]) -> int:
    """How far a value is from what the lines of an update state: by the elements in which sets differ, else 0 or 1."""
    if isinstance(value, frozenset):
        return min((len(value ^ each) for each in stated if isinstance(each, frozenset)), default=len(value))
    return 0 if value in stated or (isinstance(value, Some) and value.value in stated) else 1
