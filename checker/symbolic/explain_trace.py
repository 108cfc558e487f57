"""Symbolic traces: is there an execution that explains observations with unknown fields, with hidden steps between them, asked incrementally.

Each observation stands for one step (or, without an action, for a state) and comes after at most so many hidden steps. If there is no such
execution, the answer names a smallest contradiction: observations of which each is needed for it. Executions are followed by the
reference evaluator before they are told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from assay.checker.evaluate.depth import deep_recursion
from assay.checker.evaluate.model import Model
from assay.checker.evaluate.outcome import Successor
from assay.checker.reference.store import Link
from assay.checker.symbolic.bmc import DisagreementError
from assay.checker.symbolic.gates import Gates
from assay.checker.symbolic.incremental import GateSolver
from assay.checker.symbolic.initial import is_initial
from assay.checker.symbolic.system import System, encode_kernel
from assay.checker.symbolic.unroll import Unrolling
from assay.checker.verdict import State, Step, Trace
from assay.grammar import kernel as k
from assay.grammar.values import Value


@dataclass(frozen=True, slots=True)
class Observation:
    """What was seen of a step: its ``action`` with the arguments that are known (None: not known), and conditions that hold after it.

    Conditions read the state after the step, and in ``old`` the state before. Without an action it is a state that was seen, and no step.
    """

    label: str
    action: str | None = None
    arguments: tuple[Value | None, ...] = ()
    conditions: tuple[k.Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Explained:
    """An execution that explains all observations; ``observed`` are the numbers of their steps in it, one for each observation."""

    trace: Trace
    observed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The labels of observations that no execution explains together with so few hidden steps; if any one of them were any step or
    none at all, there would be one.
    """

    labels: tuple[str, ...]


class SymbolicTrace:
    """Observations of one execution, in their order.

    It begins in one of ``starts``. Before each observation at most ``most_hidden`` steps of the ``hidden`` actions happen unseen. The ``bound``
    lines of the kernel are no guards here, as in validation. ``expired`` is asked before each question to the solver.
    """

    def __init__(
        self,
        kernel: k.Kernel,
        starts: Sequence[State],
        hidden: frozenset[str],
        most_hidden: int,
        expired: Callable[[], bool] = lambda: False,
    ) -> None:
        self._kernel = without_bounds(kernel)
        self._most_hidden = most_hidden
        self._observations: list[Observation] = []
        self._switches: list[int] = []
        self._observed: list[int] = []
        with deep_recursion(kernel):
            self._model = Model(self._kernel)
            self._system: System = encode_kernel(self._kernel, frozenset())
        self._hidden = [ground.action in hidden for ground in self._system.ground]
        self._gates = Gates()
        first = self._gates.inputs(len(self._system.state))
        self._frames = Unrolling(self._system, first, self._gates)
        self._solver = GateSolver(self._gates, expired)
        rows = [self._system.row(each) for each in starts]
        self._solver.add([self._solver.literal(is_initial(self._gates, first, rows))])

    def close(self) -> None:
        """Free the solver."""
        self._solver.close()

    def observe(self, observation: Observation) -> None:
        """Add an observation after the others; raises ``SpecError`` for a condition that has no encoding."""
        moved: int | None = None
        for _ in range(self._most_hidden):
            moved = self._hidden_frame(moved)
        switch = self._solver.fresh()
        frame = len(self._frames.frames) - 1
        with deep_recursion(self._kernel):
            literals = [self._system.holds_after(each) for each in observation.conditions]
        for literal in self._frames.at(frame, literals):
            self._solver.add([-switch, self._solver.literal(literal)])
        fires = self._frames.at(frame, self._system.fires)
        if observation.action is None:
            for fire in fires:
                self._solver.add([-switch, -self._solver.literal(fire)])
        else:
            fits = (fire for at, fire in enumerate(fires) if self._fits(observation, at))
            self._solver.add([-switch, self._solver.literal(self._gates.any_of(fits))])
        self._frames.extend()
        self._observations.append(observation)
        self._switches.append(switch)
        self._observed.append(frame)

    def _hidden_frame(self, moved: int | None) -> int:
        """A step of a hidden action, or none unless one has ``moved`` before: so no two choices are the same run. Says if it moves."""
        frame = len(self._frames.frames) - 1
        fires = self._frames.at(frame, self._system.fires)
        for fire, hidden in zip(fires, self._hidden, strict=True):
            if not hidden:
                self._solver.add([-self._solver.literal(fire)])
        moves = self._solver.literal(self._gates.any_of(fires))
        if moved is not None:
            self._solver.add([-moved, moves])
        self._frames.extend()
        return moves

    def _fits(self, observation: Observation, number: int) -> bool:
        ground = self._system.ground[number]
        return ground.action == observation.action and all(
            wanted is None or wanted == argument
            for wanted, argument in zip(observation.arguments, ground.arguments, strict=True)
        )

    def answer(self) -> Explained | Contradiction:
        """Whether some execution explains all observations so far; raises ``OutOfBudgetError``."""
        if self._solver.solve(self._switches):
            with deep_recursion(self._kernel):
                return self._explained()
        core = self._solver.core()
        needed = [switch for switch in self._switches if switch in core]
        for switch in list(needed):
            fewer = [each for each in needed if each != switch]
            if not self._solver.solve(fewer):
                needed = fewer
        labels = (o.label for o, switch in zip(self._observations, self._switches, strict=True) if switch in needed)
        return Contradiction(tuple(labels))

    def _explained(self) -> Explained:
        inputs = [*self._frames.frames[0], *(bit for frame in self._frames.choices for bit in frame)]
        values = self._solver.values([self._solver.literal(each) for each in inputs])
        given = {each >> 1: -1 if value else 0 for each, value in zip(inputs, values, strict=True)}
        steps: list[Step] = []
        observed: list[int] = []
        for frame, bits in enumerate(self._frames.frames):
            state = self._system.values([bit & 1 for bit in self._gates.evaluate(bits, given)])
            if not steps:
                steps.append(Step(None, (), (), state))
            elif (number := self._fired(frame - 1, given)) is not None:
                steps.append(self._step(steps[-1].state, number, state))
            if frame - 1 in self._observed:
                observed.append(len(steps) - 1)
        return Explained(Trace(tuple(steps)), tuple(observed))

    def _fired(self, frame: int, given: dict[int, int]) -> int | None:
        fires = self._gates.evaluate(self._frames.at(frame, self._system.fires), given)
        return next((number for number, fire in enumerate(fires) if fire), None)

    def _step(self, before: State, number: int, after: State) -> Step:
        """The step as the reference evaluator makes it."""
        ground = self._system.ground[number]
        action = self._model.actions[ground.action]
        for outcome in action.outcomes(before, ground.arguments):
            if isinstance(outcome, Successor) and outcome.state == after:
                return Link(action, ground.arguments, outcome.picks).step(after)
        raise DisagreementError(f"the gates make a step that the reference evaluator does not: {before} to {after}")


def without_bounds(kernel: k.Kernel) -> k.Kernel:
    """The kernel without its ``bound`` lines."""
    actions = tuple(
        replace(each, body=tuple(s for s in each.body if not (isinstance(s, k.Guard) and s.kind == "bound")))
        for each in kernel.actions
    )
    return replace(kernel, actions=actions)
