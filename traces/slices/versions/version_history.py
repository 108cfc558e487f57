"""The possible executions of one slice: its updates in the order of versions, each an action at some shared position.

All lines of a version report one outcome (docs/design/update-outcomes.md). Of the paths to one state only the earliest
is kept (docs/design/earliest-position.md). Equal lines are checked once (docs/design/equal-lines.md). At most ``width``
search nodes are followed, and a mismatch counts only if none was dropped (docs/design/beam-width.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import NamedTuple

from assay.checker.interpreter.expressions.traverse import free_locals, variables_of
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityTupleMemo
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.observe.decomposition import Split
from assay.traces.observe.observation import Observation, with_field
from assay.traces.observe.partial_order import OrderedObservation, by_time
from assay.traces.search.transition_system import ANY, Taken, TraceModel
from assay.traces.slices.timeline.shared_timeline import Chain, Thread, thread_of
from assay.traces.slices.timeline.timeline_classes import View, Views
from assay.traces.slices.timeline.uncertain_intervals import Outside
from assay.traces.table.statement_keys import EVERY_SLICE

Own = tuple[Value, ...]
"""The values of a slice's own variables."""


@dataclass(frozen=True, slots=True)
class VersionedUpdate:
    """The lines of one version, by time."""

    number: int
    lines: tuple[OrderedObservation, ...]


@dataclass(frozen=True, slots=True)
class UnversionedLine:
    """An unversioned observation; it cannot come after the update with the version ``before``."""

    line: OrderedObservation
    before: int | None = None


Entry = VersionedUpdate | UnversionedLine


@dataclass(slots=True, eq=False)
class VersionNode:
    """A search node: a state of the slice, the lowest shared position that it needs, and how it was reached. Immutable.

    It was reached by an observation (``entry``), after hidden steps, by the observation's own steps. ``reported`` counts
    the steps of actions that the clause reports, on the whole path.
    """

    own: Own
    position: int
    before: VersionNode | None = None
    entry: Entry | None = None
    start: int = -1
    hidden: tuple[Taken, ...] = ()
    taken: tuple[Taken, ...] = ()
    reported: int = 0

    def backwards(self) -> Iterator[VersionNode]:
        """This node and those before it."""
        node: VersionNode | None = self
        while node is not None:
            yield node
            node = node.before


Frontier = tuple[VersionNode, ...]
"""The search nodes that are followed: of each state the earliest."""


