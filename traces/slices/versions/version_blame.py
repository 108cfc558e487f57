"""Explains why an update has no outcome: an action whose guards are false, or lines that disagree with the others.

Every action that may be the update is tried without its guards. The attempt with the fewest obstacles explains the
mismatch: each false guard, and each line that disagrees with the outcome, is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model as Meanings
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityTupleMemo
from assay.grammar.kernel import types as t
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value
from assay.traces.explain.blame import Obstacle, false_guards, guards_in_the_way, obstacles_of
from assay.traces.explain.failed_atoms import AtomValue, ConditionPrinter, FailedAtom, Situation, failing
from assay.traces.observe.partial_order import OrderedObservation
from assay.traces.result import Blame, FailedPart, LogViolation, Repair
from assay.traces.search.transition_system import ANY, AnyValue, Taken, TraceModel, Wanted
from assay.traces.slices.versions.version_history import (
    Frontier,
    UnversionedLine,
    VersionedUpdate,
    VersionHistory,
    VersionNode,
)

INSTANCES_TRIED = 200
"""How many instances of an action are tried for an explanation."""

POSITIONS_TRIED = 12
"""At how many shared positions an explanation is tried."""


Strain = tuple[bool, int, int]
NO_STRAIN: Strain = False, 0, 0


@dataclass(frozen=True, slots=True, eq=False)
class BlameCandidate:
    """A search node that would be valid if its last step's guards were true and the disagreeing lines were right.

    ``noticed`` is the node of the update whose lines disagree: this update, or the one before. ``far`` is the index of
    the statement of the first false guard. ``aside``: the action stands for gaps in logs, which a false guard rules out
    here.
    """

    node: VersionNode
    noticed: VersionNode
    guards: int
    odd: tuple[OrderedObservation, ...]
    aside: bool = False
    far: int = 0

    @property
    def cost(self) -> int:
        """The number of obstacles; a broken rule counts once, however many guards it violates."""
        return min(self.guards, 1) + len(self.odd)

    @property
    def strain(self) -> Strain:
        """How unlikely the action is: guards go from the actor to the details, so an early false guard is further off
        than a late one.
        """
        return self.aside, self.guards, -self.far


class Blamer:
    """Explains mismatches of slices of one kernel; it caches what actions do without their guards."""

    def __init__(self, kernel: k.Kernel, writer: ConditionPrinter) -> None:
        # Without its guards an action says what it would have done. Which of them are false is asked of few attempts.
        free = (replace(a, body=tuple(s for s in a.body if not isinstance(s, k.Guard))) for a in kernel.actions)
        self.unguarded = Meanings(replace(kernel, actions=tuple(free)), bounded=False, remember=True)
        self.writer = writer

    def attempts(
        self, history: VersionHistory, frontier: Frontier, write: VersionedUpdate, most: int, *, named: bool
    ) -> list[BlameCandidate]:
        """The closest attempts to explain an update, the closest first; of attempts with one outcome the first.

        If ``named``, the actions as its lines name them; else all others that it may be.
        """
        choices = _candidates(history, write, named=named)
        ways = [
            way
            for node in frontier
            for position, start in islice(history.places(node, write), POSITIONS_TRIED)
            for action, wanted in choices
            for way in self._of_action(
                history, write, VersionNode(node.own, position, node, write, start), action, wanted
            )
        ]
        # By outcome: of instances that lead to one state only the likeliest is worth a line in the answer.
        found: dict[tuple[object, ...], BlameCandidate] = {}
        for lines in range(len(write.lines) + 1):
            # What is left has at least `lines` obstacles. Its false guards, which take long to find, need not be asked.
            if sum(attempt.cost < lines for attempt in found.values()) >= most:
                break
            for onward, odd in (way for way in ways if len(way[1]) == lines):
                attempt = self._attempt(history, onward, odd)
                key = onward.own, onward.taken[-1].action, odd
                known = found.get(key)
                if known is None or attempt.strain < known.strain:
                    found[key] = attempt
        return sorted(found.values(), key=lambda attempt: (attempt.cost, attempt.strain))[:most]

    def _of_action(
        self, history: VersionHistory, write: VersionedUpdate, before: VersionNode, action: str, wanted: Wanted
    ) -> Iterator[tuple[VersionNode, tuple[OrderedObservation, ...]]]:
        """The outcomes of an action without its guards, each with the lines of the update that disagree."""
        model, start = history.model, before.start
        meaning, choices = self.unguarded.actions[action], model.choices_of(action, wanted)
        for arguments, result in islice(meaning.results(model.states[start], choices), INSTANCES_TRIED):
            if isinstance(result, Successor):
                after = model.number(result.state)
                taken = Taken(action, tuple(zip(meaning.names, arguments, strict=True)), result.picks, after)
                onward = VersionNode(
                    history.slice_values(after), before.position, before.before, write, start, (), (taken,)
                )
                yield onward, odd_lines(history, write, start, after)

    def _attempt(
        self, history: VersionHistory, onward: VersionNode, odd: tuple[OrderedObservation, ...]
    ) -> BlameCandidate:
        """The last step of a node with its false guards, for the nearest choice of picks."""
        taken = onward.taken[-1]
        false = false_guards(history.model, taken.action, [value for _, value in taken.arguments], onward.start)
        # An action for gaps is no explanation where there is none: it stands behind all others.
        aside = bool(false) and is_of_logs_alone(history.model.meanings.actions[taken.action].node)
        return BlameCandidate(onward, onward, len(false), odd, aside, min(false, default=0))

    def broken_guards(
        self, history: VersionHistory, attempt: BlameCandidate, write: VersionedUpdate
    ) -> list[LogViolation]:
        """The violation for an attempt with false guards, at the line that names the action."""
        if not attempt.guards:
            return []
        # The guards are about the action that the other lines show; a line that disagrees is told by itself.
        agreeing = [line for line in write.lines if line not in attempt.odd] or list(write.lines)
        first = next((line for line in agreeing if line.observation.names_action), agreeing[0])
        taken = attempt.node.taken[-1]
        arguments = tuple(value for _, value in taken.arguments)
        obstacles = guards_in_the_way(history.model, taken.action, arguments, attempt.node.start)
        return [self.violation(first, taken.action, obstacles)]

    def disagreement(
        self, history: VersionHistory, line: OrderedObservation, start: int, after: int, action: str
    ) -> LogViolation:
        """The violation for a line that disagrees with an update: on its outcome, or on its action, which was not
        possible then.
        """
        kind = "then" if line.observation.names_action else "observe"
        obstacles = [
            Obstacle(kind, line.observation.rule.label, atom) for atom in disagreeing(history, line, start, after)
        ]
        # The outcome agrees: then the line's action was not possible, or it had other arguments.
        if not obstacles and line.observation.rule.steps:
            others = obstacles_of(history.model, line, start)
            action, obstacles = min(others, key=lambda each: self._unlike(history, *each), default=(action, []))
        return self.violation(line, action, obstacles or _other_arguments(history.model, line, start, after))

    def _unlike(self, history: VersionHistory, action: str, obstacles: Sequence[Obstacle]) -> tuple[bool, int]:
        return is_of_logs_alone(history.model.meanings.actions[action].node), len(obstacles)

    def unversioned(self, history: VersionHistory, frontier: Frontier, unversioned: UnversionedLine) -> LogViolation:
        """The violation for an unversioned observation."""
        best: tuple[str, list[Obstacle]] | None = None
        for node in frontier:
            for _, state in islice(history.places(node, unversioned), POSITIONS_TRIED):
                for action, obstacles in obstacles_of(history.model, unversioned.line, state):
                    if best is None or len(obstacles) < len(best[1]):
                        best = action, obstacles
        action, obstacles = best if best is not None else ("observe", [])
        return self.violation(unversioned.line, action, obstacles)

    def violation(self, line: OrderedObservation, action: str, obstacles: Sequence[Obstacle]) -> LogViolation:
        """A violation in words, with a change of one field that would repair it, if there is one."""
        parts = tuple(self.writer.part(each.kind, each.label, each.atom) for each in obstacles)
        event = line.observation.event
        return LogViolation(event, action, (Blame(event, action, parts),), _repair(line, parts))


def is_of_logs_alone(action: k.Action) -> bool:
    """Whether an action is bounded to never happen in a search of the spec: it stands for what logs leave open."""
    return any(
        isinstance(each, k.Guard)
        and each.kind == "bound"
        and isinstance(each.condition, k.Const)
        and each.condition.value is False
        for each in action.body
    )


def _other_arguments(model: TraceModel, line: OrderedObservation, start: int, after: int) -> list[Obstacle]:
    """The arguments in a line that differ from those of the step from one state to another."""
    rule, bound = line.observation.rule, line.observation.bound
    found: list[list[Obstacle]] = []
    for call in rule.steps[0] if len(rule.steps) == 1 else ():
        parameters = model.meanings.actions[call.action].node.parameters
        wanted, open_ = model.wanted_or_none(call, bound), (ANY,) * len(parameters)
        if wanted is None or not model.is_listable(call.action, open_):
            continue
        for taken in (each for each in model.call(call.action, open_, start) if each.state == after):
            rows = zip(parameters, call.arguments, wanted, taken.arguments, strict=True)
            found.append(
                [
                    Obstacle("then", rule.label, _unequal(parameter.binder, argument, value, given))
                    for parameter, argument, given, (_, value) in rows
                    if argument is not None and given != value
                ]
            )
    return min(found, key=len, default=[])


def _unequal(parameter: k.Local, argument: k.Expr, value: Value, given: Value | AnyValue) -> FailedAtom:
    assert not isinstance(given, AnyValue)
    same = k.Equal(t.BOOL, parameter, argument, negated=False, span=argument.span)
    return FailedAtom(same, (AtomValue(argument, given),), (AtomValue(parameter, value),))


def _repair(line: OrderedObservation, parts: Sequence[FailedPart]) -> Repair:
    event = line.observation.event
    # With two false parts, or two values in one, no single field can be at fault.
    if len(parts) == 1 and len(parts[0].log) == 1 and len(parts[0].model) == 1:
        (field, old), (_, new) = parts[0].log[0], parts[0].model[0]
        if field in event.fields:
            return Repair("change", f"`{field}` is {new} instead of {old}", event, field, old, new)
    return Repair("none", "no single field explains it", None)


def _candidates(history: VersionHistory, write: VersionedUpdate, *, named: bool) -> list[tuple[str, Wanted]]:
    """The actions that may be an update: those that its lines name, or these with other arguments and any that counts a
    version.
    """
    model = history.model
    logged: dict[tuple[str, Wanted], None] = {}
    for rule, bound in ((line.observation.rule, line.observation.bound) for line in write.lines):
        for call in (call for steps in rule.steps for call in steps):
            wanted = model.wanted_or_none(call, bound)
            if wanted is not None:
                logged[call.action, wanted] = None
    others: dict[tuple[str, Wanted], None] = {}
    # Another element may be meant; numbers and the like stay as the line has them, or any step would do.
    for action, wanted in logged:
        parameters = model.meanings.actions[action].node.parameters
        open_ = tuple(
            ANY if isinstance(p.binder.type, t.AtomType) else w for p, w in zip(parameters, wanted, strict=True)
        )
        others[action, open_] = None
    # Only a line that names no action leaves it open which one it was.
    if len(write.lines) > sum(line.observation.names_action for line in write.lines):
        for action in model.plan.numbered:
            others[action, (ANY,) * len(model.meanings.actions[action].names)] = None
    found = logged if named else [each for each in others if each not in logged]
    return [(action, wanted) for action, wanted in found if model.is_listable(action, wanted)]


def odd_lines(
    history: VersionHistory, write: VersionedUpdate, start: int, after: int
) -> tuple[OrderedObservation, ...]:
    """The lines of an update that disagree with its outcome; equal lines are evaluated once."""
    known = IdentityTupleMemo[bool]()
    found: list[OrderedObservation] = []
    for line in write.lines:
        rule, values = (line.observation.rule,), line.observation.values
        agrees = known.get(rule, values)
        if agrees is None:
            agrees = known.put(rule, values, _states(history, line, start, after))
        if not agrees:
            found.append(line)
    return tuple(found)


def _states(history: VersionHistory, line: OrderedObservation, start: int, after: int) -> bool:
    """Whether a line agrees with the outcome of an update, whatever its action."""
    rule, bound = line.observation.rule, line.observation.bound
    condition = rule.observe if not rule.steps else rule.then
    return condition is None or history.model.holds(condition, bound, after, start)


def disagreeing(history: VersionHistory, line: OrderedObservation, start: int, after: int) -> list[FailedAtom]:
    """The parts of a line's condition that are false."""
    rule, bound = line.observation.rule, line.observation.bound
    condition = rule.observe if not rule.steps else rule.then
    here = Situation(history.model, bound, frozenset(bound), after, start)
    return [] if condition is None else failing(condition, here)
