"""Whose line it is: at the deepest points of a failed search, every candidate event with everything that stands in its way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.checker.interpreter.actions.disabled_guards import FalseGuard
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.values import Value
from assay.traces.explain.failed_atoms import ConditionPrinter, FailedAtom, Situation, failing
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.result import Blame
from assay.traces.search.dfs import TraceSearch
from assay.traces.search.path import SearchPath
from assay.traces.search.transition_system import TraceModel

STATES_TRIED = 40
"""How many of the states within reach of hidden steps a candidate is judged in."""

INSTANCES_TRIED = 200
"""How many instances of an action with open arguments a candidate is judged with."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """An atom that is false, and the guard, ``then`` or ``observe`` it belongs to."""

    kind: str
    label: str
    atom: FailedAtom


@dataclass(frozen=True, slots=True)
class Suspect:
    """A candidate with the fewest obstacles found, for one action (or observation)."""

    item: OrderedObservation
    action: str
    obstacles: tuple[Obstacle, ...]
    hidden: int
    path: SearchPath

    @property
    def rank(self) -> tuple[int, int, float, int]:
        """The order of suspicion: the fewest obstacles, the fewest hidden steps, the earliest line."""
        return len(self.obstacles), self.hidden, self.item.time, self.item.index

    def mentions(self, value: Value) -> bool:
        """Whether a value of the log is part of an obstacle."""
        return any(stated.value == value for each in self.obstacles for stated in each.atom.log)


def suspects(search: TraceSearch, deepest: Sequence[SearchPath], budget: int) -> list[Suspect]:
    """The candidates at the deepest nodes, the likeliest first; of each item, action and set of obstacles the least assuming.

    They are the items that may come next. Where all of these can, a search ended because an item that is to come later has become
    impossible, and such items are the candidates.
    """
    free = [(path, item) for path in deepest for item in search.frontier.heads(path.node.cursors).items]
    return _blocked_items(search, free, budget) or _blocked_items(
        search, [(path, item) for path in deepest for item in search.outlook().doomed(path.node)], budget
    )


def _blocked_items(
    search: TraceSearch, items: Iterable[tuple[SearchPath, OrderedObservation]], budget: int
) -> list[Suspect]:
    best: dict[tuple[int, str, frozenset[str]], Suspect] = {}
    for path, item in items:
        for depth, state in _states(search, path, budget):
            for action, obstacles in obstacles_of(search.model, item, state):
                if not obstacles:
                    continue
                suspect = Suspect(item, action, tuple(obstacles), depth, path)
                key = (item.index, action, frozenset(f"{each.kind} {each.label}" for each in obstacles))
                known = best.get(key)
                if known is None or suspect.rank < known.rank:
                    best[key] = suspect
    return sorted(best.values(), key=lambda suspect: suspect.rank)


def _states(search: TraceSearch, path: SearchPath, budget: int) -> Iterator[tuple[int, int]]:
    closure = search.outlook().closure(path.node)
    number = 0
    for depth in range(max(0, budget - path.node.hidden) + 1):
        for state in closure.level(depth):
            yield depth, state
            number += 1
            if number >= STATES_TRIED:
                return


def obstacles_of(model: TraceModel, item: OrderedObservation, state: int) -> Iterator[tuple[str, list[Obstacle]]]:
    """For each way in which a rule reads an event: the action, and everything that stands in the way in a state."""
    seen = item.observation
    rule, given = seen.rule, frozenset(seen.bound)
    if not rule.steps:
        if rule.observe is not None:
            here = Situation(model, seen.bound, given, state)
            yield "observe", [Obstacle("observe", rule.label, atom) for atom in failing(rule.observe, here)]
        return
    closest: dict[str, list[Obstacle]] = {}
    for action, obstacles in _along(model, item, rule.steps, state, state):
        if action not in closest or len(obstacles) < len(closest[action]):
            closest[action] = obstacles
    yield from closest.items()


def _along(
    model: TraceModel, item: OrderedObservation, steps: tuple[tuple[k.ActionCall, ...], ...], state: int, start: int
) -> Iterator[tuple[str, list[Obstacle]]]:
    """What stands in the way of the steps from a state, for every choice of alternatives; the action is the blocked or the last one."""
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
                here = Situation(model, seen.bound, frozenset(seen.bound), step.state, start)
                yield call.action, [Obstacle("then", seen.rule.label, atom) for atom in failing(seen.rule.then, here)]


def _blocked(model: TraceModel, call: k.ActionCall, bound: Mapping[str, Value], state: int) -> list[Obstacle]:
    """The obstacles of the instance of a call that has the fewest, and of those of the one that gets farthest."""
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
            case k.Pick(_, domain):
                yield Obstacle("guard", guard.label, FailedAtom(domain, (), (), guard.undefined))
            case k.Let(_, value):
                yield Obstacle("guard", guard.label, FailedAtom(value, (), (), guard.undefined))


def false_guards(model: TraceModel, action: str, arguments: Sequence[Value], state: int) -> dict[int, FalseGuard]:
    """What is false of an instance in a state, by its place in the action; for the way to pick that leaves the fewest, and of those for the one that gets farthest.

    Guards go from who does it to how: what fails late is nearer to what was done than what fails at once.
    """
    ways = _ways_blocked(model, action, arguments, state)
    return min(ways, key=lambda way: (len(way), [-at for at in way]), default={})


def _ways_blocked(
    model: TraceModel, action: str, arguments: Sequence[Value], state: int
) -> Iterator[dict[int, FalseGuard]]:
    """What is false for each way to pick, but for bounds."""
    meaning = model.meanings.actions[action]
    places = {id(node): at for at, node in enumerate(meaning.node.body)}
    for way in meaning.false_guards(model.states[state], tuple(arguments)):
        yield {places[id(each.node)]: each for each in way if not each.is_bound}


def guards_in_the_way(model: TraceModel, action: str, arguments: Sequence[Value], state: int) -> list[Obstacle]:
    """The same in its parts."""
    return [*_guards(model, action, arguments, false_guards(model, action, arguments, state).values(), state)]


def _with_lets(here: Situation, action: str) -> Situation:
    """The situation with the action's ``let`` names bound, as far as they have values without its choices."""
    for each in here.model.meanings.actions[action].node.body:
        if isinstance(each, k.Let):
            try:
                here = here.with_local(each.binder.name, here.value(each.value))
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
