"""Bit blasting: the operations of the lowering as gates. The same lowering writes LLVM code or, with this builder,
gates.

The bits of a scalar are kept without repeated sign bits: the last literal stands for all above it. So a small number in
a 64-bit word costs only its few bits, and comparisons of such numbers are as wide as the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from assay.checker.aig.graph import FALSE, TRUE, Gates
from assay.checker.layout.row import WORD, RowLayout
from assay.checker.lowering.expressions.pack_unpack import RowWords
from assay.checker.lowering.llvm.function_builder import FunctionBuilder, Scalar, constant, word

Bits = tuple[int, ...]
"""Literals from the lowest bit; the last one is repeated above."""


class BitCode(FunctionBuilder):
    """A ``FunctionBuilder`` whose scalars stand for literals of an and-inverter graph."""

    has_memory = False

    def __init__(self, gates: Gates) -> None:
        super().__init__()
        self.gates = gates
        self._bits: dict[str, Bits] = {}
        self._named: dict[tuple[int, Bits], Scalar] = {}
        self._done: dict[tuple[str, str, str, int], Scalar] = {}
        """Results of earlier operations. Instances of actions share most of their expressions; gates have no scopes, so a
        result stays valid for ever."""

    def visit(self) -> None:
        """Nothing: gates have no limit on expressions."""

    # ------------------------------------------------------------------------------------------ translation

    def scalar(self, bits: int, literals: Bits) -> Scalar:
        """The scalar of these literals; equal literals give the same scalar."""
        kept = literals[:bits] if bits else (FALSE,)
        # Equal literals at the top are one: `5` in 64 bits is the three bits 1, 0, 1 and a 0 for all above.
        end = len(kept)
        if end > 1:
            while end > 1 and kept[end - 1] == kept[end - 2]:
                end -= 1
            kept = kept[:end]
        known = self._named.get((bits, kept))
        if known is None:
            known = self._make(bits, kept)
            self._named[bits, kept] = known
        return known

    def _make(self, bits: int, kept: Bits) -> Scalar:
        if all(literal <= TRUE for literal in kept):
            value = sum(1 << at for at, literal in enumerate(kept) if literal)
            if kept[-1]:  # the sign bit: of a word a negative number, of a mask all bits above
                value -= 1 << len(kept)
                if bits != 64:
                    value &= (1 << bits) - 1
            return constant(bits, value)
        result = Scalar(bits, f"%g{len(self._named)}")
        self._bits[result.text] = kept
        return result

    def literals(self, a: Scalar) -> Bits:
        """The literals of a scalar, without repeated ones at the top."""
        if a.known is None:
            return self._bits[a.text]
        return _constant_bits(a.known, a.bits)

    def literal(self, a: Scalar) -> int:
        """The literal of a condition."""
        return self.literals(a)[0]

    def condition(self, literal: int) -> Scalar:
        """The condition with this literal."""
        return self.scalar(1, (literal,))

    def all_bits(self, a: Scalar) -> Bits:
        """A literal for every bit."""
        return _wide(self.literals(a), a.bits)

    # ------------------------------------------------------------------------------------------ bit by bit

    def both(self, a: Scalar, b: Scalar) -> Scalar:
        """Bitwise ``and``."""
        if a.bits == 1:
            if a.known is not None:
                return b if a.known else a
            if b.known is not None:
                return a if b.known else b
        return self._bitwise("and", self.gates.both, a, b)

    def either(self, a: Scalar, b: Scalar) -> Scalar:
        """Bitwise ``or``."""
        if a.bits == 1:
            if a.known is not None:
                return a if a.known else b
            if b.known is not None:
                return b if b.known else a
        return self._bitwise("or", self.gates.either, a, b)

    def invert(self, a: Scalar) -> Scalar:
        """Every bit flipped."""
        return self.scalar(a.bits, tuple([x ^ 1 for x in self.literals(a)]))

    def _bitwise(self, name: str, operation: Callable[[int, int], int], a: Scalar, b: Scalar) -> Scalar:
        key = (name, a.text, b.text, a.bits)
        known = self._done.get(key)
        if known is None:
            x, y = _same_width(self.literals(a), self.literals(b))
            known = self._done[key] = self.scalar(a.bits, tuple(map(operation, x, y)))
        return known

    def choose(self, condition: Scalar, yes: Scalar, no: Scalar) -> Scalar:
        """``yes`` or ``no``."""
        if condition.known is not None:
            return yes if condition.known else no
        if yes is no:
            return yes
        key = (condition.text, yes.text, no.text, yes.bits)
        known = self._done.get(key)
        if known is None:
            test, gate = self.literal(condition), self.gates.choose
            x, y = _same_width(self.literals(yes), self.literals(no))
            bits = tuple([gate(test, p, q) for p, q in zip(x, y, strict=True)])
            known = self._done[key] = self.scalar(yes.bits, bits)
        return known

    # --------------------------------------------------------------------------------------------- numbers

    def number(self, op: str, a: Scalar, b: Scalar) -> Scalar:
        """``add``, ``sub``, ``mul`` of words, or ``xor``."""
        x, y = self.literals(a), self.literals(b)
        match op:
            case "xor":
                return self._bitwise("xor", self.gates.differ, a, b)
            case "add":
                return self.scalar(a.bits, self._sum(x, y, FALSE, a.bits))
            case "sub":
                return self.scalar(a.bits, self._sum(x, tuple(v ^ 1 for v in y), TRUE, a.bits))
            case "mul":
                return self.scalar(a.bits, self._product(x, y, a.bits))
            case _:
                raise AssertionError(op)

    def _sum(self, x: Bits, y: Bits, carry: int, most: int) -> Bits:
        gates, out = self.gates, []
        for p, q in zip(*_same_width(x, y, 1), strict=True):
            # A full adder. Both operands are one bit wider, as a sum may need.
            half = gates.differ(p, q)
            out.append(gates.differ(half, carry))
            carry = gates.either(gates.both(p, q), gates.both(half, carry))
        return tuple(out[:most])

    def _product(self, x: Bits, y: Bits, most: int) -> Bits:
        width = min(most, len(x) + len(y))
        x, y = _wide(x, width), _wide(y, width)
        total: Bits = (FALSE,)
        for at, bit in enumerate(y):
            if bit != FALSE:
                row = (*([FALSE] * at), *(self.gates.both(bit, p) for p in x[: width - at]))
                total = self._sum(_wide(total, width), row, FALSE, width)[:width]
        return total

    def compare(self, op: str, a: Scalar, b: Scalar) -> Scalar:
        """``eq``, ``ne``, ``slt``, ``sle`` or ``ugt``."""
        # Constants may be written with or without a sign, so only the bits of their width are compared.
        if op in {"eq", "ne"} and a.known is not None and b.known is not None:
            return constant(1, ((a.known ^ b.known) & ((1 << a.bits) - 1) == 0) == (op == "eq"))
        key = (op, a.text, b.text, a.bits)
        known = self._done.get(key)
        if known is None:
            known = self._done[key] = self._compared(op, a, b)
        return known

    def _compared(self, op: str, a: Scalar, b: Scalar) -> Scalar:
        x, y = _same_width(self.literals(a), self.literals(b))
        match op:
            case "eq" | "ne":
                equal = self.gates.all_of(self.gates.differ(p, q) ^ 1 for p, q in zip(x, y, strict=True))
                return self.condition(equal ^ (op == "ne"))
            case "slt":
                return self.condition(self._less(_flip_sign(x), _flip_sign(y)))
            case "sle":
                return self.condition(self._less(_flip_sign(y), _flip_sign(x)) ^ 1)
            case "ugt":
                return self.condition(self._less(y, x))
            case _:
                raise AssertionError(op)

    def _less(self, x: Bits, y: Bits) -> int:
        """Whether the first is less, for unsigned numbers of one width."""
        gates, less = self.gates, FALSE
        for p, q in zip(x, y, strict=True):
            # From the lowest bit up: the highest bit in which they differ decides.
            less = gates.choose(gates.differ(p, q), q, less)
        return less

    def resize(self, a: Scalar, bits: int) -> Scalar:
        """The value zero-extended, or truncated to its lowest bits."""
        if bits <= a.bits:
            return self.scalar(bits, self.literals(a)) if bits < a.bits else a
        kept = self.literals(a)
        if kept[-1] != FALSE:
            # The last literal stands for all bits up to the old width. Zeros follow only behind these.
            kept = _wide(kept, a.bits)
        return self.scalar(bits, (*kept, FALSE))

    def left(self, a: Scalar, by: Scalar) -> Scalar:
        """Shifted left by less than the width."""
        if by.known is not None:
            return self.scalar(a.bits, ((FALSE,) * by.known + self.literals(a)) if by.known else self.literals(a))
        result = a
        # A barrel shifter: each bit of the amount shifts by a power of two, or not.
        for at, literal in enumerate(self._amount(by, a.bits)):
            result = self.choose(self.condition(literal), self.left(result, word(1 << at)), result)
        return result

    def right(self, a: Scalar, by: Scalar) -> Scalar:
        """Shifted right by less than the width, filled with zeros."""
        if by.known is not None:
            kept = self.literals(a)
            if kept[-1] != FALSE:
                kept = (*_wide(kept, a.bits), FALSE)
            return self.scalar(a.bits, kept[by.known :] or (FALSE,))
        result = a
        for at, literal in enumerate(self._amount(by, a.bits)):
            result = self.choose(self.condition(literal), self.right(result, word(1 << at)), result)
        return result

    def _amount(self, by: Scalar, width: int) -> Bits:
        """The bits of a shift amount that is less than the width."""
        return _wide(self.literals(by), by.bits)[: max(1, (width - 1).bit_length())]

    def ones(self, a: Scalar) -> Scalar:
        """How many bits are set, as a word."""
        numbers = [self.scalar(64, (literal, FALSE)) for literal in self.all_bits(a)] if a.bits else [word(0)]
        # In pairs, so that sums stay as narrow as they can: a chain would add to a wide sum each time.
        while len(numbers) > 1:
            sums = [self.number("add", p, q) for p, q in zip(numbers[::2], numbers[1::2], strict=False)]
            numbers = [*sums, numbers[-1]] if len(numbers) % 2 else sums
        return numbers[0]

    def lowest(self, a: Scalar) -> Scalar:
        """The position of the lowest set bit, as a word; the width if there is none."""
        result = word(a.bits)
        # From the top, so that the lowest bit that is set has the last word.
        for at, literal in reversed(list(enumerate(self.all_bits(a)))):
            result = self.choose(self.condition(literal), word(at), result)
        return result

    def quotient(self, a: Scalar, by: int, op: str = "udiv") -> Scalar:
        """A nonnegative word divided by a positive constant, or with ``urem`` the remainder."""
        quotient, remainder = self._divide(a, word(by))
        return quotient if op == "udiv" else remainder

    def divided(self, op: str, a: Scalar, b: Scalar) -> Scalar:
        """Signed division of words rounded towards zero, or with ``srem`` its remainder."""
        zero = word(0)
        minus, other = self.compare("slt", a, zero), self.compare("slt", b, zero)
        quotient, remainder = self._divide(self._absolute(a, minus), self._absolute(b, other))
        if op == "srem":
            return self.choose(minus, self.number("sub", zero, remainder), remainder)
        differ = self.number("xor", minus, other)
        return self.choose(differ, self.number("sub", zero, quotient), quotient)

    def _absolute(self, a: Scalar, minus: Scalar) -> Scalar:
        return self.choose(minus, self.number("sub", word(0), a), a)

    def _divide(self, a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
        """Long division of nonnegative words."""
        remainder, out = word(0), []
        for literal in reversed(self.literals(a)):
            shifted = self.either(self.left(remainder, word(1)), self.scalar(64, (literal, FALSE)))
            fits = self.compare("sle", b, shifted)
            remainder = self.choose(fits, self.number("sub", shifted, b), shifted)
            out.append(self.literal(fits))
        return self.scalar(64, (*reversed(out), FALSE)), remainder


def owned_bits(layout: RowLayout) -> list[int]:
    """The positions of the bits of a row that belong to a variable."""
    return [at for place in layout.places for at in range(place.shift, place.shift + place.shape.width)]


def spread(layout: RowLayout, literals: Sequence[int]) -> list[int]:
    """A literal for each bit of a row's words, from those of the bits that belong to a variable; other bits are 0."""
    words = [FALSE] * (layout.words * WORD)
    for at, literal in zip(owned_bits(layout), literals, strict=True):
        words[at] = literal
    return words


def input_row(code: BitCode, layout: RowLayout, literals: Sequence[int]) -> RowWords:
    """The row with these literals, one for each bit of its words."""
    words = [code.scalar(WORD, tuple(literals[at : at + WORD])) for at in range(0, layout.words * WORD, WORD)]
    return RowWords(code, words)


@lru_cache(maxsize=4096)
def _constant_bits(value: int, bits: int) -> Bits:
    value &= (1 << bits) - 1
    top = value >> (bits - 1) & 1 if bits else 0
    end = min(bits, (value ^ ((1 << bits) - 1) if top else value).bit_length() + 1)
    return tuple(value >> at & 1 for at in range(end)) or (FALSE,)


def _wide(x: Bits, width: int) -> Bits:
    return x[:width] if len(x) >= width else (*x, *(x[-1:] * (width - len(x))))


def _same_width(x: Bits, y: Bits, more: int = 0) -> tuple[Bits, Bits]:
    width = max(len(x), len(y)) + more
    return _wide(x, width), _wide(y, width)


def _flip_sign(x: Bits) -> Bits:
    """The number with its sign bit flipped: signed order becomes unsigned order."""
    return (*x[:-1], x[-1] ^ 1)
