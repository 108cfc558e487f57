"""The whole model: variables, actions, properties, scenarios, trace plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from assay.grammar.diagnostics.diagnostic import NOWHERE, Span
from assay.grammar.kernel.expressions import Const, Expr, Local, Node, TypeDomain
from assay.grammar.kernel.statements import Guard, Statement
from assay.grammar.kernel.types import BOOL, AtomType, SetType, Sort, Type
from assay.grammar.values import Value


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
    """A property; all conjuncts together. What a refinement maps stands in ``Kernel.refinements``."""

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
class ActionMapping(Node):
    """What an action is in an abstract module: one of the ``calls``, whose arguments read the state before the step; or nothing
    (``stutters``), or anything at all (``anything``: some abstract action or nothing). ``parameters`` stand for the action's arguments.
    """

    action: str
    parameters: tuple[Local, ...]
    calls: tuple[ActionCall, ...]
    stutters: bool
    anything: bool


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


GAP = "gap"
"""The name under which a rule stands for any event of a slice that comes after writes of which no line tells."""


@dataclass(frozen=True, slots=True)
class TraceRule(Node):
    """What an event means.

    ``steps`` is a sequence of alternatives; it is empty for an observation, whose condition is ``observe``. ``then`` may use ``Old``.
    ``at`` numbers what the event reports within its slice: events with one number report one step, and it is the number's place in the order.
    """

    label: str
    event: str
    fields: tuple[EventField, ...]
    condition: Expr | None
    steps: tuple[tuple[ActionCall, ...], ...]
    then: Expr | None
    observe: Expr | None
    at: Expr | None = None


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
class Slicing(Node):
    """The set parameter that a log is sliced by, the event fields that name an element, and what tells its lives under one name apart:
    the event with which it begins anew, or the field that identifies each of them."""

    sort: Sort
    fields: tuple[str, ...]
    since: str | None
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class Reported(Node):
    """An action whose occurrence is worth saying, how grave it is, and in which versions of the product it can occur."""

    action: str
    severity: Literal["risk", "known"]
    text: str
    since: str | None = None
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Measure(Node):
    """A condition of which it is told for how long it held. A field has the value that lines of the slice stated last under its name."""

    name: str
    text: str
    fields: tuple[EventField, ...]
    condition: Expr


@dataclass(frozen=True, slots=True)
class Noted(Node):
    """An event that is worth saying where a condition holds when it comes; ``text`` may name fields in braces."""

    event: str
    fields: tuple[EventField, ...]
    severity: Literal["risk", "known"]
    text: str
    condition: Expr


@dataclass(frozen=True, slots=True)
class TracePlan(Node):
    """A trace clause.

    ``numbered`` are the actions that a number may stand for whose lines tell of the outcome alone; ``threads`` are groups of events whose lines
    one thread of a process writes. After an action of ``ends`` the node that its first argument names writes nothing until it starts again.
    """

    name: str
    catalogue: str
    rules: tuple[TraceRule, ...]
    ignored: tuple[IgnoredEvent, ...]
    hidden: tuple[str, ...]
    hidden_limit: int
    ordering: Ordering
    slicing: Slicing | None = None
    numbered: tuple[str, ...] = ()
    threads: tuple[frozenset[str], ...] = ()
    reported: tuple[Reported, ...] = ()
    ends: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()
    noted: tuple[Noted, ...] = ()


@dataclass(frozen=True, slots=True)
class Refinement(Node):
    """That every behaviour, seen through a mapping, is one of an abstract module; ``name`` is that of the property.

    ``abstract`` has initial states and actions without bounds and without ghosts, and no properties. ``values`` are expressions over the
    state of the kernel itself, one for each abstract variable. An action without an entry in ``actions`` leaves the abstract state as it is.
    """

    name: str
    abstract: Kernel
    values: tuple[Expr, ...]
    actions: tuple[ActionMapping, ...]

    def mapping(self, action: str) -> ActionMapping:
        """What an action is in the abstract module."""
        for each in self.actions:
            if each.action == action:
                return each
        return ActionMapping(action, (), (), stutters=True, anything=False, span=self.span)


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
    refinements: tuple[Refinement, ...] = ()

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
