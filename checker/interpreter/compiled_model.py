"""A kernel that can be run: its initial states, its actions, and the meaning of any expression over its state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from assay.checker.interpreter.actions.action import ActionMeaning, Arguments
from assay.checker.interpreter.actions.initial_states import InitMeaning
from assay.checker.interpreter.actions.outcome import Outcome
from assay.checker.interpreter.actions.update import Updater
from assay.checker.interpreter.expressions.dispatch import scope_of
from assay.checker.interpreter.expressions.frame import EvaluationScope, Meaning
from assay.checker.interpreter.expressions.quantifier_memo import memoised
from assay.grammar.kernel import Expr, Kernel
from assay.grammar.values import Value


class CompiledActions(Mapping[str, ActionMeaning]):
    """The actions of a kernel by name, each prepared on first use: each slice of a log uses only a few of them."""

    __slots__ = ("_bounded", "_generated", "_made", "_nodes", "_scope", "_updater")

    def __init__(
        self, kernel: Kernel, scope: EvaluationScope, updater: Updater, *, bounded: bool, generated: bool
    ) -> None:
        self._generated = generated
        self._nodes = {action.name: action for action in kernel.actions}
        self._scope, self._updater, self._bounded = scope, updater, bounded
        self._made: dict[str, ActionMeaning] = {}

    def __getitem__(self, name: str) -> ActionMeaning:
        found = self._made.get(name)
        if found is None:
            node = self._nodes[name]
            found = self._made[name] = ActionMeaning(
                node, self._scope, self._updater, bounded=self._bounded, generated=self._generated
            )
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)


class Model:
    """What an explicit search needs of a kernel. With ``bounded`` false, ``bound`` lines are no guards, as in log
    validation.

    ``strict`` names sorts as in ``EvaluationScope``. With ``remember``, values are memoised
    (docs/design/quantifier-memo.md).
    """

    __slots__ = ("_steps", "actions", "init", "kernel", "scope")

    def __init__(
        self, kernel: Kernel, *, bounded: bool = True, strict: frozenset[str] = frozenset(), remember: bool = False
    ) -> None:
        updater = Updater(kernel.variables)
        self.kernel = kernel
        self.scope = scope_of(kernel.variables, strict)
        if remember:
            # A scope translates the parts of an expression by itself, so that inner quantifiers are memoised too.
            self.scope = replace(self.scope, translate=memoised)
        self.init = InitMeaning(kernel.init, self.scope, updater)
        self.actions = CompiledActions(kernel, self.scope, updater, bounded=bounded, generated=remember)
        # Listed on first use, which prepares all of them: who asks single actions needs only these.
        self._steps: list[ActionMeaning] | None = None

    @property
    def steps(self) -> list[ActionMeaning]:
        """The actions of the step relation, in the order of the model."""
        if self._steps is None:
            self._steps = [self.actions[name] for name in self.kernel.next]
        return self._steps

    def meaning(self, expr: Expr) -> Meaning:
        """The function that evaluates an expression in a frame."""
        return self.scope.meaning(expr)


def outcomes(model: Model, state: tuple[Value, ...]) -> Iterator[tuple[ActionMeaning, Arguments, Outcome]]:
    """Every outcome in a state, in the order of the model."""
    for action in model.steps:
        for arguments in action.instances:
            for outcome in action.outcomes(state, arguments):
                yield action, arguments, outcome
