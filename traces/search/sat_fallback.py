"""SAT fallback: when the search hits a limit, a solver is asked about the next items, in all orders, with all hidden
steps.

The solver's answer is replayed by the model of the search, so a path is a path of that model whoever found it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count, pairwise

from assay.checker.report import EnginesDisagreeError, State
from assay.checker.symbolic.bounded.explain_trace import (
    Contradiction,
    Explained,
    PartialCall,
    SymbolicTrace,
    TraceObservation,
)
from assay.checker.symbolic.sat.incremental import OutOfBudgetError
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import SpecError
from assay.grammar.lazy_dataclass import dataclass
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.search.dfs import Limits, TraceSearch
from assay.traces.search.next_items import Cursors, TraceHeads, advanced
from assay.traces.search.path import Move, SearchNode, SearchPath
from assay.traces.search.submodel import Submodel, TooManyInstancesError, steps_of, submodel_for
from assay.traces.search.transition_system import ANY, Taken, TraceModel

MOST_ITEMS = 32
"""How many items the solver is asked about at once."""

MOST_GATES = 3_000_000
"""How many gates the unrolled steps may have before simplification. The solver is asked about as many items as this
allows.
"""

EFFORT = 300
"""How often the solver may be asked again, or continue for twenty thousand conflicts. Not a clock, so that answers are
reproducible.
"""

SPENT = "the solver came to no answer"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Items that no execution explains together, each needed for the contradiction, out of those that the solver was
    ``asked`` about.

    ``unless`` names what was left out of account; None if nothing was.
    """

    items: tuple[OrderedObservation, ...]
    asked: tuple[OrderedObservation, ...]
    unless: str | None


@dataclass(frozen=True, slots=True)
class Unanswered:
    """The solver gives no answer, and why."""

    reason: str


