"""A random spec against the reference engine: the steps and properties of each state that it reaches."""

from __future__ import annotations

from collections import Counter
from typing import Any

from assay.checker.interpreter.actions.outcome import Cut, Stuck, Successor
from assay.checker.interpreter.compiled_model import Model, outcomes
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar.kernel import Kernel
from assay.grammar.values import Value

from .meaning import Environment
from .sorts import UnclearError, UndefinedError
from .specs import Spec

MOST_STATES = 25
Row = tuple[Value, ...]


def compare(spec: Spec, kernel: Kernel) -> Counter[str]:
    """Assert that both say the same; how many steps and values of properties were compared, and how many are unclear."""
    with deep_recursion(kernel):
        model = Model(kernel)
        first = [each.state for each in model.init.outcomes() if isinstance(each, Successor)]
        assert Counter(first) == Counter(tuple(each.values()) for each in spec.initial())
        seen, waiting, compared = set(first), list(first), Counter[str]()
        while waiting and len(seen) < MOST_STATES:
            state = waiting.pop(0)
            steps = [(action.node.name, arguments, _said(each)) for action, arguments, each in outcomes(model, state)]
            _steps(spec, state, Counter(steps), compared)
            after = [each[1] for _, _, each in steps if each[0] == "to"]
            _properties(spec, kernel, model, state, after, compared)
            for each in after:
                if each not in seen:
                    seen.add(each)
                    waiting.append(each)
    return compared


def _said(outcome: Successor | Cut | Stuck) -> tuple[str, Any]:
    match outcome:
        case Successor(_, state):
            return "to", state
        case Cut(_, label):
            return "cut", "capacity" if label.startswith("capacity") else label
        case Stuck():
            return "stuck", None


def _steps(spec: Spec, state: Row, found: Counter[Any], compared: Counter[str]) -> None:
    try:
        expected = spec.steps(dict(zip(spec.sorts, state, strict=True)))
    except UnclearError:
        compared["unclear"] += 1
        return
    assert found == expected, f"in {state}: the engine alone {found - expected}, the text alone {expected - found}"
    compared["steps"] += sum(found.values())


def _properties(spec: Spec, kernel: Kernel, model: Model, state: Row, after: list[Row], compared: Counter[str]) -> None:
    nodes = {each.name: each for each in kernel.properties}
    for name, kind, mean in spec.properties:
        for then in after[:3] if kind == "transition" else [state]:
            before = dict(zip(spec.sorts, state, strict=True))
            env = Environment(dict(zip(spec.sorts, then, strict=True)), before=before, enabled=spec.enabled)
            try:
                expected = mean(env)
            except UndefinedError:
                expected = None
            except UnclearError:
                compared["unclear"] += 1
                continue
            value = _value(model, nodes[name], Frame(then, state))
            assert value == expected, f"{name} in {then} after {state}: the engine says {value}, the text {expected}"
            compared["undefined" if value is None else "properties"] += 1


def _value(model: Model, property_: Any, frame: Frame) -> bool | None:
    try:
        return all(model.meaning(each.condition)(frame) for each in property_.conjuncts)
    except Undefined:
        return None
