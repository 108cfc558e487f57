"""Which items still to come depend on one another, by their read and write sets: the basis of two reductions of the
search.

*Dead ends* (docs/design/dead-ends.md): an item's condition is false. Neither an item still to come nor a hidden step
writes a value that could make it true. Then no execution goes on from this node.

*Invisible items* (docs/design/invisible-items.md): an item that leaves the state unchanged is read at once, and no
other order is tried. The condition is that every item that could change what it writes makes the item itself
impossible. This is an ample set of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from math import inf
from typing import NamedTuple

from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityTupleMemo
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.observe.partial_order import OrderedObservation, PartialOrder
from assay.traces.search.hidden_closure import Closure
from assay.traces.search.next_items import Cursors
from assay.traces.search.read_write_sets import (
    Call,
    ConditionReads,
    Place,
    ReadWriteSets,
    falsifies,
    keeps_false,
    observed,
    overlap,
    read_write_sets,
)
from assay.traces.search.transition_system import ANY, AnyValue, TraceModel
from assay.traces.search.writers_by_place import PossibleCall, ReadingWindow, WritersByPlace

Lasts = tuple[tuple[int, int], ...]
"""Streams, each with the position of the last item of some kind in it."""

INSTANCES_TRIED = 200
"""A call with open arguments and more instances than this is opaque: nothing is concluded from what it might touch."""

MOST_NEAR = 5_000
"""With more calls than this before it an item counts as neither a dead end nor invisible: sound, and prunes less."""


class DependenceScan:
    """A lazy scan of the calls that may come before an item and write some places (docs/design/nearby-items.md).

    Callers stop it early; it goes on where it stopped. ``left`` counts down from ``MOST_NEAR``.
    """

    def __init__(self, item: OrderedObservation, places: Iterable[Place]) -> None:
        self.item = item
        self.places = tuple(places)
        self.left = MOST_NEAR
        self._since: float | None = None  # no time: where lines have none, all end at infinity
        self._more: Iterator[PossibleCall] = iter(())

    def remaining(self, writers: WritersByPlace, near: ReadingWindow, least: float) -> Iterator[PossibleCall]:
        """The calls not scanned yet. If ``least`` is lower than before, the scan starts again: earlier items count
        now.
        """
        if self._since is None or least < self._since:
            self._since = least
            self._more = writers.before(self.item, near, self.places, least)
        for each in self._more:
            self.left -= 1
            yield each
            if self.left <= 0:
                return


@dataclass(slots=True)
class AwaitedCondition:
    """A condition of an item that only items to come can make true, no hidden step.

    ``last_enablers`` maps a stream to the position of the last item in it that may make the condition true, as far as was
    scanned.
    """

    condition: ConditionReads
    scan: DependenceScan
    last_enablers: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class Dependent:
    """Items, or a hidden step if ``last_items`` is None, that could change what an invisible item writes.

    ``awaited`` is the condition of the invisible item that such a step makes false; None if it makes none false for
    certain.
    """

    awaited: AwaitedCondition | None
    last_items: dict[int, int] | None


@dataclass(slots=True)
class DependentCalls:
    """All calls that could change what an item writes, as far as was scanned."""

    conditions: tuple[ConditionReads, ...]
    scan: DependenceScan
    hidden: tuple[Dependent, ...]
    known: dict[Call, Dependent] = field(default_factory=dict)


DeadEndCondition = tuple[tuple[ConditionReads, ...], ...]
"""The alternatives of an item, each as conditions; one that is false excludes the alternative for good."""


class Writers:
    """Calls by the places that they write."""

    def __init__(self, effects: ReadWriteTable, calls: Iterable[Call]) -> None:
        self._calls: dict[str, dict[Value | AnyValue, dict[Call, None]]] = {}
        for call in calls:
            for name, key in (write.place for write in effects.of(call).writes):
                self._calls.setdefault(name, {}).setdefault(key, {})[call] = None

    def at(self, places: Iterable[Place]) -> Iterator[Call]:
        """The calls that may write one of the places; a call may come twice."""
        for name, key in places:
            by_key = self._calls.get(name, {})
            for calls in by_key.values() if key is ANY else (by_key.get(key, {}), by_key.get(ANY, {})):
                yield from calls


class ReadWriteTable:
    """The read and write sets of a model's calls and hidden steps, each computed once; shared by all searches of a
    log.
    """

    def __init__(self, model: TraceModel) -> None:
        self.model = model
        self.hidden = tuple(
            (name, arguments)
            for name in model.plan.hidden
            for arguments in model.instances(name, (ANY,) * len(model.meanings.actions[name].names))
        )
        self._known: dict[Call, ReadWriteSets] = {}
        self._may_enable: dict[tuple[ConditionReads, Call], bool] = {}
        self._observed: IdentityTupleMemo[tuple[ConditionReads, ...]] = IdentityTupleMemo()
        self._false: dict[ConditionReads, dict[int, bool]] = {}
        self._closures: dict[int, Closure] = {}

    def closure(self, state: int) -> Closure:
        """The states that hidden steps reach from a state, dead ends included."""
        found = self._closures.get(state)
        if found is None:
            found = self._closures[state] = Closure(self.model, state, lambda _: False)
        return found

    @cached_property
    def hidden_writers(self) -> Writers:
        """The hidden steps by the places that they write."""
        return Writers(self, self.hidden)

    def of(self, call: Call) -> ReadWriteSets:
        """The read and write sets of a call."""
        found = self._known.get(call)
        if found is None:
            found = self._known[call] = read_write_sets(self.model, call)
        return found

    def observed(self, condition: k.Expr, bound: Mapping[str, Value]) -> tuple[ConditionReads, ...]:
        """The conjuncts of an observation's condition for certain values of its binders."""
        key = frozenset(bound.items())
        found = self._observed.get((condition,), key)
        if found is None:
            found = self._observed.put((condition,), key, observed(self.model, condition, bound))
        return found

    def may_enable(self, call: Call, condition: ConditionReads) -> bool:
        """Whether the call might turn a false condition true."""
        key = (condition, call)
        found = self._may_enable.get(key)
        if found is None:
            found = self._may_enable[key] = any(
                overlap(write.place, place)
                and not falsifies(self.model, write, condition)
                and not keeps_false(write, condition)
                for write in self.of(call).writes
                for place in condition.reads
            )
        return found

    def is_false(self, condition: ConditionReads, state: int) -> bool:
        """Whether a condition is certainly false in a state; one without a value is not."""
        known = self._false.setdefault(condition, {})
        found = known.get(state)
        if found is None:
            found = known[state] = self._evaluates_to_false(condition, state)
        return found

    def _evaluates_to_false(self, condition: ConditionReads, state: int) -> bool:
        try:
            return self.model.value(condition.expr, condition.bound, state) is False
        except Undefined:
            return False

    def falsified_by(self, call: Call, conditions: Iterable[ConditionReads]) -> ConditionReads | None:
        """One of the conditions that is certainly false right after the call; None if there is none."""
        sure = [write for write in self.of(call).writes if write.sure]
        return next((c for c in conditions for write in sure if falsifies(self.model, write, c)), None)


