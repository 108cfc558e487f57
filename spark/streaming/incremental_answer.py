"""The answer about growing logs, computed incrementally: a slice is validated again only where something is new for it.

docs/design/incremental-answer.md says why that is the answer of all lines. The part that slices share is validated anew
each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from heapq import heappop, heappush
from math import inf

import numpy as np
import numpy.typing as npt

from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.lazy_dataclass import dataclass
from assay.spark.logs.read_tasks import catalogue_of
from assay.spark.logs.tasks import ClusterAnswers, ClusterQuestion, Texts, validate_shared_part, without_execution
from assay.spark.logs.validate import ClusterAnswer, cluster_answer
from assay.spark.streaming.forked_workers import most_processes, run_in_fork
from assay.traces.event import Notice
from assay.traces.incremental.kernel_extension import slices_equal_before
from assay.traces.incremental.log_diff import Grown, LogDiff
from assay.traces.incremental.slice_checkpoints import SliceProgress
from assay.traces.log_reader import without_gc
from assay.traces.pickling import from_bytes, to_bytes
from assay.traces.result import TraceVerdict
from assay.traces.shared_answer import SharedAnswer
from assay.traces.slices.slice_answer import SliceAnswer
from assay.traces.slices.slice_validator import Joiner
from assay.traces.slices.timeline.shared_timeline import agree_before
from assay.traces.store.record_block import Numbers
from assay.traces.table.event_selection import Selection
from assay.traces.table.statement_ids import StatementMemory

UNMEASURED = Notice(
    "impact", None, "while logs grow, nothing is measured or noted; `assay validate` does that at any time"
)
MAX_LOCAL_EVENTS = 50_000
"""How many events of slices this process checks from their beginning, in one answer, if the cluster has more cores.
Other slices go to tasks.
"""

MIN_EVENTS_TO_FORK = 2_000
"""How many new events there must be for forked processes to save more time than they cost."""
FEW_ALIKE = 3
"""Events of a slice with the same statement are all made in advance if there are at most so many."""
FORK_SLOWDOWN = 1.3
"""How much longer a child takes than this process: each page that it touches is copied, and its results are sent
back.
"""
EXPLANATION_COST = 20
"""Explaining a mismatch takes about as long as so many new events, for each event of the slice."""

Events = Mapping[str, Selection]
Answers = dict[str, SliceAnswer]


@dataclass(slots=True)
class KnownSlice:
    """The last answer about a slice: the names of its events, and the answer. Its check can go on from the progress, if
    there is one.

    ``not_resumable`` says that the check gave no answer in resumable form, even from the first line. ``kernel`` is the
    number of the kernel of the progress. ``went_on`` says that the last check was resumed.
    """

    names: Numbers
    answer: SliceAnswer
    progress: SliceProgress | None = None
    not_resumable: bool = False
    kernel: int = 0
    went_on: bool = False

    def is_current(self, names: Numbers, before: float) -> bool:
        """Whether the answer also holds for events with these names, if the shared execution is unchanged for lines
        before a time.
        """
        if self.progress is not None:
            return self.progress.stands(names, before)
        return before == inf and np.array_equal(names, self.names)

    @property
    def outcome(self) -> tuple[TraceVerdict, bool]:
        """The verdict, and whether properties are violated."""
        return self.answer.result.verdict, bool(self.answer.result.properties)


@dataclass(frozen=True, slots=True)
class _MicroBatch:
    """The events of slices, which of them are new, and the time before which the shared execution is unchanged."""

    slices: Events
    grown: Grown
    before: float

    def names(self, name: str) -> Numbers:
        """The names of a slice's events. A name identifies an event over all micro-batches."""
        return self.grown.names[self.slices[name].positions]

    def fresh(self, name: str) -> int:
        """How many of a slice's events are new."""
        return int(np.count_nonzero(self.grown.fresh[self.slices[name].positions]))

    def prefetch(self, names: Sequence[str]) -> None:
        """Make the events that the checks of some slices will access, all in one pass over the table.

        These are the new events whose statement few lines of the slice have, and of other statements the first and the
        earliest event.
        """
        table = next((events.table for events in self.slices.values()), None)
        if table is None:
            return
        own = [self.slices[name].positions for name in names]
        new = [positions[self.grown.fresh[positions]] for positions in own]
        positions = np.concatenate([np.empty(0, np.int64), *new])
        slices = np.repeat(np.arange(len(new)), [len(each) for each in new])
        events = Selection(table, positions, self.slices[names[0]].table_numbers) if names else None
        table.prefetch(positions if events is None else np.sort(positions[_representatives(slices, events)]))


