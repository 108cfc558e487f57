"""Loops at run time, over the bits of a mask or over numbers, where unrolled code would be too long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, assert_never

from assay.checker.lowering.llvm.function_builder import FALSE, FunctionBuilder, Scalar, constant
from assay.grammar.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Submasks:
    """All masks within a mask; a loop over them has these masks as its positions."""

    of: Scalar


@dataclass(frozen=True, slots=True)
class Below:
    """The numbers from 0 to below one that only a run knows."""

    end: Scalar


Over = Scalar | int | Below | Submasks
"""The set bits of a mask, from the lowest; the numbers from 0 to below that; or masks."""


Kind = Literal["instances", "picks", "elements", "subsets"]


@dataclass(frozen=True, slots=True)
class UnrollBudget:
    """How much is unrolled instead of looped over.

    Each is the most that get code of their own. There are ``instances`` of an action, ``picks`` of a pick's domain, and
    ``elements`` of a quantifier's or filter's domain. Picked subsets do so for sets of up to ``subsets`` elements.
    """

    instances: int
    picks: int
    elements: int
    subsets: int

    def most(self, kind: Kind) -> int:
        """The size of the largest domain of the kind that is unrolled."""
        found: int = getattr(self, kind)
        return found


def is_looped(code: FunctionBuilder, unrolling: UnrollBudget, kind: Kind, size: int) -> bool:
    """Whether a domain of that size becomes a loop; the code records the largest that does not."""
    # What is not looped is recorded below: `unroll_budget` asks at which level the text would differ.
    if size > unrolling.most(kind):
        return True
    code.unrolled[kind] = max(size, code.unrolled.get(kind, 0))
    return False


UNROLLED = UnrollBudget(1 << 62, 1 << 62, 1 << 62, 1 << 62)
"""No loops at all: for gates, which have none."""
LEVELS = (UnrollBudget(64, 16, 64, 9), UnrollBudget(8, 4, 8, 3), UnrollBudget(1, 1, 1, 0))
"""From the fastest code to the shortest."""


def return_if_halted(code: FunctionBuilder) -> None:
    """Return at once if the caller cancelled the call (``@set_halt``), from a function without a result.

    The load is volatile, so that LLVM does not hoist it out of the loop.
    """
    halted, on = code.name("halted"), code.name("on")
    flag = code.fresh(64, "load atomic volatile i64, ptr @halt monotonic, align 8")
    code.branch(code.fresh(1, f"icmp ne {flag.typed}, 0"), halted, on)
    code.label(halted)
    code.do("ret void")
    code.label(on)


def each(code: FunctionBuilder, over: Over, body: Callable[[Scalar], None]) -> None:
    """Run code for every position."""
    if _is_nothing(over):
        return
    loop = _Loop(code, over)
    with code.scope():
        body(loop.position)
    code.jump(loop.last)
    loop.close()


def search(code: FunctionBuilder, over: Over, body: Callable[[Scalar], tuple[Scalar, Scalar]]) -> tuple[Scalar, Scalar]:
    """Whether the first position that decides or is undefined decides, and whether it is undefined.

    ``body`` gives both for a position. Later positions are not looked at.
    """
    if _is_nothing(over):
        return FALSE, FALSE
    loop = _Loop(code, over)
    with code.scope():
        decides, undefined = body(loop.position)
        # An undefined element ends the search as a deciding one does; which of the two came first is the answer.
        ends = code.either(decides, undefined)
        found, end = code.both(decides, code.invert(undefined)), code.block
    code.branch(ends, loop.done, loop.last)
    loop.close()

    def at_the_end(ended: Scalar) -> Scalar:
        # That a body always has a value is known of a quantifier around this one, too.
        known = ended.known == 0
        return FALSE if known else code.fresh(1, f"phi i1 [ false, %{loop.head} ], [ {ended.text}, %{end} ]")

    return at_the_end(found), at_the_end(undefined)


def gather(
    code: FunctionBuilder, bits: Scalar, body: Callable[[Scalar], tuple[Scalar, Scalar]]
) -> tuple[Scalar, Scalar]:
    """The mask of the set bits that ``body`` keeps, and whether it is undefined for any; ``body`` gives both for a
    position."""
    width = bits.bits
    if width == 0:
        return bits, FALSE
    # Names before their instructions: a phi at the head mentions what the body computes.
    kept, more, lost, worse = (f"%{code.name(stem)}" for stem in ("kept", "more", "lost", "worse"))
    loop = _Loop(code, bits, ((width, kept, more), (1, lost, worse)))
    with code.scope():
        keeps, undefined = body(loop.position)
        # x & -x is the lowest set bit, the one at this position.
        lowest = code.both(loop.counter, code.pure(width, f"sub i{width} 0, {loop.counter.text}"))
        addition = code.choose(keeps, lowest, constant(width, 0))
        code.do(f"{more} = or i{width} {kept}, {addition.text}")
        code.do(f"{worse} = or i1 {lost}, {undefined.text}")
    code.jump(loop.last)
    loop.close()
    return Scalar(width, kept), Scalar(1, lost)


def _is_nothing(over: Over) -> bool:
    match over:
        case int():
            return over == 0
        case Scalar():
            return over.bits == 0
        case Below() | Submasks():
            return False
        case _:
            assert_never(over)


class _Loop:
    """The head of a loop, opened inside its body; ``carried`` are (width, name, next name) of values that start at
    zero.

    ``counter`` is the rest of a mask, the number, or the mask within a mask.
    """

    def __init__(self, code: FunctionBuilder, over: Over, carried: tuple[tuple[int, str, str], ...] = ()) -> None:
        # The block from which the loop is entered: the phis at its head need it.
        before = code.block
        self._code, self._over = code, over
        self.head, inside, self.last, self.done = (code.name(x) for x in ("head", "inside", "last", "done"))
        code.jump(self.head)
        code.label(self.head)
        first = over if isinstance(over, Scalar) else constant(over.of.bits if isinstance(over, Submasks) else 64, 0)
        self.counter = Scalar(first.bits, f"%{code.name('counter')}")
        self._following, self._again = f"%{code.name('following')}", f"%{code.name('again')}"
        for each, start, after in [
            (self.counter, first.text, self._following),
            *((Scalar(size, name), constant(size, 0).text, after) for size, name, after in carried),
        ]:
            code.do(f"{each.text} = phi i{each.bits} [ {start}, %{before} ], [ {after}, %{self.last} ]")
        # The test precedes the body, for a domain may have no elements.
        code.branch(self._goes_on(before), inside, self.done)
        code.label(inside)
        return_if_halted(code)
        self.position = code.lowest(self.counter) if isinstance(over, Scalar) else self.counter

    def _goes_on(self, before: str) -> Scalar:
        code, counter = self._code, self.counter
        match self._over:
            case int(end):
                return code.fresh(1, f"icmp slt {counter.typed}, {end}")
            case Below(end):
                return code.fresh(1, f"icmp slt {counter.typed}, {end.text}")
            case Scalar():
                return code.fresh(1, f"icmp ne {counter.typed}, 0")
            case Submasks():
                # The empty mask is a submask too, so "the rest is not empty" would be no test.
                return code.fresh(1, f"phi i1 [ true, %{before} ], [ {self._again}, %{self.last} ]")
            case _:
                assert_never(self._over)

    def close(self) -> None:
        """Write the step to the next position, and begin the code after the loop."""
        code, counter = self._code, self.counter
        code.label(self.last)
        match self._over:
            case int() | Below():
                code.do(f"{self._following} = add {counter.typed}, 1")
            case Scalar():
                less = code.fresh(counter.bits, f"add {counter.typed}, {'true' if counter.bits == 1 else -1}")
                code.do(f"{self._following} = and {counter.typed}, {less.text}")
            case Submasks(of):
                # (x - m) & m is the next mask within m, and 0 after the last, which is m itself.
                less = code.fresh(counter.bits, f"sub {counter.typed}, {of.text}")
                code.do(f"{self._following} = and {less.typed}, {of.text}")
                code.do(f"{self._again} = icmp ne i{counter.bits} {self._following}, 0")
            case _:
                assert_never(self._over)
        code.jump(self.head)
        code.label(self.done)
