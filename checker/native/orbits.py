"""The representative of a row's orbit: the least of the rows that permutations of the elements of symmetric sorts make of it.

All of them are visited by exchanges of two neighbouring elements, each of which is a function of its own.
"""

from __future__ import annotations

from assay.checker.evaluate.families import kind
from assay.checker.evaluate.mentions import mentions
from assay.checker.layout.row import RowLayout
from assay.checker.layout.universe import universe
from assay.checker.native.code import Code, Scalar, constant, word
from assay.checker.native.lowering import State
from assay.checker.native.number import bounded
from assay.checker.native.rows import Packer
from assay.checker.native.runtime import Runtime
from assay.checker.native.symbol import Bag, Bunch, Mask, Maybe, Number, Pairs, Record, Sequence, Symbol, Table, Variant
from assay.checker.symmetry.group import Group
from assay.checker.symmetry.permute import permuted
from assay.grammar import kernel as k
from assay.grammar import kernel_types as t


def canonical_functions(kernel: k.Kernel, layout: RowLayout, group: Group) -> list[str]:
    """The functions ``canonical``, of one row, and ``canonical_rows``, of many; both change rows in place."""
    exchanges = [
        _exchange(kernel, layout, Exchange(sort, at), number) for number, (sort, at) in enumerate(group.exchanges)
    ]
    return [*exchanges, _canonical(layout.words, group), _rows(layout.words)]


class Exchange:
    """The exchange of an element of a sort with the next one."""

    def __init__(self, sort: t.Sort, at: int) -> None:
        self._names = [sort.name]
        images = list(range(len(sort.elements)))
        images[at], images[at + 1] = at + 1, at
        self._sort, self._at, self._by = sort, at, {sort.name: tuple(images)}

    def of(self, code: Code, symbol: Symbol, type_: t.Type) -> Symbol:
        """What it makes of a symbol; the same symbol where that is nothing."""
        if not mentions(type_, self._names):
            return symbol
        match kind(type_), symbol:
            case t.AtomType(), Number():
                return self._element(code, symbol)
            case t.EnumType(_, variants), Variant(tag, payloads):
                changed = [
                    tuple(self.of(code, x, field.type) for x, field in zip(payload, variant.fields, strict=True))
                    for payload, variant in zip(payloads, variants, strict=True)
                ]
                return Variant(tag, tuple(changed))
            case t.RecordType(_, fields), Record(parts):
                return Record(tuple(self.of(code, x, field.type) for x, field in zip(parts, fields, strict=True)))
            case t.OptionType(item), Maybe(present, inner):
                return Maybe(present, None if inner is None else self.of(code, inner, item))
            case t.SetType(item), Mask():
                return self._mask(code, symbol, item)
            case t.SetType(item), Bunch(items):
                return Bunch(tuple((there, self.of(code, x, item)) for there, x in items), ordered=False)
            case t.SeqType(item), Sequence(length, items_):
                return Sequence(length, tuple(self.of(code, x, item) for x in items_))
            case t.BagType(item), Bag(counted):
                return Bag(tuple((n, self.of(code, x, item)) for n, x in counted), ordered=False)
            case t.MapType(key, image), Table(_, entries):
                values = [(there, None if x is None else self.of(code, x, image)) for there, x in entries]
                return Table(key, tuple(values[source] for source in self._sources(key)))
            case t.MapType(key, image), Pairs(pairs):
                return Pairs(
                    tuple((p, self.of(code, x, key), self.of(code, y, image)) for p, x, y in pairs), ordered=False
                )
            case _:
                raise AssertionError(f"{symbol} is not of the type {type_}")

    def _element(self, code: Code, symbol: Number) -> Number:
        here, there = word(self._at), word(self._at + 1)
        lowered = code.choose(code.compare("eq", symbol.value, there), here, symbol.value)
        value = code.choose(code.compare("eq", symbol.value, here), there, lowered)
        return bounded(value, 0, max(0, len(self._sort.elements) - 1))

    def _sources(self, type_: t.Type) -> list[int]:
        """For the rank of each value of a small type the rank of the value that is sent to it: an exchange is its own inverse."""
        known = universe(type_)
        return [known.rank(permuted(value, type_, self._by)) for value in known.values]

    def _mask(self, code: Code, symbol: Mask, item: t.Type) -> Mask:
        """Bits that move equally far move together."""
        width = symbol.bits.bits
        moves: dict[int, int] = {}
        for at, source in enumerate(self._sources(item)):
            moves[at - source] = moves.get(at - source, 0) | 1 << source
        result = constant(width, 0)
        for by, moved in moves.items():
            part = code.both(symbol.bits, constant(width, moved))
            shifted = code.left(part, constant(width, by)) if by >= 0 else code.right(part, constant(width, -by))
            result = code.either(result, shifted)
        return Mask(result, symbol.item, symbol.base)


