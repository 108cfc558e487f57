"""What an expression is evaluated in, and what it becomes: a function from a frame to a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assay.grammar.identity_memo import IdentitySet
from assay.grammar.kernel import Expr
from assay.grammar.values import Value

Locals = dict[str, Any]


class Frame:
    """The state now, the state before the step, and the values of the bound variables.

    Binders have unique names, so that a binder simply writes its value here and nothing has to be restored.
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

    ``positions`` maps state variables to their place in the state. ``nonempty`` collects every quantifier whose domain
    was seen to have an element, and ``evaluated`` of every one that was evaluated at all; both are None where nobody asks. A quantifier
    over elements of the sorts named in ``strict`` is undefined if its body is for any of them, in whatever order they come.
    """

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
