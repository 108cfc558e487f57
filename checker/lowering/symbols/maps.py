"""Maps as symbols: construction, lookup, and update at a key."""

from __future__ import annotations

from assay.checker.interpreter.values.domains import cardinality
from assay.checker.layout.numbered_types import is_small
from assay.checker.lowering.llvm.function_builder import FALSE, TRUE, FunctionBuilder, Scalar, word
from assay.checker.lowering.symbols import intervals as n
from assay.checker.lowering.symbols.merge import choose, pairs, same
from assay.checker.lowering.symbols.ranking import rank
from assay.checker.lowering.symbols.symbol import Number, Pairs, Symbol, TableSymbol
from assay.grammar.kernel import types as t

Entry = tuple[Scalar, Symbol, Symbol]


def map_of(code: FunctionBuilder, entries: list[Entry], key: t.Type) -> TableSymbol | Pairs:
    """The map with these entries, of equal keys the last; a table if there are few possible keys and all are among
    them."""
    # A table has no place for a key out of range, which the map may have until it is stored.
    if is_small(key) and all(is_key(code, k, key).known == 1 for _, k, _ in entries):
        table: TableSymbol | Pairs = TableSymbol(key, ((FALSE, None),) * cardinality(key))
    else:
        table = Pairs((), ordered=True)
    # In order: of equal keys the last one wins.
    for there, k, value in entries:
        table = with_key(code, table, k, value, there)
    return table


def is_key(code: FunctionBuilder, symbol: Symbol, key: t.Type) -> Scalar:
    """Whether a symbol is among the possible keys: an integer may be out of range."""
    if isinstance(key, t.RangeType) and isinstance(symbol, Number):
        return n.within(code, symbol, key.low, key.high)
    return TRUE


def lookup(code: FunctionBuilder, symbol: Symbol, key: Symbol) -> tuple[Scalar, Symbol | None]:
    """Whether the key is there, and its value (None: no key can be)."""
    if isinstance(symbol, TableSymbol):
        return _in_table(code, symbol, key)
    present, found = FALSE, None
    for there, k, value in pairs(code, symbol).items:
        here = code.both(there, same(code, k, key))
        present = code.either(present, here)
        found = value if found is None else choose(code, here, value, found)
    return present, found


def _in_table(code: FunctionBuilder, table: TableSymbol, key: Symbol) -> tuple[Scalar, Symbol | None]:
    inside = is_key(code, key, table.key)
    if not table.entries:
        return FALSE, None
    at = rank(code, key, table.key)
    if at.known is not None:
        # A key that is constant needs no choice among all entries.
        there, value = table.entries[at.known]
        return code.both(inside, there), value
    present, found = FALSE, None
    for position, (there, value) in enumerate(table.entries):
        here = code.compare("eq", at, word(position))
        present = code.either(present, code.both(here, there))
        if value is not None:
            found = value if found is None else choose(code, here, value, found)
    # A total map has every key, so presence is a constant; computing it would cost a comparison for each key.
    everywhere = all(there.known == 1 for there, _ in table.entries)
    return (inside if everywhere else code.both(inside, present)), found


def with_key(code: FunctionBuilder, symbol: Symbol, key: Symbol, value: Symbol, when: Scalar) -> TableSymbol | Pairs:
    """The map with the key sent to the value, under a condition; a key out of range changes nothing in a table."""
    if isinstance(symbol, TableSymbol):
        inside = code.both(when, is_key(code, key, symbol.key))
        at = rank(code, key, symbol.key)
        entries = []
        for position, (there, old) in enumerate(symbol.entries):
            here = code.both(inside, code.compare("eq", at, word(position)))
            entries.append(
                (code.either(there, here), value if old is None else choose(code, here, value, old))
                # Of a key that is certainly another one the very same entry stays (see `choose`).
                if here.known != 0
                else (there, old)
            )
        return TableSymbol(symbol.key, tuple(entries))
    items: list[Entry] = []
    known = FALSE
    for there, k, old in pairs(code, symbol).items:
        equal = code.both(there, same(code, k, key))
        items.append((there, k, choose(code, code.both(when, equal), value, old)))
        known = code.either(known, equal)
    added = code.both(when, code.invert(known))
    if added.known != 0:
        items.append((added, key, value))
    return Pairs(tuple(items), ordered=False)


def without_key(code: FunctionBuilder, symbol: Symbol, key: Symbol) -> TableSymbol | Pairs:
    """The map without a key."""
    if isinstance(symbol, TableSymbol):
        inside, at = is_key(code, key, symbol.key), rank(code, key, symbol.key)
        entries = []
        for position, (there, old) in enumerate(symbol.entries):
            here = code.both(inside, code.compare("eq", at, word(position)))
            entries.append((code.both(there, code.invert(here)), old))
        return TableSymbol(symbol.key, tuple(entries))
    kept = pairs(code, symbol)
    items = [(code.both(there, code.invert(same(code, k, key))), k, value) for there, k, value in kept.items]
    return Pairs(tuple(items), kept.ordered)
