"""The whole log against the whole model: one execution of all slices together, with every guard that slicing leaves out.

NOTE(whole logs): What slices answer is sure where they find a mismatch, for in slices the model may do more, never less. That they find none leaves two
things open: a guard that reads across slices, which was left out, and an execution of what is shared that suits every one of several slices, but not
all of them. Both are asked here, of the same lines in the same order (NOTE(windows)): the lines that state one number are one step of its slice, and the numbers
are the order of these steps; what else lines report comes between the writes that are told of before and after it. What a thread did in several
slices it did in the order of its lines; a clause that names no threads takes each file for one's.
The states are those of all slices at once, and so are the ways to order their steps: that is for small logs, and where a budget ends the search the answer says so.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise, permutations
from math import inf
from operator import attrgetter
from typing import NamedTuple

from assay.grammar import kernel as k
from assay.grammar import kernel_types as t
from assay.grammar.load import Loaded
from assay.grammar.values import Value
from assay.traces.atoms import Writer
from assay.traces.binding import Binder, Misfit, Observation
from assay.traces.blame import Suspect, as_blame, obstacles_of
from assay.traces.chain import Thread, thread_of
from assay.traces.conduct import Accepted, Options, Rejected, Undecided, conclude
from assay.traces.history import Entry, Write, announcing, by_time, entries
from assay.traces.join import speaks_of
from assay.traces.mismatch import NO_REPAIR, resume, violation_of
from assay.traces.order import Item, Order, Stream, stream_key
from assay.traces.plan import of_parts, of_versions, sized_kernel, strict
from assay.traces.replay import Properties, execution
from assay.traces.restatement import compared_events
from assay.traces.search.explore import Search
from assay.traces.search.frontier import Frontier
from assay.traces.search.model import NOWHERE_TO, Consumed, Model
from assay.traces.search.path import Path
from assay.traces.selection import Mark
from assay.traces.slice_check import LATE
from assay.traces.slices import SlicedEvents
from assay.traces.slicing import Split, split
from assay.traces.statement import EVERY_SLICE
from assay.traces.validation import Blame, BrokenProperty, Execution, Repair, TraceVerdict, Violation, Whole

MOST_LINES = 20_000
"""The most lines that are searched together: for each state the search keeps how far it has come in every slice."""

NO_ORDER = "the lines from here on have no order that the clause allows"
"""The repair where nothing can come next."""

NODES = 10
"""A search of the whole may visit so many times fewer states than one of what is shared: each holds all slices."""


@dataclass(frozen=True, slots=True, eq=False)
class WrittenItem(Item):
    """The first of the lines that state one number; ``others`` are the rest of them, and say of the same step what they say."""

    others: tuple[Item, ...] = ()


class WholeModel(Model):
    """The model of all slices; a step that several lines report is one that all of them allow."""

    def _consume(self, item: Item, state: int) -> Consumed:
        ways = super()._consume(item, state)
        for other in item.others if isinstance(item, WrittenItem) else ():
            if not ways:
                return NOWHERE_TO
            if other.observation.pinned:
                ends = {after for after, _ in super()._consume(other, state)}
                ways = tuple(way for way in ways if way[0] in ends)
            else:
                ways = tuple(way for way in ways if self.consume(other, way[0]))
        return ways

    def _can_stay(self, item: Item, state: int) -> bool:
        if isinstance(item, WrittenItem):
            return any(after == state for after, _ in self.consume(item, state))
        return super()._can_stay(item, state)


class Together(NamedTuple):
    """The search of all events, how many lines that is, what slicing leaves out, and the values that the model does not have."""

    search: Search
    lines: int
    divided: Split
    misfits: tuple[Misfit, ...]


def together(loaded: Loaded, parts: SlicedEvents, clause: str | None, options: Options) -> Together:
    """The search of all events together; raises SpecError if the clause cannot be used."""
    slices = {name: events.marked(Mark(name)) for name, events in parts.slices.items()}
    events = SlicedEvents(parts.shared, slices, parts.names)
    kernel, plan = sized_kernel(loaded, events.all, len(events), clause)
    if options.skew is not None:
        plan = replace(plan, ordering=replace(plan.ordering, skew=options.skew))
    plan = strict(plan) if options.strict else of_versions(plan, options.versions)
    assert plan.slicing is not None
    divided = split(kernel, plan.slicing)
    model = WholeModel(kernel, plan)
    reader = Model(kernel, divided.plan_of_shared(plan))
    read = Binder(reader.plan, reader.applies).read(events.shared)
    shared = compared_events(reader, events.shared, read)
    binder = Binder(divided.plan_of_slices(plan), model.applies)
    built = _Built(model, plan.slicing.sort.name, shared)
    misfits = list(read.tally.misfits)
    told = {item.observation.event.record.place for item in shared.items}
    for name, own in slices.items():
        of_slice = binder.read(own)
        misfits += of_slice.tally.misfits
        seen = binder.thinned(own, of_slice)
        told |= {each.event.record.place for each in seen}
        built.add(name, seen)
    return Together(Search(model, Frontier(built.order())), len(told), divided, tuple(misfits))


class _Told(NamedTuple):
    """A line that says what was done, and the number of the item that it is of."""

    line: Item
    item: int

    @property
    def place(self) -> tuple[float, int]:
        """Where it stands among the lines of its file."""
        return self.line.time, self.line.observation.event.record.place.line


class _Mates:
    """The shared lines of one thread in one stream: asked which of them were written before and after a line of a slice."""

    def __init__(self, items: Sequence[Item]) -> None:
        ordered = sorted(items, key=by_time)
        self._times = [item.time for item in ordered]
        self._written = list(accumulate((_written(item) for item in ordered), max))
        self._last = list(accumulate(ordered, lambda one, other: max(one, other, key=_place)))
        self._next = list(accumulate(reversed(ordered), lambda one, other: min(one, other, key=_place)))[::-1]

    def around(self, line: Item) -> tuple[Item | None, Item | None]:
        """The last one before, and the first one after."""
        first = bisect_left(self._written, line.time)
        end = bisect_right(self._times, line.latest, first)
        return self._last[first - 1] if first else None, self._next[end] if end < len(self._next) else None


def _place(item: Item) -> int:
    return item.position


class _Built:
    """The order of the whole, one slice after another: a stream of its writes, and one of what else each file tells of it."""

    def __init__(self, model: Model, sort: str, shared: Order) -> None:
        bound = model.plan.ordering.commit_before_line
        self._model, self._sort = model, sort
        self._late = LATE if bound is None else float(bound)
        self._shared = shared
        self._streams = list(shared.streams)
        self._requires: dict[int, set[int]] = defaultdict(set)
        self._count = len(shared.items)
        self._told: dict[Hashable, list[_Told]] = defaultdict(list)
        self._mates: dict[Thread, list[_Mates]] = defaultdict(list)
        for stream in shared.streams:
            groups: dict[Thread, list[Item]] = defaultdict(list)
            for item in stream.items:
                thread = thread_of(item.observation.event, model.plan)
                if thread is not None:
                    groups[thread].append(item)
            for thread, items in groups.items():
                self._mates[thread].append(_Mates(items))

    def order(self) -> Order:
        """The order of all that was added."""
        for told in self._told.values():
            self._in_order(told)
        requires = {index: frozenset(others) for index, others in self._requires.items()}
        return replace(self._shared, streams=tuple(self._streams), requires=requires)

    def add(self, name: str, seen: Iterable[Observation]) -> None:
        """Add the lines of a slice."""
        lines = [_item(self._count + number, each) for number, each in enumerate(seen)]
        self._count += len(lines)
        ordered = entries(self._model, lines, self._late)
        items = [self._item(entry) for entry in ordered]
        writes = [(e, item) for e, item in zip(ordered, items, strict=True) if isinstance(e, Write)]
        self._stream(f"{name}: writes", name, _tightened([item for _, item in writes]))
        files: dict[tuple[object, str], list[Item]] = defaultdict(list)
        numbers = {entry.number: item for entry, item in writes}
        last: Item | None = None
        for entry, item in zip(ordered, items, strict=True):
            if isinstance(entry, Write):
                last = item
                continue
            files[item.observation.event.run, item.observation.event.sequence].append(item)
            if last is not None:
                self._requires[item.index].add(last.index)
            if entry.before is not None:
                self._requires[numbers[entry.before].index].add(item.index)
        for (run, file), own in files.items():
            self._stream(f"{name}: {run} {file}", name, _tightened(sorted(own, key=by_time)))
        for entry, item in zip(ordered, items, strict=True):
            self._between_mates(entry, item)

    def _in_order(self, told: Sequence[_Told]) -> None:
        """Of the lines of a thread those of one file are in order, and those of several files by their times."""
        files: dict[str, list[_Told]] = defaultdict(list)
        for each in sorted(told, key=attrgetter("place")):
            files[each.line.observation.event.sequence].append(each)
        for own in files.values():
            for one, other in pairwise(own):
                self._require(other.item, one.item)
        for own, theirs in permutations(files.values(), 2):
            written = list(accumulate((_written(each.line) for each in theirs), max))
            for each in own:
                before = bisect_left(written, each.line.time)
                if before:
                    self._require(each.item, theirs[before - 1].item)

    def _require(self, item: int, before: int) -> None:
        if item != before:
            self._requires[item].add(before)

    def _stream(self, text: str, name: str, items: Sequence[Item]) -> None:
        number = len(self._streams)
        placed = tuple(replace(item, stream=number, position=at) for at, item in enumerate(items))
        self._streams.append(Stream(text, f"slice {name}", placed))

    def _between_mates(self, entry: Entry, item: Item) -> None:
        """What a thread writes lies between the shared lines that it wrote before and after (NOTE(windows)), and is in the order of its other lines."""
        plan = self._model.plan
        for line in announcing(entry.lines if isinstance(entry, Write) else (entry.line,)):
            thread = thread_of(line.observation.event, plan)
            if line.observation.pinned and (thread is not None or not plan.threads):
                key = thread or stream_key(line.observation, plan.ordering)
                self._told[key].append(_Told(line, item.index))
            for mates in [] if thread is None else self._mates.get(thread, []):
                before, after = mates.around(line)
                if before is not None:
                    self._requires[item.index].add(before.index)
                if after is not None:
                    self._requires[after.index].add(item.index)

    def _item(self, entry: Entry) -> Item:
        if not isinstance(entry, Write):
            return entry.line
        acting, lines = [each for each in entry.lines if each.observation.pinned], list(entry.lines)
        lead = acting[0] if acting else lines[0]
        others = tuple(each for each in lines if each is not lead or not acting)
        observation = lead.observation if acting else self._any_numbered(lead.observation)
        latest = min(each.latest for each in lines)
        return WrittenItem(lead.index, observation, 0, 0, lines[0].time, -inf, latest, others)

    def _any_numbered(self, seen: Observation) -> Observation:
        """The line read as whatever action a number can stand for, of its slice."""
        slice_ = next(value for field, value in seen.values if field == EVERY_SLICE)
        calls = tuple(self._of_slice(action, slice_) for action in self._model.plan.numbered)
        rule = replace(seen.rule, steps=(calls,), observe=None, then=None)
        return replace(seen, rule=rule)

    def _of_slice(self, action: str, slice_: Value) -> k.ActionCall:
        """A call of an action for a slice, whatever its other arguments are."""
        types = [parameter.binder.type for parameter in self._model.kernel.action(action).parameters]
        own = next(at for at, each in enumerate(types) if isinstance(each, t.AtomType) and each.sort.name == self._sort)
        arguments = tuple(k.Const(each, slice_) if at == own else None for at, each in enumerate(types))
        return k.ActionCall(action, arguments)


def _item(index: int, seen: Observation) -> Item:
    record = seen.event.record
    time = float(record.time or 0)
    return Item(index, seen, 0, 0, time, -inf, time + record.resolution - 1)


def _written(item: Item) -> float:
    return item.time + item.observation.event.record.resolution - 1


def _tightened(items: Sequence[Item]) -> list[Item]:
    """Items of one order, each no later than those after it."""
    latest = list(accumulate((item.latest for item in reversed(items)), min))[::-1]
    return [replace(item, latest=last) for item, last in zip(items, latest, strict=True)]


def check_whole(loaded: Loaded, parts: SlicedEvents, clause: str | None, options: Options) -> Whole:
    """Whether one execution of the whole model explains all events."""
    full, lines, divided, misfits = together(loaded, parts, clause, options)
    answer = Whole(TraceVerdict.INCONCLUSIVE, guards=divided.relaxed, lines=lines)
    if misfits:
        return replace(answer, verdict=TraceVerdict.INCONSISTENT, violations=(violation_of(misfits[0]),))
    if lines > MOST_LINES:
        return replace(answer, reason=f"{lines:,} lines are too many to be searched together; {MOST_LINES:,} are not")
    limits = replace(options, nodes=max(1, options.nodes // NODES), solver=False)
    for search in _searches(full):
        start = search.begin(search.frontier.start)
        found = conclude(search, start, limits)
        answer = replace(answer, visited=answer.visited + search.model.visited)
        if isinstance(found, Accepted):
            properties = _broken(search.model, divided, execution(search.model, found.path))
            return replace(answer, verdict=TraceVerdict.CONSISTENT, properties=properties)
    if isinstance(found, Undecided):
        return replace(answer, reason=f"{found.reason}, of {lines:,} lines of {len(parts.slices):,} slices together")
    violation = _mismatch(search, found, start, Writer(loaded.sources))
    return replace(answer, verdict=TraceVerdict.INCONSISTENT, violations=(violation,))


def _mismatch(search: Search, rejected: Rejected, start: list[Path], writer: Writer) -> Violation:
    """Who is to blame: a line that says something else than the others of its step, or no step of what could come next."""
    for path in rejected.deepest:
        for item in search.frontier.heads(path.node.cursors).items:
            odd = _odd_line(search.model, item, path) if isinstance(item, WrittenItem) else None
            if odd is not None:
                blame = as_blame(odd, writer)
                return Violation(blame.event, blame.action, (blame,), Repair("none", NO_REPAIR, blame.event))
    again = resume(search, rejected, start, writer)
    if again is not None:
        return again.violation
    left = search.frontier.next_in_streams(rejected.deepest[0].node.cursors)
    event = min(left, key=by_time).observation.event
    return Violation(event, "observe", (Blame(event, "observe", ()),), Repair("none", NO_ORDER, event))


def _odd_line(model: Model, item: WrittenItem, path: Path) -> Suspect | None:
    """The first line of a step that disagrees with it where the first says that it can come."""
    for after, taken in Model._consume(model, item, path.node.state):
        for other in item.others:
            state = path.node.state if other.observation.pinned else after
            obstacles = min((each for _, each in obstacles_of(model, other, state)), key=len, default=[])
            if obstacles:
                action = taken[-1].action if taken else "observe"
                return Suspect(other, action, tuple(obstacles), 0, path)
    return None


def _searches(full: Search) -> Iterator[Search]:
    """The search without hidden writes, which nearly no log needs and which lead to very many states; and the one with them."""
    plan = of_parts(full.model.plan)
    if plan.hidden != full.model.plan.hidden:
        yield Search(WholeModel(full.model.kernel, plan), full.frontier)
    yield full


def _broken(model: Model, divided: Split, run: Execution) -> tuple[BrokenProperty, ...]:
    """The properties of slices that the execution of the whole breaks."""
    names = {model.kernel.variables[at].name for at in divided.own}
    return Properties(model, (each for each in model.kernel.properties if speaks_of(each, names))).broken(run)
