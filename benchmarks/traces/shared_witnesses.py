"""The same as ``witnesses`` for guards of what all partitions share: sessions, registrations, who is controller."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache

from assay.checker.interpreter.expressions.traverse import variables_of
from assay.grammar.identity_memo import IdentityMemo, IdentitySet
from assay.traces.coverage import guard_labels
from assay.traces.event import Event
from assay.traces.incremental.incremental_recheck import Change
from assay.traces.observe.binding import EventBinder
from assay.traces.properties.execution import PropertyChecker, execution
from assay.traces.search import driver
from assay.traces.search.dfs import Limits, TraceSearch
from assay.traces.search.driver import Accepted
from assay.traces.search.next_items import TraceHeads
from assay.traces.search.path import SearchPath
from assay.traces.search.stuttering import compared_order
from assay.traces.search.transition_system import ANY, TraceModel

from .control import NODES, Outcome, Rule, without_guards
from .recorded import retrial
from .step_lines import Step, StepLines
from .witnesses import STEPS, Found, steps_alone

NEAR = 1_000.0
"""How far from the order of time a log that ends with a step may be explained without a guard. Its execution is known:
that of the healthy log.
"""


def exercised_by_all(run: str) -> frozenset[Rule]:
    """The guards of the shared actions that a run took."""
    kernel = retrial(run).search.model.kernel
    moves = (path.move for path in _paths(run) if path.move is not None)
    taken = {step.action for move in moves for step in (*move.hidden, *move.taken)}
    return frozenset((action, label) for action in taken for label in guard_labels(kernel.action(action)))


def shared_witness(run: str, rule: Rule) -> Found:
    """A log of a run that a guard rejects, and which is accepted without it; or one that then breaks an invariant alone, or none."""
    whole, free = retrial(run).search.model, _model(run, rule)
    found = Found()
    for path in _distinct(run, rule[0]):
        free.forget()  # what a state leads to without a guard takes up to a hundred megabytes
        state = whole.states[path.node.state]
        steps = steps_alone(rule[0], state, free, whole)
        found = replace(found, states=found.states + 1, alone=found.alone + bool(steps))
        for step in steps[:STEPS]:
            for last in _told_by(rule[0], step, free):
                found = found.with_log(f"{run} after {path.read} lines, {step}", _judged(run, rule, path, last))
                if found.is_final:
                    return found
    return found


@cache
def _paths(run: str) -> list[SearchPath]:
    """The healthy execution of what is shared, from its beginning on."""
    asked = retrial(run)
    search = asked.search
    answer = driver.run(search, search.begin(search.frontier.start), asked.options)
    assert isinstance(answer, Accepted)
    return list(answer.path.backwards())[::-1]


def _distinct(run: str, action: str) -> Iterator[SearchPath]:
    """The beginnings of the healthy execution, of those that an action sees alike the first."""
    model = retrial(run).search.model
    read = {name for statement in model.kernel.action(action).body for name in variables_of(statement)}
    kept = [at for at, variable in enumerate(model.kernel.variables) if variable.name in read]
    seen: set[tuple[object, ...]] = set()
    for path in _paths(run):
        key = tuple(model.states[path.node.state][at] for at in kept)
        if key not in seen:
            seen.add(key)
            yield path


@lru_cache(maxsize=1)
def _model(run: str, rule: Rule) -> TraceModel:
    model = retrial(run).search.model
    every = frozenset(action.name for action in model.kernel.actions)
    return TraceModel(without_guards(model.kernel, every, frozenset({rule})), model.plan)


@lru_cache(maxsize=1)
def _step_lines(run: str, rule: Rule) -> StepLines:
    seen = [item.observation for item in retrial(run).search.frontier.order.items]
    return StepLines(_model(run, rule), [each for each in seen if not each.event.is_inferred])


def _told_by(action: str, step: Step, free: TraceModel) -> Iterator[Step]:
    """The step itself where lines tell of it, or one that becomes possible by it: a hidden step is known by what follows."""
    if action not in free.plan.hidden:
        yield step
        return
    named = {call.action for rule in free.plan.rules for calls in rule.steps for call in calls}
    for name in sorted(named):
        anything = (ANY,) * len(free.meanings.actions[name].names)
        if free.is_listable(name, anything):
            for taken in free.call(name, anything, step.taken.state):
                if taken.state != step.taken.state and not free.repeat(taken, step.before):
                    yield Step(taken, step.taken.state)


def _judged(run: str, rule: Rule, path: SearchPath, step: Step) -> Iterator[Outcome]:
    """What is said without the guard of logs that end with a step, of those that the whole spec rejects."""
    kept = _kept(run, path)
    time = max((event.record.time or 0 for event in kept), default=0) + 1
    for event in _step_lines(run, rule).events(step, time):
        outcome = _accepted(run, rule, [*kept, event])
        is_rejected = outcome is not Outcome.REJECTED and _is_rejected(run, kept, event)
        yield outcome if is_rejected else Outcome.REJECTED


def _kept(run: str, path: SearchPath) -> list[Event]:
    """The events of which all was read on a path."""
    order = retrial(run).search.frontier.order
    cursors = path.node.cursors
    unread = IdentitySet(item.observation.event for item in order.items if cursors[item.stream] <= item.position)
    read = IdentitySet(item.observation.event for item in order.items if item.observation.event not in unread)
    return [event for event in retrial(run).parts.shared if event in read]


def _accepted(run: str, rule: Rule, events: list[Event]) -> Outcome:
    model = _model(run, rule)
    observations = EventBinder(model.plan, model.applies).bind(events).observations
    search = TraceSearch(model, TraceHeads(compared_order(model, observations)))
    limits = Limits(model.plan.hidden_limit, NODES, window=NEAR)
    path = search.run(search.begin(search.frontier.start), limits).path
    if path is None:
        return Outcome.REJECTED
    broken = PropertyChecker(model, model.kernel.properties).broken(execution(model, path))
    return Outcome.BY_INVARIANT if broken else Outcome.ACCEPTED


def _is_rejected(run: str, kept: list[Event], event: Event) -> bool:
    """Whether the whole spec rejects a log that begins as the run does and ends with an event."""
    asked = retrial(run)
    if not kept:
        return False
    begin = IdentitySet(kept)
    change: Change = IdentityMemo((each, ()) for each in asked.parts.all if each not in begin)
    change[kept[-1]] = (kept[-1], event)
    return asked.judge(change).rejected
