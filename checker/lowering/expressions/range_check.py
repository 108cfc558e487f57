"""Whether a symbol is a value of a type, and the symbol in the form in which the type is stored.

Out of range is undefined, too many elements is a cut. So the two have separate functions.
"""

from __future__ import annotations

from typing import assert_never

from assay.checker.interpreter.values.domains import cardinality
from assay.checker.layout.numbered_types import is_small
from assay.checker.layout.value_numbering import universe
from assay.checker.lowering.llvm.function_builder import FALSE, TRUE, FunctionBuilder, Scalar, constant
from assay.checker.lowering.symbols import intervals as n
from assay.checker.lowering.symbols.maps import is_key, lookup
from assay.checker.lowering.symbols.merge import aligned, bunch, count, pairs
from assay.checker.lowering.symbols.ranking import literal, nothing
from assay.checker.lowering.symbols.symbol import (
    Bag,
    Bunch,
    Flag,
    Mask,
    Maybe,
    Number,
    Pairs,
    RecordSymbol,
    Sequence,
    Symbol,
    TableSymbol,
    VariantSymbol,
)
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind

Fit = tuple[Scalar, Symbol]


def fit(code: FunctionBuilder, symbol: Symbol, type_: t.Type) -> Fit:
    """Whether every number is in range and every total map complete; the symbol with its numbers clamped into range in
    any case."""
    match kind(type_), symbol:
        case ((t.BoolType() | t.IntType() | t.AtomType()), (Flag() | Number())):
            return TRUE, symbol
        case t.RangeType(low, high), Number():
            # An empty range, by parameters: there is nothing to clamp into.
            if high < low:
                return FALSE, n.number(low)
            return n.within(code, symbol, low, high), n.clamp(code, symbol, low, high)
        case t.EnumType(_, variants), VariantSymbol():
            return _variant(code, symbol, variants)
        case t.RecordType(_, fields), RecordSymbol(parts):
            fits, fitted = _each(code, parts, [field.type for field in fields])
            return fits, (symbol if _unchanged(parts, fitted) else RecordSymbol(fitted))
        case t.OptionType(item), Maybe(present, inner):
            if inner is None:
                return TRUE, symbol
            inside, fitted_item = fit(code, inner, item)
            # The very same object wherever nothing changed, here and below: `Packer` copies its bits then.
            kept = symbol if fitted_item is inner else Maybe(present, fitted_item)
            return code.either(code.invert(present), inside), kept
        case t.SetType(item), (Mask() | Bunch()):
            return _set(code, symbol, item)
        case t.SeqType(item), Sequence():
            return _sequence(code, symbol, item)
        case t.BagType(item), Bag():
            return _bag(code, symbol, item)
        case t.MapType(), (TableSymbol() | Pairs()):
            return _map(code, symbol, type_)
        case _:
            raise AssertionError(f"{symbol} is not of the type {type_}")


def _unchanged(a: tuple[Symbol, ...], b: tuple[Symbol, ...]) -> bool:
    return all(x is y for x, y in zip(a, b, strict=True))


def _each(code: FunctionBuilder, parts: tuple[Symbol, ...], types: list[t.Type]) -> tuple[Scalar, tuple[Symbol, ...]]:
    results = [fit(code, part, type_) for part, type_ in zip(parts, types, strict=True)]
    return code.all_of([fits for fits, _ in results]), tuple(fitted for _, fitted in results)


def _variant(code: FunctionBuilder, symbol: VariantSymbol, variants: tuple[t.VariantType, ...]) -> Fit:
    conditions, payloads = [], []
    for at, (payload, variant) in enumerate(zip(symbol.payloads, variants, strict=True)):
        fits, fitted = _each(code, payload, [field.type for field in variant.fields])
        conditions.append(code.either(fits, code.invert(n.same(code, symbol.tag, n.number(at)))))
        payloads.append(fitted)
    same = all(_unchanged(a, b) for a, b in zip(symbol.payloads, payloads, strict=True))
    return code.all_of(conditions), (symbol if same else VariantSymbol(symbol.tag, tuple(payloads)))


