"""A memo of quantifiers and comprehensions: a value is used again while the variables that were read are the very same
objects.

The argument is in docs/design/quantifier-memo.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local
from typing import Any

from assay.checker.interpreter.expressions.dispatch import meaning
from assay.checker.interpreter.expressions.enumerate_set import may_be_large
from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame, Meaning
from assay.checker.interpreter.expressions.traverse import children, descendants, free_locals, variables_of
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.identity_memo import IdentityTupleMemo
from assay.grammar.kernel import types as t

WORTH_IT = (k.Quantified, k.Filter, k.Image, k.Tabulate, k.Aggregate, k.Combine)
"""The nodes that take long enough to evaluate."""

SIMPLE = (t.AtomType, t.RangeType, t.BoolType)
"""Types of locals that are hashed and compared in constant time."""

MOST_LOCALS = 2
KEPT = 2048
"""How many values of an expression are kept; then its memo is emptied."""

_ABSENT = object()
"""Stands for "not in the memo", because None is a value."""


Consulted = dict[tuple["ValueMemo | WatchedMembership", tuple[Any, ...]], None]
"""What an evaluation used: memoised expressions, each with the values of its locals."""


class _Watchers(local):
    """What watches the evaluations of a thread, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[Consulted] = []


_watchers = _Watchers()


class ValueMemo:
    """The values of an expression, kept by what it reads: some variables, and some locals."""

    __slots__ = ("_known", "names", "plain", "positions")

    def __init__(self, plain: Meaning, positions: list[int], names: list[str]) -> None:
        self.plain, self.positions, self.names = plain, positions, names
        self._known: IdentityTupleMemo[Any] = IdentityTupleMemo(limit=KEPT)

    def __call__(self, frame: Frame) -> Any:
        """The value in a frame. Raises ``Undefined`` if it has none."""
        given = frame.locals
        return self.at(frame.now, tuple([given[name] for name in self.names]))

    def at(self, now: tuple[Any, ...], given: tuple[Any, ...]) -> Any:
        """The value in a state, for values of its locals. Raises ``Undefined`` if it has none."""
        # By identity: a step leaves the values of other variables as the same objects.
        read = [now[at] for at in self.positions]
        if watchers := _watchers.stack:
            # Before the memo is asked: a value from the memo was consulted, too.
            watchers[-1][self, given] = None
        found = self._known.get(read, given, _ABSENT)
        if found is _ABSENT:
            with consulted():  # what it consults itself is another matter
                # A frame of its own, with nothing but what the key names: so the value cannot depend on anything else.
                found = self.plain(Frame(now, (), dict(zip(self.names, given, strict=True))))
            self._known.put(read, given, found)
        return found


class WatchedMembership:
    """Whether something is in a memoised collection. It is noted in place of the collection, which changes far more
    often."""

    __slots__ = ("names", "plain")

    def __init__(self, plain: Meaning, names: list[str]) -> None:
        self.plain, self.names = plain, names

    def __call__(self, frame: Frame) -> Any:
        """The value in a frame; raises ``Undefined`` if it has none."""
        if not (watchers := _watchers.stack):
            return self.plain(frame)
        watchers[-1][self, tuple([frame.locals[name] for name in self.names])] = None
        with consulted():
            return self.plain(frame)


@contextmanager
def consulted() -> Iterator[Consulted]:
    """Inside, it is noted which memoised expressions evaluations in this thread use."""
    found: Consulted = {}
    watchers = _watchers.stack
    watchers.append(found)
    try:
        yield found
    finally:
        watchers.pop()


def memoised(expr: k.Expr, scope: EvaluationScope) -> Meaning:
    """The function that evaluates an expression with a memo, where that pays off."""
    # Under `old` the expression reads another state; where coverage asks, each evaluation has to be seen.
    if scope.old or scope.evaluated is not None or not (is_memoised(expr) or is_watched(expr)):
        return meaning(expr, scope)
    if is_watched(expr):
        return WatchedMembership(meaning(expr, scope), sorted(free_locals(expr)))
    plain = _membership(expr, scope) or meaning(expr, scope)
    positions = sorted(scope.positions[name] for name in variables_of(expr))
    return ValueMemo(plain, positions, sorted(free_locals(expr)))


def _membership(expr: k.Expr, scope: EvaluationScope) -> Meaning | None:
    """``exists x in d: f(x) == v`` as "v is among the values of f", which are memoised for all v together; None for
    other expressions.

    Where f is undefined for some x, or d is too large to list, the expression is evaluated as written.
    """
    match expr:
        case k.Quantified(
            kind="exists", binder=binder, domain=domain, body=k.Equal(left=left, right=right, negated=False)
        ) if not may_be_large(domain):
            sides = [(left, right), (right, left)]
        case _:
            return None
    for inside, outside in sides:
        generator = k.Generator(binder, domain)
        image = k.Image(t.SetType(inside.type), inside, (generator,), None)
        # One set of values serves every v only if f and d depend on no local.
        if binder.name not in free_locals(outside) and not free_locals(image) and is_memoised(image):
            return _asked(memoised(image, scope), scope.meaning(outside), meaning(expr, scope))
    return None


def _asked(values: Meaning, wanted: Meaning, plain: Meaning) -> Meaning:
    def contains(frame: Frame) -> Any:
        try:
            return wanted(frame) in values(frame)
        # A search that ends early may decide what has an undefined part, or too many values to list.
        except (Undefined, SpecError):
            return plain(frame)

    return contains


def is_memoised(expr: k.Expr) -> bool:
    """Whether an expression is memoised: it takes long, and what it depends on is compared in constant time."""
    if not isinstance(expr, WORTH_IT) or not variables_of(expr):
        return False
    names, parts = free_locals(expr), list(descendants(expr))
    given = {part.name: part.type for part in parts if isinstance(part, k.Local) and part.name in names}
    simple = len(given) <= MOST_LOCALS and all(isinstance(each, SIMPLE) for each in given.values())
    # The key holds variables of the present state alone.
    return simple and not any(isinstance(part, k.Old) for part in parts)


def is_watched(expr: k.Expr) -> bool:
    """Whether an expression asks for a local's membership in a collection that depends only on memoised expressions and
    on no local."""
    return (
        isinstance(expr, k.Member)
        and bool(variables_of(expr.collection))
        and not free_locals(expr.collection)
        and not read_directly(expr.collection)
        and isinstance(expr.item, k.Local)
        and isinstance(expr.item.type, SIMPLE)
    )


def read_directly(expr: k.Expr) -> frozenset[str]:
    """The variables that an expression reads outside of memoised parts."""
    if is_memoised(expr) or is_watched(expr):
        return frozenset()
    # What a memoised part reads is noted by that part, when it is asked.
    own = {expr.name} if isinstance(expr, k.StateVar) else set()
    return frozenset(own).union(*map(read_directly, children(expr)))
