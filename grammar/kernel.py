"""The kernel: what every engine takes. Parameters are bound, names resolved, modules inlined, sugar gone, everything typed.

Rules that hold of every kernel and on which engines rely:

* Locals are unique: no two binders of one action, property or function instance share a name.
* Pattern variables are gone; ``Payload`` and ``Unwrap`` read what a match made certain. They are undefined elsewhere.
* ``T`` where ``T?`` is wanted became ``MakeSome``; an empty display has its final type.
* Integers in expressions are mathematical. Ranges and capacities are enforced by ``conform``-ing a value to a type where it is
  stored (``Assign``), passed (``Action.parameters``) or put in a payload, record or ``MakeSome`` of a ranged type (``Checked``).
* Spans take no part in equality.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from assay.grammar.diagnostics import NOWHERE, Span
from assay.grammar.kernel_types import BOOL, AtomType, SetType, Sort, Type
from assay.grammar.values import Value


@dataclass(frozen=True, slots=True)
class Node:
    """Anything with a place."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Expr(Node):
    """A typed expression."""

    type: Type


# ------------------------------------------------------------------------------------------------ leaves


@dataclass(frozen=True, slots=True)
class Const(Expr):
    """A value known now."""

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


# ---------------------------------------------------------------------------------------------- booleans


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


# ------------------------------------------------------------------------------------------------ control


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
    value: Expr
    body: Expr


# ----------------------------------------------------------------------------------------------- integers


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


# -------------------------------------------------------------------------------------------- construction


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

    binder: Local
    domain: Expr


@dataclass(frozen=True, slots=True)
class Image(Expr):
    """``{e for …}`` or ``[e for …]``, told apart by the type; a sequence has one generator, over a sequence."""

    element: Expr
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
    """``take`` (the first ``length``) or ``drop`` (all but the first ``length``) of a sequence; fewer elements than that is no error, a negative length is undefined."""

    op: Literal["take", "drop"]
    operand: Expr
    length: Expr


# -------------------------------------------------------------------------------------------------- access


@dataclass(frozen=True, slots=True)
class Lookup(Expr):
    """``m[k]`` of a map or ``s[i]`` of a sequence; an absent key or index is undefined."""

    collection: Expr
    key: Expr


@dataclass(frozen=True, slots=True)
class Endpoint(Expr):
    """The first or last element of a sequence."""

    op: Literal["first", "last"]
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
    """The map or sequence changed at one key; a partial map gains the key, a sequence must have the index."""

    collection: Expr
    key: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class UpdateField(Expr):
    """The record changed in one field."""

    record: Expr
    index: int
    value: Expr


@dataclass(frozen=True, slots=True)
class Without(Expr):
    """The partial map without a key."""

    collection: Expr
    key: Expr


# ------------------------------------------------------------------------------------------------ temporal


@dataclass(frozen=True, slots=True)
class Temporal(Expr):
    """``always f``, ``eventually f``, ``f until g``, ``f leads_to g``."""

    op: Literal["always", "eventually", "until", "leads_to"]
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ActionAtom(Expr):
    """``enabled(a(…))`` or ``occurs(a(…))``; no arguments: some instance; an argument of None: any value."""

    op: Literal["enabled", "occurs"]
    action: str
    arguments: tuple[Expr | None, ...] | None


# ---------------------------------------------------------------------------------------------- statements


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
    path: tuple[AtKey | AtField, ...]
    value: Expr
    type: Type


@dataclass(frozen=True, slots=True)
class If(Statement):
    """Updates under a condition."""

    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class For(Statement):
    """Updates for every element of a set, in canonical order (which matters only for messages)."""

    binder: Local
    domain: Expr
    body: tuple[Statement, ...]


# ------------------------------------------------------------------------------------------------- the whole


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """A state variable; ``name`` is qualified (``membership.sessions``) unless it is the top module's own."""

    name: str
    type: Type
    ghost: bool


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """A parameter of an action: ``domain`` is a set (usually a ``TypeDomain``) that reads no state and no other parameter."""

    binder: Local
    domain: Expr


@dataclass(frozen=True, slots=True)
class Fairness(Node):
    """Weak or strong fairness of some instance, or of each instance ``per`` the named parameters."""

    strong: bool
    per: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Action(Node):
    """An action. The order of the body is significant: guards protect what follows. Guards, lets and picks precede updates."""

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    fairness: Fairness | None
    doc: str | None


