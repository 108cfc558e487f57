"""An instance of an action as a store remembers it: how a state was reached from the one before."""

from __future__ import annotations

from assay.checker.interpreter.actions.action import ActionMeaning, Arguments
from assay.checker.interpreter.actions.outcome import Picks
from assay.checker.report import State, Step
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Link:
    """An instance of an action that happened."""

    action: ActionMeaning
    arguments: Arguments
    picks: Picks

    def step(self, state: State) -> Step:
        """The step of a trace that this instance makes when it leads to ``state``."""
        named = tuple(zip(self.action.names, self.arguments, strict=True))
        return Step(self.action.node.name, named, self.picks, state)
