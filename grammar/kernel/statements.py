"""Kernel statements: the lines of an action's body, in order."""

from __future__ import annotations

from typing import Literal

from assay.grammar.kernel.expressions import Expr, Local, Node
from assay.grammar.kernel.types import Type
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Statement(Node):
    """A step of an action's body, in order."""


@dataclass(frozen=True, slots=True)
class Guard(Statement):
    """A guard line. ``label`` is the given name, or ``file:line``; unique within its action."""

    kind: Literal["when", "bound"]
    label: str
    condition: Expr


@dataclass(frozen=True, slots=True)
class Let(Statement):
    """A name for a value."""

    # Visible in all later lines of its block, in the branches and loops too.
    binder: Local
    value: Expr


@dataclass(frozen=True, slots=True)
class Pick(Statement):
    """A nondeterministic choice from a set, in canonical order."""

    binder: Local
    domain: Expr


@dataclass(frozen=True, slots=True)
class AtKey(Node):
    """``[key]`` on the left of ``:=``."""

    key: Expr


@dataclass(frozen=True, slots=True)
class AtField(Node):
    """``.field`` on the left of ``:=``, by position."""

    index: int


@dataclass(frozen=True, slots=True)
class Assign(Statement):
    """``variable path := value``; ``type`` is the type of the place, to which the value is conformed."""

    label: str
    variable: str
    # All keys are evaluated before the step, as the value is.
    path: tuple[AtKey | AtField, ...]
    value: Expr
    # Kept apart from the value, whose type may have wider ranges: only the stored value must be in this one.
    type: Type


@dataclass(frozen=True, slots=True)
class If(Statement):
    """Updates under a condition."""

    condition: Expr
    then: tuple[Statement, ...]
    # `elif` is an `If` in here, so that branches exclude each other.
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class For(Statement):
    """Updates for every element of a set, in canonical order (which matters only for messages)."""

    binder: Local
    domain: Expr
    body: tuple[Statement, ...]
