"""Expressions and types as written."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from assay.grammar.diagnostics.diagnostic import NOWHERE, Span
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """Anything with a place."""

    # No part of equality: what is printed and parsed again is the same tree, and so is what an edit only moved.
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


# The terminal NAME of the grammar has the same words, for the parser; the formatter reads them off there too.
_WORDS = "and or not implies in is if then else elif forall exists let true false none always eventually until leads_to"
RESERVED = frozenset((*_WORDS.split(), "with", "for", "expect", "_"))
"""The words that are names only in backticks. The grammar lists all but ``expect``, which begins a line of a scenario
whatever follows."""


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An identifier."""

    text: str

    @property
    def shown(self) -> str:
        """The name as it is written: in backticks if it is a keyword where a name may stand."""
        return f"`{self.text}`" if self.text in RESERVED else self.text


@dataclass(frozen=True, slots=True)
class DottedName(Node):
    """A dotted name such as ``kafka.membership``."""

    parts: tuple[Name, ...]

    def __str__(self) -> str:
        return ".".join(part.text for part in self.parts)

    @property
    def shown(self) -> str:
        """The name as it is written."""
        return ".".join(part.shown for part in self.parts)


@dataclass(frozen=True, slots=True)
class Expr(Node):
    """An expression."""


@dataclass(frozen=True, slots=True)
class IntLit(Expr):
    """An integer literal."""

    value: int


@dataclass(frozen=True, slots=True)
class BoolLit(Expr):
    """``true`` or ``false``."""

    value: bool


@dataclass(frozen=True, slots=True)
class NoneLit(Expr):
    """``none``."""


@dataclass(frozen=True, slots=True)
class Wildcard(Expr):
    """``_`` as an argument of an action in a trace clause."""


@dataclass(frozen=True, slots=True)
class Ref(Expr):
    """A plain name."""

    name: Name


@dataclass(frozen=True, slots=True)
class Attr(Expr):
    """``base.name``: a record field, or a member of a module or instance."""

    base: Expr
    name: Name


@dataclass(frozen=True, slots=True)
class Index(Expr):
    """``base[key]``: map entry, sequence element, or member of an instance array."""

    base: Expr
    key: Expr


@dataclass(frozen=True, slots=True)
class Arg(Node):
    """An argument, positional or named."""

    name: Name | None
    value: Expr


@dataclass(frozen=True, slots=True)
class Call(Expr):
    """``f(a, b = c)``: built-in, function, variant, record, action, ``old``, ``enabled``, ``occurs``, ``some``."""

    function: Expr
    arguments: tuple[Arg, ...]


UnaryOp = Literal["not", "-", "always", "eventually"]


BinaryOp = Literal[
    "implies",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "in",
    "not in",
    "..",
    "+",
    "-",
    "*",
    "//",
    "%",
    "&",
    "until",
    "leads_to",
]


