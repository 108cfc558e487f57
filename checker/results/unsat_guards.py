"""Which guards make steps impossible: a minimal set, each of them needed.

A candidate guard is removed from its action, and the steps are tried again from all states in which they may begin. So
the answer is the reference evaluator's, like the one that it explains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from assay.checker.interpreter.actions.action import ActionMeaning, guards
from assay.checker.interpreter.actions.outcome import Cut, Successor
from assay.checker.interpreter.actions.update import Updater
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.report import State
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass

MOST_STATES = 1_000
"""If more states than this can be the current one, what was removed counts as needed."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A guard of the step with that number, from 0; without a label the step itself, an expectation or a refusal."""

    step: int
    label: str | None


Causes = tuple[Cause, ...]


def causes(model: Model, steps: Sequence[k.Do | k.Expect], starts: Iterable[State], *, bounded: bool = True) -> Causes:
    """What makes it impossible to take these steps, in this order, from any of the states.

    Empty if they can be taken, or if guards are not the only reason. A guard is needed too if what follows it is
    undefined without it. Unless ``bounded``, bounds are ignored.
    """
    trial = _Trial(model, tuple(steps), frozenset(starts), bounded)
    needed = list(trial.causes())
    # With all guards kept, something else decides: an undefined value, a capacity, too many states.
    if not trial.is_impossible(needed):
        return ()
    # Each guard is tried once: fewer guards never make a step impossible, so one that was needed stays needed.
    for each in tuple(needed):
        fewer = [other for other in needed if other != each]
        if trial.is_impossible(fewer):
            needed = fewer
    return tuple(needed)


class _OpenError(Exception):
    """The result of a step is unknown: something is undefined, or a capacity is exceeded."""


@dataclass(frozen=True, slots=True)
class _Trial:
    model: Model
    steps: tuple[k.Do | k.Expect, ...]
    starts: frozenset[State]
    bounded: bool
    actions: dict[tuple[str, frozenset[str]], ActionMeaning] = field(default_factory=dict)

    def causes(self) -> Iterator[Cause]:
        """Remove all that can be removed: early steps first, and within an action late guards first."""
        for number, step in enumerate(self.steps):
            match step:
                case k.Do(call):
                    own = reversed(guards(self.model.actions[call.action].node))
                    yield from (Cause(number, each.label) for each in own if self.bounded or each.kind == "when")
                case k.Expect():
                    yield Cause(number, None)

    def is_impossible(self, kept: Sequence[Cause]) -> bool:
        """Whether the steps are impossible with these guards alone."""
        states = self.starts
        try:
            for number, step in enumerate(self.steps):
                # Not known to be impossible, so what was removed counts as needed.
                if len(states) > MOST_STATES:
                    return False
                states = self._after(step, states, frozenset(each.label for each in kept if each.step == number))
        except (_OpenError, Undefined):
            return False
        return not states

    def _after(self, step: k.Do | k.Expect, states: frozenset[State], kept: frozenset[str | None]) -> frozenset[State]:
        match step:
            case k.Expect(condition):
                holds = self.model.meaning(condition)
                return frozenset(state for state in states if holds(Frame(state))) if None in kept else states
            case k.Do(call):
                return frozenset(end for state in states for end in self._ends(call, state, kept))

    def _ends(self, call: k.ActionCall, state: State, kept: frozenset[str | None]) -> Iterator[State]:
        action = self._action(call.action, frozenset(label for label in kept if label is not None))
        frame = Frame(state)
        wanted = [None if each is None else self.model.meaning(each)(frame) for each in call.arguments]
        for arguments in action.matching(wanted, [each is not None for each in call.arguments]):
            for outcome in action.outcomes(state, arguments):
                match outcome:
                    case Successor():
                        yield outcome.state
                    # A bound that was kept refuses the instance, as a guard does; a capacity is no guard.
                    case Cut(_, label) if label in kept:
                        continue
                    case _:
                        raise _OpenError

    def _action(self, name: str, kept: frozenset[str]) -> ActionMeaning:
        found = self.actions.get((name, kept))
        if found is None:
            node = self.model.actions[name].node
            body = tuple(each for each in node.body if not isinstance(each, k.Guard) or each.label in kept)
            updater = Updater(self.model.kernel.variables)
            # Kept by guards: each trial differs from another in one guard of one step.
            found = self.actions[name, kept] = ActionMeaning(replace(node, body=body), self.model.scope, updater)
        return found
