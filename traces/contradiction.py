"""Lines of one write of a slice that no write can satisfy together, whatever came before it.

All lines that state one number state the outcome of one write (NOTE(writes)). Where two of them say that one place of the slice is equal to two different
values, one of the two is wrong: no other order of what is shared, and no step that left no line, makes both true. That is told from the conditions of
the lines alone, so that it needs no search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress

from assay.checker.evaluate.traverse import descendants, free_locals, variables_of
from assay.checker.evaluate.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.values import Value
from assay.traces.history import number_of
from assay.traces.order import Item
from assay.traces.search.model import Model

_Place = tuple[k.Expr, frozenset[tuple[str, Value]]]
"""An expression that reads the slice's variables, with the values of the names in it."""


def contradicted(model: Model, lines: Iterable[Item], own: Set[str]) -> frozenset[int]:
    """The numbers of the writes about which lines contradict each other in a slice's ``own`` variables."""
    demanded: dict[tuple[int, _Place], Value] = {}
    found: set[int] = set()
    for line in lines:
        number = number_of(model, line)
        if number is not None and number not in found:
            for place, value in _demands(model, line, own):
                if demanded.setdefault((number, place), value) != value:
                    found.add(number)
    return frozenset(found)


def _demands(model: Model, line: Item, own: Set[str]) -> Iterator[tuple[_Place, Value]]:
    """The places that a line says to be equal to a value after its write, with the value."""
    seen = line.observation
    condition = seen.rule.then if seen.rule.steps else seen.rule.observe
    for part, bound in () if condition is None else _all_of(model, condition, seen.bound):
        if isinstance(part, k.Equal) and not part.negated:
            for place, stated in ((part.left, part.right), (part.right, part.left)):
                if _is_place(place, own, bound) and not variables_of(stated) and free_locals(stated) <= bound.keys():
                    names = frozenset((name, bound[name]) for name in free_locals(place))
                    with suppress(Undefined):
                        yield (place, names), model.value(stated, bound)


def _is_place(expr: k.Expr, own: Set[str], bound: Mapping[str, Value]) -> bool:
    """Whether an expression is of the slice's state after the write alone."""
    read = variables_of(expr)
    is_old = isinstance(expr, k.Old) or any(isinstance(each, k.Old) for each in descendants(expr))
    return bool(read) and read <= own and free_locals(expr) <= bound.keys() and not is_old


def _all_of(
    model: Model, condition: k.Expr, bound: Mapping[str, Value]
) -> Iterator[tuple[k.Expr, Mapping[str, Value]]]:
    """The conditions that all have to hold for a condition to hold, with the values of names; a name for something of the state has none."""
    match condition:
        case k.Logic(op="and", parts=parts):
            for part in parts:
                yield from _all_of(model, part, bound)
        case k.LetIn(binder=binder, value=value, body=body):
            inner = {name: known for name, known in bound.items() if name != binder.name}
            if not variables_of(value) and free_locals(value) <= bound.keys():
                with suppress(Undefined):
                    inner[binder.name] = model.value(value, bound)
            yield from _all_of(model, body, inner)
        case _:
            yield condition, bound
