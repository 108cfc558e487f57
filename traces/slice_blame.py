"""What stands in the way of a write that no way on allows: an action that would leave the slice as the lines say, were it not for its guards,
or lines that say something else than the others.

Every action that may be the write is tried with its guards left out. The attempt with the fewest obstacles explains the mismatch: each
guard that is false, and each line that disagrees with the outcome, is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from assay.checker.evaluate.model import Model as Meanings
from assay.checker.evaluate.outcome import Successor
from assay.grammar import kernel as k
from assay.grammar import kernel_types as t
from assay.traces.atoms import Atom, Situation, Writer, failing
from assay.traces.blame import Obstacle, guards_in_the_way, obstacles_of
from assay.traces.history import Deed, Frontier, History, Trail, Write
from assay.traces.order import Item
from assay.traces.search.model import ANY, Taken, Wanted
from assay.traces.validation import Blame, FailedPart, Repair, Violation

INSTANCES_TRIED = 200
"""How many instances of an action an explanation is sought with."""

POSITIONS_TRIED = 12
"""At how many positions of the shared execution an explanation is sought."""


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """A way on that would be one if the guards of its last step were true and the lines that disagree said what was done.

    ``noticed`` is the trail to the write that they are lines of: this write, or the one before it.
    """

    trail: Trail
    noticed: Trail
    guards: int
    odd: tuple[Item, ...]

    @property
    def cost(self) -> int:
        """The number of obstacles; a broken rule is one, however many of its guards say so."""
        return min(self.guards, 1) + len(self.odd)


class Blamer:
    """Explains mismatches of slices of one kernel; it knows what actions do without their guards."""

    def __init__(self, kernel: k.Kernel, writer: Writer) -> None:
        free = (replace(a, body=tuple(s for s in a.body if not isinstance(s, k.Guard))) for a in kernel.actions)
        self.unguarded = Meanings(replace(kernel, actions=tuple(free)), bounded=False)
        self.writer = writer

    def attempts(self, history: History, frontier: Frontier, write: Write) -> list[Attempt]:
        """Everything that comes close to being the write, the closest first."""
        found: list[Attempt] = []
        for trail in frontier:
            for position, start in islice(history.places(trail, write), POSITIONS_TRIED):
                for action, wanted in _candidates(history, write):
                    found += self._of_action(history, trail, write, position, start, action, wanted)
        return sorted(found, key=lambda attempt: (attempt.cost, attempt.guards))

    def _of_action(
        self, history: History, trail: Trail, write: Write, position: int, start: int, action: str, wanted: Wanted
    ) -> Iterator[Attempt]:
        model = history.model
        for arguments in islice(model.each_instance(action, wanted), INSTANCES_TRIED):
            for outcome in self.unguarded.actions[action].outcomes(model.states[start], arguments):
                if not isinstance(outcome, Successor):
                    continue
                after = model.number(outcome.state)
                names = model.meanings.actions[action].names
                taken = Taken(action, tuple(zip(names, arguments, strict=True)), outcome.picks, after)
                false = model.meanings.actions[action].false_guards(model.states[start], arguments)
                guards = min((sum(not each.is_bound for each in way) for way in false), default=0)
                odd = odd_lines(history, write, start, after)
                onward = Trail(history.own(after), position, trail, write, start, (), (taken,))
                yield Attempt(onward, onward, guards, odd)

    def broken_guards(self, history: History, attempt: Attempt, write: Write) -> list[Violation]:
        """The violation that an attempt whose guards are false is, at the line that says what was done."""
        if not attempt.guards:
            return []
        agreeing = [line for line in write.lines if line not in attempt.odd] or list(write.lines)
        first = next((line for line in agreeing if line.observation.pinned), agreeing[0])
        taken = attempt.trail.taken[-1]
        arguments = tuple(value for _, value in taken.arguments)
        obstacles = guards_in_the_way(history.model, taken.action, arguments, attempt.trail.start)
        return [self.violation(first, taken.action, obstacles)]

    def disagreement(self, history: History, line: Item, start: int, after: int, action: str) -> Violation:
        """A line that says something else than a write did."""
        kind = "then" if line.observation.pinned else "observe"
        obstacles = [
            Obstacle(kind, line.observation.rule.label, atom) for atom in disagreeing(history, line, start, after)
        ]
        return self.violation(line, action, obstacles)

    def deed(self, history: History, frontier: Frontier, deed: Deed) -> Violation:
        """What stands in the way of something that is no write."""
        best: tuple[str, list[Obstacle]] | None = None
        for trail in frontier:
            for _, state in islice(history.places(trail, deed), POSITIONS_TRIED):
                for action, obstacles in obstacles_of(history.model, deed.line, state):
                    if best is None or len(obstacles) < len(best[1]):
                        best = action, obstacles
        action, obstacles = best if best is not None else ("observe", [])
        return self.violation(deed.line, action, obstacles)

    def violation(self, line: Item, action: str, obstacles: Sequence[Obstacle]) -> Violation:
        """A violation in words, with the change of one field that would undo it, where there is one."""
        parts = tuple(self.writer.part(each.kind, each.label, each.atom) for each in obstacles)
        event = line.observation.event
        return Violation(event, action, (Blame(event, action, parts),), _repair(line, parts))


def _repair(line: Item, parts: Sequence[FailedPart]) -> Repair:
    event = line.observation.event
    if len(parts) == 1 and len(parts[0].log) == 1 and len(parts[0].model) == 1:
        (field, old), (_, new) = parts[0].log[0], parts[0].model[0]
        if field in event.fields:
            return Repair("change", f"`{field}` is {new} instead of {old}", event, field, old, new)
    return Repair("none", "no single field explains it", None)


def _candidates(history: History, write: Write) -> Iterable[tuple[str, Wanted]]:
    """The actions that may be a write: those that its lines name, also with other arguments, and any that a number can stand for."""
    model = history.model
    found: dict[tuple[str, Wanted], None] = {}
    for line in write.lines:
        for call in (call for steps in line.observation.rule.steps for call in steps):
            wanted = model.wanted_or_none(call, line.observation.bound)
            if wanted is not None:
                found[call.action, wanted] = None
    for action, wanted in tuple(found):
        parameters = model.meanings.actions[action].node.parameters
        open_ = tuple(
            ANY if isinstance(p.binder.type, t.AtomType) else w for p, w in zip(parameters, wanted, strict=True)
        )
        found[action, open_] = None
    if len(write.lines) > sum(line.observation.pinned for line in write.lines):
        for action in model.plan.numbered:
            found[action, (ANY,) * len(model.meanings.actions[action].names)] = None
    return [(action, wanted) for action, wanted in found if model.is_listable(action, wanted)]


def odd_lines(history: History, write: Write, start: int, after: int) -> tuple[Item, ...]:
    """The lines of a write that say something else of its outcome; what many lines say is looked at once."""
    known: dict[tuple[object, ...], bool] = {}
    found: list[Item] = []
    for line in write.lines:
        key = id(line.observation.rule), line.observation.values
        if key not in known:
            known[key] = _states(history, line, start, after)
        if not known[key]:
            found.append(line)
    return tuple(found)


def _states(history: History, line: Item, start: int, after: int) -> bool:
    """Whether what a line says of the outcome of a write is so, whatever action it was."""
    rule, bound = line.observation.rule, line.observation.bound
    condition = rule.observe if not rule.steps else rule.then
    return condition is None or history.model.holds(condition, bound, after, start)


def disagreeing(history: History, line: Item, start: int, after: int) -> list[Atom]:
    """The parts of what a line says that are not so."""
    rule, bound = line.observation.rule, line.observation.bound
    condition = rule.observe if not rule.steps else rule.then
    here = Situation(history.model, bound, frozenset(bound), after, start)
    return [] if condition is None else failing(condition, here)
