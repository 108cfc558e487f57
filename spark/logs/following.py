"""The answer about logs that grow: that of all lines there are, in which a slice is answered anew only where something is new for it.

NOTE(following): The answer about a slice depends on its events and on what it is joined on, and on nothing else (``Joiner.of_slice``). Where both are
what they were the last time, so is the answer; where there are more events, or more of the shared execution, the check of the slice goes on where it
was (NOTE(points)). What the slices share is answered each time, as any line may change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from assay.spark.logs.asking import Asked, Question, Texts, ask, without_execution
from assay.spark.logs.validation import ClusterAnswer, of_cluster
from assay.traces.chain import agree_before
from assay.traces.enlarging import alike_before
from assay.traces.events import Notice
from assay.traces.growth import Grown, Growth
from assay.traces.join import Joiner, SliceAnswer
from assay.traces.read import no_collection
from assay.traces.readers.stretch import Numbers
from assay.traces.selection import Selection
from assay.traces.slice_progress import SliceProgress
from assay.traces.validate import SharedAnswer
from assay.traces.validation import TraceVerdict

UNMEASURED = Notice(
    "impact", None, "while logs grow, nothing is measured or noted; `assay validate` does that at any time"
)
HERE = 50_000
"""So many events of slices this process checks from their beginning, in one answer; those of others are sent to tasks."""

Events = Mapping[str, Selection]
Answers = dict[str, SliceAnswer]


@dataclass(slots=True)
class Known:
    """The answer about a slice whose events have these names, and the progress of its check; none where that could not give the answer.

    ``hopeless`` says that it could not although it began with the first line.
    """

    names: Numbers
    answer: SliceAnswer
    progress: SliceProgress | None = None
    hopeless: bool = False

    def stands(self, names: Numbers, before: float) -> bool:
        """Whether the answer is that of events with these names too, with what is shared the same for lines before a time."""
        if self.progress is not None:
            return self.progress.stands(names, before)
        return before == inf and np.array_equal(names, self.names)

    @property
    def outcome(self) -> tuple[TraceVerdict, bool]:
        """What was found, in short."""
        return self.answer.result.verdict, bool(self.answer.result.properties)


class Following:
    """The answers about one cluster's logs, one after another. ``by_tasks`` answers slices where there are many events."""

    def __init__(self, question: Question, by_tasks: Callable[[Asked, Events], Answers], here: int = HERE) -> None:
        self._question = question
        self._by_tasks = by_tasks
        self._here = here
        self._shared: SharedAnswer | None = None
        self._joiner: Joiner | None = None
        self._growth = Growth()
        self._known: dict[str, Known] = {}
        self.answered = 0
        self.went_on = 0

    def answer(self, texts: Texts) -> ClusterAnswer:
        """The answer about the texts, which are changed. Raises SpecError."""
        with no_collection():
            asked, slices = ask(self._question, texts.reading(self._question.read))
            if asked.shared.joint is not None:
                self._answer_slices(asked, slices)
        answers = {("", name): known.answer for name, known in self._known.items()}
        found = of_cluster("", asked, answers, self._question, (), 0.0)
        return replace(found, validation=replace(found.validation, notices=(*found.validation.notices, UNMEASURED)))

    def _answer_slices(self, asked: Asked, slices: Events) -> None:
        before = self._take_joint(asked.shared)
        grown = self._take_events(slices)
        names = {name: grown.names[events.positions] for name, events in slices.items()}
        known = {name: self._known[name] for name in slices if name in self._known}
        todo = [name for name in slices if name not in known or not known[name].stands(names[name], before)]
        known |= self._gone_on(known, todo, slices, grown, before)
        left = [name for name in todo if name not in known or known[name] is self._known.get(name)]
        known |= self._from_the_beginning(asked, {name: slices[name] for name in left}, grown)
        self._known = {name: known[name] for name in slices}
        self.answered, self.went_on = len(todo), len(todo) - len(left)

    def _take_joint(self, shared: SharedAnswer) -> float:
        """Join slices on what was found; before which time that is what it was the last time."""
        joint, last, joiner = shared.joint, self._shared, self._joiner
        assert joint is not None, "slices are answered where they can be joined"
        self._shared = shared
        if last is None or joiner is None:
            self._joiner = Joiner(joint)
            return -inf
        if shared.kernel is last.kernel and joint.asks_as(joiner.joint):
            self._joiner = joiner.on(joint)
            return inf if self._joiner is joiner else agree_before(joiner.joint.chain, joint.chain)
        self._joiner = Joiner(joint)
        before = alike_before(joiner, self._joiner)
        self._move(joiner, self._joiner)
        return before

    def _move(self, old: Joiner, new: Joiner) -> None:
        """Go on with another kernel."""
        rules = {id(rule): now for rule, now in zip(old.model.plan.rules, new.model.plan.rules, strict=False)}
        sorts = {sort.name: sort.elements for sort in old.joint.split.kernel.sorts}
        grown = frozenset(s.name for s in new.joint.split.kernel.sorts if sorts.get(s.name) != s.elements)
        same = len(old.model.plan.rules) == len(new.model.plan.rules)
        for known in self._known.values():
            if known.progress is not None and not (same and known.progress.move_to(new, rules, grown)):
                known.progress = None

    def _take_events(self, slices: Events) -> Grown:
        table = next((events.table for events in slices.values()), None)
        found = None if table is None else self._growth.take(table)
        if table is not None and found is None:
            self._growth, self._known = Growth(), {}
            found = self._growth.take(table)
        return found or Grown(np.empty(0, np.int64), np.empty(0, np.bool_), (), np.empty(0, np.int64))

    def _gone_on(
        self, known: Mapping[str, Known], todo: list[str], slices: Events, grown: Grown, before: float
    ) -> dict[str, Known]:
        """Slices whose check could go on where it was."""
        found: dict[str, Known] = {}
        for name in todo:
            progress = known[name].progress if name in known else None
            if progress is not None:
                answer = progress.answer(self._checker, name, slices[name], grown, before)
                if answer is not None:
                    found[name] = Known(progress.names, answer, progress)
        return found

    def _from_the_beginning(self, asked: Asked, slices: Events, grown: Grown) -> dict[str, Known]:
        """Slices that are checked from their first lines on: here as far as they are few, and others by tasks."""
        here = set(_few(slices, self._here))
        others = {name: events for name, events in slices.items() if name not in here}
        answers = self._by_tasks(asked, others) if others else {}
        found = {name: Known(grown.names[slices[name].positions], answer) for name, answer in answers.items()}
        return found | {name: self._begun(name, slices[name], grown) for name in here}

    def _begun(self, name: str, events: Selection, grown: Grown) -> Known:
        """A slice that is checked here: so that the check can go on from there, and as a whole where that does not give the answer."""
        last = self._known.get(name)
        if last is None or not last.hopeless:
            progress = SliceProgress()
            answer = progress.answer(self._checker, name, events, grown, inf)
            if answer is not None:
                return Known(progress.names, answer, progress)
        found = Known(
            grown.names[events.positions], without_execution(self._checker.of_slice(name, events)), hopeless=True
        )
        if last is not None and last.outcome != found.outcome:
            found.hopeless = False
        return found

    @property
    def _checker(self) -> Joiner:
        assert self._joiner is not None, "it is there before a slice is checked"
        return self._joiner


def _few(slices: Events, most: int) -> Iterator[str]:
    """Slices with so many events together, and one more that has too many."""
    room = most
    for name, events in slices.items():
        if room <= 0:
            break
        yield name
        room -= len(events)
