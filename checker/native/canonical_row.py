"""The representative of a row's orbit, in compiled code (docs/design/representative-rows.md).

Permutations of symmetric elements make further rows of it. Only those count whose elements are sorted by their keys
(``symmetry_keys``); of these the least is the representative. Elements are sorted by exchanges of two neighbours, each
a function of its own. Where several elements have one key, and exchanging them changes the row, all their arrangements
are visited, again by exchanges.
"""

from __future__ import annotations

from assay.checker.interpreter.values.sort_occurrence import mentions
from assay.checker.layout.row import RowLayout
from assay.checker.layout.value_numbering import universe
from assay.checker.lowering.expressions.dispatch import StateSymbols
from assay.checker.lowering.expressions.pack_unpack import Packer
from assay.checker.lowering.llvm.function_builder import FunctionBuilder, Scalar, constant, word
from assay.checker.lowering.symbols.intervals import bounded
from assay.checker.lowering.symbols.symbol import (
    Bag,
    Bunch,
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
from assay.checker.native.runtime import Runtime, over_rows
from assay.checker.native.symmetry_keys import SymmetryKeys
from assay.checker.symmetry.permute import permuted
from assay.checker.symmetry_group import Group, plain_changes
from assay.grammar import kernel as k
from assay.grammar.kernel import types as t
from assay.grammar.kernel.node_unions import kind


def canonical_functions(kernel: k.Kernel, layout: RowLayout, group: Group) -> list[str]:
    """The functions ``canonical``, for one row, and ``canonical_rows``, for many; both change rows in place."""
    exchanges = [
        _exchange(kernel, layout, ElementExchange(sort, at), number)
        for number, (sort, at) in enumerate(group.exchanges)
    ]
    sortings = [_sorting(kernel, layout, group, sort, at, number) for number, (sort, at) in enumerate(group.exchanges)]
    words = layout.words
    return [
        *exchanges,
        *sortings,
        _tables(group),
        _any("exchange", group),
        _canonical(words, group),
        _VISIT,
        over_rows("canonical_rows(ptr %rows, i64 %n)", words, "call void @canonical(ptr %row)"),
    ]


class ElementExchange:
    """The exchange of an element of a sort with the next one."""

    def __init__(self, sort: t.Sort, at: int) -> None:
        self._names = [sort.name]
        images = list(range(len(sort.elements)))
        # Only neighbours are exchanged: n - 1 functions then make all n! permutations.
        images[at], images[at + 1] = at + 1, at
        self._sort, self._at, self._by = sort, at, {sort.name: tuple(images)}

    def of(self, code: FunctionBuilder, symbol: Symbol, type_: t.Type) -> Symbol:
        """The symbol after the exchange; the same object if nothing changes."""
        # The very same symbol: `Packer` copies its bits.
        if not mentions(type_, self._names):
            return symbol
        match kind(type_), symbol:
            case t.AtomType(), Number():
                return self._element(code, symbol)
            case t.EnumType(_, variants), VariantSymbol(tag, payloads):
                changed = [
                    tuple(self.of(code, x, field.type) for x, field in zip(payload, variant.fields, strict=True))
                    for payload, variant in zip(payloads, variants, strict=True)
                ]
                return VariantSymbol(tag, tuple(changed))
            case t.RecordType(_, fields), RecordSymbol(parts):
                return RecordSymbol(tuple(self.of(code, x, field.type) for x, field in zip(parts, fields, strict=True)))
            case t.OptionType(item), Maybe(present, inner):
                return Maybe(present, None if inner is None else self.of(code, inner, item))
            case t.SetType(item), Mask():
                return self._mask(code, symbol, item)
            case t.SetType(item), Bunch(items):
                # The exchange may put the elements out of order, here and below.
                return Bunch(tuple((there, self.of(code, x, item)) for there, x in items), ordered=False)
            case t.SeqType(item), Sequence(length, items_):
                return Sequence(length, tuple(self.of(code, x, item) for x in items_))
            case t.BagType(item), Bag(counted):
                return Bag(tuple((n, self.of(code, x, item)) for n, x in counted), ordered=False)
            case t.MapType(key, image), TableSymbol(_, entries):
                values = [(there, None if x is None else self.of(code, x, image)) for there, x in entries]
                return TableSymbol(key, tuple(values[source] for source in self._sources(key)))
            case t.MapType(key, image), Pairs(pairs):
                return Pairs(
                    tuple((p, self.of(code, x, key), self.of(code, y, image)) for p, x, y in pairs), ordered=False
                )
            case _:
                raise AssertionError(f"{symbol} is not of the type {type_}")

    def _element(self, code: FunctionBuilder, symbol: Number) -> Number:
        here, there = word(self._at), word(self._at + 1)
        # Two choices in the place of a branch: the code of all fields stays one basic block.
        lowered = code.choose(code.compare("eq", symbol.value, there), here, symbol.value)
        value = code.choose(code.compare("eq", symbol.value, here), there, lowered)
        return bounded(value, 0, max(0, len(self._sort.elements) - 1))

    def _sources(self, type_: t.Type) -> list[int]:
        """For the rank of each value of a small type the rank of the value that is sent to it. An exchange is its own
        inverse."""
        known = universe(type_)
        return [known.rank(permuted(value, type_, self._by)) for value in known.values]

    def _mask(self, code: FunctionBuilder, symbol: Mask, item: t.Type) -> Mask:
        """The mask after the exchange. Bits that move by the same distance are moved together."""
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


def _exchange(kernel: k.Kernel, layout: RowLayout, exchange: ElementExchange, number: int) -> str:
    code = FunctionBuilder()
    runtime = Runtime(code)
    row = runtime.load_row(layout.words)
    # Old and new row are one in memory, but all words were loaded before the first is stored.
    state, packer = StateSymbols(row, layout, kernel.variables), Packer(row, layout)
    for variable, place in zip(kernel.variables, layout.places, strict=True):
        symbol = state.read(variable.name)
        packer.put(exchange.of(code, symbol, variable.type), symbol, place.shape, place.shift)
    for at, value in enumerate(packer.words()):
        address = code.fresh(64, f"getelementptr i64, ptr %row, i64 {at}")
        code.do(f"store {value.typed}, ptr {address.text}")
    body = "\n".join(code.lines)
    return f"define internal void @exchange_{number}(ptr %row) noinline {{\nentry:\n{body}\n  ret void\n}}\n"


def _sorting(kernel: k.Kernel, layout: RowLayout, group: Group, sort: t.Sort, at: int, number: int) -> str:
    """``tied_N``: whether two neighbours have one key. ``sort_N``: exchange them if their keys are out of order."""
    code = FunctionBuilder()
    row = Runtime(code).load_row(layout.words)
    state, keys = StateSymbols(row, layout, kernel.variables), SymmetryKeys(code, sort, group.names)
    read = [(state.read(v.name), v.type, p.shape) for v, p in zip(kernel.variables, layout.places, strict=True)]
    # Anew for each pair of neighbours: an earlier exchange has changed the row.
    first, second = keys.key(read, at), keys.key(read, at + 1)
    body = "\n".join(code.lines)
    lines = len(code.lines)
    greater, equal = code.compare("ugt", first, second), code.compare("eq", first, second)
    compare = "\n".join(code.lines[lines:])
    return f"""define internal i1 @tied_{number}(ptr %row) noinline {{
entry:
{body}
{compare}
  ret {equal.typed}
}}

define internal void @sort_{number}(ptr %row) noinline {{
entry:
{body}
{compare}
  br i1 {greater.text}, label %change, label %done
change:
  call void @exchange_{number}(ptr %row)
  br label %done
done:
  ret void
}}
"""


def _tables(group: Group) -> str:
    """For each number of elements the exchanges that visit all their arrangements, and the number of these."""
    # A run has at most all elements of a sort.
    most = max(len(sort.elements) for sort in group.sorts)
    changes = [plain_changes(n) for n in range(most + 1)]
    tables = [
        f"@changes_{n} = internal constant [{max(1, len(each))} x i16] [{', '.join(f'i16 {at}' for at in each or [0])}]"
        for n, each in enumerate(changes)
    ]
    pointers = ", ".join(f"ptr @changes_{n}" for n in range(most + 1))
    sizes = ", ".join(f"i64 {len(each)}" for each in changes)
    return "\n".join(
        [
            *tables,
            f"@changes = internal constant [{most + 1} x ptr] [{pointers}]",
            f"@sizes = internal constant [{most + 1} x i64] [{sizes}]\n",
        ]
    )


def _any(name: str, group: Group) -> str:
    """A function of a number that is known only at run time: it calls the one with that number."""
    numbers = range(len(group.exchanges))
    cases = "\n".join(f"    i64 {each}, label %case{each}" for each in numbers)
    calls = "\n".join(f"case{each}:\n  call void @{name}_{each}(ptr %row)\n  ret void" for each in numbers)
    return f"""define internal void @{name}(i64 %which, ptr %row) noinline {{
entry:
  switch i64 %which, label %none [
{cases}
  ]
{calls}
none:
  ret void
}}
"""


def _canonical(words: int, group: Group) -> str:
    """Sort; note the runs of elements with one key; visit their arrangements, unless exchanges within them change
    nothing."""
    code = FunctionBuilder()
    first = 0
    for sort in group.sorts:
        # A bubble sort, unrolled: compiled code can exchange neighbours only.
        for last in range(len(sort.elements) - 1, 0, -1):
            for at in range(last):
                code.do(f"call void @sort_{first + at}(ptr %row)")
        first += len(sort.elements) - 1
    runs, changes = _note_runs(code, group)
    code.branch(changes, "visit", "done")
    code.label("visit")
    # The arrangements are made in a copy, and the least is kept in the row itself.
    code.do("call void @copy_row(ptr %now, ptr %row)")
    code.do(f"call void @visit(ptr %now, ptr %row, ptr %runs, i64 0, {runs.typed})")
    code.jump("done")
    code.label("done")
    # Two words for a run. One of several elements has an exchange; one more run may be written behind the last.
    most = 2 * (len(group.exchanges) + 1)
    allocas = f"  %now = alloca [{words} x i64]\n  %runs = alloca [{most} x i64]"
    body = "\n".join(code.lines)
    function = f"define internal void @canonical(ptr %row) noinline {{\nentry:\n{allocas}\n{body}\n  ret void\n}}\n"
    return "\n".join([function, _copy(words), _less(words), _same(words)])


def _note_runs(code: FunctionBuilder, group: Group) -> tuple[Scalar, Scalar]:
    """Write the first exchange and the number of elements of each run with one key. Gives how many runs, and whether
    exchanges change the row.

    A run is written wherever it may end; what is written behind the last run is never read.
    """
    runs, changes, number = word(0), Scalar(1, "false", 0), 0
    for sort in group.sorts:
        # A run ends with its sort: elements of two sorts are never exchanged.
        start, length = word(number), word(1)
        for _ in range(len(sort.elements) - 1):
            tied = code.fresh(1, f"call i1 @tied_{number}(ptr %row)")
            code.do("call void @copy_row(ptr %now, ptr %row)")
            code.do(f"call void @exchange_{number}(ptr %now)")
            same = code.fresh(1, "call i1 @same_row(ptr %now, ptr %row)")
            # Elements with one key may still be told apart by the row. If no exchange of tied neighbours changes it,
            # the sorted row is the least one, and nothing is visited.
            changes = code.either(changes, code.both(tied, code.invert(same)))
            runs = code.choose(tied, runs, _run(code, runs, start, length))
            start = code.choose(tied, start, word(number + 1))
            length = code.choose(tied, code.number("add", length, word(1)), word(1))
            number += 1
        runs = _run(code, runs, start, length)
    return runs, changes


def _run(code: FunctionBuilder, runs: Scalar, start: Scalar, length: Scalar) -> Scalar:
    """Write a run; gives how many runs there are, if it has several elements."""
    place = code.number("mul", runs, word(2))
    for offset, value in ((0, start), (1, length)):
        at = code.number("add", place, word(offset))
        address = code.fresh(64, f"getelementptr i64, ptr %runs, {at.typed}")
        code.do(f"store {value.typed}, ptr {address.text}")
    several = code.compare("slt", word(1), length)
    return code.number("add", runs, code.resize(several, 64))


_VISIT = """define internal void @visit(ptr %now, ptr %best, ptr %runs, i64 %at, i64 %count) {
entry:
  %leaf = icmp eq i64 %at, %count
  br i1 %leaf, label %look, label %node
look:
  %less = call i1 @less_row(ptr %now, ptr %best)
  br i1 %less, label %take, label %done
take:
  call void @copy_row(ptr %best, ptr %now)
  ret void
node:
  %next = add i64 %at, 1
  %place = mul i64 %at, 2
  %first = getelementptr i64, ptr %runs, i64 %place
  %start = load i64, ptr %first
  %second = getelementptr i64, ptr %first, i64 1
  %length = load i64, ptr %second
  %table_at = getelementptr ptr, ptr @changes, i64 %length
  %table = load ptr, ptr %table_at
  %size_at = getelementptr i64, ptr @sizes, i64 %length
  %size = load i64, ptr %size_at
  call void @visit(ptr %now, ptr %best, ptr %runs, i64 %next, i64 %count)
  br label %head
head:
  %i = phi i64 [ 0, %node ], [ %following, %body ]
  %more = icmp ult i64 %i, %size
  br i1 %more, label %body, label %done
body:
  %change_at = getelementptr i16, ptr %table, i64 %i
  %change = load i16, ptr %change_at
  %wide = zext i16 %change to i64
  %which = add i64 %start, %wide
  call void @exchange(i64 %which, ptr %now)
  call void @visit(ptr %now, ptr %best, ptr %runs, i64 %next, i64 %count)
  %following = add i64 %i, 1
  br label %head
done:
  ret void
}
"""
"""All arrangements of the runs from ``at`` on; the least row is kept in ``best``.

``%now`` is not put back after the loop: the exchanges visit all arrangements of a run from whichever it begins with.
"""


def _copy(words: int) -> str:
    code = FunctionBuilder()
    for at in range(words):
        source = code.fresh(64, f"getelementptr i64, ptr %from, i64 {at}")
        value = code.fresh(64, f"load i64, ptr {source.text}")
        target = code.fresh(64, f"getelementptr i64, ptr %to, i64 {at}")
        code.do(f"store {value.typed}, ptr {target.text}")
    body = "\n".join(code.lines)
    return f"define internal void @copy_row(ptr %to, ptr %from) alwaysinline {{\nentry:\n{body}\n  ret void\n}}\n"


def _less(words: int) -> str:
    """Rows are compared from their last word on."""
    code, pairs = _two_rows(words)
    result = Scalar(1, "false", 0)
    for x, y in pairs:
        less, same = code.compare("ugt", y, x), code.compare("eq", x, y)
        result = code.either(less, code.both(same, result))
    return _comparison("less_row", code, result)


def _same(words: int) -> str:
    code, pairs = _two_rows(words)
    return _comparison("same_row", code, code.all_of([code.compare("eq", x, y) for x, y in pairs]))


def _two_rows(words: int) -> tuple[FunctionBuilder, list[tuple[Scalar, Scalar]]]:
    code = FunctionBuilder()
    runtime = Runtime(code)
    mine, others = (runtime.load_row(words, name).words for name in ("%a", "%b"))
    return code, list(zip(mine, others, strict=True))


def _comparison(name: str, code: FunctionBuilder, result: Scalar) -> str:
    body = "\n".join(code.lines)
    return f"define internal i1 @{name}(ptr %a, ptr %b) alwaysinline {{\nentry:\n{body}\n  ret {result.typed}\n}}\n"
