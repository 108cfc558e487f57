"""The part of an action before its updates, ready to run: guards, names for values, and picks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from assay.checker.interpreter.expressions.enumerate_set import Listing, listing
from assay.checker.interpreter.expressions.frame import EvaluationScope, Meaning
from assay.checker.interpreter.expressions.traverse import locals_of
from assay.grammar import kernel as k
from assay.grammar.kernel.node_unions import statement
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class GuardStep:
    """A guard with its meaning. ``needs`` are the bound names that it mentions."""

    node: k.Guard
    holds: Meaning
    is_bound: bool
    needs: frozenset[str]


@dataclass(frozen=True, slots=True)
class LetStep:
    """A name for a value."""

    node: k.Let
    name: str
    value: Meaning
    needs: frozenset[str]


@dataclass(frozen=True, slots=True)
class PickStep:
    """A pick."""

    node: k.Pick
    name: str
    elements: Listing
    needs: frozenset[str]


PrefixStep = GuardStep | LetStep | PickStep


def prefix_steps(statements: Sequence[k.Statement], scope: EvaluationScope) -> list[PrefixStep]:
    """The statements before the updates, each with its meaning."""
    return [_step(each, scope) for each in statements]


def _step(each: k.Statement, scope: EvaluationScope) -> PrefixStep:
    node, needs = statement(each), locals_of(each)
    match node:
        case k.Guard(kind, _, condition):
            return GuardStep(node, scope.meaning(condition), kind == "bound", needs)
        case k.Let(binder, value):
            return LetStep(node, binder.name, scope.meaning(value), needs)
        case k.Pick(binder, domain):
            return PickStep(node, binder.name, listing(domain, scope), needs)
        case k.Assign() | k.If() | k.For():
            # The elaborator orders bodies: guards, lets and picks precede updates (`grammar/kernel/model.py`).
            raise AssertionError(f"{node.span}: an update among the guards")
        case _:
            assert_never(node)
