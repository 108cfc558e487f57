"""The fingerprint of a row, 64 bits: what a visited state is known by.

Its second 64 bits, where a search keeps them, are those of ``explicit/store/hash_kernels.py``.
"""

from __future__ import annotations

from assay.checker.layout.call_frame import RECENT_ROOM, ContextSlot
from assay.checker.layout.row import LAYOUT_VERSION
from assay.checker.lowering.llvm.function_builder import FunctionBuilder, Scalar, word
from assay.checker.native.runtime import Runtime, over_rows

# The first is 2 ** 64 over the golden ratio (Knuth, The Art of Computer Programming 3, section 6.4).
MULTIPLIERS = (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)


def print_function(words: int) -> str:
    """``@print``, the fingerprint of a row of so many words: each is multiplied and folded. Zero is excluded, because it
    marks empty slots of tables."""
    code = FunctionBuilder()
    # Rows of another length or layout get other fingerprints.
    state = Scalar(64, str((words * MULTIPLIERS[1] + LAYOUT_VERSION) % (1 << 64)))
    for at in range(words):
        mixed = code.fresh(64, f"xor i64 {state.text}, %w{at}")
        state = _folded(code, mixed, MULTIPLIERS[at % 2])
    state = _folded(code, state, MULTIPLIERS[words % 2])
    zero = code.fresh(1, f"icmp eq {state.typed}, 0")
    result = code.fresh(64, f"select i1 {zero.text}, i64 1, {state.typed}")
    arguments = ", ".join(f"i64 %w{at}" for at in range(words))
    body = "\n".join(code.lines)
    return f"define internal i64 @print({arguments}) alwaysinline {{\n{body}\n  ret {result.typed}\n}}\n"


def _folded(code: FunctionBuilder, value: Scalar, by: int) -> Scalar:
    wide = code.fresh(128, f"zext {value.typed} to i128")
    product = code.fresh(128, f"mul i128 {wide.text}, {by}")
    low = code.fresh(64, f"trunc i128 {product.text} to i64")
    shifted = code.fresh(128, f"lshr i128 {product.text}, 64")
    high = code.fresh(64, f"trunc i128 {shifted.text} to i64")
    # Without the high half, the lowest bits would depend on nothing but the lowest bits of the word.
    folded = code.fresh(64, f"xor {low.typed}, {high.text}")
    return code.fresh(64, f"xor {folded.typed}, {value.text}")


def store_print(code: FunctionBuilder, runtime: Runtime, row: list[Scalar], at: Scalar) -> Scalar:
    """Write the fingerprint of a row to its place in the context's array of fingerprints, and return it."""
    mark = code.fresh(64, f"call i64 @print({', '.join(value.typed for value in row)})")
    address = code.fresh(64, f"getelementptr i64, ptr {runtime.array(ContextSlot.PRINTS)}, {at.typed}")
    code.do(f"store {mark.typed}, ptr {address.text}")
    return mark


def drop_recent(
    code: FunctionBuilder, runtime: Runtime, new: tuple[Scalar, list[Scalar]], at: Scalar, dropped: str
) -> None:
    """Go on only if the successor ``at`` a place is to be kept, given as fingerprint and row; else count it, and jump.

    It is dropped if it equals the one whose place is remembered for such fingerprints. A remembered place may be of an
    earlier call. Then it lies behind this one, or has another successor now, with which this one is compared.
    """
    mark, row = new
    ask, remember, drop, keep = (code.name(each) for each in ("recent", "remember", "drop", "keep"))
    recent = runtime.get(ContextSlot.RECENT)
    code.branch(code.fresh(1, f"icmp ne {recent.typed}, 0"), ask, keep)
    code.label(ask)
    slot = code.fresh(64, f"and {mark.typed}, {RECENT_ROOM - 1}")
    place = code.fresh(64, f"getelementptr i32, ptr {runtime.array(ContextSlot.RECENT)}, {slot.typed}").text
    other = code.fresh(64, f"zext i32 {code.fresh(32, f'load i32, ptr {place}').text} to i64")
    _require(code, code.fresh(1, f"icmp ult {other.typed}, {at.text}"), remember)
    address = code.fresh(64, f"getelementptr i64, ptr {runtime.array(ContextSlot.PRINTS)}, {other.typed}").text
    _require(
        code, code.fresh(1, f"icmp eq i64 {code.fresh(64, f'load i64, ptr {address}').text}, {mark.text}"), remember
    )
    start = code.fresh(64, f"mul {other.typed}, {len(row)}")
    there = code.fresh(64, f"getelementptr i64, ptr {runtime.array(ContextSlot.ROWS)}, {start.typed}").text
    differs = runtime.get(ContextSlot.KEPT)
    for mine, others in zip(row, runtime.load_row(len(row), there).words, strict=True):
        differs = code.either(differs, code.number("xor", mine, others))
    code.branch(code.fresh(1, f"icmp eq {differs.typed}, 0"), drop, remember)
    code.label(drop)
    count = code.fresh(64, f"getelementptr i64, ptr {runtime.array(ContextSlot.DROPPED)}, i64 %action").text
    more = code.fresh(64, f"add i64 {code.fresh(64, f'load i64, ptr {count}').text}, 1")
    code.do(f"store {more.typed}, ptr {count}")
    code.jump(dropped)
    code.label(remember)
    code.do(f"store {code.fresh(32, f'trunc {at.typed} to i32').typed}, ptr {place}")
    runtime.put(ContextSlot.KEPT, word(0))
    code.jump(keep)
    code.label(keep)


def _require(code: FunctionBuilder, condition: Scalar, otherwise: str) -> None:
    going_on = code.name("on")
    code.branch(condition, going_on, otherwise)
    code.label(going_on)


def prints_function(words: int) -> str:
    """``@prints``, which writes the fingerprints of many rows to an array."""
    loads = [f"%p{at} = getelementptr i64, ptr %row, i64 {at}\n  %w{at} = load i64, ptr %p{at}" for at in range(words)]
    arguments = ", ".join(f"i64 %w{at}" for at in range(words))
    target = "%target = getelementptr i64, ptr %out, i64 %i"
    body = [*loads, f"%mark = call i64 @print({arguments})", target, "store i64 %mark, ptr %target"]
    return over_rows("prints(ptr %rows, i64 %n, ptr %out)", words, "\n  ".join(body))
