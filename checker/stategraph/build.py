"""The graph of reachable states, with every instance that leads from one to another, by the reference evaluator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from assay.checker.interpreter.actions.outcome import Cut, Stuck, Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.report import State
from assay.checker.results.show_instance import show_instance
from assay.grammar.kernel import Kernel
from assay.grammar.lazy_dataclass import dataclass

Edges = Mapping[tuple[int, int], tuple[str, ...]]
"""The instances that lead from one node to another, by their positions."""


@dataclass(frozen=True, slots=True)
class StateGraph:
    """States in breadth-first order, the first ``initial`` of them initial, with their levels from 1.

    ``bounds`` counts cut instances; ``undefined`` is the first undefined expression; ``stopped`` is the reason why
    states are missing, if some are.
    """

    kernel: Kernel
    states: tuple[State, ...]
    levels: tuple[int, ...]
    initial: int
    edges: Edges
    bounds: Mapping[str, int]
    undefined: str | None = None
    stopped: str | None = None


class _Explorer:
    def __init__(self, model: Model, most: int, interrupted: Callable[[], bool]) -> None:
        self.model = model
        self.most = most
        self.interrupted = interrupted
        self.numbers: dict[State, int] = {}
        self.levels: list[int] = []
        self.edges: dict[tuple[int, int], list[str]] = {}
        self.bounds: Counter[str] = Counter()
        self.undefined: str | None = None
        self.stopped: str | None = None

    def number(self, state: State, level: int) -> int | None:
        """The number of a state; a new state gets one unless the limit is reached."""
        if state not in self.numbers:
            if len(self.numbers) >= self.most:
                self.stopped = f"the limit of {self.most:,} states was reached in level {level}"
                return None
            self.numbers[state] = len(self.numbers)
            self.levels.append(level)
        return self.numbers[state]

    def expand(self, number: int, state: State) -> None:
        """Take every step from a state."""
        for action, arguments, outcome in outcomes(self.model, state):
            match outcome:
                case Successor(picks, after):
                    target = self.number(after, self.levels[number] + 1)
                    if target is not None:
                        label = show_instance(action.node, arguments, picks)
                        self.edges.setdefault((number, target), []).append(label)
                case Cut(_, label):
                    self.bounds[label] += 1
                case Stuck(_, message, span):
                    self.undefined = self.undefined or f"{message} ({span})"

    def run(self) -> None:
        """Find every state, up to the limit."""
        for outcome in self.model.init.outcomes():
            match outcome:
                case Successor(_, state):
                    self.number(state, 1)
                case Cut(_, label):
                    self.bounds[label] += 1
                case Stuck(_, message, span):
                    self.undefined = self.undefined or f"{message} ({span})"

    def all_levels(self) -> None:
        """Expand states in the order in which they were found."""
        # A dict keeps the order in which states were found. The list is made anew only where it has run out.
        states = list(self.numbers)
        for number in range(self.most):
            if number == len(states):
                states = list(self.numbers)
                if number == len(states):
                    return
            if self.interrupted():
                raise KeyboardInterrupt
            self.expand(number, states[number])


def explore(kernel: Kernel, most: int, interrupted: Callable[[], bool] = lambda: False) -> StateGraph:
    """The graph of up to ``most`` states. Raises ``SpecError`` if a domain is too large to list, ``KeyboardInterrupt``
    if interrupted."""
    found = _Explorer(Model(kernel), most, interrupted)
    found.run()
    initial = len(found.numbers)
    found.all_levels()
    edges = {ends: tuple(dict.fromkeys(labels)) for ends, labels in found.edges.items()}
    return StateGraph(
        kernel,
        tuple(found.numbers),
        tuple(found.levels),
        initial,
        edges,
        dict(found.bounds),
        found.undefined,
        found.stopped,
    )