@dataclass(frozen=True, slots=True)
class Unary(Expr):
    """A prefix operator."""

    op: UnaryOp
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    """An infix operator, with the place of the operator itself for messages."""

    op: BinaryOp
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Junction(Expr):
    """``a and b and c``: two or more operands in a list, so that long conjunctions are no deep trees. The first is no
    list of the same operator. ``grouped``: it was written in parentheses, which the formatter keeps beside ``or``."""

    op: Literal["and", "or"]
    parts: tuple[Expr, ...]
    # No part of equality either: `and` binds more strongly than `or`, with or without parentheses.
    grouped: bool = field(default=False, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class SamePattern(Node):
    """``==e`` in a pattern: the value of an expression."""

    value: Expr


@dataclass(frozen=True, slots=True)
class LiteralPattern(Node):
    """``3``, ``-3``, ``true`` or ``false`` in a pattern."""

    value: int | bool


@dataclass(frozen=True, slots=True)
class Pattern(Node):
    """``Active(e, _)``, ``some(v)``, ``none``, or a record; no parentheses: ``parts`` is None.

    A part that is a ``Name`` is a variant of the part's type without payload, or else binds; ``_`` is None.
    """

    variant: DottedName
    parts: tuple[SubPattern, ...] | None


@dataclass(frozen=True, slots=True)
class TuplePattern(Node):
    """``(a, _, some(v))``: a pattern for each of the values of a tuple."""

    parts: tuple[SubPattern, ...]


# `_` is None. A name may be a variant without payload: only the type of the value tells (`Pattern`).
SubPattern = Name | Pattern | TuplePattern | SamePattern | LiteralPattern | None
CasePattern = Pattern | TuplePattern | SamePattern | LiteralPattern
Bound = Name | TuplePattern
"""What a binder binds: a name, or the parts of a tuple."""


@dataclass(frozen=True, slots=True)
class Is(Expr):
    """``subject is Pattern``; of a ``match`` in an action also a value."""

    subject: Expr
    pattern: CasePattern
    negated: bool


@dataclass(frozen=True, slots=True)
class IfThenElse(Expr):
    """``if c then a else b``."""

    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Binder(Node):
    """``a, b in S``, ``(a, b) in S``."""

    names: tuple[Bound, ...]
    domain: Expr


@dataclass(frozen=True, slots=True)
class Quantified(Expr):
    """``forall a, b in S, c in T: body``."""

    kind: Literal["forall", "exists"]
    binders: tuple[Binder, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class LetIn(Expr):
    """``let x = value: body``, ``let (x, y) = value: body``."""

    name: Bound
    value: Expr
    body: Expr


@dataclass(frozen=True, slots=True)
class Choose(Expr):
    """``choose x in S if P``: the only element of a set that fulfils a condition."""

    name: Bound
    domain: Expr
    condition: Expr


@dataclass(frozen=True, slots=True)
class Fold(Expr):
    """``fold total = 0 for x in s: total + x``: what a value becomes that each element in turn changes."""

    name: Bound
    start: Expr
    item: Bound
    domain: Expr
    body: Expr


@dataclass(frozen=True, slots=True)
class Folding(Expr):
    """``sum(e for x in S if P)``; ``sum of e for x in S`` is the same without a condition. So ``min``, ``max``, ``count``, ``all``,
    ``any``, ``argmin`` and ``argmax``."""

    function: Expr
    element: Expr
    binders: tuple[Binder, ...]
    condition: Expr | None


@dataclass(frozen=True, slots=True)
class SetDisplay(Expr):
    """``{a, b}``; an empty one may also be a bag or a partial map."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class SeqDisplay(Expr):
    """``[a, b]``."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class BagDisplay(Expr):
    """``bag{a, a}``."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Tuple(Expr):
    """``(a, b)``: two values or more."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class MapEntry(Node):
    """``key -> value``."""

    key: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class MapDisplay(Expr):
    """``{k -> v, l -> w}``."""

    entries: tuple[MapEntry, ...]


@dataclass(frozen=True, slots=True)
class Filter(Expr):
    """``{x in S if P}`` (a set), ``[x in s if P]`` (a sequence) or ``bag{x in b if P}``."""

    kind: Literal["set", "seq", "bag"]
    name: Bound
    domain: Expr
    condition: Expr


@dataclass(frozen=True, slots=True)
class Image(Expr):
    """``{e for x in S, y in T if P}`` (a set), ``[e for x in s if P]`` (a sequence) or ``bag{e for x in S if P}``."""

    kind: Literal["set", "seq", "bag"]
    element: Expr
    binders: tuple[Binder, ...]
    condition: Expr | None


@dataclass(frozen=True, slots=True)
class Tabulate(Expr):
    """``[b -> e]`` (no domain: the whole key type) or ``[b in S -> e]``."""

    name: Bound
    domain: Expr | None
    value: Expr


@dataclass(frozen=True, slots=True)
class FieldUpdate(Node):
    """``field = value`` inside ``with { }``."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class With(Expr):
    """``base with {field = v}`` or ``base with {k -> v}``."""

    base: Expr
    updates: tuple[FieldUpdate | MapEntry, ...]


@dataclass(frozen=True, slots=True)
class LetLine(Node):
    """``let x = e`` in a block: visible in the lines below it."""

    name: Bound
    value: Expr


@dataclass(frozen=True, slots=True)
class Conjunct(Node):
    """``label: e`` or ``e``: a line of a block that is no ``let``."""

    label: Name | None
    condition: Expr


@dataclass(frozen=True, slots=True)
class TypeExpr(Node):
    """A type as written."""


@dataclass(frozen=True, slots=True)
class NamedType(TypeExpr):
    """``bool``, ``int``, a type name, an enum, a record, or a set parameter."""

    path: DottedName


@dataclass(frozen=True, slots=True)
class RangeType(TypeExpr):
    """``low .. high``."""

    low: Expr
    high: Expr


@dataclass(frozen=True, slots=True)
class OptionType(TypeExpr):
    """``T?``."""

    item: TypeExpr


@dataclass(frozen=True, slots=True)
class TupleType(TypeExpr):
    """``(A, B)``."""

    items: tuple[TypeExpr, ...]


@dataclass(frozen=True, slots=True)
class FunctionType(TypeExpr):
    """``def(A, B): R``, the type of a parameter of a function that is a function itself."""

    parameters: tuple[TypeExpr, ...]
    result: TypeExpr


@dataclass(frozen=True, slots=True)
class CollectionType(TypeExpr):
    """``set[T]``, ``map[K, V]``, ``seq[T, max n]``, ``bag[T, max n]``; ``capacity`` is the expression after ``max``."""

    kind: Literal["set", "map", "seq", "bag"]
    items: tuple[TypeExpr, ...]
    capacity: Expr | None
