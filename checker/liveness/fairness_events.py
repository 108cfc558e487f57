"""The events of a model: those that its fairness names, the parts that they divide instances into, a kernel of parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from assay.checker.interpreter.compiled_model import Model
from assay.checker.liveness.event_values import EventPart, Fair, FairnessEvent, FairnessGroup, Happening
from assay.grammar import kernel as k
from assay.grammar.values import Value


def fairness(model: Model) -> tuple[Fair, ...]:
    """The fairness conditions of a model's steps, one for every combination of values of their ``per`` parameters."""
    alone = [each for action in model.steps for each in _of_action(model, action.node)]
    return (*alone, *(each for group in model.kernel.fair_together for each in _of_group(model, group)))


def _of_group(model: Model, group: k.FairTogether) -> Iterator[Fair]:
    """The conditions of a group: for each combination of values, one of the actions that can have them happens."""
    together: dict[tuple[Value, ...], list[FairnessEvent]] = {}
    for name, parameters in group.members:
        for event in events_per(model, model.kernel.action(name), parameters):
            # Members are grouped by the values alone: their parameters may have different names and positions.
            together.setdefault(tuple(value for _, value in event.fixed), []).append(event)
    for events in together.values():
        yield Fair(FairnessGroup(tuple(events)), group.strong)


def _of_action(model: Model, action: k.Action) -> Iterator[Fair]:
    if action.fairness is not None:
        for event in events_per(model, action, action.fairness.per):
            yield Fair(event, action.fairness.strong)


def events_per(model: Model, action: k.Action, names: Iterable[str]) -> Iterator[FairnessEvent]:
    """The events of an action for each combination of values of some of its parameters."""
    meaning = model.actions[action.name]
    positions = [meaning.names.index(name) for name in names]
    domains = meaning.domains()
    for values in product(*(domains[at] for at in positions)):
        yield FairnessEvent(action.name, tuple(zip(positions, values, strict=True)))


def parts(model: Model, happenings: Sequence[Happening]) -> tuple[EventPart, ...]:
    """All instances of steps, and of other actions that events mention, in as few parts as the events allow."""
    events = [event for each in happenings for event in each.members]
    steps = [action.node.name for action in model.steps]
    # `occurs(a)` may speak of an action outside of `next`: its instances only say what a step of the system is, too.
    others = dict.fromkeys(event.action for event in events if event.action not in steps)
    return tuple(
        EventPart(each, name in steps) for name in (*steps, *others) for each in _told_apart(model, name, events)
    )


def _told_apart(model: Model, name: str, events: Sequence[FairnessEvent]) -> Iterator[FairnessEvent]:
    action = model.actions[name]
    fixed_places = sorted({at for event in events if event.action == name for at, _ in event.fixed})
    return events_per(model, action.node, [action.names[at] for at in fixed_places])


def split(kernel: k.Kernel, parts_: Sequence[EventPart]) -> k.Kernel:
    """The kernel with one action for each part, in the order of the parts, and without properties and traces."""
    actions = tuple(_fixed(kernel.action(part.event.action), part.event, at) for at, part in enumerate(parts_))
    names = tuple(action.name for action in actions)
    return replace(
        kernel, actions=actions, next=names, properties=(), terminal=(), scenarios=(), traces=(), fair_together=()
    )


def _fixed(action: k.Action, event: FairnessEvent, number: int) -> k.Action:
    """The action with some arguments given."""
    fixed = dict(event.fixed)
    given = tuple(
        k.Let(each.binder, k.Const(each.binder.type, fixed[at], span=each.span), span=each.span)
        for at, each in enumerate(action.parameters)
        if at in fixed
    )
    free = tuple(each for at, each in enumerate(action.parameters) if at not in fixed)
    return replace(action, name=f"{action.name}#{number}", parameters=free, body=(*given, *action.body), fairness=None)
