"""The syntax tree: a spec as written, with places. Names are not resolved and nothing is typed.

Every node is frozen; its ``span`` takes no part in equality, so that ``parse(print(tree)) == tree`` can be asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from assay.grammar.diagnostics import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Node:
    """Anything with a place."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An identifier."""

    text: str


@dataclass(frozen=True, slots=True)
class Path(Node):
    """A dotted name such as ``kafka.membership``."""

    parts: tuple[Name, ...]

    def __str__(self) -> str:
        return ".".join(part.text for part in self.parts)


# ---------------------------------------------------------------------------------------------- expressions


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
    "implies", "or", "and", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "..", "+", "-", "*", "//", "%", "&", "until", "leads_to"
]


@dataclass(frozen=True, slots=True)
class Unary(Expr):
    """A prefix operator."""

    op: UnaryOp
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    """An infix operator; the place of the operator itself is kept for messages."""

    op: BinaryOp
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Pattern(Node):
    """``Active(e, _)``, ``some(v)`` or ``none``; a binder of ``_`` is None; no parentheses: ``binders`` is None."""

    variant: Path
    binders: tuple[Name | None, ...] | None


@dataclass(frozen=True, slots=True)
class Is(Expr):
    """``subject is Pattern``."""

    subject: Expr
    pattern: Pattern
    negated: bool


@dataclass(frozen=True, slots=True)
class IfThenElse(Expr):
    """``if c then a else b``."""

    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Binder(Node):
    """``a, b in S``."""

    names: tuple[Name, ...]
    domain: Expr


