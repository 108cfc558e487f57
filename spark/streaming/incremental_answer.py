"""The answer about logs that grow: that of all lines there are, in which a slice is answered anew only where something is new for it.

NOTE(following): The answer about a slice depends on its events and on what it is joined on, and on nothing else (``Joiner.of_slice``). Where both are
what they were the last time, so is the answer; where there are more events, or more of the shared execution, the check of the slice goes on where it
was (docs/design/slice-checkpoints.md). What the slices share is answered each time, as any line may change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import heappop, heappush
from math import inf

import numpy as np
import numpy.typing as npt

from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.spark.logs.read_tasks import catalogue_of
from assay.spark.logs.tasks import ClusterAnswers, ClusterQuestion, Texts, validate_shared_part, without_execution
from assay.spark.logs.validate import ClusterAnswer, cluster_answer
from assay.spark.streaming.forked_workers import beside, most_processes
from assay.traces.event import Notice
from assay.traces.incremental.kernel_extension import alike_before
from assay.traces.incremental.log_diff import Grown, LogDiff
from assay.traces.incremental.slice_checkpoints import SliceProgress
from assay.traces.log_reader import no_collection
from assay.traces.pickling import from_bytes, to_bytes
from assay.traces.result import TraceVerdict
from assay.traces.slices.slice_validator import Joiner, SliceAnswer
from assay.traces.slices.timeline.shared_timeline import agree_before
from assay.traces.store.record_block import Numbers
from assay.traces.table.event_selection import Selection
from assay.traces.table.statement_ids import Memory
from assay.traces.validate import SharedAnswer

UNMEASURED = Notice(
    "impact", None, "while logs grow, nothing is measured or noted; `assay validate` does that at any time"
)
HERE = 50_000
"""So many events of slices this process checks from their beginning, in one answer, where a cluster has more processors; those of others are sent to tasks."""

WORTH_IT = 2_000
"""From so many new events on it takes less time to begin processes than they save."""
FEW_ALIKE = 3
"""Events of a slice that state the same are made before they are asked for where they are no more than that."""
COPY = 1.3
"""So many times as long as this process a copy takes: each page that it touches is copied, and what it finds is sent back."""
EXPLAINED = 20
"""To explain a mismatch takes about as long as so many new events for each of the slice."""

Events = Mapping[str, Selection]
Answers = dict[str, SliceAnswer]


@dataclass(slots=True)
class Known:
    """The answer about a slice whose events have these names, and the progress of its check; none where that could not give the answer.

    ``hopeless`` says that it could not although it began with the first line, ``kernel`` with which kernel the progress was made, and ``went_on`` that the
    check went on where it was.
    """

    names: Numbers
    answer: SliceAnswer
    progress: SliceProgress | None = None
    hopeless: bool = False
    kernel: int = 0
    went_on: bool = False

    def stands(self, names: Numbers, before: float) -> bool:
        """Whether the answer is that of events with these names too, with what is shared the same for lines before a time."""
        if self.progress is not None:
            return self.progress.stands(names, before)
        return before == inf and np.array_equal(names, self.names)

    @property
    def outcome(self) -> tuple[TraceVerdict, bool]:
        """What was found, in short."""
        return self.answer.result.verdict, bool(self.answer.result.properties)


@dataclass(frozen=True, slots=True)
class _Now:
    """The events of slices, what is new among them, and the time before which what is shared is what it was."""

    slices: Events
    grown: Grown
    before: float

    def names(self, name: str) -> Numbers:
        """The names of the events of a slice."""
        return self.grown.names[self.slices[name].positions]

    def fresh(self, name: str) -> int:
        """How many of its events are new."""
        return int(np.count_nonzero(self.grown.fresh[self.slices[name].positions]))

    def hold(self, names: Sequence[str]) -> None:
        """Make the new events of some slices that their checks look at: those that few of a slice state, and of others the first and the earliest."""
        table = next((events.table for events in self.slices.values()), None)
        if table is None:
            return
        own = [self.slices[name].positions for name in names]
        new = [positions[self.grown.fresh[positions]] for positions in own]
        positions = np.concatenate([np.empty(0, np.int64), *new])
        slices = np.repeat(np.arange(len(new)), [len(each) for each in new])
        events = Selection(table, positions, self.slices[names[0]].table_numbers) if names else None
        table.hold(positions if events is None else np.sort(positions[_looked_at(slices, events)]))


@dataclass(frozen=True, slots=True)
class KernelRules:
    """One of the kernels that slices were checked with, one after another: the rules about slices, and the sets that have more elements than in the one before.

    The kernels of one ``line`` have the same rules, one for one.
    """

    number: int
    line: int
    rules: tuple[k.TraceRule, ...]
    sorts: Mapping[str, tuple[str, ...]]
    grown: frozenset[str]

    @staticmethod
    def of(joiner: Joiner, before: KernelRules | None) -> KernelRules:
        """That of a joiner."""
        rules = joiner.model.plan.rules
        sorts = {sort.name: sort.elements for sort in joiner.joint.split.kernel.sorts}
        if before is None:
            return KernelRules(0, 0, rules, sorts, frozenset())
        grown = frozenset(name for name, elements in sorts.items() if before.sorts.get(name) != elements)
        number = before.number + 1
        return KernelRules(number, before.line if len(rules) == len(before.rules) else number, rules, sorts, grown)


class Following:
    """The answers about one cluster's logs, one after another. ``by_tasks`` answers slices where there are many events; so many ``processes`` check the others."""

    def __init__(
        self,
        question: ClusterQuestion,
        by_tasks: Callable[[ClusterAnswers, Events], Answers],
        here: int = HERE,
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
        self._memory = Memory()
        self._known: dict[str, Known] = {}
        self.answered = 0
        self.went_on = 0

    def answer(self, texts: Texts) -> ClusterAnswer:
        """The answer about the texts, which are changed. Raises SpecError."""
        with no_collection():
            asked, slices = validate_shared_part(
                self._question, texts.reading(self._question.read, memory=self._memory)
            )
            if asked.shared.joint is not None:
                self._answer_slices(asked, slices)
        answers = {("", name): known.answer for name, known in self._known.items()}
        found = cluster_answer("", asked, answers, self._question, (), 0.0)
        return replace(found, validation=replace(found.validation, notices=(*found.validation.notices, UNMEASURED)))

    def _answer_slices(self, asked: ClusterAnswers, slices: Events) -> None:
        before = self._take_joint(asked.shared)
        now = _Now(slices, self._take_events(slices), before)
        known = {name: self._known[name] for name in slices if name in self._known}
        todo = [name for name in slices if name not in known or not known[name].stands(now.names(name), before)]
        going = [name for name in todo if name in known and known[name].progress is not None]
        begun = {name: slices[name] for name in todo if name not in known or known[name].progress is None}
        here = list(_few(begun, self._here))
        others = {name: events for name, events in begun.items() if name not in set(here)}
        now.hold([*going, *here])
        found = self._checked([*going, *here], now)
        now.hold(())
        answers = self._by_tasks(asked, others) if others else {}
        known |= {name: Known(now.names(name), answer) for name, answer in answers.items()} | found
        self._known = {name: known[name] for name in slices}
        used = {each.kernel for each in self._known.values() if each.progress is not None}
        self._kernels = [each for each in self._kernels[:-1] if each.number >= min(used, default=inf)] + self._kernels[
            -1:
        ]
        self.answered, self.went_on = len(todo), sum(each.went_on for each in found.values())

    def _take_joint(self, shared: SharedAnswer) -> float:
        """Join slices on what was found; before which time that is what it was the last time."""
        joint, last, joiner = shared.joint, self._shared, self._joiner
        assert joint is not None, "slices are answered where they can be joined"
        self._shared = shared
        if last is None or joiner is None:
            self._joiner = Joiner(joint)
            self._kernels = [KernelRules.of(self._joiner, None)]
            return -inf
        if shared.kernel is last.kernel and joint.asks_as(joiner.joint):
            self._joiner = joiner.on(joint)
            return inf if self._joiner is joiner else agree_before(joiner.joint.chain, joint.chain)
        self._joiner = Joiner(joint)
        self._kernels.append(KernelRules.of(self._joiner, self._kernels[-1]))
        return alike_before(joiner, self._joiner)

    def _take_events(self, slices: Events) -> Grown:
        table = next((events.table for events in slices.values()), None)
        found = None if table is None else self._growth.take(table)
        if table is not None and found is None:
            self._growth, self._known = LogDiff(), {}
            found = self._growth.take(table)
        return found or Grown(np.empty(0, np.int64), np.empty(0, np.bool_), (), np.empty(0, np.int64))

    def _checked(self, names: Sequence[str], now: _Now) -> dict[str, Known]:
        """Slices that are checked here: where there is much to do, by copies of this process beside it."""
        sizes = {name: self._size(name, now) for name in names}
        count = self._processes if sum(sizes.values()) >= WORTH_IT else 1
        first, *others = shares(sizes, count)
        works = [partial(self._carried, share, now) for share in others]
        found, carried = beside(works, partial(self._check_all, first, now))
        catalogue, rules = catalogue_of(self._question.read), self._checker.model.plan.rules
        for share, data in zip(others, carried, strict=True):
            found |= self._check_all(share, now) if data is None else from_bytes(data, catalogue, rules)
        return found

    def _size(self, name: str, now: _Now) -> int:
        """About how long the check of a slice takes, in new events."""
        last = self._known.get(name)
        return EXPLAINED * len(now.slices[name]) if last is not None and last.hopeless else 1 + now.fresh(name)

    def _carried(self, names: Iterable[str], now: _Now) -> bytes:
        return to_bytes(self._check_all(names, now), self._checker.model.plan.rules)

    def _check_all(self, names: Iterable[str], now: _Now) -> dict[str, Known]:
        return {name: self._check(name, now) for name in names}

    def _check(self, name: str, now: _Now) -> Known:
        """A slice, whose check goes on where it was if that can give the answer."""
        last, number = self._known.get(name), self._kernels[-1].number
        progress = None if last is None else last.progress
        if last is not None and progress is not None and self._moved(progress, last.kernel):
            answer = progress.answer(self._checker, name, now.slices[name], now.grown, now.before)
            if answer is not None:
                return Known(progress.names, answer, progress, kernel=number, went_on=True)
        return self._begun(name, now)

    def _moved(self, progress: SliceProgress, number: int) -> bool:
        """Whether the check of a slice could be brought to the kernel of now from another one."""
        old, new = (
            next((each for each in self._kernels if each.number == at), None)
            for at in (number, self._kernels[-1].number)
        )
        if old is None or new is None or old.line != new.line:
            return False
        since = [each.grown for each in self._kernels if each.number > number]
        rules = IdentityMemo(zip(old.rules, new.rules, strict=True))
        return not since or progress.move_to(self._checker, rules, frozenset().union(*since))

    def _begun(self, name: str, now: _Now) -> Known:
        """A slice that is checked from its first line on: so that the check can go on from there, and as a whole where that does not give the answer."""
        last, events, number = self._known.get(name), now.slices[name], self._kernels[-1].number
        if last is None or not last.hopeless:
            progress = SliceProgress()
            answer = progress.answer(self._checker, name, events, now.grown, inf)
            if answer is not None:
                return Known(progress.names, answer, progress, kernel=number)
        found = Known(now.names(name), without_execution(self._checker.of_slice(name, events)), hopeless=True)
        if last is not None and last.outcome != found.outcome:
            found.hopeless = False
        return found

    @property
    def _checker(self) -> Joiner:
        assert self._joiner is not None, "it is there before a slice is checked"
        return self._joiner


def _looked_at(slices: Numbers, events: Selection) -> npt.NDArray[np.bool_]:
    """Which of the events, by slices, few of a slice state, or are the first of theirs to state it, or the earliest."""
    found = np.zeros(len(slices), np.bool_)
    for times in (np.arange(len(slices)), events.ends):
        order = np.lexsort((events.positions, times, events.numbers, slices))
        begins = np.diff(slices[order], prepend=-1) != 0
        begins |= np.diff(events.numbers[order], prepend=-1) != 0
        counts = np.diff(np.append(np.flatnonzero(begins), len(order)))
        found[order[begins]] = True
        found[order[np.repeat(counts, counts) <= FEW_ALIKE]] = True
    return found


def shares(sizes: Mapping[str, int], count: int) -> list[list[str]]:
    """Names in so many parts that take the same time: the first by this process, the others by copies of it."""
    found: list[list[str]] = [[] for _ in range(count)]
    loads = [(0.0, number) for number in range(count)]
    for name in sorted(sizes, key=lambda each: -sizes[each]):
        load, number = heappop(loads)
        found[number].append(name)
        heappush(loads, (load + sizes[name] * (COPY if number else 1.0), number))
    return found


def _few(slices: Events, most: int) -> Iterator[str]:
    """Slices with so many events together, and one more that has too many."""
    room = most
    for name, events in slices.items():
        if room <= 0:
            break
        yield name
        room -= len(events)