def _exchange(kernel: k.Kernel, layout: RowLayout, exchange: Exchange, number: int) -> str:
    code = Code()
    runtime = Runtime(code)
    row = runtime.load_row(layout.words)
    state, packer = State(row, layout, kernel.variables), Packer(row, layout)
    for variable, place in zip(kernel.variables, layout.places, strict=True):
        symbol = state.read(variable.name)
        packer.put(exchange.of(code, symbol, variable.type), symbol, place.shape, place.shift)
    for at, value in enumerate(packer.words()):
        address = code.fresh(64, f"getelementptr i64, ptr %row, i64 {at}")
        code.do(f"store {value.typed}, ptr {address.text}")
    body = "\n".join(code.lines)
    return f"define internal void @exchange_{number}(ptr %row) noinline {{\nentry:\n{body}\n  ret void\n}}\n"


def _canonical(words: int, group: Group) -> str:
    walk, generators = group.walk(), len(group.exchanges)
    table = ", ".join(f"i16 {each}" for each in walk)
    cases = "\n".join(f"    i16 {each}, label %case{each}" for each in range(generators))
    bodies = "\n".join(
        f"case{each}:\n  call void @exchange_{each}(ptr %row_now)\n  br label %compare" for each in range(generators)
    )
    return f"""@walk = internal constant [{len(walk)} x i16] [{table}]

define internal void @canonical(ptr %row) noinline {{
entry:
  %row_now = alloca [{words} x i64]
  call void @copy_row(ptr %row_now, ptr %row)
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %more = icmp ult i64 %i, {len(walk)}
  br i1 %more, label %body, label %done
body:
  %place = getelementptr [{len(walk)} x i16], ptr @walk, i64 0, i64 %i
  %which = load i16, ptr %place
  switch i16 %which, label %compare [
{cases}
  ]
{bodies}
compare:
  %less = call i1 @less_row(ptr %row_now, ptr %row)
  br i1 %less, label %take, label %latch
take:
  call void @copy_row(ptr %row, ptr %row_now)
  br label %latch
latch:
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}}

{_copy(words)}
{_less(words)}"""


def _copy(words: int) -> str:
    code = Code()
    for at in range(words):
        source = code.fresh(64, f"getelementptr i64, ptr %from, i64 {at}")
        value = code.fresh(64, f"load i64, ptr {source.text}")
        target = code.fresh(64, f"getelementptr i64, ptr %to, i64 {at}")
        code.do(f"store {value.typed}, ptr {target.text}")
    body = "\n".join(code.lines)
    return f"define internal void @copy_row(ptr %to, ptr %from) alwaysinline {{\nentry:\n{body}\n  ret void\n}}\n"


def _less(words: int) -> str:
    """Rows are compared from their last word on."""
    code = Code()
    runtime = Runtime(code)
    mine, others = runtime.load_row(words, "%a").words, runtime.load_row(words, "%b").words
    result = Scalar(1, "false", 0)
    for x, y in zip(mine, others, strict=True):
        less, same = code.compare("ugt", y, x), code.compare("eq", x, y)
        result = code.either(less, code.both(same, result))
    body = "\n".join(code.lines)
    return f"define internal i1 @less_row(ptr %a, ptr %b) alwaysinline {{\nentry:\n{body}\n  ret {result.typed}\n}}\n"


def _rows(words: int) -> str:
    return f"""define void @canonical_rows(ptr %rows, i64 %n) {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %offset = mul i64 %i, {words}
  %row = getelementptr i64, ptr %rows, i64 %offset
  call void @canonical(ptr %row)
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}}
"""
