"""The execution of a log that compiled rules accepted: its steps are computed when somebody reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assay.checker.native.trace_rules import RuleSteps
from assay.checker.report import State
from assay.grammar import kernel as k
from assay.grammar.values import Value
from assay.traces.event import Event
from assay.traces.native_replay.hidden_steps import HiddenSteps
from assay.traces.native_replay.linear_order import LineQueue
from assay.traces.result import ExecutedStep, Execution
from assay.traces.search.transition_system import TraceModel


@dataclass(frozen=True, slots=True)
class ReplayedLines:
    """The lines that compiled rules followed, of all slices, with what is needed to follow them again."""

    model: TraceModel
    rules: Sequence[k.TraceRule]
    steps: RuleSteps
    queue: LineQueue
    unseen: HiddenSteps | None = None

    def hidden(self, begin: int, end: int) -> Counter[str]:
        """How often each hidden action was taken before the lines from ``begin`` to ``end``."""
        found, unseen = Counter[str](), self.queue.unseen
        for at in range(begin, end) if end - begin < len(unseen) else unseen:
            if self.unseen is not None and begin <= at < end:
                found.update(self.unseen.instances[each].action for each in unseen.get(at, ()))
        return found


class LazyExecution(Execution):
    """An execution whose steps are replayed when they are first read. Most answers never print them.

    Pickled, it becomes a plain ``Execution``.
    """

    __slots__ = ("_begin", "_events", "_made", "_replayed")

    def __init__(
        self,
        replayed: ReplayedLines,
        events: Callable[[], Iterable[Event]],
        begin: int = 0,
    ) -> None:
        """The lines of a queue from ``begin`` on, as many as there are ``events``."""
        put = object.__setattr__  # there may be a million of them
        put(self, "_replayed", replayed)
        put(self, "_events", events)
        put(self, "_begin", begin)
        put(self, "_made", None)

    @property
    def initial(self) -> State:
        """The initial state."""
        replayed: ReplayedLines = self._own("_replayed")
        return replayed.model.states[replayed.model.initial[0]]

    @property
    def steps(self) -> tuple[ExecutedStep, ...]:
        """The steps."""
        if self._own("_made") is None:
            object.__setattr__(self, "_made", tuple(self._make()))
        made: tuple[ExecutedStep, ...] = self._own("_made")
        return made

    def _own(self, name: str) -> Any:
        return object.__getattribute__(self, name)

    def _make(self) -> Iterator[ExecutedStep]:
        replayed: ReplayedLines = self._own("_replayed")
        model, rules, steps, queue = replayed.model, replayed.rules, replayed.steps, replayed.queue
        events: Callable[[], Iterable[Event]] = self._own("_events")
        layout, logged = steps.program.layout, steps.program.logged
        state, row = self.initial, layout.pack(self.initial)
        for at, event in enumerate(events(), self._own("_begin")):
            if (unseen := replayed.unseen) is not None:
                for each in queue.unseen.get(at, ()):
                    unseen.take(steps, row, (each,))
                    state, done = layout.unpack(row), unseen.instances[each]
                    yield ExecutedStep(None, done.action, done.arguments, state)
            steps.follow(row, queue.lines, at, at + 1)
            became = int(queue.lines.changes[at])
            # To unpack a row is what takes time; a line that only observed left the state as it was.
            if became & 1:
                state = layout.unpack(row)
            rule = rules[queue.lines.rules[at]]
            if not rule.steps:
                yield ExecutedStep(event, None, (), state)
                continue
            names = [each.binder.name for each in rule.fields]
            line = logged[queue.lines.rules[at]].unpack(queue.lines.logged[at])
            bound: dict[str, Value] = dict(zip(names, line, strict=True))
            # Above the lowest bit stands which of the rule's actions was taken, as in `pay(o) or pay_again(o)`.
            call = rule.steps[0][became >> 1]
            arguments = zip(model.meanings.actions[call.action].names, model.wanted(call, bound), strict=True)
            yield ExecutedStep(event, call.action, tuple(arguments), state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Execution) and (self.initial, self.steps) == (other.initial, other.steps)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Execution], tuple[State, tuple[ExecutedStep, ...]]]:
        return Execution, (self.initial, self.steps)
