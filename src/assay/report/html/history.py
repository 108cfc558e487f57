"""An accepted execution as values over time: what each cell of the state held, and what each step changed.

A cell is a variable, or one entry of a variable that maps the elements of a set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from assay.checker.evaluate.show import show_value
from assay.checker.verdict import State
from assay.grammar import kernel_types as t
from assay.grammar.kernel import Kernel
from assay.traces.events import Event
from assay.traces.validation import ExecutedStep, Execution


class Cell(NamedTuple):
    """A variable, and the element that the entry is of, with the name of its set; both empty for a variable that is no such map."""

    variable: str
    set: str = ""
    element: str = ""

    @property
    def text(self) -> str:
        """As the language writes it."""
        return f"{self.variable}[{self.element}]" if self.element else self.variable


ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Change:
    """What a step changed in one cell, as printed."""

    cell: Cell
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """A step: its event if a line tells of it, its action if it is not a mere observation, and its changes."""

    event: Event | None
    action: str | None
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class History:
    """The cells of the initial state, and the steps after it."""

    initial: dict[Cell, str]
    steps: tuple[HistoryStep, ...]


def history(kernel: Kernel, execution: Execution) -> History:
    """The execution, cell by cell."""
    initial = {
        cell: text for at in range(len(execution.initial)) for cell, text in _cells(kernel, at, execution.initial)
    }
    steps: list[HistoryStep] = []
    before = execution.initial
    for step in execution.steps:
        changes = tuple(_changes(kernel, before, step.state)) if step.state is not before else ()
        steps.append(HistoryStep(step.event, _name(kernel, step), changes))
        before = step.state
    return History(initial, tuple(steps))


def _name(kernel: Kernel, step: ExecutedStep) -> str | None:
    if step.action is None:
        return None
    parameters = kernel.action(step.action).parameters
    pairs = zip(parameters, step.arguments, strict=True)
    return f"{step.action}({', '.join(show_value(value, p.binder.type) for p, (_, value) in pairs)})"


def _cells(kernel: Kernel, at: int, state: State) -> Iterator[tuple[Cell, str]]:
    variable = kernel.variables[at]
    value: Any = state[at]
    match variable.type:
        case t.MapType(t.AtomType(sort), image):
            for key, item in value.items():
                yield Cell(variable.name, sort.name, key.name), show_value(item, image)
        case _:
            yield Cell(variable.name), show_value(value, variable.type)


def _changes(kernel: Kernel, before: State, after: State) -> Iterator[Change]:
    for at, (old, new) in enumerate(zip(before, after, strict=True)):
        if old is new or old == new:
            continue
        olds, news = dict(_cells(kernel, at, before)), dict(_cells(kernel, at, after))
        for cell in olds | news:
            was, now = olds.get(cell, ABSENT), news.get(cell, ABSENT)
            if was != now:
                yield Change(cell, was, now)