@dataclass(frozen=True, slots=True)
class KernelRules:
    """One of the kernels of the checks, in order: the rules about slices, and the sets that have more elements than in
    the kernel before.

    The kernels of one ``line`` have the same rules, one for one.
    """

    number: int
    line: int
    rules: tuple[k.TraceRule, ...]
    sorts: Mapping[str, tuple[str, ...]]
    grown: frozenset[str]

    @staticmethod
    def of(joiner: Joiner, before: KernelRules | None) -> KernelRules:
        """The rules of a validator's kernel."""
        rules = joiner.model.plan.rules
        sorts = {sort.name: sort.elements for sort in joiner.joint.split.kernel.sorts}
        if before is None:
            return KernelRules(0, 0, rules, sorts, frozenset())
        grown = frozenset(name for name, elements in sorts.items() if before.sorts.get(name) != elements)
        number = before.number + 1
        return KernelRules(number, before.line if len(rules) == len(before.rules) else number, rules, sorts, grown)


class IncrementalValidator:
    """The answers about the logs of one cluster, one after another.

    ``by_tasks`` validates slices by Spark's tasks where there are many events. ``processes`` processes check the
    others.
    """

    def __init__(
        self,
        question: ClusterQuestion,
        by_tasks: Callable[[ClusterAnswers, Events], Answers],
        here: int = MAX_LOCAL_EVENTS,
        processes: int | None = None,
    ) -> None:
        self._question = question
        self._by_tasks = by_tasks
        self._here = here
        self._processes = most_processes() if processes is None else processes
        self._kernels: list[KernelRules] = []
        self._shared: SharedAnswer | None = None
        self._joiner: Joiner | None = None
        self._growth = LogDiff()
        self._memory = StatementMemory()
        self._known: dict[str, KnownSlice] = {}
        self.answered = 0
        self.went_on = 0

    def answer(self, texts: Texts) -> ClusterAnswer:
        """The answer about the texts, whose memory is taken over. Raises SpecError."""
        with without_gc():
            asked, slices = validate_shared_part(
                self._question, texts.reading(self._question.read, memory=self._memory)
            )
            # Without a shared execution no slice is asked. What is known of slices waits for the next answer.
            if asked.shared.joint is not None:
                self._answer_slices(asked, slices)
        answers = {("", name): known.answer for name, known in self._known.items()}
        found = cluster_answer("", asked, answers, self._question, (), 0.0)
        return replace(found, validation=replace(found.validation, notices=(*found.validation.notices, UNMEASURED)))

    def _answer_slices(self, asked: ClusterAnswers, slices: Events) -> None:
        before = self._take_context(asked.shared)
        now = _MicroBatch(slices, self._take_events(slices), before)
        # After `_take_events`, which forgets all slices where the logs are not those of before with more lines.
        known = {name: self._known[name] for name in slices if name in self._known}
        # Three kinds of slices: current ones are not looked at, others resume where they stopped, and new ones begin at
        # their first line.
        todo = [name for name in slices if name not in known or not known[name].is_current(now.names(name), before)]
        resumable = [name for name in todo if name in known and known[name].progress is not None]
        from_start = {name: slices[name] for name in todo if name not in known or known[name].progress is None}
        # A job of Spark takes longer than the check of a few thousand events here.
        here = list(_first_slices(from_start, self._here))
        others = {name: events for name, events in from_start.items() if name not in set(here)}
        now.prefetch([*resumable, *here])
        found = self._checked([*resumable, *here], now)
        # The prefetched events are needed for the checks alone.
        now.prefetch(())
        answers = self._by_tasks(asked, others) if others else {}
        known |= {name: KnownSlice(now.names(name), answer) for name, answer in answers.items()} | found
        # Slices without events are forgotten, and the others stand in the order of this answer.
        self._known = {name: known[name] for name in slices}
        # Kernels are needed as long as the progress of some slice was made with them, or it could not be moved any more.
        used = {each.kernel for each in self._known.values() if each.progress is not None}
        self._kernels = [each for each in self._kernels[:-1] if each.number >= min(used, default=inf)] + self._kernels[
            -1:
        ]
        self.answered, self.went_on = len(todo), sum(each.went_on for each in found.values())

    def _take_context(self, shared: SharedAnswer) -> float:
        """Take over what slices are checked against. Returns the time before which it is unchanged since the last
        answer.
        """
        joint, last, joiner = shared.joint, self._shared, self._joiner
        assert joint is not None, "slices are answered where they can be joined"
        self._shared = shared
        if last is None or joiner is None:
            self._joiner = Joiner(joint)
            self._kernels = [KernelRules.of(self._joiner, None)]
            return -inf
        # The same kernel and clause: what is known of slices stands up to where the shared executions differ.
        if shared.kernel is last.kernel and joint.asks_as(joiner.joint):
            self._joiner = joiner.with_timeline(joint)
            return inf if self._joiner is joiner else agree_before(joiner.joint.chain, joint.chain)
        self._joiner = Joiner(joint)
        self._kernels.append(KernelRules.of(self._joiner, self._kernels[-1]))
        return slices_equal_before(joiner, self._joiner)

    def _take_events(self, slices: Events) -> Grown:
        table = next((events.table for events in slices.values()), None)
        found = None if table is None else self._growth.take(table)
        # The logs are not those of before with more lines (a file was replaced, say), so that nothing known stands.
        if table is not None and found is None:
            self._growth, self._known = LogDiff(), {}
            found = self._growth.take(table)
        return found or Grown(np.empty(0, np.int64), np.empty(0, np.bool_), (), np.empty(0, np.int64))

    def _checked(self, names: Sequence[str], now: _MicroBatch) -> dict[str, KnownSlice]:
        """Check slices in this process, and in forked children if there is much to do."""
        sizes = {name: self._size(name, now) for name in names}
        count = self._processes if sum(sizes.values()) >= MIN_EVENTS_TO_FORK else 1
        first, *others = shares(sizes, count)
        works = [partial(self._check_as_bytes, share, now) for share in others]
        found, results = run_in_fork(works, partial(self._check_all, first, now))
        catalogue, rules = catalogue_of(self._question.read), self._checker.model.plan.rules
        for share, data in zip(others, results, strict=True):
            # A child that failed or was too slow gave nothing: this process does its share, and meets its error.
            found |= self._check_all(share, now) if data is None else from_bytes(data, catalogue, rules)
        return found

    def _size(self, name: str, now: _MicroBatch) -> int:
        """How long the check of a slice takes, measured in new events."""
        last = self._known.get(name)
        return (
            EXPLANATION_COST * len(now.slices[name]) if last is not None and last.not_resumable else 1 + now.fresh(name)
        )

    def _check_as_bytes(self, names: Iterable[str], now: _MicroBatch) -> bytes:
        return to_bytes(self._check_all(names, now), self._checker.model.plan.rules)

    def _check_all(self, names: Iterable[str], now: _MicroBatch) -> dict[str, KnownSlice]:
        return {name: self._check(name, now) for name in names}

    def _check(self, name: str, now: _MicroBatch) -> KnownSlice:
        """Check a slice; the check is resumed if that can give the answer."""
        last, number = self._known.get(name), self._kernels[-1].number
        progress = None if last is None else last.progress
        if last is not None and progress is not None and self._moved_to_kernel(progress, last.kernel):
            answer = progress.answer(self._checker, name, now.slices[name], now.grown, now.before)
            # There is none where new lines, or the shared execution, change what the check has passed already.
            if answer is not None:
                return KnownSlice(progress.names, answer, progress, kernel=number, went_on=True)
        return self._check_from_start(name, now)

    def _moved_to_kernel(self, progress: SliceProgress, number: int) -> bool:
        """Whether the check of a slice could be moved from an older kernel to the newest one."""
        old, new = (
            next((each for each in self._kernels if each.number == at), None)
            for at in (number, self._kernels[-1].number)
        )
        # Rules are told apart by their place, so that kernels with other rules cannot take over a check.
        if old is None or new is None or old.line != new.line:
            return False
        since = [each.grown for each in self._kernels if each.number > number]
        rules = IdentityMemo(zip(old.rules, new.rules, strict=True))
        return not since or progress.move_to(self._checker, rules, frozenset().union(*since))

    def _check_from_start(self, name: str, now: _MicroBatch) -> KnownSlice:
        """Check a slice from its first line, so that it can be resumed later; as a whole, where that gives no
        answer.
        """
        last, events, number = self._known.get(name), now.slices[name], self._kernels[-1].number
        if last is None or not last.not_resumable:
            progress = SliceProgress()
            answer = progress.answer(self._checker, name, events, now.grown, inf)
            if answer is not None:
                return KnownSlice(progress.names, answer, progress, kernel=number)
        found = KnownSlice(now.names(name), without_execution(self._checker.of_slice(name, events)), not_resumable=True)
        # The verdict has changed. What kept the check from being resumed may be gone, so the next one tries again.
        if last is not None and last.outcome != found.outcome:
            found.not_resumable = False
        return found

    @property
    def _checker(self) -> Joiner:
        assert self._joiner is not None, "it is there before a slice is checked"
        return self._joiner


