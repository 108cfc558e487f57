"""Reading parts of values, and updating values in one part."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from assay.checker.lowering.expressions.binder_elements import listed
from assay.checker.lowering.expressions.conditions import equal, is_variant, position_of
from assay.checker.lowering.llvm.function_builder import FALSE, TRUE, FunctionBuilder, Scalar
from assay.checker.lowering.symbols import intervals as n
from assay.checker.lowering.symbols.maps import is_key, lookup, with_key, without_key
from assay.checker.lowering.symbols.merge import choose, pairs
from assay.checker.lowering.symbols.ranking import nothing
from assay.checker.lowering.symbols.symbol import Maybe, Number, RecordSymbol, Sequence, Symbol, VariantSymbol
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import Access, Changing

if TYPE_CHECKING:
    from assay.checker.lowering.expressions.dispatch import Lowering


def access(node: Access | Changing, lowering: Lowering) -> Symbol:
    """The part that an expression reads, or the value that it updates."""
    code = lowering.code
    match node:
        case k.Lookup(_, collection, key):
            return entry(lowering.lower(collection), lowering.lower(key), collection.type, lowering)
        case k.Endpoint():
            return _endpoint(node, lowering)
        case k.ReadField(_, record, index):
            symbol = lowering.lower(record)
            assert isinstance(symbol, RecordSymbol)
            return symbol.fields[index]
        case k.Payload(_, operand, variant, index):
            symbol = lowering.lower(operand)
            assert isinstance(symbol, VariantSymbol)
            lowering.fail_if(code.invert(is_variant(code, symbol, operand.type, variant)))
            return symbol.payloads[position_of(operand.type, variant)][index]
        case k.Unwrap(type_, operand):
            option = lowering.lower(operand)
            assert isinstance(option, Maybe)
            lowering.fail_if(code.invert(option.present))
            # What `nothing` stands for does not matter: where it is read, `fail_if` made the expression undefined.
            return nothing(type_) if option.item is None else option.item
        case k.UpdateEntry(_, collection, key, value):
            whole, at, new = lowering.lower(collection), lowering.lower(key), lowering.lower(value)
            return with_entry(whole, at, new, collection.type, lowering)
        case k.UpdateField(_, record, index, value):
            symbol = lowering.lower(record)
            assert isinstance(symbol, RecordSymbol)
            return with_field(symbol, index, lowering.lower(value))
        case k.Without(_, collection, key):
            return without_key(code, lowering.lower(collection), lowering.lower(key))
        case _:
            assert_never(node)


def with_field(record: RecordSymbol, index: int, value: Symbol) -> RecordSymbol:
    """The record with another value in one field."""
    return RecordSymbol((*record.fields[:index], value, *record.fields[index + 1 :]))


def entry(collection: Symbol, key: Symbol, of: t.Type, lowering: Lowering) -> Symbol:
    """The entry of a map or the element of a sequence; undefined if the key is absent or the index outside."""
    if isinstance(of, t.MapType):
        there, value = lookup(lowering.code, collection, key)
        lowering.fail_if(lowering.code.invert(there))
        return nothing(of.value) if value is None else value
    assert isinstance(of, t.SeqType)
    assert isinstance(collection, Sequence)
    assert isinstance(key, Number)
    lowering.fail_if(lowering.code.invert(has_index(lowering.code, collection, key)))
    return element_at(lowering.code, collection, key, of.item)


def has_index(code: FunctionBuilder, sequence: Sequence, index: Number) -> Scalar:
    """Whether the sequence has an element there."""
    below = n.less(code, index, sequence.length, equal=False)
    return code.both(n.less(code, n.number(0), index, equal=True), below)


def element_at(code: FunctionBuilder, sequence: Sequence, index: Number, item: t.Type) -> Symbol:
    """The element at an index; some element of the type if the index is outside."""
    result: Symbol | None = None
    for at, element in enumerate(sequence.items):
        # Items that the interval of the index excludes get no code.
        if index.low <= at <= index.high:
            # The first candidate needs no test: an index outside is undefined, which the caller records.
            result = element if result is None else choose(code, n.same(code, index, n.number(at)), element, result)
    return nothing(item) if result is None else result


def _endpoint(node: k.Endpoint, lowering: Lowering) -> Symbol:
    if node.op == "only":
        return _only(node, lowering)
    code, sequence = lowering.code, lowering.sequence(node.operand)
    lowering.fail_if(n.same(code, sequence.length, n.number(0)))
    if node.op == "first":
        return sequence.items[0] if sequence.items else nothing(node.type)
    return element_at(code, sequence, n.subtract(code, sequence.length, n.number(1)), node.type)


def _only(node: k.Endpoint, lowering: Lowering) -> Symbol:
    code = lowering.code
    found: Symbol | None = None
    some, several = FALSE, FALSE
    for there, item in listed(node.operand, lowering).items:
        if found is not None:
            other = code.both(there, code.invert(equal(code, found, item)))
            several = code.either(several, code.both(some, other))
        some = code.either(some, there)
        found = item if found is None else choose(code, there, item, found)
    lowering.fail_if(code.either(several, code.invert(some)))
    return nothing(node.type) if found is None else found


def with_entry(
    collection: Symbol, key: Symbol, value: Symbol, of: t.Type, lowering: Lowering, when: Scalar = TRUE
) -> Symbol:
    """The map or sequence with another entry, under a condition. Only a partial map may gain a key."""
    code = lowering.code
    if isinstance(collection, Sequence):
        assert isinstance(key, Number)
        lowering.fail_if(code.both(when, code.invert(has_index(code, collection, key))))
        items = [
            choose(code, code.both(when, n.same(code, key, n.number(at))), value, item)
            for at, item in enumerate(collection.items)
        ]
        return Sequence(collection.length, tuple(items))
    assert isinstance(of, t.MapType)
    if of.partial and is_key(code, key, of.key).known != 1:
        # The key may be out of range, and the map have a key that its type does not allow until it is stored.
        return with_key(code, pairs(code, collection), key, value, when)
    if not of.partial:
        lowering.fail_if(code.both(when, code.invert(lookup(code, collection, key)[0])))
    return with_key(code, collection, key, value, when)