@dataclass(frozen=True, slots=True)
class Init(Node):
    """Initial states: run ``body`` (lets, picks, assignments; reads no state), then keep the states that satisfy every condition."""

    body: tuple[Statement, ...]
    conditions: tuple[Guard, ...]


@dataclass(frozen=True, slots=True)
class Conjunct(Node):
    """A labelled conjunct of a property."""

    label: str
    condition: Expr


PropertyKind = Literal["invariant", "lemma", "transition", "reachable", "temporal", "refinement"]


@dataclass(frozen=True, slots=True)
class Property(Node):
    """A property; all conjuncts together. Of a refinement only the name is kept here."""

    name: str
    kind: PropertyKind
    conjuncts: tuple[Conjunct, ...]
    doc: str | None


@dataclass(frozen=True, slots=True)
class ActionCall(Node):
    """An action with arguments; None is any value."""

    action: str
    arguments: tuple[Expr | None, ...]


@dataclass(frozen=True, slots=True)
class Do(Node):
    """The action happens."""

    call: ActionCall


@dataclass(frozen=True, slots=True)
class Refuse(Node):
    """The action is refused; with a label, by that guard alone."""

    call: ActionCall
    label: str | None


@dataclass(frozen=True, slots=True)
class Expect(Node):
    """The condition holds now."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class Scenario(Node):
    """A run that must be possible. ``inapplicable`` says why it cannot be run in this model (an element is missing), if so."""

    name: str
    steps: tuple[Do | Refuse | Expect, ...]
    doc: str | None
    inapplicable: str | None = None


@dataclass(frozen=True, slots=True)
class BoundParameter(Node):
    """A parameter with the value it was given, for reports: an int, a bool, an Atom, or a Sort."""

    name: str
    value: Value | Sort
    size: bool


@dataclass(frozen=True, slots=True)
class EventField(Node):
    """A field of an event as a rule sees it."""

    field: str
    binder: Local


@dataclass(frozen=True, slots=True)
class TraceRule(Node):
    """What an event means.

    ``steps`` is a sequence of alternatives; it is empty for an observation, whose condition is ``observe``. ``then`` may use ``Old``.
    """

    label: str
    event: str
    fields: tuple[EventField, ...]
    condition: Expr | None
    steps: tuple[tuple[ActionCall, ...], ...]
    then: Expr | None
    observe: Expr | None


@dataclass(frozen=True, slots=True)
class IgnoredEvent(Node):
    """An event that the model knows and has no use for."""

    event: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ordering(Node):
    """What is known of the order of lines; times in milliseconds; ``commit_before_line`` None means no upper bound."""

    unit: Literal["file", "thread"] = "file"
    commit_before_line: int | None = None
    skew: int = 0


@dataclass(frozen=True, slots=True)
class TracePlan(Node):
    """A trace clause."""

    name: str
    catalogue: str
    rules: tuple[TraceRule, ...]
    ignored: tuple[IgnoredEvent, ...]
    hidden: tuple[str, ...]
    hidden_limit: int
    ordering: Ordering


@dataclass(frozen=True, slots=True)
class Kernel(Node):
    """A whole model, ready for any engine. ``next`` names the actions that are steps of the system; ``actions`` holds all of them."""

    name: str
    model: str | None
    sorts: tuple[Sort, ...]
    parameters: tuple[BoundParameter, ...]
    variables: tuple[Variable, ...]
    init: Init
    actions: tuple[Action, ...]
    next: tuple[str, ...]
    properties: tuple[Property, ...]
    terminal: tuple[Conjunct, ...]
    scenarios: tuple[Scenario, ...]
    accepted_bounds: frozenset[str]
    shows: tuple[Expr, ...]
    traces: tuple[TracePlan, ...]

    def action(self, name: str) -> Action:
        """The action of that name; raises KeyError."""
        for action in self.actions:
            if action.name == name:
                return action
        raise KeyError(name)


def true(span: Span = NOWHERE) -> Const:
    """The constant ``true``."""
    return Const(BOOL, True, span=span)


def atom_domain(sort: Sort) -> TypeDomain:
    """The set of a sort's elements."""
    return TypeDomain(SetType(AtomType(sort)), AtomType(sort))