@dataclass(frozen=True, slots=True)
class Quantified(Expr):
    """``forall a, b in S, c in T: body``."""

    kind: Literal["forall", "exists"]
    binders: tuple[Binder, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class LetIn(Expr):
    """``let x = value: body``."""

    name: Name
    value: Expr
    body: Expr


@dataclass(frozen=True, slots=True)
class SetDisplay(Expr):
    """``{a, b}``; empty, it may also be a bag or a partial map."""

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
class Entry(Node):
    """``key -> value``."""

    key: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class MapDisplay(Expr):
    """``{k -> v, l -> w}``."""

    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Filter(Expr):
    """``{x in S if P}`` (a set) or ``[x in s if P]`` (a sequence)."""

    kind: Literal["set", "seq"]
    name: Name
    domain: Expr
    condition: Expr


@dataclass(frozen=True, slots=True)
class Image(Expr):
    """``{e for x in S, y in T if P}`` (a set) or ``[e for x in s if P]`` (a sequence)."""

    kind: Literal["set", "seq"]
    element: Expr
    binders: tuple[Binder, ...]
    condition: Expr | None


@dataclass(frozen=True, slots=True)
class Tabulate(Expr):
    """``[b -> e]`` (no domain: the whole key type) or ``[b in S -> e]``."""

    name: Name
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
    updates: tuple[FieldUpdate | Entry, ...]


# ---------------------------------------------------------------------------------------------------- types


@dataclass(frozen=True, slots=True)
class TypeExpr(Node):
    """A type as written."""


@dataclass(frozen=True, slots=True)
class NamedType(TypeExpr):
    """``bool``, ``int``, a type name, an enum, a record, or a set parameter."""

    path: Path


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
class CollectionType(TypeExpr):
    """``set[T]``, ``map[K, V]``, ``seq[T, max n]``, ``bag[T, max n]``; ``capacity`` is the expression after ``max``."""

    kind: Literal["set", "map", "seq", "bag"]
    items: tuple[TypeExpr, ...]
    capacity: Expr | None


# ----------------------------------------------------------------------------------------------- statements


@dataclass(frozen=True, slots=True)
class Statement(Node):
    """A line of an action body."""


@dataclass(frozen=True, slots=True)
class Guard(Statement):
    """``when label: e`` or ``bound label: e``."""

    kind: Literal["when", "bound"]
    label: Name | None
    condition: Expr


@dataclass(frozen=True, slots=True)
class Let(Statement):
    """``let x = e``."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Pick(Statement):
    """``pick x, y in S``."""

    binder: Binder


@dataclass(frozen=True, slots=True)
class Assign(Statement):
    """``target := value``; the target is built of Ref, Attr and Index."""

    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class If(Statement):
    """``if c: … elif d: … else: …``."""

    branches: tuple[tuple[Expr, tuple[Statement, ...]], ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class For(Statement):
    """``for x in S: …``."""

    binder: Binder
    body: tuple[Statement, ...]


# --------------------------------------------------------------------------------------------- declarations


@dataclass(frozen=True, slots=True)
class Declaration(Node):
    """A top-level item."""


@dataclass(frozen=True, slots=True)
class Use(Declaration):
    """``use kafka.membership as m``."""

    path: Path
    alias: Name | None


@dataclass(frozen=True, slots=True)
class Binding(Node):
    """``P = expr`` in an instance or a model."""

    name: Path
    value: Expr


@dataclass(frozen=True, slots=True)
class Instance(Declaration):
    """``instance r[p: T] = m(P = p)``."""

    name: Name
    index: Field | None
    path: Path
    bindings: tuple[Binding, ...]


@dataclass(frozen=True, slots=True)
class Field(Node):
    """``name: Type``: a field of a record or variant, a parameter of a function, an index, an event field."""

    name: Name
    type: TypeExpr


@dataclass(frozen=True, slots=True)
class Param(Declaration):
    """``param``; ``type`` is None for a set parameter."""

    name: Name
    type: TypeExpr | None
    default: Expr | None
    symmetric: bool
    size: bool


@dataclass(frozen=True, slots=True)
class Assume(Declaration):
    """``assume e``."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class TypeAlias(Declaration):
    """``type N = T``."""

    name: Name
    type: TypeExpr


@dataclass(frozen=True, slots=True)
class Variant(Node):
    """A variant of an enum."""

    name: Name
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Enum(Declaration):
    """``enum E: A, B(x: T)``."""

    name: Name
    variants: tuple[Variant, ...]


@dataclass(frozen=True, slots=True)
class Record(Declaration):
    """``record R: f: T, g: U``."""

    name: Name
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Def(Declaration):
    """``def f(x: T): R = e``."""

    name: Name
    parameters: tuple[Field, ...]
    result: TypeExpr | None
    body: Expr


@dataclass(frozen=True, slots=True)
class StateVariable(Node):
    """``x: T = v`` (start is "="), ``x: T in S`` (start is "in"), ``x: T`` (start is None)."""

    name: Name
    type: TypeExpr
    start: Literal["=", "in"] | None
    value: Expr | None
    ghost: bool


@dataclass(frozen=True, slots=True)
class State(Declaration):
    """``state:``."""

    variables: tuple[StateVariable, ...]


@dataclass(frozen=True, slots=True)
class Init(Declaration):
    """``init:``."""

    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class ActionParameter(Node):
    """``p: T`` or ``p in S``."""

    name: Name
    domain: TypeExpr | Expr


@dataclass(frozen=True, slots=True)
class Fairness(Node):
    """``fair``, ``strong fair``, ``fair per a, b``."""

    strong: bool
    per: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Action(Declaration):
    """``action name(…) fair: …``."""

    name: Name
    parameters: tuple[ActionParameter, ...]
    fairness: Fairness | None
    doc: str | None
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class JointAction(Declaration):
    """``action name(…) = one(b) & m.two(b)``; each part is a Call, or a Ref or Attr without arguments."""

    name: Name
    parameters: tuple[ActionParameter, ...]
    fairness: Fairness | None
    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Next(Declaration):
    """``next: a, m.b, r.c``."""

    actions: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Conjunct(Node):
    """One line of a block of conjuncts, with its label if it has one."""

    label: Name | None
    condition: Expr


PropertyKind = Literal["invariant", "transition", "reachable", "lemma", "property", "terminal"]


@dataclass(frozen=True, slots=True)
class Property(Declaration):
    """``invariant name: e`` and its kin; ``doc`` is the first line of the block if that is a string; ``name`` is None only for ``terminal``."""

    kind: PropertyKind
    name: Name | None
    doc: str | None
    conjuncts: tuple[Conjunct, ...]


@dataclass(frozen=True, slots=True)
class AcceptBounds(Declaration):
    """``accept bounds: a, b``; also inside a model block."""

    labels: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Show(Declaration):
    """``show: e, e``."""

    expressions: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Step(Node):
    """A step of a scenario."""


@dataclass(frozen=True, slots=True)
class Do(Step):
    """``elect(b1)``: the action happens."""

    action: Expr


@dataclass(frozen=True, slots=True)
class Refuse(Step):
    """``refuse elect(b2) by vacant``."""

    action: Expr
    label: Path | None


@dataclass(frozen=True, slots=True)
class Expect(Step):
    """``expect e``."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class Scenario(Declaration):
    """``scenario name: …``."""

    name: Name
    doc: str | None
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Model(Declaration):
    """``model name: P = v; …``."""

    name: Name
    bindings: tuple[Binding, ...]
    accepted: tuple[AcceptBounds, ...]


@dataclass(frozen=True, slots=True)
class ActionMapping(Node):
    """``action elect(b) = claim(b)``; ``abstract`` is None for ``stutter``."""

    action: Expr
    abstract: Expr | None


@dataclass(frozen=True, slots=True)
class Refines(Declaration):
    """``refines abstract.module with: …``."""

    path: Path
    variables: tuple[Binding, ...]
    actions: tuple[ActionMapping, ...]


# --------------------------------------------------------------------------------------------------- traces


@dataclass(frozen=True, slots=True)
class TraceLine(Node):
    """A line of a trace block."""


@dataclass(frozen=True, slots=True)
class From(TraceLine):
    """``from kafka``."""

    catalogue: Path


@dataclass(frozen=True, slots=True)
class On(TraceLine):
    """``on Event(fields) if cond: alternatives; … then e``; an observation has no steps and ``observe`` set."""

    event: Name
    fields: tuple[Field, ...]
    condition: Expr | None
    steps: tuple[tuple[Expr, ...], ...]  # a sequence of alternatives
    then: Expr | None
    observe: Expr | None


@dataclass(frozen=True, slots=True)
class Ignore(TraceLine):
    """``ignore Event "reason"``."""

    event: Name
    reason: str


@dataclass(frozen=True, slots=True)
class Hidden(TraceLine):
    """``hidden a, b; at most n between two pinned events``."""

    actions: tuple[Path, ...]
    limit: Expr


@dataclass(frozen=True, slots=True)
class Order(TraceLine):
    """``order: file; commit before line within 50 ms; skew 5 ms``; times are milliseconds."""

    unit: Literal["file", "thread"]
    commit_before_line: int | None
    skew: int | None


@dataclass(frozen=True, slots=True)
class Trace(Declaration):
    """``trace name: …``."""

    name: Name
    lines: tuple[TraceLine, ...]


# --------------------------------------------------------------------------------------------------- module


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its place; ``own_line`` tells whether nothing but blanks stands before it."""

    text: str
    line: int
    own_line: bool


@dataclass(frozen=True, slots=True)
class Module(Node):
    """A file. ``name`` is None where there is no ``module`` line."""

    doc: str | None
    name: Path | None
    declarations: tuple[Declaration, ...]
    comments: tuple[Comment, ...] = field(default=(), compare=False)
