"""For a guard, a log that it alone rejects. It has a partition's recorded lines up to some moment, and then lines that
report a step which nothing else forbids.

The steps of the spec without the guard are looked for in all states that the partition was in. Each is combined with
every later state of what is shared, since a partition may have gone on at any later moment. A step that the whole spec
does not allow is reported by the lines of its action, and the log ends with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from random import Random

from assay.checker.report import State
from assay.grammar.identity_memo import IdentityMemo, IdentitySet
from assay.traces.event import Event
from assay.traces.incremental.incremental_recheck import Change
from assay.traces.observe.binding import bind
from assay.traces.result import TraceVerdict
from assay.traces.search.transition_system import ANY, TraceModel
from assay.traces.slices.slice_lines import slice_item
from assay.traces.slices.versions.findings import WIDTHS, SliceQuery
from assay.traces.slices.versions.version_check import SliceCheck
from assay.traces.slices.versions.version_history import (
    UnversionedLine,
    VersionedUpdate,
    VersionHistory,
    VersionNode,
    number_of,
)

from .coherent import Coherent
from .control import Outcome, Rule, joiner_without, outcome_without
from .recorded import retrial
from .step_lines import Step, StepLines

KIND = "a step that a guard alone forbids"
STEPS = 10
"""How many steps of one state are reported."""

RANKS = Outcome.REJECTED, Outcome.NOT_ACCEPTED, Outcome.BY_INVARIANT, Outcome.ACCEPTED
"""The outcomes of a log without the guard that rejects it, the best last."""

TRIED = 40
"""How many logs of a run are judged for one guard."""


@dataclass(frozen=True, slots=True)
class Point:
    """A path of a partition in the healthy execution up to an observation, and a later position on the shared timeline."""

    partition: str
    node: VersionNode
    position: int


@dataclass(frozen=True, slots=True)
class Found:
    """What was found for a guard in a run: how many states were looked at, and in how many it alone forbade a step.
    ``tried`` logs were judged; ``outcome`` and ``text`` are of the best.
    """

    states: int = 0
    alone: int = 0
    tried: int = 0
    outcome: Outcome = Outcome.REJECTED
    text: str = ""

    def with_log(self, text: str, outcomes: Iterable[Outcome]) -> Found:
        """With the outcomes of more logs without the guard, up to the first that is accepted."""
        found = self
        for outcome in outcomes:
            found = replace(found, tried=found.tried + 1)
            if RANKS.index(outcome) > RANKS.index(found.outcome):
                found = replace(found, outcome=outcome, text=text)
            if found.is_final:
                break
        return found

    @property
    def is_final(self) -> bool:
        """Whether nothing better is to be looked for."""
        return self.outcome is Outcome.ACCEPTED or self.tried >= TRIED


def witness(run: str, rule: Rule) -> Found:
    """A log of a run that a guard rejects, and which is accepted without it; or one that then breaks an invariant alone, or none."""
    action, label = rule
    free, whole = _model(run, action, label), _model(run, action, None)
    found = Found()
    for point in _shuffled(points(run, action), f"{run} {rule}"):
        steps = steps_alone(action, _state(run, point), free, whole)
        found = replace(found, states=found.states + 1, alone=found.alone + bool(steps))
        for step in steps[:STEPS]:
            for mutant in _logs(run, rule, point, step):
                found = found.with_log(f"{run} {mutant.partition}, {mutant.text}", [_outcome(mutant, rule)])
                if found.is_final:
                    return found
    return found


def _shuffled(found: Iterable[Point], seed: str) -> list[Point]:
    """The points in no order: those that are side by side differ least."""
    every = list(found)
    return Random(seed).sample(every, len(every))


def steps_alone(action: str, state: State, free: TraceModel, whole: TraceModel) -> list[Step]:
    """The steps of an action that a model allows in a state, and the whole one does not."""
    before, same = free.number(state), whole.number(state)
    found: list[Step] = []
    for taken in free.call(action, (ANY,) * len(free.meanings.actions[action].names), before):
        allowed = whole.call(action, tuple(value for _, value in taken.arguments), same)
        if all(whole.states[each.state] != free.states[taken.state] for each in allowed):
            found.append(Step(taken, before))
    return found


def _outcome(mutant: Coherent, rule: Rule) -> Outcome:
    """The outcome of a log without a guard; rejected, too, where the whole spec does not reject it."""
    if outcome_without(mutant, frozenset()) is not Outcome.REJECTED:
        return Outcome.REJECTED
    outcome = outcome_without(mutant, frozenset({rule}))
    if outcome not in (Outcome.ACCEPTED, Outcome.BY_INVARIANT):
        return Outcome.REJECTED
    judgement = retrial(mutant.run).judge(mutant.change)
    if judgement.violations:
        return outcome
    held = outcome is Outcome.ACCEPTED and judgement.verdict is TraceVerdict.INCONCLUSIVE
    return Outcome.NOT_ACCEPTED if held else Outcome.REJECTED


def points(run: str, action: str) -> Iterator[Point]:
    """The points at which an action may see a state, of its partition or of what is shared, that it did not see before."""
    joiner = joiner_without(run, frozenset())
    names = [rule for rule in joiner.model.plan.rules if any(c.action == action for s in rule.steps for c in s)]
    view = joiner.views.of(names, numbered=False)
    for partition, (_, nodes) in healthy_paths(run).items():
        seen: set[tuple[object, int]] = set()
        for node in nodes:
            for position in range(node.position, len(view.classes)):
                if (node.own, view.classes[position]) not in seen:
                    seen.add((node.own, view.classes[position]))
                    yield Point(partition, node, position)


@cache
def healthy_paths(run: str) -> dict[str, tuple[VersionHistory, list[VersionNode]]]:
    """The healthy execution of each partition of a run, observation by observation."""
    asked = retrial(run)
    found: dict[str, tuple[VersionHistory, list[VersionNode]]] = {}
    for name, events in asked.parts.slices.items():
        assert asked.joiner is not None
        joiner, lines = asked.joiner, asked.joiner.lines(events)
        history = VersionHistory(joiner.model, joiner.joint.split, joiner.joint.chain, joiner.views, WIDTHS[-1])
        quick = SliceQuery(started=lines.started, partial=False, one_is_enough=True, explained=False)
        findings = SliceCheck(history, joiner.blamer, lines.few, quick).run()
        if not findings.is_open:
            found[name] = history, list(findings.node.backwards())[::-1]
    return found


def _state(run: str, point: Point) -> State:
    """The state of the model at a point."""
    history, _ = healthy_paths(run)[point.partition]
    state = list(history.chain.states[point.position])
    for at, value in zip(history.split.own, point.node.own, strict=True):
        state[at] = value
    return tuple(state)


@cache
def _model(run: str, action: str, label: str | None) -> TraceModel:
    """The spec of a run's partitions without a guard, or as it is."""
    joiner = joiner_without(run, frozenset() if label is None else frozenset({(action, label)}))
    return TraceModel(joiner.joint.split.kernel, joiner.model.plan)


