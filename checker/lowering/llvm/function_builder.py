"""One LLVM function while it is written: constants are folded, and common subexpressions are computed once.

Integers are signed 64-bit words (interval analysis in ``symbols.intervals`` keeps them from wrapping), conditions are
``i1``, sets are bit masks of any width. No operation written here may yield poison: conditions are combined by ``and``
and ``or``, which are poison if one operand is. So callers keep shift amounts and divisors in range even where a value
will not be used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple

from assay.checker.lowering.llvm.unsupported import TooLongError

LINES = 40_000
"""The most instructions of one function: LLVM takes a few seconds for so many."""
SAMPLE = 8
"""The first such part of equal pieces of code, but two at least, shows how long all of them will be."""
SURELY = 1.3
"""How far beyond the limit the expected length has to be. Pieces differ, for what is known of some folds them away."""
VISITS = 1_000_000
"""The most expressions translated for one function, counting each once per element for which it is written out.

Most of these add no code: of ``exists p, q, r, s in K: x[p] + x[q] + x[r] + x[s] == 3`` most sums are common
subexpressions.
"""


class Scalar(NamedTuple):
    """A value of ``bits`` bits: ``text`` is its LLVM operand, ``known`` its value if it is constant."""

    bits: int
    text: str
    known: int | None = None

    @property
    def typed(self) -> str:
        """The operand with its type."""
        return f"i{self.bits} {self.text}"


def constant(bits: int, value: int) -> Scalar:
    """A constant; of one bit it is ``true`` or ``false``."""
    # One name for each truth value, so that equal conditions have equal texts.
    if bits == 1:
        return TRUE if value else FALSE
    return Scalar(bits, str(value), value)


TRUE = Scalar(1, "true", 1)
FALSE = Scalar(1, "false", 0)


@lru_cache(maxsize=4096)
def word(value: int) -> Scalar:
    """An integer constant."""
    return Scalar(64, str(value), value)


_FOLD: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "eq": lambda a, b: int(a == b),
    "ne": lambda a, b: int(a != b),
    "slt": lambda a, b: int(a < b),
    "sle": lambda a, b: int(a <= b),
    "ugt": lambda a, b: int(a > b),
}


class FunctionBuilder:
    """The text of a function body, written from top to bottom. Raises ``TooLongError`` beyond ``limit`` instructions or
    ``visits`` expressions.

    ``unrolled`` records for each kind of domain the size of the largest one that was unrolled.
    """

    has_memory = True
    """Whether code may ``reserve`` words; gates have none."""

    def __init__(
        self, limit: int = LINES, visits: int = VISITS, unrolled: MutableMapping[str, int] | None = None
    ) -> None:
        self.limit = limit
        self.unrolled: MutableMapping[str, int] = {} if unrolled is None else unrolled
        self._visits = visits
        self.lines: list[str] = []
        self._next = 0
        # Of each open block, what was computed in it: all of them dominate the code that is written now.
        self._known: dict[str, Scalar] = {}
        # By names, which no two instructions share. So neither needs to be dropped with a scope.
        self._inverse: dict[str, Scalar] = {}
        self._origin: dict[str, tuple[Scalar, int]] = {}
        self.bits_of_masks: dict[str, tuple[Scalar, int]] = {}
        """Of conditions that are a bit of a mask: the mask and the position."""
        self.block = "entry"

    # ------------------------------------------------------------------------------------------ structure

    def name(self, stem: str) -> str:
        """A fresh name for a value or block."""
        self._next += 1
        return f"{stem}{self._next}"

    def label(self, name: str) -> None:
        """Begin a block."""
        self.lines.append(f"{name}:")
        self.block = name

    def jump(self, target: str) -> None:
        """End the block."""
        self.lines.append(f"  br label %{target}")

    def branch(self, condition: Scalar, yes: str, no: str) -> None:
        """End the block with a conditional branch."""
        self.lines.append(f"  br i1 {condition.text}, label %{yes}, label %{no}")

    def do(self, text: str) -> None:
        """Write an instruction that has no result."""
        self.lines.append(f"  {text}")

    def reserve(self, words: int) -> str:
        """The address of so many words on the stack, which the whole function may use."""
        address = f"%{self.name('stack')}"
        # At the head of the entry block: an `alloca` inside a loop would take new stack at each turn.
        self.lines.insert(0, f"  {address} = alloca [{max(1, words)} x i64], align 8")
        return address

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is computed inside is not reused afterwards: its block need not dominate the code that follows."""
        before = len(self._known)
        try:
            yield
        finally:
            # A dictionary has its keys in the order in which they came.
            while len(self._known) > before:
                self._known.popitem()

    def visit(self) -> None:
        """Count an expression whose code is about to be written."""
        self._visits -= 1
        if self._visits < 0:
            raise TooLongError("an expression or action that takes too long to translate")

    def refuse_foreseen(self, begun: int, done: int, parts: int) -> None:
        """Raise ``TooLongError`` where so many of the parts, written since a line, show that all will be too long."""
        expected = begun + (len(self.lines) - begun) * parts // done
        if done >= max(2, parts // SAMPLE) and expected > SURELY * self.limit:
            raise TooLongError(f"an expression or action that takes more than {self.limit:,} instructions")

    def fresh(self, bits: int, text: str) -> Scalar:
        """The result of an instruction that must be written here, even if the same text was written before (a load, a
        phi, a call)."""
        if len(self.lines) >= self.limit:
            raise TooLongError(f"an expression or action that takes more than {self.limit:,} instructions")
        self._next += 1
        name = f"%v{self._next}"
        self.lines.append(f"  {name} = {text}")
        return Scalar(bits, name)

    def pure(self, bits: int, text: str) -> Scalar:
        """The result of an instruction without effect; reused if it was computed before."""
        result = self._known.get(text)
        if result is None:
            result = self._known[text] = self.fresh(bits, text)
        return result

    # ------------------------------------------------------------------------------------------ conditions

    def both(self, a: Scalar, b: Scalar) -> Scalar:
        """Bitwise ``and``: of conditions, masks and words."""
        ones = (1 << a.bits) - 1
        if a.known is not None and b.known is not None:
            return constant(a.bits, a.known & b.known)
        if a.known is not None:
            a, b = b, a
        if b.known == 0:
            return b
        return a if b.known == ones or a == b else self.pure(a.bits, f"and {a.typed}, {b.text}")

    def either(self, a: Scalar, b: Scalar) -> Scalar:
        """Bitwise ``or``."""
        if a.known is not None and b.known is not None:
            return constant(a.bits, a.known | b.known)
        # Constants to the right, so that `x and 1` and `1 and x` have one text.
        if a.known is not None:
            a, b = b, a
        if b.known == (1 << a.bits) - 1:
            return b
        return a if b.known == 0 or a == b else self.pure(a.bits, f"or {a.typed}, {b.text}")

    def invert(self, a: Scalar) -> Scalar:
        """Every bit flipped; for a condition, its negation."""
        ones = (1 << a.bits) - 1
        if a.known is not None:
            return constant(a.bits, a.known ^ ones)
        # No scope is needed: `a` was made of its inverse, so that one is defined wherever `a` is.
        if a.text in self._inverse:
            return self._inverse[a.text]
        result = self.pure(a.bits, f"xor {a.typed}, {'true' if a.bits == 1 else '-1'}")
        self._inverse[result.text] = a
        return result

    def all_of(self, parts: list[Scalar]) -> Scalar:
        """The conjunction."""
        result = TRUE
        for part in parts:
            result = self.both(result, part)
        return result

    def any_of(self, parts: list[Scalar]) -> Scalar:
        """The disjunction."""
        result = FALSE
        for part in parts:
            result = self.either(result, part)
        return result

    def choose(self, condition: Scalar, yes: Scalar, no: Scalar) -> Scalar:
        """``yes`` or ``no``."""
        if condition.known is not None:
            return yes if condition.known else no
        if yes == no:
            return yes
        # By `and` and `or`, which fold constants and are shared; a select would be neither.
        if yes.bits == 1:
            if yes.known is not None:
                return self.either(condition, no) if yes.known else self.both(self.invert(condition), no)
            if no.known is not None:
                return self.either(self.invert(condition), yes) if no.known else self.both(condition, yes)
        return self.pure(yes.bits, f"select i1 {condition.text}, {yes.typed}, {no.typed}")

    # --------------------------------------------------------------------------------------------- numbers

    def number(self, op: str, a: Scalar, b: Scalar) -> Scalar:
        """``add``, ``sub``, ``mul`` of words, or ``xor``."""
        if a.known is not None and b.known is not None:
            return constant(a.bits, _FOLD[op](a.known, b.known))
        if b.known == 0 and op in {"add", "sub", "xor"}:
            return a
        if a.known == 0 and op == "add":
            return b
        if op == "mul" and 1 in {a.known, b.known}:
            return b if a.known == 1 else a
        if op in {"add", "sub"} and b.known is not None:
            return self._moved(a, b.known if op == "add" else -b.known)
        return self.pure(a.bits, f"{op} {a.typed}, {b.text}")

    def _moved(self, a: Scalar, by: int) -> Scalar:
        """A word plus a constant, relative to where a chain of such sums began: ``(x + 1) - 1`` is ``x`` again."""
        origin, distance = self._origin.get(a.text, (a, 0))
        if distance + by == 0:
            return origin
        result = self.pure(a.bits, f"add {origin.typed}, {distance + by}")
        self._origin[result.text] = (origin, distance + by)
        return result

    def compare(self, op: str, a: Scalar, b: Scalar) -> Scalar:
        """``eq``, ``ne``, ``slt``, ``sle`` or ``ugt``."""
        if a.known is not None and b.known is not None:
            return constant(1, _FOLD[op](a.known, b.known))
        if a == b:
            return TRUE if op in {"eq", "sle"} else FALSE
        if a.bits == 1 and op in {"eq", "ne"}:
            differ = self.pure(1, f"xor {a.typed}, {b.text}") if None is a.known is b.known else self._flip(a, b)
            return differ if op == "ne" else self.invert(differ)
        # A set over no possible elements has no bits, and LLVM no type for it.
        if a.bits == 0:
            return TRUE if op in {"eq", "sle"} else FALSE
        return self.pure(1, f"icmp {op} {a.typed}, {b.text}")

    def _flip(self, a: Scalar, b: Scalar) -> Scalar:
        changing, known = (a, b.known) if a.known is None else (b, a.known)
        return self.invert(changing) if known else changing

    def resize(self, a: Scalar, bits: int) -> Scalar:
        """The value zero-extended, or truncated to its lowest bits."""
        if a.bits == bits:
            return a
        if a.known is not None:
            return constant(bits, a.known & ((1 << bits) - 1))
        return self.pure(bits, f"{'zext' if bits > a.bits else 'trunc'} {a.typed} to i{bits}")

    def left(self, a: Scalar, by: Scalar) -> Scalar:
        """Shifted left by less than the width."""
        if by.known == 0 or a.known == 0:
            return a
        if a.known is not None and by.known is not None:
            return constant(a.bits, (a.known << by.known) & ((1 << a.bits) - 1))
        return self.pure(a.bits, f"shl {a.typed}, {self.resize(by, a.bits).text}")

    def right(self, a: Scalar, by: Scalar) -> Scalar:
        """Shifted right by less than the width, filled with zeros."""
        if by.known == 0 or a.known == 0:
            return a
        if a.known is not None and by.known is not None:
            return constant(a.bits, a.known >> by.known)
        return self.pure(a.bits, f"lshr {a.typed}, {self.resize(by, a.bits).text}")

    def ones(self, a: Scalar) -> Scalar:
        """How many bits are set, as a word."""
        if a.known is not None:
            return word(a.known.bit_count())
        return self.resize(self.pure(a.bits, f"call i{a.bits} @llvm.ctpop.i{a.bits}({a.typed})"), 64)

    def lowest(self, a: Scalar) -> Scalar:
        """The position of the lowest set bit, as a word; the width if there is none."""
        return self.resize(self.pure(a.bits, f"call i{a.bits} @llvm.cttz.i{a.bits}({a.typed}, i1 false)"), 64)

    def divided(self, op: str, a: Scalar, b: Scalar) -> Scalar:
        """``sdiv`` or ``srem`` of words, rounded towards zero; the divisor must not be zero."""
        return self.pure(64, f"{op} i64 {a.text}, {b.text}")

    def quotient(self, a: Scalar, by: int, op: str = "udiv") -> Scalar:
        """A nonnegative word divided by a positive constant, or with ``urem`` the remainder."""
        if a.known is not None:
            return word(a.known // by if op == "udiv" else a.known % by)
        if by == 1:
            return a if op == "udiv" else word(0)
        return self.pure(64, f"{op} {a.typed}, {by}")
