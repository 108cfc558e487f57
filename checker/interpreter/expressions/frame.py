"""Frames, in which expressions are evaluated, and scopes, in which they get their meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

from assay.grammar.identity_memo import IdentitySet
from assay.grammar.kernel import Expr
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value

Locals = dict[str, Any]


class Frame:
    """The current state, the state before the step, and the values of bound variables.

    Binders have unique names. So a binder simply writes its value here, and nothing is restored afterwards.
    """

    __slots__ = ("before", "locals", "now")

    def __init__(self, now: tuple[Value, ...], before: tuple[Value, ...] = (), bound: Locals | None = None) -> None:
        self.now = now
        self.before = before
        self.locals: Locals = {} if bound is None else bound


Meaning = Callable[[Frame], Any]
"""The value of an expression in a frame; raises ``Undefined`` if it has none."""


@dataclass(frozen=True, slots=True)
class EvaluationScope:
    """What is known while an expression is given its meaning.

    ``positions`` maps state variables to their position in the state. ``nonempty`` collects every quantifier whose
    domain had an element, ``evaluated`` every quantifier that was evaluated; both are None where nobody asks. A
    quantifier over elements of a sort named in ``strict`` is undefined if its body is undefined for any element. The
    order of the elements does not matter (docs/design/symmetry-reduction.md).
    """

    # Variables by position, not by name: a state is a tuple, and names are looked up once, when meanings are made.
    positions: Mapping[str, int]
    translate: Callable[[Expr, EvaluationScope], Meaning] = field(repr=False)
    old: bool = False
    evaluated: IdentitySet[Expr] | None = None
    nonempty: IdentitySet[Expr] | None = None
    strict: frozenset[str] = frozenset()

    def meaning(self, expr: Expr) -> Meaning:
        """The meaning of an expression in this scope."""
        return self.translate(expr, self)

    def meanings(self, exprs: tuple[Expr, ...]) -> list[Meaning]:
        """The meanings of several."""
        return [self.translate(expr, self) for expr in exprs]

    def before(self) -> EvaluationScope:
        """The same scope inside ``old(…)``."""
        return replace(self, old=True)
