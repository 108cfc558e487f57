"""What the items still to come can do to one another, told from their footprints: two ways to spare a search.

NOTE(doomed items): An item that is next in its stream is doomed if some condition of it is false now and nothing that is still to come, in
another stream or hidden, writes a place that the condition reads with a value that might make it true. Then no execution goes on
from here. An item with alternatives is doomed if all of them are. An item further on in its stream is doomed, too, if nothing at all makes such a
condition true, whatever its place. That is asked of states that hidden steps lead to: in a log of a cluster that was emptied a dozen times, each
of the ids that it is given is told of somewhere, and to suppose them in another order leads to ten thousand states without a way on.

NOTE(idle items): An item that leaves the state as it is may be read at once, and no other order is tried, if whatever is still to come
and could change a place that it writes, or that a value it writes depends on, dooms it. For in an execution that reads it
later nothing of that kind can have come before it; so it changes nothing there either, and can be moved to here. Only the
count of hidden steps between two pinned items may grow, as with late hidden steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.values import Value
from assay.traces.observe.partial_order import OrderedObservation, PartialOrder
from assay.traces.search.heads import Cursors
from assay.traces.search.hidden_closure import Closure
from assay.traces.search.read_write_sets import (
    Call,
    ConditionReads,
    Footprint,
    Place,
    falsifies,
    footprint,
    keeps_false,
    observed,
    overlap,
)
from assay.traces.search.transition_system import ANY, AnyValue, TraceModel
from assay.traces.search.writers_by_place import Near, Occurrence, Occurrences

Lasts = tuple[tuple[int, int], ...]
"""Streams with the position of the last item of some kind in each."""

INSTANCES_TRIED = 200
"""A call with open arguments and more instances than this is left out of account, and everything it might touch with it."""

MOST_NEAR = 5_000
"""Where more than so much may come before an item and would have to be looked at, it is not known to be doomed or idle, which spares less and loses nothing."""


class DependenceScan:
    """What may come before an item and writes some places (NOTE(near items)), looked through no further than somebody asks."""

    def __init__(self, item: OrderedObservation, places: Iterable[Place]) -> None:
        self.item = item
        self.places = tuple(places)
        self.left = MOST_NEAR
        self._since = inf
        self._more: Iterator[Occurrence] = iter(())

    def onward(self, occurrences: Occurrences, near: Near, least: float) -> Iterator[Occurrence]:
        """What was not looked at yet; all of it again where some ends before all that was there to be looked at."""
        if least < self._since:
            self._since = least
            self._more = occurrences.before(self.item, near, self.places, least)
        for each in self._more:
            self.left -= 1
            yield each
            if self.left <= 0:
                return


@dataclass(slots=True)
class Rescue:
    """A condition of an item that only items to come can make true, no hidden step: streams with the position of the last one that was found."""

    condition: ConditionReads
    scan: DependenceScan
    found: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class Threat:
    """What could change what an idle item writes: where the last such items are, or None for a hidden step; ``rescue`` is None unless it dooms the item."""

    rescue: Rescue | None
    found: dict[int, int] | None


@dataclass(slots=True)
class Threats:
    """All that could change what an item writes, as far as it was looked for: by calls."""

    conditions: tuple[ConditionReads, ...]
    scan: DependenceScan
    hidden: tuple[Threat, ...]
    known: dict[Call, Threat] = field(default_factory=dict)


Doom = tuple[tuple[ConditionReads, ...], ...]
"""The alternatives of an item, each with conditions of which one that is false rules it out for good."""


class Writers:
    """Calls by the places that they write."""

    def __init__(self, prints: Footprints, calls: Iterable[Call]) -> None:
        self._calls: dict[str, dict[Value | AnyValue, dict[Call, None]]] = {}
        for call in calls:
            for name, key in (write.place for write in prints.of(call).writes):
                self._calls.setdefault(name, {}).setdefault(key, {})[call] = None

    def at(self, places: Iterable[Place]) -> Iterator[Call]:
        """The calls that may write one of the places; some may be named twice."""
        for name, key in places:
            by_key = self._calls.get(name, {})
            for calls in by_key.values() if key is ANY else (by_key.get(key, {}), by_key.get(ANY, {})):
                yield from calls


class Footprints:
    """What a model's calls and hidden steps do, each computed once, and how they touch one another; shared by all searches of a log."""

    def __init__(self, model: TraceModel) -> None:
        self.model = model
        self.hidden = tuple(
            (name, arguments)
            for name in model.plan.hidden
            for arguments in model.instances(name, (ANY,) * len(model.meanings.actions[name].names))
        )
        self._known: dict[Call, Footprint] = {}
        self._helps: dict[tuple[ConditionReads, Call], bool] = {}
        self._observed: dict[tuple[int, frozenset[tuple[str, Value]]], tuple[ConditionReads, ...]] = {}
        self._false: dict[ConditionReads, dict[int, bool]] = {}
        self._closures: dict[int, Closure] = {}

    def closure(self, state: int) -> Closure:
        """The states that hidden steps reach from a state, none left out."""
        found = self._closures.get(state)
        if found is None:
            found = self._closures[state] = Closure(self.model, state, lambda _: False)
        return found

    @cached_property
    def hidden_writers(self) -> Writers:
        """The hidden steps by what they write."""
        return Writers(self, self.hidden)

    def of(self, call: Call) -> Footprint:
        """The footprint of a call."""
        found = self._known.get(call)
        if found is None:
            found = self._known[call] = footprint(self.model, call)
        return found

    def observed(self, condition: k.Expr, bound: Mapping[str, Value]) -> tuple[ConditionReads, ...]:
        """The parts of an observation's condition for some values of its binders."""
        key = (id(condition), frozenset(bound.items()))
        found = self._observed.get(key)
        if found is None:
            found = self._observed[key] = observed(self.model, condition, bound)
        return found

    def helps(self, call: Call, condition: ConditionReads) -> bool:
        """Whether an occurrence of the call might make a condition true that is false."""
        key = (condition, call)
        found = self._helps.get(key)
        if found is None:
            found = self._helps[key] = any(
                overlap(write.place, place)
                and not falsifies(self.model, write, condition)
                and not keeps_false(write, condition)
                for write in self.of(call).writes
                for place in condition.reads
            )
        return found

    def is_false(self, condition: ConditionReads, state: int) -> bool:
        """Whether a condition is certainly false in a state."""
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

    def dooming(self, call: Call, conditions: Iterable[ConditionReads]) -> ConditionReads | None:
        """A condition that is certainly false right after the call."""
        sure = [write for write in self.of(call).writes if write.sure]
        return next((c for c in conditions for write in sure if falsifies(self.model, write, c)), None)


