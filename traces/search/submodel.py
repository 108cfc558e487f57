"""The part of a kernel that some items need. It is small enough to be encoded for a solver where the whole kernel,
sized for a log, is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from assay.checker.interpreter.expressions.traverse import assignments, variables_of
from assay.checker.report import State
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.transition_system import ANY, TraceModel, Wanted

MOST_INSTANCES = 5_000
"""How many instances of one action are encoded at most."""

ROOM = 3
"""How many elements a collection may gain in the encoding: an insertion costs the cube of the capacity. An execution
that needs more is not found.
"""


class TooManyInstancesError(Exception):
    """An action, by its name, has too many instances to be encoded."""


@dataclass(frozen=True, slots=True)
class Submodel:
    """A part of a kernel, and the positions of its variables in the whole."""

    kernel: k.Kernel
    positions: tuple[int, ...]

    def project(self, state: State) -> State:
        """The projection of a state onto the part."""
        return tuple(state[at] for at in self.positions)


def submodel_for(model: TraceModel, items: Sequence[OrderedObservation], states: Sequence[State]) -> Submodel:
    """The submodel for some items: hidden actions and the actions of the items, with their possible instances and
    variables.

    Collections keep ``ROOM`` more elements than in ``states``. Raises ``TooManyInstancesError``.
    """
    actions = tuple(_actions(model, items))
    used = _used(actions, items)
    variables = [(at, each) for at, each in enumerate(model.kernel.variables) if each.name in used]
    kernel = replace(
        model.kernel,
        variables=tuple(replace(each, type=_resized(each.type, at, states)) for at, each in variables),
        init=replace(model.kernel.init, body=(), conditions=()),  # the solver starts from given states
        actions=actions,
        next=tuple(each.name for each in actions),
        properties=(),
        terminal=(),
        scenarios=(),
        traces=(),
    )
    return Submodel(kernel, tuple(at for at, _ in variables))


def _actions(model: TraceModel, items: Sequence[OrderedObservation]) -> Iterator[k.Action]:
    wanted: dict[str, set[Wanted]] = {}
    for name in model.plan.hidden:
        wanted.setdefault(name, set()).add((ANY,) * len(model.meanings.actions[name].names))
    for action, values in (call for item in items for calls in steps_of(model, item) for call in calls):
        wanted.setdefault(action, set()).add(values)
    for each in model.kernel.actions:
        if each.name in wanted:
            yield _narrowed(model, each, wanted[each.name])


def _used(actions: Sequence[k.Action], items: Sequence[OrderedObservation]) -> set[str]:
    """The variables that are read or written."""
    rules = (item.observation.rule for item in items)
    nodes = (*actions, *(each for rule in rules for each in (rule.then, rule.observe) if each is not None))
    read = {name for node in nodes for name in variables_of(node)}
    return read | {each.variable for action in actions for each in assignments(action.body)}


def _resized(type_: t.Type, at: int, states: Sequence[State]) -> t.Type:
    match type_:
        case t.SetType(capacity=int(most)) | t.MapType(capacity=int(most)) | t.SeqType(capacity=int(most)):
            now = max(len(state[at]) for state in states)  # type: ignore[arg-type]  # a collection, by its type
            return replace(type_, capacity=min(most, now + ROOM))
        case _:
            return type_


def steps_of(model: TraceModel, item: OrderedObservation) -> Iterator[list[tuple[str, Wanted]]]:
    """The steps of an item, each as its alternative calls; an alternative with an argument without a value is left
    out.
    """
    rule, bound = item.observation.rule, item.observation.bound
    for alternatives in rule.steps:
        wanted = [(call.action, model.wanted_or_none(call, bound)) for call in alternatives]
        yield [(action, values) for action, values in wanted if values is not None]


def _narrowed(model: TraceModel, action: k.Action, wanted: set[Wanted]) -> k.Action:
    """The action with its parameters restricted to the values that some call may have."""
    if not all(model.is_listable(action.name, each) for each in wanted):
        raise TooManyInstancesError(action.name)
    choices = [model.choices_of(action.name, each) for each in wanted]
    # Parameter by parameter: more combinations than the calls have. What a line states is asked of the line itself.
    values = [frozenset(value for each in choices for value in each[at]) for at in range(len(action.parameters))]
    if prod(map(len, values)) > MOST_INSTANCES:
        raise TooManyInstancesError(action.name)
    parameters = zip(action.parameters, values, strict=True)
    return replace(
        action,
        parameters=tuple(replace(each, domain=k.Const(t.SetType(each.binder.type), own)) for each, own in parameters),
    )
