"""The execution of a log that compiled rules accepted: its steps are computed when somebody reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from assay.checker.native.functions.trace_rules import RuleSteps
from assay.checker.report import State
from assay.grammar import kernel as k
from assay.grammar.values import Value
from assay.traces.event import Event
from assay.traces.native_replay.linear_order import LineQueue
from assay.traces.result import ExecutedStep, Execution
from assay.traces.search.transition_system import TraceModel


class LazyExecution(Execution):
    """An execution whose steps are replayed when they are first read. Most answers never print them.

    Pickled, it becomes a plain ``Execution``.
    """

    __slots__ = ("_begin", "_events", "_initial", "_made", "_model", "_queue", "_rules", "_steps")

    def __init__(
        self,
        model: TraceModel,
        rules: Sequence[k.TraceRule],
        steps: RuleSteps,
        queue: LineQueue,
        events: Callable[[], Iterable[Event]],
        begin: int = 0,
    ) -> None:
        """The lines of a queue from ``begin`` on, as many as there are ``events``."""
        given = {
            "_model": model, "_rules": rules, "_steps": steps, "_queue": queue, "_events": events, "_begin": begin,
            "_initial": model.states[model.initial[0]], "_made": None,
        }  # fmt: skip
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @property
    def initial(self) -> State:
        """The initial state."""
        found: State = self._own("_initial")
        return found

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
        model, rules, steps, queue, events = map(self._own, ("_model", "_rules", "_steps", "_queue", "_events"))
        layout, stated = steps.program.layout, steps.program.stated
        state, row = self.initial, layout.pack(self.initial)
        for at, event in enumerate(events(), self._own("_begin")):
            steps.follow(row, queue.lines, at, at + 1)
            became = int(queue.lines.changes[at])
            if became & 1:
                state = layout.unpack(row)
            rule = rules[queue.lines.rules[at]]
            if not rule.steps:
                yield ExecutedStep(event, None, (), state)
                continue
            names = [each.binder.name for each in rule.fields]
            line = stated[queue.lines.rules[at]].unpack(queue.lines.stated[at])
            bound: dict[str, Value] = dict(zip(names, line, strict=True))
            call = rule.steps[0][became >> 1]
            arguments = zip(model.meanings.actions[call.action].names, model.wanted(call, bound), strict=True)
            yield ExecutedStep(event, call.action, tuple(arguments), state)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Execution) and (self.initial, self.steps) == (other.initial, other.steps)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[Execution], tuple[State, tuple[ExecutedStep, ...]]]:
        return Execution, (self.initial, self.steps)
