"""Symbolic traces: is there an execution that explains partly known observations, with hidden steps between them?

Each observation stands for steps, or without any for a state. Where only a partial order of observations is known, the
solver chooses among the orders that it allows. If no execution exists, the answer is a minimal contradiction:
observations each of which is needed for it. Executions are replayed by the reference evaluator before they are
reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from assay.checker.aig.graph import FALSE, TRUE, Gates
from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.report import EnginesDisagreeError, State, Step, Trace
from assay.checker.search_interface.link import Link
from assay.checker.symbolic.bounded.unroll import UnrolledSystem
from assay.checker.symbolic.encode.initial import is_initial
from assay.checker.symbolic.encode.permutation_slots import places
from assay.checker.symbolic.encode.transition_system import System, encode_kernel, no_encoding
from assay.checker.symbolic.sat.incremental import GateSolver, OutOfBudgetError
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import Value


@dataclass(frozen=True, slots=True)
class PartialCall:
    """An action with the arguments that are known, by their positions."""

    action: str
    known: tuple[tuple[int, Value], ...] = ()


@dataclass(frozen=True, slots=True)
class TraceObservation:
    """An observation of an execution: consecutive steps, each an instance of one of some calls, and conditions that
    hold after them.

    Conditions read the state after the steps, and in ``old`` the state before them. An observation without steps is an
    observed state.
    """

    label: str
    steps: tuple[tuple[PartialCall, ...], ...] = ()
    conditions: tuple[k.Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class ObservationSite:
    """Where an execution explains an observation (by number): the positions in the trace of the states before and after
    its steps."""

    observation: int
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Explained:
    """An execution that explains all observations, and where it explains each, in the order of the execution."""

    trace: Trace
    readings: tuple[ObservationSite, ...]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The labels of observations that no execution explains together with so few hidden steps. The set is minimal: if
    any one of them were arbitrary steps, or none, an execution would exist."""

    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Slot:
    """A position in the order of observations: the frames before and after it, and for each observation the literal
    that it is this one.

    ``moves`` are the solver's literals that say of each hidden step before it whether it happens.
    """

    first: int
    last: int
    chosen: dict[int, int]
    moves: tuple[int, ...]


