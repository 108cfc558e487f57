"""Evaluates a condition on one step after another, again only where something that it reads changed.

In ``forall a, b in S: body`` only pairs with an element whose view of the step changed are evaluated again
(docs/design/incremental-conditions.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from enum import Enum
from itertools import repeat
from math import prod

from assay.checker.interpreter.expressions.traverse import children, free_locals, variables_of
from assay.checker.interpreter.values.domains import domain
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.kernel.types import AtomType, MapType
from assay.grammar.values import FrozenMap, Value
from assay.traces.search.transition_system import TraceModel

ANSWERS_KEPT = 1 << 12
"""How many answers are kept for one condition."""

WORTH_IT = 16
"""With fewer combinations of elements than this, an evaluation is cheaper than the comparison of views."""


class Missing(Enum):
    """Stands for the value of an expression that has none."""

    VALUE = "undefined"


class IncrementalCondition:
    """A condition that is evaluated again only where the values that it reads changed."""

    def __init__(self, model: TraceModel, condition: k.Expr) -> None:
        self._model, self._condition = model, condition
        self._reads = _positions(model, condition)
        self._known: dict[tuple[Value, ...], bool] = {}
        self._views = _views(model, condition)
        self._last: list[_Seen] | None = None

    def holds(self, now: int, before: int) -> bool:
        """Whether the condition holds on the step from state ``before`` to state ``now``, given by number."""
        states = self._model.states
        key = tuple([state[i] for state in (states[now], states[before]) for i in self._reads])
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= ANSWERS_KEPT:
                self._known.clear()
            found = self._known[key] = self._decide(now, before)
        return found

    def _decide(self, now: int, before: int) -> bool:
        last, seen = self._last, [view.of(now, before) for view in self._views]
        # The first view is of what depends on no element: where that changed, every pair has to be asked.
        if not seen or last is None or last[0] != seen[0]:
            held = self._model.holds(self._condition, {}, now, before)
        else:
            held = all(
                self._model.holds(view.rest, view.bound[at], now, before)
                for view, old, new in zip(self._views[1:], last[1:], seen[1:], strict=True)
                for at in _other(old, new)
            )
        # Only views of a step on which the condition held may be compared with: the other pairs are known to hold.
        if held:
            self._last = seen
        return held


_Seen = list[list[Value | Missing]]
"""The values of a view: one list for each expression, one entry for each element."""


def _other(old: _Seen, new: _Seen) -> list[int]:
    """The indexes of the elements for which some value changed."""
    found: set[int] = set()
    for mine, its in zip(old, new, strict=True):
        if mine is not its and mine != its:  # identity first: most columns are the object of the last step
            found.update(
                at for at, (one, other) in enumerate(zip(mine, its, strict=True)) if one is not other and one != other
            )
    return sorted(found)


class _View:
    """What the elements of one binder see of a step: the values of some expressions.

    ``rest`` is the condition without this binder's quantifier: it is evaluated with one entry of ``bound`` for the
    binder.
    """

    def __init__(self, model: TraceModel, bound: list[dict[str, Value]], parts: Sequence[k.Expr], rest: k.Expr) -> None:
        self.bound, self.rest = bound, rest
        self._columns = [_Column(model, part, bound) for part in parts]

    def of(self, now: int, before: int) -> _Seen:
        """The view of all elements on a step."""
        return [column.values(now, before) for column in self._columns]


class _Column:
    """The values of one expression for all elements of a binder.

    If the expression looks up the binder in a map, the map is evaluated once and its entries are taken.
    """

    def __init__(self, model: TraceModel, part: k.Expr, bound: list[dict[str, Value]]) -> None:
        self._model, self._bound = model, bound
        self._reads = _positions(model, part)
        entry = _entry(part)
        self._part, key = (part, None) if entry is None else entry
        self._keys = None if key is None else [each[key] for each in bound]
        self._known: tuple[list[Value], list[Value | Missing]] | None = None

    def values(self, now: int, before: int) -> list[Value | Missing]:
        """The values on a step; those of the last step if all that the expression reads are the same objects."""
        states = self._model.states
        read = [state[i] for state in (states[now], states[before]) for i in self._reads]
        if self._known is None or not all(map(_is, self._known[0], read)):
            self._known = read, self._values(now, before)
        return self._known[1]

    def _values(self, now: int, before: int) -> list[Value | Missing]:
        if self._keys is None:
            return [self._value(bound, now, before) for bound in self._bound]
        table = self._value(self._bound[0], now, before)
        if not isinstance(table, FrozenMap):
            return [Missing.VALUE] * len(self._keys)
        # If the map has all elements, in the order of the set, no entry has to be looked up.
        if list(table) == self._keys:
            return list(table.values())
        return list(map(table.get, self._keys, repeat(Missing.VALUE)))

    def _value(self, bound: dict[str, Value], now: int, before: int) -> Value | Missing:
        try:
            return self._model.value(self._part, bound, now, before)
        except Undefined:
            return Missing.VALUE


def _is(one: object, other: object) -> bool:
    return one is other


def _positions(model: TraceModel, expr: k.Expr) -> list[int]:
    return [model.meanings.scope.positions[name] for name in sorted(variables_of(expr))]


def _views(model: TraceModel, condition: k.Expr) -> list[_View]:
    """The view of what depends on no element, then one view for each binder.

    Empty if the condition is not of the form in the design page, or has too few elements to be worth it.
    """
    binders, body = _binders(condition)
    elements = {each.binder.name: domain(each.binder.type, each.span) for each in binders}
    if prod(map(len, elements.values())) < WORTH_IT:
        return []
    # A binder over one element is a constant, as for the slice in the model of a slice.
    fixed = {name: own[0] for name, own in elements.items() if len(own) == 1}
    names = elements.keys() - fixed.keys()
    parts = [(part, free_locals(part) - fixed.keys()) for part in _parts(body, fixed.keys(), names)]
    # A part that reads the state with two binders at once has no column: its value is one of a pair.
    if any(len(free) > 1 or not free <= names for _, free in parts):
        return []
    views = [_View(model, [fixed], [part for part, free in parts if not free], body)]
    for name in sorted(names):
        rest = body
        for other in reversed(binders):
            rest = rest if other.binder.name == name else replace(other, body=rest)
        bound = [{**fixed, name: element} for element in elements[name]]
        views.append(_View(model, bound, [part for part, free in parts if free == {name}], rest))
    return views


def _binders(condition: k.Expr) -> tuple[list[k.Quantified], k.Expr]:
    """The leading ``forall`` quantifiers over set parameters, and the body inside them."""
    found: list[k.Quantified] = []
    while (
        isinstance(condition, k.Quantified)
        and condition.kind == "forall"
        and isinstance(condition.domain, k.TypeDomain)
    ):
        if not isinstance(condition.binder.type, AtomType):
            break
        found.append(condition)
        condition = condition.body
    return found, condition


def _parts(expr: k.Expr, fixed: Set[str], names: Set[str]) -> Iterator[k.Expr]:
    """The largest subexpressions that read the state and depend on at most one binder; ``old`` is not split."""
    free = free_locals(expr) - fixed
    if not variables_of(expr):
        return
    if len(free) <= 1 and free <= names:
        yield from _entries(expr, fixed, names) or [expr]
    elif isinstance(expr, k.Old):
        yield expr
    else:
        for part in children(expr):
            yield from _parts(part, fixed, names)


def _entries(expr: k.Expr, fixed: Set[str], names: Set[str]) -> list[k.Expr] | None:
    """The map entries that an expression reads, each looked up by a binder in a map that depends on none. None if it
    reads anything else.
    """
    match expr:
        case k.Lookup(_, table, k.Local(_, key)) if isinstance(table.type, MapType) and key in fixed | names:
            return [expr] if free_locals(table) <= fixed else None
        case k.StateVar():
            return None
        case k.Old(_, operand):
            inner = _entries(operand, fixed, names)
            return None if inner is None else [replace(expr, operand=each, type=each.type) for each in inner]
        case _:
            found: list[k.Expr] = []
            for part in children(expr):
                more = _entries(part, fixed, names)
                if more is None:
                    return None
                found += more
            return found


def _entry(part: k.Expr) -> tuple[k.Expr, str] | None:
    """The map and the binder of an expression that is a map entry."""
    match part:
        case k.Lookup(_, table, k.Local(_, name)) if isinstance(table.type, MapType) and name not in free_locals(table):
            return table, name
        case k.Old(_, k.Lookup(_, table, k.Local(_, name))) if isinstance(table.type, MapType):
            return (replace(part, operand=table, type=table.type), name) if name not in free_locals(table) else None
        case _:
            return None
