"""Searches a slice as a log of its own, with the steps of the shared execution as one more stream.

That is done where every update has a line that names its action. Such slices are ordered by files, versions and the
clause, not by time stamps (docs/design/slice-search.md). The page also says when the check along versions is used
instead.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from operator import attrgetter
from typing import NamedTuple

from assay.checker.interpreter.expressions.traverse import variables_of
from assay.checker.report import State
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.kernel import types as t
from assay.grammar.values import Value
from assay.traces.event import Remark
from assay.traces.explain.failed_atoms import ConditionPrinter
from assay.traces.explain.mismatch import explain_and_continue
from assay.traces.explain.mismatch_findings import MismatchFindings
from assay.traces.observe.decomposition import Split, without_guards_on
from assay.traces.observe.observation import Observation
from assay.traces.observe.partial_order import (
    ObservationStream,
    OrderedObservation,
    PartialOrder,
)
from assay.traces.options import DEFAULT_OPTIONS, Options
from assay.traces.properties.execution import PropertyChecker, execution, hidden_steps
from assay.traces.result import Execution, SliceResult, TraceVerdict
from assay.traces.search import driver
from assay.traces.search.dependence import ReadWriteTable
from assay.traces.search.dfs import TraceSearch
from assay.traces.search.driver import Accepted, Rejected, Undecided
from assay.traces.search.next_items import TraceHeads
from assay.traces.search.path import SearchPath
from assay.traces.search.stuttering import compared_order
from assay.traces.search.transition_system import TraceModel
from assay.traces.slices.slice_answer import remarks_on
from assay.traces.slices.timeline.shared_past import SharedPast, SharedStep
from assay.traces.slices.versions.version_history import knows_gaps, number_of
from assay.traces.slices.versions.version_item import WrittenModel, has_several, is_late, item_lines, mismatch
from assay.traces.slices.versions.version_order import by_write

SHARED = "what is shared"
"""The action, and the stream, of shared steps: no action of a spec has this name."""

ALONE = "the slice"
"""The name of a slice that is a log of its own."""

STATES_KEPT = 10_000
"""How many states are kept from one slice to the next."""

SEARCHES_A_TABLE = 2_000
"""For how many searches one table of what steps read and write is kept."""

FEW_NODES = 2_000
"""How many nodes are visited to find an execution without hidden steps."""


def _may_begin_late(plan: k.TracePlan) -> bool:
    """Whether a slice whose lines hold no version may have begun before its log, because the clause has rules for
    earlier updates.
    """
    reported_later = any(rule.at is not None and not rule.steps for rule in plan.rules)
    return reported_later or bool(plan.numbered) or knows_gaps(plan)


class SliceSearchResult(NamedTuple):
    """The answer about a slice. ``first_alone``: of several mismatches only the first was searched, because updates
    have several lines.
    """

    result: SliceResult
    first_alone: bool = False


class SliceSearch:
    """Validates slices as logs of their own.

    ``seen`` are the shared variables that they read, and ``past`` the shared steps that change these. ``assumed`` are
    the hidden actions that may change them at any time.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - all that the answer about a slice depends on
        self,
        split: Split,
        plan: k.TracePlan,
        seen: Sequence[int],
        past: SharedPast,
        writer: ConditionPrinter,
        properties: Sequence[k.Property],
        assumed: Collection[str] = (),
        options: Options = DEFAULT_OPTIONS,
    ) -> None:
        self._split, self._plan, self._seen, self._past = split, plan, seen, past
        self._writer, self._of_slices, self._options = writer, properties, options
        action = _set_all([split.kernel.variables[at] for at in seen])
        kernel = replace(split.kernel, actions=(*split.kernel.actions, action))
        self._assumed = ", ".join(f"`{action}`" for action in assumed)
        hidden = tuple(name for name in plan.hidden if name not in plan.numbered)
        self._all = _Searched(WrittenModel(kernel, replace(plan, hidden=hidden)), properties)
        self._with_writes = None if hidden == plan.hidden else _Searched(WrittenModel(kernel, plan), properties)
        # Three models of one kernel, cheapest first: no hidden steps, hidden steps that count no version, and all. Most
        # slices of healthy logs need the first alone.
        self._without_hidden = _Searched(WrittenModel(kernel, replace(plan, hidden=())), properties) if hidden else None

    @property
    def visited(self) -> int:
        """How many states were visited."""
        every = self._all, self._without_hidden, self._with_writes
        return sum(each.model.visited for each in every if each is not None)

    def validate(self, name: str, observations: Sequence[Observation], used: int) -> SliceSearchResult | None:
        """The answer about a slice with these observations.

        None if some version has no line that names its action, or unlogged updates may explain what is left. A mismatch
        that disappears if the shared execution had another order, or other times, is undecided.
        """
        answer = self._answer(name, observations, used)
        if (
            answer is None
            or answer.result.verdict is not TraceVerdict.INCONSISTENT
            or not (self._assumed or any(not step.sure for step in self._past.steps))
        ):
            return answer
        # The shared execution is only one of several. The mismatch counts only if it stays when the slice may see any
        # shared state; else another order of shared steps may explain it.
        without = self._conditions_on_shared.without_condition
        again = self._freed.validate(name, [seen for each in observations if (seen := without(each))], used)
        if again is None or again.result.verdict is TraceVerdict.INCONSISTENT:
            return answer
        place = answer.result.violations[0].place
        came = "what all slices share came in another order than assumed"
        if self._assumed:
            came = f"{self._assumed}, of which no line tells, came at another time than assumed"
        reason = f"{place} fits only if {came}"
        return SliceSearchResult(
            replace(again.result, verdict=TraceVerdict.INCONCLUSIVE, reason=reason, properties=(), reordered=True)
        )

    @cached_property
    def _conditions_on_shared(self) -> ConditionRemover:
        return ConditionRemover({self._split.kernel.variables[at].name for at in self._seen})

    @cached_property
    def _freed(self) -> SliceSearch:
        """The same, where slices may act whatever the shared state is."""
        names = frozenset(self._split.kernel.variables[at].name for at in self._seen)
        # This one has no past and assumes nothing, so its `validate` asks no freed search in turn.
        freed = without_guards_on(self._split, names)
        return SliceSearch(
            freed, self._plan, self._seen, SharedPast(), self._writer, self._of_slices, (), self._options
        )

    def _answer(self, name: str, observations: Sequence[Observation], used: int) -> SliceSearchResult | None:
        own = self._by_number(compared_order(self._all.model, observations))
        if own is None:
            return None
        begin, end = self._around(own)
        begun = partial(self.initial_state, values=self._past.steps[begin - 1].values if begin else None)
        order = self.with_shared_stream(own, begin, end)
        by, found = self._all, None
        if self._without_hidden is not None:
            by, found = self._without_hidden, self._without_hidden.path(order, begun)
        if found is None:
            by, found = self._all, self._all.findings(order, begun, self._writer, self._options)
        if self._with_writes is not None and (found.path is None or found.violations):
            # Unlogged updates explain almost anything, so what they explain is no answer here: `None` leaves the slice
            # to the check by versions.
            by, found = self._with_writes, self._with_writes.findings(order, begun, self._writer, self._options)
            if not found.violations:
                return None
        run = None if found.path is None else execution(by.model, found.path)
        result = SliceResult(
            name,
            _verdict(found),
            found.reason,
            used,
            tuple(found.violations),
            () if run is None else by.properties.broken(run),
            {} if found.path is None else hidden_steps(found.path),
            None if run is None else _of_slice(run),
            () if found.path is None else tuple(self._remarks(found.path)),
        )
        return SliceSearchResult(result, first_alone=_has_writes_of_several(order))

    def _by_number(self, own: PartialOrder) -> PartialOrder | None:
        """The partial order in which no line comes before one with a lower version.

        None if some version has no line that names its action, or no line has a version of those that a log may begin
        with.
        """
        logged = ((item.index, number_of(self._all.model, item)) for item in own.items)
        writes = {index: (ALONE, number) for index, number in logged if number is not None}
        return None if not writes and _may_begin_late(self._plan) else by_write(own, writes)

    def _around(self, own: PartialOrder) -> tuple[int, int]:
        """How many shared steps were certainly over before the slice's first line, and how many not certainly after its
        last.
        """
        first = min((item.earliest for item in own.items), default=0.0)
        last = max((item.latest for item in own.items), default=0.0)
        steps = self._past.steps
        begin = bisect_left(steps, first, key=lambda step: step.latest + own.skew)
        return begin, max(begin, bisect_right(steps, last + own.skew, key=attrgetter("earliest")))

    def initial_state(self, state: State, values: Sequence[Value] | None = None) -> State:
        """The initial state of a slice, with the shared state as it was when the slice began."""
        if values is None:
            return state
        # What is shared is far along when a late slice begins; the slice itself begins as all slices do.
        whole = list(state)
        for at, value in zip(self._seen, values, strict=True):
            whole[at] = value
        return tuple(whole)

    def with_shared_stream(self, own: PartialOrder, begin: int, end: int) -> PartialOrder:
        """The order of a slice's lines with some shared steps as one more stream."""
        steps = self._past.steps[begin:end]
        if not steps:
            return own
        # An index names one item, so shared steps are numbered after all lines, merged ones included.
        number, first = (
            len(own.streams),
            1 + max((line.index for item in own.items for line in item_lines(item)), default=-1),
        )
        items = tuple(
            OrderedObservation(
                first + at, self.shared_step_as_line(step), number, at, step.time, step.earliest, step.latest
            )
            for at, step in enumerate(steps)
        )
        requires = {index: set(others) for index, others in own.requires.items()}
        for item, line in ((each, line) for each in own.items for line in item_lines(each)):
            before, after = self.bounds_by_shared_steps(line, own.skew)
            # A late line of an update bounds it from above only: the update may be much older than the shared steps
            # before that line.
            if begin < before <= end and not is_late(line, item):
                requires.setdefault(item.index, set()).add(items[before - 1 - begin].index)
            if begin <= after < end:
                requires.setdefault(items[after - begin].index, set()).add(item.index)
        together = {index: frozenset(others) for index, others in requires.items()}
        return replace(own, streams=(*own.streams, ObservationStream(SHARED, SHARED, items)), requires=together)

    def bounds_by_shared_steps(self, line: OrderedObservation, skew: int) -> tuple[int, int]:
        """How many shared steps certainly came before a line, by its file or its time, and the number of the first that
        came after it.
        """
        steps = self._past.steps
        before, after = self._past.around(line.observation, self._plan.ordering)
        by_time = bisect_left(steps, line.earliest - skew, key=attrgetter("latest"))
        return max(before, by_time), min(after, bisect_right(steps, line.latest + skew, key=attrgetter("earliest")))

    def shared_step_as_line(self, step: SharedStep) -> Observation:
        """A shared step as an observation that sets what the slice sees."""
        types = [self._split.kernel.variables[at].type for at in self._seen]
        given = tuple(k.Const(of, value) for of, value in zip(types, step.values, strict=True))
        rule = k.TraceRule(SHARED, SHARED, (), None, ((k.ActionCall(SHARED, given),),), None, None)
        return Observation(step.event, rule, {}, ())

    def _remarks(self, path: SearchPath) -> Iterator[Remark]:
        """The occurrences of actions that the clause reports, each with the line at or after it."""
        read = ((move, None if move.item is None else move.item.observation.event) for move in path.moves())
        steps = ((taken.action, event) for move, event in read for taken in (*move.hidden, *move.taken))
        yield from remarks_on(self._plan, steps)


