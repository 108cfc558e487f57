"""A saved counterexample run again, perhaps after an edit of the spec: is the run still possible, and does it still violate its property?

The answer is about this run alone. That it is no longer possible, or harmless now, does not mean that the property holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from assay.checker.evaluate.action import Arguments
from assay.checker.evaluate.model import Model
from assay.checker.evaluate.outcome import Picks, Stuck, Successor
from assay.checker.evaluate.scope import Frame
from assay.checker.explain import explain
from assay.checker.options import SearchOptions
from assay.checker.print_kernel import Sources
from assay.checker.reference.blocked import blocked_actions, describe_guard
from assay.checker.reference.instance import show_instance
from assay.checker.reference.scenario import Path
from assay.checker.reference.watch import DEADLOCK, DEFINED, Finding, Watch
from assay.checker.verdict import BlockedAction, Explanation, State, Step, Trace


class Fate(Enum):
    """What became of the run."""

    VIOLATED = "still violated"
    HARMLESS = "no longer violated by this run"
    IMPOSSIBLE = "this run is no longer possible"


@dataclass(frozen=True, slots=True)
class Call:
    """A step of the saved run."""

    action: str
    arguments: Arguments
    picks: Picks


@dataclass(frozen=True, slots=True)
class Replay:
    """The answer: ``trace`` is the run as far as it went, ``reason`` says why no further."""

    fate: Fate
    property: str
    trace: Trace
    reason: str | None = None
    explanation: Explanation | None = None
    blocked: tuple[BlockedAction, ...] = ()


def replay(model: Model, initial: State | None, calls: Sequence[Call], name: str, sources: Sources) -> Replay:
    """Run the calls from the initial state (from all of them, if the model has no such one) and watch the property of that name.

    Where the saved picks are no longer among those of an action, every way to pick is followed.
    """
    return _Replayer(model, name, sources).run(initial, calls)


class _Replayer:
    def __init__(self, model: Model, name: str, sources: Sources) -> None:
        self._model = model
        self._name = name
        self._sources = sources
        self._watch = Watch(model, SearchOptions(properties=frozenset({name})))
        self._seen: list[Path] = []
        self._numbers: dict[int, int] = {}

    def run(self, initial: State | None, calls: Sequence[Call]) -> Replay:
        front = self._start(initial)
        for number, call in enumerate(calls, start=2):
            if not front or self._decided():
                break
            after = self._advance(front, call)
            if not after and not self._decided():
                return self._impossible(front[0], number, call)
            front = after
        return self._answer(front)

    def _start(self, initial: State | None) -> list[Path]:
        outcomes = [outcome for outcome in self._model.init.outcomes() if isinstance(outcome, Successor)]
        chosen = [each for each in outcomes if each.state == initial] or outcomes
        front = [Path(each.state, Step(None, (), each.picks, each.state), None) for each in chosen]
        for path in front:
            self._see(path)
        return front

    def _see(self, path: Path) -> None:
        self._numbers[id(path)] = len(self._seen)
        self._seen.append(path)
        self._watch.see_state(len(self._seen) - 1, path.state)

    def _advance(self, front: list[Path], call: Call) -> list[Path]:
        after: dict[State, Path] = {}
        for path in front:
            for step in self._steps(path, call):
                self._watch.see_step(self._numbers[id(path)], path.state, step)
                after.setdefault(step.state, Path(step.state, step, path))
        for path in after.values():
            self._see(path)
        return list(after.values())

    def _steps(self, path: Path, call: Call) -> Iterator[Step]:
        action = self._model.actions[call.action]
        outcomes = action.outcomes(path.state, call.arguments)
        chosen = [each for each in outcomes if each.picks == call.picks] or outcomes
        named = tuple(zip(action.names, call.arguments, strict=True))
        for outcome in chosen:
            if isinstance(outcome, Successor):
                yield Step(call.action, named, outcome.picks, outcome.state)
            elif isinstance(outcome, Stuck):
                place = self._numbers[id(path)]
                self._watch.note_undefined(
                    Finding(
                        place,
                        undefined=outcome.message,
                        span=outcome.span,
                        subject=show_instance(action.node, call.arguments),
                    )
                )

    def _decided(self) -> bool:
        return self._name in self._watch.found or DEFINED in self._watch.found

    def _answer(self, front: list[Path]) -> Replay:
        name = self._name if self._name in self._watch.found else DEFINED
        finding = self._watch.found.get(name)
        if finding is not None:
            return self._violated(name, finding)
        if not front:
            return Replay(Fate.IMPOSSIBLE, self._name, Trace(()), "the model has no initial state")
        return self._deadlock(front) if self._name == DEADLOCK else Replay(Fate.HARMLESS, self._name, front[0].trace())

    def _violated(self, name: str, finding: Finding) -> Replay:
        """The property is false at the finding; or something has no value there, which violates ``defined``."""
        trace = self._seen[finding.state].trace() if finding.state >= 0 else Trace(())
        if finding.step is not None:
            trace = Trace((*trace.steps, finding.step))
        reason = f"{finding.undefined}, in {finding.subject}" if name == DEFINED else None
        return Replay(Fate.VIOLATED, name, trace, reason, self._explanation(finding))

    def _explanation(self, finding: Finding) -> Explanation | None:
        if finding.conjunct is None:
            return None
        state = self._seen[finding.state].state
        frame = Frame(state) if finding.step is None else Frame(finding.step.state, state)
        return explain(self._model, finding.conjunct, frame, self._sources)

    def _deadlock(self, front: list[Path]) -> Replay:
        for path in front:
            number = self._numbers[id(path)]
            busy = any(action.outcomes(path.state, each) for action in self._model.steps for each in action.instances)
            if not busy and not self._watch.is_terminal(number, path.state):
                blocked = blocked_actions(self._model, path.state, self._sources)
                return Replay(Fate.VIOLATED, self._name, path.trace(), blocked=blocked)
        return Replay(Fate.HARMLESS, self._name, front[0].trace())

    def _impossible(self, path: Path, number: int, call: Call) -> Replay:
        action = self._model.actions[call.action]
        blocks = action.false_guards(path.state, call.arguments)
        fewest = min(blocks, key=len, default=())
        guards = [describe_guard(guard, self._sources) for guard in fewest]
        shown = "; ".join(f"{label}: {text} ({span})" for label, text, span in guards)
        what = f"step {number}, {show_instance(action.node, call.arguments)}, is refused"
        return Replay(
            Fate.IMPOSSIBLE,
            self._name,
            path.trace(),
            f"{what} by {shown}" if shown else f"{what}: a capacity is exceeded",
        )
