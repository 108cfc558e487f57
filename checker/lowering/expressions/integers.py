"""Integers: arithmetic, counting, and aggregates of collections."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from assay.checker.lowering.expressions.binder_elements import listed, listed_symbol
from assay.checker.lowering.llvm.function_builder import FALSE, word
from assay.checker.lowering.symbols import intervals as n
from assay.checker.lowering.symbols.merge import count, occurrences, pairs
from assay.checker.lowering.symbols.symbol import Bag, Number, Pairs, TableSymbol
from assay.grammar import kernel as k
from assay.grammar.kernel.node_unions import Integer

if TYPE_CHECKING:
    from assay.checker.lowering.expressions.dispatch import Lowering


def integer(node: Integer, lowering: Lowering) -> Number:
    """The number that an expression denotes."""
    code = lowering.code
    match node:
        case k.Negate(_, operand):
            return n.subtract(code, n.number(0), lowering.number(operand))
        case k.Arithmetic():
            return _arithmetic(node, lowering)
        case k.Count(_, operand):
            return count(code, lowering.lower(operand))
        case k.Times(_, bag, item):
            return occurrences(code, lowering.bag(bag), lowering.lower(item))
        case k.Aggregate():
            return _aggregate(node, lowering)
        case _:
            assert_never(node)


def _arithmetic(node: k.Arithmetic, lowering: Lowering) -> Number:
    code, a, b = lowering.code, lowering.number(node.left), lowering.number(node.right)
    match node.op:
        case "+":
            return n.add(code, a, b)
        case "-":
            return n.subtract(code, a, b)
        case "*":
            return n.multiply(code, a, b)
        case "//" | "%":
            # `divide` counts a zero divisor as one, so nothing else says that there is no value.
            lowering.fail_if(n.same(code, b, n.number(0)))
            quotient, remainder = n.divide(code, a, b)
            return quotient if node.op == "//" else remainder
        case _:
            assert_never(node.op)


def _aggregate(node: k.Aggregate, lowering: Lowering) -> Number:
    code, items = lowering.code, _numbers(node.operand, lowering)
    if node.op == "sum":
        total = n.number(0)
        for times, value in items:
            total = n.add(code, total, n.multiply(code, times, value))
        return total
    best, some = None, FALSE
    for times, value in items:
        there = code.compare("ne", times.value, word(0))
        if best is None:
            best, some = value, there
            continue
        better = n.smaller(code, best, value) if node.op == "min" else n.larger(code, best, value)
        # `best` may stem from items that are absent, so it is compared with only after `some` item was present.
        best = n.pick(code, there, n.pick(code, some, better, value), best)
        some = code.either(some, there)
    lowering.fail_if(code.invert(some))
    return n.number(0) if best is None else best


def _numbers(operand: k.Expr, lowering: Lowering) -> list[tuple[Number, Number]]:
    """The numbers of a collection, each with how often it is there."""
    code = lowering.code
    if isinstance(operand, k.Interval | k.TypeDomain | k.Subsets):
        # Listed, not made a set first: a large interval has no mask.
        return [(n.from_flag(code, p), x) for p, x in listed(operand, lowering).items if isinstance(x, Number)]
    symbol = lowering.lower(operand)
    if isinstance(symbol, Bag):
        return [(times, x) for times, x in symbol.items if isinstance(x, Number)]
    if isinstance(symbol, TableSymbol | Pairs):
        return [(n.from_flag(code, p), x) for p, _, x in pairs(code, symbol).items if isinstance(x, Number)]
    return [(n.from_flag(code, p), x) for p, x in listed_symbol(code, symbol).items if isinstance(x, Number)]