class Interference:
    """The items of an order, or some of them, asked what those still to come can do.

    No item is read while another is unread that is older by more than ``window`` milliseconds.
    """

    def __init__(
        self, prints: Footprints, order: PartialOrder, items: Iterable[OrderedObservation], window: float = inf
    ) -> None:
        self.prints = prints
        self.model = prints.model
        self._near = Near(order, window)
        self._occurrences = Occurrences()
        self._calls: dict[Call, None] = {}
        self._opaque: dict[int, int] = {}
        self._rescue_of: dict[OrderedObservation, dict[ConditionReads, Rescue]] = {}
        self._rescues: dict[OrderedObservation, tuple[tuple[Rescue, ...], ...]] = {}
        self._threats: dict[OrderedObservation, Threats | None] = {}
        self._lasting: dict[ConditionReads, bool] = {}
        self._first: tuple[Cursors, float] = ((), inf)
        for item in items:
            self._enter(item)

    def within(self, window: float) -> Interference:
        """The same for searches that stay near the order of time."""
        return self._of_same(Near(self._near.order, window))

    def with_item(self, order: PartialOrder, item: OrderedObservation | None) -> Interference:
        """The same for an order in which this item took another's place, or one was left out.

        What the other item could do is still reckoned with, which spares less and loses nothing.
        """
        other = self._of_same(Near(order, self._near.window))
        if item is not None and not self._does_no_more(item):
            other._opaque, other._calls = dict(self._opaque), dict(self._calls)
            other._occurrences = Occurrences(self._occurrences)
            other._enter(item)
        return other

    def _of_same(self, near: Near) -> Interference:
        """Of the same items in another order, or for other searches."""
        other = Interference(self.prints, near.order, (), near.window)
        other._occurrences, other._calls, other._opaque = self._occurrences, self._calls, self._opaque
        return other

    def _does_no_more(self, item: OrderedObservation) -> bool:
        """Whether the item in its place, at the same time, could do all that this one can."""
        before = self._near.order.streams[item.stream].items[item.position]
        same = (before.earliest, before.latest) == (item.earliest, item.latest)
        mine, its = self._may_be(item), self._may_be(before)
        return same and mine is not None and its is not None and mine <= its

    def _may_be(self, item: OrderedObservation) -> set[Call] | None:
        """All calls that an item can be; None if they are too many."""
        found: set[Call] = set()
        for call in _calls(item):
            instances = self._instances(item, call)
            if instances is None:
                return None
            found.update(instances)
        return found

    def _enter(self, item: OrderedObservation) -> None:
        calls = self._may_be(item)
        if calls is None:
            _note(self._opaque, item)
        for call in calls or ():
            self._calls[call] = None
            self._occurrences.add(Occurrence(item, call), (write.place for write in self.prints.of(call).writes))

    def _least(self, cursors: Cursors) -> float:
        """When the first of what is still to come ended at the latest."""
        known, least = self._first
        if known != cursors:
            streams = zip(self._near.order.streams, cursors, strict=True)
            least = min((s.items[at].latest for s, at in streams if at < len(s.items)), default=inf)
            self._first = cursors, least
        return least

    def _instances(self, item: OrderedObservation, call: k.ActionCall) -> list[Call] | None:
        """The calls that a call of the clause can be; None if they are too many."""
        wanted = self.model.wanted_or_none(call, item.observation.bound)
        instances = [] if wanted is None else self.model.instances(call.action, wanted)
        return None if len(instances) > INSTANCES_TRIED else [(call.action, arguments) for arguments in instances]

    # ------------------------------------------------------------------------------------------------ doomed items

    def dooms(self, items: Iterable[OrderedObservation], cursors: Cursors) -> tuple[Doom, ...]:
        """What would mean that one of these items, which are next in their streams, cannot come any more (see the module's note).

        It is a whole of alternatives, each of the conditions of which none may be false: nothing that is still to come makes them true.
        """
        found = (self._doom(item, cursors) for item in items)
        return tuple(dict.fromkeys(doom for doom in found if doom))

    def _doom(self, item: OrderedObservation, cursors: Cursors) -> Doom:
        """That of one item; empty if there is none, as for most."""
        ways: list[tuple[ConditionReads, ...]] = []
        for way in self._rescuable(item):
            conditions = dict.fromkeys(r.condition for r in way if not self._is_rescued(r, cursors))
            if not conditions:
                return ()
            ways.append(tuple(conditions))
        return tuple(ways)

    def is_one(self, doom: Doom, state: int) -> bool:
        """Whether it has come to that in a state: some condition of each alternative is false."""
        return all(any(self.prints.is_false(condition, state) for condition in way) for way in doom)

    def lasting(self, items: Iterable[OrderedObservation]) -> dict[Doom, Lasts]:
        """What hidden steps can do that rules items out for good wherever they are in their streams, each with the last items that it rules out."""
        found: dict[Doom, dict[int, int]] = {}
        for item in items if not self._opaque else ():
            doom = tuple(
                tuple(r.condition for r in way if self._is_lasting(r.condition)) for way in self._rescuable(item)
            )
            if doom and all(doom):
                _note(found.setdefault(doom, {}), item)
        return {doom: tuple(lasts.items()) for doom, lasts in found.items()}

    def _is_lasting(self, condition: ConditionReads) -> bool:
        """Whether hidden steps can make a condition false that they do not make true, and no item does either."""
        found = self._lasting.get(condition)
        if found is None:
            touched = any(self.prints.hidden_writers.at(condition.reads))
            near = self._writers.at(condition.reads) if touched else ()
            found = self._lasting[condition] = touched and not any(self.prints.helps(call, condition) for call in near)
        return found

    def _rescuable(self, item: OrderedObservation) -> tuple[tuple[Rescue, ...], ...]:
        """For each alternative of an item's first step, the conditions that no hidden step makes true."""
        found = self._rescues.get(item)
        if found is None:
            found = self._rescues[item] = tuple(
                tuple(self._rescue(condition, item) for condition in conditions if self._counts(condition))
                for conditions in self._alternatives(item)
            )
        return found

    def _alternatives(self, item: OrderedObservation) -> list[tuple[ConditionReads, ...]]:
        seen = item.observation
        if not seen.rule.steps:
            return [] if seen.rule.observe is None else [self.prints.observed(seen.rule.observe, seen.bound)]
        found: list[tuple[ConditionReads, ...]] = []
        for call in seen.rule.steps[0]:
            instances = self._instances(item, call)
            if instances is None:
                return []
            found += [self.prints.of(instance).conditions for instance in instances]
        return found

    def _counts(self, condition: ConditionReads) -> bool:
        return condition.closed and not any(
            self.prints.helps(call, condition) for call in self.prints.hidden_writers.at(condition.reads)
        )

    def _rescue(self, condition: ConditionReads, item: OrderedObservation) -> Rescue:
        """The only one of a condition of an item: what may come before it is looked through once, whoever asks."""
        known = self._rescue_of.setdefault(item, {})
        found = known.get(condition)
        if found is None:
            found = known[condition] = Rescue(condition, DependenceScan(item, condition.reads))
        return found

    def _is_rescued(self, rescue: Rescue, cursors: Cursors) -> bool:
        """Whether something is to come that might make the condition true, or too much is for that to be told."""
        scan, found = rescue.scan, rescue.found
        if to_come(found.items(), cursors) or self._is_opaque(scan.item, cursors):
            return True
        for each in scan.onward(self._occurrences, self._near, self._least(cursors)):
            if self.prints.helps(each.call, rescue.condition):
                _note(found, each.item)
                if cursors[each.item.stream] <= each.item.position:
                    return True
        return scan.left <= 0

    def _is_opaque(self, item: OrderedObservation, cursors: Cursors) -> bool:
        """Whether something is to come in another stream of which nobody knows what it does."""
        return to_come(((stream, at) for stream, at in self._opaque.items() if stream != item.stream), cursors)

    @cached_property
    def _writers(self) -> Writers:
        """The calls of all items by what they write."""
        return Writers(self.prints, self._calls)

    # -------------------------------------------------------------------------------------------------- idle items

    def idle(self, item: OrderedObservation, state: int, cursors: Cursors) -> bool:
        """Whether an item that may come next and changes nothing can be read at once (see the module's note)."""
        if not self.model.can_stay(item, state):
            return False
        threats = self._known_threats(item)
        if threats is None or any(
            self._threatens(each, cursors) for each in (*threats.hidden, *threats.known.values())
        ):
            return False
        for each in threats.scan.onward(self._occurrences, self._near, self._least(cursors)):
            if self._threatens(self._noted(threats, each), cursors):
                return False
        return threats.scan.left > 0

    def _known_threats(self, item: OrderedObservation) -> Threats | None:
        """What could change what the item writes; None if the item can do more than one thing, or a hidden step always could."""
        if item not in self._threats:
            self._threats[item] = self._find_threats(item)
        return self._threats[item]

    def _find_threats(self, item: OrderedObservation) -> Threats | None:
        steps = item.observation.rule.steps
        if len(steps) != 1 or len(steps[0]) != 1 or self._opaque:
            return None
        instances = self._instances(item, steps[0][0])
        if instances is None or len(instances) != 1 or self.prints.of(instances[0]).choices:
            return None
        own = self.prints.of(instances[0])
        touched = {write.place for write in own.writes} | own.sources
        conditions = tuple(condition for condition in own.conditions if self._counts(condition))
        dooming = [
            self.prints.dooming(call, conditions) for call in dict.fromkeys(self.prints.hidden_writers.at(touched))
        ]
        hidden = tuple(Threat(self._rescue(each, item), None) for each in dict.fromkeys(dooming) if each is not None)
        return None if None in dooming else Threats(conditions, DependenceScan(item, touched), hidden)

    def _noted(self, threats: Threats, occurrence: Occurrence) -> Threat:
        """What an occurrence can do to an item, with those of the same call."""
        threat = threats.known.get(occurrence.call)
        if threat is None:
            dooming = self.prints.dooming(occurrence.call, threats.conditions)
            rescue = None if dooming is None else self._rescue(dooming, threats.scan.item)
            threat = threats.known[occurrence.call] = Threat(rescue, {})
        assert threat.found is not None, "it is no hidden step"
        _note(threat.found, occurrence.item)
        return threat

    def _threatens(self, threat: Threat, cursors: Cursors) -> bool:
        if threat.found is not None and not to_come(threat.found.items(), cursors):
            return False
        return threat.rescue is None or self._is_rescued(threat.rescue, cursors)


def _calls(item: OrderedObservation) -> list[k.ActionCall]:
    return [call for step in item.observation.rule.steps for call in step]


def _note(lasts: dict[int, int], item: OrderedObservation) -> None:
    """An item among the last ones of their streams."""
    lasts[item.stream] = max(item.position, lasts.get(item.stream, -1))


def to_come(lasts: Iterable[tuple[int, int]], cursors: Cursors) -> bool:
    """Whether one of these items has not been read."""
    for stream, position in lasts:  # asked so often that a generator would take most of the time  # noqa: SIM110
        if cursors[stream] <= position:
            return True
    return False