def _set(code: FunctionBuilder, symbol: Mask | Bunch, item: t.Type) -> Fit:
    if isinstance(symbol, Mask) and isinstance(item, t.RangeType):
        return _number_set(code, symbol, item)
    if isinstance(symbol, Mask):
        if is_small(item) or symbol.item == item:
            return TRUE, symbol
        symbol = bunch(code, symbol)
    conditions, items, same = [], [], True
    for there, element in symbol.items:
        fits, fitted = fit(code, element, item)
        conditions.append(code.either(fits, code.invert(there)))
        # Clamped into range, what does not fit could equal another element.
        items.append((code.both(there, fits), fitted))
        same = same and fitted is element
    return code.all_of(conditions), (symbol if same else Bunch(tuple(items), symbol.ordered))


def _number_set(code: FunctionBuilder, symbol: Mask, item: t.RangeType) -> Fit:
    size = cardinality(item)
    if symbol.base == item.low and symbol.bits.bits == size:
        return TRUE, symbol
    mine, whole = aligned(code, symbol, Mask(constant(size, (1 << size) - 1), item, item.low))
    outside = code.both(mine.bits, code.invert(whole.bits))
    fits = code.compare("eq", outside, constant(outside.bits, 0))
    moved = code.right(mine.bits, constant(mine.bits.bits, item.low - mine.base)) if size else constant(0, 0)
    return fits, Mask(code.resize(moved, size) if size else moved, item, item.low)


def _sequence(code: FunctionBuilder, symbol: Sequence, item: t.Type) -> Fit:
    conditions, items = [], []
    for at, element in enumerate(symbol.items):
        fits, fitted = fit(code, element, item)
        conditions.append(code.either(fits, n.less(code, symbol.length, n.number(at), equal=True)))
        items.append(fitted)
    kept = symbol if _unchanged(symbol.items, tuple(items)) else Sequence(symbol.length, tuple(items))
    return code.all_of(conditions), kept


def _bag(code: FunctionBuilder, symbol: Bag, item: t.Type) -> Fit:
    conditions, items, same = [], [], True
    for times, element in symbol.items:
        fits, fitted = fit(code, element, item)
        conditions.append(code.either(fits, n.same(code, times, n.number(0))))
        # What does not fit is dropped: clamped into range, it could equal another element.
        items.append((times if fits.known else n.pick(code, fits, times, n.number(0)), fitted))
        same = same and fitted is element
    return code.all_of(conditions), (symbol if same else Bag(tuple(items), symbol.ordered))


def _map(code: FunctionBuilder, symbol: TableSymbol | Pairs, type_: t.Type) -> Fit:
    assert isinstance(type_, t.MapType)
    if is_small(type_.key):
        return _table(code, symbol, type_)
    conditions, items = [], []
    for there, key, value in pairs(code, symbol).items:
        key_fits, fitted_key = fit(code, key, type_.key)
        value_fits, fitted_value = fit(code, value, type_.value)
        fits = code.both(key_fits, value_fits)
        conditions.append(code.either(fits, code.invert(there)))
        items.append((code.both(there, fits), fitted_key, fitted_value))
    return code.all_of(conditions), Pairs(tuple(items), symbol.ordered if isinstance(symbol, Pairs) else True)


def _table(code: FunctionBuilder, symbol: TableSymbol | Pairs, type_: t.MapType) -> Fit:
    conditions: list[Scalar] = []
    table = symbol
    # Keys of another range: the entries are looked up by the keys of this type.
    if isinstance(table, Pairs) or table.key != type_.key:
        conditions.extend(
            code.either(code.invert(there), is_key(code, key, type_.key)) for there, key, _ in pairs(code, table).items
        )
        table = TableSymbol(
            type_.key, tuple(lookup(code, symbol, literal(x, type_.key)) for x in universe(type_.key).values)
        )
    entries, same = [], table is symbol
    for there, value in table.entries:
        fits, fitted = (TRUE, value) if value is None else fit(code, value, type_.value)
        conditions.append(code.either(fits, code.invert(there)))
        # What stands for a missing entry is never read: the map is undefined then.
        if not type_.partial:
            # A total map lacks no key.
            conditions.append(there)
            fitted = nothing(type_.value) if fitted is None else fitted
        same = same and fitted is value and (type_.partial or there.known == 1)
        entries.append((there if type_.partial else TRUE, fitted))
    return code.all_of(conditions), (symbol if same else TableSymbol(type_.key, tuple(entries)))


