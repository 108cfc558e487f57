"""The fingerprint of a row, 64 bits: what a visited state is known by.

Its second 64 bits, where a search keeps them, are those of ``explicit/store/hash_kernels.py``.
"""

from __future__ import annotations

from assay.checker.layout.call_frame import ContextSlot
from assay.checker.layout.row import LAYOUT_VERSION
from assay.checker.lowering.llvm.function_builder import FunctionBuilder, Scalar
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


def store_print(code: FunctionBuilder, runtime: Runtime, row: list[Scalar], at: Scalar) -> None:
    """Write the fingerprint of a row to its place in the context's array of fingerprints."""
    mark = code.fresh(64, f"call i64 @print({', '.join(value.typed for value in row)})")
    address = code.fresh(64, f"getelementptr i64, ptr {runtime.array(ContextSlot.PRINTS)}, {at.typed}")
    code.do(f"store {mark.typed}, ptr {address.text}")


def prints_function(words: int) -> str:
    """``@prints``, which writes the fingerprints of many rows to an array."""
    loads = [f"%p{at} = getelementptr i64, ptr %row, i64 {at}\n  %w{at} = load i64, ptr %p{at}" for at in range(words)]
    arguments = ", ".join(f"i64 %w{at}" for at in range(words))
    target = "%target = getelementptr i64, ptr %out, i64 %i"
    body = [*loads, f"%mark = call i64 @print({arguments})", target, "store i64 %mark, ptr %target"]
    return over_rows("prints(ptr %rows, i64 %n, ptr %out)", words, "\n  ".join(body))
