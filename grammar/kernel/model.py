"""The whole model: variables, actions, properties, scenarios, trace plans."""

from __future__ import annotations

from typing import Literal

from assay.grammar.diagnostics.diagnostic import NOWHERE, Span
from assay.grammar.kernel.event_source import DEFAULT_SOURCE, EventSource
from assay.grammar.kernel.expressions import Const, Expr, Local, Node, TypeDomain
from assay.grammar.kernel.statements import Guard, Statement
from assay.grammar.kernel.types import BOOL, AtomType, SetType, Sort, Type
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """A state variable; ``name`` is qualified (``membership.sessions``) unless it is the top module's own."""

    name: str
    type: Type
    ghost: bool


@dataclass(frozen=True, slots=True)
class Parameter(Node):
    """A parameter of an action: ``domain`` is a set (usually a ``TypeDomain``) that reads no state and no other
    parameter."""

    binder: Local
    # Its binders have names that nothing else in the action has. Engines write a bound value and restore nothing.
    domain: Expr


@dataclass(frozen=True, slots=True)
class Fairness(Node):
    """Weak or strong fairness of some instance, or of each instance ``per`` the named parameters."""

    strong: bool
    per: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FairTogether(Node):
    """Fairness of the event that one of several actions happens.

    ``members`` are the actions, each with its parameters for what the fairness is ``per``, in one order for all. The
    event of a combination of values is that one of the actions happens with these.
    """

    strong: bool
    members: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Action(Node):
    """An action. The order of the body is significant: guards protect what follows. Guards, lets and picks precede
    updates."""

    name: str
    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    # Of groups of actions there is `FairTogether`; of a joint action only its own counts, not that of its parts.
    fairness: Fairness | None
    doc: str | None


@dataclass(frozen=True, slots=True)
class Init(Node):
    """Initial states: run ``body`` (lets, picks, assignments; it reads no state), then keep the states that satisfy
    every condition."""

    body: tuple[Statement, ...]
    # Guards, for they have labels. They choose among the states that the body makes.
    conditions: tuple[Guard, ...]


@dataclass(frozen=True, slots=True)
class Conjunct(Node):
    """A labelled conjunct of a property."""

    label: str
    condition: Expr


PropertyKind = Literal["invariant", "lemma", "transition", "reachable", "temporal", "refinement"]