def _logs(run: str, rule: Rule, point: Point, step: Step) -> Iterator[Coherent]:
    """The partition's log up to a point, with lines that report a step."""
    history, nodes = healthy_paths(run)[point.partition]
    kept, last = _lines_up_to(nodes, point)
    if last is None:
        return
    begun = history.chain.earliest[point.position]
    time = max(int(begun) if begun > -inf else 0, last.record.time or 0) + 1
    for event in _step_lines(run, rule).events(step, time):
        if _is_explained(run, point, event):
            continue
        change: Change = IdentityMemo()
        for each in retrial(run).parts.slices[point.partition]:
            if each is last:
                change[each] = (each, event)
            elif each not in kept:
                change[each] = ()
        yield Coherent(run, KIND, point.partition, _version(point), str(step), (rule[1],), change)


def _is_explained(run: str, point: Point, event: Event) -> bool:
    """Whether some action of the whole spec explains a line as the next one."""
    history, _ = healthy_paths(run)[point.partition]
    joiner = joiner_without(run, frozenset())
    seen = [slice_item(number, each) for number, each in enumerate(joiner.binder.bind([event]).observations)]
    numbers = {number for item in seen if (number := number_of(joiner.model, item)) is not None}
    if numbers:
        own = min(numbers)
        entry: UnversionedLine | VersionedUpdate = VersionedUpdate(
            own, tuple(item for item in seen if number_of(joiner.model, item) == own)
        )
    else:
        unversioned_lines = [item for item in seen if item.observation.names_action]
        if not unversioned_lines:  # the line says what holds, and not what was done
            return True
        entry = UnversionedLine(unversioned_lines[0])
    return bool(history.extend((point.node,), entry))


def _version(point: Point) -> int:
    """The version of the next update."""
    numbers = (node.entry.number for node in point.node.backwards() if isinstance(node.entry, VersionedUpdate))
    return max(numbers, default=-1) + 1


def _lines_up_to(nodes: list[VersionNode], point: Point) -> tuple[IdentitySet[Event], Event | None]:
    """The events that a path has consumed up to a point, and the last of them. An event that waits for something later
    is none of them, unless it reports an update.
    """
    own = next(at for at, node in enumerate(nodes) if node is point.node)
    written = IdentitySet(
        event for node in nodes[: own + 1] if isinstance(node.entry, VersionedUpdate) for event in _events(node)
    )
    later = IdentitySet(event for node in nodes[own + 1 :] for event in _events(node) if event not in written)
    kept = [event for node in nodes[: own + 1] for event in _events(node) if event not in later]
    last = max(kept, key=lambda event: event.record.time or 0, default=None)
    return IdentitySet(kept), last


def _events(node: VersionNode) -> list[Event]:
    match node.entry:
        case VersionedUpdate(_, lines):
            return [line.observation.event for line in lines]
        case UnversionedLine(line):
            return [line.observation.event]
        case None:
            return []


@cache
def _step_lines(run: str, rule: Rule) -> StepLines:
    model = _model(run, *rule)
    events = [event for own in retrial(run).parts.slices.values() for event in own]
    return StepLines(model, bind(model.plan, events, model.applies).observations)
