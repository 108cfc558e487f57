"""Why a state is deadlocked: for every action the instance closest to enabled, and the guards that are false in it."""

from __future__ import annotations

from typing import assert_never

from assay.checker.interpreter.actions.action import ActionMeaning
from assay.checker.interpreter.actions.disabled_guards import FalseGuard
from assay.checker.interpreter.compiled_model import Model
from assay.checker.print_kernel import Sources, expression_text
from assay.checker.report import BlockedAction, State
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Span


def blocked_actions(model: Model, state: State, sources: Sources) -> tuple[BlockedAction, ...]:
    """One entry for every action that has an instance, in the order of the model."""
    found = (_closest(action, state, sources) for action in model.steps)
    return tuple(each for each in found if each is not None)


def _closest(action: ActionMeaning, state: State, sources: Sources) -> BlockedAction | None:
    candidates = (
        # A bound that is false is no reason: were it the only one, the instance would be cut and the state no deadlock.
        (arguments, tuple(guard for guard in false if not guard.is_bound))
        for arguments in action.instances
        for false in action.false_guards(state, arguments)
    )
    # The instance with the fewest false guards is the one that a reader expects to have happened.
    best = min(candidates, key=lambda candidate: len(candidate[1]), default=None)
    # An action without instances, because a parameter has no values, blocks nothing.
    if best is None:
        return None
    arguments, false = best
    named = tuple(zip(action.names, arguments, strict=True))
    return BlockedAction(action.node.name, named, tuple(describe_guard(guard, sources) for guard in false))


def describe_guard(guard: FalseGuard, sources: Sources) -> tuple[str, str, Span]:
    """The label, the text and the place of a guard that is false or undefined."""
    label, text = _label_and_text(guard.node, sources)
    said = text if guard.undefined is None else f"{text} (undefined: {guard.undefined})"
    return label, said, guard.node.span


def _label_and_text(node: k.Guard | k.Pick | k.Let, sources: Sources) -> tuple[str, str]:
    match node:
        case k.Guard(_, label, condition):
            return label, expression_text(condition, sources)
        case k.Pick(binder, domain):
            return f"pick {binder.name}", f"pick {binder.name} in {expression_text(domain, sources)}"
        case k.Let(binder, value):
            return f"let {binder.name}", f"let {binder.name} = {expression_text(value, sources)}"
        case _:
            assert_never(node)
