"""The meaning of every expression: each node becomes, once, a function from a frame to a value.

This is the reference semantics of the language: one case per node, and no optimisation but one: sets that depend on
nothing are computed once. The families of nodes are in the modules beside this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from assay.checker.interpreter.expressions.access import access, changing
from assay.checker.interpreter.expressions.comprehensions import collecting
from assay.checker.interpreter.expressions.conditions import condition
from assay.checker.interpreter.expressions.constructors import making
from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame, Meaning
from assay.checker.interpreter.expressions.integers import integer
from assay.checker.interpreter.values.domains import domain
from assay.grammar import kernel as k
from assay.grammar.diagnostics.diagnostic import Diagnostic, SpecError
from assay.grammar.kernel.node_unions import Control, Leaf, expression
from assay.grammar.kernel.types import Type
from assay.grammar.values import Value

ONLY_TEMPORAL = "E803"


def scope_of(variables: tuple[k.Variable, ...], strict: frozenset[str] = frozenset()) -> EvaluationScope:
    """The scope in which expressions over these state variables are evaluated."""
    positions = {variable.name: position for position, variable in enumerate(variables)}
    return EvaluationScope(positions, meaning, strict=strict)


def evaluate(
    expr: k.Expr,
    kernel: k.Kernel,
    state: tuple[Value, ...],
    before: tuple[Value, ...] = (),
    bound: Mapping[str, Value] | None = None,
) -> Value:
    """The value of an expression in a state, where ``old`` reads ``before``. Raises ``Undefined`` if it has none."""
    value: Value = scope_of(kernel.variables).meaning(expr)(Frame(state, before, dict(bound or {})))
    return value


def meaning(expr: k.Expr, scope: EvaluationScope) -> Meaning:
    """The function that evaluates the expression. Raises ``SpecError`` for a temporal operator, which has no value in a
    state."""
    node = expression(expr)
    match node:
        case k.Const() | k.StateVar() | k.Local() | k.TypeDomain() | k.Old():
            return _leaf(node, scope)
        case k.IfThenElse() | k.LetIn():
            return _control(node, scope)
        case (
            k.Not() | k.Logic() | k.Equal() | k.Compare() | k.Quantified()
            | k.Member() | k.Subset() | k.IsVariant() | k.IsSome()
        ):  # fmt: skip
            return condition(node, scope)
        case k.Negate() | k.Arithmetic() | k.Count() | k.Times() | k.Aggregate():
            return integer(node, scope)
        case (
            k.Checked() | k.MakeSome() | k.MakeSet() | k.MakeSeq() | k.MakeBag()
            | k.MakeMap() | k.MakeRecord() | k.MakeVariant()
        ):  # fmt: skip
            return making(node, scope)
        case (
            k.Filter() | k.Image() | k.Tabulate() | k.Interval() | k.Combine()
            | k.Subsets() | k.Keys() | k.Values() | k.Elements() | k.Slice()
        ):  # fmt: skip
            return collecting(node, scope)
        case k.Lookup() | k.Endpoint() | k.ReadField() | k.Payload() | k.Unwrap():
            return access(node, scope)
        case k.UpdateEntry() | k.UpdateField() | k.Without():
            return changing(node, scope)
        case k.Temporal() | k.ActionAtom():
            raise SpecError(
                [Diagnostic(ONLY_TEMPORAL, node.span, "a temporal operator has no value in a single state")]
            )
        case _:
            assert_never(node)


def _leaf(node: Leaf, scope: EvaluationScope) -> Meaning:
    match node:
        case k.Const(_, value):
            return lambda _: value
        case k.StateVar(_, name):
            position = scope.positions[name]
            return (lambda frame: frame.before[position]) if scope.old else (lambda frame: frame.now[position])
        case k.Local(_, name):
            return lambda frame: frame.locals[name]
        case k.TypeDomain(_, of):
            return _all_of(node, of)
        case k.Old(_, operand):
            # `old` changes the scope of its operand, not the frame: locals inside keep their values.
            return scope.before().meaning(operand)
        case _:
            assert_never(node)


def _all_of(node: k.TypeDomain, of: Type) -> Meaning:
    known: list[frozenset[Value]] = []

    # On first use, not at once: a domain that is too large raises, and a guard before it may protect it.
    def all_values(_: Frame) -> frozenset[Value]:
        if not known:
            known.append(frozenset(domain(of, node.span)))
        return known[0]

    return all_values


def _control(node: Control, scope: EvaluationScope) -> Meaning:
    match node:
        case k.IfThenElse(_, condition_, then, otherwise):
            test, yes, no = scope.meaning(condition_), scope.meaning(then), scope.meaning(otherwise)
            return lambda frame: yes(frame) if test(frame) else no(frame)
        case k.LetIn(_, binder, value, body):
            bound, rest, name = scope.meaning(value), scope.meaning(body), binder.name

            def let(frame: Frame) -> Value:
                frame.locals[name] = bound(frame)
                result: Value = rest(frame)
                return result

            return let
        case _:
            assert_never(node)