def _representatives(slices: Numbers, events: Selection) -> npt.NDArray[np.bool_]:
    """Which of the events, by slices, have a statement of few lines, or are the first or the earliest of theirs."""
    found = np.zeros(len(slices), np.bool_)
    # Once by the position in the table and once by time: the first and the earliest event of a statement may differ.
    for times in (np.arange(len(slices)), events.ends):
        order = np.lexsort((events.positions, times, events.numbers, slices))
        begins = np.diff(slices[order], prepend=-1) != 0
        begins |= np.diff(events.numbers[order], prepend=-1) != 0
        counts = np.diff(np.append(np.flatnonzero(begins), len(order)))
        found[order[begins]] = True
        found[order[np.repeat(counts, counts) <= FEW_ALIKE]] = True
    return found


def shares(sizes: Mapping[str, int], count: int) -> list[list[str]]:
    """Names in parts that take about the same time: the first for this process, the others for its children.

    There are at most ``count`` parts, and no empty ones: a child without work costs as much as any other.
    """
    count = max(1, min(count, len(sizes)))
    found: list[list[str]] = [[] for _ in range(count)]
    loads = [(0.0, number) for number in range(count)]
    # The largest first, each to whoever has least so far.
    for name in sorted(sizes, key=lambda each: -sizes[each]):
        load, number = heappop(loads)
        found[number].append(name)
        heappush(loads, (load + sizes[name] * (FORK_SLOWDOWN if number else 1.0), number))
    return found


def _first_slices(slices: Events, most: int) -> Iterator[str]:
    """The first slices that have so many events together, and one more."""
    room = most
    for name, events in slices.items():
        if room <= 0:
            break
        yield name
        room -= len(events)
