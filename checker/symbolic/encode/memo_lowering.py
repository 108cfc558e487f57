"""A lowering to gates with a memo: instances of an action, and elements of a quantifier, have most subexpressions in
common.

Gates have no blocks and no order. So a translated expression may be used anywhere, if the names bound outside of it
stand for the same symbols.
"""

from __future__ import annotations

from collections.abc import Hashable

from assay.checker.aig.bit_blaster import BitCode
from assay.checker.interpreter.expressions.traverse import free_locals
from assay.checker.lowering.expressions.dispatch import Lowering, StateSymbols
from assay.checker.lowering.llvm.function_builder import Scalar
from assay.checker.lowering.symbols.symbol import Flag, Number, Symbol
from assay.grammar import kernel as k
from assay.grammar.identity_memo import IdentityMemo, IdentityTupleMemo

CHEAP = (k.Local, k.StateVar)
"""Nodes that cost no more than a look-up."""


class MemoLowering(Lowering):
    """A lowering that identifies expressions by object identity, and therefore keeps those that it has met alive."""

    def __init__(
        self,
        code: BitCode,
        now: StateSymbols | None,
        before: StateSymbols | None = None,
        strict: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(code, now, before, strict=strict)
        self._names: IdentityMemo[k.Expr, tuple[str, ...]] = IdentityMemo()
        self._known: IdentityTupleMemo[tuple[Symbol, list[Scalar]]] = IdentityTupleMemo()

    def lower(self, expr: k.Expr) -> Symbol:
        """The symbol of an expression, possibly one that was made before."""
        if isinstance(expr, CHEAP):
            return super().lower(expr)
        given = [self.bound.get(name) for name in self._names.get_or_make(expr, _sorted_locals)]
        # Inside of `old` the same expression reads another state.
        scalars = (self.now is self.before, *map(_scalar, given))
        objects = [expr, *[symbol for symbol in given if not isinstance(symbol, Number | Flag)]]
        known = self._known.get(objects, scalars)
        if known is None:
            outer, self.undefined = self.undefined, []
            try:
                symbol = super().lower(expr)
                known = self._known.put(objects, scalars, (symbol, self.undefined))
            finally:
                self.undefined = outer
        # What has no value in it counts at each of its uses.
        self.undefined += known[1]
        return known[0]


def _sorted_locals(expr: k.Expr) -> tuple[str, ...]:
    return tuple(sorted(free_locals(expr)))


def _scalar(symbol: Symbol | None) -> Hashable:
    """The key of a number or a condition; None for other symbols, which are compared by identity."""
    match symbol:
        case Number(value, low, high):
            return value.text, low, high
        case Flag(value):
            return value.text
        case _:
            return None