class _Searched:
    """A model with which slices are searched one after the other, and the properties to check on what is found."""

    def __init__(self, model: TraceModel, properties: Sequence[k.Property]) -> None:
        self.model, self.properties = model, PropertyChecker(model, properties)
        self._initial = [model.states[number] for number in model.initial]
        self._effects = ReadWriteTable(model)
        self._searches = 0

    def path(self, order: PartialOrder, begun: Callable[[State], State]) -> MismatchFindings | None:
        """An execution, if one is found within few nodes."""
        search = self._search(order, begun)
        few = replace(DEFAULT_OPTIONS, nodes=FEW_NODES, solver=False)
        found = driver.run(search, search.begin(search.frontier.start), few)
        return MismatchFindings(path=found.path) if isinstance(found, Accepted) else None

    def findings(
        self, order: PartialOrder, begun: Callable[[State], State], writer: ConditionPrinter, options: Options
    ) -> MismatchFindings:
        """An execution, or the mismatches.

        If updates have several lines it stops at the first mismatch: which of the lines are right is not decided here.
        """
        search = self._search(order, begun)
        if not _has_writes_of_several(order):
            return explain_and_continue(search, writer, options)
        start = search.begin(search.frontier.start)
        found = driver.run(search, start, replace(DEFAULT_OPTIONS, solver=False))
        match found:
            case Accepted(path):
                return MismatchFindings(path=path)
            case Undecided(reason):
                return MismatchFindings(reason=reason)
            case Rejected():
                return MismatchFindings([mismatch(search, found, start, writer)])

    def _search(self, order: PartialOrder, begun: Callable[[State], State]) -> TraceSearch:
        """The search of a slice; ``begun`` maps the model's initial state to the state in which the slice begins."""
        self._searches += 1
        # Slices share the model, and each adds its own values to the memos. Without this a log with many slices would
        # keep them all.
        if len(self.model.states) > STATES_KEPT:
            self.model.forget()
            self._searches = SEARCHES_A_TABLE
        if self._searches >= SEARCHES_A_TABLE:  # what slices say has ever new values
            self._effects, self._searches = ReadWriteTable(self.model), 0
        initial = tuple(self.model.number(begun(state)) for state in self._initial)
        return TraceSearch(self.model, TraceHeads(order), self._effects, initial=initial)


