"""Blocks of lines that together are one value, and ``match``."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from assay.grammar.diagnostics.diagnostic import NOWHERE, Span
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.syntax.expressions import Binder, CasePattern, Conjunct, Expr, LetLine, Node


@dataclass(frozen=True, slots=True)
class BlockValue(Expr):
    """Lines, the last of which is no ``let``. One line without a label is no block: it is its expression.

    Several lines without ``let`` are joined by ``and``; a block whose value is no condition has one."""

    lines: tuple[LetLine | Conjunct, ...]


@dataclass(frozen=True, slots=True)
class BlockIf(Expr):
    """``if c: … elif d: … else: …`` as a line; without ``else`` it is a condition, which holds where no branch is
    taken. The place of ``else`` is kept for the comments before it."""

    branches: tuple[tuple[Expr, Expr], ...]
    otherwise: Expr | None
    else_place: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class BlockQuantified(Expr):
    """``forall a in S:`` or ``exists a in S:`` above an indented block."""

    kind: Literal["forall", "exists"]
    binders: tuple[Binder, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class MatchCase(Node):
    """``A(n) or B(n)`` with the value where one of the patterns fits; several patterns bind nothing."""

    patterns: tuple[CasePattern, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Match(Expr):
    """``match x {A(n) -> e, else -> f}``, or ``match x:`` above a case a line (``block``)."""

    subject: Expr
    cases: tuple[MatchCase, ...]
    otherwise: Expr | None
    # Counts in equality: both forms mean the same, but the formatter prints what was written.
    block: bool
    else_place: Span = field(default=NOWHERE, compare=False, kw_only=True)
