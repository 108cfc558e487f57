"""Integers: arithmetic, counting, aggregates. TLC computes with 32 bits, and reports an overflow."""

from __future__ import annotations

from typing import assert_never

from assay.checker.tla.expressions.formula import COMPARE, PRODUCT, SUM, TIGHT, Formula, apply, infix
from assay.checker.tla.expressions.scope import TlaScope
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import Integer


def integer(node: Integer, scope: TlaScope) -> Formula:
    """The formula of an integer expression."""
    match node:
        case k.Negate(_, operand):
            return Formula(f"(-{scope.formula(operand).within(TIGHT)})")
        case k.Arithmetic():
            return _arithmetic(node, scope)
        case k.Count(_, operand):
            return _count(scope.formula(operand), operand.type, scope)
        case k.Times(_, bag, item):
            return apply(scope.parts.use("Copies"), [scope.formula(bag), scope.formula(item)])
        case k.Aggregate(_, op, operand):
            return _aggregate(op, scope.formula(operand), operand.type, scope)
        case _:
            assert_never(node)


def _arithmetic(node: k.Arithmetic, scope: TlaScope) -> Formula:
    left, right = scope.formula(node.left), scope.formula(node.right)
    match node.op:
        case "+" | "-":
            # `a + b + c` reads well; a difference among them gets parentheses.
            inside = SUM if node.op == "+" and _is_sum(node.left) else TIGHT
            return Formula(f"{left.within(inside)} {node.op} {right.within(TIGHT)}", SUM)
        case "*":
            return infix(left, "*", right, PRODUCT)
        case "//" | "%":
            # The module Integers defines `\div` and `%` for positive divisors only.
            if isinstance(node.right, k.Const) and isinstance(node.right.value, int) and node.right.value > 0:
                return infix(left, "\\div" if node.op == "//" else "%", right, PRODUCT)
            return apply(scope.parts.use("FloorDiv" if node.op == "//" else "FloorMod"), [left, right])
        case _:
            assert_never(node.op)


def _is_sum(expr: k.Expr) -> bool:
    return isinstance(expr, k.Arithmetic) and expr.op == "+"


def _count(value: Formula, of: t.Type, scope: TlaScope) -> Formula:
    match of:
        case t.SeqType():
            return apply(scope.parts.use("Len"), [value])
        case t.BagType():
            return apply(scope.parts.use("BagSize"), [value])
        case t.MapType():
            return Formula(f"{scope.parts.use('Cardinality')}(DOMAIN {value.within(TIGHT)})")
        case _:
            return apply(scope.parts.use("Cardinality"), [value])


def _aggregate(op: str, value: Formula, of: t.Type, scope: TlaScope) -> Formula:
    parts = scope.parts
    if op == "sum":
        named = {t.BagType: "SumOfBag", t.SeqType: "SumOfRange", t.MapType: "SumOfRange"}
        return apply(parts.use(named.get(type(of), "SumOfSet")), [value])
    elements = value
    if isinstance(of, t.BagType):
        elements = Formula(f"DOMAIN {value.within(TIGHT)}", COMPARE)
    elif isinstance(of, t.SeqType | t.MapType):
        elements = apply(parts.use("Range"), [value])
    # TLC stops at `CHOOSE` from an empty set, as `min` and `max` of nothing are undefined.
    return apply(parts.use("Min" if op == "min" else "Max"), [elements])