class SymbolicTrace:
    """The observations of one execution.

    It begins in one of ``starts``. Between two observations of steps at most ``most_hidden`` steps of the ``hidden``
    actions happen; ``already`` is how many happened before it begins. The kernel's ``bound`` lines are no guards here,
    as in log validation. ``expired`` is called before each call of the solver. Raises ``SpecError`` for a construct
    without an encoding.
    """

    def __init__(
        self,
        kernel: k.Kernel,
        starts: Sequence[State],
        hidden: frozenset[str],
        most_hidden: int,
        expired: Callable[[], bool] = lambda: False,
        already: int = 0,
    ) -> None:
        self._kernel = without_bounds(kernel)
        with deep_recursion(kernel):
            self._model = Model(self._kernel)
            self._system: System = encode_kernel(self._kernel, frozenset())
        self._old = self._system.gates.inputs(len(self._system.state))
        self._hidden = [ground.action in hidden for ground in self._system.ground]
        self._gates = Gates()
        rows = [self._system.row(each) for each in starts]
        first = list(rows[0]) if len(rows) == 1 else self._gates.inputs(len(self._system.state))
        self._frames = UnrolledSystem(self._system, first, self._gates)
        self._solver = GateSolver(self._gates, expired)
        with deep_recursion(kernel):
            self._require([is_initial(self._gates, first, rows)])
        self._most_hidden = most_hidden
        # A unary counter: entry n says that more than n hidden steps happened since the last observed one.
        self._unseen = [TRUE if number < already else FALSE for number in range(most_hidden)]
        self._observations: list[TraceObservation] = []
        self._switches: list[int] = []
        self._slots: list[_Slot] = []

    @property
    def capacities(self) -> tuple[str, ...]:
        """The capacities that some step may exceed. Such a step is not encoded, so a contradiction may be due to a
        capacity."""
        return tuple(self._system.cuts)

    @property
    def gates(self) -> int:
        """The number of gates of one step."""
        return len(self._system.gates)

    def close(self) -> None:
        """Free the solver."""
        self._solver.close()

    def observe(self, observation: TraceObservation) -> None:
        """Add an observation after the others. Raises ``SpecError`` for a condition without an encoding, or if there
        are too many gates."""
        self.observe_some([observation], [()])

    def observe_some(self, observations: Sequence[TraceObservation], after: Sequence[Sequence[int]]) -> None:
        """Add observations after those before, in any order in which each comes ``after`` certain others of these.
        Raises as ``observe``."""
        first = len(self._observations)
        self._observations += observations
        self._switches += [self._solver.fresh() for _ in observations]
        try:
            with deep_recursion(self._kernel):
                for chosen in places(self._gates, after, self._require):
                    self._slot({first + number: literal for number, literal in chosen.items()})
        except UnsupportedError as error:
            raise no_encoding(error) from None

    def _require(self, clause: Iterable[int]) -> None:
        self._solver.add([self._solver.literal(each) for each in clause])

    # ------------------------------------------------------------------------------------------------------ frames

    def _slot(self, chosen: dict[int, int]) -> None:
        """Encode hidden steps, followed by the observation that the solver chooses."""
        # Hidden steps come first, as many as may happen here.
        moves = [TRUE]
        while len(moves) <= self._most_hidden and self._unseen[-1] != TRUE:
            moves.append(self._hidden_frame(moves[-1]))
        # Then as many steps as the longest of these observations has.
        seen = {number: self._observations[number] for number in chosen}
        first = len(self._frames.frames) - 1
        fires = []
        for _ in range(max(len(each.steps) for each in seen.values())):
            fires.append(self._frames.at(len(self._frames.frames) - 1, self._system.fires))
            self._frames.extend()
        # Each says what holds if it stands here, unless its switch is off.
        for number, each in seen.items():
            for literal in self._meaning(each, first, fires):
                self._solver.add([-self._switches[number], *map(self._solver.literal, (chosen[number] ^ 1, literal))])
        moved = tuple(self._solver.literal(each) for each in moves[1:])
        self._slots.append(_Slot(first, len(self._frames.frames) - 1, chosen, moved))
        steps = self._gates.any_of(chosen[number] for number, each in seen.items() if each.steps)
        self._unseen = [self._gates.both(each, steps ^ 1) for each in self._unseen]

    def _meaning(self, observation: TraceObservation, first: int, fires: Sequence[Sequence[int]]) -> Iterator[int]:
        """What holds if this observation is explained by the steps from a frame on; superfluous steps do not happen."""
        for at, each in enumerate(fires):
            calls = observation.steps[at] if at < len(observation.steps) else None
            if calls is None:
                yield self._gates.any_of(each) ^ 1
            else:
                yield self._gates.any_of(
                    fire for n, fire in enumerate(each) if any(self._is(n, call) for call in calls)
                )
        wanted = [self._system.holds(each, self._old) for each in observation.conditions]
        yield from self._frames.between(first, first + len(observation.steps), wanted, self._old)

    def _is(self, number: int, call: PartialCall) -> bool:
        ground = self._system.ground[number]
        return ground.action == call.action and all(ground.arguments[at] == value for at, value in call.known)

    def _hidden_frame(self, moved: int) -> int:
        """Encode a step of a hidden action, or none; a step only if the one before it ``moved``. Returns whether it
        moves.

        The condition on ``moved`` puts idle frames last, so that no two assignments are the same run.
        """
        fires = self._frames.at(len(self._frames.frames) - 1, self._system.fires)
        for fire, hidden in zip(fires, self._hidden, strict=True):
            if not hidden:
                self._require([fire ^ 1])
        moves = self._gates.any_of(fires)
        self._require([moves ^ 1, moved])
        self._require([moves ^ 1, self._unseen[-1] ^ 1])
        # The counter goes up by one where a hidden step happens: each entry takes over the one before it.
        less = [TRUE, *self._unseen]
        self._unseen = [
            self._gates.either(mine, self._gates.both(moves, before))
            for mine, before in zip(self._unseen, less, strict=False)
        ]
        self._frames.extend()
        return moves

    # ----------------------------------------------------------------------------------------------------- answers

    def answer(self) -> Explained | Contradiction:
        """Whether some execution explains all observations so far. Raises ``OutOfBudgetError``.

        The execution has as few hidden steps as possible before the first observation, then before the second, and so
        on, unless minimising takes too long.
        """
        if self._solver.solve(self._switches):
            with deep_recursion(self._kernel):
                return self._with_fewer_hidden(self._explained())
        core = self._solver.core()
        needed = [switch for switch in self._switches if switch in core]
        # By deletion: what remains a contradiction without an observation does not need it.
        for switch in list(needed):
            fewer = [each for each in needed if each != switch]
            if not self._solver.solve(fewer):
                needed = fewer
        labels = (o.label for o, switch in zip(self._observations, self._switches, strict=True) if switch in needed)
        return Contradiction(tuple(labels))

    def _with_fewer_hidden(self, found: Explained) -> Explained:
        if len(found.trace) == 1 + sum(each.after - each.before for each in found.readings):
            return found
        fixed = list(self._switches)
        try:
            for slot in self._slots:
                # Hidden steps come before idle frames. So the first of them that can be idle says how few there may be.
                fewest = next((each for each in slot.moves if self._solver.solve([*fixed, -each])), None)
                fixed += [] if fewest is None else [-fewest]
            self._solver.solve(fixed)
        except OutOfBudgetError:
            return found
        return self._explained()

    def _explained(self) -> Explained:
        choices = [bit for frame in self._frames.choices for bit in frame]
        which = [literal for slot in self._slots for literal in slot.chosen.values()]
        inputs = [each for each in (*self._frames.frames[0], *choices, *which) if each > TRUE]
        values = self._solver.values([self._solver.literal(each) for each in inputs])
        given = {each >> 1: -1 if value else 0 for each, value in zip(inputs, values, strict=True)}
        steps: list[Step] = []
        place: list[int] = []
        for number, state in zip([None, *self._fired(given)], self._states(given), strict=True):
            if not steps:
                steps.append(Step(None, (), (), state))
            elif number is not None:
                steps.append(self._step(steps[-1].state, number, state))
            # In some frames nothing happens, so several frames may be one state of the trace.
            place.append(len(steps) - 1)
        readings = (
            ObservationSite(self._chosen(slot, given), place[slot.first], place[slot.last]) for slot in self._slots
        )
        return Explained(Trace(tuple(steps)), tuple(readings))

    def _states(self, given: dict[int, int]) -> list[State]:
        width = len(self._system.state)
        bits = self._gates.evaluate([bit for frame in self._frames.frames for bit in frame], given)
        return [self._system.values([bit & 1 for bit in bits[at : at + width]]) for at in range(0, len(bits), width)]

    def _fired(self, given: dict[int, int]) -> list[int | None]:
        """The ground action of each step."""
        steps, width = range(len(self._frames.frames) - 1), len(self._system.fires)
        fires = [fire for frame in steps for fire in self._frames.at(frame, self._system.fires)]
        values = self._gates.evaluate(fires, given)
        return [next((n for n in range(width) if values[width * frame + n]), None) for frame in steps]

    def _chosen(self, slot: _Slot, given: dict[int, int]) -> int:
        values = self._gates.evaluate(list(slot.chosen.values()), given)
        return next(number for number, value in zip(slot.chosen, values, strict=True) if value)

    def _step(self, before: State, number: int, after: State) -> Step:
        """The step as the reference evaluator makes it."""
        ground = self._system.ground[number]
        action = self._model.actions[ground.action]
        for outcome in action.outcomes(before, ground.arguments):
            if isinstance(outcome, Successor) and outcome.state == after:
                return Link(action, ground.arguments, outcome.picks).step(after)
        raise EnginesDisagreeError(f"the gates make a step that the reference evaluator does not: {before} to {after}")


def without_bounds(kernel: k.Kernel) -> k.Kernel:
    """The kernel without its ``bound`` lines."""
    actions = tuple(
        replace(each, body=tuple(s for s in each.body if not (isinstance(s, k.Guard) and s.kind == "bound")))
        for each in kernel.actions
    )
    return replace(kernel, actions=actions)