class VersionHistory:
    """The steps of one slice over the shared timeline; ``visited`` counts the states in which an observation was tried.

    At most ``width`` nodes are followed at once (docs/design/beam-width.md).
    """

    def __init__(
        self, model: TraceModel, split: Split, chain: Chain, views: Views, width: int, outside: Outside | None = None
    ) -> None:
        self.model = model
        self.split = split
        self.chain = chain
        self.views = views
        self.width = width
        self._outside = outside
        self.narrowed = False
        self.visited = 0
        blank = model.states[model.initial[0]]
        self.begin: Frontier = (VersionNode(tuple(blank[i] for i in split.own), 0),)

    def not_before(self, frontier: Frontier, time: float) -> Frontier:
        """The frontier with every position raised to the last one that can lie before this time."""
        first = self.chain.latest_at(time)
        return tuple(replace(node, position=max(node.position, first)) for node in frontier)

    def state_id(self, own: Own, position: int) -> int:
        """The model's state with these slice values at a shared position."""
        whole = list(self.chain.states[position])
        for i, value in zip(self.split.own, own, strict=True):
            whole[i] = value
        return self.model.number(tuple(whole))

    def slice_values(self, state: int) -> Own:
        """The slice's values in a state."""
        whole = self.model.states[state]
        return tuple(whole[i] for i in self.split.own)

    def window(self, entry: Entry) -> tuple[int, int]:
        """The first and last position at which an observation can have happened (docs/design/shared-timeline.md)."""
        lines = entry.lines if isinstance(entry, VersionedUpdate) else (entry.line,)
        # Lines of an update may be written much later than it happened, so they bound its time from above only. The
        # line that announces it bounds it from below too, by the shared lines of its thread.
        low, high = 0, min((self.chain.latest_at(line.latest) for line in lines), default=len(self.chain.states) - 1)
        for line in announcing(lines):
            thread = thread_of(line.observation.event, self.model.plan)
            if thread is not None:
                first, last = self.chain.between(thread, line.time, line.latest)
                low, high = max(low, first), min(high, last)
        return low, max(low, high)

    def extend(
        self,
        frontier: Frontier,
        entry: Entry,
        most: int | None = None,
        allowed: Callable[[VersionNode], bool] = lambda _: True,
    ) -> Frontier:
        """The frontier after an observation, of nodes that are ``allowed``.

        Paths with fewer hidden steps come first: one more hidden step is tried only if there is no path without it.
        ``most`` limits them; by default it is ``views.tried``.
        """
        most = self.views.tried if most is None else most
        # If no hidden action writes what the entry reads, no sequence of them changes its answer.
        for hidden in range((most if any(self.view(entry).hidden[:1]) else 0) + 1):
            # Nodes without hidden steps exclude those with more: an execution with as few unlogged steps as possible is
            # the one that people expect, and the search stays small.
            reached = (onward for node in frontier for onward in self._onward(node, entry, hidden))
            best = _earliest(filter(allowed, reached))
            if best:
                return self.kept(best)
        return ()

    def kept(self, frontier: Frontier) -> Frontier:
        """At most ``width`` nodes, taken evenly over the list, because neighbours in it differ least."""
        if len(frontier) <= self.width:
            return frontier
        self.narrowed = True
        return tuple(frontier[number * len(frontier) // self.width] for number in range(self.width))

    def extend_with_unlogged(self, frontier: Frontier, number: int) -> Frontier:
        """The frontier after an update without any line: one of the hidden actions that count a version."""
        actions = [name for name in self.model.plan.numbered if name in self.model.plan.hidden]
        return self._by_numbered(frontier, VersionedUpdate(number, ()), actions, hidden=True)

    def extend_ignoring_lines(self, frontier: Frontier, write: VersionedUpdate) -> Frontier:
        """The frontier after an update at the time of its lines, by any action that counts a version; the lines' values
        are ignored.
        """
        return self._by_numbered(frontier, write, self.model.plan.numbered, hidden=False)

    def _by_numbered(
        self, frontier: Frontier, write: VersionedUpdate, actions: Iterable[str], *, hidden: bool
    ) -> Frontier:
        silent = VersionedUpdate(write.number, ())
        found = (
            VersionNode(
                self.slice_values(taken.state),
                position,
                node,
                silent,
                state,
                steps if hidden else (),
                () if hidden else steps,
                self._reported(node, steps),
            )
            for node in frontier
            for position, state in self.places(node, write, self.view(silent))
            for taken in self.numbered(state, actions)
            for steps in [(taken,)]
            if self._allows(position, state, steps)
        )
        return self.kept(_earliest(found))

    def _allows(self, position: int, start: int, steps: Sequence[Taken]) -> bool:
        """Whether steps from a state are possible at a position, where the model lacks guards that hold at some
        positions.
        """
        states = self.model.states
        return self._outside is None or self._outside.allows(position, states[start], steps, states)

    def _onward(self, node: VersionNode, entry: Entry, hidden: int) -> Iterator[VersionNode]:
        if not hidden and isinstance(entry, UnversionedLine) and self.views.asks_of_shared(entry.line.observation.rule):
            yield from self._seen(node, entry)
            return
        names = self.view(entry).hidden[:hidden]
        if isinstance(
            entry, VersionedUpdate
        ):  # a hidden action that counts a version would itself be this version's update
            names = tuple(each - frozenset(self.model.plan.numbered) for each in names)
        for position, start in self.places(node, entry):
            for route, state in self._after_hidden(start, names):
                for after, taken in self.successors(entry, state):
                    if not self._allows(position, start, (*route, *taken)):
                        continue
                    reported = self._reported(node, (*route, *taken))
                    yield VersionNode(self.slice_values(after), position, node, entry, state, route, taken, reported)

    def _seen(self, node: VersionNode, unversioned: UnversionedLine) -> Iterator[VersionNode]:
        """The same for a line that leaves the slice unchanged and reads shared state only: it is evaluated once for all
        slices.
        """
        seen, view = unversioned.line.observation, self.view(unversioned)
        for position in self._positions(node, unversioned, view):
            key = seen.values, view.classes[position]
            if self.views.truth(seen.rule, key, partial(self._is_so, seen, node.own, position)):
                yield VersionNode(node.own, position, node, unversioned, reported=node.reported)

    def _is_so(self, seen: Observation, own: Own, position: int) -> bool:
        condition = seen.rule.observe
        return condition is None or self.model.holds(condition, seen.bound, self.state_id(own, position))

    def _reported(self, node: VersionNode, steps: Iterable[Taken]) -> int:
        """The number of reported actions on the path with these steps added."""
        return node.reported + self.model.reported_count(steps)

    def places(self, node: VersionNode, entry: Entry, view: View | None = None) -> Iterator[tuple[int, int]]:
        """The positions for an observation after a node, with the state there; of equal positions in its view (or
        ``view``) the first.
        """
        for position in self._positions(node, entry, view or self.view(entry)):
            yield position, self.state_id(node.own, position)

    def _positions(self, node: VersionNode, entry: Entry, view: View) -> Iterator[int]:
        low, high = self.window(entry)
        seen: set[int] = set()
        position, last = max(node.position, low), max(node.position, high)
        while position <= last:
            if view.classes[position] not in seen:
                seen.add(view.classes[position])
                self.visited += 1
                yield position
            # Positions in between differ in nothing that the observation can see, so they are skipped without being
            # counted.
            position = view.changes[position]

    def view(self, entry: Entry) -> View:
        """What an observation can tell apart. An update without a line that names its action may be any that counts a
        version.
        """
        if isinstance(entry, UnversionedLine):
            return self.views.of_rule(entry.line.observation.rule)
        lines = entry.lines
        silent = not lines or not all(line.observation.names_action for line in lines)
        return self.views.of([line.observation.rule for line in lines], numbered=silent)

    def _after_hidden(self, state: int, names: Sequence[frozenset[str]]) -> Iterator[tuple[tuple[Taken, ...], int]]:
        """The sequences of hidden steps with these names, built from the last one backwards."""
        if not names:
            yield (), state
            return
        # `names` is by the distance to the observation, so its last entry is the step that comes first.
        for taken in self.model.hidden(state, names[-1]):
            for route, end in self._after_hidden(taken.state, names[:-1]):
                yield (taken, *route), end

    def successors(self, entry: Entry, state: int) -> Iterable[tuple[int, tuple[Taken, ...]]]:
        """The states after an observation, each with the steps that explain it."""
        match entry:
            case UnversionedLine(line):
                return self.model.consume(line, state)
            case VersionedUpdate(_, lines):
                return self._written(lines, state).items()

    def _written(self, lines: Sequence[OrderedObservation], state: int) -> dict[int, tuple[Taken, ...]]:
        acting = [line for line in lines if line.observation.names_action]
        if acting:
            found = dict(self.model.consume(acting[0], state))
            # All lines that name an action have to agree on one step, so what each allows is intersected.
            for line in acting[1:]:
                others = dict(self.model.consume(line, state)) if found else {}
                found = {after: taken for after, taken in found.items() if after in others}
        else:
            steps = ((taken,) for taken in self.numbered(state, self.model.plan.numbered))
            # Of steps to one state the last entry wins, which is the one with the fewest reported actions: no line
            # names this step.
            found = {each[-1].state: each for each in sorted(steps, key=self.model.reported_count, reverse=True)}
        watching = _different(line for line in lines if not line.observation.names_action)
        return {after: t for after, t in found.items() if all(self.model.consume(line, after) for line in watching)}

    def numbered(self, state: int, actions: Iterable[str]) -> Iterator[Taken]:
        """The steps that count a version, of these actions."""
        for action in actions:
            yield from self.model.call(action, (ANY,) * len(self.model.meanings.actions[action].names), state)

    def is_compatible(self, line: OrderedObservation, start: int, after: int) -> bool:
        """Whether a line can belong to an update from one state to another."""
        if line.observation.names_action:
            return any(end == after for end, _ in self.model.consume(line, start))
        return bool(self.model.consume(line, after))


def _earliest(nodes: Iterable[VersionNode]) -> Frontier:
    """The nodes of each state that are not dominated in position and reported actions
    (docs/design/earliest-position.md).
    """
    best: dict[Own, list[VersionNode]] = {}
    for node in nodes:
        known = best.setdefault(node.own, [])
        if not any(each.position <= node.position and each.reported <= node.reported for each in known):
            known[:] = (each for each in known if each.position < node.position or each.reported < node.reported)
            known.append(node)
    return tuple(node for known in best.values() for node in known)


def _different(lines: Iterable[OrderedObservation]) -> list[OrderedObservation]:
    """The lines without repetitions of an equal statement."""
    found = IdentityTupleMemo[OrderedObservation]()
    for line in lines:
        found.setdefault((line.observation.rule,), line.observation.values, line)
    return list(found.values())


def announcing(lines: Sequence[OrderedObservation]) -> Sequence[OrderedObservation]:
    """The lines that were written immediately after the fact: those that name actions, or else the first."""
    return [line for line in lines if line.observation.names_action] or lines[:1]


def is_prompt(model: TraceModel, lines: Sequence[OrderedObservation]) -> bool:
    """Whether the first line of an update is an immediate line: one that names the action, or any if none does so.

    Of an update that may be hidden, or whose own line was lost, there may only be a much later repetition. Lines that
    name the action and lie apart are repetitions: a controller that starts replays the metadata log.
    """
    plan = model.plan
    acting = [line.time for line in lines if line.observation.names_action]
    bound = plan.ordering.commit_before_line
    if bound is not None and acting and max(acting) - min(acting) > bound + plan.ordering.skew:
        return False
    told = any(rule.steps and rule.at is not None for rule in plan.rules)
    unlogged = not set(plan.numbered).isdisjoint(plan.hidden)
    return bool(acting) or not (unlogged or told)


def entries(model: TraceModel, lines: Iterable[OrderedObservation], late: float) -> list[Entry]:
    """The updates and unversioned observations of a slice in the order in which they are tried.

    An update may be older than its first line by ``late`` milliseconds.
    """
    writes: dict[int, list[OrderedObservation]] = {}
    unversioned_lines: list[OrderedObservation] = []
    for line in lines:
        number = number_of(model, line)
        if number is None:
            unversioned_lines.append(line)
        else:
            writes.setdefault(number, []).append(line)
    ordered = [VersionedUpdate(n, tuple(sorted(writes[n], key=by_time))) for n in sorted(writes)]
    reported = [_Reported.of(model, write, late) for write in ordered]
    slots: list[list[UnversionedLine]] = [[] for _ in range(len(ordered) + 1)]
    for line in sorted(unversioned_lines, key=by_time):
        thread = thread_of(line.observation.event, model.plan)
        last = next((i for i, each in enumerate(reported) if each.is_certainly_after(line, thread)), len(ordered))
        # The line is tried where its time puts it. If nothing explains it there, it waits until `last`, before which it
        # certainly happened.
        natural = next((i for i, each in enumerate(reported[:last]) if each.follows(line)), last)
        slots[natural].append(UnversionedLine(line, ordered[last].number if last < len(ordered) else None))
    found: list[Entry] = []
    for i, slot in enumerate(slots):
        found += slot
        found += ordered[i : i + 1]
    return found


def number_of(model: TraceModel, line: OrderedObservation) -> int | None:
    """The version in a line; None if it has none."""
    at, bound = line.observation.rule.at, line.observation.bound
    if at is None or (isinstance(at, k.Local) and at.name in bound):
        return stated_number(line)
    value = model.value(at, bound)
    return value if isinstance(value, int) else None


def stated_number(line: OrderedObservation) -> int | None:
    """The version in a line where it is one of its fields; None if it is not."""
    at = line.observation.rule.at
    value = line.observation.bound.get(at.name) if isinstance(at, k.Local) else None
    return value if isinstance(value, int) else None


def knows_gaps(plan: k.TracePlan) -> bool:
    """Whether the clause has rules for slices with missing lines."""
    return any(rule.event == k.GAP for rule in plan.rules)


class _Reported(NamedTuple):
    """When an update was reported: its first line, its immediate lines, and the last one of each thread.

    It also holds the time by which lines must have been written that certainly came before it, if that is known.
    """

    first: float
    after: float
    beside: Sequence[OrderedObservation]
    mates: Mapping[Thread | None, float]

    @classmethod
    def of(cls, model: TraceModel, write: VersionedUpdate, late: float) -> _Reported:
        """The same from the lines of an update, which may be older than its first line by ``late`` milliseconds."""
        first, beside = write.lines[0].time, announcing(write.lines)
        prompt = is_prompt(model, write.lines)
        mates: dict[Thread | None, float] = {}
        for mate in beside:
            thread = thread_of(mate.observation.event, model.plan)
            mates[thread] = max(mates.get(thread, mate.time), mate.time)
        return cls(first, first - late - model.plan.ordering.skew if prompt else -inf, beside, mates)

    def is_certainly_after(self, line: OrderedObservation, thread: Thread | None) -> bool:
        """Whether the update happened after the fact of a line, by the thread or by the clock."""
        return self.after > line.latest or (thread is not None and self.mates.get(thread, -inf) > line.latest)

    def follows(self, line: OrderedObservation) -> bool:
        """Whether the update is reported after a line: by time, and at one time by the order of the file."""
        if self.first > line.time:
            return True
        event = line.observation.event
        others = (each for each in self.beside if line.time <= each.time <= line.latest)
        return any(each.index > line.index and each.observation.event.log == event.log for each in others)


def at_field(rule: k.TraceRule) -> str | None:
    """The event field that holds the version."""
    if isinstance(rule.at, k.Local):
        return next((field.field for field in rule.fields if field.binder.name == rule.at.name), None)
    return None


def states_number_alone(rule: k.TraceRule) -> bool:
    """Whether a line reports nothing of its update but the version: no other field is compared with the outcome."""
    fields = {field.binder.name for field in rule.fields if field.field not in (EVERY_SLICE, at_field(rule))}
    condition = rule.observe if not rule.steps else rule.then
    return condition is None or not any(
        variables_of(part) and not fields.isdisjoint(free_locals(part)) for part in _parts(condition)
    )


def _parts(condition: k.Expr) -> Iterator[k.Expr]:
    """The conjuncts of a condition; one with local names is not split."""
    if isinstance(condition, k.Logic):
        for part in condition.parts:
            yield from _parts(part)
    else:
        yield condition


def with_number(line: OrderedObservation, number: int) -> OrderedObservation | None:
    """The line as if it had another version."""
    name = at_field(line.observation.rule)
    return None if name is None else replace(line, observation=with_field(line.observation, name, number, number))
