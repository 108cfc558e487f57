"""Generated code that does not depend on the model: access to the context's words and counters."""

from __future__ import annotations

from assay.checker.layout.call_frame import NEVER, ContextSlot
from assay.checker.lowering.expressions.pack_unpack import RowWords
from assay.checker.lowering.llvm.function_builder import FunctionBuilder, Scalar, word


class Runtime:
    """Writes such code into a function that has ``%context`` and ``%row``."""

    def __init__(self, code: FunctionBuilder) -> None:
        self.code = code

    def load_row(self, words: int, pointer: str = "%row") -> RowWords:
        """The words of the row at a pointer."""
        return RowWords(self.code, [self._load(pointer, at) for at in range(words)])

    def _load(self, pointer: str, at: int) -> Scalar:
        address = self.code.fresh(64, f"getelementptr i64, ptr {pointer}, i64 {at}")
        return self.code.fresh(64, f"load i64, ptr {address.text}")

    def address(self, slot: ContextSlot) -> str:
        """The address of a word of the context."""
        return self.code.fresh(64, f"getelementptr i64, ptr %context, i64 {int(slot)}").text

    def get(self, slot: ContextSlot) -> Scalar:
        """A word of the context."""
        return self.code.fresh(64, f"load i64, ptr {self.address(slot)}")

    def put(self, slot: ContextSlot, value: Scalar) -> None:
        """Set a word of the context."""
        self.code.do(f"store {value.typed}, ptr {self.address(slot)}")

    def array(self, slot: ContextSlot) -> str:
        """The array whose address a word of the context is."""
        return self.code.fresh(64, f"load ptr, ptr {self.address(slot)}").text

    def first(self, slot: ContextSlot, value: Scalar) -> None:
        """Set a word of the context if it was never set."""
        self._set_once(self.address(slot), value)

    def first_in(
        self, slot: ContextSlot, at: int, value: Scalar, when: Scalar, mark: ContextSlot | None = None
    ) -> None:
        """Set a word of an array if it was never set, under a condition. Under it a ``mark`` is set in any case."""
        if when.known == 0:
            return
        note, done = self.code.name("note"), self.code.name("noted")
        self.code.branch(when, note, done)
        self.code.label(note)
        array = self.array(slot)
        self._set_once(self.code.fresh(64, f"getelementptr i64, ptr {array}, i64 {at}").text, value)
        if mark is not None:
            self.put(mark, word(1))
        self.code.jump(done)
        self.code.label(done)

    def _set_once(self, address: str, value: Scalar) -> None:
        old = self.code.fresh(64, f"load i64, ptr {address}")
        never = self.code.fresh(1, f"icmp eq i64 {old.text}, {NEVER}")
        new = self.code.fresh(64, f"select i1 {never.text}, {value.typed}, {old.typed}")
        self.code.do(f"store {new.typed}, ptr {address}")

    def count_hit(self, at: int) -> None:
        """Add one to the hits of a bound."""
        array = self.array(ContextSlot.HITS)
        address = self.code.fresh(64, f"getelementptr i64, ptr {array}, i64 {at}").text
        old = self.code.fresh(64, f"load i64, ptr {address}")
        new = self.code.fresh(64, f"add i64 {old.text}, 1")
        self.code.do(f"store {new.typed}, ptr {address}")

    def _mark_address(self, at: int) -> str:
        return self.code.fresh(64, f"getelementptr i8, ptr {self.array(ContextSlot.DECISIVE)}, i64 {at}").text

    def is_marked(self, at: int) -> Scalar:
        """Whether a guard was found decisive before."""
        value = self.code.fresh(8, f"load i8, ptr {self._mark_address(at)}")
        return self.code.fresh(1, f"icmp ne i8 {value.text}, 0")

    def mark(self, at: int, when: Scalar) -> None:
        """Remember that a guard was decisive, under a condition."""
        if when.known == 0:
            return
        address = self._mark_address(at)
        old = self.code.fresh(8, f"load i8, ptr {address}")
        bit = self.code.resize(when, 8)
        new = self.code.fresh(8, f"or i8 {old.text}, {bit.text}")
        self.code.do(f"store {new.typed}, ptr {address}")


def over_rows(head: str, words: int, body: str, last: str = "body") -> str:
    """A function that loops over the ``%n`` rows at ``%rows``. In the body ``%row`` is the current row and ``%i`` its
    number. ``last`` is the label of its last block."""
    return f"""define void @{head} {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %{last} ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %offset = mul i64 %i, {words}
  %row = getelementptr i64, ptr %rows, i64 %offset
  {body}
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}}
"""
