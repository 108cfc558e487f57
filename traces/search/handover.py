"""Past the caps of the search: the next items are asked of a solver, all orders and all hidden steps between them at once.

What the solver answers is followed step by step by the model of the search, so that a path is one whoever found it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from math import prod

from assay.checker.symbolic.explain_trace import Call, Contradiction, Explained, Observation, SymbolicTrace
from assay.checker.symbolic.incremental import OutOfBudgetError
from assay.checker.verdict import EnginesDisagreeError, Trace
from assay.grammar import kernel as k
from assay.grammar import kernel_types as t
from assay.grammar.diagnostics import SpecError
from assay.traces.order import Item, Order
from assay.traces.search.explore import Search
from assay.traces.search.frontier import Cursors, advanced
from assay.traces.search.model import ANY, Model, Taken, Wanted
from assay.traces.search.path import Move, Node, Path

MOST_ITEMS = 32
"""How many items the solver is asked about at once."""

MOST_INSTANCES = 5_000
"""How many instances of one action are encoded at most."""

MOST_GATES = 1_500_000
"""How many gates all steps together may have."""

EFFORT = 300
"""How often the solver may be asked another question, or go on for twenty thousand conflicts. No clock, so that answers are reproducible."""

SPENT = "the solver came to no answer"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Items that no execution explains together, each of them needed for that; ``unless`` names what was left out of account, if anything was."""

    items: tuple[Item, ...]
    unless: str | None


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The solver gives no answer, and why."""

    reason: str


class _TooManyError(Exception):
    """An action has too many instances to be encoded."""


def hand_over(
    search: Search, starts: Sequence[Path], hidden: int, items: Sequence[Item]
) -> Path | Conflict | Unanswered:
    """A way on from one of the starts, which have read the same, with so many hidden steps between two pinned items, or why there is none.

    ``items`` are those of :func:`upcoming`; a conflict is one of all executions, unless it says what else may be.
    """
    model, node = search.model, starts[0].node
    try:
        kernel = _restricted(model, items)
        spent = count()
        states = [model.states[path.node.state] for path in starts]
        trace = SymbolicTrace(
            kernel, states, frozenset(model.plan.hidden), hidden, lambda: next(spent) >= EFFORT, node.hidden
        )
    except SpecError as error:
        return Unanswered(error.diagnostics[0].message)
    except _TooManyError as error:
        return Unanswered(f"`{error}` has too many instances")
    try:
        if len(items) * (hidden + 1) * trace.gates > MOST_GATES:
            return Unanswered("there are too many steps to be asked about at once")
        trace.observe_some([_observation(model, each) for each in items], _order_of(search.frontier.order, items))
        answer = trace.answer()
    except SpecError as error:
        return Unanswered(error.diagnostics[0].message)
    except OutOfBudgetError:
        return Unanswered(SPENT)
    finally:
        trace.close()
    if isinstance(answer, Explained):
        return _followed(search, starts, items, answer)
    return _conflict(search.frontier.order, node.cursors, items, answer, trace.capacities)


def upcoming(search: Search, cursors: Cursors) -> list[Item]:
    """The items that may come next, the earliest first, in an order that is allowed.

    Of what the solver is asked about at most, as many as nothing else can come between; where there is no such point, all.
    """
    order, found, whole = search.frontier.order, list[Item](), 0
    while len(found) < MOST_ITEMS and (heads := search.frontier.heads(cursors).items):
        found.append(heads[0])
        cursors = advanced(cursors, heads[0])
        if _is_closed(order, cursors, found):
            whole = len(found)
    return found[: whole or len(found)]


def _is_closed(order: Order, cursors: Cursors, items: Sequence[Item]) -> bool:
    """Whether all that is left, from the cursors on, comes after these items."""
    last = {item.stream: item for item in items}.values()
    left = [s.items[n] for s, n in zip(order.streams, cursors, strict=True) if n < len(s.items)]
    return all(_precedes(order, x, y) for x in last for y in left)


def _precedes(order: Order, x: Item, y: Item) -> bool:
    if x.stream == y.stream:
        return x.position < y.position
    return x.stream in order.streams[y.stream].after or order.precedes(x, y)


def _order_of(order: Order, items: Sequence[Item]) -> list[list[int]]:
    return [[at for at, other in enumerate(items) if _precedes(order, other, item)] for item in items]


# --------------------------------------------------------------------------------------------------------- questions


def _restricted(model: Model, items: Sequence[Item]) -> k.Kernel:
    """The kernel with the actions that are hidden, or that the items name, and of these with the instances that they may be.

    Raises ``_TooManyError`` if they are too many.
    """
    wanted: dict[str, set[Wanted]] = {}
    for name in model.plan.hidden:
        wanted.setdefault(name, set()).add((ANY,) * len(model.meanings.actions[name].names))
    for action, values in (call for item in items for calls in _steps(model, item) for call in calls):
        wanted.setdefault(action, set()).add(values)
    actions = tuple(_narrowed(model, each, wanted[each.name]) for each in model.kernel.actions if each.name in wanted)
    names = tuple(each.name for each in actions)
    return replace(model.kernel, actions=actions, next=names, properties=(), terminal=(), scenarios=(), traces=())


def _steps(model: Model, item: Item) -> Iterator[list[tuple[str, Wanted]]]:
    """The steps that an item is, each as the calls that it may be; an alternative of which an argument has no value is none."""
    rule, bound = item.observation.rule, item.observation.bound
    for alternatives in rule.steps:
        wanted = [(call.action, model.wanted_or_none(call, bound)) for call in alternatives]
        yield [(action, values) for action, values in wanted if values is not None]


def _narrowed(model: Model, action: k.Action, wanted: set[Wanted]) -> k.Action:
    """The action with only those values of its parameters that are wanted in some call."""
    if not all(model.is_listable(action.name, each) for each in wanted):
        raise _TooManyError(action.name)
    choices = [model.choices_of(action.name, each) for each in wanted]
    values = [frozenset(value for each in choices for value in each[at]) for at in range(len(action.parameters))]
    if prod(map(len, values)) > MOST_INSTANCES:
        raise _TooManyError(action.name)
    parameters = zip(action.parameters, values, strict=True)
    return replace(
        action,
        parameters=tuple(replace(each, domain=k.Const(t.SetType(each.binder.type), own)) for each, own in parameters),
    )


def _observation(model: Model, item: Item) -> Observation:
    seen = item.observation
    steps = tuple(
        tuple(
            Call(action, tuple((at, value) for at, value in enumerate(values) if value is not ANY))
            for action, values in calls
        )
        for calls in _steps(model, item)
    )
    condition = seen.rule.then if seen.rule.steps else seen.rule.observe
    return Observation(str(item.index), steps, () if condition is None else (_about(condition, item),))


def _about(condition: k.Expr, item: Item) -> k.Expr:
    """A condition of a rule with the values that the item states."""
    for field in item.observation.rule.fields:
        value = k.Const(field.binder.type, item.observation.bound[field.binder.name])
        condition = k.LetIn(condition.type, field.binder, value, condition)
    return condition


# ----------------------------------------------------------------------------------------------------------- answers


def _conflict(
    order: Order, cursors: Cursors, items: Sequence[Item], answer: Contradiction, capacities: Sequence[str]
) -> Conflict:
    onward = cursors
    for item in items:
        onward = advanced(onward, item)
    unless = f"unless {', '.join(capacities)} ran out" if capacities else None
    if not _is_closed(order, onward, items):
        unless = "unless something comes between that was not looked at"
    return Conflict(tuple(item for item in items if str(item.index) in answer.labels), unless)


def _followed(search: Search, starts: Sequence[Path], items: Sequence[Item], found: Explained) -> Path:
    """The path that an execution is."""
    model, at = search.model, 0
    number = model.number(found.trace.steps[0].state)
    path = next(each for each in starts if each.node.state == number)
    for reading in found.readings:
        item = items[reading.observation]
        hidden = _hidden(model, path.node.state, found.trace, at, reading.before)
        at = reading.after
        state = hidden[-1].state if hidden else path.node.state
        after = model.number(found.trace.steps[at].state)
        taken = next((steps for end, steps in model.consume(item, state) if end == after), None)
        if taken is None:
            raise EnginesDisagreeError(
                f"the gates explain {item.observation.event.record.place}, and the model does not"
            )
        since = 0 if item.observation.pinned else path.node.hidden + len(hidden)
        path = path.then(Move(hidden, item, taken), Node(advanced(path.node.cursors, item), after, since))
    return path


def _hidden(model: Model, state: int, trace: Trace, first: int, last: int) -> tuple[Taken, ...]:
    """The hidden steps of a part of an execution; those that change nothing are none."""
    taken: list[Taken] = []
    for step in trace.steps[first + 1 : last + 1]:
        after = model.number(step.state)
        if after != state:
            taken.append(next(each for each in model.hidden(state) if each.state == after))
            state = after
    return tuple(taken)
