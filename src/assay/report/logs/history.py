"""An accepted execution as values over time: what each cell of the state held, and what each step changed.

A cell is a variable, or one entry of a variable that is a map over a set. Where the value is a record, one field of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from assay.checker.interpreter.values.show import show_value
from assay.checker.report import State
from assay.grammar.kernel import Kernel
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.event import Event
from assay.traces.result import ExecutedStep, Execution, Validation


class Cell(NamedTuple):
    """A variable, and for a map over a set the element and the name of its set (both empty otherwise). For a record
    there is the field, too.
    """

    variable: str
    set: str = ""
    element: str = ""
    field: str = ""

    @property
    def name(self) -> str:
        """The cell's name without the element."""
        return f"{self.variable}.{self.field}" if self.field else self.variable

    @property
    def text(self) -> str:
        """The cell as the language writes it."""
        entry = f"{self.variable}[{self.element}]" if self.element else self.variable
        return f"{entry}.{self.field}" if self.field else entry


ABSENT = "absent"
NONE = "none"


@dataclass(frozen=True, slots=True)
class CellChange:
    """What a step changed in one cell, as printed."""

    cell: Cell
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """A step: its event if a line reports it, its action unless it only observes, and its changes."""

    event: Event | None
    action: str | None
    changes: tuple[CellChange, ...]


@dataclass(frozen=True, slots=True)
class ExecutionHistory:
    """The values of all cells in the initial state, and the steps after it. ``slice`` names the slice of the log;
    empty for what all slices share.
    """

    initial: dict[Cell, str]
    steps: tuple[HistoryStep, ...]
    slice: str = ""


def histories(validation: Validation) -> list[ExecutionHistory]:
    """The history of what the slices of a log share, and that of each slice; each has only the cells that are its
    own.
    """
    kernel = validation.kernel
    plan = next((plan for plan in kernel.traces if plan.name == validation.clause), None)
    own = plan.slicing.sort.name if plan is not None and plan.slicing is not None else None
    found: list[ExecutionHistory] = []
    if validation.execution is not None:
        # Cells of slices are left out: their values are in the histories of the slices.
        found.append(_history(kernel, validation.execution, lambda cell: cell if cell.set != own else None))
    found += [
        _history(kernel, each.execution, partial(_of_slice, own, each.name), own, each.name)
        for each in validation.slices
        if each.execution is not None and own is not None
    ]
    return found


def _of_slice(own: str, name: str, cell: Cell) -> Cell | None:
    # In its own search a slice is the only element of its set, under another name.
    return cell._replace(element=name) if cell.set == own else None


Keep = Callable[[Cell], Cell | None]
"""The cell under the name with which it is shown; None for a cell that is not shown."""


def _history(
    kernel: Kernel, execution: Execution, keep: Keep, slices: str | None = None, name: str = ""
) -> ExecutionHistory:
    """The history of an execution: of the slice ``name``, for which the only element of the set ``slices`` stands,
    or of what is shared.
    """
    initial = {
        cell: text for at in range(len(kernel.variables)) for cell, text in _cells(kernel, at, execution.initial, keep)
    }
    steps: list[HistoryStep] = []
    before = execution.initial
    for step in execution.steps:
        # A line that only agrees with the state leaves it as the same object, and needs no comparison.
        changes = tuple(_changes(kernel, before, step.state, keep)) if step.state is not before else ()
        steps.append(HistoryStep(step.event, _name(kernel, step, slices, name), changes))
        before = step.state
    return ExecutionHistory(initial, tuple(steps), name)


def _name(kernel: Kernel, step: ExecutedStep, slices: str | None, name: str) -> str | None:
    if step.action is None:
        return None
    types = (parameter.binder.type for parameter in kernel.action(step.action).parameters)
    pairs = zip(types, (value for _, value in step.arguments), strict=True)
    return f"{step.action}({', '.join(name if _names(of, slices) else show_value(value, of) for of, value in pairs)})"


def _names(of: t.Type, slices: str | None) -> bool:
    """Whether the values of a type stand for the slice."""
    return isinstance(of, t.AtomType) and of.sort.name == slices


def _cells(kernel: Kernel, at: int, state: State, keep: Keep) -> Iterator[tuple[Cell, str]]:
    """The cells of a variable that are shown, with their values."""
    variable = kernel.variables[at]
    value: Any = state[at]
    match variable.type:
        case t.MapType(t.AtomType(sort), image):
            for key, item in value.items():
                if (cell := keep(Cell(variable.name, sort.name, key.name))) is not None:
                    yield from _fields(cell, image, item)
        case _:
            if (cell := keep(Cell(variable.name))) is not None:
                yield from _fields(cell, variable.type, value)


def _fields(cell: Cell, type_: t.Type, value: Any) -> Iterator[tuple[Cell, str]]:
    """A cell; for a record, or an optional record, each of its fields."""
    match type_:
        case t.RecordType(_, fields):
            for field, item in zip(fields, value.fields, strict=True):
                yield cell._replace(field=field.name), show_value(item, field.type)
        case t.OptionType(t.RecordType(_, fields) as record):
            if value is None:
                yield from ((cell._replace(field=field.name), NONE) for field in fields)
            else:
                yield from _fields(cell, record, value.value)
        case _:
            yield cell, show_value(value, type_)


def _changes(kernel: Kernel, before: State, after: State, keep: Keep) -> Iterator[CellChange]:
    for at, (old, new) in enumerate(zip(before, after, strict=True)):
        # A step leaves most variables as the same objects, which is seen sooner than that values are equal.
        if old is new or old == new:
            continue
        olds, news = dict(_cells(kernel, at, before, keep)), dict(_cells(kernel, at, after, keep))
        for cell in olds | news:
            was, now = olds.get(cell, ABSENT), news.get(cell, ABSENT)
            if was != now:
                yield CellChange(cell, was, now)
