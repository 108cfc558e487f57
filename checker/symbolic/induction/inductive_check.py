"""Whether properties are inductive together, asked of the gates; if not, a state and a step that show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from assay.checker.aig.graph import Gates
from assay.checker.report import State
from assay.checker.symbolic.bounded.unroll import UnrolledSystem
from assay.checker.symbolic.encode.initial import is_initial
from assay.checker.symbolic.encode.transition_system import System, encode_kernel
from assay.checker.symbolic.sat.incremental import GateSolver
from assay.grammar import kernel as k
from assay.grammar.lazy_dataclass import dataclass

STATEMENT = "statement "


@dataclass(frozen=True, slots=True)
class InductionFailure:
    """Why statements are not inductive: the statement that fails, in an initial state (``before`` is None) or after a
    step."""

    failing: int
    before: State | None
    after: State


class Induction:
    """A kernel with statements about its states, each of which can be switched off."""

    def __init__(
        self,
        kernel: k.Kernel,
        statements: Sequence[k.Expr],
        initial: Sequence[State],
        expired: Callable[[], bool] = lambda: False,
    ) -> None:
        extra = tuple(
            k.Property(f"{STATEMENT}{at}", "lemma", (k.Conjunct("", each),), None) for at, each in enumerate(statements)
        )
        self.system: System = encode_kernel(replace(kernel, properties=(*kernel.properties, *extra)))
        self._gates = Gates()
        state = self._gates.inputs(len(self.system.state))
        self._frames = UnrolledSystem(self.system, state, self._gates)
        self._frames.extend()
        self._solver = GateSolver(self._gates, expired)
        # Each input gets its variable at once: the values of a model are asked of all of them later.
        for each in (*state, *self._frames.choice(0)):
            self._solver.literal(each)
        self._number = len(statements)
        wanted = [self.system.question(f"{STATEMENT}{at}").wanted for at in range(self._number)]
        self._holds = [-self._solver.literal(each) for each in self._frames.at(0, wanted)]
        self._fails_after = [self._solver.literal(each) for each in self._frames.at(1, wanted)]
        # Sorted, so that the gates and with them the answer do not depend on hashes.
        rows = sorted({self.system.row(each) for each in initial})
        self._begins = self._solver.literal(is_initial(self._gates, state, rows))
        self._canonical = self._solver.literal(self._frames.at(0, [self.system.canonical])[0])

    def close(self) -> None:
        """Free the solver."""
        self._solver.close()

    def failure(self, chosen: Sequence[int]) -> InductionFailure | None:
        """The first of the chosen statements that fails initially, or after a step from a state with all of them."""
        for at in chosen:
            if self._solver.solve([self._canonical, self._begins, -self._holds[at]]):
                return InductionFailure(at, None, self._state(0))
        # The state before the step need not be reachable: induction asks of all that have the statements.
        together = [self._holds[at] for at in chosen]
        # Initial states first: what fails there needs no step to show it.
        for at in chosen:
            if self._solver.solve([self._canonical, *together, self._fails_after[at]]):
                return InductionFailure(at, self._state(0), self._state(1))
        return None

    def implies(self, chosen: Sequence[int], question: str) -> bool:
        """Whether no state with all chosen statements decides the question."""
        wanted = self._frames.at(0, [self.system.question(question).wanted])[0]
        return not self._solver.solve(
            [self._canonical, *(self._holds[at] for at in chosen), self._solver.literal(wanted)]
        )

    def excludes(self, chosen: Sequence[int], literal: int) -> bool:
        """Whether no state with all chosen statements has a literal of the system."""
        wanted = self._frames.at(0, [literal])[0]
        return not self._solver.solve(
            [self._canonical, *(self._holds[at] for at in chosen), self._solver.literal(wanted)]
        )

    def needed(self, question: str) -> list[int]:
        """A small subset of the statements that is still inductive and implies the property; long statements are
        dropped first."""
        kept = list(range(self._number))
        for at in reversed(range(self._number)):
            fewer = [each for each in kept if each != at]
            if self.implies(fewer, question) and self.failure(fewer) is None:
                kept = fewer
        return kept

    def relevant(self, question: str) -> list[int]:
        """A subset that is inductive and implies the property, from what the refutations used."""
        return self.excluding(self.system.question(question).wanted)

    def excluding(self, literal: int) -> list[int]:
        """A subset that is inductive and excludes a literal of the system."""
        wanted = self._frames.at(0, [literal])[0]
        kept: set[int] = set()
        new = self._used([self._solver.literal(wanted)])
        while new:
            kept |= new
            new = set().union(*(self._used([self._holds[at], self._fails_after[at]]) for at in new)) - kept
        return sorted(kept)

    def helpers(self, at: int) -> list[int]:
        """Other statements without which a statement would not be preserved by every step; all together must be
        inductive.

        The set is minimal (none can be left out), not the smallest.
        """
        # A statement may be needed for itself, which says nothing.
        kept = sorted(self._used([self._holds[at], self._fails_after[at]]) - {at})
        for each in list(kept):
            fewer = [self._holds[other] for other in kept if other != each]
            if not self._solver.solve([self._canonical, *fewer, self._holds[at], self._fails_after[at]]):
                kept.remove(each)
        return kept

    def _used(self, denied: Sequence[int]) -> set[int]:
        """The statements that the refutation of what is denied used."""
        # Equal statements share a literal, and one of them stands for all.
        names = {literal: at for at, literal in enumerate(self._holds)}
        if self._solver.solve([self._canonical, *denied, *names]):
            raise AssertionError("statements that were inductive are not")
        core = self._solver.core()
        return {at for literal, at in names.items() if literal in core}

    def _state(self, frame: int) -> State:
        """The state of a frame in the last model; inputs that the solver left open are zero."""
        rows = self._frames.rows(lambda inputs: self._solver.values([self._solver.literal(each) for each in inputs]))
        return self.system.values(rows[frame])
