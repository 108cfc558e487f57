"""Product search: one execution of the whole model for all slices together, with the guards that slicing drops.

It decides what slices leave open: guards across slices, and shared executions that suit each slice but not all. The
states are those of all slices at once, so this is for small logs (docs/design/product-search.md).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise, permutations
from math import inf
from operator import attrgetter, itemgetter
from typing import NamedTuple

import numpy as np

from assay.checker.interpreter.expressions.traverse import assignments, read_by, variables_of
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentitySet, IdentitySetMemo
from assay.grammar.kernel import types as t
from assay.grammar.load import Loaded
from assay.grammar.values import Value
from assay.traces.explain.blame import violation_of
from assay.traces.explain.failed_atoms import ConditionPrinter
from assay.traces.observe.binding import EventBinder, Read, observations_of, views_of
from assay.traces.observe.binding_tally import Misfit
from assay.traces.observe.decomposition import Split, split
from assay.traces.observe.model_size import clause_for_partial_logs, clause_for_versions, sized_kernel, strict_clause
from assay.traces.observe.observation import Observation
from assay.traces.observe.partial_order import (
    ObservationStream,
    OrderedObservation,
    PartialOrder,
    by_time,
    files_tell_order,
    narrowed_in_order,
    stream_key,
)
from assay.traces.observe.slice_assignment import SlicedEvents
from assay.traces.options import Options
from assay.traces.properties.execution import PropertyChecker, execution, speaks_of
from assay.traces.result import BrokenProperty, Execution, ProductAnswer, TraceVerdict
from assay.traces.search import driver
from assay.traces.search.dfs import Limits, TraceSearch
from assay.traces.search.driver import Accepted, Undecided
from assay.traces.search.next_items import TraceHeads
from assay.traces.search.path import SearchPath
from assay.traces.search.stuttering import compared_events, compared_order
from assay.traces.search.transition_system import ANY, NOWHERE_TO, AnyValue, Consumed, Taken, TraceModel, Wanted
from assay.traces.slices.guided_search import Guide, GuidedSearch
from assay.traces.slices.timeline.shared_timeline import Thread, thread_of
from assay.traces.slices.timeline.timeline_classes import HIDDEN_TRIED
from assay.traces.slices.versions.version_check import LATE
from assay.traces.slices.versions.version_history import Entry, VersionedUpdate, announcing, entries, number_of
from assay.traces.slices.versions.version_item import WrittenItem, WrittenModel, item_lines, mismatch
from assay.traces.slices.versions.version_order import by_write
from assay.traces.table.event_selection import Selection, SliceField
from assay.traces.table.statement_keys import EVERY_SLICE

MOST_LINES = 20_000
"""The most lines that are searched together: every state of the search keeps its progress in every slice."""

WANDERING = 2
"""A guided search may visit this many states for each line, and some more."""

NODES = 100
"""The product search may visit this many times fewer states than the shared search: each state holds all slices."""


class WholeModel(WrittenModel):
    """The model of all slices.

    A hidden step of a slice that no other slice reads is tried only right before a line of its own slice that needs it.
    """

    def __init__(self, kernel: k.Kernel, plan: k.TracePlan, divided: Split) -> None:
        super().__init__(kernel, plan)
        self.divided = divided
        self._tried = plan.hidden_limit if files_tell_order(plan) else HIDDEN_TRIED
        # Hidden steps of slices would multiply: every slice could move at every point. Only those that another slice
        # can see are tried everywhere.
        across = _read_across(kernel, divided)
        local = (name for name in plan.hidden if name in divided.actions)
        self._local = tuple(name for name in local if across.isdisjoint(_written_by(kernel, name)))
        self._common = frozenset(plan.hidden) - frozenset(self._local)
        self._matter: IdentitySetMemo[tuple[str, ...]] = IdentitySetMemo()

    def hidden(self, state: int, names: frozenset[str] | None = None) -> tuple[Taken, ...]:
        """The hidden steps that may be taken anywhere: those of no slice, and those that other slices read; or the
        given ones.
        """
        return super().hidden(state, self._common if names is None else names)

    def observation_holds(self, item: OrderedObservation, state: int) -> bool:
        """Whether an observation holds in a state, without hidden steps."""
        return any(after == state for after, _ in self.consume(item, state))

    def _consume(self, item: OrderedObservation, state: int) -> Consumed:
        found = self.agreed(item, state)
        slice_ = dict(item.observation.values).get(EVERY_SLICE)
        if found or slice_ is None:
            return found
        # Only now, because most lines need no hidden step, and what matters to an item is a fixed point.
        names = self._that_matter(item)
        most = max(self._tried, item.unseen if isinstance(item, WrittenItem) else 0)
        routes: dict[int, tuple[Taken, ...]] = {state: ()}
        seen = {state}
        for _ in range(most if names else 0):
            routes = {
                taken.state: (*route, taken)
                for origin, route in routes.items()
                for name in names
                for taken in self.call(name, self._of_slice(name, slice_), origin)
                if taken.state not in seen
            }
            # Level by level, so that the shortest routes are found first and longer ones to the same state are left
            # out.
            seen |= routes.keys()
            ways = {
                after: (*route, *taken)
                for middle, route in routes.items()
                for after, taken in self.agreed(item, middle)
            }
            if ways:
                return tuple(ways.items())
        return NOWHERE_TO

    def _that_matter(self, item: OrderedObservation) -> tuple[str, ...]:
        """The hidden actions of a slice that can matter to an item: they write what it reads, or what another such
        action reads.
        """
        rules = [line.observation.rule for line in item_lines(item)]
        found = self._matter.get(rules)
        if found is None:
            read = set[str]().union(*(_read_by(self.kernel, rule) for rule in IdentitySet(rules)))
            names: set[str] = set()
            # An action may matter only to another one that matters: as many in a row as may be hidden.
            for _ in range(self._tried):
                names |= {name for name in self._local if not read.isdisjoint(_written_by(self.kernel, name))}
                read |= {read for name in names for read in read_by(self.kernel.action(name).body)}
            found = self._matter.put(rules, None, tuple(name for name in self._local if name in names))
        return found

    def _of_slice(self, action: str, slice_: Value) -> Wanted:
        """The arguments of an action for one slice; the others are open."""
        types = [parameter.binder.type for parameter in self.kernel.action(action).parameters]
        sort = self.divided.slicing.sort.name
        own = next(at for at, each in enumerate(types) if isinstance(each, t.AtomType) and each.sort.name == sort)
        return tuple(slice_ if at == own else ANY for at in range(len(types)))

    def calls_for(self, slice_: Value) -> tuple[k.ActionCall, ...]:
        """All calls that may count a version of a slice."""
        return tuple(self._call(action, self._of_slice(action, slice_)) for action in self.plan.numbered)

    def _call(self, action: str, wanted: Wanted) -> k.ActionCall:
        types = (parameter.binder.type for parameter in self.kernel.action(action).parameters)
        pairs = zip(types, wanted, strict=True)
        return k.ActionCall(
            action, tuple(None if isinstance(value, AnyValue) else k.Const(type_, value) for type_, value in pairs)
        )


def _written_by(kernel: k.Kernel, action: str) -> set[str]:
    return {each.variable for each in assignments(kernel.action(action).body)}


def _read_by(kernel: k.Kernel, rule: k.TraceRule) -> set[str]:
    """The variables that a rule, and the actions that it names, read."""
    called = {name for step in rule.steps for call in step for name in read_by(kernel.action(call.action).body)}
    return called.union(*(variables_of(expr) for expr in (rule.then, rule.observe) if expr is not None))


def _read_across(kernel: k.Kernel, divided: Split) -> set[str]:
    """The slice variables that guards read across slices."""
    crossing = set(divided.relaxed)
    guards = (
        statement.condition
        for action in kernel.actions
        for statement in action.body
        if isinstance(statement, k.Guard) and (action.name, statement.label) in crossing
    )
    return set[str]().union(*(variables_of(condition) for condition in guards))


class ProductSearch(NamedTuple):
    """The search of all events, the number of its lines, the guards that slicing drops, and the misfits."""

    search: TraceSearch
    lines: int
    divided: Split
    misfits: tuple[Misfit, ...]


def together(loaded: Loaded, parts: SlicedEvents, clause: str | None, options: Options) -> ProductSearch:
    """The product search of all events; raises SpecError if the clause cannot be used."""
    slices = {name: events.marked(SliceField(name)) for name, events in parts.slices.items()}
    events = SlicedEvents(parts.shared, slices, parts.names)
    kernel, plan = sized_kernel(loaded, events.all, len(events), clause)
    if options.skew is not None:
        plan = replace(plan, ordering=replace(plan.ordering, skew=options.skew))
    plan = strict_clause(plan) if options.strict else clause_for_versions(plan, options.versions)
    assert plan.slicing is not None
    divided = split(kernel, plan.slicing)
    model = WholeModel(kernel, plan, divided)
    reader = TraceModel(kernel, divided.plan_of_shared(plan))
    read = EventBinder(reader.plan, reader.applies).read(events.shared)
    binder = EventBinder(divided.plan_of_slices(plan), model.applies)
    reads = {name: binder.read(own) for name, own in slices.items()}
    misfits = (*read.tally.misfits, *(misfit for each in reads.values() for misfit in each.tally.misfits))
    found = _order_of_files(model, [(events.shared, read), *((own, reads[name]) for name, own in slices.items())])
    if found is None:
        built = _Built(model, compared_events(reader, events.shared, read))
        for name, own in slices.items():
            built.add(name, binder.without_repetitions(own, reads[name]))
        found = built.order()
    reported = {line.observation.event.record.place for item in found.items for line in item_lines(item)}
    return ProductSearch(TraceSearch(model, TraceHeads(found)), len(reported), divided, misfits)


def _order_of_files(model: WholeModel, parts: Iterable[tuple[Selection, Read]]) -> PartialOrder | None:
    """The order of all lines if files order them (docs/design/slice-search.md); None if they do not, or an update was
    not logged.
    """
    plan = model.plan
    if not files_tell_order(plan) or plan.threads or not set(plan.hidden).isdisjoint(plan.numbered):
        return None
    placed = sorted((each for events, read in parts for each in _placed(events, read)), key=itemgetter(0))
    order = compared_order(model, (seen for _, seen in placed))
    numbers = ((item, number_of(model, item)) for item in order.items)
    return by_write(order, {item.index: (_slice_of(item), number) for item, number in numbers if number is not None})


def _placed(events: Selection, read: Read) -> Iterator[tuple[int, Observation]]:
    """The observations of all events, with their positions in the log."""
    every = list(views_of(events, np.arange(len(events.numbers)), read))
    positions = events.positions[[each.at for each in every]].tolist() if every else []
    return zip(positions, observations_of(events, every), strict=True)


def _slice_of(item: OrderedObservation) -> str:
    return str(dict(item.observation.values)[EVERY_SLICE])


class _Reported(NamedTuple):
    """A line that names its action, and the number of its item."""

    line: OrderedObservation
    item: int

    @property
    def place(self) -> tuple[float, int]:
        """Its place among the lines of its file."""
        return self.line.time, self.line.observation.event.record.place.line


class _Mates:
    """The shared lines of one thread in one stream: which of them were written before and after a line of a slice."""

    def __init__(self, items: Sequence[OrderedObservation]) -> None:
        ordered = sorted(items, key=by_time)
        self._times = [item.time for item in ordered]
        self._written = list(accumulate((_written(item) for item in ordered), max))
        self._last = list(accumulate(ordered, _later))
        self._next = list(accumulate(reversed(ordered), _earlier))[::-1]

    def around(self, line: OrderedObservation) -> tuple[OrderedObservation | None, OrderedObservation | None]:
        """The last one before, and the first one after."""
        first = bisect_left(self._written, line.time)
        end = bisect_right(self._times, line.latest, first)
        return self._last[first - 1] if first else None, self._next[end] if end < len(self._next) else None


def _later(one: OrderedObservation, other: OrderedObservation) -> OrderedObservation:
    return one if one.position > other.position else other


def _earlier(one: OrderedObservation, other: OrderedObservation) -> OrderedObservation:
    return one if one.position < other.position else other


class _Built:
    """The order of the whole, built slice by slice: a stream of its updates, and one for the other lines of each
    file.
    """

    def __init__(self, model: WholeModel, shared: PartialOrder) -> None:
        bound = model.plan.ordering.commit_before_line
        self._model = model
        self._late = LATE if bound is None else float(bound)
        self._shared = shared
        self._streams = list(shared.streams)
        self._requires: dict[int, set[int]] = defaultdict(set)
        self._count = len(shared.items)
        self._reported: dict[Hashable, list[_Reported]] = defaultdict(list)
        self._mates: dict[Thread, list[_Mates]] = defaultdict(list)
        for stream in shared.streams:
            groups: dict[Thread, list[OrderedObservation]] = defaultdict(list)
            for item in stream.items:
                thread = thread_of(item.observation.event, model.plan)
                if thread is not None:
                    groups[thread].append(item)
            for thread, items in groups.items():
                self._mates[thread].append(_Mates(items))

    def order(self) -> PartialOrder:
        """The partial order of all that was added."""
        for reported in self._reported.values():
            self._in_order(reported)
        requires = {index: frozenset(others) for index, others in self._requires.items()}
        return replace(self._shared, streams=tuple(self._streams), requires=requires)

    def add(self, name: str, seen: Iterable[Observation]) -> None:
        """Add the lines of a slice."""
        lines = [_item(self._count + number, each) for number, each in enumerate(seen)]
        self._count += len(lines)
        ordered = entries(self._model, lines, self._late)
        items: list[OrderedObservation] = []
        number = -1
        for entry in ordered:
            if isinstance(entry, VersionedUpdate):
                # As many hidden updates as versions are missing may come before this one.
                items.append(self._written(entry, entry.number - number - 1))
                number = entry.number
            else:
                items.append(entry.line)
        writes = [(e, item) for e, item in zip(ordered, items, strict=True) if isinstance(e, VersionedUpdate)]
        self._stream(f"{name}: writes", name, _tightened([item for _, item in writes]))
        files: dict[tuple[object, str], list[OrderedObservation]] = defaultdict(list)
        numbers = {entry.number: item for entry, item in writes}
        last: OrderedObservation | None = None
        for entry, item in zip(ordered, items, strict=True):
            if isinstance(entry, VersionedUpdate):
                last = item
                continue
            files[item.observation.event.log].append(item)
            if last is not None:
                self._requires[item.index].add(last.index)
            if entry.before is not None:
                self._requires[numbers[entry.before].index].add(item.index)
        for (run, file), own in files.items():
            self._stream(f"{name}: {run} {file}", name, _tightened(sorted(own, key=by_time)))
        for entry, item in zip(ordered, items, strict=True):
            self._between_mates(entry, item)

    def _in_order(self, reported: Sequence[_Reported]) -> None:
        """Order the lines of a thread: by position within a file, by time across files."""
        files: dict[str, list[_Reported]] = defaultdict(list)
        for each in sorted(reported, key=attrgetter("place")):
            files[each.line.observation.event.sequence].append(each)
        for own in files.values():
            for one, other in pairwise(own):
                self._require(other.item, one.item)
        # Across files only what was certainly written before a line comes before it.
        for own, theirs in permutations(files.values(), 2):
            written = list(accumulate((_written(each.line) for each in theirs), max))
            for each in own:
                before = bisect_left(written, each.line.time)
                if before:
                    self._require(each.item, theirs[before - 1].item)

    def _require(self, item: int, before: int) -> None:
        # Two lines of one update are one item, which cannot come before itself.
        if item != before:
            self._requires[item].add(before)

    def _stream(self, text: str, name: str, items: Sequence[OrderedObservation]) -> None:
        number = len(self._streams)
        placed = tuple(replace(item, stream=number, position=at) for at, item in enumerate(items))
        self._streams.append(ObservationStream(text, f"slice {name}", placed))

    def _between_mates(self, entry: Entry, item: OrderedObservation) -> None:
        """Place a thread's line between the shared lines that the thread wrote before and after it
        (docs/design/shared-timeline.md).
        """
        plan = self._model.plan
        for line in announcing(entry.lines if isinstance(entry, VersionedUpdate) else (entry.line,)):
            thread = thread_of(line.observation.event, plan)
            if line.observation.names_action and (thread is not None or not plan.threads):
                key = thread or stream_key(line.observation, plan.ordering)
                self._reported[key].append(_Reported(line, item.index))
            for mates in [] if thread is None else self._mates.get(thread, []):
                before, after = mates.around(line)
                if before is not None:
                    self._requires[item.index].add(before.index)
                if after is not None:
                    self._requires[after.index].add(item.index)

    def _written(self, entry: VersionedUpdate, unseen: int) -> OrderedObservation:
        acting, lines = [each for each in entry.lines if each.observation.names_action], list(entry.lines)
        # The item acts by the line that names its action. Without one it may be any action that counts a version.
        lead = acting[0] if acting else lines[0]
        # Without a named action the lead becomes any action, so its own line must stay among those that are compared.
        others = tuple(each for each in lines if each is not lead or not acting)
        observation = lead.observation if acting else self._any_numbered(lead.observation)
        latest = min(each.latest for each in lines)
        return WrittenItem(lead.index, observation, 0, 0, lines[0].time, -inf, latest, others, unseen)

    def _any_numbered(self, seen: Observation) -> Observation:
        """The line read as any action of its slice that counts a version."""
        slice_ = next(value for field, value in seen.values if field == EVERY_SLICE)
        return replace(seen, rule=replace(seen.rule, steps=(self._model.calls_for(slice_),), observe=None, then=None))


def _item(index: int, seen: Observation) -> OrderedObservation:
    record = seen.event.record
    time = float(record.time or 0)
    # No lower bound: what was sent once may be logged at any later time.
    # A time without milliseconds may be as late as the end of its second.
    return OrderedObservation(index, seen, 0, 0, time, -inf, time + record.resolution - 1)


def _written(item: OrderedObservation) -> float:
    return item.time + item.observation.event.record.resolution - 1


def _tightened(items: Sequence[OrderedObservation]) -> list[OrderedObservation]:
    """Items in one order, each no later than those after it."""
    return [replace(item, latest=last) for item, (_, last) in zip(items, narrowed_in_order(items), strict=True)]


def check_whole(
    loaded: Loaded, parts: SlicedEvents, clause: str | None, options: Options, known: Guide | None = None
) -> ProductAnswer:
    """Whether one execution of the whole model explains all events; ``known`` is the guide from the executions of
    slices.
    """
    full, lines, divided, misfits = together(loaded, parts, clause, options)
    answer = ProductAnswer(TraceVerdict.INCONCLUSIVE, guards=divided.relaxed, lines=lines)
    if misfits:
        return replace(answer, verdict=TraceVerdict.INCONSISTENT, violations=(violation_of(misfits[0]),))
    if lines > MOST_LINES:
        return replace(answer, reason=f"{lines:,} lines are too many to be searched together; {MOST_LINES:,} are not")
    limits = replace(options, nodes=max(1, options.nodes // NODES), solver=False)
    if known is not None:
        guided = GuidedSearch(full.model, full.frontier.order, divided.own, known)
        nodes = WANDERING * len(full.frontier.order.items) + limits.nodes
        narrow = Limits(full.model.plan.hidden_limit, min(nodes, options.nodes), reduced=False)
        # Every slice has an execution already. Mostly their steps can be woven into one, in the order of the guide.
        first = guided.run(guided.begin(guided.frontier.start), narrow)
        if first.path is not None:
            return _accepted(answer, guided, first.path, divided)
    # What is found without hidden updates is an execution of the full model too. That none is found proves nothing.
    search = _without_writes(full, divided)
    found = driver.run(search, _beginnings(search), limits)
    if search is not full and not isinstance(found, Accepted):
        answer = replace(answer, visited=search.model.visited)
        search, found = full, driver.run(full, _beginnings(full), limits)
    if isinstance(found, Accepted):
        return _accepted(answer, search, found.path, divided)
    answer = replace(answer, visited=answer.visited + search.model.visited)
    if isinstance(found, Undecided):
        return replace(answer, reason=f"{found.reason}, of {lines:,} lines of {len(parts.slices):,} slices together")
    violation = mismatch(search, found, _beginnings(search), ConditionPrinter(loaded.sources))
    return replace(answer, verdict=TraceVerdict.INCONSISTENT, violations=(violation,))


def _beginnings(search: TraceSearch) -> list[SearchPath]:
    return search.begin(search.frontier.start)


def _accepted(answer: ProductAnswer, search: TraceSearch, path: SearchPath, divided: Split) -> ProductAnswer:
    """The answer for an execution that was found, with the properties that it violates."""
    answer = replace(answer, visited=answer.visited + search.model.visited)
    properties = _broken(search.model, divided, execution(search.model, path))
    return replace(answer, verdict=TraceVerdict.CONSISTENT, properties=properties)


def _without_writes(full: TraceSearch, divided: Split) -> TraceSearch:
    """The search without hidden updates, which hardly any log needs and which lead to very many states."""
    plan = clause_for_partial_logs(full.model.plan)
    if plan.hidden == full.model.plan.hidden:
        return full
    return TraceSearch(WholeModel(full.model.kernel, plan, divided), full.frontier)


def _broken(model: TraceModel, divided: Split, run: Execution) -> tuple[BrokenProperty, ...]:
    """The slice properties that the execution violates."""
    names = {model.kernel.variables[at].name for at in divided.own}
    return PropertyChecker(model, (each for each in model.kernel.properties if speaks_of(each, names))).broken(run)
