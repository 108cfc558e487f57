"""Kernel expressions: typed, resolved, without sugar."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from assay.grammar.diagnostics.diagnostic import NOWHERE, Span
from assay.grammar.kernel.types import Type
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value


@dataclass(frozen=True, slots=True)
class Node:
    """Anything with a place."""

    # No part of equality: `m[k]` at two places is one place of the state (`assignment_conflicts`). And what is known
    # to be present is found by the expression (`narrowing`).
    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Expr(Node):
    """A typed expression."""

    type: Type


@dataclass(frozen=True, slots=True)
class Const(Expr):
    """A constant."""

    value: Value


@dataclass(frozen=True, slots=True)
class StateVar(Expr):
    """A state variable, read in the current state."""

    name: str


@dataclass(frozen=True, slots=True)
class Local(Expr):
    """A bound variable: a parameter, pick, let, quantifier, comprehension or event field."""

    name: str


@dataclass(frozen=True, slots=True)
class TypeDomain(Expr):
    """The set of all values of ``of`` (``Broker``, ``Epoch``); its type is ``set[of]``."""

    of: Type


@dataclass(frozen=True, slots=True)
class Old(Expr):
    """The operand, its state variables read before the step."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Not(Expr):
    """Negation."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Logic(Expr):
    """``and``/``or`` of two or more parts, left to right; ``implies`` has exactly two."""

    op: Literal["and", "or", "implies"]
    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Equal(Expr):
    """``==`` or ``!=`` of two values of one type."""

    left: Expr
    right: Expr
    negated: bool


@dataclass(frozen=True, slots=True)
class Compare(Expr):
    """Order of integers, or of the elements of a set parameter that is not symmetric (by position)."""

    op: Literal["<", "<=", ">", ">="]
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Quantified(Expr):
    """``forall``/``exists`` over one binder."""

    kind: Literal["forall", "exists"]
    binder: Local
    domain: Expr
    body: Expr


@dataclass(frozen=True, slots=True)
class Member(Expr):
    """``item in collection``: set, bag, sequence, or the keys of a map."""

    item: Expr
    collection: Expr
    negated: bool


@dataclass(frozen=True, slots=True)
class Subset(Expr):
    """``left <= right`` of sets or bags."""

    left: Expr
    right: Expr
    strict: bool


@dataclass(frozen=True, slots=True)
class IsVariant(Expr):
    """Whether an enum value is of a variant."""

    operand: Expr
    variant: str


@dataclass(frozen=True, slots=True)
class IsSome(Expr):
    """Whether an optional value is present."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class IfThenElse(Expr):
    """``if c then a else b``."""

    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class LetIn(Expr):
    """``let x = value: body``; also what a call of a function becomes."""

    binder: Local
    # Evaluated also where the body does not read it: patterns and folds bind what must have a value.
    value: Expr
    body: Expr


@dataclass(frozen=True, slots=True)
class Negate(Expr):
    """``-a``."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Arithmetic(Expr):
    """``+ - * // %`` on integers; division rounds down, by zero is undefined."""

    op: Literal["+", "-", "*", "//", "%"]
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Count(Expr):
    """Number of elements of a set, bag (with multiplicity), sequence or map."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Times(Expr):
    """Multiplicity of an item in a bag."""

    bag: Expr
    item: Expr


@dataclass(frozen=True, slots=True)
class Aggregate(Expr):
    """``min``, ``max``, ``sum`` of a collection of integers; ``min`` and ``max`` of none are undefined."""

    op: Literal["min", "max", "sum"]
    operand: Expr


@dataclass(frozen=True, slots=True)
class Checked(Expr):
    """The operand, undefined if it is not a value of this node's (ranged) type. Capacities are not checked here."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class MakeSome(Expr):
    """A present optional value."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class MakeSet(Expr):
    """``{a, b}``."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class MakeSeq(Expr):
    """``[a, b]``."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class MakeBag(Expr):
    """``bag{a, a}``."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class MakeMap(Expr):
    """``{k -> v}``; of equal keys the last wins."""

    entries: tuple[tuple[Expr, Expr], ...]


