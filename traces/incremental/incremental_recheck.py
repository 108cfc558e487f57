"""Checks a validated log again with some events changed: only what the change touches is checked.

What slices share does not depend on them. So a change in one slice's events is answered by that slice over the known
shared execution. Where shared events change, slices are checked again only if they can see the difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from assay.grammar.identity_memo import IdentityMemo, IdentitySet
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event
from assay.traces.explain.blame import violation_of
from assay.traces.explain.failed_atoms import ConditionPrinter
from assay.traces.explain.mismatch import resume
from assay.traces.observe.binding import Bound, EventBinder
from assay.traces.observe.binding_tally import Misfit
from assay.traces.observe.observation import Observation
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.observe.slice_assignment import SlicedEvents
from assay.traces.options import Options
from assay.traces.properties.execution import PropertyChecker, execution
from assay.traces.result import BrokenProperty, LogViolation, TraceVerdict
from assay.traces.search import driver
from assay.traces.search.cut_points import CutPoints
from assay.traces.search.dfs import TraceSearch
from assay.traces.search.driver import Accepted, Conclusion, Rejected, Undecided
from assay.traces.search.path import SearchPath
from assay.traces.search.stuttering import compared_order
from assay.traces.slices.slice_context import Joint, joint
from assay.traces.slices.slice_validator import Joiner

Change = IdentityMemo[Event, Sequence[Event]]
"""The replacement of events: an empty sequence leaves an event out."""


@dataclass(frozen=True, slots=True)
class RecheckAnswer:
    """The answer about a changed log. Violations of the shared part are explained on demand only."""

    verdict: TraceVerdict
    violations: tuple[LogViolation, ...] = ()
    properties: tuple[BrokenProperty, ...] = ()

    @property
    def rejected(self) -> bool:
        """Whether the change is detected: no execution explains the log, or the one that does violates a property."""
        return self.verdict is TraceVerdict.INCONSISTENT or bool(self.properties)


class Retrial:
    """A log that has an execution, ready to be checked with changes. ``joined`` is None if the clause has no slices."""

    def __init__(
        self, search: TraceSearch, joined: Joint | None, parts: SlicedEvents, writer: ConditionPrinter, options: Options
    ) -> None:
        self.search = search
        self.joiner = None if joined is None else Joiner(joined)
        self.parts = parts
        for part in (parts.shared, *parts.slices.values()):
            part.keep()  # a change is keyed by the identity of its event, so events must not be made anew
        self.writer = writer
        self.options = options
        self._properties = PropertyChecker(search.model, search.model.kernel.properties)
        self._binder = EventBinder(search.model.plan, search.model.applies)
        self._cut_points = CutPoints(search)
        self._items: IdentityMemo[Event, list[OrderedObservation]] = IdentityMemo()
        for item in search.frontier.order.items:
            self._items.setdefault(item.observation.event, []).append(item)
        self._owner = IdentityMemo((event, name) for name, events in parts.slices.items() for event in events)
        self._shared = IdentitySet(parts.shared)

    def judge(self, change: Change, *, explained: bool = False) -> RecheckAnswer:
        """The answer about the log with a change; with ``explained``, shared violations come with their blame."""
        # The model was made as large as the healthy log needs. What is outside it can be no step of it.
        if beyond := self._outside_model(change):
            return RecheckAnswer(TraceVerdict.INCONSISTENT, tuple(map(violation_of, beyond)))
        shared = IdentityMemo(
            (old, new) for old, new in change.items() if old in self._shared and not self._observes_the_same(old, new)
        )
        touched = dict.fromkeys(name for event in change if (name := self._owner.get(event)) is not None)
        joiner = self.joiner
        broken: tuple[BrokenProperty, ...] = ()
        if shared:
            search, misfits = self._changed_search(shared)
            if misfits:
                return RecheckAnswer(TraceVerdict.INCONSISTENT, tuple(misfits))
            conclusion = self._searched(search)
            if not isinstance(conclusion, Accepted):
                return self._refused(search, conclusion, explained=explained)
            broken = self._properties.broken(execution(search.model, conclusion.path))
            joiner = None if joiner is None else joiner.with_timeline(self._joint_on(joiner.joint, conclusion.path))
        if joiner is None:
            return RecheckAnswer(TraceVerdict.VIOLATED if broken else TraceVerdict.CONSISTENT, (), broken)
        # with_timeline returns the same object if no slice sees a difference: then only touched slices are checked.
        names = list(touched) if joiner is self.joiner else list(self.parts.slices)
        found = self._of_slices(joiner, names, change)
        # A property of the shared part is weaker than a slice without an execution, or an open one.
        verdict = TraceVerdict.VIOLATED if broken and found.verdict is TraceVerdict.CONSISTENT else found.verdict
        return replace(found, verdict=verdict, properties=(*broken, *found.properties))

    def _observes_the_same(self, old: Event, new: Sequence[Event]) -> bool:
        """Whether the clause observes the same in the replacement of a shared event.

        A line about a partition is also read for what is shared, and a change of its partition fields leaves that as it
        was.
        """
        if len(new) != 1 or (old.run, old.sequence, old.record.time) != (
            new[0].run,
            new[0].sequence,
            new[0].record.time,
        ):
            return False
        before, now = self._bound([old]), self._bound(new)
        return not now.misfits and _state_the_same(before.observations, now.observations)

    def _outside_model(self, change: Change) -> list[Misfit]:
        """The first value in changed events that is outside the model: a broker that the log never names, a number it
        never reaches.
        """
        news = [event for new in change.values() for event in new]
        binders = [self._binder] if self.joiner is None else [self._binder, self.joiner.binder]
        return [misfit for binder in binders for misfit in binder.misfits(news)][:1] if news else []

    def _searched(self, search: TraceSearch) -> Conclusion:
        """The search's conclusion from the last cut before the change, or from the beginning if the cut leaves it
        undecided.
        """
        cut = self._cut_points.before_change(search.frontier.order)
        conclusion = driver.run(search, list(cut.paths), self.options)
        # A cut keeps one path to each state; a hidden-step budget may need another one.
        if isinstance(conclusion, Undecided) and any(cut.cursors):
            return driver.run(search, search.begin(search.frontier.start), self.options)
        return conclusion

    def _joint_on(self, known: Joint, path: SearchPath) -> Joint:
        return joint(known.split, known.plan, self.search.model, path, self.writer, self.options)

    def _refused(self, search: TraceSearch, conclusion: Conclusion, *, explained: bool) -> RecheckAnswer:
        if not isinstance(conclusion, Rejected):
            return RecheckAnswer(TraceVerdict.INCONCLUSIVE)
        if not explained:
            return RecheckAnswer(TraceVerdict.INCONSISTENT)
        start = search.begin(search.frontier.start)
        found = resume(search, conclusion, start, self.writer)
        return RecheckAnswer(TraceVerdict.INCONSISTENT, () if found is None else (found.violation,))

    def _of_slices(self, joiner: Joiner, names: Sequence[str], change: Change) -> RecheckAnswer:
        violations: list[LogViolation] = []
        properties: list[BrokenProperty] = []
        verdicts = {TraceVerdict.CONSISTENT}
        for name in names:
            events = [new for event in self.parts.slices[name] for new in change.get(event, (event,))]
            found = joiner.of_slice(name, events)
            violations += [violation_of(misfit) for misfit in found.tally.misfits]
            violations += found.result.violations
            properties += found.result.properties
            verdicts.add(found.result.verdict)
        if violations:
            return RecheckAnswer(TraceVerdict.INCONSISTENT, tuple(violations), tuple(properties))
        explained = TraceVerdict.VIOLATED if properties else TraceVerdict.CONSISTENT
        open_ = TraceVerdict.INCONCLUSIVE in verdicts
        return RecheckAnswer(TraceVerdict.INCONCLUSIVE if open_ else explained, (), tuple(properties))

    def _changed_search(self, change: Change) -> tuple[TraceSearch, list[LogViolation]]:
        """A search over the changed shared events. If no event is added or removed, what is known of the others is
        kept.
        """
        found = [(old, self._bound(new)) for old, new in change.items()]
        misfits = [violation_of(misfit) for _, bound in found for misfit in bound.misfits]
        # What is known of the lines (their order, what depends on what) is by position, and survives only if none is
        # added or removed.
        if any(len(bound.observations) != len(self._items.get(old, ())) for old, bound in found):
            return self._rebuilt(change), misfits
        search = self.search
        for old, bound in found:
            for item, observation in zip(self._items.get(old, ()), bound.observations, strict=True):
                search = _with_item(search, replace(item, observation=observation))
        return search, misfits

    def _bound(self, events: Sequence[Event]) -> Bound:
        return self._binder.bind(events)

    def _rebuilt(self, change: Change) -> TraceSearch:
        events = [new for event in self.parts.shared for new in change.get(event, (event,))]
        return self.search.with_order(compared_order(self.search.model, self._bound(events).observations))


def _state_the_same(some: Sequence[Observation], others: Sequence[Observation]) -> bool:
    return len(some) == len(others) and all(
        one.rule is other.rule and one.values == other.values for one, other in zip(some, others, strict=True)
    )


def _with_item(search: TraceSearch, item: OrderedObservation) -> TraceSearch:
    whole = search.frontier.order
    items = whole.streams[item.stream].items
    changed = (*items[: item.position], item, *items[item.position + 1 :])
    return search.with_change(whole.with_items(item.stream, changed), item)
