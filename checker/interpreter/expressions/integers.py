"""Integers: arithmetic without bounds, counting, and aggregates of collections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from assay.checker.interpreter.expressions.frame import EvaluationScope, Frame, Meaning
from assay.checker.interpreter.values.undefined import Undefined
from assay.grammar import kernel as k
from assay.grammar.kernel.node_unions import Integer
from assay.grammar.kernel.types import BagType, MapType


def integer(node: Integer, scope: EvaluationScope) -> Meaning:
    """The function that evaluates an integer expression."""
    match node:
        case k.Negate(_, operand):
            value = scope.meaning(operand)
            return lambda frame: -value(frame)
        case k.Arithmetic():
            return _arithmetic(node, scope)
        case k.Count(_, operand):
            value = scope.meaning(operand)
            if isinstance(operand.type, BagType):
                return lambda frame: sum(value(frame).values())
            return lambda frame: len(value(frame))
        case k.Times(_, bag, item):
            counted, wanted = scope.meaning(bag), scope.meaning(item)
            return lambda frame: counted(frame).get(wanted(frame), 0)
        case k.Aggregate():
            return _aggregate(node, scope)
        case _:
            assert_never(node)


def _arithmetic(node: k.Arithmetic, scope: EvaluationScope) -> Meaning:
    a, b = scope.meaning(node.left), scope.meaning(node.right)
    match node.op:
        case "+":
            return lambda frame: a(frame) + b(frame)
        case "-":
            return lambda frame: a(frame) - b(frame)
        case "*":
            return lambda frame: a(frame) * b(frame)
        case "//":
            # Python's `//` and `%` round down, as the language does; C and LLVM round towards zero.
            return lambda frame: a(frame) // _divisor(b(frame), node)
        case "%":
            return lambda frame: a(frame) % _divisor(b(frame), node)
        case _:
            assert_never(node.op)


def _divisor(value: int, node: k.Arithmetic) -> int:
    if value == 0:
        raise Undefined(f"`{node.op}` by zero", node.span)
    return value


def _aggregate(node: k.Aggregate, scope: EvaluationScope) -> Meaning:
    value, of = scope.meaning(node.operand), node.operand.type

    def numbers(frame: Frame) -> list[int]:
        return list(_numbers(value(frame), isinstance(of, BagType), isinstance(of, MapType)))

    match node.op:
        case "sum":
            return lambda frame: sum(numbers(frame))
        case "min":
            return lambda frame: min(_some(numbers(frame), node))
        case "max":
            return lambda frame: max(_some(numbers(frame), node))
        case _:
            assert_never(node.op)


def _numbers(collection: Any, is_bag: bool, is_map: bool) -> Iterable[int]:
    if is_bag:
        # Each element as often as the bag has it; the keys alone would give another sum.
        return (item for item, times in collection.items() for _ in range(times))
    values: Iterable[int] = collection.values() if is_map else collection
    return values


def _some(numbers: list[int], node: k.Aggregate) -> list[int]:
    if not numbers:
        raise Undefined(f"`{node.op}` of nothing", node.span)
    return numbers