def solve_with_sat(
    search: TraceSearch, starts: Sequence[SearchPath], limits: Limits, items: Sequence[OrderedObservation]
) -> SearchPath | Conflict | Unanswered:
    """A path that continues one of the starts through the items, or why there is none.

    All starts have read the same items. ``limits`` say how many hidden steps may come between two action observations.
    ``items`` come from :func:`next_items`; only the first may be asked about. A conflict excludes all executions, except
    for its ``unless``.
    """
    model, node, hidden = search.model, starts[0].node, limits.hidden
    try:
        states = [model.states[path.node.state] for path in starts]
        submodel = submodel_for(model, items, states)
        trace = _symbolic(submodel, states, frozenset(model.plan.hidden), limits, node.hidden)
    except SpecError as error:
        return _not_asked(error.diagnostics[0].message)
    except TooManyInstancesError as error:
        return _not_asked(f"`{error}` has too many instances")
    try:
        # Each item unrolls as many steps as may be hidden before it, and its own.
        items = items[: MOST_GATES // ((hidden + 1) * trace.gates)]
        if not items:
            return _not_asked("a step of the model has too many gates")
        trace.observe_some([_observation(model, each) for each in items], _order_of(search.frontier, items))
        answer = trace.answer()
    except SpecError as error:
        return _not_asked(error.diagnostics[0].message)
    except OutOfBudgetError:
        return Unanswered(SPENT)
    finally:
        trace.close()
    if isinstance(answer, Explained):
        return _followed(search, submodel, starts, items, answer)
    return _conflict(search.frontier, node.cursors, items, answer, trace.capacities)


def _symbolic(
    submodel: Submodel, states: Sequence[State], actions: frozenset[str], limits: Limits, before: int
) -> SymbolicTrace:
    """The trace as clauses, from any of the states. Its solver gives up after a fixed number of steps, not of seconds,
    so that an answer does not depend on the machine.
    """
    spent, most = count(), EFFORT
    starts = [submodel.project(each) for each in states]
    return SymbolicTrace(submodel.kernel, starts, actions, limits.hidden, lambda: next(spent) >= most, before)


def next_items(search: TraceSearch, cursors: Cursors) -> list[OrderedObservation]:
    """The items to ask the solver about, in an allowed order, the earliest first.

    They are at most ``MOST_ITEMS``, cut back to the last point that nothing else can come between; all if there is no
    such point.
    """
    found, whole = list[OrderedObservation](), 0
    while len(found) < MOST_ITEMS and (heads := search.frontier.heads(cursors).items):
        found.append(heads[0])
        cursors = advanced(cursors, heads[0])
        if _is_closed(search.frontier, cursors, found):
            whole = len(found)
    return found[: whole or len(found)]


def _is_closed(frontier: TraceHeads, cursors: Cursors, items: Sequence[OrderedObservation]) -> bool:
    """Whether every unread item certainly comes after these items."""
    # Within a stream the order is certain, so the last item of each stream speaks for those before it.
    last = {item.stream: item for item in items}.values()
    left = frontier.next_in_streams(cursors)
    return all(frontier.comes_before(x, y) for x in last for y in left)


def _order_of(frontier: TraceHeads, items: Sequence[OrderedObservation]) -> list[list[int]]:
    return [[at for at, other in enumerate(items) if frontier.comes_before(other, item)] for item in items]


def _observation(model: TraceModel, item: OrderedObservation) -> TraceObservation:
    seen = item.observation
    steps = tuple(
        tuple(
            PartialCall(action, tuple((at, value) for at, value in enumerate(values) if value is not ANY))
            for action, values in calls
        )
        for calls in steps_of(model, item)
    )
    condition = seen.rule.then if seen.rule.steps else seen.rule.observe
    return TraceObservation(str(item.index), steps, () if condition is None else (_about(condition, item),))


def _about(condition: k.Expr, item: OrderedObservation) -> k.Expr:
    """A rule's condition with the values of the item bound to the rule's binders."""
    for field in item.observation.rule.fields:
        value = k.Const(field.binder.type, item.observation.bound[field.binder.name])
        condition = k.LetIn(condition.type, field.binder, value, condition)
    return condition


# ----------------------------------------------------------------------------------------------------------- answers


def _not_asked(why: str) -> Unanswered:
    """The answer where the model is too large to encode: the log is not to blame for that."""
    return Unanswered(f"the model is too large for a solver to go on from there ({why})")


def _conflict(
    frontier: TraceHeads,
    cursors: Cursors,
    items: Sequence[OrderedObservation],
    answer: Contradiction,
    capacities: Sequence[str],
) -> Conflict:
    onward = cursors
    for item in items:
        onward = advanced(onward, item)
    unless = f"unless {', '.join(capacities)} ran out" if capacities else None
    if not _is_closed(frontier, onward, items):
        # An unread item of another stream may be read among these, and its action may resolve the contradiction.
        unless = "unless something comes between that was not looked at"
    return Conflict(tuple(item for item in items if str(item.index) in answer.labels), tuple(items), unless)


def _followed(
    search: TraceSearch,
    submodel: Submodel,
    starts: Sequence[SearchPath],
    items: Sequence[OrderedObservation],
    found: Explained,
) -> SearchPath:
    """The path that corresponds to an execution of the submodel."""
    seen = [step.state for step in found.trace.steps]
    path = next(each for each in starts if submodel.project(search.model.states[each.node.state]) == seen[0])
    at = 0
    for reading in found.readings:
        move, after = _move(
            search.model,
            submodel,
            path.node.state,
            items[reading.observation],
            seen[at : reading.before + 1],
            seen[reading.after],
        )
        at, item = reading.after, items[reading.observation]
        # As in `dfs`: only a line that names an action renews the budget.
        since = 0 if item.observation.names_action else path.node.hidden + len(move.hidden)
        path = path.then(move, SearchNode(advanced(path.node.cursors, item), after, since))
    return path


def _move(
    model: TraceModel,
    submodel: Submodel,
    state: int,
    item: OrderedObservation,
    hidden_states: Sequence[State],
    last: State,
) -> tuple[Move, int]:
    """Hidden steps through these states of the submodel, and the item that leads to the last; stuttering steps are
    dropped.
    """
    hidden: list[Taken] = []
    for before, after in pairwise(hidden_states):
        if after != before:
            # The first will do: the submodel has all that hidden actions write, so equal projections are one state.
            hidden += [each for each in model.hidden(state) if submodel.project(model.states[each.state]) == after][:1]
            state = hidden[-1].state if hidden else state
    if submodel.project(model.states[state]) == hidden_states[-1]:
        for end, taken in model.consume(item, state):
            if submodel.project(model.states[end]) == last:
                return Move(tuple(hidden), item, taken), end
    # Not an answer: two engines disagree about one model, and a guess here would hide a bug.
    raise EnginesDisagreeError(f"the gates explain {item.observation.event.record.place}, and the model does not")
