"""Statements and declarations as written."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from assay.grammar.diagnostics.diagnostic import NOWHERE, Span
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.syntax.expressions import (
    Binder,
    Bound,
    CasePattern,
    Conjunct,
    DottedName,
    Expr,
    LetLine,
    Name,
    Node,
    TypeExpr,
)


@dataclass(frozen=True, slots=True)
class ActionLine(Node):
    """A line of an action body."""


@dataclass(frozen=True, slots=True)
class Guard(ActionLine):
    """``when label: e`` or ``bound label: e``."""

    kind: Literal["when", "bound"]
    label: Name | None
    condition: Expr


@dataclass(frozen=True, slots=True)
class Let(ActionLine):
    """``let x = e``, ``let (x, y) = e``."""

    name: Bound
    value: Expr


@dataclass(frozen=True, slots=True)
class Pick(ActionLine):
    """``pick x, y in S``."""

    binder: Binder


@dataclass(frozen=True, slots=True)
class Assign(ActionLine):
    """``target := value``; the target is built of Ref, Attr and Index."""

    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class If(ActionLine):
    """``if c: … elif d: … else: …``; the place of ``else`` is kept for the comments before it."""

    branches: tuple[tuple[Expr, tuple[ActionLine, ...]], ...]
    otherwise: tuple[ActionLine, ...]
    else_place: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class For(ActionLine):
    """``for x in S: …``."""

    binder: Binder
    body: tuple[ActionLine, ...]


@dataclass(frozen=True, slots=True)
class ActionCase(Node):
    """``A(n) or B(n)`` with the updates where one of the patterns fits."""

    patterns: tuple[CasePattern, ...]
    body: tuple[ActionLine, ...]


@dataclass(frozen=True, slots=True)
class ActionMatch(ActionLine):
    """``match x:`` above the updates of each case."""

    subject: Expr
    cases: tuple[ActionCase, ...]
    otherwise: tuple[ActionLine, ...] | None
    else_place: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Declaration(Node):
    """A top-level item."""


@dataclass(frozen=True, slots=True)
class Use(Declaration):
    """``use kafka.membership as m``."""

    path: DottedName
    alias: Name | None


@dataclass(frozen=True, slots=True)
class Binding(Node):
    """``P = expr`` in an instance or a model."""

    name: DottedName
    value: Expr


@dataclass(frozen=True, slots=True)
class Instance(Declaration):
    """``instance r[p: T] = m(P = p)``."""

    name: Name
    index: Field | None
    path: DottedName
    bindings: tuple[Binding, ...]


@dataclass(frozen=True, slots=True)
class Field(Node):
    """``name: Type``: a field of a record or variant, a parameter of a function, an index, an event field."""

    name: Name
    type: TypeExpr


@dataclass(frozen=True, slots=True)
class Param(Declaration):
    """``param``; ``type`` is None for a set parameter; ``doc`` is the string that stands indented under it."""

    name: Name
    type: TypeExpr | None
    default: Expr | None
    symmetric: bool
    size: bool
    doc: str | None


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
class VariantDeclaration(Node):
    """A variant of an enum."""

    name: Name
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Enum(Declaration):
    """``enum E: A, B(x: T)``."""

    name: Name
    variants: tuple[VariantDeclaration, ...]


@dataclass(frozen=True, slots=True)
class RecordDeclaration(Declaration):
    """``record R: f: T, g: U``."""

    name: Name
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Def(Declaration):
    """``def f(x: T): R = e``, or ``def f(x: T): R:`` above a block; ``block`` tells which."""

    name: Name
    parameters: tuple[Field, ...]
    result: TypeExpr | None
    body: Expr
    # As in `Match`, for the formatter alone.
    block: bool = False


@dataclass(frozen=True, slots=True)
class StateVariable(Node):
    """``x: T = v`` (start is "="), ``x: T in S`` (start is "in"), ``x: T`` (start is None)."""

    name: Name
    type: TypeExpr
    start: Literal["=", "in"] | None
    value: Expr | None
    ghost: bool


@dataclass(frozen=True, slots=True)
class StateBlock(Declaration):
    """``state:``."""

    variables: tuple[StateVariable, ...]


@dataclass(frozen=True, slots=True)
class Init(Declaration):
    """``init:``."""

    body: tuple[ActionLine, ...]


@dataclass(frozen=True, slots=True)
class ActionParameter(Node):
    """``p: T`` or ``p in S``."""

    name: Name
    # `p: T` holds a type and `p in S` an expression: the class alone tells the two apart.
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
    body: tuple[ActionLine, ...]


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

    actions: tuple[DottedName, ...]


@dataclass(frozen=True, slots=True)
class FairGroup(Declaration):
    """``fair: a, b``, ``strong fair per p: a, m.b``."""

    fairness: Fairness
    actions: tuple[DottedName, ...]


PropertyKind = Literal["invariant", "transition", "reachable", "lemma", "property", "terminal"]


@dataclass(frozen=True, slots=True)
class Property(Declaration):
    """``invariant name: e`` and similar declarations; ``doc`` is the first line of the block if it is a string;
    ``name`` is None only for ``terminal``."""

    kind: PropertyKind
    name: Name | None
    doc: str | None
    conjuncts: tuple[LetLine | Conjunct, ...]


@dataclass(frozen=True, slots=True)
class CapacityLabel(Node):
    """``capacity of x`` among the labels of bounds."""

    variable: DottedName

    def __str__(self) -> str:
        return f"capacity of {self.variable}"

    @property
    def shown(self) -> str:
        """The label as it is written."""
        return f"capacity of {self.variable.shown}"


@dataclass(frozen=True, slots=True)
class AcceptBounds(Declaration):
    """``accept bounds: a, b``; also inside a model block."""

    labels: tuple[DottedName | CapacityLabel, ...]


@dataclass(frozen=True, slots=True)
class Show(Declaration):
    """``show: e, e``."""

    expressions: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ViewDeclaration(Declaration):
    """``view: x, y``: the state variables by which a check distinguishes states."""

    variables: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ScenarioLine(Node):
    """A step of a scenario."""


@dataclass(frozen=True, slots=True)
class Do(ScenarioLine):
    """``elect(b1)``: the action happens."""

    action: Expr


@dataclass(frozen=True, slots=True)
class Refuse(ScenarioLine):
    """``refuse elect(b2) by vacant``."""

    action: Expr
    label: DottedName | None


@dataclass(frozen=True, slots=True)
class Expect(ScenarioLine):
    """``expect e``."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class Scenario(Declaration):
    """``scenario name: …``."""

    name: Name
    doc: str | None
    steps: tuple[ScenarioLine, ...]


@dataclass(frozen=True, slots=True)
class ModelBlock(Declaration):
    """``model name: P = v; …``."""

    name: Name
    bindings: tuple[Binding, ...]
    accepted: tuple[AcceptBounds, ...]


@dataclass(frozen=True, slots=True)
class Unnamed(Node):
    """``stutter``: the abstract state stays as it is. ``any``: it does, or some abstract action happens."""

    word: Literal["stutter", "any"]


@dataclass(frozen=True, slots=True)
class ActionMapping(Node):
    """``action elect(b) = claim(b) or stutter``: the abstract actions of the action."""

    action: Expr
    counterparts: tuple[Expr | Unnamed, ...]


@dataclass(frozen=True, slots=True)
class Refines(Declaration):
    """``refines abstract.module with: …``."""

    path: DottedName
    variables: tuple[Binding, ...]
    actions: tuple[ActionMapping, ...]
