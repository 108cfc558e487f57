"""Gates on 64 rows at once: the functions of a module that prefilter instances and states.

The rows are transposed: a *plane* is a word with one bit of each of 64 rows. A gate is one instruction on planes; the
planes of the answers, transposed back, are a word for each row. The transposition is that of Hacker's Delight (H. S.
Warren, section 7-3), on vectors of eight words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assay.checker.aig.graph import TRUE
from assay.checker.layout.call_frame import NEVER, ContextSlot
from assay.checker.layout.row import WORD
from assay.checker.native.bitsliced_prefilter import Prefilter
from assay.grammar.lazy_dataclass import dataclass

ROWS = WORD
"""So many rows are looked at together: their bits fill a word."""
_VECTOR = 8


@dataclass(frozen=True, slots=True)
class PrefilterBits:
    """Where the prefilter's answers about an action lie: in which word of each row's answer, from which bit on, and how
    many."""

    word: int
    shift: int
    count: int


def places(sieve: Prefilter) -> tuple[list[PrefilterBits | None], int]:
    """Where the answers about each action lie (None: the action is not prefiltered), and the number of answer words per
    row."""
    found: list[PrefilterBits | None] = []
    word, free = -1, 0
    for literals in sieve.actions:
        if literals is None:
            found.append(None)
            continue
        # The bits of an action do not cross the end of a word, so one load gives all of them.
        if free < len(literals):
            word, free = word + 1, WORD
        found.append(PrefilterBits(word, WORD - free, len(literals)))
        free -= len(literals)
    return found, word + 1


def prefilter_functions(sieve: Prefilter, words: int, guards: Mapping[str, int]) -> str:
    """The functions ``@sieve`` and, if properties are prefiltered, ``@decided``; ``guards`` are positions in the array
    of decisive guards."""
    parts = [_transpose(), _planes(words, _used(sieve))]
    answers, groups = places(sieve)
    if groups:
        parts.append(_sieve(sieve, answers, groups, words, guards))
    if sieve.decided is not None:
        parts.append(_decided(sieve, words))
    return "\n".join(parts)


def _used(sieve: Prefilter) -> list[int]:
    """The words of a row of which some gate reads a bit."""
    roots = [literal for literals in (*sieve.actions, sieve.decided) for literal in literals or ()]
    return sorted({sieve.positions[node] // WORD for node in sieve.gates.cone(roots) if node in sieve.positions})


# ------------------------------------------------------------------------------------------------------------ gates


class _Writer:
    """Writes gates as instructions on planes. The plane of an input is in the block, or given."""

    def __init__(self, sieve: Prefilter, given: Mapping[int, str]) -> None:
        self.lines: list[str] = []
        self._gates = sieve.gates
        self._positions = sieve.positions
        self._planes: dict[int, str] = dict(given)
        self._inverse: dict[int, str] = {}

    def write(self, roots: Sequence[int]) -> list[str]:
        """The planes of literals."""
        for node in self._gates.cone(roots):
            if node not in self._planes:
                self._planes[node] = self._node(node)
        return [self._plane(literal) for literal in roots]

    def _node(self, node: int) -> str:
        if self._gates.is_input(node):
            self.lines.append(f"  %p{node} = getelementptr i64, ptr %block, i64 {self._positions[node]}")
            self.lines.append(f"  %g{node} = load i64, ptr %p{node}")
        else:
            left, right = self._plane(self._gates.left[node]), self._plane(self._gates.right[node])
            self.lines.append(f"  %g{node} = and i64 {left}, {right}")
        return f"%g{node}"

    def _plane(self, literal: int) -> str:
        if literal <= TRUE:
            return "-1" if literal else "0"
        node = literal >> 1
        if not literal & 1:
            return self._planes[node]
        if node not in self._inverse:
            self.lines.append(f"  %n{node} = xor i64 {self._planes[node]}, -1")
            self._inverse[node] = f"%n{node}"
        return self._inverse[node]


def _sieve(
    sieve: Prefilter, answers: Sequence[PrefilterBits | None], groups: int, words: int, guards: Mapping[str, int]
) -> str:
    lines, given = [_at(ContextSlot.DECISIVE, "array"), "  %marks = load ptr, ptr %array"], dict[int, str]()
    for name, literal in sieve.marks.items():
        node = literal >> 1
        # A guard that no code marks is never known to be decisive.
        given[node] = "0"
        if name in guards:
            lines.append(f"  %a{node} = getelementptr i8, ptr %marks, i64 {guards[name]}")
            lines.append(f"  %b{node} = load i8, ptr %a{node}")
            lines.append(f"  %c{node} = icmp ne i8 %b{node}, 0")
            # All rows or none: what is known of a guard does not depend on the row.
            lines.append(f"  %m{node} = sext i1 %c{node} to i64")
            given[node] = f"%m{node}"
    writer = _Writer(sieve, given)
    stores = []
    for where, literals in zip(answers, sieve.actions, strict=True):
        if where is not None and literals is not None:
            # Plane i of a group becomes, transposed, bit i of each row's word.
            for at, plane in enumerate(writer.write(literals), where.word * WORD + where.shift):
                stores.append(f"  %s{at} = getelementptr i64, ptr %possible, i64 {at}\n  store i64 {plane}, ptr %s{at}")
    back = [
        f"  %t{at} = getelementptr i64, ptr %possible, i64 {at * WORD}\n  call void @transpose(ptr %t{at})"
        for at in range(groups)
    ]
    body = "\n".join([*lines, *writer.lines, *stores, *back])
    return _function("void @sieve(ptr %context, ptr %rows, ptr %possible)", words, body, "ret void")


def _decided(sieve: Prefilter, words: int) -> str:
    """The function ``@decided``: bits of the rows that decide a property, or leave it without value, for the first
    time."""
    assert sieve.decided is not None
    writer = _Writer(sieve, {})
    lines, total = [_at(ContextSlot.STATES, "array"), "  %found = load ptr, ptr %array"], "0"
    for at, plane in enumerate(writer.write(sieve.decided)):
        # What no state can decide is not asked.
        if plane != "0":
            lines += [
                f"  %q{at} = getelementptr i64, ptr %found, i64 {at}",
                f"  %r{at} = load i64, ptr %q{at}",
                f"  %s{at} = icmp eq i64 %r{at}, {NEVER}",
                f"  %t{at} = select i1 %s{at}, i64 {plane}, i64 0",
                f"  %u{at} = or i64 {total}, %t{at}",
            ]
            total = f"%u{at}"
    body = "\n".join([*writer.lines, *lines])
    return _function("i64 @decided(ptr %context, ptr %rows)", words, body, f"ret i64 {total}")


def _function(head: str, words: int, body: str, last: str) -> str:
    # ``optnone``: there is little to optimise in gates, and LLVM takes six times as long to find that out. The code is
    # a tenth slower than it could be.
    block = f"  %block = alloca [{words * WORD} x i64], align 64\n  call void @planes(ptr %rows, ptr %block)"
    return f"define internal {head} noinline optnone {{\nentry:\n{block}\n{body}\n  {last}\n}}\n"


def _at(slot: ContextSlot, name: str) -> str:
    return f"  %{name} = getelementptr i64, ptr %context, i64 {int(slot)}"


# ---------------------------------------------------------------------------------------------------- transposition


def _planes(words: int, used: Sequence[int]) -> str:
    """The planes of 64 rows: a word for each bit of a row, in the order of the bits. Those of unused words are not
    written."""
    copies = "\n".join(
        f"""  %from{at} = getelementptr i64, ptr %row, i64 {at}
  %w{at} = load i64, ptr %from{at}
  %place{at} = add i64 %i, {at * WORD}
  %to{at} = getelementptr i64, ptr %block, i64 %place{at}
  store i64 %w{at}, ptr %to{at}"""
        for at in used
    )
    turns = "\n".join(
        f"  %part{at} = getelementptr i64, ptr %block, i64 {at * WORD}\n  call void @transpose(ptr %part{at})"
        for at in used
    )
    return f"""define internal void @planes(ptr %rows, ptr %block) {{
entry:
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %offset = mul i64 %i, {words}
  %row = getelementptr i64, ptr %rows, i64 %offset
{copies}
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, {ROWS}
  br i1 %more, label %body, label %done
done:
{turns}
  ret void
}}
"""


class _Vectors:
    """Instructions on vectors of eight words."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def do(self, text: str) -> str:
        """The result of an instruction."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def op(self, name: str, a: str, b: str) -> str:
        """A binary instruction."""
        return self.do(f"{name} <8 x i64> {a}, {b}")

    def shuffle(self, a: str, b: str, order: Sequence[int]) -> str:
        """The words of two vectors in this order; those of the second are numbered from eight."""
        wanted = ", ".join(f"i32 {at}" for at in order)
        return self.do(f"shufflevector <8 x i64> {a}, <8 x i64> {b}, <8 x i32> <{wanted}>")


def _constant(values: Iterable[int]) -> str:
    return f"<{', '.join(f'i64 {value - (1 << 64) if value >> 63 else value}' for value in values)}>"


def _transpose() -> str:
    """The function ``@transpose``: bit ``i`` of word ``j`` of 64 words becomes bit ``j`` of word ``i``."""
    code = _Vectors()
    addresses = [code.do(f"getelementptr i64, ptr %block, i64 {at * _VECTOR}") for at in range(_VECTOR)]
    block = [code.do(f"load <8 x i64>, ptr {address}, align 8") for address in addresses]
    # Halves of 64 rows, of 32, and so on; steps below eight stay within one vector.
    for step in (32, 16, 8):
        _between(code, block, step)
    for step in (4, 2, 1):
        block = [_within(code, each, step) for each in block]
    for address, each in zip(addresses, block, strict=True):
        code.lines.append(f"  store <8 x i64> {each}, ptr {address}, align 8")
    body = "\n".join(code.lines)
    return f"define internal void @transpose(ptr %block) noinline {{\nentry:\n{body}\n  ret void\n}}\n"


def _low(step: int) -> int:
    """The lower ``step`` bits of each ``2 * step``."""
    return sum(((1 << step) - 1) << at for at in range(0, WORD, 2 * step))


def _between(code: _Vectors, block: list[str], step: int) -> None:
    """Exchange the higher bits of each word with the lower bits of the word ``step`` further on, which is in another
    vector."""
    low, high, by = (_constant([value] * _VECTOR) for value in (_low(step), _low(step) << step, step))
    for at in range(_VECTOR):
        other = at + step // _VECTOR
        if not at & step // _VECTOR:
            a, b = block[at], block[other]
            block[at] = code.op("or", code.op("and", a, low), code.op("shl", code.op("and", b, low), by))
            block[other] = code.op("or", code.op("and", b, high), code.op("and", code.op("lshr", a, by), low))


def _within(code: _Vectors, vector: str, step: int) -> str:
    """Exchange them as ``_between`` does, where both words are in one vector."""
    lanes = range(_VECTOR)
    low, by = _constant([_low(step)] * _VECTOR), _constant([step] * _VECTOR)
    other = code.shuffle(vector, vector, [lane ^ step for lane in lanes])
    up = code.op("shl", code.op("and", other, low), by)
    down = code.op("and", code.op("lshr", other, by), low)
    moved = code.shuffle(up, down, [lane + _VECTOR if lane & step else lane for lane in lanes])
    kept = _constant([_low(step) << step if lane & step else _low(step) for lane in lanes])
    return code.op("or", code.op("and", vector, kept), moved)
