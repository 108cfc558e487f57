"""Ranks the suspects of a failed search: every item that might come next at the deepest nodes, with what makes it
impossible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from assay.checker.interpreter.actions.disabled_guards import FalseGuard
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.explain.failed_atoms import ConditionPrinter, FailedAtom, Situation, failing
from assay.traces.observe.binding_tally import Misfit
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.result import Blame, FailedPart, LogViolation, Repair
from assay.traces.search.path import SearchPath
from assay.traces.search.transition_system import TraceModel

if TYPE_CHECKING:
    from assay.traces.search.dfs import TraceSearch

STATES_TRIED = 40
"""How many of the states that hidden steps reach a candidate is tried in."""

INSTANCES_TRIED = 200
"""How many instances of an action with open arguments are tried."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A false atom, and the guard, ``then`` or ``observe`` that contains it."""

    kind: str
    label: str
    atom: FailedAtom


@dataclass(frozen=True, slots=True)
class Suspect:
    """A candidate with its fewest obstacles, for one action or observation."""

    item: OrderedObservation
    action: str
    obstacles: tuple[Obstacle, ...]
    hidden: int
    path: SearchPath

    @property
    def rank(self) -> tuple[int, int, float, int]:
        """The order of suspicion: fewest obstacles, fewest hidden steps, earliest line."""
        return len(self.obstacles), self.hidden, self.item.time, self.item.index

    def mentions(self, value: Value) -> bool:
        """Whether a value of the log is part of an obstacle."""
        return any(logged.value == value for each in self.obstacles for logged in each.atom.log)


def suspects(search: TraceSearch, deepest: Sequence[SearchPath], budget: int) -> list[Suspect]:
    """The suspects at the deepest nodes, likeliest first; for each item, action and set of obstacles the one with
    fewest assumptions.

    They are the items that may come next. If all of these are possible, the search ended at a dead end: an item further
    on became impossible, and such items are the suspects.
    """
    free = [(path, item) for path in deepest for item in search.frontier.heads(path.node.cursors).items]
    # Heads first: a line that cannot come next is nearer to the mistake than one that a dead end rules out.
    return _blocked_items(search, free, budget) or _blocked_items(
        search, [(path, item) for path in deepest for item in search.dead_ends().blocked_items(path.node)], budget
    )


def _blocked_items(
    search: TraceSearch, items: Iterable[tuple[SearchPath, OrderedObservation]], budget: int
) -> list[Suspect]:
    best: dict[tuple[int, str, frozenset[str]], Suspect] = {}
    for path, item in items:
        for depth, state in _states(search, path, budget):
            for action, obstacles in obstacles_of(search.model, item, state):
                # Such an item could come next, so that it is no suspect.
                if not obstacles:
                    continue
                suspect = Suspect(item, action, tuple(obstacles), depth, path)
                # Without the values of the atoms: other states make the same guards false by other values.
                key = (item.index, action, frozenset(f"{each.kind} {each.label}" for each in obstacles))
                known = best.get(key)
                if known is None or suspect.rank < known.rank:
                    best[key] = suspect
    return sorted(best.values(), key=lambda suspect: suspect.rank)


def _states(search: TraceSearch, path: SearchPath, budget: int) -> Iterator[tuple[int, int]]:
    closure = search.dead_ends().closure(path.node)
    number = 0
    for depth in range(max(0, budget - path.node.hidden) + 1):
        for state in closure.level(depth):
            yield depth, state
            number += 1
            # Levels come by their number of hidden steps, so what is cut off are the states that assume the most.
            if number >= STATES_TRIED:
                return


def obstacles_of(model: TraceModel, item: OrderedObservation, state: int) -> Iterator[tuple[str, list[Obstacle]]]:
    """For each way in which a rule reads an event: the action, and its obstacles in a state."""
    seen = item.observation
    rule, given = seen.rule, frozenset(seen.bound)
    if not rule.steps:
        if rule.observe is not None:
            here = Situation(model, seen.bound, given, state)
            yield "observe", [Obstacle("observe", rule.label, atom) for atom in failing(rule.observe, here)]
        return
    # One explanation for each action: a reader wants the nearest, not each combination of arguments.
    closest: dict[str, list[Obstacle]] = {}
    for action, obstacles in _along(model, item, rule.steps, state, state):
        if action not in closest or len(obstacles) < len(closest[action]):
            closest[action] = obstacles
    yield from closest.items()


def _along(
    model: TraceModel, item: OrderedObservation, steps: tuple[tuple[k.ActionCall, ...], ...], state: int, start: int
) -> Iterator[tuple[str, list[Obstacle]]]:
    """The obstacles of a sequence of steps from a state, for every choice of alternatives, with the blocked or else the
    last action.
    """
    seen = item.observation
    for call in steps[0]:
        taken = model.taken(call, seen.bound, state)
        if not taken:
            yield call.action, _blocked(model, call, seen.bound, state)
        for step in taken:
            if len(steps) > 1:
                yield from _along(model, item, steps[1:], step.state, start)
            elif seen.rule.then is None:
                yield call.action, []
            else:
                # In a `then`, `old` means the state before the whole line, not before the last of its steps.
                here = Situation(model, seen.bound, frozenset(seen.bound), step.state, start)
                yield call.action, [Obstacle("then", seen.rule.label, atom) for atom in failing(seen.rule.then, here)]


