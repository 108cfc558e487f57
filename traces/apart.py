"""Slices whose lines state no numbers: each is searched as a log of its own, with the steps of what is shared in between.

NOTE(slices apart): Writes with numbers are in the order of their numbers, and what else is logged of such a slice is woven in by time (``history``). Where nothing has a number,
times alone would be the order: clocks that differ by a millisecond would make a healthy log inconsistent, and what happened long after a change of what is shared could be taken for
earlier. So these slices are what a log without slices is: in the order of their files, and otherwise in any that the clause allows. What is shared has its one
execution, which no slice changes: its steps are lines of a stream of their own, which say what is so afterwards. Those that were certainly over before the slice began are where it begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, takewhile

from assay.checker.evaluate.traverse import variables_of
from assay.checker.verdict import State
from assay.grammar import kernel as k
from assay.grammar import kernel_types as t
from assay.grammar.values import Value
from assay.traces.atoms import Writer
from assay.traces.binding import Observation
from assay.traces.conduct import DEFAULT_OPTIONS
from assay.traces.events import Event
from assay.traces.mismatch import Findings, proceed
from assay.traces.order import Item, Order, Stream
from assay.traces.replay import Properties, execution, hidden_steps
from assay.traces.restatement import compared_order
from assay.traces.search.explore import Search
from assay.traces.search.frontier import Frontier
from assay.traces.search.model import Model
from assay.traces.search.path import Path
from assay.traces.slicing import Split, without_guards_on
from assay.traces.validation import Execution, Remark, SliceResult, TraceVerdict

SHARED = "what is shared"
"""The action, and the stream, of the steps of what is shared: no action of a spec has such a name."""

STATES_KEPT = 10_000
"""How many states are remembered from one slice to the next."""


def is_numbered(plan: k.TracePlan) -> bool:
    """Whether writes of slices have numbers, or may lack their lines."""
    return bool(plan.numbered) or any(rule.at is not None or rule.event == k.GAP for rule in plan.rules)


@dataclass(frozen=True, slots=True)
class SharedStep:
    """A step of what is shared that slices see: what they see afterwards, the line that it was at or before, and when it was. ``sure`` says whether it came after the one before it for certain."""

    values: tuple[Value, ...]
    event: Event
    time: float
    earliest: float
    latest: float
    sure: bool


def shared_steps(model: Model, path: Path, seen: Sequence[int], skew: int) -> tuple[SharedStep, ...]:
    """The steps of an accepted path of what is shared that change one of the variables that are ``seen``."""
    values = _seen(model.states[path.root.node.state], seen)
    found: list[SharedStep] = []
    before: Item | None = None
    for move in path.moves():
        for taken in (*move.hidden, *move.taken):
            after = _seen(model.states[taken.state], seen)
            item = move.item or before
            if after != values and item is not None:
                sure = taken in move.taken and (before is None or _is_surely_after(before, item, skew))
                event = item.observation.event
                found.append(SharedStep(after, event, item.time, item.earliest, item.latest, sure))
            values = after
        before = move.item or before
    return _in_order(found)


def _seen(state: State, seen: Sequence[int]) -> tuple[Value, ...]:
    return tuple(state[at] for at in seen)


def _is_surely_after(one: Item, other: Item, skew: int) -> bool:
    return one.stream == other.stream or one.latest + skew < other.earliest


def _in_order(steps: Sequence[SharedStep]) -> tuple[SharedStep, ...]:
    """The steps, none later than a later one nor earlier than an earlier one."""
    times = accumulate((step.time for step in steps), max)
    earliest = accumulate((step.earliest for step in steps), max)
    latest = list(accumulate((step.latest for step in reversed(steps)), min))[::-1]
    rows = zip(steps, times, earliest, latest, strict=True)
    return tuple(replace(step, time=time, earliest=low, latest=high) for step, time, low, high in rows)


class Apart:
    """Answers about such slices: of a kernel that was taken apart, with this clause of theirs. ``seen`` are the shared variables that they see, and ``steps`` what changes these."""

    def __init__(
        self,
        split: Split,
        plan: k.TracePlan,
        seen: Sequence[int],
        steps: Sequence[SharedStep],
        writer: Writer,
        properties: Sequence[k.Property],
    ) -> None:
        self._split, self._plan, self._seen, self._steps = split, plan, seen, steps
        self._writer, self._of_slices = writer, properties
        action = _set_all([split.kernel.variables[at] for at in seen])
        self._model = Model(replace(split.kernel, actions=(*split.kernel.actions, action)), plan)
        self._properties = Properties(self._model, properties)
        self._initial = [self._model.states[number] for number in self._model.initial]

    @property
    def visited(self) -> int:
        """How many states were looked at."""
        return self._model.visited

    def answer(self, name: str, observations: Sequence[Observation], used: int) -> SliceResult:
        """The answer about a slice that these observations are made of. A mismatch that is none if what is shared came in another order, or at other times, is undecided."""
        result = self._answer(name, observations, used)
        if result.verdict is not TraceVerdict.INCONSISTENT or all(step.sure for step in self._steps):
            return result
        again = self._freed.answer(name, [seen for each in observations if (seen := self._unshared(each))], used)
        if again.verdict is TraceVerdict.INCONSISTENT:
            return result
        reason = f"{result.violations[0].place} fits only if what all slices share came in another order than assumed"
        return replace(again, verdict=TraceVerdict.INCONCLUSIVE, reason=reason, properties=())

    @cached_property
    def _freed(self) -> Apart:
        """The same where slices may act whatever is shared."""
        names = frozenset(self._split.kernel.variables[at].name for at in self._seen)
        freed = without_guards_on(self._split, names)
        return Apart(freed, self._plan, self._seen, (), self._writer, self._of_slices)

    def _unshared(self, seen: Observation) -> Observation | None:
        """An observation without the condition that reads what is shared; None if it is nothing else."""
        names = {self._split.kernel.variables[at].name for at in self._seen}
        rule = seen.rule
        condition = rule.then if rule.steps else rule.observe
        if condition is None or names.isdisjoint(variables_of(condition)):
            return seen
        return replace(seen, rule=replace(rule, then=None)) if rule.steps else None

    def _answer(self, name: str, observations: Sequence[Observation], used: int) -> SliceResult:
        if len(self._model.states) > STATES_KEPT:
            self._model.forget()
        own = compared_order(self._model, observations)
        passed, between = self._around(own)
        values = passed[-1].values if passed else None
        self._model.initial = tuple(self._model.number(self._begun(state, values)) for state in self._initial)
        found = proceed(Search(self._model, Frontier(self._with(own, between))), self._writer, DEFAULT_OPTIONS)
        run = None if found.path is None else _of_slice(execution(self._model, found.path))
        return SliceResult(
            name,
            _verdict(found),
            found.reason,
            used,
            tuple(found.violations),
            () if run is None else self._properties.broken(run),
            {} if found.path is None else hidden_steps(found.path),
            run,
            () if found.path is None else tuple(self._remarks(found.path)),
        )

    def _around(self, own: Order) -> tuple[list[SharedStep], list[SharedStep]]:
        """The steps that were certainly over before the first line, and those that were not certainly after the last."""
        first = min((item.earliest for item in own.items), default=0.0)
        last = max((item.latest for item in own.items), default=0.0)
        passed = list(takewhile(lambda step: step.latest + own.skew < first, self._steps))
        others = self._steps[len(passed) :]
        return passed, list(takewhile(lambda step: step.earliest <= last + own.skew, others))

    def _begun(self, state: State, values: Sequence[Value] | None) -> State:
        """The initial state of a slice, with what is shared as it was when it began."""
        if values is None:
            return state
        whole = list(state)
        for at, value in zip(self._seen, values, strict=True):
            whole[at] = value
        return tuple(whole)

    def _with(self, own: Order, steps: Sequence[SharedStep]) -> Order:
        """The order of a slice's lines, and the steps of what is shared as a stream beside them."""
        if not steps:
            return own
        number, first = len(own.streams), sum(len(stream.items) for stream in own.streams)
        items = tuple(
            Item(first + at, self._as_line(step), number, at, step.time, step.earliest, step.latest)
            for at, step in enumerate(steps)
        )
        return replace(own, streams=(*own.streams, Stream(SHARED, SHARED, items)))

    def _as_line(self, step: SharedStep) -> Observation:
        types = [self._split.kernel.variables[at].type for at in self._seen]
        given = tuple(k.Const(of, value) for of, value in zip(types, step.values, strict=True))
        rule = k.TraceRule(SHARED, SHARED, (), None, ((k.ActionCall(SHARED, given),),), None, None)
        return Observation(step.event, rule, {}, ())

    def _remarks(self, path: Path) -> Iterator[Remark]:
        """The occurrences of actions that the clause reports, each with the line that it was at or before."""
        told = {each.action: each for each in self._plan.reported}
        for move in path.moves():
            for taken in (*move.hidden, *move.taken):
                if taken.action in told and move.item is not None:
                    yield Remark(told[taken.action].severity, told[taken.action].text, move.item.observation.event)


def _set_all(variables: Sequence[k.Variable]) -> k.Action:
    """The action that gives variables their values."""
    binders = [k.Local(each.type, f"{each.name} of all") for each in variables]
    parameters = tuple(k.Parameter(each, k.TypeDomain(t.SetType(each.type), each.type)) for each in binders)
    rows = zip(variables, binders, strict=True)
    body = tuple(k.Assign(each.name, each.name, (), binder, each.type) for each, binder in rows)
    return k.Action(SHARED, parameters, body, None, None)


def _of_slice(run: Execution) -> Execution:
    """An execution without the steps of what is shared, whose outcome its other steps show."""
    return replace(run, steps=tuple(step for step in run.steps if step.action != SHARED))


def _verdict(found: Findings) -> TraceVerdict:
    if found.violations:
        return TraceVerdict.INCONSISTENT
    return TraceVerdict.INCONCLUSIVE if found.path is None else TraceVerdict.CONSISTENT
