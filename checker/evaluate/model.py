"""A kernel made ready to run: its initial states, its actions, and the meaning of any expression over its state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.checker.evaluate.action import ActionMeaning, Arguments
from assay.checker.evaluate.expression import scope_of
from assay.checker.evaluate.initial import InitMeaning
from assay.checker.evaluate.outcome import Outcome
from assay.checker.evaluate.remembering import remembering
from assay.checker.evaluate.scope import Meaning
from assay.checker.evaluate.update import Updater
from assay.grammar.kernel import Expr, Kernel
from assay.grammar.values import Value


class Model:
    """What an explicit search needs of a kernel; with ``bounded`` false the ``bound`` lines are no guards, as in validation.

    ``strict`` names sorts as in ``Scope``. With ``remember``, values are remembered (NOTE(remembering)).
    """

    __slots__ = ("actions", "init", "kernel", "scope", "steps")

    def __init__(
        self, kernel: Kernel, *, bounded: bool = True, strict: frozenset[str] = frozenset(), remember: bool = False
    ) -> None:
        updater = Updater(kernel.variables)
        self.kernel = kernel
        self.scope = scope_of(kernel.variables, strict)
        if remember:
            self.scope = replace(self.scope, translate=remembering)
        self.init = InitMeaning(kernel.init, self.scope, updater)
        self.actions = {a.name: ActionMeaning(a, self.scope, updater, bounded=bounded) for a in kernel.actions}
        self.steps = [self.actions[name] for name in kernel.next]

    def meaning(self, expr: Expr) -> Meaning:
        """The function that evaluates an expression in a frame."""
        return self.scope.meaning(expr)


def outcomes(model: Model, state: tuple[Value, ...]) -> Iterator[tuple[ActionMeaning, Arguments, Outcome]]:
    """Everything that can happen in a state, in the order of the model."""
    for action in model.steps:
        for arguments in action.instances:
            for outcome in action.outcomes(state, arguments):
                yield action, arguments, outcome
