"""Constructors of options, collections, records and variants, and range checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from assay.checker.lowering.expressions.conditions import position_of
from assay.checker.lowering.expressions.range_check import fit
from assay.checker.lowering.llvm.function_builder import TRUE
from assay.checker.lowering.symbols import intervals as n
from assay.checker.lowering.symbols.maps import map_of
from assay.checker.lowering.symbols.merge import add_bags, distinct
from assay.checker.lowering.symbols.ranking import nothing
from assay.checker.lowering.symbols.symbol import Bag, Bunch, Maybe, RecordSymbol, Sequence, Symbol, VariantSymbol
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import Making

if TYPE_CHECKING:
    from assay.checker.lowering.expressions.dispatch import Lowering


def making(node: Making, lowering: Lowering) -> Symbol:
    """The value that is constructed."""
    code = lowering.code
    match node:
        case k.Checked(type_, operand):
            symbol = lowering.lower(operand)
            fits, fitted = fit(code, symbol, type_)
            # The fitted symbol goes on, not the operand: numbers stay inside the intervals of their type.
            lowering.fail_if(code.invert(fits))
            return fitted
        case k.MakeSome(_, operand):
            return Maybe(TRUE, lowering.lower(operand))
        case k.MakeSet(_, items):
            return Bunch(
                tuple(distinct(code, [(TRUE, lowering.lower(item)) for item in items])), ordered=len(items) < 2
            )
        case k.MakeSeq(_, items):
            return Sequence(n.number(len(items)), tuple(lowering.lower(item) for item in items))
        case k.MakeBag(_, items):
            result = Bag((), ordered=True)
            for item in items:
                result = add_bags(code, result, Bag(((n.number(1), lowering.lower(item)),), ordered=True))
            return result
        case k.MakeMap(type_, entries):
            assert isinstance(type_, t.MapType)
            return map_of(
                code, [(TRUE, lowering.lower(key), lowering.lower(value)) for key, value in entries], type_.key
            )
        case k.MakeRecord(_, items):
            return RecordSymbol(tuple(lowering.lower(item) for item in items))
        case k.MakeVariant():
            return _variant(node, lowering)
        case _:
            assert_never(node)


def _variant(node: k.MakeVariant, lowering: Lowering) -> VariantSymbol:
    assert isinstance(node.type, t.EnumType)
    chosen = position_of(node.type, node.variant)
    made = tuple(lowering.lower(item) for item in node.items)
    payloads = [
        made if at == chosen else tuple(nothing(field.type) for field in variant.fields)
        for at, variant in enumerate(node.type.variants)
    ]
    return VariantSymbol(n.number(chosen), tuple(payloads))
