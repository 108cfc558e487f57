"""Validates the slices of a log on the shared execution that was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from assay.checker.interpreter.expressions.traverse import variables_of
from assay.grammar import kernel as k
from assay.traces.event import Event, LogPosition, Remark
from assay.traces.observe.binding import EventBinder
from assay.traces.observe.partial_order import OrderedObservation, files_tell_order
from assay.traces.options import DEFAULT_OPTIONS
from assay.traces.properties.execution import PropertyChecker, speaks_of
from assay.traces.result import ExecutedStep, Execution, LogViolation, SliceResult, TraceVerdict
from assay.traces.search.read_write_sets import contradicts_itself
from assay.traces.search.transition_system import TraceModel
from assay.traces.slices.coarse_times import ORDERS_TRIED, moved_forward, unlogged_order, without_versions_first
from assay.traces.slices.slice_answer import SliceAnswer, created_again, explained_by_the_unlogged, remarks_on
from assay.traces.slices.slice_context import Joint
from assay.traces.slices.slice_lines import SliceLines, slice_item
from assay.traces.slices.slice_search import STATES_KEPT, ConditionRemover, SliceSearch, SliceSearchResult
from assay.traces.slices.timeline.timeline_classes import Views
from assay.traces.slices.timeline.uncertain_intervals import Outside
from assay.traces.slices.versions.conflicting_lines import are_of_two, contradicted, have_restarted
from assay.traces.slices.versions.findings import WIDTHS, SliceFindings, SliceQuery
from assay.traces.slices.versions.version_blame import Blamer
from assay.traces.slices.versions.version_check import SliceCheck
from assay.traces.slices.versions.version_history import (
    UnversionedLine,
    VersionedUpdate,
    VersionHistory,
    VersionNode,
)
from assay.traces.slices.versions.wrong_versions import check_slice
from assay.traces.table.event_selection import Selection
from assay.traces.table.statement_keys import named_by

if TYPE_CHECKING:
    from assay.traces.slices.versions.ask_slice import Timeline
    from assay.traces.windows.slice_window import WindowRefuted

_DOUBTFUL = frozenset({TraceVerdict.INCONSISTENT, TraceVerdict.INCONCLUSIVE})
_OF_STATES = frozenset({"invariant", "lemma"})


class SlicesOfKernel:
    """The model of slices, and what else the kernel and the clause alone determine: all shared timelines use it."""

    def __init__(self, joint: Joint) -> None:
        self.model = TraceModel(joint.split.kernel, joint.split.plan_of_slices(joint.plan))
        writer = replace(joint.writer, unnamed=joint.split.slicing.sort.name)
        self.blamer = Blamer(joint.split.kernel, writer)
        names = {joint.split.kernel.variables[i].name for i in joint.split.own}
        self.own_properties = [p for p in joint.split.kernel.properties if speaks_of(p, names)]
        self.properties = PropertyChecker(self.model, self.own_properties)
        # Between two lines of a slice the time of a shared step is not known, so only what is a slice's own is asked.
        self._alone = [
            p for p in self.own_properties if all(variables_of(each.condition) <= names for each in p.conjuncts)
        ]
        self.binder = EventBinder(self.model.plan, self.model.applies)
        self.names = named_by(self.model.plan.rules)
        self._joint, self._seen = joint, {joint.split.kernel.variables[i].name for i in joint.seen}

    @cached_property
    def lemmas(self) -> PropertyChecker:
        """What holds of a slice's states, and of one after another with any writes between them."""
        last = frozenset[str]()
        if self._joint.log is not None:
            from assay.traces.windows.slice_window import lasting  # noqa: PLC0415 - few answers need the solver

            last = lasting(self._joint.log)
        kept = [each for each in self._alone if each.kind in _OF_STATES or each.name in last]
        return PropertyChecker(self.model, kept, _OF_STATES | {"transition"})

    def is_possible(self, after: int, before: int) -> bool:
        """Whether one state, by number, may come after another one, with any writes between them."""
        return self.lemmas.holds(after, before)

    def reads_shared(self, rule: k.TraceRule) -> bool:
        """Whether a line of a rule is held against what all slices share: a window of a slice leaves that open."""
        called = (self._joint.split.kernel.action(call.action) for step in rule.steps for call in step)
        nodes = (*called, *(each for each in (rule.then, rule.observe) if each is not None))
        return any(not self._seen.isdisjoint(variables_of(each)) for each in nodes)


