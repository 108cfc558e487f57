"""A lowering to gates that remembers: instances of an action, and elements of a quantifier, share most of what they say.

Gates have no blocks: what was translated once may be used everywhere, if the names that are bound outside of it stand for the same symbols.
"""

from __future__ import annotations

from assay.checker.aig.bit_blaster import BitCode
from assay.checker.interpreter.expressions.traverse import free_locals
from assay.checker.native.llvm.function_builder import Scalar
from assay.checker.native.lowering.dispatch import Lowering, StateSymbols
from assay.checker.native.symbols.symbol import Flag, Number, Symbol
from assay.grammar import kernel as k

CHEAP = (k.Local, k.StateVar)
"""What costs no more than to look it up."""

Key = tuple[object, ...]


class Remembering(Lowering):
    """A lowering that knows expressions by their identity, and so keeps those that it has met."""

    def __init__(
        self,
        code: BitCode,
        now: StateSymbols | None,
        before: StateSymbols | None = None,
        strict: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__(code, now, before, strict=strict)
        self._met: dict[int, tuple[k.Expr, tuple[str, ...]]] = {}
        self._known: dict[Key, tuple[Symbol, list[Scalar], list[Symbol | None]]] = {}

    def lower(self, expr: k.Expr) -> Symbol:
        """The symbol of an expression, which may be one that was made before."""
        if isinstance(expr, CHEAP):
            return super().lower(expr)
        met = self._met.get(id(expr))
        if met is None:
            met = self._met[id(expr)] = expr, tuple(sorted(free_locals(expr)))
        given = [self.bound.get(name) for name in met[1]]
        key = (id(expr), self.now is self.before, *map(_identity, given))
        known = self._known.get(key)
        if known is None:
            outer, self.undefined = self.undefined, []
            try:
                symbol = super().lower(expr)
                known = self._known[key] = symbol, self.undefined, given  # which keeps their identities
            finally:
                self.undefined = outer
        self.undefined += known[1]
        return known[0]


def _identity(symbol: Symbol | None) -> object:
    """What tells a symbol from others: of numbers and conditions what they are, of the rest which object."""
    match symbol:
        case Number(value, low, high):
            return value.text, low, high
        case Flag(value):
            return value.text
        case _:
            return id(symbol)
