"""The interface of an engine that moves many walkers at once. ``B`` is the engine's representation of their states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from assay.checker.explicit.expansion.compiled_interface import CompiledCode
from assay.checker.interpreter.actions.outcome import Cut, Stuck, Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.report import State
from assay.grammar.elaborate.scopes.type_relations import parts
from assay.grammar.kernel.types import RangeType, Type
from assay.grammar.lazy_dataclass import dataclass
from assay.grammar.values import FrozenMap

B = TypeVar("B")
Positions = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WalkerNotice:
    """A walker whose state the reference evaluator must look at.

    ``after`` is the successor concerned, if any; ``claim`` names the property that compiled code reports as decided or
    undefined.
    """

    walker: int
    after: State | None = None
    claim: str | None = None


class Walkers(Protocol[B]):
    """An engine. ``expand`` gives the number of successors of each walker, in the order of the walkers, and the action
    of each successor."""

    @property
    def machine(self) -> CompiledCode | None:
        """The compiled code that moves walkers, if any."""

    def place(self, states: list[State]) -> B:
        """Walkers in these states."""

    def state(self, batch: B, walker: int) -> State:
        """The state of a walker."""

    def expand(self, batch: B) -> tuple[Positions, Positions, list[WalkerNotice]]:
        """Numbers of successors, their actions, and walkers whose state or steps must be looked at."""

    def move(self, positions: Positions) -> B:
        """Walkers in the successors at these positions of the last expansion."""

    def inspect(self, batch: B) -> list[WalkerNotice]:
        """Walkers in whose states a property of states may be decided."""

    def prints(self, batch: B) -> list[int]:
        """A number for each walker's state, equal for equal states."""

    def bounds(self) -> Iterator[tuple[str, int]]:
        """How often each bound cut an instance in all expansions."""

    def note_coverage(self) -> None:
        """Report to the model which guards were the only false one of an instance in all expansions."""


class InterpretedWalkers:
    """Walkers moved by the reference evaluator, which judges every state and step itself."""

    machine = None

    def __init__(self, model: Model, *, asks_steps: bool) -> None:
        self._model = model
        self._asks_steps = asks_steps
        self._numbers = {action.node.name: at for at, action in enumerate(model.steps)}
        self._successors: list[State] = []
        self._cuts: dict[str, int] = {}
        # By type and once: to look through each state for a sign would cost more than its hash.
        self._has_negative = any(_may_be_negative(each.type) for each in model.kernel.variables)

    def place(self, states: list[State]) -> list[State]:
        """Walkers in these states."""
        return list(states)

    def state(self, batch: list[State], walker: int) -> State:
        """The state of a walker."""
        return batch[walker]

    def expand(self, batch: list[State]) -> tuple[Positions, Positions, list[WalkerNotice]]:
        """Every walker's successors."""
        self._successors = []
        counts, actions, notices = [], list[int](), []
        for walker, state in enumerate(batch):
            before, alive, stuck = len(self._successors), False, False
            for action, _, outcome in outcomes(self._model, state):
                # A state in which a bound cuts all steps, or something is undefined, is no deadlock.
                alive = True
                match outcome:
                    case Successor(_, after):
                        self._successors.append(after)
                        actions.append(self._numbers[action.node.name])
                        # Every step is a notice here: the reference evaluator finds no violation beforehand.
                        if self._asks_steps:
                            notices.append(WalkerNotice(walker, after))
                    case Cut(_, label):
                        self._cuts[label] = self._cuts.get(label, 0) + 1
                    case Stuck():
                        stuck = True
            if stuck or not alive:
                notices.append(WalkerNotice(walker))
            counts.append(len(self._successors) - before)
        return np.array(counts, np.int64), np.array(actions, np.int64), notices

    def move(self, positions: Positions) -> list[State]:
        """Walkers in the successors at these positions."""
        return [self._successors[at] for at in positions.tolist()]

    def inspect(self, batch: list[State]) -> list[WalkerNotice]:
        """All walkers."""
        return [WalkerNotice(walker) for walker in range(len(batch))]

    def prints(self, batch: list[State]) -> list[int]:
        """The hashes of the states."""
        # As good as a fingerprint within one run, in which all processes are copies of one.
        return [hash(_told_apart(state) if self._has_negative else state) for state in batch]

    def bounds(self) -> Iterator[tuple[str, int]]:
        """How often each bound cut an instance."""
        yield from self._cuts.items()

    def note_coverage(self) -> None:
        """Nothing: evaluating an instance notes its coverage."""


def _may_be_negative(type_: Type) -> bool:
    return (isinstance(type_, RangeType) and type_.low < 0) or any(map(_may_be_negative, parts(type_)))


def _told_apart(value: Any) -> Any:
    """A value with every negative integer as a pair. Python gives -1 and -2 one hash, and so all states that differ
    only there."""
    match value:
        case int():
            return value if value >= 0 else ("minus", -value)
        case frozenset():
            return frozenset(map(_told_apart, value))
        case FrozenMap():
            return FrozenMap((_told_apart(key), _told_apart(image)) for key, image in value.items())
        case tuple():
            return tuple(map(_told_apart, value))
        case _:
            return value
