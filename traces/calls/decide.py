"""The answer about a log of calls. It is an order in which each took effect between its beginning and its end, or the
calls that have none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model as Meanings
from assay.checker.interpreter.expressions.traverse import locals_of
from assay.checker.report import EnginesDisagreeError
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.load import Loaded
from assay.traces.calls.call import BoundCall, HistoryCall
from assay.traces.calls.contradiction import event_of_return, violation_of_window
from assay.traces.calls.history import Answer, Effects, GaveUp, Linearized, Refuted, linearize
from assay.traces.calls.instants import MILLISECOND
from assay.traces.calls.object_states import ObjectStates, changes_nothing
from assay.traces.calls.pairing import NO_CALL, History, history_of
from assay.traces.calls.partition import ANY_KEY, KeyOfCalls, key_of_calls
from assay.traces.calls.window import MOST_EFFECTS, Window, first_unexplained, shortest_window
from assay.traces.event import Event, Field
from assay.traces.explain.blame import violation_of
from assay.traces.observe.binding import EventBinder
from assay.traces.observe.binding_tally import BindingTally, total_of
from assay.traces.observe.model_size import NeedsOfEvents, adapt_clause, kernel_for, trace_plan
from assay.traces.observe.observation import Observation, fields_of
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.options import Options
from assay.traces.properties.execution import PropertyChecker, execution, hidden_steps
from assay.traces.result import BrokenProperty, Execution, LogViolation
from assay.traces.search.path import SearchNode, SearchPath
from assay.traces.search.transition_system import TraceModel
from assay.traces.stop import StopRequest

ONE_OBJECT = ""
"""The name of the only part of a history that is not divided."""

SHORT_SEARCH, UNLIMITED = 1 << 12, 1 << 40
"""How many configurations are visited of each part, and of those for which that was not enough."""


@dataclass(slots=True)
class CallsAnswer:
    """What was found about a log of calls. ``execution`` is that of the whole, if it was not divided."""

    kernel: k.Kernel
    plan: k.TracePlan
    tally: BindingTally
    parts: int = 0
    explained: bool = False
    violations: list[LogViolation] = field(default_factory=list)
    properties: list[BrokenProperty] = field(default_factory=list)
    hidden: dict[str, int] = field(default_factory=dict)
    reason: str | None = None
    doubt: str | None = None
    """A call that was left out: without it a history that has no order proves nothing."""
    unbegun: HistoryCall | None = None
    """The last call that a line ends and that no line begins: before that line others may be missing."""
    execution: Execution | None = None
    visited: int = 0


def decide(loaded: Loaded, events: Sequence[Event], clause: str | None, options: Options) -> CallsAnswer:
    """The answer about the calls that some events report."""
    asked = adapt_clause(trace_plan(loaded.kernel, clause), options)
    # Before the kernel is made: what two lines say of one call together decides how large the model must be.
    history = history_of(events, asked)
    divided = key_of_calls(loaded.kernel, asked)
    parts = _parts(history, divided)
    whole = [call.event for calls in parts.values() for call in calls]
    # Calls that have not returned are read by rules without results, which may fit where the full rule does not.
    needs = NeedsOfEvents(replace(asked, rules=(*asked.rules, *map(without_results, asked.rules))))
    kernel, plan = kernel_for(loaded, map(needs, whole), len(whole), clause)
    model = TraceModel(kernel, adapt_clause(plan, options))
    answer = CallsAnswer(kernel, model.plan, history.tally, unbegun=_unbegun(parts))
    bound = {name: _bound(model, calls, answer) for name, calls in parts.items()}
    skew = model.plan.ordering.skew * MILLISECOND if history.by_time else 0
    answer.explained = True
    try:
        _decide_parts(bound, model, skew, answer, options.mismatches)
    except StopRequest as stop:
        answer.reason, answer.explained = f"{stop}; what follows was not checked", False
    answer.parts = len(bound)
    if answer.violations or len(bound) > 1:
        answer.execution = None
    return answer


def _parts(history: History, divided: KeyOfCalls | None) -> Mapping[str, list[HistoryCall]]:
    """The calls of each key; in each part the one key of the model stands for it."""
    if divided is None:
        return {ONE_OBJECT: history.calls}
    found: dict[str, list[HistoryCall]] = {}
    for call in history.calls:
        name = divided.fields.get(call.event.kind)
        fields = fields_of(call.event)
        if name is None or not isinstance(fields.get(name), str | int):
            found.setdefault(ONE_OBJECT, []).append(call)  # the binder tells what is wrong with it
            continue
        # Under one key the parts have equal calls, so that what is learnt of one part serves the others.
        own: dict[str, Field] = {**fields, name: ANY_KEY}
        call.shown, call.event = call.event, replace(call.event, fields=own)
        found.setdefault(str(fields[name]), []).append(call)
    return found


def _bound(model: TraceModel, calls: Sequence[HistoryCall], answer: CallsAnswer) -> list[BoundCall]:
    """The calls as the rules of the clause see them. Of calls that have not returned their results are unknown."""
    rules = model.plan.rules
    fails = tuple(rule for rule in rules if rule.call is not None and rule.call.fails)
    others = tuple(rule for rule in rules if rule.call is None or not rule.call.fails)
    found: list[tuple[int, BoundCall]] = []
    # Three kinds of calls, each by its own rules: those with a result, those without a return, those that failed.
    for own, returned, failed in (
        (others, True, False),
        (tuple(map(without_results, others)), False, False),
        (fails, True, True),
    ):
        chosen = [(at, call) for at, call in enumerate(calls) if (call.returned, call.failed) == (returned, failed)]
        # A binder of its own for each kind: its table of known statements holds for one set of rules.
        bound = EventBinder(replace(model.plan, rules=own), model.applies).bind([call.event for _, call in chosen])
        answer.tally = total_of([answer.tally, bound.tally])
        answer.violations += [violation_of(misfit) for misfit in bound.misfits if returned]
        by_event = IdentityMemo((call.event, (at, call)) for at, call in chosen)
        for seen in bound.observations:
            at, call = by_event[seen.event]
            found.append((at, BoundCall(call, seen)))
    kept = [(at, each) for at, each in found if each.call.returned or _matters(model, each, answer)]
    return [each for _, each in sorted(kept, key=lambda pair: pair[0])]


def without_results(rule: k.TraceRule) -> k.TraceRule:
    """A rule about a call whose outcome is unknown: nothing is known of what it returned."""
    if rule.call is None or not rule.call.returned:
        return rule
    # What reads an unknown result is dropped. The call may then do more, never less, so a contradiction stays one.
    hidden = {each.binder.name for each in rule.fields if each.field in rule.call.returned}

    def known(expr: k.Expr | None) -> k.Expr | None:
        return None if expr is None or _reads(expr, hidden) else expr

    steps = tuple(
        tuple(replace(call, arguments=tuple(map(known, call.arguments))) for call in step) for step in rule.steps
    )
    fields = tuple(each for each in rule.fields if each.binder.name not in hidden)
    return replace(
        rule,
        fields=fields,
        condition=known(rule.condition),
        steps=steps,
        then=known(rule.then),
        observe=known(rule.observe),
    )


def _reads(expr: k.Expr, names: set[str]) -> bool:
    return not locals_of(expr).isdisjoint(names) or (isinstance(expr, k.Local) and expr.name in names)


def _matters(model: TraceModel, each: BoundCall, answer: CallsAnswer) -> bool:
    """Whether it matters if a call without a return took effect."""
    rule = each.observation.rule
    if changes_nothing(model.kernel, rule):
        return False
    calls = ((call, model.wanted_or_none(call, each.observation.bound)) for step in rule.steps for call in step)
    for call, wanted in calls:
        if wanted is not None and not model.is_listable(call.action, wanted):
            place = each.call.event.record.place
            answer.doubt = f"{place} has not returned, and what `{call.action}` did has too many possible values"
            return False
    return True


def _decide_parts(
    bound: Mapping[str, Sequence[BoundCall]], model: TraceModel, skew: int, answer: CallsAnswer, most: int
) -> None:
    """Decide the parts, those first for which a short search is enough; stop at so many contradictions."""
    effects, pending = _effects_of(bound, model), list(bound.items())
    for effort in (SHORT_SEARCH, UNLIMITED):
        left = []
        for name, calls in pending:
            found = linearize(calls, effects, skew, most=effort)
            answer.visited += found.visited
            # First all that is cheap: a contradiction in a small part should not wait for a part that takes hours.
            if isinstance(found, GaveUp) and effort == SHORT_SEARCH:
                left.append((name, calls))
                continue
            _note(found, name, calls, effects, skew, answer)
            if len(answer.violations) >= most:
                answer.reason = answer.reason or "what follows was not checked"
                return
            # The table is let go between two parts, never within one: the search knows states by their numbers in it.
            if effects.are_many:
                model.forget()
                effects = _effects_of(bound, model)
        pending = left


def _effects_of(bound: Mapping[str, Sequence[BoundCall]], model: TraceModel) -> Effects:
    """A table for all calls, of which nothing is known yet."""
    states = ObjectStates(model)
    for call in (call for calls in bound.values() for call in calls):
        states.kind(call)
    return Effects(states)


def _note(
    found: Answer, name: str, calls: Sequence[BoundCall], effects: Effects, skew: int, answer: CallsAnswer
) -> None:
    """Note what was found about a part."""
    match found:
        case Linearized(order):
            _accept([calls[at] for at in order], effects.states, answer)
        case GaveUp(visited):
            of = f" of {name}" if name else ""
            answer.reason = f"gave up after {visited:,} configurations{of}"
            answer.explained = False
        case Refuted(until):
            doubt = answer.doubt or _doubt(effects.states)
            answer.explained = False
            if doubt is not None:
                answer.reason = f"{calls[until].call.event.record.place}: {doubt}"
                return
            answer.violations += _contradictions(name, calls, effects, skew, until, answer)


def _contradictions(
    name: str, calls: Sequence[BoundCall], effects: Effects, skew: int, until: int, answer: CallsAnswer
) -> list[LogViolation]:
    """The contradiction of calls that were refuted at a return; none if lines that may be missing would explain it."""
    until = first_unexplained(calls, effects, skew, until)
    window, unbegun = shortest_window(calls, effects, skew, until), answer.unbegun
    if unbegun is None or _stands_alone(window, calls, unbegun):
        return [violation_of_window(name, calls, window, until)]
    # Lines before the one without a beginning may be missing. What contradicts itself after it, from every state, does
    # so whatever these said.
    kept = [each for each in calls if each.call.begin is not None and _ends_after(each.call, unbegun.end)]
    before = frozenset(at for at, each in enumerate(kept) if not _begins_after(each.call, unbegun.end))
    everywhere = effects.states.everywhere(MOST_EFFECTS)
    found = None if everywhere is None else linearize(kept, effects, skew, everywhere, before, most=SHORT_SEARCH)
    if isinstance(found, Refuted):
        later = shortest_window(kept, effects, skew, found.until)
        if _stands_alone(later, kept, unbegun):
            return [violation_of_window(name, kept, later, found.until)]
    answer.reason = (
        f"{(unbegun.closing or unbegun.event).record.place}: {NO_CALL}, so that earlier lines may be missing, which "
        f"would explain {event_of_return(calls[until]).record.place}"
    )
    return []


def _unbegun(parts: Mapping[str, Sequence[HistoryCall]]) -> HistoryCall | None:
    """The last call that a line ends and that no line begins."""
    found = [call for calls in parts.values() for call in calls if call.returned and call.begin is None]
    return max(found, key=lambda call: call.end or 0, default=None)


def _ends_after(call: HistoryCall, moment: int | None) -> bool:
    return call.end is None or moment is None or call.end > moment


def _begins_after(call: HistoryCall, moment: int | None) -> bool:
    return call.begin is not None and moment is not None and call.begin > moment


def _stands_alone(window: Window, calls: Sequence[BoundCall], unbegun: HistoryCall) -> bool:
    """Whether several calls contradict each other whatever was before them, and all begin after another one ended. One
    alone may have read what a line wrote that is missing.
    """
    own = [calls[at].call for at in window.calls]
    return window.whatever and len(own) > 1 and all(_begins_after(call, unbegun.end) for call in own)


def _doubt(states: ObjectStates) -> str | None:
    """Why a refutation proves nothing; None if it does."""
    overflowed = sorted(states.model.overflowed)
    if overflowed:
        return f"the model is too small for the log: {', '.join(overflowed)} ran out"
    if states.budget_reached:
        return "it can be explained only with more hidden steps than the clause allows, if at all"
    return None


def _accept(order: Sequence[BoundCall], states: ObjectStates, answer: CallsAnswer) -> None:
    """Replay a linearization by the reference evaluator, and check the properties on it."""
    model = states.model
    items = [OrderedObservation(at, _shown(each), 0, at, 0.0, 0.0, 0.0) for at, each in enumerate(order)]
    first, moves, after = states.moves(items, [states.kind(each) for each in order])
    path = SearchPath(SearchNode((0,), first, 0), 0)
    for at, (move, state) in enumerate(zip(moves, after, strict=True)):
        path = path.then(move, SearchNode((at + 1,), state, 0))
    # From here on nothing relies on the table: an evaluator that remembers nothing takes every step again.
    run = execution(model, path)
    replay(model.kernel, run)
    answer.execution = run
    answer.properties += [
        each
        for each in PropertyChecker(model, model.kernel.properties).broken(run)
        if each.name not in {known.name for known in answer.properties}
    ]
    for action, count in hidden_steps(path).items():
        answer.hidden[action] = answer.hidden.get(action, 0) + count


def _shown(each: BoundCall) -> Observation:
    """The call as its lines have it, not with the one key of the model."""
    return each.observation if each.call.shown is None else replace(each.observation, event=each.call.shown)


def replay(kernel: k.Kernel, run: Execution) -> None:
    """Replay an execution by an evaluator that remembers nothing; raises ``EnginesDisagreeError`` if a step is none."""
    meanings = Meanings(kernel, bounded=False)
    state, known = run.initial, set[object]()
    for step in run.steps:
        if step.action is not None:
            key = state, step.action, step.arguments, step.state
            if key not in known:
                known.add(key)
                choices = [(value,) for _, value in step.arguments]
                results = meanings.actions[step.action].results(state, choices)
                if not any(isinstance(each, Successor) and each.state == step.state for _, each in results):
                    raise EnginesDisagreeError(f"the evaluator knows no step {step.action} of the linearization")
        state = step.state