class ConditionRemover:
    """Removes the conditions of observations that read one of some variables.

    A rule without its condition is made once, so that memos of rules know it again.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._known: IdentityMemo[k.TraceRule, k.TraceRule | None] = IdentityMemo()

    def without_condition(self, seen: Observation) -> Observation | None:
        """An observation without its condition if this reads one of the variables; None if it is nothing else."""
        rule = self._known.get_or_make(seen.rule, self._without_condition)
        if rule is None or rule is seen.rule:
            return None if rule is None else seen
        return replace(seen, rule=rule)

    def _without_condition(self, rule: k.TraceRule) -> k.TraceRule | None:
        condition = rule.then if rule.steps else rule.observe
        if condition is None or variables_of(condition).isdisjoint(self._names):
            return rule
        return replace(rule, then=None) if rule.steps else None


def _set_all(variables: Sequence[k.Variable]) -> k.Action:
    """The action that sets the shared variables to given values."""
    binders = [k.Local(each.type, f"{each.name} of all") for each in variables]
    parameters = tuple(k.Parameter(each, k.TypeDomain(t.SetType(each.type), each.type)) for each in binders)
    rows = zip(variables, binders, strict=True)
    body = tuple(k.Assign(each.name, each.name, (), binder, each.type) for each, binder in rows)
    return k.Action(SHARED, parameters, body, None, None)


def _has_writes_of_several(order: PartialOrder) -> bool:
    return any(has_several(item) for stream in order.streams for item in stream.items)


def _of_slice(run: Execution) -> Execution:
    """An execution without the shared steps; the states after them show in its other steps."""
    return replace(run, steps=tuple(step for step in run.steps if step.action != SHARED))


def _verdict(found: MismatchFindings) -> TraceVerdict:
    if found.violations:
        return TraceVerdict.INCONSISTENT
    return TraceVerdict.INCONCLUSIVE if found.path is None else TraceVerdict.CONSISTENT