def exceeds(code: FunctionBuilder, symbol: Symbol, type_: t.Type, old: Symbol | None) -> Scalar:
    """Whether it has more elements than the type allows. Parts that are the same as in ``old`` are skipped: they fitted
    before."""
    if symbol is old or not _limits(type_):
        return FALSE
    match kind(type_), symbol:
        case t.EnumType(_, variants), VariantSymbol(tag, payloads):
            return code.any_of(
                [
                    code.both(n.same(code, tag, n.number(at)), exceeds(code, part, field.type, None))
                    for at, (payload, variant) in enumerate(zip(payloads, variants, strict=True))
                    for part, field in zip(payload, variant.fields, strict=True)
                ]
            )
        case t.RecordType(_, fields), RecordSymbol(parts):
            before = old.fields if isinstance(old, RecordSymbol) else (None,) * len(parts)
            return code.any_of([exceeds(code, x, f.type, was) for x, f, was in zip(parts, fields, before, strict=True)])
        case t.OptionType(item), Maybe(present, inner):
            # What is absent has no elements, though its symbol may.
            return FALSE if inner is None else code.both(present, exceeds(code, inner, item, None))
        case t.SetType(item, capacity), (Mask() | Bunch()):
            # Each element of such a mask is a value of the type, so within its own capacities.
            known = isinstance(symbol, Mask) and symbol.item == item
            items = bunch(code, symbol).items if _limits(item) and not known else ()
            nested = [code.both(there, exceeds(code, x, item, None)) for there, x in items]
            return code.any_of([_more(code, symbol, capacity), *nested])
        case t.SeqType(item, capacity), Sequence(length, items):
            nested = [
                code.both(n.less(code, n.number(at), length, equal=False), exceeds(code, x, item, None))
                for at, x in enumerate(items)
            ]
            return code.any_of([_more(code, symbol, capacity), *nested])
        case t.BagType(item, capacity), Bag(items):
            nested = [
                code.both(n.less(code, n.number(0), times, equal=False), exceeds(code, x, item, None))
                for times, x in items
            ]
            return code.any_of([_more(code, symbol, capacity), *nested])
        case t.MapType(key, value, capacity), (TableSymbol() | Pairs()):
            return code.any_of([_more(code, symbol, capacity), *_exceeding_entries(code, symbol, key, value, old)])
        case _:
            raise AssertionError(f"{symbol} is not of the type {type_}")


def _exceeding_entries(
    code: FunctionBuilder, symbol: TableSymbol | Pairs, key: t.Type, value: t.Type, old: Symbol | None
) -> list[Scalar]:
    if isinstance(symbol, TableSymbol):
        before = [was for _, was in old.entries] if isinstance(old, TableSymbol) else [None] * len(symbol.entries)
        return [
            code.both(there, exceeds(code, x, value, was))
            for (there, x), was in zip(symbol.entries, before, strict=True)
            if x is not None
        ]
    return [
        code.both(there, code.either(exceeds(code, k, key, None), exceeds(code, x, value, None)))
        for there, k, x in symbol.items
    ]


def _more(code: FunctionBuilder, symbol: Symbol, capacity: int | None) -> Scalar:
    if capacity is None:
        return FALSE
    return n.less(code, n.number(capacity), count(code, symbol), equal=False)


def _limits(type_: t.Type) -> bool:
    """Whether a value of the type could exceed a capacity."""
    match kind(type_):
        case t.BoolType() | t.IntType() | t.AtomType() | t.RangeType():
            return False
        case t.EnumType(_, variants):
            return any(_limits(field.type) for variant in variants for field in variant.fields)
        case t.RecordType(_, fields):
            return any(_limits(field.type) for field in fields)
        case t.OptionType(item):
            return _limits(item)
        case t.SetType(item, capacity):
            return capacity is not None or _limits(item)
        case t.SeqType() | t.BagType():
            return True
        case t.MapType(key, value, capacity):
            return capacity is not None or _limits(key) or _limits(value)
        case other:
            assert_never(other)
