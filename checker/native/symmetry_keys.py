"""Keys of the elements of a symmetric sort in a row: what the row says of an element without naming any other.

If two rows are equal up to a permutation, an element and its image have equal keys. So few rows of an orbit have their
elements sorted by key, and only these are compared for the least one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assay.checker.interpreter.values.sort_occurrence import mentions
from assay.checker.layout.shape import BitRange, EnumShape, OptionShape, RecordShape, Shape, TableShape
from assay.checker.lowering.expressions.pack_unpack import encode
from assay.checker.lowering.llvm.function_builder import FunctionBuilder, Scalar, constant, word
from assay.checker.lowering.symbols import intervals as n
from assay.checker.lowering.symbols.merge import bit, count
from assay.checker.lowering.symbols.symbol import (
    Bunch,
    Mask,
    Maybe,
    Number,
    RecordSymbol,
    Symbol,
    TableSymbol,
    VariantSymbol,
)
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind

Part = tuple[Scalar, int]
"""A scalar and how many of its bits count."""
MOST_BITS = 512
"""The widest key; parts beyond are left out, which leaves more rows to be looked at."""


class SymmetryKeys:
    """The keys of one sort's elements, when the elements of all the named sorts may be permuted."""

    def __init__(self, code: FunctionBuilder, sort: t.Sort, names: Iterable[str]) -> None:
        self._code, self._sort, self._names = code, sort, frozenset(names)

    def key(self, variables: Iterable[tuple[Symbol, t.Type, Shape]], element: int) -> Scalar:
        """The key of an element, of the same width for all of them."""
        code = self._code
        parts, width = [], 0
        for symbol, type_, shape in variables:
            # What names no element of this sort says the same of all of them.
            if not mentions(type_, [self._sort.name]):
                continue
            for part in self._parts(symbol, type_, shape, element):
                # The same parts are left out for each element, because widths depend on types alone.
                if width + part[1] <= MOST_BITS:
                    parts.append(part)
                    width += part[1]
        result = constant(max(1, width), 0)
        at = 0
        for scalar, bits in parts:
            placed = code.left(code.resize(code.resize(scalar, bits), result.bits), constant(result.bits, at))
            result, at = code.either(result, placed), at + bits
        return result

    def _parts(self, symbol: Symbol, type_: t.Type, shape: Shape, element: int) -> Iterator[Part]:
        code = self._code
        # No permutation changes it, so its code may be compared as it is.
        if not mentions(type_, self._names):
            if shape.width:
                yield encode(code, symbol, shape), shape.width
            return
        match kind(type_), symbol, shape:
            case t.AtomType(sort), Number(value), _ if sort.name == self._sort.name:
                yield code.compare("eq", value, word(element)), 1
            case t.OptionType(item), Maybe(present, inner), OptionShape(_, place):
                yield present, 1
                if inner is not None:
                    yield from self._where(present, self._parts(inner, item, place.shape, element))
            case t.RecordType(_, fields), RecordSymbol(values), RecordShape(_, places):
                yield from self._fields(values, fields, places, element)
            case t.EnumType(_, variants), VariantSymbol(tag, payloads), EnumShape(payloads=all_places):
                # The variant first: its payload means something only where it is this one.
                yield tag.value, max(1, (len(variants) - 1).bit_length())
                for at, (variant, payload, places) in enumerate(zip(variants, payloads, all_places, strict=True)):
                    here = n.same(code, tag, n.number(at))
                    yield from self._where(here, self._fields(payload, variant.fields, places, element))
            case t.SetType(item), (Mask() | Bunch()), _:
                # A permutation of elements leaves the number of elements as it is.
                yield count(code, symbol).value, 16
                if isinstance(symbol, Mask) and item == t.AtomType(self._sort):
                    yield bit(code, symbol.bits, element), 1
            case t.MapType(key, image), TableSymbol(_, entries), TableShape() if key == t.AtomType(self._sort):
                there, entry = entries[element]
                yield there, 1
                if entry is not None:
                    yield from self._where(there, self._parts(entry, image, shape.value, element))
            # Sequences, bags and other maps say nothing here. That only leaves more rows to be looked at.
            case _:
                return

    def _fields(
        self, values: Iterable[Symbol], fields: Iterable[t.FieldType], places: Iterable[BitRange], element: int
    ) -> Iterator[Part]:
        for value, field, place in zip(values, fields, places, strict=True):
            yield from self._parts(value, field.type, place.shape, element)

    def _where(self, condition: Scalar, parts: Iterable[Part]) -> Iterator[Part]:
        """The parts, zero where the condition is false: what is stored there has no meaning then."""
        for scalar, bits in parts:
            yield self._code.choose(condition, scalar, constant(scalar.bits, 0)), bits
