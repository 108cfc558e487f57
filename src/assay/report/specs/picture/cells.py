"""A state as cells: the leaves of a tree of variables, entries of maps, fields of records, and elements of sets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.checker.interpreter.values.show import show_value
from assay.checker.interpreter.values.value_order import sorter
from assay.checker.report import State
from assay.grammar.kernel import Kernel
from assay.grammar.kernel import types as t

CellPath = tuple[str, ...]
"""From the variable down: ``("role", "[b1]", ".epoch")``; an element of a set is a part of its own."""

ONE_LINE = 60
"""A collection whose text is longer than this has a cell for each element."""


def state_cells(kernel: Kernel, state: State) -> dict[CellPath, str]:
    """The value of each cell as printed, in the order of the model. An element of a set has its number, where it is not
    one, in the place of a value.
    """
    found: dict[CellPath, str] = {}
    for variable, value in zip(kernel.variables, state, strict=True):
        found.update(_cells((variable.name,), variable.type, value))
    return found


def _cells(path: CellPath, of: t.Type, value: Any) -> Iterator[tuple[CellPath, str]]:
    match of:
        case t.MapType(key, image) if value:
            for entry in sorter(key)(value.keys()):
                yield from _cells((*path, f"[{show_value(entry, key)}]"), image, value[entry])
        case t.RecordType(_, fields):
            for field, part in zip(fields, value.fields, strict=True):
                yield from _cells((*path, f".{field.name}"), field.type, part)
        # A message is long, and comes and goes as one: a cell for each shows which. Other sets are short as a value.
        case t.SetType(item) if value and is_message(item):
            yield from (((*path, show_value(x, item)), "") for x in sorter(item)(value))
        case t.BagType(item) if value and is_message(item):
            for x in sorter(item)(value):
                yield (*path, show_value(x, item)), "" if value[x] == 1 else f"{value[x]} times"
        # A short sequence is easier to read in one piece. Of a long one the step changes an entry or two.
        case t.SeqType(item) if value and len(show_value(value, of)) > ONE_LINE:
            for at, each in enumerate(value):
                yield from _cells((*path, f"[{at}]"), item, each)
        case _:
            yield path, show_value(value, of)


def is_message(item: t.Type) -> bool:
    """Whether elements of this type can be messages: values that carry something, or one of several kinds."""
    return isinstance(item, t.RecordType | t.EnumType)


def changed_cells(before: dict[CellPath, str], after: dict[CellPath, str]) -> list[tuple[CellPath, str | None]]:
    """The cells whose values differ, with the new value; None where the cell is gone."""
    changed: list[tuple[CellPath, str | None]] = [
        (path, value) for path, value in after.items() if before.get(path) != value
    ]
    return changed + [(path, None) for path in before if path not in after]
