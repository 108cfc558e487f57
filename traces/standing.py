"""A condition asked of one step of an execution after another.

NOTE(standing conditions): In ``forall a, b in S: body`` the parts of the body that depend on ``a`` alone are its view of the step, and so for ``b``. Whether
the body holds of two elements is told by their views and by what depends on neither. So where a condition held last time, and what depends on
no element is the same, only those pairs are asked again of which one element has another view: a step of a cluster changes little for few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import Enum

from assay.checker.evaluate.domain import domain
from assay.checker.evaluate.traverse import children, free_locals, variables_of
from assay.checker.evaluate.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.kernel_types import AtomType
from assay.grammar.values import Value
from assay.traces.search.model import Model

ANSWERS_KEPT = 1 << 12
"""How many answers are remembered."""


class Missing(Enum):
    """In place of a value: the expression has none."""

    VALUE = "undefined"


class StandingCondition:
    """A condition of a kernel. What it reads is compared before it is evaluated."""

    def __init__(self, model: Model, condition: k.Expr) -> None:
        self._model, self._condition = model, condition
        self._reads = _positions(model, condition)
        self._known: dict[tuple[Value, ...], bool] = {}
        self._closed, *self._binders = _views(model, condition)
        self._last: tuple[list[_Seen], ...] | None = None

    def holds(self, now: int, before: int) -> bool:
        """Whether it holds on the step from one state to another."""
        states = self._model.states
        key = tuple([state[i] for state in (states[now], states[before]) for i in self._reads])
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= ANSWERS_KEPT:
                self._known.clear()
            found = self._known[key] = self._decide(now, before)
        return found

    def _decide(self, now: int, before: int) -> bool:
        if not self._binders:
            return self._model.holds(self._condition, {}, now, before)
        last, seen = self._last, tuple(view.of(now, before) for view in (self._closed, *self._binders))
        if last is None or last[0] != seen[0]:
            held = self._model.holds(self._condition, {}, now, before)
        else:
            held = all(
                self._model.holds(view.rest, view.bound[at], now, before)
                for view, old, new in zip(self._binders, last[1:], seen[1:], strict=True)
                for at, (one, other) in enumerate(zip(old, new, strict=True))
                if one != other
            )
        if held:
            self._last = seen
        return held


_Seen = tuple[Value | Missing, ...]
"""The values of the expressions of a view, for one element."""


class _View:
    """What the elements of a binder see of a step: the values of some expressions; and ``rest``, the condition with one of ``bound`` for the binder."""

    def __init__(self, model: Model, parts: Sequence[k.Expr], bound: list[dict[str, Value]], rest: k.Expr) -> None:
        self.bound, self.rest = bound, rest
        self._model = model
        self._parts = [(part, _positions(model, part)) for part in parts]
        self._columns: dict[int, tuple[list[Value], list[Value | Missing]]] = {}

    def of(self, now: int, before: int) -> list[_Seen]:
        """The view of each element."""
        columns = [self._column(at, now, before) for at in range(len(self._parts))]
        return list(zip(*columns, strict=True)) if columns else [()] * len(self.bound)

    def _column(self, at: int, now: int, before: int) -> list[Value | Missing]:
        """The values of one expression, from last time where all that it reads is the very same."""
        part, reads = self._parts[at]
        states = self._model.states
        read = [state[i] for state in (states[now], states[before]) for i in reads]
        known = self._columns.get(at)
        if known is not None and all(map(_is, known[0], read)):
            return known[1]
        column = [self._value(part, bound, now, before) for bound in self.bound]
        self._columns[at] = read, column
        return column

    def _value(self, part: k.Expr, bound: dict[str, Value], now: int, before: int) -> Value | Missing:
        try:
            return self._model.value(part, bound, now, before)
        except Undefined:
            return Missing.VALUE


def _is(one: object, other: object) -> bool:
    return one is other


def _positions(model: Model, expr: k.Expr) -> list[int]:
    return [model.meanings.scope.positions[name] for name in sorted(variables_of(expr))]


def _views(model: Model, condition: k.Expr) -> Iterator[_View]:
    """The view of no element, and one for each binder; none of the latter where the condition is not of the form in the note."""
    binders: list[k.Quantified] = []
    body = condition
    while isinstance(body, k.Quantified) and body.kind == "forall" and isinstance(body.binder.type, AtomType):
        if not isinstance(body.domain, k.TypeDomain):
            break
        binders.append(body)
        body = body.body
    names = [each.binder.name for each in binders]
    parts = list(_parts(body, frozenset(names)))
    if None in parts:
        binders = []
    yield _View(model, [part for part in parts if part is not None and not free_locals(part)], [{}], body)
    for each in binders:
        own = [part for part in parts if part is not None and free_locals(part) == {each.binder.name}]
        bound = [{each.binder.name: element} for element in domain(each.binder.type, each.span)]
        rest = body
        for other in reversed(binders):
            rest = rest if other is each else replace(other, body=rest)
        yield _View(model, own, bound, rest)


def _parts(expr: k.Expr, names: frozenset[str]) -> Iterator[k.Expr | None]:
    """The largest parts that read the state and depend on one binder at most; None for one that cannot be taken out of its place."""
    free = free_locals(expr)
    if not variables_of(expr):
        return
    if len(free) <= 1 and free <= names:
        yield expr
    elif isinstance(expr, k.Old):
        yield None
    else:
        for part in children(expr):
            yield from _parts(part, names)
