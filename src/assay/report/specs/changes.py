"""What a step changed: a line for each part of the state that differs, as small a part as possible."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.checker.interpreter.values.show import show_value
from assay.checker.interpreter.values.value_order import sorter
from assay.checker.report import State, Step
from assay.checker.results.show_instance import pick_types, show_initial, show_instance
from assay.checker.results.shown import shown_values
from assay.grammar.kernel import Kernel
from assay.grammar.kernel import types as t
from assay.grammar.values import Value


def initial_lines(kernel: Kernel, state: State) -> list[str]:
    """Every variable with its value."""
    return [f"{v.name} = {show_value(x, v.type)}" for v, x in zip(kernel.variables, state, strict=True)]


def change_lines(kernel: Kernel, before: State, after: State) -> list[str]:
    """``role[b1]: Standby -> Active(1)``, ``sessions: + b1``; no lines where the states are equal."""
    places = zip(kernel.variables, before, after, strict=True)
    return [line for v, old, new in places for line in _changes(v.name, v.type, old, new)]


def shown_lines(kernel: Kernel, state: State) -> list[str]:
    """``show x + 1 = 3``: what ``show`` asks for, or why it has no value."""
    return [
        f"show {each.text} = {show_value(each.value, each.type)}"
        if each.undefined is None
        else f"show {each.text} is undefined: {each.undefined}"
        for each in shown_values(kernel, state)
    ]


def step_name(kernel: Kernel, step: Step) -> str:
    """``elect(b1)``, or with picks ``deliver(b1) with m = Vote(b1)``."""
    if step.action is None:
        return show_initial(kernel.init, step.picks)
    return show_instance(kernel.action(step.action), [value for _, value in step.arguments], step.picks)


def typed_picks(kernel: Kernel, step: Step) -> list[tuple[str, Value, t.Type]]:
    """The picks of a step, each with its type."""
    types = pick_types(kernel.init.body if step.action is None else kernel.action(step.action).body)
    return [(name, value, types[name]) for name, value in step.picks]


def _changes(place: str, type_: t.Type, old: Any, new: Any) -> Iterator[str]:
    if old == new:
        return
    match type_:
        case t.MapType(key, image):
            yield from _map_changes(place, key, image, old, new)
        # A tuple is a record without a name: its parts have none to be shown by, and it is shown whole.
        case t.RecordType(name, fields) if name:
            for field, a, b in zip(fields, old.fields, new.fields, strict=True):
                yield from _changes(f"{place}.{field.name}", field.type, a, b)
        case t.SetType(item):
            yield from (f"{place}: + {show_value(x, item)}" for x in sorter(item)(new - old))
            yield from (f"{place}: - {show_value(x, item)}" for x in sorter(item)(old - new))
        case t.BagType(item):
            yield from _bag_changes(place, item, old, new)
        case _:
            yield f"{place}: {show_value(old, type_)} -> {show_value(new, type_)}"


def _bag_changes(place: str, item: t.Type, old: Any, new: Any) -> Iterator[str]:
    """``net: + Vote(b1)``, with the number where it is not one; added elements come first."""
    more = {x: new.get(x, 0) - old.get(x, 0) for x in sorter(item)(old.keys() | new.keys())}
    for sign in (1, -1):
        for x, number in more.items():
            if number * sign > 0:
                times = "" if abs(number) == 1 else f" ({abs(number)} times)"
                yield f"{place}: {'+' if sign > 0 else '-'} {show_value(x, item)}{times}"


def _map_changes(place: str, key: t.Type, image: t.Type, old: Any, new: Any) -> Iterator[str]:
    # Sorted, since the order of a set of keys differs from run to run.
    for k in sorter(key)(old.keys() | new.keys()):
        at = f"{place}[{show_value(k, key)}]"
        if k not in old:
            yield f"{at}: absent -> {show_value(new[k], image)}"
        elif k not in new:
            yield f"{at}: {show_value(old[k], image)} -> absent"
        else:
            yield from _changes(at, image, old[k], new[k])
