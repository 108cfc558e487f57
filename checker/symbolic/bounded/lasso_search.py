"""Bounded search for violations of temporal properties: fair runs that return to a state, asked of a SAT solver step by
step.

Each run is judged by the reference evaluator, as lassos of the state graph are. A bounded search proves nothing: what
it does not refute is open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType

from assay.checker.aig.graph import Gates
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.liveness.confirm import Counterexample, WithoutValue, confirmed
from assay.checker.liveness.lasso import Lasso
from assay.checker.liveness.nnf import StateCondition, letters_of
from assay.checker.liveness.plan import Claim, Plan
from assay.checker.report import EnginesDisagreeError, State
from assay.checker.symbolic.bounded.liveness_to_safety import NO_VALUE, loops
from assay.checker.symbolic.bounded.unroll import UnrolledSystem
from assay.checker.symbolic.encode.initial import is_initial
from assay.checker.symbolic.encode.transition_system import SymbolicQuestion, encode_kernel
from assay.checker.symbolic.sat.subprocess_solver import ChildSolver
from assay.checker.symbolic.sat.tseitin import Clause, Clauses


class Lassos:
    """One search from initial states. ``deadline`` and ``interrupted`` are as of ``ChildSolver``, which runs until
    ``close``.

    ``decisions`` are about properties that are violated or undefined somewhere; the state of a decision is the last one
    of the property's path in ``paths``.
    """

    def __init__(
        self, model: Model, plan: Plan, starts: Sequence[State], deadline: float | None, interrupted: Callable[[], bool]
    ) -> None:
        self.decisions: dict[str, Counterexample | WithoutValue] = {}
        self.paths: dict[str, list[State]] = {}
        self._model = model
        self._plan = plan
        self._loops = loops(encode_kernel(model.kernel, frozenset()), plan)
        self._gates = Gates()
        self._clauses = Clauses(self._gates)
        self._must: list[Clause] = []
        self._frames = UnrolledSystem(self._loops.system, self._first(starts), self._gates)
        self._solver = ChildSolver(deadline, interrupted)

    def __enter__(self) -> Lassos:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._solver.__exit__(kind, error, trace)

    def _first(self, starts: Sequence[State]) -> list[int]:
        base, width = self._loops.base, len(self._loops.system.state)
        rows = [base.row(state) for state in starts]
        if len(rows) == 1:
            # Nothing is saved yet in the first frame.
            return [*rows[0], *[0] * (width - len(base.state))]
        bits = self._gates.inputs(len(base.state))
        self._must.append([self._clauses.literal(is_initial(self._gates, bits, rows))])
        return [*bits, *[0] * (width - len(base.state))]

    @property
    def open(self) -> list[SymbolicQuestion]:
        """The properties that are still to be decided."""
        return [q for q in self._loops.system.questions if q.name not in self.decisions]

    def look(self, steps: int) -> None:
        """Look at all runs that return after at most ``steps`` steps. Raises ``NoAnswerError`` as the solver does."""
        # From where the last call ended: each length is looked at once.
        while len(self._frames.frames) <= steps and self.open:
            self._frames.extend()
            self._ask(len(self._frames.frames) - 1)

    def _ask(self, frame: int) -> None:
        """Decide what a run that returns to a saved state in this frame decides, or the state before it."""
        literals = {
            question: self._frames.at(frame - 1 if question.kind == NO_VALUE else frame, [question.wanted])[0]
            for question in self.open
        }
        # One question about all of them first: at most lengths nothing is decided.
        if self._solve(self._gates.any_of(literals.values())) is None:
            return
        # What has no value first: a property that is undefined on the way is not refuted by the rest of the run.
        for question, literal in sorted(literals.items(), key=lambda each: each[0].kind != NO_VALUE):
            model = None if question.name in self.decisions else self._solve(literal)
            if model is None:
                continue
            states, loop = self._run(model)
            claim = next(each for each in self._plan.claims if each.node.name == question.name)
            if question.kind == NO_VALUE:
                self._note_no_value(claim, states[:frame])
            else:
                self._judge(claim, states, loop)

    def _solve(self, wanted: int) -> set[int] | None:
        literal = self._clauses.literal(wanted)
        clauses, self._must = [*self._clauses.take(), *self._must], []
        return self._solver.solve(clauses, [literal])

    def _run(self, model: set[int]) -> tuple[list[State], int]:
        """The states of a run, and the position of the saved one."""
        known, base = self._clauses.variables, self._loops.base
        rows = self._frames.rows(lambda inputs: [known.get(each >> 1, 0) in model for each in inputs])
        states = [base.values(row[: len(base.state)]) for row in rows]
        # The bit is set by the step from the saved state, so it is first seen one state later.
        return states, next((at for at, row in enumerate(rows[1:]) if row[self._loops.saved]), 0)

    def _judge(self, claim: Claim, states: Sequence[State], loop: int) -> None:
        numbers: dict[State, int] = {}
        places = tuple(numbers.setdefault(state, len(numbers)) for state in states)
        decision = confirmed(self._model, claim.node, Lasso(places, loop), list(numbers).__getitem__)
        self.decisions[claim.node.name] = decision
        if isinstance(decision, WithoutValue):
            self.paths[claim.node.name] = list(states[: places.index(decision.state) + 1])

    def _note_no_value(self, claim: Claim, states: list[State]) -> None:
        """Report what is undefined in the last state of a run."""
        frame = Frame(states[-1])
        for letter in sorted(set().union(*map(letters_of, claim.formulas))):
            if isinstance(self._plan.letters[letter], StateCondition):
                try:
                    self._model.meaning(self._plan.condition(letter))(frame)
                except Undefined as undefined:
                    self.decisions[claim.node.name] = WithoutValue(len(states) - 1, undefined.message, undefined.span)
                    self.paths[claim.node.name] = states
                    return
        raise EnginesDisagreeError(
            f"a condition of `{claim.node.name}` has no value in {states[-1]}, and the reference has one"
        )
