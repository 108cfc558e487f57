"""The outer loops of a module: every row is expanded, and every row is checked for properties, 64 at a time where
possible."""

from __future__ import annotations

from assay.checker.layout.call_frame import ContextSlot
from assay.checker.layout.row import WORD
from assay.checker.native.bitsliced_gates import ROWS, PrefilterBits, places
from assay.checker.native.bitsliced_prefilter import Prefilter
from assay.checker.native.runtime import over_rows


def expand_function(sieve: Prefilter, words: int) -> str:
    """The function ``@expand``: the successors of ``%n`` rows. It returns how many of the rows were expanded.

    For each full 64 rows the prefilter first says which instances may do something; for the remaining rows all may.
    """
    answers, groups = places(sieve)
    # In the order of the model, in which the reference search takes them too.
    calls = "\n".join(_call(number, where) for number, where in enumerate(answers))
    size = max(1, groups) * WORD  # a word of answers for each group of instances and each of 64 rows
    # `%tight` ends the call before a row whose successors might not fit, but not before the first: that sets `%overflow`.
    return f"""declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define i64 @expand(ptr %context, ptr %rows, i64 %n) {{
entry:
  %possible = alloca [{size} x i64], align 64
{_words_of_context()}
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %halting = load atomic volatile i64, ptr @halt monotonic, align 8
  %going = icmp eq i64 %halting, 0
  %left = icmp ult i64 %i, %n
  %more = and i1 %left, %going
  br i1 %more, label %check, label %done
check:
  %used = load i64, ptr %count
  %wanted = add i64 %used, %room
  %tight = icmp ugt i64 %wanted, %limit
  %begun = icmp ne i64 %i, 0
  %pause = and i1 %tight, %begun
  br i1 %pause, label %done, label %body
body:
  %offset = mul i64 %i, {words}
  %row = getelementptr i64, ptr %rows, i64 %offset
  store i64 %i, ptr %current
  store i64 0, ptr %alive
  %place = and i64 %i, {ROWS - 1}
{_tile(bool(groups), size)}
walk:
{calls}
  %full = load i64, ptr %overflow
  %failed = icmp ne i64 %full, 0
  br i1 %failed, label %done, label %rest
rest:
  %living = load i64, ptr %alive
  %dead = icmp eq i64 %living, 0
  br i1 %dead, label %halt, label %latch
halt:
  call void @stop(ptr %context, ptr %row)
  br label %latch
latch:
  %next = add i64 %i, 1
  br label %head
done:
  %result = phi i64 [ %i, %head ], [ %i, %check ], [ %i, %{_last(answers)} ]
  ret i64 %result
}}
"""


def _words_of_context() -> str:
    slots = (
        ContextSlot.COUNT,
        ContextSlot.CAPACITY,
        ContextSlot.OVERFLOW,
        ContextSlot.CURRENT,
        ContextSlot.ALIVE,
        ContextSlot.RESERVE,
    )
    lines = [f"  %{slot.name.lower()} = getelementptr i64, ptr %context, i64 {int(slot)}" for slot in slots]
    return "\n".join([*lines, "  %limit = load i64, ptr %capacity", "  %room = load i64, ptr %reserve"])


def _tile(is_sieved: bool, size: int) -> str:
    """At the first of 64 rows: run the prefilter, or let everything pass if there are fewer."""
    if not is_sieved:
        return "  br label %walk"
    return f"""  %first = icmp eq i64 %place, 0
  br i1 %first, label %tile, label %walk
tile:
  %ahead = sub i64 %n, %i
  %whole = icmp uge i64 %ahead, {ROWS}
  br i1 %whole, label %sieve, label %pass
sieve:
  call void @sieve(ptr %context, ptr %row, ptr %possible)
  br label %walk
pass:
  call void @llvm.memset.p0.i64(ptr %possible, i8 -1, i64 {size * 8}, i1 false)
  br label %walk"""


def _call(number: int, answers: PrefilterBits | None) -> str:
    if answers is None:
        return f"  call void @action_{number}(ptr %context, ptr %row, i64 -1)"
    # -1 stands for 64 bits of ones, which a signed 64-bit constant of LLVM cannot be written as.
    # Several actions share a word of answers, each with bits of its own.
    ones = (1 << answers.count) - 1
    return f"""  %at{number} = add i64 %place, {answers.word * WORD}
  %from{number} = getelementptr i64, ptr %possible, i64 %at{number}
  %word{number} = load i64, ptr %from{number}
  %high{number} = lshr i64 %word{number}, {answers.shift}
  %hopeful{number} = and i64 %high{number}, {ones if ones < 1 << 63 else -1}
  %some{number} = icmp ne i64 %hopeful{number}, 0
  br i1 %some{number}, label %action{number}, label %after{number}
action{number}:
  call void @action_{number}(ptr %context, ptr %row, i64 %hopeful{number})
  br label %after{number}
after{number}:"""


def _last(answers: list[PrefilterBits | None]) -> str:
    """The block in which the last action was called."""
    return next((f"after{number}" for number in reversed(range(len(answers))) if answers[number] is not None), "walk")


def inspect_function(sieve: Prefilter, words: int) -> str:
    """The function ``@inspect``: checks the properties of states in ``%n`` rows, the first of which has the number
    ``%base``."""
    call = "%here = add i64 %i, %base\n  call void @states(ptr %context, ptr %row, i64 %here)"
    # With a prefilter, this loop is for blocks of 64 in which some property is decided, and for the rest.
    name = "inspect" if sieve.decided is None else "inspect_each"
    each = over_rows(f"{name}(ptr %context, ptr %rows, i64 %n, i64 %base)", words, call)
    if sieve.decided is None:
        return each
    return f"""{each}
define void @inspect(ptr %context, ptr %rows, i64 %n, i64 %base) {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %offset = mul i64 %i, {words}
  %some = getelementptr i64, ptr %rows, i64 %offset
  %number = add i64 %i, %base
  %ahead = sub i64 %n, %i
  %whole = icmp uge i64 %ahead, {ROWS}
  br i1 %whole, label %ask, label %rest
ask:
  %decided = call i64 @decided(ptr %context, ptr %some)
  %none = icmp eq i64 %decided, 0
  br i1 %none, label %latch, label %look
look:
  call void @inspect_each(ptr %context, ptr %some, i64 {ROWS}, i64 %number)
  br label %latch
latch:
  %next = add i64 %i, {ROWS}
  br label %head
rest:
  call void @inspect_each(ptr %context, ptr %some, i64 %ahead, i64 %number)
  ret void
}}
"""