@dataclass(frozen=True, slots=True)
class MakeRecord(Expr):
    """A record from the values of its fields in order."""

    # Each within the range of its field (`Checked`). Capacities are not enforced here, but where the record is stored.
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class MakeVariant(Expr):
    """A variant from the values of its fields in order."""

    variant: str
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Filter(Expr):
    """The elements of a set or sequence that satisfy the condition; order is kept."""

    binder: Local
    domain: Expr
    condition: Expr


@dataclass(frozen=True, slots=True)
class Generator(Node):
    """``for binder in domain``; later generators may use earlier binders."""

    # A domain may depend on the binders before it, so the order of generators counts.
    binder: Local
    domain: Expr


@dataclass(frozen=True, slots=True)
class Image(Expr):
    """``{e for …}`` or ``[e for …]``, distinguished by the type; a sequence has one generator, over a sequence."""

    element: Expr
    # Several names over one set are several generators: kernels bind one name at a time.
    generators: tuple[Generator, ...]
    condition: Expr | None


@dataclass(frozen=True, slots=True)
class Tabulate(Expr):
    """The map that sends each element of the domain to ``value``."""

    binder: Local
    domain: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Interval(Expr):
    """The set of integers from ``low`` to ``high``."""

    low: Expr
    high: Expr


@dataclass(frozen=True, slots=True)
class Combine(Expr):
    """Union, difference, intersection of sets or bags; ``concat`` of sequences."""

    op: Literal["union", "difference", "intersection", "concat"]
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Subsets(Expr):
    """The set of all subsets."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Keys(Expr):
    """The keys of a map, as a set."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Values(Expr):
    """The values of a map, as a set."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Elements(Expr):
    """The elements of a sequence or bag, as a set."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Slice(Expr):
    """``take`` (the first ``length``) or ``drop`` (all but the first ``length``) of a sequence.

    A shorter sequence is no error; a negative length is undefined.
    """

    op: Literal["take", "drop"]
    operand: Expr
    length: Expr


@dataclass(frozen=True, slots=True)
class Lookup(Expr):
    """``m[k]`` of a map or ``s[i]`` of a sequence; an absent key or index is undefined."""

    collection: Expr
    key: Expr


@dataclass(frozen=True, slots=True)
class Endpoint(Expr):
    """The first or last element of a sequence, or the only element of a set. It is undefined if there is none, and for
    a set with several.
    """

    op: Literal["first", "last", "only"]
    operand: Expr


@dataclass(frozen=True, slots=True)
class ReadField(Expr):
    """A field of a record, by position."""

    record: Expr
    index: int


@dataclass(frozen=True, slots=True)
class Payload(Expr):
    """A payload field of a variant, by position; undefined if the value is of another variant."""

    operand: Expr
    variant: str
    index: int


@dataclass(frozen=True, slots=True)
class Unwrap(Expr):
    """The value of an option; undefined if there is none."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class UpdateEntry(Expr):
    """The map or sequence updated at one key; a partial map gains the key, a sequence must have the index."""

    # What it becomes may have a wider type: with a key or a value that is outside of these ranges.
    collection: Expr
    key: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class UpdateField(Expr):
    """The record updated in one field."""

    record: Expr
    index: int
    value: Expr


@dataclass(frozen=True, slots=True)
class Without(Expr):
    """The partial map without a key."""

    collection: Expr
    key: Expr


@dataclass(frozen=True, slots=True)
class Temporal(Expr):
    """``always f``, ``eventually f``, ``f until g``, ``f leads_to g``."""

    op: Literal["always", "eventually", "until", "leads_to"]
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ActionAtom(Expr):
    """``enabled(a(…))`` or ``occurs(a(…))``. Without arguments it means some instance; an argument of None means any
    value."""

    # In a finished kernel only temporal properties hold it: elsewhere `enabled` is written out (`steps.enabledness`).
    op: Literal["enabled", "occurs"]
    action: str
    arguments: tuple[Expr | None, ...] | None
