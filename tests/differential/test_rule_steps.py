"""Compiled rules of a trace clause take the steps that the reference evaluator takes, and no others: of random kernels, in random states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from random import Random

import numpy as np
from tests.stages import rounds

from assay.checker.interpreter.actions.outcome import Successor
from assay.checker.interpreter.compiled_model import Model
from assay.checker.interpreter.expressions.frame import Frame
from assay.checker.interpreter.expressions.recursion_limit import deep_recursion
from assay.checker.interpreter.property_meaning import OF_STEPS
from assay.checker.interpreter.values.type_check import range_check
from assay.checker.interpreter.values.undefined import Undefined
from assay.checker.lowering.llvm.unsupported import UnsupportedError
from assay.checker.native.trace_rules import EncodedLines, RuleSteps, rule_program
from assay.checker.report import State
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.values import Value

from .random_kernel import random_kernel
from .random_state import random_state, random_value

KERNELS = 60
STATES = 12


def rules_of(random: Random, kernel: k.Kernel) -> Iterator[k.TraceRule]:
    """A rule for each action that does not choose, with conditions on the state after it, and rules that look at the state."""
    conditions = [part.condition for each in kernel.properties for part in each.conjuncts]
    of_states = [part.condition for each in kernel.properties if each.kind != "transition" for part in each.conjuncts]
    for action in kernel.actions:
        if any(isinstance(each, k.Pick) for each in action.body):
            continue
        binders = [k.Local(p.binder.type, f"said_{p.binder.name}") for p in action.parameters]
        fields = tuple(k.EventField(each.name, each) for each in binders)
        then = random.choice(conditions) if conditions and random.random() < 0.5 else None
        call = k.ActionCall(action.name, tuple(_given(random, each) for each in binders))
        yield k.TraceRule(action.name, action.name, fields, _speaks(random, binders), ((call,),), then, None)
    for condition in of_states[:2]:
        yield k.TraceRule("look", "look", (), None, (), None, condition)


def _given(random: Random, binder: k.Local) -> k.Expr:
    """An argument: what the line states, or one more, which may be no value of the parameter."""
    if isinstance(binder.type, t.RangeType) and random.random() < 0.5:
        return k.Arithmetic(t.INT, "+", binder, k.Const(t.INT, 1))
    return binder


def _speaks(random: Random, binders: list[k.Local]) -> k.Expr | None:
    """An ``if`` of what a line states."""
    if not binders or random.random() < 0.5:
        return None
    binder = random.choice(binders)
    return k.Equal(t.BOOL, binder, k.Const(binder.type, random_value(random, binder.type)), negated=False)


def _holds(model: Model, expr: k.Expr, now: State, before: State, bound: Mapping[str, Value]) -> bool:
    try:
        return model.meaning(expr)(Frame(now, before, dict(bound))) is True
    except Undefined:
        return False


def _expected(model: Model, rule: k.TraceRule, state: State, said: tuple[Value, ...]) -> tuple[int, State]:
    """What ``RuleSteps.follow`` says of one line, and the state after it."""
    after, bound = state, {field.binder.name: value for field, value in zip(rule.fields, said, strict=True)}
    if rule.steps:
        call = rule.steps[0][0]
        action = model.actions[call.action]
        given = tuple(model.meaning(each)(Frame((), (), dict(bound))) for each in call.arguments if each is not None)
        checks = [range_check(parameter.binder.type) for parameter in action.node.parameters]
        try:
            for check, value in zip(checks, given, strict=True):
                if check is not None:
                    check(value)
        except Undefined:
            return 0, state
        found = list(action.outcomes(state, given))
        if not isinstance(found[0] if found else None, Successor):
            return 0, state
        (result,) = found
        assert isinstance(result, Successor)
        after = result.state
    condition = rule.then if rule.steps else rule.observe
    if condition is not None and not _holds(model, condition, after, state, bound):
        return 0, state
    of_steps = (each for each in model.kernel.properties if each.kind in OF_STEPS)
    kept = all(_holds(model, part.condition, after, state, {}) for each in of_steps for part in each.conjuncts)
    return (1, after) if kept else (-1, state)


@rounds(6, KERNELS)
def test_compiled_rules_take_the_steps_of_the_reference_evaluator(rounds: int) -> None:
    seen: Counter[tuple[bool, int]] = Counter()
    spoken: Counter[bool] = Counter()
    compiled = refused = 0
    for seed in chain(range(rounds), range(1_000, 1_000 + 10 * rounds)):
        random = Random(seed)
        kernel = random_kernel(random)
        if seed >= 1_000 and not any(each.kind == "transition" for each in kernel.properties):
            continue
        rules = list(rules_of(random, kernel))
        try:
            program = rule_program(kernel, rules, kernel.properties)
        except UnsupportedError:
            refused += 1
            continue
        compiled += 1
        steps, model = RuleSteps(program), Model(kernel, bounded=False)
        with deep_recursion(kernel):
            for _ in range(STATES):
                state = random_state(random, kernel.variables)
                for at, rule in enumerate(rules):
                    said = tuple(random_value(random, field.binder.type) for field in rule.fields)
                    line = np.zeros((1, program.stated_words), np.uint64)
                    line[0, : program.logged[at].words] = program.logged[at].pack(said)
                    row = program.layout.pack(state)
                    lines = EncodedLines(np.array([at], np.int32), line, np.zeros(1, np.uint8))
                    found = steps.follow(row, lines, 0, 1)
                    expected, after = _expected(model, rule, state, said)
                    assert found == expected, (seed, rule.label, state, said)
                    assert program.layout.unpack(row) == after, (seed, rule.label, state, said)
                    assert bool(lines.changes[0] & 1) == (after != state)
                    seen[bool(rule.steps), found] += 1
                    bound = {field.binder.name: value for field, value in zip(rule.fields, said, strict=True)}
                    speaks = rule.condition is None or _holds(model, rule.condition, (), (), bound)
                    assert steps.applies(at, line).tolist() == [speaks]
                    spoken[speaks] += rule.condition is not None
    assert refused < compiled // 3
    assert min(seen[taking, result] for taking in (True, False) for result in (1, 0, -1)) > rounds // 6, seen
    assert min(spoken[True], spoken[False]) > rounds // 6, spoken