@dataclass(frozen=True, slots=True)
class Property(Node):
    """A property: the conjunction of its conjuncts. The mapping of a refinement is in ``Kernel.refinements``."""

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
    """The abstract actions of an action: one of the ``calls``, whose arguments read the state before the step.

    With ``stutters`` the abstract state may also stay as it is; ``anything`` means some abstract action or none.
    ``parameters`` are the names of the action's arguments.
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
    """A run that must be possible. ``inapplicable`` is the reason, if any, why this model cannot run it: an element is
    missing."""

    name: str
    steps: tuple[Do | Refuse | Expect, ...]
    doc: str | None
    # Kept and not dropped: an answer says of each scenario what became of it.
    inapplicable: str | None = None


@dataclass(frozen=True, slots=True)
class BoundParameter(Node):
    """A parameter with the value it was given, for reports: a Sort, which has no ``type``, or a value of the type."""

    name: str
    value: Value | Sort
    size: bool
    type: Type | None = None


@dataclass(frozen=True, slots=True)
class EventField(Node):
    """A field of an event as a rule sees it."""

    field: str
    binder: Local


GAP = "gap"
"""The name of a rule for any event of a slice that follows updates without a log line."""


@dataclass(frozen=True, slots=True)
class CallTimes(Node):
    """When a call began and ended: the fields of one line that hold both times; None if two lines report it.

    ``returned`` are the names of the rule's fields that are known only when the call has ended. ``fails``: the rule is
    about calls that failed; without such a rule they had no effect.
    """

    times: tuple[str, str] | None
    returned: frozenset[str]
    fails: bool = False


@dataclass(frozen=True, slots=True)
class TraceRule(Node):
    """The meaning of an event.

    ``steps`` is a sequence of alternatives; it is empty for an observation, whose condition is ``observe``. ``then``
    may use ``Old``. ``at`` is the version of the update that the event reports, within its slice. Events with one
    version report one step, and versions order the steps. If ``call`` is set, the step happened at a moment between the
    beginning and the end of a call.
    """

    label: str
    event: str
    fields: tuple[EventField, ...]
    condition: Expr | None
    # The alternatives of one element are different actions for one step; the elements follow each other.
    steps: tuple[tuple[ActionCall, ...], ...]
    then: Expr | None
    observe: Expr | None
    at: Expr | None = None
    call: CallTimes | None = None


@dataclass(frozen=True, slots=True)
class IgnoredEvent(Node):
    """An event that is known and has no meaning for the model."""

    event: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ordering(Node):
    """What is known about the order of lines. Times are in milliseconds; ``commit_before_line`` None means no upper
    bound."""

    unit: Literal["file", "thread", "causal"] = "file"
    commit_before_line: int | None = None
    skew: int = 0


@dataclass(frozen=True, slots=True)
class Slicing(Node):
    """The set parameter by whose elements a log is sliced, the event fields that name an element, and how incarnations
    are distinguished.

    Several incarnations (a topic that was deleted and created again, for example) may have one name. A new one begins
    with the event ``since``, or has another value in the field ``identity``.
    """

    sort: Sort
    fields: tuple[str, ...]
    since: str | None
    identity: str | None = None


@dataclass(frozen=True, slots=True)
class Reported(Node):
    """An action whose occurrences are reported, with their severity, and the versions of the product in which it can
    occur."""

    action: str
    severity: Literal["risk", "known"]
    text: str
    since: str | None = None
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Measure(Node):
    """A condition for which the time that it held is reported. A field has the value that lines of the slice last gave
    under its name."""

    name: str
    text: str
    fields: tuple[EventField, ...]
    condition: Expr


@dataclass(frozen=True, slots=True)
class Noted(Node):
    """An event that is reported if a condition holds when it occurs; ``text`` may name fields in braces."""

    event: str
    fields: tuple[EventField, ...]
    severity: Literal["risk", "known"]
    text: str
    condition: Expr


@dataclass(frozen=True, slots=True)
class TracePlan(Node):
    """A trace clause.

    ``numbered`` are the actions that an update may be if its lines only report the outcome. ``threads`` are groups of
    events whose lines are written by one thread of a process. ``source`` says how lines become events. After an action of ``ends`` the node that is its first
    argument writes nothing until it starts again. A log that ``begins_anywhere`` need not begin in an initial state.
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
    source: EventSource = DEFAULT_SOURCE
    begins_anywhere: bool = False


@dataclass(frozen=True, slots=True)
class Refinement(Node):
    """Every behaviour, seen through a mapping, is one of an abstract module; ``name`` is that of the property.

    ``abstract`` has initial states and actions, without bounds, ghosts and properties. ``values`` are expressions over
    the concrete state, one for each abstract variable. An action without an entry in ``actions`` leaves the abstract
    state unchanged.
    """

    name: str
    abstract: Kernel
    values: tuple[Expr, ...]
    actions: tuple[ActionMapping, ...]

    def mapping(self, action: str) -> ActionMapping:
        """The abstract actions of an action."""
        for each in self.actions:
            if each.action == action:
                return each
        return ActionMapping(action, (), (), stutters=True, anything=False, span=self.span)


@dataclass(frozen=True, slots=True)
class Shown(Node):
    """An expression that is printed with each state of a trace, as written and as it is evaluated."""

    text: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Kernel(Node):
    """A whole model, ready for any engine. ``next`` names the actions of the step relation; ``actions`` holds all
    actions. ``view`` names the variables by which a check tells states apart; all of them where it is empty."""

    name: str
    model: str | None
    sorts: tuple[Sort, ...]
    parameters: tuple[BoundParameter, ...]
    variables: tuple[Variable, ...]
    init: Init
    actions: tuple[Action, ...]
    # Other actions remain in `actions`: joint actions are made of them, and trace clauses may name them.
    next: tuple[str, ...]
    properties: tuple[Property, ...]
    terminal: tuple[Conjunct, ...]
    scenarios: tuple[Scenario, ...]
    accepted_bounds: frozenset[str]
    shows: tuple[Shown, ...]
    traces: tuple[TracePlan, ...]
    refinements: tuple[Refinement, ...] = ()
    fair_together: tuple[FairTogether, ...] = ()
    view: tuple[str, ...] = ()

    def action(self, name: str) -> Action:
        """The action of that name. Raises ``KeyError``."""
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