class Joiner:
    """Validates the slices of one log, each by itself; what the model can do is computed once for all of them."""

    def __init__(self, joint: Joint, of_kernel: SlicesOfKernel | None = None) -> None:
        """``of_kernel`` is what another object computed from the same kernel and the same clause."""
        self._of_kernel = SlicesOfKernel(joint) if of_kernel is None else of_kernel
        self.joint = joint
        self.visited = 0
        self.model = self._of_kernel.model
        self.blamer = self._of_kernel.blamer
        self.properties = self._of_kernel.properties
        self.binder = self._of_kernel.binder
        self.names = self._of_kernel.names

    def of_slice(self, name: str, events: Sequence[Event]) -> SliceAnswer:
        """The answer about a slice; it depends on the slice's own events and on the joint only."""
        lines, before = self.lines(events), self.visited
        return SliceAnswer(self.validate(name, lines), lines.read.tally, self.visited - before)

    def lines(self, events: Sequence[Event]) -> SliceLines:
        """The observations of a slice."""
        return SliceLines(self.model, self.binder, Selection.of(events, self.names), self.joint)

    def forget(self) -> None:
        """Drop the states of earlier slices if they are many; called before a slice begins."""
        # Slices share most of their states, so they are kept from one to the next while they are few.
        if len(self.model.states) > STATES_KEPT:
            self.model.forget()

    def validate(self, name: str, lines: SliceLines) -> SliceResult:
        """The answer about a slice.

        A mismatch is undecided if it disappears where hidden shared steps come at other times. Their times are chance,
        for no line reports them. Where files begin at different times, lines of later times may be missing too. That is
        considered only if the slice would be inconsistent otherwise.
        """
        result = self._validated(name, lines)
        if result.violations:
            result = replace(result, violations=self._with_certain(result, lines))
        return self._with_contradiction(result, lines)

    def _with_contradiction(self, result: SliceResult, lines: SliceLines) -> SliceResult:
        """The answer with lines that contradict each other whatever came before, if it is open and there are any."""
        certain = any(each.certain for each in result.violations)
        if self.joint.log is None or certain or result.verdict not in _DOUBTFUL:
            return result
        from assay.traces.explain.contradiction import violation_of_window  # noqa: PLC0415 - few answers need the solver
        from assay.traces.slices.versions.ask_slice import EXPLAINED, LINES, contradictory_lines  # noqa: PLC0415

        doubted = [each.observation.event for each in lines.few if contradicts_itself(self.model, each.observation)]
        absurd = [] if result.absurd is None or doubted else [result.absurd]
        # A line that no state satisfies is asked about first: its window is small, and what it proves is certain.
        answer = contradictory_lines(self.joint.log, lines.few, doubted or absurd or result.unexplained)
        if absurd and isinstance(answer, str) and len(lines.few) > LINES:  # few were all asked about
            answer = contradictory_lines(self.joint.log, lines.few, result.unexplained)
        if isinstance(answer, str):
            explained = answer == EXPLAINED and result.open_lines and not doubted
            if explained and result.of_shared:
                answer = contradictory_lines(self.joint.log, lines.few, result.of_shared, self._timeline)
            return explained_by_the_unlogged(result) if explained and answer == EXPLAINED else result
        if self._may_be_several() and self._are_of_two(answer):
            return created_again(result, answer.items)
        found = violation_of_window(answer, self.model.kernel, self.blamer.writer, lines.few, result.violations)
        named = {blame.place for blame in found.blame}
        # A line of the contradiction would be told twice, once with a reason and once without.
        others = (each for each in result.violations if each.place not in named)
        return replace(result, verdict=TraceVerdict.INCONSISTENT, reason=None, violations=(found, *others))

    @cached_property
    def _timeline(self) -> Timeline:
        """The shared timeline, as far as lines tell of it."""
        from assay.traces.slices.versions.ask_slice import Timeline  # noqa: PLC0415 - few answers need the solver

        return Timeline(self.joint.chain, self.joint.logged_values(), self._history(1).window)

    def _may_be_several(self) -> bool:
        """Whether lines of two slices that had one name may be taken for one's: no line reports the second creation."""
        slicing, partial = self.joint.split.slicing, self.joint.partial
        return partial if slicing.identity is not None else (self.joint.begun or partial) and slicing.since is not None

    def _are_of_two(self, refuted: WindowRefuted) -> bool:
        """Whether another slice of that name may have begun between some lines."""
        from assay.traces.windows.births import AT_ONCE, may_be_created_again  # noqa: PLC0415 - it needs the solver

        items, times = refuted.items, [each.time for each in refuted.items]
        if refuted.is_of_versions_alone:
            return max(times) - min(times) > AT_ONCE
        if self.joint.split.slicing.identity is not None:
            return may_be_created_again(items, 0)  # lines name a new slice, if they were read
        unlogged = any(min(times) <= before and after <= max(times) for before, after in self.joint.stretches)
        return unlogged or may_be_created_again(items) or have_restarted(self.model, items)

    def _with_certain(self, result: SliceResult, lines: SliceLines) -> tuple[LogViolation, ...]:
        """The mismatches, those marked that lines alone show."""
        sure = {each.place for each in self._contradictions(result.violations, lines)}
        sure |= {each.event.record.place for each in lines.observations if contradicts_itself(self.model, each)}
        return tuple(replace(each, certain=each.place in sure) for each in result.violations)

    def _validated(self, name: str, lines: SliceLines) -> SliceResult:
        found = self._as_own_log(name, lines)
        if found is not None and not (found.first_alone and found.result.verdict is TraceVerdict.INCONSISTENT):
            return found.result
        result = self._slice(name, lines)
        if found is not None:  # no execution: the check along versions may explain it better
            return result if result.verdict is TraceVerdict.INCONSISTENT else found.result
        # The window may begin between two writes of a slice: lines of its first ones may be missing. Of a slice whose
        # creation is in the log a mere lack of lines is no reason to suppose that.
        lacks = result.verdict is TraceVerdict.INCONSISTENT or result.rests_on is not None
        if self.joint.begun and result.verdict in _DOUBTFUL and lacks:
            return self.for_partial_logs._validated(name, lines)
        if result.verdict is not TraceVerdict.INCONSISTENT:
            return result
        # Before all files have begun any line may be missing, so that only lines against lines prove anything.
        if all((each.event.record.time or 0) < self.joint.late for each in result.violations):
            return self._of_lost_lines(result, lines, "was written before all files begin")
        # A shared state from which the search went on is one of several: it may be wrong in what slices read.
        if self.joint.stretches:
            return self._of_lost_lines(result, lines, "rests on shared steps of which no line tells")
        order = unlogged_order(result.violations, lines.observations)
        if order is not None:
            open_ = replace(result, verdict=TraceVerdict.INCONCLUSIVE, reason=order, violations=(), properties=())
            return self._in_another_order(name, lines) or open_
        if not self.joint.assumed:
            return result
        sure = self._contradictions(result.violations, lines)
        if sure:
            return replace(result, violations=sure)
        # The weakest question of all: only what stays inconsistent under any times of hidden steps is told as such.
        again = self.with_unknown_hidden_times.without_lines(name, lines, self._unread(lines.few))
        if again is None:
            return result
        names = ", ".join(f"`{action}`" for action in self.joint.assumed)
        place = result.violations[0].place
        reason = f"{place} fits only if {names}, of which no line tells, came at another time than assumed"
        reordered = files_tell_order(self.model.plan) and again.verdict is TraceVerdict.CONSISTENT
        return replace(again, verdict=TraceVerdict.INCONCLUSIVE, reason=reason, properties=(), reordered=reordered)

    def _as_own_log(self, name: str, lines: SliceLines) -> SliceSearchResult | None:
        """The answer of a search as a log of its own (docs/design/slice-search.md); None if that does not apply."""
        if self.slice_search is None or not lines.few:
            return None
        before = self.slice_search.visited
        found = self.slice_search.validate(name, lines.observations, lines.used)
        self.visited += self.slice_search.visited - before
        return found

    def _in_another_order(self, name: str, lines: SliceLines) -> SliceResult | None:
        """The answer in an order of lines that their times allow, too, if every line has an explanation in it."""
        for first in (lines.few, without_versions_first(lines.few)):
            few: Sequence[OrderedObservation] = first
            for _ in range(ORDERS_TRIED):
                history, found = self.check_narrow_then_wide(few, started=lines.started)
                if not found.violations:
                    result = self._result(name, history, found, lines.used)
                    return None if result.verdict in _DOUBTFUL else result
                moved = moved_forward(few, found.violations[0].event)
                if moved is None:
                    break
                few = moved
        return None

    def _of_lost_lines(self, result: SliceResult, lines: SliceLines, why: str) -> SliceResult:
        """The answer about a slice where shared lines are missing: only contradictions between lines count."""
        sure = self._contradictions(result.violations, lines)
        if sure:
            return replace(result, violations=sure)
        reason = f"{result.violations[0].place} has no explanation, and {why}"
        return replace(result, verdict=TraceVerdict.INCONCLUSIVE, reason=reason, violations=(), properties=())

    def _contradictions(self, violations: Iterable[LogViolation], lines: SliceLines) -> tuple[LogViolation, ...]:
        """The mismatches of updates whose lines contradict each other: they hold whenever hidden steps came."""
        items = [slice_item(number, seen) for number, seen in enumerate(lines.observations)]
        own = {self.joint.split.kernel.variables[i].name for i in self.joint.split.own}
        several = self._may_be_several()
        groups = contradicted(self.model, items, own).values()
        of_wrong = (same for same in groups if not (several and are_of_two(self.model, same, own)))
        places = {each.observation.event.record.place for same in of_wrong for each in same}
        return tuple(violation for violation in violations if violation.place in places)

    def with_timeline(self, other: Joint) -> Joiner:
        """The same slices on a joint with another shared execution; this object if slices see no difference."""
        if (other.chain, other.assumed, other.past) == (self.joint.chain, self.joint.assumed, self.joint.past):
            return self
        return Joiner(other, self._of_kernel)

    @cached_property
    def slice_search(self) -> SliceSearch | None:
        """The validator of slices that are logs of their own; None if there are none."""
        if not self.joint.is_searched_by_itself:
            return None
        joint, plan = self.joint, self.model.plan
        properties = self._of_kernel.own_properties
        options = replace(DEFAULT_OPTIONS, first=joint.first)
        return SliceSearch(
            joint.split, plan, joint.seen, joint.past, self.blamer.writer, properties, joint.assumed, options
        )

    @cached_property
    def views(self) -> Views:
        """The views of observations on the shared timeline."""
        split, unsure = self.joint.outside or self.joint.split, () if self.outside is None else self.outside.unsure
        return Views(split, self.model.plan, self.joint.chain, unsure)

    @cached_property
    def outside(self) -> Outside | None:
        """The check of the guards that the kernel lacks; None if it lacks none."""
        return None if self.joint.outside is None else Outside(self.joint.outside.kernel, self.joint.chain)

    @cached_property
    def for_partial_logs(self) -> Joiner:
        """The validator for logs in which any lines may be missing."""
        return Joiner(self.joint.for_partial_logs())

    @cached_property
    def _conditions_on_assumed(self) -> ConditionRemover:
        return ConditionRemover(frozenset[str]().union(*self.joint.assumed.values()))

    @cached_property
    def with_unknown_hidden_times(self) -> Joiner:
        """The validator where slices may act whatever hidden shared steps changed."""
        return Joiner(self.joint.with_unknown_hidden_times())

    def _slice(self, name: str, lines: SliceLines) -> SliceResult:
        self.forget()
        if not lines.few:
            return SliceResult(name, TraceVerdict.VACUOUS, "no line of it is used", 0, (), (), {}, None, ())
        return self._result(name, *self.check_then_explain(lines), lines.used)

    def _unread(self, few: Sequence[OrderedObservation]) -> Sequence[OrderedObservation]:
        """The lines without conditions that read what hidden steps may have changed, if files order lines."""
        if not files_tell_order(self.model.plan):
            return few
        without = self._conditions_on_assumed.without_condition
        return [replace(line, observation=seen) for line in few if (seen := without(line.observation))]

    def without_lines(self, name: str, lines: SliceLines, few: Sequence[OrderedObservation]) -> SliceResult | None:
        """The answer about a slice with these lines, unless it is inconsistent; mismatches are not explained."""
        self.forget()
        history, found = self.check_narrow_then_wide(few, started=lines.started)
        return None if found.violations else self._result(name, history, found, lines.used)

    def _result(self, name: str, history: VersionHistory, found: SliceFindings, used: int) -> SliceResult:
        self.visited += history.visited
        nodes = list(found.node.backwards())[::-1]
        run = self.execution(history, nodes)
        # Across a mismatch or a missing update two states in a row are no step: properties would prove nothing.
        jumped = found.violations or found.missing or found.unplaced
        properties = () if jumped else self.properties.broken(run)
        rests_on = found.rests_on(lacking=self._may_lack_lines)
        asked = self._asked(found)
        verdict, reason, absurd = asked.verdict, asked.reason, None
        if verdict is not TraceVerdict.INCONSISTENT and rests_on is not None:
            absurd = next(iter(self._of_kernel.lemmas.broken(run)), None)
            if absurd is not None:
                verdict, reason = (
                    TraceVerdict.INCONCLUSIVE,
                    f"what came before is no state of a cluster: {absurd.name} is false",
                )
        return SliceResult(
            name,
            verdict,
            reason,
            used,
            _by_line(found.violations),
            properties,
            Counter(taken.action for node in found.node.backwards() for taken in node.hidden),
            run,
            tuple(self.remarks(nodes)),
            lacking=bool(found.missing or found.unplaced or found.begun is not None),
            rests_on=rests_on,
            unexplained=tuple(found.unexplained),
            absurd=None if absurd is None else absurd.event,
            open_lines=verdict is TraceVerdict.INCONCLUSIVE
            and absurd is None
            and asked.is_of_lines(lacking=self.joint.partial),
            of_shared=tuple(found.unexplained_by(self._of_kernel.reads_shared)),
        )

    @property
    def _may_lack_lines(self) -> bool:
        """Whether writes without a line are expected: lines are known to be missing, or files have no common order."""
        return self.joint.partial or not files_tell_order(self.model.plan)

    def _asked(self, found: SliceFindings) -> SliceFindings:
        """What is open of some findings: where lines may be missing, writes without a line are expected."""
        return replace(found, missing=[]) if self._may_lack_lines else found

    def check_then_explain(self, lines: SliceLines) -> tuple[VersionHistory, SliceFindings]:
        """The findings and their history: first without equal lines, and with all lines only if anything is wrong."""
        history, found = self.check_narrow_then_wide(lines.few, started=lines.started)
        return self._explained(lines) if found.violations else (history, found)

    def check_narrow_then_wide(
        self, few: Sequence[OrderedObservation], *, started: bool
    ) -> tuple[VersionHistory, SliceFindings]:
        """The findings on a narrow beam, and on a wider one only if that leaves anything open. Mismatches are not
        explained.
        """
        history, found = self._followed(few, WIDTHS[0], started=started)
        for width in WIDTHS[1:]:
            if history.narrowed and self._asked(found).is_open:
                history, found = self._followed(few, width, started=started)
        if found.violations and history.narrowed:
            # What a beam dropped may have explained it: such a mismatch is undecided, never a verdict. Others may be so, too.
            history = self._history(WIDTHS[0])
            every = self._check(history, few, started=started, explained=False).run()
            found = replace(every, narrowed=tuple(every.violations or found.violations), violations=[])
        return history, found

    def _followed(
        self, lines: Sequence[OrderedObservation], width: int, *, started: bool
    ) -> tuple[VersionHistory, SliceFindings]:
        """The findings on a beam of this width up to the first mismatch, which is not explained."""
        history = self._history(width)
        check = partial(self._check, history, started=started)
        return history, check(lines, one_is_enough=True, explained=False).run()

    def _explained(self, lines: SliceLines) -> tuple[VersionHistory, SliceFindings]:
        """The explained mismatches of a slice; only the first one if others may be due to a narrow beam."""
        every = [slice_item(number, seen) for number, seen in enumerate(lines.observations)]
        history = self._history(WIDTHS[-1])
        check = partial(self._check, history, started=lines.started)
        quick = partial(check, one_is_enough=True, explained=False)
        found = check_slice(check, quick, every, self.model)
        # After a mismatch the search goes on from a state that may be wrong, and narrowing adds to that.
        if history.narrowed:
            found = check_slice(partial(check, one_is_enough=True), quick, every, self.model)
        return history, found

    def _check(
        self,
        history: VersionHistory,
        lines: Sequence[OrderedObservation],
        *,
        started: bool,
        one_is_enough: bool = False,
        explained: bool = True,
    ) -> SliceCheck:
        asked = SliceQuery(
            started=started,
            partial=self.joint.partial,
            one_is_enough=one_is_enough,
            explained=explained,
            is_possible=self._of_kernel.is_possible,
        )
        return SliceCheck(history, self.blamer, lines, asked)

    def _history(self, width: int) -> VersionHistory:
        return VersionHistory(self.model, self.joint.split, self.joint.chain, self.views, width, self.outside)

    def execution(self, history: VersionHistory, nodes: Sequence[VersionNode]) -> Execution:
        """The execution along some nodes: a step for each observation, and the hidden steps before it."""
        steps: list[ExecutedStep] = []
        before, state = nodes[0], self.model.states[history.state_id(nodes[0].own, nodes[0].position)]
        initial = state
        for each in nodes[1:]:
            steps += [ExecutedStep(None, t.action, t.arguments, self.model.states[t.state]) for t in each.hidden]
            line = _first(each)
            event = None if line is None else line.observation.event
            if each.own is not before.own or each.position != before.position:
                state = self.model.states[history.state_id(each.own, each.position)]
            before = each
            last = each.taken[-1] if each.taken else None
            arguments = () if last is None else last.arguments
            steps.append(ExecutedStep(event, None if last is None else last.action, arguments, state))
        return Execution(initial, tuple(steps))

    def remarks(self, nodes: Iterable[VersionNode]) -> Iterator[Remark]:
        """The occurrences of actions that the clause reports."""
        lines = ((each, _first(each)) for each in nodes)
        steps = (
            (taken.action, None if line is None else line.observation.event)
            for each, line in lines
            for taken in (*each.hidden, *each.taken)
        )
        yield from remarks_on(self.joint.plan, steps)


def _first(node: VersionNode) -> OrderedObservation | None:
    match node.entry:
        case VersionedUpdate(_, lines):
            return next((line for line in lines if line.observation.names_action), lines[0] if lines else None)
        case UnversionedLine(line):
            return line
        case None:
            return None


def _by_line(violations: Iterable[LogViolation]) -> tuple[LogViolation, ...]:
    """The violations, those of one line merged."""
    found: dict[LogPosition, LogViolation] = {}
    for each in violations:
        first = found.setdefault(each.place, each)
        if first is not each:
            found[each.place] = replace(first, blame=(*first.blame, *each.blame))
    return tuple(found.values())