class CallTables(NamedTuple):
    """The calls that items may be, what these write, and the streams with an item that may be too many calls.

    Relations of the same items share them: for another window, or another order.
    """

    calls: dict[Call, None]
    writers: WritersByPlace
    opaque: dict[int, int]

    def copied(self) -> CallTables:
        """Tables that may be extended."""
        return CallTables(dict(self.calls), WritersByPlace(self.writers), dict(self.opaque))


class DependenceRelation:
    """The dependence relation of the items of a partial order, or of some of them.

    An item is not read while an unread item is older by more than ``window`` milliseconds, which keeps the relation
    local.
    """

    def __init__(
        self,
        effects: ReadWriteTable,
        order: PartialOrder,
        items: Iterable[OrderedObservation],
        window: float = inf,
        tables: CallTables | None = None,
    ) -> None:
        self.effects = effects
        self.model = effects.model
        self._near = ReadingWindow(order, window)
        self._tables = CallTables({}, WritersByPlace(), {}) if tables is None else tables
        self._calls, self._possible_calls, self._opaque = self._tables
        self._awaited_by_condition: dict[OrderedObservation, dict[ConditionReads, AwaitedCondition]] = {}
        self._awaited_by_item: dict[OrderedObservation, tuple[tuple[AwaitedCondition, ...], ...]] = {}
        self._dependents: dict[OrderedObservation, DependentCalls | None] = {}
        self._permanent: dict[ConditionReads, bool] = {}
        self._first: tuple[Cursors, float] = ((), inf)
        for item in items:
            self._add_item(item)

    def within(self, window: float) -> DependenceRelation:
        """The same items for searches with another window."""
        return DependenceRelation(self.effects, self._near.order, (), window, self._tables)

    def with_item(self, order: PartialOrder, item: OrderedObservation | None) -> DependenceRelation:
        """The relation for an order in which ``item`` replaced another item, or one was left out.

        The replaced item still counts as one that may come. That prunes less and is sound, and spares a copy of the
        tables.
        """
        if item is None or self._does_no_more(item):
            return DependenceRelation(self.effects, order, (), self._near.window, self._tables)
        return DependenceRelation(self.effects, order, [item], self._near.window, self._tables.copied())

    def _does_no_more(self, item: OrderedObservation) -> bool:
        """Whether the item that was in this place, at the same time, can be every call that this one can be."""
        before = self._near.order.streams[item.stream].items[item.position]
        same = (before.earliest, before.latest) == (item.earliest, item.latest)
        mine, its = self.possible_calls(item), self.possible_calls(before)
        return same and mine is not None and its is not None and mine <= its

    def possible_calls(self, item: OrderedObservation) -> set[Call] | None:
        """All calls that an item can be; None if they are too many."""
        found: set[Call] = set()
        for call in _calls(item):
            instances = self._instances(item, call)
            if instances is None:
                return None
            found.update(instances)
        return found

    def _add_item(self, item: OrderedObservation) -> None:
        calls = self.possible_calls(item)
        if calls is None:
            _keep_last(self._opaque, item)
        for call in calls or ():
            self._calls[call] = None
            self._possible_calls.add(PossibleCall(item, call), (write.place for write in self.effects.of(call).writes))

    def _earliest_end(self, cursors: Cursors) -> float:
        """The lowest ``latest`` time of the items still to come."""
        # The last cursors alone: at each node many questions are asked in a row.
        known, least = self._first
        if known != cursors:
            streams = zip(self._near.order.streams, cursors, strict=True)
            least = min((s.items[at].latest for s, at in streams if at < len(s.items)), default=inf)
            self._first = cursors, least
        return least

    def _instances(self, item: OrderedObservation, call: k.ActionCall) -> list[Call] | None:
        """The instances of a call of the clause; None if they are too many."""
        wanted = self.model.wanted_or_none(call, item.observation.bound)
        instances = [] if wanted is None else self.model.instances(call.action, wanted)
        return None if len(instances) > INSTANCES_TRIED else [(call.action, arguments) for arguments in instances]

    # --------------------------------------------------------------------------------------------------- dead ends

    def dead_end_conditions(
        self, items: Iterable[OrderedObservation], cursors: Cursors
    ) -> tuple[DeadEndCondition, ...]:
        """The dead-end conditions of items that are next in their streams.

        Each is a list of alternatives; an alternative is the conditions that nothing still to come can make true. The
        node is a dead end if every alternative has a false condition (:meth:`is_dead_end`).
        """
        found = (self._dead_end_condition(item, cursors) for item in items)
        return tuple(dict.fromkeys(dead_end for dead_end in found if dead_end))

    def _dead_end_condition(self, item: OrderedObservation, cursors: Cursors) -> DeadEndCondition:
        """The dead-end condition of one item; empty if there is none, as for most."""
        alternatives: list[tuple[ConditionReads, ...]] = []
        for alternative in self._awaited_conditions(item):
            conditions = dict.fromkeys(r.condition for r in alternative if not self._may_become_true(r, cursors))
            if not conditions:
                return ()
            alternatives.append(tuple(conditions))
        return tuple(alternatives)

    def is_dead_end(self, dead_end: DeadEndCondition, state: int) -> bool:
        """Whether a state satisfies a dead-end condition: each alternative has a false condition."""
        return all(
            any(self.effects.is_false(condition, state) for condition in alternative) for alternative in dead_end
        )

    def permanent_dead_ends(self, items: Iterable[OrderedObservation]) -> dict[DeadEndCondition, Lasts]:
        """Dead ends that hidden steps can cause for good, wherever the item is in its stream, each with the last items
        it concerns.
        """
        found: dict[DeadEndCondition, dict[int, int]] = {}
        # One item that may be any call could make any condition true again.
        for item in items if not self._opaque else ():
            dead_end = tuple(
                tuple(r.condition for r in alternative if self._is_permanent(r.condition))
                for alternative in self._awaited_conditions(item)
            )
            if dead_end and all(dead_end):
                _keep_last(found.setdefault(dead_end, {}), item)
        return {dead_end: tuple(lasts.items()) for dead_end, lasts in found.items()}

    def _is_permanent(self, condition: ConditionReads) -> bool:
        """Whether hidden steps can make the condition false and neither they nor any item can make it true again."""
        found = self._permanent.get(condition)
        if found is None:
            touched = any(self.effects.hidden_writers.at(condition.reads))
            near = self._writers.at(condition.reads) if touched else ()
            found = self._permanent[condition] = touched and not any(
                self.effects.may_enable(call, condition) for call in near
            )
        return found

    def _awaited_conditions(self, item: OrderedObservation) -> tuple[tuple[AwaitedCondition, ...], ...]:
        """For each alternative of an item's first step, the conditions that no hidden step makes true."""
        found = self._awaited_by_item.get(item)
        if found is None:
            found = self._awaited_by_item[item] = tuple(
                tuple(self._awaited(condition, item) for condition in conditions if self._counts(condition))
                for conditions in self.alternatives(item)
            )
        return found

    def alternatives(self, item: OrderedObservation) -> list[tuple[ConditionReads, ...]]:
        """The conditions of each alternative of an item's first step; none if they are too many."""
        seen = item.observation
        if not seen.rule.steps:
            return [] if seen.rule.observe is None else [self.effects.observed(seen.rule.observe, seen.bound)]
        found: list[tuple[ConditionReads, ...]] = []
        for call in seen.rule.steps[0]:
            instances = self._instances(item, call)
            if instances is None:
                return []
            found += [self.effects.of(instance).conditions for instance in instances]
        return found

    def _counts(self, condition: ConditionReads) -> bool:
        return condition.closed and not any(
            self.effects.may_enable(call, condition) for call in self.effects.hidden_writers.at(condition.reads)
        )

    def _awaited(self, condition: ConditionReads, item: OrderedObservation) -> AwaitedCondition:
        """The record of one condition of an item, made once: all callers share one scan."""
        known = self._awaited_by_condition.setdefault(item, {})
        found = known.get(condition)
        if found is None:
            found = known[condition] = AwaitedCondition(condition, DependenceScan(item, condition.reads))
        return found

    def _may_become_true(self, awaited: AwaitedCondition, cursors: Cursors) -> bool:
        """Whether something still to come might make the condition true, or too much is to come to be scanned."""
        scan, last_enablers = awaited.scan, awaited.last_enablers
        # Mostly a known enabler is still unread, and nothing is scanned.
        if any_unread(last_enablers.items(), cursors) or self._is_opaque(scan.item, cursors):
            return True
        for each in scan.remaining(self._possible_calls, self._near, self._earliest_end(cursors)):
            if self.effects.may_enable(each.call, awaited.condition):
                _keep_last(last_enablers, each.item)
                if cursors[each.item.stream] <= each.item.position:
                    return True
        return scan.left <= 0

    def _is_opaque(self, item: OrderedObservation, cursors: Cursors) -> bool:
        """Whether an item with too many instances is still to come in another stream: it might do anything."""
        return any_unread(((stream, at) for stream, at in self._opaque.items() if stream != item.stream), cursors)

    @cached_property
    def _writers(self) -> Writers:
        """The calls of all items by the places that they write."""
        return Writers(self.effects, self._calls)

    # --------------------------------------------------------------------------------------------- invisible items

    def is_invisible(self, item: OrderedObservation, state: int, cursors: Cursors) -> bool:
        """Whether an item that may come next and changes nothing can be read at once (an ample set of one)."""
        if not self.model.may_leave_unchanged(item, state):
            return False
        dependents = self._dependent_calls(item)
        if dependents is None or any(
            self._may_interfere(each, cursors) for each in (*dependents.hidden, *dependents.known.values())
        ):
            return False
        for each in dependents.scan.remaining(self._possible_calls, self._near, self._earliest_end(cursors)):
            if self._may_interfere(self._record(dependents, each), cursors):
                return False
        return dependents.scan.left > 0

    def _dependent_calls(self, item: OrderedObservation) -> DependentCalls | None:
        """What could change what the item writes; None if it has several outcomes, or a hidden step always can."""
        if item not in self._dependents:
            self._dependents[item] = self._find_dependent_calls(item)
        return self._dependents[item]

    def _find_dependent_calls(self, item: OrderedObservation) -> DependentCalls | None:
        steps = item.observation.rule.steps
        # An ample set of one is one transition: not several calls, instances or picks.
        if len(steps) != 1 or len(steps[0]) != 1 or self._opaque:
            return None
        instances = self._instances(item, steps[0][0])
        if instances is None or len(instances) != 1 or self.effects.of(instances[0]).choices:
            return None
        own = self.effects.of(instances[0])
        # Only who changes these places can make the item write something else when it is read later.
        touched = {write.place for write in own.writes} | own.sources
        conditions = tuple(condition for condition in own.conditions if self._counts(condition))
        falsified = [
            self.effects.falsified_by(call, conditions)
            for call in dict.fromkeys(self.effects.hidden_writers.at(touched))
        ]
        hidden = tuple(
            Dependent(self._awaited(each, item), None) for each in dict.fromkeys(falsified) if each is not None
        )
        # A hidden step that makes no condition of the item false may come before it at any time.
        return None if None in falsified else DependentCalls(conditions, DependenceScan(item, touched), hidden)

    def _record(self, dependents: DependentCalls, possible: PossibleCall) -> Dependent:
        """The record of a call that may interfere, extended by one more item that may be this call."""
        dependent = dependents.known.get(possible.call)
        if dependent is None:
            falsified = self.effects.falsified_by(possible.call, dependents.conditions)
            awaited = None if falsified is None else self._awaited(falsified, dependents.scan.item)
            dependent = dependents.known[possible.call] = Dependent(awaited, {})
        assert dependent.last_items is not None, "it is no hidden step"
        _keep_last(dependent.last_items, possible.item)
        return dependent

    def _may_interfere(self, dependent: Dependent, cursors: Cursors) -> bool:
        if dependent.last_items is not None and not any_unread(dependent.last_items.items(), cursors):
            return False
        return dependent.awaited is None or self._may_become_true(dependent.awaited, cursors)


def _calls(item: OrderedObservation) -> list[k.ActionCall]:
    return [call for step in item.observation.rule.steps for call in step]


def _keep_last(lasts: dict[int, int], item: OrderedObservation) -> None:
    """Keep the item if it is the last one of its stream so far."""
    lasts[item.stream] = max(item.position, lasts.get(item.stream, -1))


def any_unread(lasts: Iterable[tuple[int, int]], cursors: Cursors) -> bool:
    """Whether one of these items has not been read."""
    for stream, position in lasts:  # noqa: SIM110 - innermost loop: a generator for any() cost most of the time
        if cursors[stream] <= position:
            return True
    return False
