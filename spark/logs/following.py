"""The answer about logs that grow: that of all lines there are, in which a slice is answered anew only where something is new for it.

NOTE(following): The answer about a slice depends on its events and on what it is joined on, and on nothing else (``Joiner.of_slice``). Where both are
equal to those of the last time, so is the answer. What the slices share is answered each time, as any line may change it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from assay.spark.logs.asking import Asked, Question, Texts, ask, without_execution
from assay.spark.logs.validation import ClusterAnswer, of_cluster
from assay.traces.events import Event, Notice
from assay.traces.join import Joiner, Joint, SliceAnswer
from assay.traces.read import no_collection
from assay.traces.selection import Selection

UNMEASURED = Notice(
    "impact", None, "while logs grow, nothing is measured or noted; `assay validate` does that at any time"
)
HERE = 50_000
"""Events of slices that this process checks sooner than tasks do to whom they are sent."""

Events = Mapping[str, Selection]
Answers = dict[str, SliceAnswer]


class Following:
    """The answers about one cluster's logs, one after another. ``by_tasks`` answers slices where there are many events."""

    def __init__(self, question: Question, by_tasks: Callable[[Asked, Events], Answers], here: int = HERE) -> None:
        self._question = question
        self._by_tasks = by_tasks
        self._here = here
        self._joint: Joint | None = None
        self._joiner: Joiner | None = None
        self._events: Events = {}
        self._answers: Answers = {}
        self.answered = 0

    def answer(self, texts: Texts) -> ClusterAnswer:
        """The answer about the texts, which are changed. Raises SpecError."""
        with no_collection():
            asked, slices = ask(self._question, texts.reading(self._question.read))
            if asked.shared.joint is not None:
                self._answer_slices(asked, slices)
        answers = {("", name): answer for name, answer in self._answers.items()}
        found = of_cluster("", asked, answers, self._question, (), 0.0)
        return replace(found, validation=replace(found.validation, notices=(*found.validation.notices, UNMEASURED)))

    def _answer_slices(self, asked: Asked, slices: Events) -> None:
        if asked.shared.joint != self._joint:
            self._joint, self._joiner, self._events = asked.shared.joint, None, {}
        fresh = {name: events for name, events in slices.items() if not self._is_known(name, events)}
        answers = self._of(asked, fresh)
        self._answers = {name: answers[name] if name in fresh else self._answers[name] for name in slices}
        self._events = slices
        self.answered = len(fresh)

    def _is_known(self, name: str, events: Sequence[Event]) -> bool:
        before = self._events.get(name, ())
        return len(before) == len(events) and before == events

    def _of(self, asked: Asked, slices: Events) -> Answers:
        if sum(map(len, slices.values())) > self._here:
            return self._by_tasks(asked, slices)
        assert self._joint is not None, "slices are answered where they can be joined"
        joiner = self._joiner = self._joiner or Joiner(self._joint)
        return {name: without_execution(joiner.of_slice(name, events)) for name, events in slices.items()}