def _blocked(model: TraceModel, call: k.ActionCall, bound: Mapping[str, Value], state: int) -> list[Obstacle]:
    """The obstacles of the instance of a call that has the fewest; of equal ones that of the instance that gets
    farthest.
    """
    action = call.action
    wanted = model.wanted_or_none(call, bound)
    instances = [] if wanted is None else model.instances(action, wanted)
    ways = [
        ([*_guards(model, action, arguments, false.values(), state)], [-at for at in false])
        for arguments in instances[:INSTANCES_TRIED]
        for false in _ways_blocked(model, action, arguments, state)
    ]
    if not ways:
        return [_no_instance(model, action)]
    # No false guard is one obstacle all the same: the result of the instance does not fit (`_no_result`).
    obstacles, _ = min(ways, key=lambda way: (len(way[0]) or 1, way[1]))
    return obstacles or [_no_result(model, action)]


def _guards(
    model: TraceModel, action: str, arguments: Sequence[Value], false: Iterable[FalseGuard], state: int
) -> Iterator[Obstacle]:
    names = model.meanings.actions[action].names
    here = _with_lets(Situation(model, dict(zip(names, arguments, strict=True)), frozenset(names), state), action)
    for guard in false:
        match guard.node:
            case k.Guard(_, label, condition):
                for atom in failing(condition, here) or [FailedAtom(condition, (), (), guard.undefined)]:
                    yield Obstacle("guard", label, atom)
            # An empty choice disables an action as a guard does, and is shown as one.
            case k.Pick(_, domain):
                yield Obstacle("guard", guard.label, FailedAtom(domain, (), (), guard.undefined))
            case k.Let(_, value):
                yield Obstacle("guard", guard.label, FailedAtom(value, (), (), guard.undefined))


def false_guards(model: TraceModel, action: str, arguments: Sequence[Value], state: int) -> dict[int, FalseGuard]:
    """The false guards of an instance in a state, by their place in the action.

    They are for the picks with the fewest false guards, and of these for the picks that get farthest. Guards go from
    the actor to the details: an instance that fails late is nearer to what was done than one that fails at once.
    """
    ways = _ways_blocked(model, action, arguments, state)
    return min(ways, key=lambda way: (len(way), [-at for at in way]), default={})


def _ways_blocked(
    model: TraceModel, action: str, arguments: Sequence[Value], state: int
) -> Iterator[dict[int, FalseGuard]]:
    """The false guards for each choice of picks, without bounds."""
    meaning = model.meanings.actions[action]
    # By identity: a body may hold two equal guards, and their places differ.
    places = IdentityMemo((node, at) for at, node in enumerate(meaning.node.body))
    for way in meaning.false_guards(model.states[state], tuple(arguments)):
        yield {places[each.node]: each for each in way if not each.is_bound}


def guards_in_the_way(model: TraceModel, action: str, arguments: Sequence[Value], state: int) -> list[Obstacle]:
    """The false guards, split into their false atoms."""
    return [*_guards(model, action, arguments, false_guards(model, action, arguments, state).values(), state)]


def _with_lets(here: Situation, action: str) -> Situation:
    """The situation with the action's ``let`` names, as far as they have values without picks."""
    for each in here.model.meanings.actions[action].node.body:
        if isinstance(each, k.Let):
            try:
                here = here.with_local(each.binder.name, here.value(each.value))
            # A `let` that reads a pick has no value here, and guards that need it are shown without it.
            except Undefined:
                continue
    return here


def _no_result(model: TraceModel, action: str) -> Obstacle:
    node = model.meanings.actions[action].node
    return Obstacle(
        "result", action, FailedAtom(k.true(node.span), (), (), "its result is out of range or over a capacity")
    )


def _no_instance(model: TraceModel, action: str) -> Obstacle:
    node = model.meanings.actions[action].node
    return Obstacle(
        "arguments", action, FailedAtom(k.true(node.span), (), (), "the log's values are none of its parameters'")
    )


def as_blame(suspect: Suspect, writer: ConditionPrinter) -> Blame:
    """A suspect in words."""
    parts = tuple(writer.part(each.kind, each.label, each.atom) for each in suspect.obstacles)
    return Blame(suspect.item.observation.event, suspect.action, parts)


def violation_of(misfit: Misfit) -> LogViolation:
    """The violation for an event with a value that the model does not have."""
    part = FailedPart("type", misfit.rule.label, misfit.text, misfit.rule.span, ((misfit.field, misfit.text),), ())
    action = misfit.rule.steps[0][0].action if misfit.rule.steps else "observe"
    repair = Repair("drop", "the line is left out", misfit.event)
    return LogViolation(misfit.event, action, (Blame(misfit.event, action, (part,)),), repair)
